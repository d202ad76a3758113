//! What a client asks of an agent's daemon (R0-49, R1-14).

use std::{fmt, path::PathBuf};

use gangline_core::{
    id::MessageId,
    model::ModelName,
    name::{ChannelName, Target},
    question::OnTimeout,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    ASK_SECONDS, ASK_SECONDS_MAX, LINE_MAX, READ_LIMIT, READ_LIMIT_MAX, TOKEN_MAX,
    error::{EncodeError, RequestError},
    id::RequestId,
    object::Fields,
};

mod parts;
mod write;

use self::parts::{choice, ends, lines, on_timeout, wake};

const TOKEN: &str = "a string of at most 512 bytes";

/// What proves who a client is (C21). Its `Debug` form does not show it.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// Takes a text as a token.
    ///
    /// # Errors
    /// [`RequestError::Field`] when it is over [`TOKEN_MAX`] bytes.
    pub fn new(text: impl Into<String>) -> Result<Self, RequestError> {
        let text = text.into();
        if text.len() > TOKEN_MAX {
            return Err(RequestError::Field { field: "token", wanted: TOKEN });
        }
        Ok(Self(text))
    }

    /// Returns the token, for the one place that compares it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The id; absent = the response carries `null`.
    pub id: Option<RequestId>,
    /// Who asks; absent = somebody with an agent's verbs.
    pub token: Option<Token>,
    /// What is asked.
    pub command: Command,
    /// How it is written.
    pub form: Form,
}

/// A request that cannot be read, and the id to answer it with.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Refused {
    /// The request's id, as far as it could be read.
    pub id: Option<RequestId>,
    /// What is wrong; its text goes into the response.
    #[source]
    pub error: RequestError,
    /// The form of the request, and so of the response.
    pub form: Form,
}

/// The form of a request and of its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// The command's name is in `type`, and the response is a [`super::Response`].
    Typed,
    /// S2's: the name is in `cmd`; the response is [`super::Response::encode_short`] (R2-31).
    Cmd,
}

/// What `irc_send` does about a channel that nobody is in. The field `create`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IfAbsent {
    /// Sends and lets the server decide: what culture's clients mean, who have no such field.
    Send,
    /// Refuses with [`super::no_such_channel`]: `"create": false`.
    Refuse,
    /// Joins it, which makes it, and sends: `"create": true`.
    Create,
}

/// Which lines `irc_read` gives. The fields `latest` and `peek`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lines {
    /// The oldest unread ones; what is left stays unread (C19).
    Unread,
    /// The newest unread ones, and the rest is skipped, as culture does: `"latest": true`.
    Latest,
    /// The newest ones, read or not; what was unread stays unread: `"peek": true`.
    Peek,
}

