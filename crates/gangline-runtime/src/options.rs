//! What a session is started with, and what it is once it runs.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use gangline_os::secret::Secret;

use crate::tools::ToolHost;

/// The backend's own id of a session: opaque to us (R0-16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(pub String);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the backend's process lives (C4, C29).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One process for the whole session.
    #[default]
    Resident,
    /// One process for each turn.
    PerTurn,
    /// A program in a terminal multiplexer.
    Tmux,
}

/// Who decides about tools (C5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PermissionMode {
    /// Rules decide the easy ones, a human the rest.
    #[default]
    Ask,
    /// Only listed tools run; the rest is denied.
    Allowlist,
    /// Everything runs.
    Bypass,
}

/// One MCP server to offer to the backend (R2-34).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its key in the backend's configuration.
    pub key: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its environment.
    pub env: BTreeMap<String, String>,
}

/// Everything a session needs at its start (R3-05 and more).
#[derive(Clone)]
pub struct StartOptions {
    /// The working directory; absolute.
    pub workdir: PathBuf,
    /// Where the adapter may keep what belongs to its sessions; private to the agent.
    pub session_dir: PathBuf,
    /// Where the backend may put files that are of no use tomorrow; private to the agent.
    pub tmp_dir: PathBuf,
    /// The backend's program and what stands before our own arguments; `None` = its usual name,
    /// looked for on the PATH of `env`.
    pub command: Option<Vec<String>>,
    /// A login of its own instead of the user's.
    pub account_dir: Option<PathBuf>,
    /// The whole environment of the child: nothing else is inherited.
    pub env: Vec<(String, String)>,
    /// How the process lives.
    pub mode: Mode,
    /// The model, or the backend's default.
    pub model: Option<String>,
    /// How hard to think, where the backend knows it.
    pub thinking: Option<String>,
    /// Text put before the conversation.
    pub system_prompt: String,
    /// MCP servers to offer.
    pub mcp_servers: Vec<McpServer>,
    /// Who decides about tools.
    pub permissions: PermissionMode,
    /// Tools that run without asking.
    pub allowed_tools: Vec<String>,
    /// The session to go on with.
    pub resume: Option<SessionId>,
    /// Where the model is served, for backends that speak to one themselves.
    pub base_url: Option<String>,
    /// The key for that model.
    pub api_key: Option<Secret>,
    /// Fields of the configuration that only this backend knows (R0-64).
    pub extra: BTreeMap<String, serde_json::Value>,
    /// Tools that the daemon offers in-process.
    pub tools: Arc<dyn ToolHost>,
}

/// A running session (R3-06).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHandle {
    /// The backend's name.
    pub runtime: &'static str,
    /// The session's id, once it is known.
    pub session: Option<SessionId>,
    /// The child's process id, if there is a child.
    pub pid: Option<u32>,
}

/// What a backend can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a set of independent facts, named at every use")]
pub struct Capabilities {
    /// A session can be gone on with after a restart.
    pub resume: bool,
    /// Text can be added to an open turn.
    pub steer: bool,
    /// A turn can be ended early.
    pub interrupt: bool,
    /// Tools can be made to wait for a human.
    pub approvals: bool,
    /// Token counts are reported.
    pub usage: bool,
    /// The context can be shortened.
    pub compact: bool,
    /// The context can be emptied.
    pub clear: bool,
    /// The model can be changed between turns.
    pub set_model: bool,
    /// The backend may begin turns by itself.
    pub begins_turns: bool,
    /// Tools of the daemon can be offered in-process.
    pub host_tools: bool,
}
