//! What the stand-in model has to answer: one script for every session of a run.
//!
//! A prompt of the suite is `conformance VERB ARGUMENT`; the answer follows from it alone.

use std::time::Duration;

use serde_json::{Value, json};

use gangline_runtime::registry::dialect::Dialect;

/// Tokens that an answer to `say` claims to have cost.
pub(super) const OUTPUT_TOKENS: u64 = 77;
/// How long the model is held by `wait`, in milliseconds: longer than any budget.
const HELD_MS: u64 = 600_000;
/// How long the provider wants to be left alone after its first answer to `later`: more than
/// programs wait before their first retry where nobody says.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(3);

/// Returns the stand-in's script (YAML, as `gangline standin serve --script` takes it) for this
/// backend. The names of the MCP tools are [`super::McpProbe::tool`].
#[must_use]
pub fn script(dialect: &Dialect) -> String {
    let verb = |word: &str| json!({ "user": format!(r"conformance {word} (\S+)") });
    let text = |text: &str| json!([{ "text": text }]);
    let call = |name: &str, input: Value| json!([{ "tool_use": { "name": name, "input": input } }]);
    let shell = |command: &str| call(dialect.shell, (dialect.shell_input)(command));
    // In the words that the vendor has for it.
    let refused = |status: u16| json!([{ "http_error": { "status": status } }]);
    let limited = |seconds: u64| {
        let headers = json!({ "retry-after": seconds.to_string() });
        json!([{ "http_error": { "status": 429, "headers": headers } }])
    };
    let usage = json!({ "usage": { "input_tokens": 1234, "output_tokens": OUTPUT_TOKENS } });
    let rule = |when: Value, reply: Value| json!({ "when": when, "reply": reply });
    let once = |when: Value, reply: Value| json!({ "when": when, "times": 1, "reply": reply });
    let rules = vec![
        // Requests of the programs' own that quote a prompt: a title, a summary.
        rule(json!({ "system": "(?i)title generator" }), text("a title")),
        rule(json!({ "user": r"(?i)summar[iy]|CONTEXT CHECKPOINT" }), text("a short account")),
        // What follows a tool: its result, as it was given to the model.
        rule(json!({ "tool_result": r"(?s)\A.*\z" }), text("result: ${tool_result}")),
        rule(verb("say"), json!([{ "text": "answer $1" }, usage])),
        rule(verb("think"), json!([{ "thinking": "considering $1" }, { "text": "thought $1" }])),
        rule(verb("wait"), json!([{ "delay_ms": HELD_MS }, { "text": "too late $1" }])),
        rule(verb("shell"), shell("echo done-$1 > made-$1.txt; echo output-$1")),
        rule(verb("env"), shell("env > env-$1.txt; echo output-$1")),
        rule(
            verb("pause"),
            shell(
                "echo x > begun-$1.txt; n=0; while [ ! -e go-$1.txt ] && [ $$n -lt 150 ]; do \
                 sleep 0.1; n=$$((n+1)); done; echo output-$1",
            ),
        ),
        rule(json!({ "user": r"conformance read (\S+) (\S+)" }), reads(dialect, "$1")),
        rule(verb("post"), call("send", json!({ "to": "#den", "text": "$1" }))),
        rule(
            json!({ "user": r"conformance mcp (\S+) (\S+)" }),
            call("$1", json!({ "text": "$2" })),
        ),
        rule(verb("add"), text("added $1")),
        rule(verb("fail500"), refused(500)),
        rule(verb("fail529"), refused(529)),
        rule(verb("fail429"), limited(1)),
        once(verb("later"), limited(RETRY_AFTER.as_secs())),
        rule(verb("later"), text("answer $1")),
        rule(verb("fail401"), refused(401)),
        rule(verb("overflow"), json!(["overflow"])),
        // Whatever else a program asks by itdialect.
        rule(json!({}), text("a short account")),
    ];
    json!({ "rules": rules }).to_string()
}

/// Returns a call that reads a file: of the program's own tool for that, or of its shell.
fn reads(dialect: &Dialect, path: &str) -> Value {
    let (name, input) = match dialect.read {
        "" => (dialect.shell, (dialect.shell_input)(&format!("cat {path}"))),
        own => (own, (dialect.read_input)(path)),
    };
    json!([{ "tool_use": { "name": name, "input": input } }])
}
