//! From a line of bytes to a command, in the order each client sent them.

use tokio::sync::OwnedSemaphorePermit;

use super::{
    call::Call,
    client::{Held, Stage},
    client_id::ClientId,
    command,
    flight::Asker,
    framing::Framed,
    http,
    state::State,
};
use crate::wire::{Message, ParseError, numeric as n, tags};

/// Told to whoever speaks another protocol.
const FOREIGN: &str = "This is a chat server; what came is not IRC";

impl State {
    /// Takes one line of a client.
    pub(super) fn take(&mut self, id: ClientId, framed: Framed, credit: OwnedSemaphorePermit) {
        let now = self.config.clock.monotonic();
        if self.is_doomed(id) || self.refuse_foreign(id, &framed) {
            return;
        }
        let Some(client) = self.client_mut(id) else { return };
        client.heard_at = now;
        client.pinged_at = None;
        self.has_read(id);
        self.execute(id, framed, credit);
        // One that has just said goodbye is none to wait for.
        if !self.is_doomed(id) {
            self.is_alive(id);
        }
    }

    /// Does what a line asks for, now or when it is its turn.
    fn execute(&mut self, id: ClientId, framed: Framed, credit: OwnedSemaphorePermit) {
        let label = match &framed {
            Framed::Line(line) | Framed::TooLong { tags: line } => tags::label_of(line),
            Framed::Foreign => None,
        };
        let message = match read(framed) {
            Ok(message) => message,
            Err(refusal) => return self.refuse_line(id, label.as_deref(), refusal),
        };
        let held = Held { message, credit };
        let Some(client) = self.client_mut(id) else { return };
        client.held.push_back(held);
        self.work(id);
    }

    /// Does what a client has asked, up to the first request that must wait for its earlier lines.
    /// Lines to be kept do not wait for each other.
    pub(super) fn work(&mut self, id: ClientId) {
        while let Some(client) = self.client_mut(id) {
            let is_line = |held: &Held| matches!(&*held.message.command, "PRIVMSG" | "NOTICE");
            if client.held.is_empty() && client.in_flight == 0 {
                if let Some(why) = client.leaving.take() {
                    self.doom(id, &why);
                }
                return;
            }
            let free = client.in_flight == 0 || client.held.front().is_some_and(is_line);
            if !free || self.is_doomed(id) || self.must_read_first(id) {
                return;
            }
            let Some(client) = self.client_mut(id) else { return };
            let Some(Held { message, credit }) = client.held.pop_front() else { return };
            let label = message.label().map(str::to_owned);
            self.open_scope(id, label.as_deref());
            command::run(self, Call { id, message, credit: Some(credit) });
            self.close_scope(id);
        }
    }

    /// Ends a connection that speaks another protocol: HTTP, by its first line or by a `Host:` header; any
    /// other, by bytes that no client sends before its registration is done. Nothing of it is executed.
    fn refuse_foreign(&mut self, id: ClientId, framed: &Framed) -> bool {
        let Some(client) = self.client_mut(id) else { return false };
        let stage = match &mut client.stage {
            Stage::Registering(stage) => stage,
            Stage::Ready => return false,
        };
        let first = !std::mem::replace(&mut stage.heard, true);
        let why = match framed {
            Framed::Line(line) if http::is_host(line) || (first && http::is_request(line)) => {
                "This is a chat server; it does not speak HTTP"
            }
            Framed::Line(line) if is_foreign(line) => FOREIGN,
            Framed::Foreign => FOREIGN,
            Framed::Line(_) | Framed::TooLong { .. } => return false,
        };
        tracing::warn!(client = id.0, why, "another protocol on the chat port was refused");
        self.doom(id, why);
        true
    }

    /// Counts an answer of the store and continues its client's work.
    pub(super) fn landed(&mut self, asker: Asker) {
        drop(asker.credit);
        let Some(client) = self.client_mut(asker.id) else { return };
        client.in_flight = client.in_flight.saturating_sub(1);
        self.work(asker.id);
    }

    /// Says why a line was not taken, under its label.
    fn refuse_line(&mut self, id: ClientId, label: Option<&str>, refusal: Refusal) {
        let (command, code, text) = match refusal {
            Refusal::Nothing => return,
            Refusal::TooLong => {
                self.open_scope(id, label);
                self.numeric(id, n::ERR_INPUTTOOLONG, &[], "Input line was too long");
                return self.close_scope(id);
            }
            Refusal::NoCommand(error) => {
                self.open_scope(id, label);
                let text = format!("Unknown command: {error}");
                self.numeric(id, n::ERR_UNKNOWNCOMMAND, &["*"], &text);
                return self.close_scope(id);
            }
            Refusal::Control(error) => {
                ("*".to_owned(), "INVALID_LINE", format!("{error}; the line was ignored"))
            }
            Refusal::NotUtf8(command) => {
                let text = "The line is not UTF-8; it was ignored";
                (command, "INVALID_UTF8", text.to_owned())
            }
        };
        self.open_scope(id, label);
        self.fail(id, &[&*command, code], &text);
        self.close_scope(id);
    }
}

/// Returns whether no client sends such a line before its registration is done: one without a command, or in
/// another encoding. Names in an old encoding are none of these: [`read`] takes them.
fn is_foreign(line: &[u8]) -> bool {
    match Message::parse(line) {
        Ok(message) => {
            let is_named = matches!(&*message.command, "NICK" | "USER" | "QUIT");
            std::str::from_utf8(line).is_err() && !is_named
        }
        Err(ParseError::NoCommand | ParseError::BadCommand | ParseError::EmptySource) => true,
        Err(ParseError::ControlByte { .. }) => line.contains(&0),
        Err(ParseError::Empty | ParseError::TagsTooLong { .. }) => {
            std::str::from_utf8(line).is_err()
        }
    }
}

/// Why a line is no request.
enum Refusal {
    /// There is nothing on it.
    Nothing,
    TooLong,
    NoCommand(ParseError),
    Control(ParseError),
    /// The command, if that could be read.
    NotUtf8(String),
}

/// Reads a line.
fn read(framed: Framed) -> Result<Message, Refusal> {
    let line = match framed {
        Framed::Line(line) => line,
        Framed::TooLong { .. } => return Err(Refusal::TooLong),
        // It came before registration, and has ended the connection.
        Framed::Foreign => return Err(Refusal::Nothing),
    };
    let read = Message::parse(&line);
    if std::str::from_utf8(&line).is_err() {
        return match read {
            // Refused, these would leave the client waiting: for its registration, for the end. In
            // names the replaced characters do no harm, in what is said they would.
            Ok(message) if matches!(&*message.command, "NICK" | "USER" | "QUIT") => Ok(message),
            Ok(message) => Err(Refusal::NotUtf8(message.command)),
            Err(_) => Err(Refusal::NotUtf8("*".to_owned())),
        };
    }
    read.map_err(|error| match error {
        ParseError::Empty => Refusal::Nothing,
        ParseError::ControlByte { .. } => Refusal::Control(error),
        ParseError::TagsTooLong { .. }
        | ParseError::NoCommand
        | ParseError::BadCommand
        | ParseError::EmptySource => Refusal::NoCommand(error),
    })
}
