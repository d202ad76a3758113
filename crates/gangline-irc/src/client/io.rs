//! The loop around the session: the socket, the clock, the two queues. No rules of IRC.

use std::{collections::VecDeque, future, io, pin::Pin, time::Duration};

use gangline_os::{
    CancellationToken,
    lines::{Line, LineReader},
};
use tokio::{io::AsyncWriteExt as _, sync::mpsc};

use super::{
    LinkCommand, LinkConfig, LinkEnd, LinkEvent, backoff,
    dial::{self, Dialled, Reading, Writing},
    session::{Output, Retry, Session},
};
use crate::wire::{LINE_MAX, Message};

/// How long the server has to close after our QUIT, and the caller to take the last events.
const GOODBYE: Duration = Duration::from_secs(2);
/// A server that takes so little of what we send is not read from either, until it does.
const UNSENT_MAX: usize = 64 * 1024;
/// A caller that takes no events for so long has made us deaf: the server's silence in that time
/// is no sign of its death.
const DEAF: Duration = Duration::from_secs(1);

/// Where the connection is.
enum Connection {
    /// Until the next attempt.
    Waiting { until: Duration },
    /// The attempt.
    Connecting(Pin<Box<dyn Future<Output = io::Result<Dialled>> + Send>>),
    /// The socket is open.
    Open(Socket),
}

struct Socket {
    reader: LineReader<Reading>,
    /// None once it has failed: what the server said before it closed can still be read.
    writer: Option<Writing>,
    unsent: VecDeque<u8>,
}

/// What woke the loop.
enum Wake {
    Stop,
    EventsClosed,
    /// An event was taken.
    Room,
    Connected(io::Result<Dialled>),
    Read(io::Result<Option<Line>>),
    Wrote(io::Result<usize>),
    Command(Option<LinkCommand>),
    Due,
}

/// One link while it runs.
pub(super) struct Runner {
    session: Session,
    config: LinkConfig,
    commands: mpsc::Receiver<LinkCommand>,
    events: mpsc::Sender<LinkEvent>,
    connection: Connection,
    pending: VecDeque<LinkEvent>,
    /// Since when events wait for the caller.
    deaf_since: Option<Duration>,
    attempt: u32,
    up_since: Option<Duration>,
    ending: Option<(LinkEnd, Duration)>,
}

impl Runner {
    pub(super) fn new(
        config: LinkConfig,
        commands: mpsc::Receiver<LinkCommand>,
        events: mpsc::Sender<LinkEvent>,
    ) -> Self {
        Self {
            session: Session::new(config.clone()),
            config,
            commands,
            events,
            connection: Connection::Waiting { until: Duration::ZERO },
            pending: VecDeque::new(),
            deaf_since: None,
            attempt: 0,
            up_since: None,
            ending: None,
        }
    }

    pub(super) async fn run(mut self, stop: CancellationToken) -> LinkEnd {
        loop {
            self.do_outputs();
            self.note_deafness();
            if let Some(end) = self.has_ended() {
                self.last_events().await;
                return end;
            }
            match self.next(&stop).await {
                Wake::Stop => self.end(LinkEnd::Stopped, "shutting down"),
                Wake::EventsClosed => self.end(LinkEnd::EventsClosed, "shutting down"),
                Wake::Command(None) => self.end(LinkEnd::CommandsClosed, "shutting down"),
                Wake::Command(Some(LinkCommand::Quit { reason })) => {
                    self.end(LinkEnd::Quit, &reason);
                }
                Wake::Command(Some(command)) => self.session.commanded(self.now(), command),
                Wake::Room => {}
                Wake::Connected(result) => self.connected(result),
                Wake::Read(result) => self.read(result),
                Wake::Wrote(result) => self.wrote(result),
                Wake::Due => self.due(),
            }
        }
    }

    fn now(&self) -> Duration {
        self.config.clock.monotonic()
    }

    /// Waits for the next thing. Every arm only makes a [`Wake`].
    async fn next(&mut self, stop: &CancellationToken) -> Wake {
        let ending = self.ending.is_some();
        let wait = self.deadline().map(|at| at.saturating_sub(self.now()));
        let has_events = !self.pending.is_empty();
        let takes_command = !ending && !has_events && self.session.takes_commands();
        let Self { connection, events, commands, pending, .. } = self;
        tokio::select! {
            () = stop.cancelled(), if !ending => Wake::Stop,
            () = events.closed(), if !ending => Wake::EventsClosed,
            permit = events.reserve(), if has_events => {
                if let (Ok(permit), Some(event)) = (permit, pending.pop_front()) {
                    permit.send(event);
                }
                Wake::Room
            }
            wake = connection.next(!has_events || ending) => wake,
            command = commands.recv(), if takes_command => Wake::Command(command),
            () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => Wake::Due,
        }
    }

    fn deadline(&self) -> Option<Duration> {
        match (&self.ending, &self.connection) {
            (Some((_, until)), _) => Some(*until),
            (None, Connection::Waiting { until }) => Some(*until),
            (None, Connection::Connecting(_)) => None,
            (None, Connection::Open(_)) if self.pending.is_empty() => self.session.deadline(),
            (None, Connection::Open(_)) => None,
        }
    }

    fn due(&mut self) {
        let now = self.now();
        match &self.connection {
            Connection::Waiting { until } if *until <= now => self.connect(),
            Connection::Waiting { .. } | Connection::Connecting(_) => {}
            Connection::Open(_) => self.session.tick(now),
        }
    }

    fn connect(&mut self) {
        let (address, within) = (self.config.address.clone(), self.config.timing.connect_within);
        self.connection = Connection::Connecting(Box::pin(async move {
            tokio::time::timeout(within, dial::dial(&address))
                .await
                .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        }));
    }

