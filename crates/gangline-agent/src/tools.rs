//! The tools that an agent speaks with: `send` and `no_reply`, offered in-process. What they say
//! goes the way of [`crate::speech`].

use async_trait::async_trait;
use gangline_core::{MessageId, Target};
use gangline_mcp::table::{self, Tool, User};
use gangline_os::CancellationToken;
use gangline_runtime::{ToolCall, ToolHost, ToolSpec};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    bus::{Incoming, taken},
    speech::{NotSaid, Said, Saying, Speaker, TurnContext},
    whereabouts::Whereabouts,
};

/// Why a line to an agent is held, for the model.
const HELD: &str = "this request has gone through too many agents; its owner was told and decides \
                    whether it continues";

/// The result of a cancelled call; nobody waits for it.
const TAKEN_BACK: &str = "the call was withdrawn: nothing was sent";

/// The daemon's [`ToolHost`].
pub(crate) struct SpeakingTools {
    pub(crate) server_key: &'static str,
    pub(crate) speaker: Speaker,
    pub(crate) turn: watch::Receiver<Option<TurnContext>>,
    pub(crate) whereabouts: Whereabouts,
}

#[async_trait]
impl ToolHost for SpeakingTools {
    fn server_key(&self) -> &'static str {
        self.server_key
    }

    fn tools(&self) -> Vec<ToolSpec> {
        table::offered(User::Session)
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let never = CancellationToken::new();
        self.call_unless(call, never).await.unwrap_or_else(|| Err(TAKEN_BACK.to_owned()))
    }

    async fn call_unless(
        &self,
        call: ToolCall,
        taken_back: CancellationToken,
    ) -> Option<Result<String, String>> {
        if taken_back.is_cancelled() {
            return None;
        }
        let context = self.turn.borrow().clone();
        let Some(context) = context.filter(|context| context.turn == call.turn) else {
            return Some(Err("this turn is over: nothing was sent".to_owned()));
        };
        Some(match Tool::named(&call.name) {
            Some(Tool::Send) => match self.checked(&context, &call).await {
                Ok(_) if taken_back.is_cancelled() => return None,
                Ok(letter) => self.send(&context, &call, letter).await,
                Err(why) => Err(why),
            },
            Some(Tool::NoReply) => self.no_reply(&context, &call).await,
            Some(Tool::Read | Tool::Who | Tool::Channels | Tool::Topic) | None => {
                Err(format!("there is no tool `{}` here", call.name))
            }
        })
    }
}

/// What `send` was asked to say; somebody would hear it.
struct Letter<'a> {
    to: Target,
    text: &'a str,
    in_reply_to: Option<MessageId>,
}

impl SpeakingTools {
    /// Reads what is to be said, and asks whether anybody would hear it. Changes nothing.
    async fn checked<'a>(
        &self,
        context: &TurnContext,
        call: &'a ToolCall,
    ) -> Result<Letter<'a>, String> {
        let to: Target =
            text_field(&call.input, "to")?.parse().map_err(|error| format!("`to`: {error}"))?;
        let text = text_field(&call.input, "text")?;
        let in_reply_to = message_field(&call.input, "in_reply_to", context)?;
        self.whereabouts.must_be_in(&to).map_err(|_| {
            format!("not sent: you are not in {to}; run `gangline channel join {to}` first")
        })?;
        let somebody = self.whereabouts.must_be_somebody(&self.speaker, &to, in_reply_to).await;
        somebody.map_err(|nobody| format!("not sent: {nobody}"))?;
        Ok(Letter { to, text, in_reply_to })
    }

    async fn send(
        &self,
        context: &TurnContext,
        call: &ToolCall,
        letter: Letter<'_>,
    ) -> Result<String, String> {
        let Letter { to, text, in_reply_to } = letter;
        let saying = Saying { to: &to, text, in_reply_to, call: &call.id };
        match self.speaker.say(Some(context), saying).await {
            Ok(Said::Sent) => Ok(format!("sent to {to}")),
            Ok(Said::Held) => Ok(format!("held, not yet given to {to}: {HELD}")),
            Err(NotSaid::Store(error)) => Err(format!("not sent: {error}")),
            Err(
                error @ (NotSaid::Empty
                | NotSaid::ToItself
                | NotSaid::OwnersOnly(_)
                | NotSaid::Ending(_)),
            ) => Err(error.to_string()),
        }
    }

    async fn no_reply(&self, context: &TurnContext, call: &ToolCall) -> Result<String, String> {
        let message = message_field(&call.input, "message", context)?;
        let noted = |heard| Incoming::NoReply { turn: context.turn, message, heard };
        taken(&self.speaker.agent_loop, noted).await.map_err(|ending| ending.to_string())?;
        Ok("noted: no reply".to_owned())
    }
}

fn text_field<'a>(input: &'a Value, name: &str) -> Result<&'a str, String> {
    match input.get(name) {
        None | Some(Value::Null) => Err(format!("`{name}` is missing")),
        Some(value) => value.as_str().ok_or_else(|| format!("`{name}` must be a string")),
    }
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
