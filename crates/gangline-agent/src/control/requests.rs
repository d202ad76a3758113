//! Requests: what each one does, and who may make it. Owns only its ends of queues.

use std::{path::Path, sync::Arc, time::Duration};

use gangline_api::ipc::{
    self, Command, Form, HelloData, Lines, NoData, Request, RequestId, Response, SubscribeData,
    ToolData,
};
use gangline_core::{
    AgentName, MessageId,
    name::{ChannelName, Target},
    question::OnTimeout,
    whisper::WhisperRoad,
};
use gangline_os::{CancellationToken, clock::SharedClock};
use gangline_runtime::{Capabilities, ToolCall, toolserver::OUTSIDE};
use gangline_store::{Cursor, EventPage, EventQuery, StoreError};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::readable::Readable;
use crate::{
    asking::Asker,
    bus::Incoming,
    calls::Call,
    carrying::Waiting,
    chat::{
        Counts,
        inquiries::{Answer, Question},
    },
    identity::Identity,
    rooms::{By, Order as LineOrder, RoomsCommand, Unread, Wanted},
    showing::{Showing, VERSION},
    speech::{Speaker, TurnContext},
    tokens::{Tokens, Who},
    tools::AgentTools,
    whereabouts::Whereabouts,
    whispers::Carried,
};

/// A verb that is the agent's only.
const AGENTS: &str = "this needs the agent's token";
/// A verb that is the owner's only.
const OWNERS: &str = "this needs the owner's token";

/// The ends that requests need of the daemon's parts.
pub(crate) struct Requests {
    pub(crate) me: Arc<Identity>,
    /// Every agent of the installation, this one too.
    pub(crate) everybody: Vec<AgentName>,
    pub(crate) speaker: Speaker,
    pub(crate) context: watch::Receiver<Option<TurnContext>>,
    pub(crate) showing: watch::Receiver<Showing>,
    pub(crate) unread: watch::Receiver<Unread>,
    /// Where the agent is, and who the server knows.
    pub(crate) whereabouts: Whereabouts,
    pub(crate) asker: Asker,
    /// Where calls are told that are held open.
    pub(crate) calls: mpsc::Sender<Call>,
    /// How many are where, as far as it is known.
    pub(crate) members: watch::Receiver<Counts>,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    pub(crate) rooms: mpsc::Sender<RoomsCommand>,
    pub(crate) committed: watch::Receiver<u64>,
    /// Whose model is chosen.
    pub(crate) model_owner: String,
    /// What the backend can do.
    pub(crate) can: Capabilities,
    pub(crate) tokens: Tokens,
    /// The agent's own tools.
    pub(crate) tools: AgentTools,
    pub(crate) whispers: Waiting,
    /// What the agent may read without a question.
    pub(crate) readable: Readable,
    /// Cancelled when somebody asks the daemon to end.
    pub(crate) asked_to_end: CancellationToken,
}

/// Whether a connection's requests of this kind keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// One after the other: what is said, and what is read.
    Kept,
    /// All at once.
    Any,
}

impl Order {
    pub(super) fn of(command: &Command) -> Self {
        match command {
            Command::Send { .. } | Command::Read { .. } => Self::Kept,
            // It is held open, and must not hold up what follows.
            Command::Ask { .. }
            | Command::Hello { .. }
            | Command::Join { .. }
            | Command::Part { .. }
            | Command::Channels
            | Command::Who { .. }
            | Command::Topic { .. }
            | Command::Compact
            | Command::Clear
            | Command::Model { .. }
            | Command::Status { .. }
            | Command::Pause { .. }
            | Command::Resume
            | Command::Interrupt
            | Command::Shutdown
            | Command::SetDirectory { .. }
            | Command::Wake { .. }
            | Command::Tool { .. }
            | Command::Subscribe { .. } => Self::Any,
        }
    }
}

/// What came of a request.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) response: Response,
    /// How the response is written.
    pub(super) form: Form,
    pub(super) then: Then,
    /// What is written before the response, for the agent alone (R0-51).
    pub(super) whispers: Option<Carried>,
}

/// What follows once the response is written.
#[derive(Debug)]
pub(super) enum Then {
    GoOn,
    /// Events from this place on.
    Subscribe {
        cursor: Cursor,
        committed: watch::Receiver<u64>,
    },
    /// The caller has the answer to its question.
    Answered(oneshot::Sender<()>),
    /// The daemon ends.
    Shutdown,
}

