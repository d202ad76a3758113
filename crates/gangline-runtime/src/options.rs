//! What a session is started with, and what it is once it runs.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangline_core::{
    effort::{EffortChange, EffortLevel},
    permission::{self, Permissions},
    reading::Bounds,
    whisper::WhisperRoad,
};
use gangline_os::{clock::UnixMicros, fsio, mcp::McpServer, proc, secret::Secret};
use uuid::Uuid;

use crate::{
    NoPast, Past, Prompt,
    tools::{NoTools, ToolHost},
};

/// What an owner has allowed an agent to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// The hash of what was shown ([`Scan::hash`](crate::folder::Scan::hash)).
    pub hash: String,
    /// The folder of the agent's copies, one folder for each hash.
    pub copies: PathBuf,
}

/// The backend's own id of a session: opaque to us (R0-16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(pub String);

impl SessionId {
    /// Stands for the id of a backend that is ready without a session: nobody has logged in.
    pub const NO_SESSION: &str = "none";

    /// Returns whether there is a session of this id.
    #[must_use]
    pub fn is_session(&self) -> bool {
        self.0 != Self::NO_SESSION
    }
}

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

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// To work: with tools, in a folder, and to be gone on with.
    #[default]
    Work,
    /// To judge a text and reply, as a supervisor does (R0-33, R1-37). It is offered no tools and reads
    /// none of the user's instructions, and its program keeps nothing of it, as far as the program can
    /// be told so; what it tries to run nevertheless is for [`StartOptions::permissions`] to refuse.
    Judge,
}

/// Everything a session needs at its start (R3-05 and more).
#[derive(Clone)]
pub struct StartOptions {
    /// What the session is for.
    pub purpose: Purpose,
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
    pub thinking: Option<Thinking>,
    /// Text put before the conversation.
    pub system_prompt: String,
    /// MCP servers to offer.
    pub mcp_servers: Vec<McpServer>,
    /// Who decides about tools.
    pub permissions: Permissions,
    /// Tools that run without asking.
    pub allowed_tools: Vec<String>,
    /// What is open to the agent's tools beside its working folder and its temporary files, and what
    /// is closed to them.
    pub bounds: Bounds,
    /// What an owner has allowed of what the working folder brings along; `None` = nothing of it is
    /// loaded.
    pub trusted: Option<Trusted>,
    /// The session to go on with.
    pub resume: Option<SessionId>,
    /// What is on record of it.
    pub past: Arc<dyn Past>,
    /// The first prompt (R0-07): as if it were the first [`crate::Command`] of the session.
    pub initial_prompt: Option<Prompt>,
    /// A command that joins its standard streams to the unix socket that is named by the word
    /// added to it: the way to [`Self::tools`] for programs that take tool servers over stdio
    /// only. Empty = there is none.
    pub tool_bridge: Vec<String>,
    /// Where the model is served, for backends that speak to one themselves.
    pub base_url: Option<String>,
    /// The key for that model.
    pub api_key: Option<Secret>,
    /// Fields of the configuration that only this backend knows (R0-64).
    pub extra: BTreeMap<String, serde_json::Value>,
    /// Tools that the daemon offers in-process.
    pub tools: Arc<dyn ToolHost>,
}

impl StartOptions {
    /// Returns what a session needs at least: it works in `work` of this folder, its adapter has `sessions`
    /// and `tmp` there, and it has no environment, no tools and no setting of its own. Nobody makes the folders.
    #[must_use]
    pub fn within(folder: &Path) -> Self {
        Self {
            purpose: Purpose::Work,
            workdir: folder.join("work"),
            session_dir: folder.join("sessions"),
            tmp_dir: folder.join("tmp"),
            command: None,
            account_dir: None,
            env: Vec::new(),
            mode: Mode::Resident,
            model: None,
            thinking: None,
            system_prompt: String::new(),
            mcp_servers: Vec::new(),
            permissions: Permissions::Ask,
            allowed_tools: Vec::new(),
            bounds: Bounds::default(),
            trusted: None,
            resume: None,
            past: Arc::new(NoPast),
            initial_prompt: None,
            tool_bridge: Vec::new(),
            base_url: None,
            api_key: None,
            extra: BTreeMap::new(),
            tools: Arc::new(NoTools),
        }
    }

    /// Returns the rules by which tools are permitted (C5, R2-34): the one place for every
    /// adapter. A tool of an MCP server is called [`permission::mcp_tool`] there.
    #[must_use]
    pub fn policy(&self) -> permission::Policy {
        let servers = self.mcp_servers.iter();
        let servers = servers.map(|server| (server.key.as_str(), server.allowed_tools.as_slice()));
        permission::Policy::of_agent(self.permissions, &self.allowed_tools, servers)
    }

    /// Returns [`StartOptions::bounds`] with links resolved, the working folder and the temporary
    /// files among what is open.
    #[must_use]
    pub fn resolved_bounds(&self) -> Bounds {
        let own = [&self.workdir, &self.tmp_dir];
        let resolved = |path: &PathBuf| fsio::resolved(path);
        Bounds {
            open: self.bounds.open.iter().chain(own).map(resolved).collect(),
            closed: self.bounds.closed.iter().map(resolved).collect(),
        }
    }
}

