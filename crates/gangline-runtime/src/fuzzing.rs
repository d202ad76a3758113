//! Talks with programs out of any bytes, and what must hold in each. For the fuzz targets of the
//! repository and for tests; no part of a build without the feature `fuzzing`.
//!
//! The bytes are lines of the program, read as from its pipe. A line that begins with `!` is an order
//! of the daemon's instead: `!prompt`, `!steer`, `!adopt`, `!interrupt`, `!compact`, `!clear`,
//! `!model`, `!raise`, `!lower`, `!allow`, `!deny` (with the id of a request, or one that waits),
//! `!again`, `!quiet`. It is given when the daemon might give it, and passed over otherwise. Start at [`claude`].

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "all of this is a test")]

mod talk;
#[cfg(test)]
mod tests;

pub use crate::tmux::fuzzing::screen;

use gangline_os::json;
use serde_json::Value;

use self::talk::Talk;

/// A talk with Claude Code.
pub fn claude(bytes: &[u8]) {
    let asks = |line: &str| {
        let kind = json::find_text(line, &["type"])?;
        let id = json::find_text(line, &["request_id"])?;
        (kind == "control_request").then_some(Value::String(id))
    };
    let answers = |line: &Value| line["response"]["request_id"].clone();
    Talk::new(crate::claude::fuzzing::session(), asks, answers).hold(bytes);
}

/// A talk with Codex' app server.
pub fn codex(bytes: &[u8]) {
    Talk::new(crate::codex::fuzzing::session(), of_rpc, answers_rpc).hold(bytes);
}

/// A talk with a program that speaks ACP.
pub fn acp(bytes: &[u8]) {
    Talk::new(crate::acp::fuzzing::session(), of_rpc, answers_rpc).hold(bytes);
}

/// Returns the id of a request of JSON-RPC, as far as it can be read.
fn of_rpc(line: &str) -> Option<Value> {
    json::find_text(line, &["method"])?;
    serde_json::from_str(json::find(line, &["id"])?).ok()
}

/// Returns the id of the request that a line of ours answers.
fn answers_rpc(line: &Value) -> Value {
    if line.get("method").is_some() { Value::Null } else { line["id"].clone() }
}
