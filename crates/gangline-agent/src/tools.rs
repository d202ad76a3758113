//! The tools that an agent has in its session: it speaks, takes messages from its inbox, asks and
//! answers, and sets reminders. What is said goes the way of [`crate::speech`].

mod changes;
mod fields;
mod loose_ends;
mod manager;
mod outside;
mod proposed;
mod questions;
mod recv;
mod reminders;

pub(crate) use reminders::fired_text;

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use gangline_config::Role;
use gangline_core::{
    MessageId, SendKey, Target, TurnId, act::ActKind, question::OPERATOR, whisper::WhisperRoad,
};
use gangline_mcp::table::{self, Tool, User};
use gangline_os::{CancellationToken, clock::SharedClock};
use gangline_runtime::{Aside, ToolCall, ToolHost, ToolSpec};
use gangline_store::NewLetter;
use serde_json::Value;
use tokio::sync::{Notify, watch};

use crate::{
    acts::already,
    asking::Asker,
    bus::{Incoming, taken},
    carrying::Waiting,
    showing::Showing,
    speech::Doing,
    speech::{NotSaid, Said, Saying, Speaker, TurnContext},
    whereabouts::Whereabouts,
};

/// Why a line to an agent is held, for the model.
const HELD: &str = "this request has gone through too many agents; its owner was told and decides \
                    whether it continues";

/// The result of a cancelled call; nobody waits for it.
const TAKEN_BACK: &str = "the call was withdrawn: nothing was sent";

/// The daemon's [`ToolHost`].
pub(crate) struct AgentTools {
    pub(crate) server_key: &'static str,
    pub(crate) speaker: Speaker,
    pub(crate) turn: watch::Receiver<Option<TurnContext>>,
    pub(crate) asker: Asker,
    pub(crate) whereabouts: Whereabouts,
    pub(crate) clock: SharedClock,
    /// What the agent does, so that a call which waits sees that something came.
    pub(crate) showing: watch::Receiver<Showing>,
    /// The task that looks at the time has something new to look at.
    pub(crate) alarm: Arc<Notify>,
    pub(crate) about: About,
    pub(crate) whispers: Waiting,
}

/// Who the agent is.
#[derive(Debug, Clone)]
pub(crate) struct About {
    /// Whether it runs the other agents.
    pub(crate) role: Role,
    /// Whether the chat server is our own, where an account says who owners are.
    pub(crate) own_server: bool,
    /// The owner's pronouns.
    pub(crate) pronouns: String,
    /// The folder of reminders that are too long for a message.
    pub(crate) reminders: PathBuf,
}

#[async_trait]
impl ToolHost for AgentTools {
    fn server_key(&self) -> &'static str {
        self.server_key
    }

    fn tools(&self) -> Vec<ToolSpec> {
        table::offered(match self.about.role {
            Role::Agent => User::Session,
            Role::Manager => User::Manager,
        })
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let never = CancellationToken::new();
        self.call_unless(call, never).await.unwrap_or_else(|| Err(TAKEN_BACK.to_owned()))
    }

    async fn aside(&self, turn: TurnId, road: WhisperRoad) -> Option<Aside> {
        let open = self.turn.borrow().as_ref().is_some_and(|context| context.turn == turn);
        let carried = if open { self.whispers.take(road).await } else { None }?;
        Some(Aside::new(carried.text(), carried.into_told()))
    }

    async fn call_unless(
        &self,
        call: ToolCall,
        withdrawn: CancellationToken,
    ) -> Option<Result<String, String>> {
        if withdrawn.is_cancelled() {
            return None;
        }
        let context = self.turn.borrow().clone();
        let Some(context) = context.filter(|context| context.turn == call.turn) else {
            return Some(Err("this turn is over: nothing was sent".to_owned()));
        };
        self.run(Some(&context), &call, &withdrawn).await
    }
}

