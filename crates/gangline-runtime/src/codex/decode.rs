//! One line of the program's output to a value: first what it is, then its body.
//!
//! What is not known is [`Odd::Unknown`]; a known kind with a broken body is an error; fields that
//! are not needed here are passed over. No I/O, no state. Start at [`decode`].

use gangline_os::json;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::items::Item;
use crate::program::protocol::Odd;

/// A line that says what the session does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// The answer to a request of ours.
    Response { id: u64, answer: Result<Value, String> },
    /// The program wants something from us; `id` is its own and is repeated in the answer.
    Request { id: Value, request: Request },
    /// A turn of the program's has begun.
    TurnStarted { thread: String, turn: String },
    /// It is over.
    TurnCompleted { thread: String, turn: TurnDone },
    /// A piece of a turn has begun.
    ItemStarted { of: Place, item: Item },
    /// It is complete.
    ItemCompleted { of: Place, item: Item },
    /// What the last model call took.
    Tokens { of: Place, tokens: Tokens },
    /// A model call failed.
    Error { of: Place, error: Failure, will_retry: bool },
    /// A request of its is no longer open.
    Resolved { id: Value },
    /// A tool server did not start.
    ServerFailed { name: String, why: String },
    /// Something for the operator.
    Warning { text: String },
    /// A piece of an item, which is told whole later; of a tool, that tool's item.
    Piece { of: Place, tool: Option<String> },
    /// A sign of life.
    Noise,
}

/// Where something belongs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Place {
    pub(super) thread_id: String,
    #[serde(default)]
    pub(super) turn_id: String,
}

/// How a turn of the program's ended.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct TurnDone {
    pub(super) id: String,
    pub(super) status: String,
    #[serde(default)]
    pub(super) error: Option<Failure>,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Failure {
    pub(super) message: String,
    /// A word, or an object with one field that is the word.
    pub(super) codex_error_info: Option<Value>,
    pub(super) additional_details: Option<String>,
}

/// Token counts of one model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Counts {
    pub(super) total_tokens: u64,
    pub(super) input_tokens: u64,
    pub(super) cached_input_tokens: u64,
    pub(super) cache_write_input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// Token counts, and what the model can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tokens {
    pub(super) last: Counts,
    #[serde(default)]
    pub(super) model_context_window: Option<u64>,
}

/// What the program wants from us.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Request {
    /// Whether a command may run.
    Command(Command),
    /// Whether a patch may be applied, which was shown as an item.
    Patch(Patch),
    /// Whether more may be done from now on.
    Permissions { wanted: Value, reason: Option<String> },
    /// Whether a command may run, as older releases ask.
    OldCommand(OldCommand),
    /// Whether a patch may be applied, as older releases ask.
    OldPatch(OldPatch),
    /// A tool server asks something, or the program asks whether its tool may run.
    Elicitation(Elicitation),
    /// Questions with choices, by their ids.
    Questions(Vec<String>),
    /// A call of a tool of the daemon.
    Call(Call),
    /// Something that we do not serve.
    Other { kind: String },
    /// Something whose body is not what its kind has; it waits for an answer all the same.
    Broken { kind: String, why: String },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Command {
    #[serde(default)]
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) reason: Option<String>,
    /// Hosts, when it is about the network.
    #[serde(default)]
    pub(super) network_approval_context: Option<Value>,
    #[serde(default)]
    pub(super) additional_permissions: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Patch {
    pub(super) item_id: String,
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) grant_root: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct OldCommand {
    pub(super) command: Vec<String>,
    #[serde(default)]
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OldPatch {
    pub(super) file_changes: serde_json::Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Elicitation {
    pub(super) server_name: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default, rename = "_meta")]
    pub(super) meta: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Call {
    pub(super) call_id: String,
    pub(super) tool: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    #[serde(default)]
    message: String,
}

/// Reads one line; half a character in it becomes U+FFFD. Both sides count their requests from the
/// same numbers: what has a method is the program's.
///
/// # Errors
/// [`Odd`] says what is wrong with it.
pub(super) fn decode(line: &str) -> Result<Line, Odd> {
    let read = as_it_is(line);
    let unread = match &read {
        Ok(Line::Request { request: Request::Broken { .. }, .. }) | Err(_) => true,
        Ok(_) => false,
    };
    match unread.then(|| json::without_halves(line)).flatten() {
        Some((line, _)) => as_it_is(&line),
        None => read,
    }
}

fn as_it_is(line: &str) -> Result<Line, Odd> {
    if let Some(line) = item_in_front(line) {
        return Ok(line);
    }
    let head: Head<'_> = serde_json::from_str(line).map_err(|_| Odd::NoMessage)?;
    let Some(method) = head.method else {
        let id = head.id.as_ref().and_then(Value::as_u64).ok_or(Odd::NoMessage)?;
        let answer = match head.error {
            Some(error) => Err(error.message),
            None => Ok(head.result.unwrap_or_default()),
        };
        return Ok(Line::Response { id, answer });
    };
    let params = head.params.map_or("{}", RawValue::get);
    match head.id.filter(|id| !id.is_null()) {
        Some(id) => {
            let broken = |why: String| Request::Broken { kind: method.to_string(), why };
            let request = request(&method, params).unwrap_or_else(|why| broken(why.to_string()));
            Ok(Line::Request { id, request })
        }
        None => {
            let line = notification(&method, params);
            let kind = method.into_owned();
            match line {
                Ok(line) => line.ok_or(Odd::Unknown { kind }),
                Err(error) => Err(Odd::Broken { kind, why: error.to_string() }),
            }
        }
    }
}

/// Reads a line that begins as those do which tell of an item: the long ones. To look for what it is
/// first would be to read it twice. Returns `None` for every other line, and for one that is broken.
fn item_in_front(line: &str) -> Option<Line> {
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        id: Option<Value>,
        params: Part,
    }
    let (method, _) = line.strip_prefix("{\"method\":\"")?.split_once('"')?;
    let begins = match method {
        "item/started" => true,
        "item/completed" => false,
        _ => return None,
    };
    let Message { id: None, params: Part { thread_id, turn_id, item } } =
        serde_json::from_str(line).ok()?
    else {
        return None;
    };
    let of = Place { thread_id, turn_id };
    let item = super::items::read(item).ok()?;
    Some(if begins { Line::ItemStarted { of, item } } else { Line::ItemCompleted { of, item } })
}

