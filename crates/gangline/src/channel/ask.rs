//! What others than the command line ask of a daemon or the chat server; the answer is the text that
//! `gangline channel` prints.

use std::{path::PathBuf, time::Duration};

use gangline_api::ipc::{Command, IfAbsent, Lines, Response, ToolData, not_joined};
use gangline_core::{
    MessageId,
    name::{ChannelName, Target},
};
use gangline_os::paths::Overrides;
use serde_json::Value;

use super::{
    client::{Client, RESPONSE},
    messages,
    one_shot::{self, OneShotError},
    reach::Reach,
};
use crate::{failure::Failure, show::text};

/// What an agent says.
pub(crate) struct Saying {
    pub(crate) to: Target,
    pub(crate) text: String,
    pub(crate) answers: Option<MessageId>,
}

/// Says something as the agent.
pub(crate) fn say(reach: &Reach, saying: Saying) -> Result<String, Failure> {
    let Saying { to, text, answers } = saying;
    let absent = IfAbsent::Refuse;
    let send = Command::Send { channel: to, message: text, absent, in_reply_to: answers };
    ask(reach, "message", &send)
}

/// Reads as the agent: what is given counts as read.
pub(crate) fn read(reach: &Reach, channel: Target, limit: u32) -> Result<String, Failure> {
    ask(reach, "read", &Command::Read { channel, limit, lines: Lines::Unread, own: false })
}

/// Looks at the newest lines, the agent's too; nothing counts as read.
pub(crate) fn peek(reach: &Reach, channel: Target, limit: u32) -> Result<String, Failure> {
    ask(reach, "read", &Command::Read { channel, limit, lines: Lines::Peek, own: true })
}

/// Lists who is there.
pub(crate) fn who(reach: &Reach, target: Target) -> Result<String, Failure> {
    ask(reach, "who", &Command::Who { target })
}

/// Lists the channels that the agent is in.
pub(crate) fn channels(reach: &Reach) -> Result<String, Failure> {
    ask(reach, "list", &Command::Channels)
}

/// Tells the topic, or sets it as the agent.
pub(crate) fn topic(
    reach: &Reach,
    channel: ChannelName,
    topic: Option<String>,
) -> Result<String, Failure> {
    ask(reach, "topic", &Command::Topic { channel, topic })
}

/// Lets the agent enter a channel.
pub(crate) fn join_channel(reach: &Reach, channel: ChannelName) -> Result<String, Failure> {
    ask(reach, "join", &Command::Join { channel })
}

/// Lets the agent leave a channel.
pub(crate) fn part(reach: &Reach, channel: ChannelName) -> Result<String, Failure> {
    ask(reach, "part", &Command::Part { channel })
}

/// Shortens the agent's context.
pub(crate) fn compact(reach: &Reach) -> Result<String, Failure> {
    ask(reach, "compact", &Command::Compact).map(|_| "compacts once no turn is open".to_owned())
}

/// Begins an empty context.
pub(crate) fn clear(reach: &Reach) -> Result<String, Failure> {
    ask(reach, "clear", &Command::Clear)
        .map(|_| "begins a new session once no turn is open".to_owned())
}

/// Tells the instructions of a folder.
pub(crate) fn set_directory(reach: &Reach, path: PathBuf) -> Result<String, Failure> {
    ask(reach, "set-directory", &Command::SetDirectory { path })
}

/// Calls one of the agent's own tools; waits no longer than `patience`. The inner error is the tool's.
pub(crate) fn tool(
    reach: &Reach,
    (name, input, call): (&str, &Value, &str),
    patience: Duration,
) -> Result<Result<String, String>, Failure> {
    let mut client = dial(reach)?;
    let (name, input, call) = (name.to_owned(), input.clone(), call.to_owned());
    let response = client
        .ask(Command::Tool { name, input, call }, reach.token.clone(), patience)
        .map_err(|error| messages::lost(&reach.nick, error))?;
    let whispers = client.kept();
    if !response.ok {
        let why = response.error.unwrap_or_else(|| "the tool failed".to_owned());
        return Ok(Err(whispers + &why));
    }
    let data: ToolData = serde_json::from_value(response.data.unwrap_or_default())
        .map_err(|error| Failure::environment(error).doing("cannot read the daemon's response"))?;
    Ok(Ok(whispers + &data.result))
}

/// Does something by a connection to the chat server that has one of these nicks, unless it is taken
/// back before the server takes us; returns which.
pub(crate) fn in_person(
    place: &Overrides,
    nicks: &[String],
    command: &Command,
    taken_back: &dyn Fn() -> bool,
) -> Result<String, Failure> {
    let server = one_shot::server(place)?;
    let (nick, response) = match one_shot::answer_as(&server, nicks, command, taken_back) {
        Err(OneShotError::TakenBack) => {
            return Err(Failure::user(OneShotError::TakenBack.to_string()));
        }
        Ok(answer) => answer,
        Err(OneShotError::Refused(why)) => {
            return Err(Failure::user(format!("the chat server refused: {why}")));
        }
        Err(error) => return Err(messages::no_server(&server, error)),
    };
    match response.ok {
        true => Ok(nick),
        false => Err(messages::no_channel(command, &response)),
    }
}

/// Connects to the daemon. Whoever asks here shows whispers with the answer.
fn dial(reach: &Reach) -> Result<Client, Failure> {
    let client = Client::dial(&reach.sockets);
    client.map(Client::keeping).map_err(|error| messages::unreachable(&reach.nick, &error))
}

fn ask(reach: &Reach, verb: &str, command: &Command) -> Result<String, Failure> {
    let mut client = dial(reach)?;
    let response = client
        .ask(command.clone(), reach.token.clone(), RESPONSE)
        .map_err(|error| messages::lost(&reach.nick, error))?;
    let whispers = client.kept();
    let response = as_refused(command, response);
    if !response.ok {
        let failure = messages::refused(verb, command, &response, &reach.nick);
        return Err(match whispers.is_empty() {
            true => failure,
            false => failure.hint(whispers.trim_end()),
        });
    }
    let told = messages::text(verb, command, &response)?;
    let mut out = whispers + told.text.trim_end();
    let warnings = response.warnings.iter().map(|it| format!("warning: {}", text::one_line(it)));
    for note in warnings.chain(told.notes) {
        out.push('\n');
        out.push_str(&note);
    }
    Ok(out)
}

/// Returns the response; what is read of a channel that the agent is not in counts as refused. A
/// daemon has no lines of it, and says why beside, as culture's clients expect.
pub(super) fn as_refused(command: &Command, response: Response) -> Response {
    let Command::Read { channel: Target::Channel(channel), .. } = command else { return response };
    match response.warnings.contains(&not_joined(channel)) {
        true => Response::failed(response.id, not_joined(channel)),
        false => response,
    }
}