impl AgentTools {
    /// Runs a call in a turn, or outside of every turn.
    async fn run(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
        withdrawn: &CancellationToken,
    ) -> Option<Result<String, String>> {
        Some(match (Tool::named(&call.name), context) {
            (Some(Tool::Send), _) if is_to_operator(&call.input) => {
                self.letter(context, call).await
            }
            (Some(Tool::Send), _) => match self.checked(context, call).await {
                Ok(_) if withdrawn.is_cancelled() => return None,
                Ok(Checked::Before(told)) => Ok(told),
                Ok(Checked::New(letter)) => self.send(context, call, letter).await,
                Err(why) => Err(why),
            },
            (Some(Tool::NoReply), Some(context)) => self.no_reply(context, call).await,
            (Some(Tool::Recv), Some(_)) => return self.recv(call, withdrawn).await,
            (Some(Tool::Recv), None) => return self.list(call, withdrawn).await,
            (Some(Tool::Ask), _) => self.ask(context, call).await,
            (Some(Tool::Answer), _) => self.answer(context, call).await,
            (Some(Tool::LooseEnds), _) => self.loose_ends().await,
            (Some(Tool::CancelLooseEnd), _) => self.cancel_loose_end(call).await,
            (Some(Tool::Remind), _) => self.remind(context, call).await,
            (Some(Tool::WhoAmI), _) => Ok(self.whoami()),
            (
                Some(
                    tool
                    @ (Tool::Kill | Tool::Start | Tool::Restart | Tool::Update | Tool::GetLogs),
                ),
                Some(context),
            ) => self.manage(tool, context, call).await,
            (Some(tool @ (Tool::RequestSpawn | Tool::RequestApplyCommit)), Some(context)) => {
                self.request(tool, context, call).await
            }
            (
                Some(
                    Tool::NoReply
                    | Tool::Kill
                    | Tool::Start
                    | Tool::Restart
                    | Tool::Update
                    | Tool::GetLogs
                    | Tool::RequestSpawn
                    | Tool::RequestApplyCommit
                    | Tool::Read
                    | Tool::Who
                    | Tool::Channels
                    | Tool::Topic
                    | Tool::Join
                    | Tool::Part
                    | Tool::Compact
                    | Tool::Clear
                    | Tool::Pause
                    | Tool::Resume
                    | Tool::Abort
                    | Tool::Whisper
                    | Tool::Attention
                    | Tool::SetDirectory,
                )
                | None,
                _,
            ) => Err(format!("there is no tool `{}` here", call.name)),
        })
    }
}

/// What `send` was asked to say; somebody would hear it.
struct Letter<'a> {
    to: Target,
    text: &'a str,
    in_reply_to: Option<MessageId>,
}

/// What is known of a line before it is said.
enum Checked<'a> {
    /// An attempt that died has said it; the text is for the model.
    Before(String),
    /// It is new, and somebody would hear it.
    New(Letter<'a>),
}

