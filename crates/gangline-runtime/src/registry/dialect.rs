//! What differs between the backends, as data: names of tools, form of addresses, patience.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Mode;

/// How a backend has to be spoken to, and what of it cannot be.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The backend's name in the registry.
    pub backend: &'static str,
    /// What it is called in a table; empty = as in the registry.
    pub column: &'static str,
    /// How its process lives.
    pub mode: Mode,
    /// Its program as it is looked for on the PATH; empty = it is a part of Gangline.
    pub program: &'static str,
    /// The version that the suite was last run with in the tests; empty = it has none.
    pub tested: &'static str,
    /// Arguments of the program, where the adapter has none of its own.
    pub args: &'static [&'static str],
    /// What its `base_url` has behind the model's origin; `None` = it takes no address.
    pub base: Option<&'static str>,
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
    /// The name of its tool that reads a file, as the model calls it; empty = only its shell does.
    pub read: &'static str,
    /// That tool's arguments for a path.
    pub read_input: fn(&str) -> Value,
    /// What its environment should have besides: fewer tries, no looking for news. `{origin}`
    /// stands for the model's.
    pub env: &'static [(&'static str, &'static str)],
    /// Files of its user that it does not begin without, by their paths in the home folder.
    /// `{origin}` stands for the model's.
    pub files: &'static [(&'static str, &'static str)],
    /// What it calls a tool of an MCP server where its own name is not enough: `{key}` stands for
    /// the server's key, `{tool}` for the tool.
    pub mcp_tool: &'static str,
    /// Fields of its own in the configuration, as JSON.
    pub extra: &'static [(&'static str, &'static str)],
    /// How long things may take.
    pub pace: Pace,
    /// Cells that the program itself does not allow.
    pub known: &'static [Known],
    /// The cells that are tried; empty = all.
    pub only: &'static [&'static str],
}

/// A cell that the program itself does not allow.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The cell's name.
    pub cell: &'static str,
    /// How that shows.
    pub how: How,
    /// Why, in one line.
    pub why: &'static str,
}

/// How it shows that a program does not allow a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It does something else.
    Otherwise,
    /// It does it in some runs only: no single one shows anything.
    AtTimes,
    /// It says nothing, for longer than anybody waits here. What it does say has to be right.
    Silent,
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

const DENIED: &str = "the model is told that it was denied, in the program's own words only";

const fn otherwise(cell: &'static str, why: &'static str) -> Known {
    Known { cell, how: How::Otherwise, why }
}

const fn silent(cell: &'static str) -> Known {
    Known { cell, how: How::Silent, why: RETRIES }
}

/// What most of them have in common.
pub const COMMON: Dialect = Dialect {
    backend: "",
    column: "",
    mode: Mode::Resident,
    program: "",
    tested: "",
    args: &[],
    base: Some("/v1"),
    model: "lab/first",
    other_model: "lab/second",
    shell: "bash",
    shell_input: described,
    listed: "Bash",
    read: "",
    read_input: |path| json!({ "file_path": path }),
    env: &[],
    files: &[],
    mcp_tool: "{tool}",
    extra: &[],
    pace: USUAL,
    known: &[],
    only: &[],
};

/// A program of which nothing is known but the variables by which it is told its model, and the same
/// where the address ends without a version.
pub const BY_VARIABLES: &str = "acp (by variables)";
/// See [`BY_VARIABLES`].
pub const BY_VARIABLES_PLAIN: &str = "acp (by variables, plain)";

/// What can be tried without a name for its shell's tool, or for a second model.
const WITHOUT_TOOLS: &[&str] = &[
    "starts",
    "session_id",
    "handle",
    "first_prompt",
    "early_prompt",
    "accepted",
    "answers",
    "order",
    "prompt_returns",
    "busy",
    "interrupt",
    "goes_on",
    "interrupt_idle",
    "clear",
    "unknown_fields",
    "apart",
    "detect_running",
    "stop",
    "stop_mid_turn",
    "crash",
    "resume",
    "lost_session",
    "error_401",
    "after_error",
    "contract",
];

const UNKNOWN: Dialect = Dialect {
    backend: "acp",
    model: "first",
    other_model: "second",
    env: &[],
    only: WITHOUT_TOOLS,
    ..COMMON
};

const CLAUDE: Dialect = Dialect {
    backend: "claude",
    program: "claude",
    tested: "2.1.330",
    base: Some(""),
    model: "claude-haiku-4-5",
    other_model: "claude-sonnet-4-6",
    shell: "Bash",
    read: "Read",
    env: &[("CLAUDE_CODE_MAX_RETRIES", "1")],
    ..COMMON
};

const CODEX: Dialect = Dialect {
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
};

const OPENCODE: Dialect = Dialect {
    backend: "opencode",
    program: "opencode",
    tested: "1.18.33",
    read: "read",
    read_input: |path| json!({ "filePath": path }),
    extra: &[("models", "[\"second\"]")],
    known: &[silent("error_500"), silent("error_529"), silent("error_429")],
    ..COMMON
};