/// What a client wants said.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draft<'a> {
    pub(super) to: &'a Target,
    pub(super) text: &'a str,
    pub(super) in_reply_to: Option<MessageId>,
}

/// What a command tells.
#[derive(Debug)]
pub(super) struct Reply {
    data: Value,
    warnings: Vec<String>,
    then: Then,
}

impl Reply {
    pub(super) fn new(data: &impl Serialize) -> Result<Self, String> {
        let data = serde_json::to_value(data).map_err(|error| error.to_string())?;
        Ok(Self { data, warnings: Vec::new(), then: Then::GoOn })
    }

    /// Returns whether whispers may stand before it: not before data of a tool, which programs may
    /// show alone.
    fn takes_whispers(&self) -> bool {
        let result = self.data.get("result").and_then(Value::as_str);
        !result.is_some_and(|result| result.trim_start().starts_with('{'))
    }

    pub(super) fn nothing() -> Result<Self, String> {
        Self::new(&NoData {})
    }

    pub(super) fn warning(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    pub(super) fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }
}

impl Requests {
    pub(super) fn clock(&self) -> SharedClock {
        SharedClock::clone(&self.me.clock)
    }

    pub(super) fn monotonic(&self) -> Duration {
        self.me.clock.monotonic()
    }

    pub(super) fn millis(&self) -> u64 {
        u64::try_from(self.monotonic().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn shutdown(&self) {
        self.asked_to_end.cancel();
    }

    /// Does what is asked and returns the response.
    ///
    /// `gone` is cancelled when nobody is there any more to hear it: only what waits looks at it.
    pub(super) async fn serve(
        &self,
        pid: Option<u32>,
        request: Request,
        gone: CancellationToken,
    ) -> Done {
        let Request { id, token, command, form } = request;
        // Who only looks is not asked where it comes from, which costs something.
        let pid = pid.filter(|_| !command.only_looks());
        let carries = form == Form::Typed && carries_whispers(&command);
        let (told, whispers) = match self.tokens.who(token.as_ref(), pid) {
            Ok(who) => {
                let told = self.command((who, id.as_ref()), command, gone).await;
                let has_room = told.as_ref().map_or(true, Reply::takes_whispers);
                let whispers = match carries && who == Who::Agent && has_room {
                    true => self.whispers.take(WhisperRoad::Socket).await,
                    false => None,
                };
                (told, whispers)
            }
            Err(refused) => (Err(refused.to_string()), None),
        };
        match told {
            Ok(Reply { data, warnings, then }) => {
                let response = Response { id, ok: true, data: Some(data), error: None, warnings };
                Done { response, form, then, whispers }
            }
            Err(error) => {
                let response = Response::failed(id, error);
                Done { response, form, then: Then::GoOn, whispers }
            }
        }
    }

    async fn command(
        &self,
        (who, id): (Who, Option<&RequestId>),
        command: Command,
        gone: CancellationToken,
    ) -> Result<Reply, String> {
        match command {
            Command::Hello { .. } => self.hello(),
            Command::Send { channel, message, absent, in_reply_to } => {
                let draft = Draft { to: &channel, text: &message, in_reply_to };
                self.send((who, id), draft, absent).await
            }
            // Whoever is not the owner may not pause the agent or end its turn.
            Command::Ask { on_timeout: OnTimeout::Pause | OnTimeout::Abort, .. }
                if who == Who::Somebody =>
            {
                Err(AGENTS.to_owned())
            }
            Command::Ask { channel, message, timeout, on_timeout } => {
                let draft = Draft { to: &channel, text: &message, in_reply_to: None };
                self.ask((who, id), draft, (timeout, on_timeout, gone)).await
            }
            Command::Read { channel, limit, lines, own } => {
                self.read(who, channel, wanted(limit, lines, own)).await
            }
            Command::Join { channel } => self.join(channel).await,
            Command::Part { channel } => self.part(channel).await,
            Command::Channels => self.channels().await,
            Command::Who { target } => self.who(target).await,
            Command::Topic { channel, topic } => self.topic(channel, topic).await,
            Command::Compact => self.compact(who).await,
            Command::Clear => self.clear(who).await,
            Command::Model { choice: Some(_) } if who != Who::Owner => Err(OWNERS.to_owned()),
            Command::Model { choice } => self.model(choice),
            Command::Status { .. } => self.status().await,
            Command::Pause { .. } | Command::Resume | Command::Interrupt | Command::Shutdown
                if who != Who::Owner =>
            {
                Err(OWNERS.to_owned())
            }
            Command::Pause { ends } => self.pause(ends.as_deref()).await,
            Command::Resume => self.resume().await,
            Command::Interrupt => self.interrupt(who).await,
            Command::Shutdown => Ok(Reply::nothing()?.then(Then::Shutdown)),
            Command::SetDirectory { path } => self.set_directory(who, path).await,
            Command::Wake { from, body, key } => self.wake(who, (&from, &body, key)).await,
            Command::Tool { .. } if who != Who::Agent => Err(AGENTS.to_owned()),
            Command::Tool { name, input, call } => {
                let call = ToolCall { turn: OUTSIDE, id: call, name, input };
                self.tool(call).await
            }
            Command::Subscribe { cursor } => self.subscribe(cursor).await,
        }
    }

    /// Calls a tool; a connection that closes meanwhile does not take the call back.
    async fn tool(&self, call: ToolCall) -> Result<Reply, String> {
        let never = CancellationToken::new();
        match self.tools.call_outside(call, &never).await {
            Some(Ok(result)) => Reply::new(&ToolData { result }),
            Some(Err(why)) => Err(why),
            None => Err("the call was withdrawn".to_owned()),
        }
    }

    fn hello(&self) -> Result<Reply, String> {
        let agent = self.me.agent.clone();
        Reply::new(&HelloData { version: ipc::VERSION, agent, gangline: VERSION.to_owned() })
    }

    async fn subscribe(&self, cursor: Option<String>) -> Result<Reply, String> {
        // Listened to first, so that nothing falls between reading and listening.
        let committed = self.committed.clone();
        let cursor = match cursor {
            Some(text) => text.parse().map_err(|error| format!("'cursor': {error}"))?,
            None => self.newest().await.map_err(|error| error.to_string())?,
        };
        let told = Reply::new(&SubscribeData { cursor: cursor.to_string() })?;
        Ok(told.then(Then::Subscribe { cursor, committed }))
    }

    async fn newest(&self) -> Result<Cursor, StoreError> {
        let agent = Some(self.me.agent.clone());
        let query = EventQuery { agent, newest: true, limit: 1, ..EventQuery::default() };
        Ok(self.speaker.store.events(query).await?.cursor)
    }

    /// Returns the next page of this agent's events.
    pub(super) async fn events(&self, after: Cursor) -> Result<EventPage, StoreError> {
        let agent = Some(self.me.agent.clone());
        let query = EventQuery { agent, after: Some(after), ..EventQuery::default() };
        self.speaker.store.events(query).await
    }

    /// Asks the chat server.
    pub(super) async fn inquire(&self, question: Question) -> Result<Answer, String> {
        self.whereabouts.inquire(question).await
    }

    /// Returns whether the agent is in the channel, or will be when the link is up.
    pub(super) fn is_in(&self, channel: &ChannelName) -> bool {
        self.whereabouts.is_in(channel)
    }

    /// Refuses a place that the agent is not in.
    pub(super) fn must_be_in(&self, place: &Target) -> Result<(), String> {
        self.whereabouts.must_be_in(place).map_err(|nobody| nobody.to_string())
    }
}

/// Returns whether the response to a command of the agent may come with whispers: the commands that
/// its shell runs, and not those of programs that stand between it and the daemon.
fn carries_whispers(command: &Command) -> bool {
    match command {
        Command::Send { .. }
        | Command::Ask { .. }
        | Command::Read { .. }
        | Command::Join { .. }
        | Command::Part { .. }
        | Command::Channels
        | Command::Who { .. }
        | Command::Topic { .. }
        | Command::Compact
        | Command::Clear
        | Command::SetDirectory { .. }
        | Command::Tool { .. } => true,
        Command::Hello { .. }
        | Command::Model { .. }
        | Command::Status { .. }
        | Command::Pause { .. }
        | Command::Resume
        | Command::Interrupt
        | Command::Shutdown
        | Command::Wake { .. }
        | Command::Subscribe { .. } => false,
    }
}

/// Returns what a reader asks the rooms for.
fn wanted(limit: u32, lines: Lines, own: bool) -> Wanted {
    let order = match lines {
        Lines::Unread => LineOrder::Oldest,
        Lines::Latest => LineOrder::Newest,
        Lines::Peek => LineOrder::Peek,
    };
    let by = if own { By::Agent } else { By::Others };
    Wanted { limit: limit as usize, order, by }
}

/// Returns a path as people see it.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
