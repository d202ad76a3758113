//! The session: decides what a backend is given between turns, and passes on what it tells.
//!
//! A part of the agent loop, which polls it ([`Session::next`]). Knows neither rooms nor messages; a
//! start that fails is told as an exit. The backend itself, one generation after the other, is
//! behind the [`port`].

use std::collections::VecDeque;

use gangline_core::{TurnId, agent::Generation, outcome::Cause};
use gangline_os::{fsio, secret::Secret};
use gangline_runtime::{
    Block, Command, Prompt, RuntimeEvent, SessionId, StartOptions, StopReason, TurnResult,
};
use tokio::sync::watch;
use tracing::{debug, warn};
use uuid::Uuid;

mod again;
mod orders;
pub(crate) mod port;

use crate::{
    bus::{Care, Incoming},
    control::tokens,
    environment, texts,
};
use port::{BackendPort, Exit, Next, Outcome, PortEvent};

/// How a session is set up.
pub(crate) struct SessionOptions {
    /// With the model that was chosen, if one was.
    pub(crate) options: StartOptions,
    /// Our own id of the session, under which its shells and hooks know it (C22). A program that
    /// begins another session unasked keeps it: its environment cannot change.
    pub(crate) known_as: Option<String>,
    /// What an empty session is told first (R0-07, R3-15).
    pub(crate) first: Option<String>,
    /// Whether a conversation that no longer fits is shortened (C13).
    pub(crate) shortens: bool,
    /// The model of the configuration.
    pub(crate) configured: Option<String>,
    /// What proves that somebody is this generation's child (C21); none while there is none.
    pub(crate) token: watch::Sender<Option<Secret>>,
}

/// The agent's sessions with its backend, one generation after the other.
pub(crate) struct Session {
    port: BackendPort,
    options: StartOptions,
    known_as: Option<String>,
    first: Option<String>,
    shortens: bool,
    configured: Option<String>,
    token: watch::Sender<Option<Secret>>,
    /// What is to be done once no turn is open. It outlives the backend that it was meant for.
    care: Option<Care>,
    /// The generation that is in use; none while one ends, whatever it still tells.
    open: Option<Open>,
    /// What the loop has yet to be told: what follows from one command or one event.
    told: VecDeque<Incoming>,
}

/// A generation of the backend.
struct Open {
    generation: Generation,
    phase: Phase,
    /// What the session, being empty, has to be told before anything else.
    first: Option<String>,
    announced: Announced,
    model: Model,
    size: Size,
    /// The turn that it works on.
    turn: Option<Turn>,
}

/// How far a generation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Starting,
    /// It has said that it takes prompts.
    Ready,
}

/// Whether the agent loop knows that a turn of the session's own comes before all messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announced {
    No,
    Yes,
}

/// Whether the backend knows its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Model {
    Known,
    /// Another one was chosen, which is told to the backend once no turn is open.
    Chosen,
}

/// Whether the conversation fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Fits,
    /// It no longer does, and is being shortened for that.
    TooLong,
}

/// An open turn.
struct Turn {
    id: TurnId,
    /// None of one that the backend began unasked.
    prompt: Option<Prompt>,
    /// It has used a tool for that prompt.
    acted: bool,
    again: Again,
}

/// What becomes of a turn whose prompt no longer fits (R2-08).
enum Again {
    /// It has not happened in this turn.
    No,
    /// The context is being shortened; this is the end that the turn has without it.
    Shortening(RuntimeEvent),
    /// The prompt was given once more: its next end counts.
    Done,
}

impl Session {
    pub(crate) fn new(port: BackendPort, set_up: SessionOptions) -> Self {
        let SessionOptions { options, known_as, first, shortens, configured, token } = set_up;
        let mut session = Self {
            port,
            options,
            known_as,
            first,
            shortens,
            configured,
            token,
            care: None,
            open: None,
            told: VecDeque::new(),
        };
        session.tell_model();
        session
    }

    /// Waits for what the loop is told next. Cancel-safe: yes.
    pub(crate) async fn next(&mut self) -> Incoming {
        loop {
            if let Some(told) = self.told.pop_front() {
                return told;
            }
            let event = self.port.next().await;
            self.hear(event);
        }
    }

    /// Says whether no backend runs, nor is to.
    pub(crate) fn is_over(&self) -> bool {
        self.port.is_down()
    }

