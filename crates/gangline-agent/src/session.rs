//! The session: owns the runtime, starts and ends it, and passes on what it tells.
//!
//! Knows neither rooms nor messages. The agent loop decides; a start that fails is told as an exit.

use std::sync::Arc;

use gangline_core::{TurnId, agent::Generation, outcome::Cause};
use gangline_os::{fsio, secret::Secret};
use gangline_runtime::{
    Block, EVENT_QUEUE, FailureKind, Prompt, Runtime, RuntimeEvent, SessionId, StartOptions,
    StopReason, TurnResult,
};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info, warn};
use uuid::Uuid;

mod again;

use crate::{
    bus::{Care, Incoming, SessionCommand},
    control::tokens,
    environment, texts,
};

/// The session's part of the daemon.
pub(crate) struct Session {
    pub(crate) make: Arc<dyn Fn() -> Box<dyn Runtime> + Send + Sync>,
    /// With the model that was chosen, if one was.
    pub(crate) options: StartOptions,
    /// Our own id of the session, under which its shells and hooks know it (C22). A program that
    /// begins another session by itself keeps it: its environment cannot change.
    pub(crate) known_as: Option<String>,
    /// What an empty session is told first (R0-07, R3-15).
    pub(crate) first: Option<String>,
    /// Whether a conversation that no longer fits is shortened (C13).
    pub(crate) shortens: bool,
    /// The model of the configuration.
    pub(crate) configured: Option<String>,
    /// What is to be done once no turn is open. It outlives the backend that it was meant for.
    pub(crate) care: Option<Care>,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    /// What proves that somebody is this generation's child (C21); none while there is none.
    pub(crate) token: watch::Sender<Option<Secret>>,
}

enum Event {
    Command(Option<SessionCommand>),
    Runtime(RuntimeEvent),
}

/// A runtime that was started, and where its events come from.
struct Open {
    generation: Generation,
    /// The turn that it works on.
    turn: Option<TurnId>,
    /// What the session, being empty, has to be told before anything else.
    first: Option<String>,
    /// The agent loop knows that it is about to be told that.
    primes: bool,
    /// It has said that it takes prompts.
    ready: bool,
    /// Another model was chosen, which is told to the backend once no turn is open.
    other_model: bool,
    /// The conversation no longer fits, and is being shortened for that.
    too_long: bool,
    /// The prompt of the open turn, and whether that turn was tried again.
    prompt: Option<Prompt>,
    /// It has used a tool for that prompt.
    acted: bool,
    again: Again,
    runtime: Box<dyn Runtime>,
    events: mpsc::Receiver<RuntimeEvent>,
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
    /// Serves until the commands end; then the backend is stopped. Not cancel-safe: a dropped
    /// session kills its backend without its ladder.
    pub(crate) async fn run(mut self, mut commands: mpsc::Receiver<SessionCommand>) {
        let mut open: Option<Open> = None;
        self.tell_model().await;
        loop {
            let event = match &mut open {
                Some(running) => tokio::select! {
                    command = commands.recv() => Event::Command(command),
                    // A backend that is gone without a word has crashed.
                    event = running.events.recv() => Event::Runtime(
                        event.unwrap_or(RuntimeEvent::Exited { code: -1 }),
                    ),
                },
                None => Event::Command(commands.recv().await),
            };
            match event {
                Event::Runtime(event) => self.pass_on(event, &mut open).await,
                Event::Command(Some(command)) => self.obey(command, &mut open).await,
                Event::Command(None) => {
                    self.end(&mut open, StopReason::Shutdown).await;
                    return info!("runner ended");
                }
            }
        }
    }

    async fn pass_on(&mut self, event: RuntimeEvent, open: &mut Option<Open>) {
        let Some(generation) = open.as_ref().map(|running| running.generation) else { return };
        if let RuntimeEvent::Ready { session } | RuntimeEvent::Session { session } = &event {
            self.options.resume = Some(session.clone());
        }
        if let RuntimeEvent::Exited { code } = event {
            debug!(code, "runtime exited");
            *open = None;
            self.token.send_replace(None);
            match code {
                0 => drop(self.agent_loop.send(Incoming::Ended { generation }).await),
                _ => self.exited(generation, Cause::Theirs, texts::exited(code)).await,
            }
            return;
        }
        if let (RuntimeEvent::Message { message, .. }, Some(running)) = (&event, open.as_mut()) {
            running.acted |= message.content.iter().any(|it| matches!(it, Block::ToolUse { .. }));
        }
        let Some(event) = self.try_again(event, open).await else { return };
        let ended = turn_ended(&event);
        if let (RuntimeEvent::Compacted { failed: None }, Some(running)) = (&event, open.as_mut()) {
            running.too_long = false;
        }
        let hopeless = match self.shortens {
            true => is_overflow(&event, open.as_ref()),
            false => Overflow::No,
        };
        let ready = matches!(event, RuntimeEvent::Ready { .. });
        if let Some(running) = open {
            running.ready |= ready;
            // Told before the event upon which the agent loop would take what waits (R0-07).
            let emptied = ended.is_some() && running.turn == ended && self.empties(running);
            if (ready && running.first.is_some()) || emptied {
                self.primes(running).await;
            }
        }
        self.tell(generation, event).await;
        if let Some(running) = open
            && ended.is_some()
            && running.turn == ended
        {
            running.turn = None;
        }
        match hopeless {
            Overflow::No => self.care(open).await,
            Overflow::Compact => {
                if let Some(running) = open {
                    running.too_long = true;
                    self.care.get_or_insert(Care::Compact);
                }
                self.care(open).await;
            }
            Overflow::Hopeless => {
                // The session no longer fits its model: the next one begins empty.
                self.options.resume = None;
                self.end(open, StopReason::Restart).await;
            }
        }
    }