impl AgentTools {
    /// Reads what is to be said, and asks whether it was said before, or else whether anybody would hear it.
    async fn checked<'a>(
        &self,
        context: Option<&TurnContext>,
        call: &'a ToolCall,
    ) -> Result<Checked<'a>, String> {
        let to: Target =
            fields::text(&call.input, "to")?.parse().map_err(|error| format!("`to`: {error}"))?;
        let text = body(&call.input)?;
        let in_reply_to = self.answered(&call.input, context).await?;
        let saying = Saying { to: &to, text, in_reply_to, call: &call.id };
        let before = self.speaker.said_before(context, saying).await;
        if let Some(said) = before.map_err(|error| not_sent(&error))? {
            return Ok(Checked::Before(told(&to, said)));
        }
        self.whereabouts.must_be_in(&to).map_err(|_| {
            format!("not sent: you are not in {to}; run `gangline channel join {to}` first")
        })?;
        let somebody = self.whereabouts.must_be_somebody(&self.speaker, &to, in_reply_to).await;
        somebody.map_err(|nobody| format!("not sent: {nobody}"))?;
        Ok(Checked::New(Letter { to, text, in_reply_to }))
    }

    async fn send(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
        letter: Letter<'_>,
    ) -> Result<String, String> {
        let Letter { to, text, in_reply_to } = letter;
        let saying = Saying { to: &to, text, in_reply_to, call: &call.id };
        let said = self.speaker.say(context, saying).await;
        said.map(|said| told(&to, said)).map_err(|error| not_sent(&error))
    }

    /// Sends to the owners: a row that waits until somebody has dealt with it (R2-19).
    async fn letter(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
    ) -> Result<String, String> {
        let text = body(&call.input)?;
        if text.trim().is_empty() {
            return Err("`body` is empty: nothing was sent".to_owned());
        }
        let in_reply_to = self.answered(&call.input, context).await?;
        let turn = context.map(|context| context.turn);
        let key = SendKey::of_call(turn, &call.id);
        let (kind, request) = (ActKind::Letter, key.as_str());
        let act =
            self.speaker.act(context, Doing { kind, arguments: &[text], request, in_reply_to });
        let before = self.speaker.done_before(act.as_ref()).await;
        if let Some(before) = before.map_err(|error| format!("not sent: {error}"))? {
            self.letter_is_sent(context, in_reply_to).await?;
            let done = format!("sent to the owners' inbox as letter {}", before.number);
            return Ok(already(&done));
        }
        let new = NewLetter {
            agent: self.speaker.agent.clone(),
            turn,
            idem_key: key.to_string(),
            in_reply_to,
            body: self.speaker.redactor.redact(text),
        };
        let id = self.speaker.store.send_letter_once(new, act).await;
        let id = id.map_err(|error| format!("not sent: {error}"))?;
        self.speaker.committed.send_modify(|count| *count += 1);
        self.letter_is_sent(context, in_reply_to).await?;
        Ok(format!("sent to the owners' inbox as letter {id}"))
    }

    /// Tells the agent loop of a letter of its turn.
    async fn letter_is_sent(
        &self,
        context: Option<&TurnContext>,
        in_reply_to: Option<MessageId>,
    ) -> Result<(), String> {
        let Some(turn) = context.map(|context| context.turn) else { return Ok(()) };
        let to = OPERATOR.to_owned();
        let sent = |heard| Incoming::Sent { turn, to, in_reply_to, heard };
        taken(&self.speaker.agent_loop, sent).await.map_err(|ending| ending.to_string())
    }

    /// Reads which message a line answers: one of the turn's, or of this agent's outside of a turn.
    async fn answered(
        &self,
        input: &Value,
        context: Option<&TurnContext>,
    ) -> Result<Option<MessageId>, String> {
        let name = "in_reply_to";
        if let Some(context) = context {
            return message_field(input, name, context);
        }
        let Some(text) = fields::maybe_text(input, name)?.filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let message: MessageId = text.parse().map_err(|error| format!("`{name}`: {error}"))?;
        let row = self.speaker.store.message(message).await.map_err(|error| error.to_string())?;
        match row.is_some_and(|row| row.agent == self.speaker.agent) {
            true => Ok(Some(message)),
            false => Err(format!("`{name}`: {message} is not this agent's")),
        }
    }

    async fn no_reply(&self, context: &TurnContext, call: &ToolCall) -> Result<String, String> {
        let message = message_field(&call.input, "message", context)?;
        let noted = |heard| Incoming::NoReply { turn: context.turn, message, heard };
        taken(&self.speaker.agent_loop, noted).await.map_err(|ending| ending.to_string())?;
        Ok("noted: no reply".to_owned())
    }
}

fn told(to: &Target, said: Said) -> String {
    match said {
        Said::Sent => format!("sent to {to}"),
        Said::Held => format!("held, not yet given to {to}: {HELD}"),
        Said::Before(row) => already(&format!("sent to {to} as {row}")),
    }
}

fn not_sent(error: &NotSaid) -> String {
    match error {
        NotSaid::Store(error) => format!("not sent: {error}"),
        NotSaid::Empty | NotSaid::ToItself | NotSaid::OwnersOnly(_) | NotSaid::Ending(_) => {
            error.to_string()
        }
    }
}

/// Returns what is to be said: `body`, or `text` as it was called before.
fn body(input: &Value) -> Result<&str, String> {
    match fields::maybe_text(input, "body")? {
        Some(body) => Ok(body),
        None => fields::maybe_text(input, "text")?.ok_or_else(|| "`body` is missing".to_owned()),
    }
}

fn is_to_operator(input: &Value) -> bool {
    let to = input.get("to").and_then(Value::as_str).unwrap_or_default();
    to.trim().trim_start_matches('@').eq_ignore_ascii_case(OPERATOR)
}

fn message_field(
    input: &Value,
    name: &str,
    context: &TurnContext,
) -> Result<Option<MessageId>, String> {
    let Some(text) = input.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let message: MessageId = text.parse().map_err(|error| format!("`{name}`: {error}"))?;
    if context.messages.contains(&message) {
        return Ok(Some(message));
    }
    let known: Vec<String> = context.messages.iter().map(ToString::to_string).collect();
    Err(format!(
        "`{name}`: {message} does not belong to this turn, which is about {}",
        known.join(", ")
    ))
}

#[cfg(test)]
pub(crate) mod tests;
