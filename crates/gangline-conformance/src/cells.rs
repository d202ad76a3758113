//! The rules of the suite: one cell each, with the requirements that it shows.

use gangline_runtime::Capabilities;

/// One rule.
#[derive(Debug)]
pub struct Cell {
    /// Its name on the wires.
    pub id: &'static str,
    /// What is true of a backend that passes.
    pub title: &'static str,
    /// Which requirements it shows.
    pub requirements: &'static [&'static str],
    /// Whether a backend with these abilities has to pass.
    pub needs: fn(&Capabilities) -> bool,
}

const fn always(_: &Capabilities) -> bool {
    true
}

const fn cell(
    id: &'static str,
    title: &'static str,
    requirements: &'static [&'static str],
    needs: fn(&Capabilities) -> bool,
) -> Cell {
    Cell { id, title, requirements, needs }
}

/// Every rule, in the order of the table.
pub const CELLS: &[Cell] = &[
    cell(
        "starts",
        "starts and takes prompts in time",
        &["R0-03", "R0-04", "R0-05", "R0-17", "R3-04", "R3-08"],
        always,
    ),
    cell("session_id", "reports its session's id", &["R0-06", "R0-16"], always),
    cell("handle", "has a handle: folder, process, times", &["R3-03", "R3-06"], always),
    cell("first_prompt", "an initial prompt comes first", &["R0-07", "R3-05"], always),
    cell("early_prompt", "a prompt before ready waits", &["R0-05", "R0-13"], always),
    cell("accepted", "reports when a prompt has reached the model", &["R0-03", "R3-07"], always),
    cell("answers", "reports the model's text in one form", &["R0-15", "R0-18"], always),
    cell("thinking", "shows reasoning", &["R0-18"], |able| able.structured),
    cell("order", "three prompts are answered in order", &["R0-14", "R0-15"], always),
    cell("prompt_returns", "sending a prompt does not wait for its answer", &["R0-13"], always),
    cell("busy", "refuses a second prompt while a turn is open", &["R0-12"], always),
    cell("interrupt", "an interrupt ends the turn", &["R0-08"], |able| able.interrupt),
    cell("goes_on", "the prompt after an interrupt works", &["R0-15"], |able| able.interrupt),
    cell("interrupt_idle", "an interrupt without a turn is safe", &[], |able| able.interrupt),
    cell("tool_call", "reports a tool call and its result", &["R0-18"], |able| able.calls),
    cell("ask_allow", "asks; an allowed call runs then, and not before", &[], |able| {
        able.approvals
    }),
    cell("ask_deny", "asks; a denied call does not run", &[], |able| able.approvals),
    cell("deny_told", "the model is told why it was denied", &[], |able| able.approvals),
    cell("ask_interrupt", "an interrupt ends a turn that waits for an approval", &[], |able| {
        able.approvals && able.interrupt
    }),
    cell("allowed_tools", "`allowlist` runs listed tools without asking", &["R2-42"], |able| {
        able.approvals
    }),
    cell("allowlist", "`allowlist` denies other tools without asking", &["R2-42"], |able| {
        able.approvals
    }),
    cell("reads_outside", "a file outside its folder, under `ask`", &[], |able| able.approvals),
    cell("reads_closed", "a file of the installation, even if allowed", &[], |able| able.approvals),
    cell("bypass", "`bypass` asks nobody", &[], always),
    cell("steer", "text can be added to the open turn", &[], |able| able.steer),
    cell("set_model", "changes the model between turns", &["R2-04"], |able| able.set_model),
    cell("compact", "shortens its context", &["R0-43"], |able| able.compact),
    cell("clear", "forgets its context", &["R0-43"], |able| able.clear),
    cell("usage", "counts tokens as the model does", &[], |able| able.usage),
    cell("window", "knows the model's context window", &[], |able| able.usage),
    cell("host_tool", "calls the daemon's tools with their turn", &["R2-41"], |able| {
        able.host_tools
    }),
    cell("host_tool_refused", "the model is told why a daemon's tool refused", &[], |able| {
        able.host_tools
    }),
    cell("mcp_stdio", "calls an MCP server over stdio", &["R2-34"], |able| able.mcp_stdio),
    cell("mcp_http", "calls an MCP server over HTTP", &["R2-34"], |able| able.mcp_http),
    cell("workdir", "works in its folder", &["R3-03", "R3-05"], always),
    cell("environment", "passes its environment on to commands", &["R3-05", "R3-09"], always),
    cell("no_leak", "passes on nothing of the daemon's own environment", &["R3-05"], always),
    cell("unknown_fields", "ignores fields that it does not know", &["R0-64", "R0-65"], always),
    cell("apart", "two sessions at once do not mix", &["R3-03"], always),
    cell("detect_running", "knows whether a session runs", &["R3-04"], always),
    cell("list_sessions", "lists the session", &["R3-04"], |able| able.list_sessions),
    cell(
        "stop",
        "stop ends it with code 0 and leaves no process",
        &["R0-09", "R0-10", "R0-11", "R0-20", "R3-04"],
        always,
    ),
    cell("stop_mid_turn", "stop ends an open turn", &["R0-08", "R0-09", "R0-11"], always),
    cell(
        "crash",
        "a killed program is reported as a crash and leaves no process",
        &["R0-20"],
        always,
    ),
    cell("resume", "a resumed session has its context", &["R0-16", "R0-21", "R3-04"], |able| {
        able.resume
    }),
    cell("lost_session", "a lost session is reported", &["R0-21"], |able| able.resume),
    cell("error_500", "reports 500 as the provider's failure", &[], |able| able.failures),
    cell("error_529", "reports 529 as the provider's failure", &[], |able| able.failures),
    cell("error_429", "reports 429 as a rate limit", &[], |able| able.failures),
    cell("retry_after", "waits as long as the provider says, or reports how long", &[], |able| {
        able.failures
    }),
    cell("error_401", "reports 401 as a missing login", &[], |able| able.failures),
    cell("overflow", "reports that the context is full, or shortens it", &[], |able| able.failures),
    cell("after_error", "the prompt after an error works", &["R0-15"], always),
    cell("contract", "each prompt has one end, and events keep their order", &["R0-15"], always),
];

/// Returns the rule of that name.
#[must_use]
pub fn find(id: &str) -> Option<&'static Cell> {
    CELLS.iter().find(|cell| cell.id == id)
}
