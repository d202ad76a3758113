//! The configuration: `agents.yaml` read into checked values, without touching anything.
//!
//! [`parse`] is pure: no file, no environment, no home directory. It reports every fault it can
//! find at once, each with line, column and the quoted line. Start there; the types are read once
//! at the rim and split among those who need them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use gangline_core::{
    hook::WebhookEvent,
    name::{AgentName, ChannelName},
};
use schemars::JsonSchema;
use serde::Serialize;

pub use gangline_core::permission::Permissions;

pub use self::{
    backend::{Backend, Names, NotABackend},
    environment::Environment,
    error::{ConfigError, Place, Problem, Warning},
    hooks::{Gastown, Hooks},
    mcp::{McpPlaceConfig, McpServerConfig, NotSet, parse_servers},
    schema::schema,
    server::{Room, RoomKey, Server},
    thinking::Thinking,
    words::{
        Compaction, Guests, MentionWhenBusy, OnCrash, Process, Progress, PromptBy, ReplyMode,
        ServerKey,
    },
};

pub mod import;
pub mod nearest;

mod agent;
mod backend;
mod environment;
mod error;
mod hooks;
mod mcp;
mod node;
mod reader;
mod schema;
mod sections;
mod server;
mod thinking;
mod usual;
mod value;
mod words;

/// The largest configuration that is read, in bytes; checked before parsing.
pub const MAX_CONFIG_BYTES: usize = 1024 * 1024;

/// The tools an agent has under `permissions: allowlist` when `allowed_tools` is absent (R2-42).
pub const DEFAULT_ALLOWED_TOOLS: [&str; 7] =
    ["Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "Write"];

/// The whole of `agents.yaml` (R0-61, R1-43).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Gangline: agents.yaml", deny_unknown_fields, default)]
pub struct Config {
    /// The IRC server that the agents join.
    pub server: Server,
    /// The watcher of the agents' turns.
    pub supervisor: Supervisor,
    /// Where alerts go.
    pub webhooks: Webhooks,
    /// Lines kept readable per channel, 1 to 100000 (R1-27).
    pub buffer_size: usize,
    /// How many turns may follow from one message of a person, over all agents, 1 to 100000. What
    /// goes beyond is held until an owner releases it.
    pub turns_per_cause: u32,
    /// How the IRC network is had.
    pub network: Network,
    /// The HTTP interface.
    pub http: Http,
    /// How the daemon's own tools are offered.
    pub mcp: Mcp,
    /// What is run when something happens to an agent; an agent's own `hooks` replace these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Hooks>,
    /// The state folder. A leading `~/` is the home directory; `--state` and the environment win.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<PathBuf>,
    /// The agents, in the order of the file; no nick twice.
    pub agents: Vec<AgentConfig>,
    /// What is allowed but probably not meant. Not part of the file.
    #[serde(skip)]
    #[schemars(skip)]
    pub warnings: Vec<Warning>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            server: Server::default(),
            supervisor: Supervisor::default(),
            webhooks: Webhooks::default(),
            buffer_size: 500,
            turns_per_cause: usual::turns_per_cause(),
            network: Network::default(),
            http: Http::default(),
            mcp: Mcp::default(),
            hooks: None,
            state: None,
            agents: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Config {
    /// Returns the agent of that name.
    #[must_use]
    pub fn agent(&self, nick: &AgentName) -> Option<&AgentConfig> {
        self.agents.iter().find(|agent| agent.nick == *nick)
    }
}

/// `supervisor`: the watcher of the agents' turns (R0-30 … R0-33).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Supervisor {
    /// The supervisor's own backend; absent = as for an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Backend>,
    /// The model it thinks with.
    pub model: String,
    /// How much it thinks.
    pub thinking: String,
    /// The number of turns that it looks back at.
    pub window_size: u32,
    /// The number of turns between two looks.
    pub eval_interval: u32,
    /// The number of failed corrections in a row that become an escalation.
    pub escalation_threshold: u32,
}

impl Default for Supervisor {
    fn default() -> Self {
        Self {
            agent: None,
            model: "claude-sonnet-4-6".into(),
            thinking: "medium".into(),
            window_size: 20,
            eval_interval: 5,
            escalation_threshold: 3,
        }
    }
}

/// `webhooks`: where alerts go (R1-40, R1-43).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Webhooks {
    /// An HTTP address that alerts are posted to; absent = none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The channel that alerts are posted in; `null` = none.
    #[schemars(with = "Option<String>")]
    pub irc_channel: Option<ChannelName>,
    /// The events that raise an alert.
    #[schemars(with = "Vec<schema::WebhookEvents>")]
    pub events: Vec<WebhookEvent>,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self { url: None, irc_channel: "#alerts".parse().ok(), events: WebhookEvent::ALL.to_vec() }
    }
}

