//! What differs between the backends, as data: names of tools, form of addresses, patience.

use std::time::Duration;

use serde_json::{Value, json};

/// How a backend has to be spoken to, and what of it cannot be.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The backend's name in the registry.
    pub backend: &'static str,
    /// Its program as it is looked for on the PATH; empty = it is a part of Gangline.
    pub program: &'static str,
    /// The version that the suite was last run with in the tests; empty = it has none.
    pub tested: &'static str,
    /// What its `base_url` has behind the model's origin.
    pub base: &'static str,
    /// A model that it takes, and whose window it knows, if it knows any.
    pub model: &'static str,
    /// Another one.
    pub other_model: &'static str,
    /// The name of its tool that runs a command, as the model calls it.
    pub shell: &'static str,
    /// The same as it stands on a list of allowed tools.
    pub listed: &'static str,
    /// That tool's arguments for a command.
    pub shell_input: fn(&str) -> Value,
    /// What its environment should have besides: fewer tries, no looking for news.
    pub env: &'static [(&'static str, &'static str)],
    /// What it calls a tool of an MCP server where its own name is not enough: `{key}` stands for
    /// the server's key, `{tool}` for the tool.
    pub mcp_tool: &'static str,
    /// Fields of its own in the configuration, as JSON.
    pub extra: &'static [(&'static str, &'static str)],
    /// How long things may take.
    pub pace: Pace,
    /// Cells that the program itself does not allow: their names, and why.
    pub known: &'static [(&'static str, &'static str)],
}

/// How long things may take before they count as failed.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// From the start to ready.
    pub ready: Duration,
    /// A turn whose model answers at once.
    pub turn: Duration,
    /// A turn whose model always refuses: the program's own retries.
    pub retries: Duration,
}

const USUAL: Pace = Pace {
    ready: Duration::from_secs(60),
    turn: Duration::from_secs(45),
    retries: Duration::from_secs(60),
};
const RETRIES: &str = "it tries again for minutes and says nothing meanwhile";

/// What most of them have in common.
const COMMON: Dialect = Dialect {
    backend: "",
    program: "",
    tested: "",
    base: "/v1",
    model: "lab/first",
    other_model: "lab/second",
    shell: "bash",
    shell_input: described,
    listed: "Bash",
    env: &[],
    mcp_tool: "{tool}",
    extra: &[],
    pace: USUAL,
    known: &[],
};

/// The dialects of the built-in backends.
pub const DIALECTS: &[Dialect] = &[
    Dialect {
        backend: "native",
        base: "",
        model: "claude-haiku-4-5",
        other_model: "claude-sonnet-4-6",
        shell: "Bash",
        ..COMMON
    },
    Dialect {
        backend: "claude",
        program: "claude",
        tested: "2.1.330",
        base: "",
        model: "claude-haiku-4-5",
        other_model: "claude-sonnet-4-6",
        shell: "Bash",
        env: &[("CLAUDE_CODE_MAX_RETRIES", "1")],
        ..COMMON
    },
    Dialect {
        backend: "codex",
        program: "codex",
        tested: "0.169.0",
        model: "gpt-5.5",
        other_model: "gpt-5.4",
        shell: "exec_command",
        shell_input: |command| json!({ "cmd": command }),
        // It may keep them behind a search: then they are called without being offered.
        mcp_tool: "mcp__{key}__{tool}",
        ..COMMON
    },
    Dialect {
        backend: "opencode",
        program: "opencode",
        tested: "1.18.33",
        extra: &[("models", "[\"second\"]")],
        known: &[("error_500", RETRIES), ("error_529", RETRIES), ("error_429", RETRIES)],
        ..COMMON
    },
    Dialect {
        backend: "cline",
        program: "cline",
        tested: "3.0.65",
        shell: "run_commands",
        shell_input: |command| json!({ "commands": [command] }),
        known: &[
            ("deny_told", "the model is told that it was denied, in the program's own words only"),
            ("error_500", RETRIES),
            ("error_529", RETRIES),
            ("error_429", RETRIES),
        ],
        ..COMMON
    },
    Dialect { backend: "copilot", program: "copilot", tested: "1.0.102", ..COMMON },
];

/// What keeps programs from asking anybody but the model: every other address is refused at once.
pub const OFFLINE: &[(&str, &str)] = &[
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    ("HTTP_PROXY", "http://127.0.0.1:9"),
    ("https_proxy", "http://127.0.0.1:9"),
    ("http_proxy", "http://127.0.0.1:9"),
    ("NO_PROXY", "127.0.0.1,localhost"),
    ("no_proxy", "127.0.0.1,localhost"),
];

/// Returns the dialect of a built-in backend.
#[must_use]
pub fn find(backend: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.backend == backend)
}

/// The arguments that most shells take.
#[must_use]
pub fn described(command: &str) -> Value {
    json!({ "command": command, "description": "Try the tool" })
}