/// The variable of a backend's environment that holds the id of its session (R3-09): the one that
/// it goes on with, or the one that a new session shall have where its program lets us choose.
pub const SESSION_VARIABLE: &str = "GT_SESSION_ID";

impl StartOptions {
    /// Returns the id that a new session shall have: the one of [`SESSION_VARIABLE`] if it is
    /// there and a UUID, else a fresh one.
    #[must_use]
    pub fn new_session(&self) -> SessionId {
        let given = self.env.iter().rev().find(|(name, _)| name == SESSION_VARIABLE);
        let id = given.and_then(|(_, value)| Uuid::parse_str(value).ok());
        SessionId(id.unwrap_or_else(Uuid::new_v4).to_string())
    }
}

/// A session, as far as it is known (R3-06).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHandle {
    /// The backend's name.
    pub runtime: &'static str,
    /// The session's id, once it is known.
    pub session: Option<SessionId>,
    /// Where it works.
    pub workdir: PathBuf,
    /// The child's process id, if there is a child.
    pub pid: Option<u32>,
    /// When that process started, as [`gangline_os::proc::start_time`] tells it: with the pid it
    /// names the process for good.
    pub pid_start: Option<u64>,
    /// When it was started; of a listed session, when it began or was last used.
    pub started_at: UnixMicros,
    /// When prompts were taken for the first time; `None` = not yet.
    pub ready_at: Option<UnixMicros>,
}

impl SessionHandle {
    /// Returns whether the program behind it still runs (R3-04, DetectRunning), also if an earlier
    /// daemon started it; `None` without a program of its own.
    #[must_use]
    pub fn runs(&self) -> Option<bool> {
        Some(proc::alive(self.pid?, self.pid_start?))
    }
}

/// How hard to think, in a backend's words (R0-65).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thinking {
    /// The configuration says so.
    Said(String),
    /// It says nothing: this is usual, for a backend that has no settings of its own for it.
    Usual(String),
}

impl Thinking {
    /// Returns the word, whoever said it.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Said(word) | Self::Usual(word) => word,
        }
    }

    /// Returns the word of the configuration.
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        match self {
            Self::Said(word) => Some(word),
            Self::Usual(_) => None,
        }
    }
}

/// Which sessions [`crate::Runtime::list_sessions`] returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only those that work in this folder.
    pub workdir: Option<PathBuf>,
    /// At most so many, the newest first.
    pub limit: usize,
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
    /// The name by which [`crate::Command::SetModel`] takes the backend's own model, if it has one.
    pub default_model: Option<&'static str>,
    /// A model that is named has no effect, at a start neither: nothing says how the program is told.
    pub fixed_model: bool,
    /// When [`crate::Command::SetEffort`] takes effect.
    pub effort: EffortChange,
    /// The levels of the effort that it can be started with, the least first; none if it has no such setting.
    pub efforts: &'static [EffortLevel],
    /// The backend may begin turns by itself.
    pub begins_turns: bool,
    /// The tools of the daemon reach the model.
    pub host_tools: bool,
    /// MCP servers over stdio can be offered.
    pub mcp_stdio: bool,
    /// MCP servers over HTTP can be offered.
    pub mcp_http: bool,
    /// Kept sessions can be listed.
    pub list_sessions: bool,
    /// A prompt is to be what was said and nothing else: the program takes commands, not prose.
    pub bare: bool,
    /// What happens in a turn is told piece by piece, with the model's thoughts and its name. Else
    /// there is what a screen shows, and what else is said here.
    pub structured: bool,
    /// Calls of tools are told, with what they returned.
    pub calls: bool,
    /// It is told that a turn failed, and how. Else an error looks like an answer.
    pub failures: bool,
    /// The address of the model can be given.
    pub base_url: bool,
    /// The key for the model can be given.
    pub api_key: bool,
    /// A login of its own can be given, by a folder.
    pub account: bool,
    /// How a whisper gets into a running turn without a loss (C9): [`WhisperRoad::Hook`], the session
    /// asks [`crate::ToolHost::aside`] when its program calls a hook; [`WhisperRoad::Steer`], by
    /// [`crate::Command::Steer`] while a tool runs. `None`: only in front of the results of the
    /// daemon's tools.
    pub whispers: Option<WhisperRoad>,
}

impl Capabilities {
    /// Those of a backend that does no more than it must: answer prompts.
    pub const NONE: Self = Self {
        resume: false,
        steer: false,
        interrupt: false,
        approvals: false,
        usage: false,
        compact: false,
        clear: false,
        set_model: false,
        default_model: None,
        fixed_model: false,
        effort: EffortChange::Never,
        efforts: &[],
        begins_turns: false,
        host_tools: false,
        mcp_stdio: false,
        mcp_http: false,
        list_sessions: false,
        bare: false,
        structured: false,
        calls: false,
        failures: false,
        base_url: false,
        api_key: false,
        account: false,
        whispers: None,
    };
}