    /// Does what was asked for, if no turn is open.
    async fn care(&mut self, open: &mut Option<Open>) {
        let Some(running) = open else { return };
        if running.turn.is_some() {
            return;
        }
        if std::mem::take(&mut running.other_model) {
            return self.change_model(open).await;
        }
        let Some(care) = self.care.take_if(|_| running.ready) else { return };
        let done = match care {
            Care::Compact => running.runtime.compact().await,
            Care::Clear => running.runtime.clear().await,
        };
        let generation = running.generation;
        match (done, care) {
            (Err(error), _) => {
                warn!(%error, "the context stays as it is");
                let failed = Some(error.to_string());
                self.tell(generation, RuntimeEvent::Compacted { failed }).await;
            }
            // It is empty again, as at the start.
            (Ok(()), Care::Clear) if self.first.is_some() => {
                running.first.clone_from(&self.first);
                self.primes(running).await;
            }
            (Ok(()), Care::Clear | Care::Compact) => {}
        }
    }

    /// Says whether the session is emptied now that its turn is over, and is told something then.
    fn empties(&self, running: &Open) -> bool {
        let clears = matches!(self.care, Some(Care::Clear));
        clears && running.ready && !running.other_model && self.first.is_some()
    }

    /// Tells the agent loop, once, that a turn of its own comes first.
    async fn primes(&self, running: &mut Open) {
        if !std::mem::replace(&mut running.primes, true) {
            let _ = self.agent_loop.send(Incoming::Primes { generation: running.generation }).await;
        }
    }

    async fn obey(&mut self, command: SessionCommand, open: &mut Option<Open>) {
        match command {
            SessionCommand::Start { generation, resume } => {
                self.start((generation, resume), open).await
            }
            SessionCommand::Kill => self.end(open, StopReason::Stuck).await,
            SessionCommand::Prompt(mut prompt) => {
                let Some(running) = open else { return };
                if let Some(first) = running.first.take() {
                    // It was on its way when the session was emptied. Behind it: the frame of a
                    // message stands at the beginning.
                    prompt.text = format!("{}\n\n{first}", prompt.text);
                }
                self.give(prompt, open).await;
            }
            SessionCommand::Adopt { turn } => {
                let Some(running) = open else { return };
                running.primes = false;
                if let Some(text) = running.first.take() {
                    let prompt = Prompt { turn, text, uuid: Uuid::new_v4().to_string() };
                    return self.give(prompt, open).await;
                }
                match running.runtime.adopt(turn).await {
                    Ok(()) => running.turn = Some(turn),
                    Err(error) => {
                        warn!(%error, %turn, "the runtime has no such turn");
                        let (generation, result) = (running.generation, TurnResult::Interrupted);
                        self.tell(generation, RuntimeEvent::Finished { turn, result }).await;
                    }
                }
            }
            SessionCommand::Steer(prompt) => {
                let Some(running) = open else { return };
                // What the runtime does not take goes back to the queue at the turn's end.
                if let Err(error) = running.runtime.steer(prompt).await {
                    debug!(%error, "not steered");
                }
            }
            SessionCommand::Care(care) => {
                // What is about to be emptied need not be shortened.
                if !matches!(self.care, Some(Care::Clear)) {
                    self.care = Some(care);
                }
                self.care(open).await;
            }
            SessionCommand::SetModel(model) => {
                let model = model.map(|model| model.to_string());
                let model = model.or_else(|| self.configured.clone());
                if model == self.options.model {
                    return;
                }
                self.options.model = model;
                if let Some(running) = open {
                    running.other_model = true;
                    self.care(open).await;
                } else {
                    self.tell_model().await;
                }
            }
            SessionCommand::Interrupt => {
                let Some(running) = open else { return };
                if let (Again::Shortening(end), Some(turn)) = (&mut running.again, running.turn) {
                    *end = RuntimeEvent::Finished { turn, result: TurnResult::Interrupted };
                }
                if let Err(error) = running.runtime.interrupt().await {
                    warn!(%error, "the runtime refused an interrupt");
                }
            }
            SessionCommand::Decide(verdict) => {
                let Some(running) = open else { return };
                if let Err(error) = running.runtime.decide(verdict).await {
                    warn!(%error, "the runtime refused a decision");
                }
            }
        }
    }

