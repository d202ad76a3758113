//! The configuration: `agents.yaml` read into checked values, without touching anything.
//!
//! [`parse`] is pure: no file, no environment, no home directory. It reports every fault it can
//! find at once, each with line, column and the quoted line. Start there; the types are read once
//! at the rim and split among those who need them.

use std::path::{Path, PathBuf};

pub use gangline_core::permission::Permissions;

pub use self::{
    agent::{AgentConfig, ColdReset},
    backend::{Backend, NotABackend},
    budgets::{Budgets, DayBudget, ModelPrice},
    environment::Environment,
    error::{ConfigError, Place, Problem, Warning},
    hooks::{Gastown, Hooks},
    mcp::{McpPlaceConfig, McpServerConfig, NotSet, parse_servers},
    reader::Names,
    sections::{Config, Http, Mcp, Network, Sasl},
    server::{Room, RoomKey, Server},
    supervisor::{CLAUDE_MODEL, Supervisor, Watcher},
    thinking::Thinking,
    watchdogs::Watchdogs,
    webhooks::{Alerts, HookUrl, TEMPLATE_WORDS, TargetKind, WebhookTarget, Webhooks, masked_url},
    words::{
        AgentAnswers, Compaction, FolderTrust, Guests, MentionWhenBusy, OnCrash, OnEscalation,
        Process, Profile, Progress, PromptBy, ReplyMode, RestartNote, Role, ServerKey,
    },
};

pub mod import;
pub mod nearest;

mod agent;
pub mod append;
mod backend;
mod budgets;
pub mod compare;
mod declared;
mod environment;
mod error;
mod hooks;
mod limits;
mod mcp;
pub mod named;
mod node;
mod reader;
mod schema;
mod sections;
mod server;
mod sleep;
mod spending;
mod supervisor;
mod thinking;
mod value;
mod watchdogs;
mod webhooks;
mod words;

/// The largest configuration that is read, in bytes; checked before parsing.
pub const MAX_CONFIG_BYTES: usize = 1024 * 1024;

/// The tools an agent has under `permissions: allowlist` when `allowed_tools` is absent (R2-42).
pub const DEFAULT_ALLOWED_TOOLS: [&str; 7] =
    ["Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "Write"];

/// Returns the JSON Schema of `agents.yaml`. Editors find it by a first line
/// `# yaml-language-server: $schema=…/agents.schema.json`.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Config).to_value()
}

/// Reads the text of an `agents.yaml`; `source_name` is how messages call the file. Whether there
/// is a backend of a name that somebody wrote is not asked.
///
/// # Errors
/// Everything that is wrong with the text, in the order of its lines.
pub fn parse(text: &str, source_name: &str) -> Result<Config, ConfigError> {
    sections::read(text, source_name, None, &Environment::default())
}

/// As [`parse`], with the known backends and the defaults of the environment. An unknown backend is
/// a fault, or only a warning if its agent is switched off.
///
/// # Errors
/// As [`parse`].
pub fn parse_known(
    text: &str,
    source_name: &str,
    names: &Names<'_>,
    environment: &Environment,
) -> Result<Config, ConfigError> {
    sections::read(text, source_name, Some(names), environment)
}

/// Returns the path with a leading `~` or `~/` replaced by `home`, and a relative one put under
/// `base` (the folder of the configuration file).
#[must_use]
pub fn resolve_path(path: &Path, home: Option<&Path>, base: &Path) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => base.join(path),
    }
}

fn join_address(host: &str, port: u16) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

#[cfg(test)]
mod tests;