/// `mcp`: how the daemon's own tools are offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Mcp {
    /// The key of their server: the model calls them `mcp__<key>__send`.
    pub server_key: ServerKey,
}

impl Default for Mcp {
    fn default() -> Self {
        Self { server_key: ServerKey::Gangline }
    }
}

/// `network`: which IRC network the agents use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Network {
    /// Whether the hub itself is the IRC server; `false` = join the one at `server`.
    pub embedded: bool,
    /// How agents log in to a server other than Gangline's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sasl: Option<Sasl>,
    /// Whether to trust a nick without an account on a server other than Gangline's own. If not,
    /// such a person is a stranger and starts no turn.
    pub trust_nicks: bool,
}

impl Default for Network {
    fn default() -> Self {
        Self { embedded: true, sasl: None, trust_nicks: false }
    }
}

/// `network.sasl`: a login; the password itself is never in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Sasl {
    /// The account; absent = each agent's own nick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The environment variable that holds the password.
    pub password_env: String,
}

/// `http`: the HTTP interface of the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Http {
    /// Whether the hub has one.
    pub enabled: bool,
    /// The address it listens on.
    pub host: String,
    /// Its TCP port; 0 = any free one.
    pub port: u16,
}

impl Default for Http {
    fn default() -> Self {
        Self { enabled: true, host: "127.0.0.1".into(), port: 8667 }
    }
}

impl Http {
    /// Returns `host:port`, an IPv6 host in brackets.
    #[must_use]
    pub fn address(&self) -> String {
        join_address(&self.host, self.port)
    }
}