/// Which model an agent shall use. The fields `model` and `default`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    /// This one.
    To(ModelName),
    /// The one of the configuration: `"default": true`.
    Configured,
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `hello`: tells the versions; data [`super::HelloData`]. Optional.
    Hello {
        /// The client's [`super::VERSION`].
        version: u32,
        /// The client's name, for logs; may be empty.
        client: String,
    },
    /// `irc_send`: says something (R0-39, R1-18); data [`super::NoData`].
    Send {
        /// Where.
        channel: Target,
        /// What; may have several lines.
        message: String,
        /// What happens when the channel does not exist.
        absent: IfAbsent,
        /// The message that it answers, such as `m42`: then it is nobody else's answer.
        in_reply_to: Option<MessageId>,
    },
    /// `irc_read`: what has been said since the last read (R0-40, R1-19, C19); data
    /// [`super::ReadData`].
    Read {
        /// The channel, or the nick for what was said privately.
        channel: Target,
        /// How many lines at most, up to [`READ_LIMIT_MAX`]; 0 = none.
        limit: u32,
        /// Which ones.
        lines: Lines,
        /// Whether the agent's own lines are among them. The field `own`.
        own: bool,
    },
    /// `irc_ask`: says something and waits for an answer (R0-41, R1-16, R1-20, C8); data
    /// [`super::AskData`].
    Ask {
        /// Where.
        channel: Target,
        /// The question. Field `message`; `question` is read as well.
        message: String,
        /// How many seconds to wait, 1 to [`ASK_SECONDS_MAX`].
        timeout: u32,
        /// What follows if nobody answers in time (R1-53). Field `timeout_action`; `on_timeout` is read
        /// as well.
        on_timeout: OnTimeout,
    },
    /// `irc_join` (R0-42, R1-21); data [`super::NoData`].
    Join {
        /// The channel.
        channel: ChannelName,
    },
    /// `irc_part` (R0-42, R1-21); data [`super::NoData`].
    Part {
        /// The channel.
        channel: ChannelName,
    },
    /// `irc_channels` (R0-42, R1-22); data [`super::ChannelsData`].
    Channels,
    /// `irc_who` (R0-42, R1-23, C34); data [`super::WhoData`].
    Who {
        /// The channel or nick. Field `target`; `channel` is read as well.
        target: Target,
    },
    /// `irc_topic` (R0-42); data [`super::TopicData`].
    Topic {
        /// The channel.
        channel: ChannelName,
        /// The new topic, empty to remove it; absent = tell the present one.
        topic: Option<String>,
    },
    /// `compact`: the backend makes its context shorter (R0-43, R1-25); data [`super::NoData`].
    Compact,
    /// `clear`: the backend begins a new context (R0-43, R1-25); data [`super::NoData`].
    /// `new_session` and `new-session` are read as well (R2-06).
    Clear,
    /// `model`: tells which model the agent uses, or has it use another one from the next turn on
    /// (R2-04). The latter needs the owner's token; data [`super::ModelData`].
    Model {
        /// The change; absent = only tell.
        choice: Option<ModelChoice>,
    },
    /// `status` (R0-44, R0-52); data [`crate::status::AgentStatus`].
    Status {
        /// Whether to ask the agent itself for a description.
        query: bool,
    },
    /// `pause`: takes no new turns (R0-45). Needs the owner's token; data [`super::NoData`]. culture's
    /// `sleep` is read as well.
    Pause {
        /// When it ends, as people say it: `until 9:00`, `for 2h`, RFC 3339; absent = when somebody
        /// resumes the agent. On the wire `until` or `for`.
        ends: Option<String>,
    },
    /// `resume` (R0-45). Needs the owner's token; data [`super::HeldData`]. culture's `wake`, which has no
    /// field, is read as well.
    Resume,
    /// `interrupt`: ends the open turn. Needs the owner's token; data [`super::HeldData`].
    Interrupt,
    /// `shutdown`: ends the daemon in order (R0-45). Needs the owner's token; data
    /// [`super::NoData`].
    Shutdown,
    /// `set_directory`: reads that folder's instructions (R1-24, C14); data
    /// [`super::SetDirectoryData`].
    SetDirectory {
        /// The folder.
        path: PathBuf,
    },
    /// `wake`: puts what a program tells into the agent's inbox, which may start a turn (R2-31); data
    /// [`super::WakeData`]. Also read as S2 writes it: `{"cmd":"wake","from":"…","body":"…"}`.
    Wake {
        /// The program's name for itself.
        from: String,
        /// What it tells.
        body: String,
        /// Makes a repetition the same wake.
        key: Option<String>,
    },
    /// `tool`: calls one of the agent's own tools. Needs the agent's token; data [`super::ToolData`].
    Tool {
        /// The tool's name.
        name: String,
        /// Its arguments, an object.
        input: Value,
        /// What tells this call from others: the same for a call that is sent again.
        call: String,
    },
    /// `subscribe`: sends events from now on; data [`super::SubscribeData`].
    Subscribe {
        /// The `seq` of the last event that is known; absent = from now on.
        cursor: Option<String>,
    },
}