    fn connected(&mut self, result: io::Result<Dialled>) {
        match result {
            Err(error) => self.lost(format!("cannot connect: {error}"), Retry::Usual),
            Ok(Dialled { reading, writing, password }) => {
                self.connection = Connection::Open(Socket {
                    reader: LineReader::new(reading, LINE_MAX),
                    writer: Some(writing),
                    unsent: VecDeque::new(),
                });
                self.session.connected(self.now(), password);
            }
        }
    }

    fn read(&mut self, result: io::Result<Option<Line>>) {
        let now = self.now();
        match result {
            Ok(Some(Line::Text(line))) => match Message::parse(&line) {
                Ok(message) => self.session.received(now, message),
                Err(error) => tracing::debug!(%error, "the server sent what is no line"),
            },
            Ok(Some(Line::Oversize { bytes, .. })) => {
                tracing::warn!(bytes, "the server sent a line over the limit");
            }
            Ok(None) => self.hung_up("the server closed the connection".to_owned()),
            Err(error) => self.hung_up(format!("reading failed: {error}")),
        }
    }

    fn hung_up(&mut self, why: String) {
        let (why, retry) = self.session.hung_up(why);
        self.lost(why, retry);
    }

    fn wrote(&mut self, result: io::Result<usize>) {
        match (result, &mut self.connection) {
            (Ok(bytes), Connection::Open(socket)) => {
                socket.unsent.drain(..bytes.min(socket.unsent.len()));
            }
            (Err(error), Connection::Open(socket)) => {
                tracing::debug!(%error, "the server takes no more lines");
                socket.writer = None;
                socket.unsent.clear();
            }
            (_, Connection::Waiting { .. } | Connection::Connecting(_)) => {}
        }
    }

    /// The connection is gone, or was not made.
    fn lost(&mut self, why: String, retry: Retry) {
        let now = self.now();
        if self.ending.is_some() {
            self.connection = Connection::Waiting { until: now };
            return;
        }
        let timing = self.config.timing;
        let healthy = |since: Duration| now.saturating_sub(since) >= timing.healthy_after;
        if self.up_since.take().is_some_and(healthy) {
            self.attempt = 0;
        }
        let attempt = match retry {
            Retry::Usual => self.attempt,
            Retry::Slow => u32::MAX,
        };
        let retry_in = backoff::backoff(attempt, timing.backoff_unit, backoff::jitter());
        self.attempt = self.attempt.saturating_add(1);
        self.connection = Connection::Waiting { until: now + retry_in };
        self.session.disconnected();
        self.do_outputs();
        self.pending.push_back(LinkEvent::Down { why, retry_in });
    }

    fn do_outputs(&mut self) {
        for output in self.session.take_output() {
            match output {
                Output::Line(line) => {
                    if let Connection::Open(socket) = &mut self.connection
                        && socket.writer.is_some()
                    {
                        socket.unsent.extend(line.as_bytes());
                    }
                }
                Output::Event(event) => {
                    if matches!(*event, LinkEvent::Up { .. }) {
                        self.up_since = Some(self.now());
                    }
                    self.pending.push_back(*event);
                }
                Output::Close { why, retry } => return self.lost(why, retry),
            }
        }
    }

    fn note_deafness(&mut self) {
        let now = self.now();
        match (self.pending.is_empty(), self.deaf_since) {
            (false, None) => self.deaf_since = Some(now),
            (true, Some(since)) => {
                self.deaf_since = None;
                if now.saturating_sub(since) >= DEAF {
                    self.session.heard(now);
                }
            }
            (false, Some(_)) | (true, None) => {}
        }
    }

    fn end(&mut self, end: LinkEnd, reason: &str) {
        self.session.quit(reason);
        self.ending = Some((end, self.now() + GOODBYE));
    }

    fn has_ended(&self) -> Option<LinkEnd> {
        let (end, until) = self.ending?;
        let open = matches!(self.connection, Connection::Open(_));
        if open && self.now() < until { None } else { Some(end) }
    }

    /// Tells what was unconfirmed, as long as somebody listens.
    async fn last_events(&mut self) {
        self.session.disconnected();
        self.connection = Connection::Waiting { until: Duration::MAX };
        self.do_outputs();
        let events = std::mem::take(&mut self.pending);
        let tell = async {
            for event in events {
                if self.events.send(event).await.is_err() {
                    break;
                }
            }
        };
        if tokio::time::timeout(GOODBYE, tell).await.is_err() {
            tracing::warn!("the last events of the link were not taken");
        }
    }
}

impl Connection {
    /// Cancel-safe: yes; what was read or sent is kept in the socket's buffers.
    async fn next(&mut self, may_read: bool) -> Wake {
        match self {
            Self::Waiting { .. } => future::pending().await,
            Self::Connecting(attempt) => Wake::Connected(attempt.await),
            Self::Open(socket) => socket.next(may_read).await,
        }
    }
}

impl Socket {
    /// Cancel-safe: yes; see [`LineReader::next`], and `write` takes all or nothing.
    async fn next(&mut self, may_read: bool) -> Wake {
        let Self { reader, writer, unsent, .. } = self;
        let may_read = may_read && unsent.len() < UNSENT_MAX;
        let has_unsent = !unsent.is_empty();
        let (first, _) = unsent.as_slices();
        let write = async {
            match writer {
                Some(writer) => writer.write(first).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            line = reader.next(), if may_read => Wake::Read(line),
            bytes = write, if has_unsent => Wake::Wrote(bytes),
            else => future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests;