    fn hear(&mut self, event: PortEvent) {
        match event {
            PortEvent::MayBegin(next) => self.begin(next),
            PortEvent::Started { generation } => {
                debug!(?generation, "backend started");
                self.care();
            }
            PortEvent::NotStarted { generation, why } => {
                warn!(why, "the backend did not start");
                self.open = None;
                self.tell(generation, RuntimeEvent::Notice { text: why.clone() });
                self.exited(generation, Cause::Theirs, why);
            }
            PortEvent::Told { generation, event } => {
                if let RuntimeEvent::Ready { session } | RuntimeEvent::Session { session } = &event
                    && self.is_open(generation)
                {
                    self.options.resume = Some(session.clone());
                }
                match self.is_open(generation) {
                    true => self.pass_on(event),
                    // What it says while it is being ended.
                    false => self.tell(generation, event),
                }
            }
            PortEvent::Exited { generation, exit } => {
                debug!(?exit, "backend exited");
                if self.is_open(generation) {
                    self.open = None;
                }
                self.token.send_replace(None);
                match exit {
                    Exit::Ours => {
                        self.exited(generation, Cause::Ours, texts::ENDED_BY_US.to_owned());
                    }
                    Exit::Theirs { code: 0 } => {
                        self.told.push_back(Incoming::Ended { generation });
                    }
                    Exit::Theirs { code } => {
                        self.exited(generation, Cause::Theirs, texts::exited(code));
                    }
                }
            }
        }
    }

    fn is_open(&self, generation: Generation) -> bool {
        self.open.as_ref().is_some_and(|open| open.generation == generation)
    }

    fn pass_on(&mut self, event: RuntimeEvent) {
        let Some(event) = self.refused(event) else { return };
        if let (RuntimeEvent::Message { message, .. }, Some(turn)) = (&event, self.turn()) {
            turn.acted |= message.content.iter().any(|it| matches!(it, Block::ToolUse { .. }));
        }
        let Some(event) = self.try_again(event) else { return };
        let Some(open) = self.open.as_mut() else { return };
        let generation = open.generation;
        if matches!(event, RuntimeEvent::Compacted { failed: None }) {
            open.size = Size::Fits;
        }
        let ended = match (&event, &open.turn) {
            (RuntimeEvent::Finished { turn, .. }, Some(open)) if open.id == *turn => Some(open.id),
            _ => None,
        };
        let overflow = self.overflow(&event);
        if self.comes_first(&event, ended) {
            self.announce();
        }
        self.tell(generation, event);
        if let (Some(_), Some(open)) = (ended, self.open.as_mut()) {
            open.turn = None;
        }
        match overflow {
            Overflow::No => self.care(),
            Overflow::Compact => {
                if let Some(open) = self.open.as_mut() {
                    open.size = Size::TooLong;
                    self.care.get_or_insert(Care::Compact);
                }
                self.care();
            }
            Overflow::Hopeless => {
                // The session no longer fits its model: the next one begins empty.
                self.options.resume = None;
                self.end(StopReason::Restart);
            }
        }
    }

    /// Does what follows when a command was refused; returns what is to be passed on instead.
    fn refused(&mut self, event: RuntimeEvent) -> Option<RuntimeEvent> {
        let RuntimeEvent::Refused { command, why } = event else { return Some(event) };
        let open = self.open.as_mut()?;
        let generation = open.generation;
        match command {
            Command::Prompt(Prompt { turn, .. }) => {
                warn!(%why, %turn, "the backend refused a prompt");
                self.end(StopReason::Stuck);
            }
            Command::Adopt(turn) => {
                warn!(%why, %turn, "the backend has no such turn");
                open.turn.take_if(|open| open.id == turn);
                let result = TurnResult::Interrupted;
                self.tell(generation, RuntimeEvent::Finished { turn, result });
                self.care();
            }
            // What it does not take goes back to the queue at the turn's end.
            Command::Steer(_) => debug!(%why, "not steered"),
            Command::Compact => {
                warn!(%why, "the context stays as it is");
                return Some(RuntimeEvent::Compacted { failed: Some(why.to_string()) });
            }
            Command::Clear => {
                warn!(%why, "the context stays as it is");
                open.first = None;
                let failed = Some(why.to_string());
                self.tell(generation, RuntimeEvent::Compacted { failed });
            }
            Command::SetModel(_) => self.end(StopReason::Restart),
            Command::Interrupt | Command::Decide(_) | Command::Stop(_) => {
                debug!(%why, "a command is refused that never is");
            }
        }
        None
    }

    /// Does what was asked for, if no turn is open.
    fn care(&mut self) {
        let Some(can) = self.port.can() else { return };
        let Some(open) = self.open.as_mut() else { return };
        if open.turn.is_some() {
            return;
        }
        let chosen = std::mem::replace(&mut open.model, Model::Known) == Model::Chosen;
        if chosen && !self.change_model(can) {
            return;
        }
        let Some(phase) = self.open.as_ref().map(|open| open.phase) else { return };
        match self.care.take_if(|_| phase == Phase::Ready) {
            None => {}
            Some(Care::Compact) => self.asked(Command::Compact),
            Some(Care::Clear) => {
                self.asked(Command::Clear);
                // It is empty again, as at the start.
                if let (true, Some(first), Some(open)) = (can.clear, &self.first, &mut self.open) {
                    open.first = Some(first.clone());
                    self.announce();
                }
            }
        }
    }

