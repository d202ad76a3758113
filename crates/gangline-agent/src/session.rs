//! The session: a backend's start, the commands to it, and its reports.
//!
//! A part of the agent loop, which polls it ([`Generations::next`]). Decides nothing about turns: the
//! state machine does. Knows neither rooms nor messages; a failed start is reported as an exit. The
//! backend itself, one generation after the other, is behind the [`port`].

use std::collections::VecDeque;

use gangline_core::{
    TurnId,
    agent::{ChosenModel, Generation},
    effort::{Effort, EffortLevel},
    outcome::EndedBy,
    whisper::WhisperRoad,
};
use gangline_os::{fsio, secret::Secret};
use gangline_runtime::{
    ApprovalReply, Block, Capabilities, Command, Prompt, RuntimeEvent, SessionId, StartOptions,
    StopReason, Thinking, TurnResult,
};
use tokio::sync::watch;
use tracing::{debug, warn};
use uuid::Uuid;

pub(crate) mod port;

use crate::{environment, texts, tokens};
use port::{BackendPort, Exit, Next, Passed, PortEvent};

/// How a session is set up.
pub(crate) struct SessionOptions {
    /// With the model that was chosen, if one was.
    pub(crate) options: StartOptions,
    /// Our own id of the session, under which its shells and hooks know it (C22). A program that
    /// begins another session unasked keeps it: its environment cannot change.
    pub(crate) known_as: Option<String>,
    /// The first prompt of an empty session (R0-07, R3-15).
    pub(crate) first: Option<String>,
    /// The model of the configuration.
    pub(crate) configured: Option<String>,
    /// The effort of the configuration.
    pub(crate) thinking: Option<Thinking>,
    /// The token that identifies this generation's children (C21); `None` without a generation.
    pub(crate) token: watch::Sender<Option<Secret>>,
}

/// The agent's sessions with its backend, one generation after the other.
pub(crate) struct Generations {
    port: BackendPort,
    options: StartOptions,
    known_as: Option<String>,
    first: Option<String>,
    configured: Option<String>,
    thinking: Option<Thinking>,
    token: watch::Sender<Option<Secret>>,
    /// The generation that is in use; none while one ends, whatever it still says.
    open: Option<Generation>,
    /// The last prompt that was given.
    given: Option<Given>,
    /// What the loop has yet to hear: what follows from one command or one event.
    news: VecDeque<SessionEvent>,
}

/// A prompt as it was given.
struct Given {
    prompt: Prompt,
    /// A tool was used for it.
    acted: bool,
}

/// What a session reports to the agent loop.
#[derive(Debug)]
pub(crate) enum SessionEvent {
    /// The backend is being started: this is our own id of its session, as `GT_SESSION_ID` has it.
    KnownAs { session: String },
    /// The backend's session is empty: its first prompt comes before all messages.
    Empty { generation: Generation },
    /// The backend was started, and can do this.
    Started { generation: Generation, can: Capabilities },
    /// The backend, in this generation.
    Runtime { generation: Generation, event: RuntimeEvent },
    /// The backend does not take a command that it must take.
    Unusable { generation: Generation },
    /// The backend is gone; `how` is for people.
    Exited { generation: Generation, by: EndedBy, how: String },
    /// It has exited on its own, with code 0.
    Ended { generation: Generation },
}

impl Generations {
    pub(crate) fn new(port: BackendPort, set_up: SessionOptions) -> Self {
        let SessionOptions { options, known_as, first, configured, thinking, token } = set_up;
        let (open, given, news) = (None, None, VecDeque::new());
        Self { port, options, known_as, first, configured, thinking, token, open, given, news }
    }

    /// Waits for what the loop hears next. Cancel-safe: yes.
    pub(crate) async fn next(&mut self) -> SessionEvent {
        loop {
            if let Some(news) = self.news.pop_front() {
                return news;
            }
            let event = self.port.next().await;
            self.hear(event);
        }
    }

    /// Says whether no backend runs, nor is to.
    pub(crate) fn are_over(&self) -> bool {
        self.port.is_down()
    }

    /// Returns the model that the backend is started with; `None` = its own default.
    pub(crate) fn model(&self) -> Option<&str> {
        self.options.model.as_deref()
    }

    /// Returns how a whisper gets into a running turn, beside the answers to the agent.
    pub(crate) fn whispers(&self) -> Option<WhisperRoad> {
        self.port.can()?.whispers
    }

    /// Starts a generation, which continues the stored session if there is one and `resume` says
    /// so.
    pub(crate) fn start(&mut self, next: Next) {
        self.open = None;
        self.port.start(next);
    }

    /// Ends the backend; what it still says is passed on, its exit last.
    pub(crate) fn end(&mut self, reason: StopReason) {
        self.open = None;
        self.given = None;
        self.port.end(reason);
    }

