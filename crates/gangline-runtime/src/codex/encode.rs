//! Values to lines of the program's input. No I/O.

use serde_json::{Value, json};

use super::permit::{AGENTS, EDIT, LOOK, PERMISSIONS, SEARCH, SHELL, WRITE};

/// The code of JSON-RPC for a method that is not served.
/// The parameters are not what the method needs.
const INVALID_PARAMS: i64 = -32602;
const NO_METHOD: i32 = -32601;

fn line(message: &Value) -> String {
    format!("{message}\n")
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    line(&json!({"id": id, "method": method, "params": params}))
}

/// The first request.
pub(super) fn initialize() -> Value {
    json!({
        "clientInfo": {"name": "gangline", "title": "Gangline", "version": env!("CARGO_PKG_VERSION")},
        "capabilities": {"experimentalApi": true, "requestAttestation": false},
    })
}

/// What follows the answer to the first request.
pub(super) fn initialized() -> String {
    line(&json!({"method": "initialized"}))
}

/// A text for the model.
pub(super) fn input(text: &str) -> Value {
    json!([{"type": "text", "text": text, "text_elements": []}])
}

/// The answer to a request of the program's.
pub(super) fn answer(id: &Value, result: &Value) -> String {
    line(&json!({"id": id, "result": result}))
}

/// The answer to a request that is not served.
pub(super) fn refusal(id: &Value) -> String {
    line(&json!({"id": id, "error": {"code": NO_METHOD, "message": "not supported"}}))
}

/// The answer to a request that cannot be read.
pub(super) fn unreadable(id: &Value, why: &str) -> String {
    let message = format!("Gangline cannot read this request, so it is refused: {why}");
    line(&json!({"id": id, "error": {"code": INVALID_PARAMS, "message": message}}))
}

/// The result of a tool of the daemon.
pub(super) fn called(id: &Value, outcome: &Result<String, String>) -> String {
    let (text, success) = match outcome {
        Ok(text) => (text, true),
        Err(text) => (text, false),
    };
    let items = json!([{"type": "inputText", "text": text}]);
    answer(id, &json!({"contentItems": items, "success": success}))
}

/// What kind of answer a question about permission wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// A decision by today's words.
    Decision,
    /// A decision by the words of older releases.
    Review,
    /// An answer to a tool server.
    Elicitation,
    /// What of the wanted permissions is given.
    Grant(Value),
}

/// The answer that lets it happen, this once.
pub(super) fn allow(form: &Form) -> Value {
    match form {
        Form::Decision => json!({"decision": "accept"}),
        Form::Review => json!({"decision": "approved"}),
        Form::Elicitation => json!({"action": "accept", "content": {}, "_meta": null}),
        Form::Grant(wanted) => json!({"permissions": wanted, "scope": "turn"}),
    }
}

/// The answer that refuses it; the turn goes on.
pub(super) fn deny(form: &Form, reason: &str) -> Value {
    match form {
        Form::Decision => json!({"decision": "decline"}),
        Form::Review => json!({"decision": {"denied": {"rejection": reason}}}),
        Form::Elicitation => json!({"action": "decline", "content": null, "_meta": null}),
        Form::Grant(_) => json!({"permissions": {}, "scope": "turn"}),
    }
}

/// The answers to questions with choices: nobody is there to choose.
pub(super) fn no_choice(questions: &[String]) -> Value {
    let text = "nobody can choose here: ask in plain words, as your answer, and end your turn";
    let answers = questions.iter().map(|id| (id.clone(), json!({"answers": [text]})));
    json!({"answers": answers.collect::<serde_json::Map<_, _>>()})
}

/// What the model is told with a refusal, which by itself names no reason.
pub(super) fn reason(tool: &str, reason: &str) -> String {
    let what = match tool {
        SHELL => "The command",
        EDIT | WRITE => "The change of files",
        PERMISSIONS => "The request for permissions",
        SEARCH | LOOK | AGENTS => "The tool",
        tool => return format!("[gangline] {tool} was not run: {reason}"),
    };
    format!("[gangline] {what} was not run: {reason}")
}
