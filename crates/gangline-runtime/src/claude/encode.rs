//! Lines for the program's input: prompts, requests of ours, answers to its requests.
//!
//! Each function returns one line with its line end. A line that the program cannot read ends it,
//! so nothing else writes to it.

use gangline_core::permission::Permit;
use gangline_mcp::rpc;
use gangline_os::json;
use serde_json::{Value, json};

/// When a text is taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// As a turn of its own, after all that is under way.
    Later,
    /// Within the turn that is under way.
    Now,
}

fn line(value: &Value) -> String {
    let mut line = value.to_string();
    line.push('\n');
    line
}

/// A text for the model. A slash at its begin is made no command of the program by a space.
pub(super) fn text(text: &str, uuid: &str, place: Place) -> String {
    let text = if text.starts_with('/') { format!(" {text}") } else { text.to_owned() };
    said(&text, uuid, place)
}

/// A command of the program itself, such as `/compact`.
pub(super) fn command(command: &str, uuid: &str) -> String {
    said(command, uuid, Place::Later)
}

fn said(text: &str, uuid: &str, place: Place) -> String {
    let priority = match place {
        Place::Later => "later",
        Place::Now => "next",
    };
    line(&json!({
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": null,
        "uuid": uuid,
        "priority": priority,
    }))
}

/// A request of ours; `request` holds its subtype and fields.
pub(super) fn request(id: &str, request: &Value) -> String {
    line(&json!({"type": "control_request", "request_id": id, "request": request}))
}

/// The request that has to come first: what we want to be asked about, and the servers that we
/// are.
pub(super) fn initialize(servers: &[&str]) -> Value {
    let hook = json!([{"matcher": "", "hookCallbackIds": ["gangline"]}]);
    let [ran, failed] = AFTER_TOOL;
    json!({
        "subtype": "initialize",
        "hooks": {
            "PreToolUse": hook,
            ran: hook,
            failed: hook,
            "SessionStart": hook,
            "PreCompact": hook,
        },
        "sdkMcpServers": servers,
    })
}

/// The answer to a request of the program.
pub(super) fn answer(id: &str, response: &Value) -> String {
    line(&json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": id, "response": response},
    }))
}

/// The answer to a request of the program that we do not serve.
pub(super) fn refusal(id: &str, error: &str) -> String {
    line(&json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": id, "error": error},
    }))
}

/// The answer to a request that cannot be read: whatever it asks for is refused. `line` is what can
/// be found of it.
pub(super) fn unreadable(id: &str, line: &str, why: &str) -> String {
    let reason = format!("Gangline cannot read this request, so it is refused: {why}");
    let at = |path: &[&str]| json::find_text(line, path);
    let event = at(&["request", "input", "hook_event_name"]);
    match (at(&["request", "subtype"]).as_deref(), event.as_deref()) {
        (Some("can_use_tool"), _) => answer(id, &deny(&reason)),
        (Some("hook_callback"), None | Some("PreToolUse")) => {
            answer(id, &before_tool(&Permit::Deny(reason)))
        }
        // What only tells something may go on.
        (Some("hook_callback"), Some(_)) => answer(id, &json!({})),
        (Some("mcp_message"), _) => {
            let rpc = json::find(line, &["request", "message", "id"]);
            match rpc.and_then(|rpc| serde_json::from_str(rpc).ok()) {
                Some(rpc) => mcp(id, &rpc::error(&rpc, rpc::PARSE_ERROR, &reason)),
                None => refusal(id, &reason),
            }
        }
        _ => refusal(id, &reason),
    }
}

/// The tool may run as it was called.
pub(super) fn allow(input: &Value) -> Value {
    json!({"behavior": "allow", "updatedInput": input})
}

/// The tool may not run.
pub(super) fn deny(reason: &str) -> Value {
    json!({"behavior": "deny", "message": reason})
}

/// The word of a rule on a call that is about to run; it counts for tools, too, that the program
/// would not have asked about.
pub(super) fn before_tool(permit: &Permit) -> Value {
    let (decision, reason) = match permit {
        Permit::Allow => ("allow", "allowed by the agent's permissions"),
        Permit::Ask => ("ask", "a human is asked"),
        Permit::Deny(reason) => ("deny", reason.as_str()),
    };
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }})
}

/// The hooks that are called after a tool: one that did its work, and one that failed.
pub(super) const AFTER_TOOL: [&str; 2] = ["PostToolUse", "PostToolUseFailure"];

/// The answer to a hook of [`AFTER_TOOL`]: what the model sees beside the result, if anything.
pub(super) fn after_tool(event: &str, text: Option<&str>) -> Value {
    match text {
        Some(text) => json!({"hookSpecificOutput": {
            "hookEventName": event,
            "additionalContext": text,
        }}),
        None => json!({}),
    }
}

/// The answer to a JSON-RPC message of a tool server's client.
pub(super) fn mcp(id: &str, message: &Value) -> String {
    answer(id, &json!({"mcp_response": message}))
}

#[cfg(test)]
mod tests;