impl Command {
    /// Returns whether it only looks: it neither speaks nor reads for the agent, and changes nothing.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        match self {
            Self::Hello { .. }
            | Self::Channels
            | Self::Who { .. }
            | Self::Topic { topic: None, .. }
            | Self::Model { choice: None }
            | Self::Status { .. }
            | Self::Subscribe { .. } => true,
            Self::Send { .. }
            | Self::Ask { .. }
            | Self::Read { .. }
            | Self::Join { .. }
            | Self::Part { .. }
            | Self::Topic { topic: Some(_), .. }
            | Self::Compact
            | Self::Clear
            | Self::Model { choice: Some(_) }
            | Self::Pause { .. }
            | Self::Resume
            | Self::Interrupt
            | Self::Shutdown
            | Self::SetDirectory { .. }
            | Self::Wake { .. }
            | Self::Tool { .. } => false,
        }
    }

    /// Returns the name on the wire.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Send { .. } => "irc_send",
            Self::Read { .. } => "irc_read",
            Self::Ask { .. } => "irc_ask",
            Self::Join { .. } => "irc_join",
            Self::Part { .. } => "irc_part",
            Self::Channels => "irc_channels",
            Self::Who { .. } => "irc_who",
            Self::Topic { .. } => "irc_topic",
            Self::Compact => "compact",
            Self::Clear => "clear",
            Self::Model { .. } => "model",
            Self::Status { .. } => "status",
            Self::Pause { .. } => "pause",
            Self::Resume => "resume",
            Self::Interrupt => "interrupt",
            Self::Shutdown => "shutdown",
            Self::SetDirectory { .. } => "set_directory",
            Self::Wake { .. } => "wake",
            Self::Tool { .. } => "tool",
            Self::Subscribe { .. } => "subscribe",
        }
    }

    fn decode(name: &str, mut fields: Fields) -> Result<Self, RequestError> {
        let fields = &mut fields;
        Ok(match name {
            "hello" => Self::Hello {
                version: fields.count("version", 1, u32::MAX)?,
                client: fields.text("client")?.unwrap_or_default(),
            },
            "irc_send" => Self::Send {
                channel: fields.target(&["channel"])?,
                message: fields.needed(&["message"])?,
                absent: match fields.flag("create")? {
                    None => IfAbsent::Send,
                    Some(false) => IfAbsent::Refuse,
                    Some(true) => IfAbsent::Create,
                },
                in_reply_to: fields.message("in_reply_to")?,
            },
            "irc_read" => Self::Read {
                channel: fields.target(&["channel"])?,
                limit: fields.limit(READ_LIMIT, READ_LIMIT_MAX)?,
                lines: lines(fields)?,
                own: fields.flag("own")?.unwrap_or_default(),
            },
            "irc_ask" => Self::Ask {
                channel: fields.target(&["channel"])?,
                message: fields.needed(&["message", "question"])?,
                timeout: fields.seconds("timeout", ASK_SECONDS, ASK_SECONDS_MAX)?,
                on_timeout: on_timeout(fields)?,
            },
            "irc_join" => Self::Join { channel: fields.channel()? },
            "irc_part" => Self::Part { channel: fields.channel()? },
            "irc_channels" => Self::Channels,
            "irc_who" => Self::Who { target: fields.target(&["target", "channel"])? },
            "irc_topic" => Self::Topic { channel: fields.channel()?, topic: fields.text("topic")? },
            "compact" => Self::Compact,
            "clear" | "new_session" | "new-session" => Self::Clear,
            "model" => Self::Model { choice: choice(fields)? },
            "status" => Self::Status { query: fields.flag("query")?.unwrap_or_default() },
            "pause" | "sleep" => Self::Pause { ends: ends(fields)? },
            "resume" => Self::Resume,
            "interrupt" => Self::Interrupt,
            "shutdown" => Self::Shutdown,
            "set_directory" => Self::SetDirectory { path: fields.path()? },
            "wake" => wake(fields)?,
            "tool" => Self::Tool {
                name: fields.needed(&["name"])?,
                input: fields.object("input")?,
                call: fields.needed(&["call"])?,
            },
            "subscribe" => Self::Subscribe { cursor: fields.text("cursor")? },
            "irc_threads" => return Err(RequestError::Threads),
            thread if thread.starts_with("irc_thread_") => return Err(RequestError::Threads),
            unknown => return Err(RequestError::UnknownType(shown(unknown))),
        })
    }
}

impl Request {
    /// Reads one line, with or without its line end.
    ///
    /// The command's name is read first, then what belongs to it: a name that nobody knows is told
    /// as that, whatever stands beside it. Fields that do not belong to the command are ignored.
    ///
    /// # Errors
    /// [`Refused`]: what to answer, and with which id. The line is spent; the connection is not.
    pub fn decode(line: &[u8]) -> Result<Self, Refused> {
        let nameless = |error| Refused { id: None, error, form: Form::Typed };
        if line.trim_ascii_end().len() > LINE_MAX {
            return Err(nameless(RequestError::TooLong));
        }
        let object: Map<String, Value> =
            serde_json::from_slice(line).map_err(|_| nameless(RequestError::NotAnObject))?;
        let mut fields = Fields(object);
        let id = fields.take("id").map(RequestId::read).transpose().map_err(nameless)?;
        let has = |name: &str| fields.0.get(name).is_some_and(|value| !value.is_null());
        let form = if has("cmd") && !has("type") { Form::Cmd } else { Form::Typed };
        match Self::decode_rest(fields, form) {
            Ok((token, command)) => Ok(Self { id, token, command, form }),
            Err(error) => Err(Refused { id, error, form }),
        }
    }

    fn decode_rest(
        mut fields: Fields,
        form: Form,
    ) -> Result<(Option<Token>, Command), RequestError> {
        let name = match form {
            Form::Typed => fields.text("type")?.unwrap_or_default(),
            Form::Cmd => fields.text("cmd")?.unwrap_or_default(),
        };
        let token = fields.text("token")?.map(Token::new).transpose()?;
        match (form, name.as_str()) {
            (Form::Typed, _) | (Form::Cmd, "wake") => Ok((token, Command::decode(&name, fields)?)),
            (Form::Cmd, unknown) => Err(RequestError::UnknownType(shown(unknown))),
        }
    }

    /// Writes the request as one line, line end included.
    ///
    /// # Errors
    /// It is over [`LINE_MAX`], or a path in it is no Unicode text.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut line = serde_json::to_vec(self).map_err(EncodeError::Json)?;
        if line.len() > LINE_MAX {
            return Err(EncodeError::TooLong { bytes: line.len() });
        }
        line.push(b'\n');
        Ok(line)
    }
}

/// Returns a name that somebody sent, short and without control characters.
fn shown(name: &str) -> String {
    name.chars().take(80).flat_map(char::escape_debug).collect()
}
