//! The tools that an agent speaks with: `send` and `no_reply`, offered in-process. What they say
//! goes the way of [`crate::speech`].

use async_trait::async_trait;
use gangline_core::{MessageId, Target};
use gangline_runtime::{ToolCall, ToolHost, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    bus::Incoming,
    speech::{NotSaid, Said, Saying, Speaker, TurnContext},
};

/// Why a line to an agent is held, for the model.
const HELD: &str = "this request has gone through too many agents; its owner was told and decides \
                    whether it goes on";

/// The name of the tool that says something.
pub(crate) const SEND: &str = "send";
/// The name of the tool that says that no reply is needed.
pub(crate) const NO_REPLY: &str = "no_reply";

/// The daemon's [`ToolHost`].
pub(crate) struct SpeakingTools {
    pub(crate) server_key: &'static str,
    pub(crate) speaker: Speaker,
    pub(crate) turn: watch::Receiver<Option<TurnContext>>,
}

#[async_trait]
impl ToolHost for SpeakingTools {
    fn server_key(&self) -> &'static str {
        self.server_key
    }

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
        let saying = Saying { to: &to, text, in_reply_to, call: &call.id };
        match self.speaker.say(Some(context), saying).await {
            Ok(Said::Sent) => Ok(format!("sent to {to}")),
            Ok(Said::Held) => Ok(format!("held, not yet given to {to}: {HELD}")),
            Err(NotSaid::Store(error)) => Err(format!("not sent: {error}")),
            Err(
                error @ (NotSaid::Empty
                | NotSaid::ToItself
                | NotSaid::OwnersOnly(_)
                | NotSaid::Ending),
            ) => Err(error.to_string()),
        }
    }

    async fn no_reply(&self, context: &TurnContext, call: &ToolCall) -> Result<String, String> {
        let message = message_field(&call.input, "message", context)?;
        let noted = Incoming::NoReply { turn: context.turn, message };
        self.speaker
            .brain
            .send(noted)
            .await
            .map_err(|_| "the daemon is shutting down".to_owned())?;
        Ok("noted: no reply".to_owned())
    }
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
