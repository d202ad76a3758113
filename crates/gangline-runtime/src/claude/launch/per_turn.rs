//! What the program is started with when it lives for one turn (R2-03, R2-07, R2-15).
//!
//! Its settings, its servers and its tools are the ones named here and no others. The prompt and
//! the answers to its questions go over standard input as JSON lines, as to a resident process: a
//! plain text there would leave nobody to ask about a tool, and no way to the daemon's tools.

use std::ffi::OsString;

use serde_json::{Value, json};

use crate::{
    Mode, Purpose, StartOptions,
    claude::{effort, permit::Gate},
    reading::{Reading, Searches},
};

/// The program's own tools that there are (R2-42): what is not named does not exist.
const TOOLS: [&str; 7] = ["Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "Write"];
/// Returns the flag of the system prompt: it is put after the program's own, or in its place.
pub(super) fn prompt_flag(options: &StartOptions) -> &'static str {
    let replaces = options.extra.get("replace_system_prompt").and_then(Value::as_bool);
    let replaces = options.mode == Mode::PerTurn && replaces == Some(true);
    if replaces || options.purpose == Purpose::Judge {
        "--system-prompt-file"
    } else {
        "--append-system-prompt-file"
    }
}

/// Returns what the settings file says of a process for one turn.
pub(super) fn settings(options: &StartOptions) -> Value {
    json!({
        "autoCompactEnabled": super::auto_compact(options),
        "autoMemoryEnabled": false,
        "effortLevel": effort::of_turn(options).as_str(),
    })
}

/// Returns the flags about tools.
pub(super) fn arguments(options: &StartOptions) -> Vec<OsString> {
    let tools = tools(options);
    let host = options.tools.tools();
    let key = options.tools.server_key();
    let reading = Reading::of(options, Searches::ReadAll);
    let gate = Gate::new(reading, key, host.iter().map(|tool| tool.name).collect());
    let mut allowed: Vec<String> =
        tools.iter().filter(|tool| gate.always_allows(tool)).cloned().collect();
    allowed.extend(host.iter().map(|tool| format!("mcp__{key}__{}", tool.name)));
    for server in &options.mcp_servers {
        let patterns = server.allowed_tools.iter();
        allowed.extend(patterns.map(|pattern| format!("mcp__{}__{pattern}", server.key)));
    }
    let mut args: Vec<OsString> =
        ["--strict-mcp-config", "--tools", &tools.join(",")].map(OsString::from).into();
    if !allowed.is_empty() {
        args.extend(["--allowedTools".into(), allowed.join(",").into()]);
    }
    args
}

/// Returns the tools of the program that there are: those of `extra.tools`, else of the list
/// under `allowlist`, else the usual ones.
fn tools(options: &StartOptions) -> Vec<String> {
    let named = options.extra.get("tools").and_then(Value::as_array);
    if let Some(named) = named {
        return named.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    let listed = options.permissions == crate::Permissions::Allowlist;
    if listed {
        let own = options.allowed_tools.iter().filter(|tool| !tool.starts_with("mcp__"));
        return own.map(|tool| bare(tool).to_owned()).collect();
    }
    TOOLS.map(str::to_owned).to_vec()
}

/// Returns the tool of a rule such as `Bash(git *)`.
fn bare(rule: &str) -> &str {
    rule.split_once('(').map_or(rule, |(tool, _)| tool)
}
