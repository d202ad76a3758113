//! The tools that an agent speaks with: `send` and `no_reply`, offered in-process.
//!
//! A send is committed (T2) before the tool hears that it worked, and only then told to the
//! brain, so that the answer rule knows of every line that may stand in a room.

use std::sync::Arc;

use async_trait::async_trait;
use gangline_broker::{Broker, LineKind, NewMessage, Send as BrokerSend};
use gangline_core::{
    AgentName, MessageId, MessageState, Origin, Principal, Target, Tier, TurnId, redact::Redactor,
    split,
};
use gangline_os::{doorbell, paths::Paths};
use gangline_runtime::{ToolCall, ToolHost, ToolSpec};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, mpsc, watch};

use crate::bus::Incoming;

/// The name of the tool that says something.
pub(crate) const SEND: &str = "send";
/// The name of the tool that says that no reply is needed.
pub(crate) const NO_REPLY: &str = "no_reply";

/// What the open turn is about, as far as its tools need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnContext {
    pub(crate) turn: TurnId,
    pub(crate) messages: Vec<MessageId>,
    pub(crate) cause_root: Option<MessageId>,
    pub(crate) hops: i64,
}

/// The daemon's [`ToolHost`].
pub(crate) struct SpeakingTools {
    pub(crate) agent: AgentName,
    pub(crate) broker: Broker,
    pub(crate) paths: Paths,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) brain: mpsc::Sender<Incoming>,
    pub(crate) outbox: Arc<Notify>,
    pub(crate) turn: watch::Receiver<Option<TurnContext>>,
    pub(crate) max_hops: i64,
}

#[async_trait]
impl ToolHost for SpeakingTools {
    fn tools(&self) -> Vec<ToolSpec> {
        vec![
            ToolSpec {
                name: SEND,
                description: "Says something on IRC now: to a channel (#name) or to one nick. Your \
                              final text is sent to the asker by itself, so use this only to \
                              speak elsewhere, or before you are done. Give in_reply_to (such as \
                              m42) when it answers that message.",
                input_schema: json!({
                    "type": "object",
                    "properties": {
                        "to": {"type": "string", "description": "#channel or nick"},
                        "text": {"type": "string", "description": "what to say"},
                        "in_reply_to": {"type": "string", "description": "message id such as m42"}
                    },
                    "required": ["to", "text"]
                }),
            },
            ToolSpec {
                name: NO_REPLY,
                description: "Records that the message needs no reply. Without this, your final \
                              text is sent as the answer.",
                input_schema: json!({
                    "type": "object",
                    "properties": {
                        "message": {"type": "string", "description": "message id such as m42"}
                    }
                }),
            },
        ]
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let context = self.turn.borrow().clone();
        let Some(context) = context.filter(|context| context.turn == call.turn) else {
            return Err("this turn is over: nothing was sent".to_owned());
        };
        match call.name.as_str() {
            SEND => self.send(&context, &call).await,
            NO_REPLY => self.no_reply(&context, &call).await,
            other => Err(format!("there is no tool `{other}` here")),
        }
    }
}

impl SpeakingTools {
    async fn send(&self, context: &TurnContext, call: &ToolCall) -> Result<String, String> {
        let to: Target =
            text_field(&call.input, "to")?.parse().map_err(|error| format!("`to`: {error}"))?;
        let text = text_field(&call.input, "text")?;
        let in_reply_to = message_field(&call.input, "in_reply_to", context)?;
        let more = more(context);
        let split = split::redacted_lines(&self.redactor.redact(text), |left| {
            format!("… (+{left} lines: {more})")
        });
        if split.lines.is_empty() {
            return Err("`text` is empty: nothing was sent".to_owned());
        }
        let colleague = self.colleague(&to).await?;
        let deliver = match &colleague {
            Some(agent) => Some(self.row_for(agent, context, call, in_reply_to)?),
            None => None,
        };
        let send = BrokerSend {
            agent: self.agent.clone(),
            turn: Some(context.turn),
            idem_key: idem_key(context.turn, &call.id),
            target: to.to_string(),
            lines: split.lines,
            kind: if colleague.is_some() { LineKind::Notice } else { LineKind::Privmsg },
            in_reply_to,
            deliver,
        };
        self.broker.send(send).await.map_err(|error| format!("not sent: {error}"))?;
        let sent = Incoming::Sent { turn: context.turn, to: to.to_string(), in_reply_to };
        self.brain.send(sent).await.map_err(|_| "the daemon is shutting down".to_owned())?;
        self.outbox.notify_one();
        if let Some(agent) = colleague {
            doorbell::ring(&self.paths.doorbell(agent.as_str()));
        }
        Ok(format!("sent to {to}"))
    }

    async fn no_reply(&self, context: &TurnContext, call: &ToolCall) -> Result<String, String> {
        let message = message_field(&call.input, "message", context)?;
        let noted = Incoming::NoReply { turn: context.turn, message };
        self.brain.send(noted).await.map_err(|_| "the daemon is shutting down".to_owned())?;
        Ok("noted: no reply".to_owned())
    }

    /// Returns the agent of this installation that has this nick.
    async fn colleague(&self, to: &Target) -> Result<Option<AgentName>, String> {
        let Target::Nick(nick) = to else { return Ok(None) };
        let Ok(agent) = nick.folded().parse::<AgentName>() else { return Ok(None) };
        if agent == self.agent {
            return Err("that is you: nothing was sent".to_owned());
        }
        let row = self.broker.agent(&agent).await.map_err(|error| format!("not sent: {error}"))?;
        Ok(row.map(|row| row.agent))
    }

    fn row_for(
        &self,
        agent: &AgentName,
        context: &TurnContext,
        call: &ToolCall,
        in_reply_to: Option<MessageId>,
    ) -> Result<NewMessage, String> {
        let hops = context.hops + 1;
        // An answer may go one hop further than a request; it owes none itself.
        if hops > self.max_hops + i64::from(in_reply_to.is_some()) {
            return Err(format!(
                "not sent: this request was passed on {} times already; a human has to take over",
                context.hops
            ));
        }
        let text = text_field(&call.input, "text")?;
        Ok(NewMessage {
            agent: agent.clone(),
            network_id: "local".to_owned(),
            intake_key: Some(format!("{}/{}", self.agent, idem_key(context.turn, &call.id))),
            origin: Origin::Agent,
            principal: Principal { account: self.agent.to_string(), tier: Tier::Agent },
            sender: self.agent.to_string(),
            target: self.agent.to_string(),
            body: self.redactor.redact(text),
            in_reply_to,
            cause_root: context.cause_root.or_else(|| context.messages.first().copied()),
            hops,
            state: MessageState::Accepted,
            cursor: None,
            not_before: None,
            msgid: None,
        })
    }
}

fn more(context: &TurnContext) -> String {
    context
        .messages
        .first()
        .map_or_else(|| "gangline logs".to_owned(), |message| format!("gangline trace {message}"))
}

fn text_field<'a>(input: &'a Value, name: &str) -> Result<&'a str, String> {
    input.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` is missing"))
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
    Err(format!("`{name}`: {message} is not of this turn, which is about {}", known.join(", ")))
}

/// Returns the key that makes a repeated call the same rows: the backend's call id, hashed into
/// what an IRC tag may carry. It holds no epoch of the daemon that repeats it.
pub(crate) fn idem_key(turn: TurnId, call: &str) -> String {
    use std::fmt::Write;
    let digest = Sha256::digest(call.as_bytes());
    let mut key = format!("{turn}-");
    for byte in digest.iter().take(8) {
        let _ = write!(key, "{byte:02x}");
    }
    key
}