    /// Hands over a prompt, with what is told beside it this time.
    pub(crate) fn prompt(&mut self, mut prompt: Prompt, told: Option<String>) {
        self.given = Some(Given { prompt: prompt.clone(), acted: false });
        prompt.text.push_str(&told.unwrap_or_default());
        self.must_take(Command::Prompt(prompt));
    }

    /// Hands over the turn's prompt once more, with what is told beside it this time.
    pub(crate) fn prompt_again(&mut self, told: Option<String>) {
        let Some(given) = &mut self.given else { return };
        // A backend may remember the ids of prompts that it had.
        given.prompt.uuid = Uuid::new_v4().to_string();
        let mut prompt = given.prompt.clone();
        if given.acted {
            prompt.text.push_str(texts::GIVEN_AGAIN);
        }
        prompt.text.push_str(&told.unwrap_or_default());
        self.must_take(Command::Prompt(prompt));
    }

    /// Hands over the first words of an empty session.
    pub(crate) fn prime(&mut self, turn: TurnId, uuid: String) {
        let text = self.first.clone().unwrap_or_default();
        self.prompt(Prompt { turn, text, uuid }, None);
    }

    /// The prompt of this turn was never given: it ends as if the backend had ended it early.
    pub(crate) fn never_prompted(&mut self, turn: TurnId) {
        if let Some(generation) = self.open {
            self.interrupted(generation, turn);
        }
    }

    /// This turn is the one that the backend began on its own.
    pub(crate) fn adopt(&mut self, turn: TurnId) {
        let Some(generation) = self.open else { return };
        match self.port.send(Command::Adopt(turn)) {
            // The end of one that is gone is told with its own.
            Passed::Sent | Passed::NotRunning => {}
            Passed::Full => self.interrupted(generation, turn),
        }
    }

    /// Adds a prompt to the open turn. What the backend does not take goes back to the queue at the
    /// turn's end.
    pub(crate) fn steer(&mut self, prompt: Prompt) {
        let passed = self.send(Command::Steer(prompt));
        debug!(?passed, "steered");
    }

    /// Has the context made shorter.
    pub(crate) fn compact(&mut self) {
        self.changes_context(Command::Compact);
    }

    /// Has the context emptied.
    pub(crate) fn clear(&mut self) {
        self.changes_context(Command::Clear);
    }

    /// Chooses another model; `None` = the configuration's. Returns what there is to tell a backend
    /// that runs.
    pub(crate) fn choose_model(&mut self, model: Option<String>) -> Option<ChosenModel> {
        let model = model.or_else(|| self.configured.clone());
        if model == self.options.model {
            return None;
        }
        self.options.model = model;
        Some(match &self.options.model {
            Some(_) => ChosenModel::Named,
            None => ChosenModel::Default,
        })
    }

    /// Chooses another ground level of the effort; `None` = the configuration's. Returns whether that is
    /// another one than a backend that runs was started with.
    pub(crate) fn choose_effort(&mut self, effort: Option<EffortLevel>) -> bool {
        let chosen = effort.map(|level| Thinking::Said(level.to_string()));
        let thinking = chosen.or_else(|| self.thinking.clone());
        std::mem::replace(&mut self.options.thinking, thinking) != self.options.thinking
    }

    /// Returns the effort that somebody has said, here or in the configuration.
    pub(crate) fn effort(&self) -> Option<&str> {
        self.options.thinking.as_ref()?.said()
    }

    /// Tells the backend the model that was chosen.
    pub(crate) fn set_model(&mut self) {
        let default = || self.port.can()?.default_model.map(str::to_owned);
        match self.options.model.clone().or_else(default) {
            Some(model) => self.must_take(Command::SetModel(model)),
            None => self.unusable(),
        }
    }

    /// Has the model think harder, or as before.
    pub(crate) fn set_effort(&mut self, effort: Effort) {
        self.must_take(Command::SetEffort(effort));
    }

    /// Ends the open turn.
    pub(crate) fn interrupt(&mut self) {
        self.send(Command::Interrupt);
    }

    /// Answers an approval.
    pub(crate) fn decide(&mut self, reply: ApprovalReply) {
        self.send(Command::Decide(reply));
    }