    async fn give(&mut self, prompt: Prompt, open: &mut Option<Open>) {
        let Some(running) = open else { return };
        let turn = prompt.turn;
        match running.runtime.prompt(prompt.clone()).await {
            Ok(()) => {
                running.turn = Some(turn);
                running.prompt = Some(prompt);
                running.acted = false;
                running.again = Again::No;
            }
            Err(error) => {
                warn!(%error, %turn, "the runtime refused a prompt");
                self.end(open, StopReason::Stuck).await;
            }
        }
    }

    async fn start(&mut self, (generation, resume): (Generation, bool), open: &mut Option<Open>) {
        self.end(open, StopReason::Restart).await;
        // A new session that was promised begins, whatever ended the old one's backend.
        let promised = matches!(self.care, Some(Care::Clear));
        if !resume || promised {
            (self.options.resume, self.care) = (None, None);
        }
        let (sender, events) = mpsc::channel(EVENT_QUEUE);
        let mut runtime = (self.make)();
        let known_as = self.session_of_generation();
        let _ = self.agent_loop.send(Incoming::KnownAs { session: known_as.clone() }).await;
        match runtime.start(self.options_of_generation(&known_as), sender).await {
            Ok(handle) => {
                debug!(runtime = handle.runtime, session = ?handle.session, "runtime started");
                *open = Some(Open {
                    generation,
                    turn: None,
                    first: self.first.clone().filter(|_| self.options.resume.is_none()),
                    primes: false,
                    ready: false,
                    other_model: false,
                    too_long: false,
                    prompt: None,
                    acted: false,
                    again: Again::No,
                    runtime,
                    events,
                });
            }
            Err(error) => {
                warn!(%error, "the runtime did not start");
                self.tell(generation, RuntimeEvent::Notice { text: error.to_string() }).await;
                self.exited(generation, Cause::Theirs, error.to_string()).await;
            }
        }
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

    /// Each life has a token of its own: what is left of an earlier one is not believed. And it
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

    /// Ends the backend and passes on what it still told, its exit last.
    async fn end(&mut self, open: &mut Option<Open>, reason: StopReason) {
        let Some(mut running) = open.take() else { return };
        let generation = running.generation;
        {
            let stopping = running.runtime.stop(reason);
            tokio::pin!(stopping);
            loop {
                tokio::select! {
                    () = &mut stopping => break,
                    Some(event) = running.events.recv() => self.tell_unless_exit(generation, event).await,
                }
            }
        }
        drop(running.runtime);
        self.token.send_replace(None);
        running.events.close();
        while let Some(event) = running.events.recv().await {
            self.tell_unless_exit(generation, event).await;
        }
        self.exited(generation, Cause::Ours, texts::ENDED_BY_US.to_owned()).await;
    }

    async fn tell_unless_exit(&self, generation: Generation, event: RuntimeEvent) {
        if !matches!(event, RuntimeEvent::Exited { .. }) {
            self.tell(generation, event).await;
        }
    }

    async fn tell(&self, generation: Generation, event: RuntimeEvent) {
        let _ = self.agent_loop.send(Incoming::Runtime { generation, event }).await;
    }

    async fn exited(&self, generation: Generation, cause: Cause, how: String) {
        let _ = self.agent_loop.send(Incoming::Exited { generation, cause, how }).await;
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

fn is_overflow(event: &RuntimeEvent, open: Option<&Open>) -> Overflow {
    let can_compact = open.is_some_and(|open| open.runtime.capabilities().compact);
    match event {
        RuntimeEvent::Finished {
            result: TurnResult::Failed { kind: FailureKind::ContextOverflow, .. },
            ..
        } if can_compact && !open.is_some_and(|open| open.too_long) => Overflow::Compact,
        // What was to make room for it did not fit itself.
        RuntimeEvent::Compacted { failed: Some(_) } if open.is_some_and(|open| open.too_long) => {
            Overflow::Hopeless
        }
        RuntimeEvent::Finished {
            result: TurnResult::Failed { kind: FailureKind::ContextOverflow, .. },
            ..
        } => Overflow::Hopeless,
        _ => Overflow::No,
    }
}

fn turn_ended(event: &RuntimeEvent) -> Option<TurnId> {
    match event {
        RuntimeEvent::Finished { turn, .. } => Some(*turn),
        _ => None,
    }
}

/// Returns the session to go on with, if one is kept.
pub(crate) fn resume_from(kept: Option<String>) -> Option<SessionId> {
    kept.map(SessionId)
}
