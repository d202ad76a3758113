//! What differs between the backends, as data: names of tools, form of addresses, patience.

use std::time::Duration;

use serde_json::{Value, json};

/// How a backend has to be spoken to, and what of it cannot be.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The backend's name in the registry.
    pub backend: &'static str,
    /// What its `base_url` has behind the model's origin.
    pub base: &'static str,
    /// A model that it takes, and whose window it knows, if it knows any.
    pub model: &'static str,
    /// Another one.
    pub other_model: &'static str,
    /// The name of its tool that runs a command.
    pub shell: &'static str,
    /// That tool's arguments for a command.
    pub shell_input: fn(&str) -> Value,
    /// What its environment should have besides: fewer tries, no looking for news.
    pub env: &'static [(&'static str, &'static str)],
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

/// The dialects of the built-in backends.
pub const DIALECTS: &[Dialect] = &[
    Dialect {
        backend: "native",
        base: "",
        model: "claude-haiku-4-5",
        other_model: "claude-sonnet-4-6",
        shell: "Bash",
        shell_input: described,
        env: &[],
        pace: USUAL,
        known: &[],
    },
    Dialect {
        backend: "claude",
        base: "",
        model: "claude-haiku-4-5",
        other_model: "claude-sonnet-4-6",
        shell: "Bash",
        shell_input: described,
        env: &[("CLAUDE_CODE_MAX_RETRIES", "1")],
        pace: USUAL,
        known: &[],
    },
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