/// Returns nothing for a kind that is not known.
fn notification(method: &str, params: &str) -> serde_json::Result<Option<Line>> {
    Ok(Some(match method {
        "turn/started" => {
            let Turn { thread_id: thread, turn } = read(params)?;
            Line::TurnStarted { thread, turn: turn.id }
        }
        "turn/completed" => {
            let Turn { thread_id: thread, turn } = read(params)?;
            Line::TurnCompleted { thread, turn }
        }
        "item/started" => {
            let (of, item) = item(params)?;
            Line::ItemStarted { of, item }
        }
        "item/completed" => {
            let (of, item) = item(params)?;
            Line::ItemCompleted { of, item }
        }
        "thread/tokenUsage/updated" => {
            let Usage { of, token_usage: tokens } = read(params)?;
            Line::Tokens { of, tokens }
        }
        "error" => {
            let Error { of, error, will_retry } = read(params)?;
            Line::Error { of, error, will_retry }
        }
        "serverRequest/resolved" => {
            let Resolved { request_id: id } = read(params)?;
            Line::Resolved { id }
        }
        "mcpServer/startupStatus/updated" => {
            let Server { name, status, error } = read(params)?;
            match status.as_str() {
                "failed" => Line::ServerFailed { name, why: error.unwrap_or_default() },
                _ => Line::Noise,
            }
        }
        "warning" | "guardianWarning" => {
            let Warning { message: text } = read(params)?;
            Line::Warning { text }
        }
        "configWarning" => {
            let Summary { summary: text } = read(params)?;
            Line::Warning { text }
        }
        known if known.starts_with("item/") || known.starts_with("turn/") => piece(known, params),
        known if is_noise(known) => Line::Noise,
        _ => return Ok(None),
    }))
}

/// Reads a piece of an item, or of a turn. One that cannot be read is a piece of nothing that is known.
fn piece(method: &str, params: &str) -> Line {
    /// Those whose pieces are what a tool shows while it runs.
    const TOOLS: [&str; 4] = ["commandExecution/", "fileChange/", "mcpToolCall/", "collab"];
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Piece {
        thread_id: String,
        turn_id: String,
        item_id: String,
    }
    let Piece { thread_id, turn_id, item_id } = serde_json::from_str(params).unwrap_or_default();
    let kind = method.strip_prefix("item/").unwrap_or(method);
    let tool = TOOLS.iter().any(|tool| kind.starts_with(tool)).then_some(item_id);
    Line::Piece { of: Place { thread_id, turn_id }, tool }
}

/// Says whether a line of this kind only shows that the program is alive.
fn is_noise(method: &str) -> bool {
    const FAMILIES: [&str; 7] =
        ["account/", "hook/", "mcpServer/", "model/", "remoteControl/", "skills/", "thread/"];
    method == "deprecationNotice" || FAMILIES.iter().any(|family| method.starts_with(family))
}

fn request(method: &str, params: &str) -> serde_json::Result<Request> {
    Ok(match method {
        "item/commandExecution/requestApproval" => Request::Command(read(params)?),
        "item/fileChange/requestApproval" => Request::Patch(read(params)?),
        "item/permissions/requestApproval" => {
            let Permissions { permissions: wanted, reason } = read(params)?;
            Request::Permissions { wanted, reason }
        }
        "execCommandApproval" => Request::OldCommand(read(params)?),
        "applyPatchApproval" => Request::OldPatch(read(params)?),
        "mcpServer/elicitation/request" => Request::Elicitation(read(params)?),
        "item/tool/requestUserInput" => {
            let Questions { questions } = read(params)?;
            Request::Questions(questions.into_iter().map(|question| question.id).collect())
        }
        "item/tool/call" => Request::Call(read(params)?),
        _ => Request::Other { kind: method.to_owned() },
    })
}

fn read<T: DeserializeOwned>(params: &str) -> serde_json::Result<T> {
    serde_json::from_str(params)
}

fn item(params: &str) -> serde_json::Result<(Place, Item)> {
    let Part { thread_id, turn_id, item } = read(params)?;
    Ok((Place { thread_id, turn_id }, super::items::read(item)?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Turn {
    thread_id: String,
    turn: TurnDone,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    thread_id: String,
    #[serde(default)]
    turn_id: String,
    item: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    #[serde(flatten)]
    of: Place,
    token_usage: Tokens,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Error {
    #[serde(flatten)]
    of: Place,
    error: Failure,
    #[serde(default)]
    will_retry: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resolved {
    request_id: Value,
}

#[derive(Deserialize)]
struct Server {
    name: String,
    status: String,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Warning {
    message: String,
}

#[derive(Deserialize)]
struct Summary {
    summary: String,
}

#[derive(Deserialize)]
struct Permissions {
    permissions: Value,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Questions {
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    id: String,
}

#[cfg(test)]
mod tests;