    /// Gives a command that somebody waits for the end of.
    fn asked(&mut self, command: Command) {
        let Some(open) = &self.open else { return };
        let generation = open.generation;
        if self.port.send(command) == Outcome::Full {
            let failed = Some("the backend does not take commands".to_owned());
            self.tell(generation, RuntimeEvent::Compacted { failed });
        }
    }

    /// Returns whether a turn of the session's own comes next: it is told before the event upon which
    /// the agent loop would take what waits (R0-07).
    fn comes_first(&mut self, event: &RuntimeEvent, ended: Option<TurnId>) -> bool {
        let Some(open) = self.open.as_mut() else { return false };
        if matches!(event, RuntimeEvent::Ready { .. }) {
            open.phase = Phase::Ready;
            return open.first.is_some();
        }
        let clears = matches!(self.care, Some(Care::Clear)) && self.first.is_some();
        let idle = (open.phase, open.model) == (Phase::Ready, Model::Known);
        ended.is_some() && clears && idle
    }

    /// Tells the agent loop, once, that a turn of its own comes first.
    fn announce(&mut self) {
        let Some(open) = self.open.as_mut() else { return };
        if std::mem::replace(&mut open.announced, Announced::Yes) == Announced::No {
            self.told.push_back(Incoming::Primes { generation: open.generation });
        }
    }

    /// Begins a generation: nothing of an earlier one runs.
    fn begin(&mut self, Next { generation, resume }: Next) {
        // A new session that was promised begins, whatever ended the old one's backend.
        let promised = matches!(self.care, Some(Care::Clear));
        if !resume || promised {
            (self.options.resume, self.care) = (None, None);
        }
        let known_as = self.session_of_generation();
        self.told.push_back(Incoming::KnownAs { session: known_as.clone() });
        self.open = Some(Open {
            generation,
            phase: Phase::Starting,
            first: self.first.clone().filter(|_| self.options.resume.is_none()),
            announced: Announced::No,
            model: Model::Known,
            size: Size::Fits,
            turn: None,
        });
        let options = self.options_of_generation(&known_as);
        self.port.begin(generation, options);
    }

    /// Returns our own id of the session that the next generation has: a new one for an empty
    /// session.
    fn session_of_generation(&mut self) -> String {
        let known_as = match (&self.options.resume, self.known_as.take()) {
            (None, _) => Uuid::new_v4().to_string(),
            (Some(_), Some(known_as)) => known_as,
            // From before there were such ids.
            (Some(session), None) => session.0.clone(),
        };
        self.known_as = Some(known_as.clone());
        known_as
    }

    /// Each generation has a token of its own: what is left of an earlier one is not believed. And it
    /// is told which session is its own.
    fn options_of_generation(&self, known_as: &str) -> StartOptions {
        for folder in [&self.options.tmp_dir, &self.options.session_dir] {
            if let Err(error) = fsio::private_dir(folder) {
                warn!(%error, "the backend has no folder of its own");
            }
        }
        let token = tokens::fresh();
        let mut options = self.options.clone();
        options.env = environment::with_session(options.env, known_as);
        options.env.push((tokens::VARIABLE.to_owned(), token.expose().to_owned()));
        self.token.send_replace(Some(token));
        options
    }

    /// Ends the backend; what it still tells is passed on, its exit last.
    pub(crate) fn end(&mut self, reason: StopReason) {
        self.open = None;
        self.port.end(reason);
    }

    fn tell(&mut self, generation: Generation, event: RuntimeEvent) {
        self.told.push_back(Incoming::Runtime { generation, event });
    }

    fn exited(&mut self, generation: Generation, cause: Cause, how: String) {
        self.told.push_back(Incoming::Exited { generation, cause, how });
    }

    /// Returns what an event says about the size of the conversation.
    fn overflow(&self, event: &RuntimeEvent) -> Overflow {
        let size = self.open.as_ref().map_or(Size::Fits, |open| open.size);
        let can_compact = self.port.can().is_some_and(|can| can.compact);
        match event {
            _ if !self.shortens => Overflow::No,
            RuntimeEvent::Finished { result, .. } if again::is_overflow(result) => {
                match can_compact && size == Size::Fits {
                    true => Overflow::Compact,
                    false => Overflow::Hopeless,
                }
            }
            // What was to make room for it did not fit itself.
            RuntimeEvent::Compacted { failed: Some(_) } if size == Size::TooLong => {
                Overflow::Hopeless
            }
            _ => Overflow::No,
        }
    }
}

impl Turn {
    fn new(id: TurnId, prompt: Option<Prompt>) -> Self {
        Self { id, prompt, acted: false, again: Again::No }
    }
}

/// What a turn's end, or a compaction's, says about the size of the conversation.
enum Overflow {
    No,
    /// It no longer fits, and can be shortened.
    Compact,
    /// It no longer fits, and nothing but an empty one will.
    Hopeless,
}

/// Returns the session to go on with, if one is kept.
pub(crate) fn resume_from(kept: Option<String>) -> Option<SessionId> {
    kept.map(SessionId)
}