    fn hear(&mut self, event: PortEvent) {
        match event {
            PortEvent::MayBegin(next) => self.begin(next),
            PortEvent::Started { generation } => {
                debug!(?generation, "backend started");
                if let Some(can) = self.port.can() {
                    self.news.push_back(SessionEvent::Started { generation, can });
                }
            }
            PortEvent::NotStarted { generation, why } => {
                warn!(why, "the backend did not start");
                self.open = None;
                self.report(generation, RuntimeEvent::Notice { text: why.clone() });
                self.exited(generation, EndedBy::Itself, why);
            }
            PortEvent::Runtime { generation, event } if self.open == Some(generation) => {
                self.said(generation, event);
            }
            // What it says while it is being ended.
            PortEvent::Runtime { generation, event } => self.report(generation, event),
            PortEvent::Exited { generation, exit } => {
                debug!(?exit, "backend exited");
                if self.open == Some(generation) {
                    self.open = None;
                }
                self.token.send_replace(None);
                match exit {
                    Exit::Ours => {
                        self.exited(generation, EndedBy::Us, texts::ENDED_BY_US.to_owned());
                    }
                    Exit::Theirs { code: 0 } => {
                        self.news.push_back(SessionEvent::Ended { generation });
                    }
                    Exit::Theirs { code } => {
                        self.exited(generation, EndedBy::Itself, texts::exited(code));
                    }
                }
            }
        }
    }

    fn said(&mut self, generation: Generation, event: RuntimeEvent) {
        match &event {
            RuntimeEvent::Ready { session } | RuntimeEvent::Session { session } => {
                self.options.resume = Some(session.clone());
            }
            RuntimeEvent::Message { message, turn } => {
                let used = message.content.iter().any(|it| matches!(it, Block::ToolUse { .. }));
                if let Some(given) = self.given.as_mut().filter(|it| it.prompt.turn == *turn) {
                    given.acted |= used;
                }
            }
            _ => {}
        }
        match event {
            RuntimeEvent::Refused { command, why } => {
                self.refused(generation, command, &why.to_string());
            }
            event => self.report(generation, event),
        }
    }

    /// A command was refused: says what comes of that.
    fn refused(&mut self, generation: Generation, command: Command, why: &str) {
        match command {
            Command::Prompt(_) | Command::SetModel(_) => {
                warn!(why, "the backend refused a prompt or its model");
                self.unusable();
            }
            Command::Adopt(turn) => {
                warn!(why, %turn, "the backend has no such turn");
                self.interrupted(generation, turn);
            }
            Command::SetEffort(_) => debug!(why, "the effort stays as it is"),
            // It goes back to the queue at the turn's end.
            Command::Steer(_) => debug!(why, "not steered"),
            Command::Compact | Command::Clear => {
                warn!(why, "the context stays as it is");
                let failed = Some(why.to_owned());
                self.report(generation, RuntimeEvent::Compacted { failed });
            }
            Command::Interrupt | Command::Decide(_) | Command::Stop(_) => {
                debug!(why, "a command is refused that never is");
            }
        }
    }

    /// Begins a generation: nothing of an earlier one runs.
    fn begin(&mut self, Next { generation, resume }: Next) {
        if !resume {
            self.options.resume = None;
        }
        let known_as = self.session_of_generation();
        self.news.push_back(SessionEvent::KnownAs { session: known_as.clone() });
        self.open = Some(generation);
        if self.first.is_some() && self.options.resume.is_none() {
            self.news.push_back(SessionEvent::Empty { generation });
        }
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

    /// Passes a command on to the generation that is in use.
    fn send(&mut self, command: Command) -> Passed {
        match self.open {
            Some(_) => self.port.send(command),
            None => Passed::NotRunning,
        }
    }

    /// Gives a command without which the backend is of no use.
    fn must_take(&mut self, command: Command) {
        match self.send(command) {
            Passed::Sent => {}
            // Its exit is on its way, and what was asked of it ends with that.
            Passed::NotRunning => debug!("a command for a backend that is gone"),
            Passed::Full => self.unusable(),
        }
    }

    /// Gives a command that somebody waits for the end of.
    fn changes_context(&mut self, command: Command) {
        let Some(generation) = self.open else { return };
        if self.port.send(command) == Passed::Full {
            let failed = Some("the backend does not take commands".to_owned());
            self.report(generation, RuntimeEvent::Compacted { failed });
        }
    }

    fn unusable(&mut self) {
        if let Some(generation) = self.open {
            warn!(?generation, "the backend does not take its commands");
            self.news.push_back(SessionEvent::Unusable { generation });
        }
    }

    fn interrupted(&mut self, generation: Generation, turn: TurnId) {
        let result = TurnResult::Interrupted;
        self.report(generation, RuntimeEvent::Finished { turn, result });
    }

    fn report(&mut self, generation: Generation, event: RuntimeEvent) {
        self.news.push_back(SessionEvent::Runtime { generation, event });
    }

    fn exited(&mut self, generation: Generation, by: EndedBy, how: String) {
        self.news.push_back(SessionEvent::Exited { generation, by, how });
    }
}

/// Returns the session to continue, if one is stored.
pub(crate) fn resume_from(kept: Option<String>) -> Option<SessionId> {
    kept.map(SessionId)
}

#[cfg(test)]
mod tests;