/// One item of `agents` (R0-62, R0-63). Other fields reach the backend unchanged, in `extra`
/// (R0-64).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentConfig {
    /// `<server>-<name>`.
    #[schemars(with = "String")]
    pub nick: AgentName,
    /// The backend: a built-in one or a name in `runtimes.json`; absent = the one that the project
    /// names, else the default of `runtimes.json`, else `claude`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Backend>,
    /// The folder it works in. A leading `~/` is the home directory.
    pub directory: PathBuf,
    /// The channels it joins.
    #[schemars(with = "Vec<String>", default = "usual::channels")]
    pub channels: Vec<ChannelName>,
    /// The model; absent = the backend's default. For `acp` the provider comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much it thinks, in the words of `claude`, `codex` and `native`; other backends ignore it
    /// (R0-65). If it is absent, `codex` follows its own settings.
    #[schemars(default)]
    pub thinking: Thinking,
    /// Words that describe it.
    #[schemars(default)]
    pub tags: Vec<String>,
    /// The program of an `acp` backend, with arguments.
    #[schemars(default = "usual::acp_command")]
    pub acp_command: Vec<String>,
    /// The backend's program, with arguments that come before Gangline's own; absent = its usual
    /// name, looked up on the PATH.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The folder of the agent's own login (R3-05); absent = the user's login. A leading `~/` is
    /// the home directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_dir: Option<PathBuf>,
    /// Text that replaces the default system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The seconds without activity after which a turn is ended, at most 604800; time spent waiting
    /// for an approval does not count. 0 = no limit.
    #[schemars(default = "usual::turn_timeout", range(min = 0, max = 604_800))]
    pub turn_timeout_seconds: f64,
    /// Who decides what its tools may do.
    #[schemars(default = "usual::permissions", schema_with = "schema::permissions")]
    pub permissions: Permissions,
    /// Which people may prompt it; absent = members, for an agent in a terminal only owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptBy>,
    /// The tools that may run under `permissions: allowlist`.
    #[schemars(default = "usual::allowed_tools")]
    pub allowed_tools: Vec<String>,
    /// MCP servers that it may use, by their keys (R2-34).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    pub mcp_servers: BTreeMap<String, McpServerConfig>,
    /// A file with more of them, in JSON or YAML. A leading `~/` is the home directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_servers_file: Option<PathBuf>,
    /// Who posts its answers on IRC.
    #[schemars(default = "usual::reply")]
    pub reply: ReplyMode,
    /// What the room reads during a turn.
    #[schemars(default = "usual::progress")]
    pub progress: Progress,
    /// What happens to a mention while it works.
    #[schemars(default = "usual::busy")]
    pub mention_when_busy: MentionWhenBusy,
    /// How its backend is restarted after a crash.
    #[schemars(default = "usual::on_crash")]
    pub on_crash: OnCrash,
    /// Who makes the conversation fit the model's context (C13).
    #[schemars(default = "usual::compaction")]
    pub compaction: Compaction,
    /// How full the context may become under `compaction: harness` (R2-09). Up to 1: a part of the
    /// model's context, or 150000 tokens if its size is unknown. Above 1: tokens. 0: never shorten
    /// it beforehand.
    #[schemars(default = "usual::watermark", range(min = 0, max = 100_000_000))]
    pub compact_watermark: f64,
    /// The number of attempts at a message, 1 to 100; after the last one it is a dead letter.
    #[schemars(default = "usual::max_attempts")]
    pub max_attempts: u32,
    /// A lower limit than the installation's `turns_per_cause`, for this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_per_cause: Option<u32>,
    /// The model's address, where the backend lets it be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the model's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Variables added to the backend's environment.
    #[schemars(default)]
    pub env: BTreeMap<String, String>,
    /// How its program runs (C4).
    #[schemars(default = "usual::process")]
    pub process: Process,
    /// The first prompt of an empty session, in a turn of its own (R0-07). Without one, a Codex agent
    /// with a Gas Town role is prompted to run `gt prime` (R3-15).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_prompt: Option<String>,
    /// The operator's pronouns: what `{operator_pronouns}` in the system prompt becomes (R2-15).
    #[schemars(default = "usual::pronouns")]
    pub operator_pronouns: String,
    /// Its names for Gas Town's tools, which read them from the environment (R3-09).
    #[schemars(default)]
    pub gastown: Gastown,
    /// The program to run on its events, instead of the file's `hooks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Hooks>,
    /// Whether the agent runs.
    #[schemars(default = "usual::enabled")]
    pub enabled: bool,
    /// Fields that are passed to the backend; also the place for one whose name resembles ours.
    #[schemars(default)]
    pub extra: BTreeMap<String, serde_json::Value>,
}

impl AgentConfig {
    /// Returns whether it surely works in a terminal, where nothing asks before tools run. A
    /// backend of `runtimes.json` may do so too.
    #[must_use]
    pub fn is_in_terminal(&self) -> bool {
        let named = self.agent.as_ref().is_some_and(|it| it.as_str() == Backend::TERMINAL);
        named || self.process == Process::Tmux
    }

    /// Returns an agent with every default.
    #[must_use]
    pub fn new(nick: AgentName, directory: PathBuf) -> Self {
        Self {
            nick,
            agent: None,
            directory,
            channels: usual::channels(),
            model: None,
            thinking: Thinking::Usual,
            tags: Vec::new(),
            acp_command: usual::acp_command(),
            command: None,
            account_dir: None,
            system_prompt: None,
            turn_timeout_seconds: usual::turn_timeout(),
            permissions: usual::permissions(),
            prompt: None,
            allowed_tools: usual::allowed_tools(),
            mcp_servers: BTreeMap::new(),
            mcp_servers_file: None,
            reply: usual::reply(),
            progress: usual::progress(),
            mention_when_busy: usual::busy(),
            on_crash: usual::on_crash(),
            compaction: usual::compaction(),
            compact_watermark: usual::watermark(),
            max_attempts: usual::max_attempts(),
            turns_per_cause: None,
            base_url: None,
            api_key_env: None,
            env: BTreeMap::new(),
            process: usual::process(),
            initial_prompt: None,
            operator_pronouns: usual::pronouns(),
            gastown: Gastown::default(),
            hooks: None,
            enabled: usual::enabled(),
            extra: BTreeMap::new(),
        }
    }
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