/// The dialects of the built-in backends, each as it usually runs.
pub const DIALECTS: &[Dialect] = &[
    Dialect {
        backend: "native",
        base: Some(""),
        model: "claude-haiku-4-5",
        other_model: "claude-sonnet-4-6",
        shell: "Bash",
        read: "Read",
        ..COMMON
    },
    CLAUDE,
    CODEX,
    OPENCODE,
    Dialect {
        backend: "cline",
        program: "cline",
        tested: "3.0.65",
        shell: "run_commands",
        shell_input: |command| json!({ "commands": [command] }),
        read: "read_files",
        read_input: |path| json!({ "files": [{ "path": path }] }),
        known: &[
            otherwise("deny_told", DENIED),
            silent("error_500"),
            silent("error_529"),
            silent("error_429"),
        ],
        ..COMMON
    },
    Dialect {
        backend: "copilot",
        program: "copilot",
        tested: "1.0.102",
        read: "view",
        read_input: |path| json!({ "path": path }),
        ..COMMON
    },
    Dialect {
        backend: "gemini",
        program: "gemini",
        tested: "0.61.0",
        base: Some(""),
        model: "gemini-2.5-pro",
        other_model: "gemini-3-flash-preview",
        shell: "run_shell_command",
        read: "read_file",
        files: &[(
            ".gemini/settings.json",
            r#"{"security": {"auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": false}},
                "general": {"enableAutoUpdate": false}, "telemetry": {"enabled": false},
                "privacy": {"usageStatisticsEnabled": false}}"#,
        )],
        known: &[
            otherwise("tool_call", "it tells that a command is over, and nothing of its output"),
            otherwise("deny_told", DENIED),
            Known {
                cell: "resume",
                how: How::AtTimes,
                why: "it finds the sessions that it keeps in some runs only",
            },
            silent("error_500"),
            silent("error_529"),
            silent("error_429"),
        ],
        ..COMMON
    },
];

/// Other ways in which some of them run.
pub const OTHERS: &[Dialect] = &[
    Dialect { column: "claude per turn", mode: Mode::PerTurn, ..CLAUDE },
    Dialect { column: BY_VARIABLES, ..UNKNOWN },
    Dialect { column: BY_VARIABLES_PLAIN, base: Some(""), ..UNKNOWN },
    Dialect {
        backend: "acp",
        column: "acp (opencode)",
        // By a name that no recipe knows.
        args: &["acp"],
        base: None,
        files: &[(
            ".config/opencode/opencode.json",
            r#"{"model": "lab/first", "small_model": "lab/first", "autoupdate": false,
                "share": "disabled", "enabled_providers": ["lab"],
                "permission": {"bash": "ask", "edit": "ask"},
                "provider": {"lab": {"npm": "@ai-sdk/openai-compatible", "name": "Lab",
                "options": {"baseURL": "{origin}/v1", "apiKey": "none"},
                "models": {"first": {"name": "First", "limit": {"context": 128000, "output": 8000}},
                "second": {"name": "Second", "limit": {"context": 128000, "output": 8000}}}}}}"#,
        )],
        env: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ],
        extra: &[],
        known: &[silent("error_500"), silent("error_529"), silent("error_429")],
        ..OPENCODE
    },
    Dialect {
        backend: "kiro",
        column: "kiro (recorded peer)",
        program: "kiro-cli",
        // Its models are its vendor's.
        base: None,
        model: "first",
        other_model: "second",
        shell: "execute_bash",
        env: &[("KIRO_STANDIN", "{origin}/v1")],
        ..COMMON
    },
    Dialect {
        backend: "tmux",
        column: "tmux (claude)",
        mode: Mode::Tmux,
        files: &[
            (
                ".claude.json",
                r#"{"hasCompletedOnboarding": true, "theme": "dark",
                    "customApiKeyResponses": {"approved": ["none"], "rejected": []}}"#,
            ),
            (".claude/settings.json", r#"{"permissions": {"allow": ["Bash"]}}"#),
        ],
        ..CLAUDE
    },
    Dialect {
        backend: "tmux",
        column: "tmux (codex)",
        mode: Mode::Tmux,
        // One whose tools are not kept behind a search.
        model: "gpt-5",
        // In a terminal its provider is its user's.
        base: None,
        files: &[(
            ".codex/config.toml",
            r#"model_provider = "lab"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[features]
plugins = false
unbounded_connection_retries = false
[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
[model_providers.lab]
name = "Lab"
base_url = "{origin}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
"#,
        )],
        ..CODEX
    },
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

/// Returns the dialect of that name in a table.
#[must_use]
pub fn find(column: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().chain(OTHERS).find(|dialect| dialect.name() == column)
}

impl Dialect {
    /// Returns what it is called in a table.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.column.is_empty() { self.backend } else { self.column }
    }
}

/// The arguments that most shells take.
#[must_use]
pub fn described(command: &str) -> Value {
    json!({ "command": command, "description": "Try the tool" })
}
