//! The settings of one daemon: read at the rim, split among the tasks by the root.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangline_config::{AgentConfig, Hooks, OnEscalation, ServerKey};
use gangline_core::{
    AgentName, KnownSecret,
    budget::{Budget, BudgetScope},
    pause::Schedule,
    price::Prices,
    watchdog::Limits,
};
use gangline_irc::client::Address;
use gangline_os::{clock::SharedClock, paths::Paths, secret::Secret};
use gangline_runtime::{McpServer, Runtime, folder::Trusted, registry::Found};

use crate::{container::Container, watching::Watching};

/// How the agent reaches its IRC network.
#[derive(Debug, Clone)]
pub struct IrcSettings {
    /// Where the server is. Only the installation's own is believed about principals and tiers.
    pub server: Address,
    /// Account and password for SASL PLAIN.
    pub login: Option<(String, Secret)>,
    /// Whether a nick without an account is a member on a server that is not ours.
    pub trust_nicks: bool,
}

impl IrcSettings {
    /// Returns whether the server is this installation's own.
    pub(crate) fn is_own(&self) -> bool {
        self.server.is_own()
    }
}

/// The configured backend, replaced by another one for now (R3-17).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsteadOf {
    /// Its name.
    pub name: String,
    /// See [`Found::owner`].
    pub owner: String,
    /// The keys of the agent's configuration that are for it, and have no effect.
    pub left_out: Vec<String>,
}

/// How many turns one root cause may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Causes {
    /// The most turns of a cause, over all agents; beyond it this agent takes none of its messages.
    pub limit: i64,
    /// How many more a release gives.
    pub released: i64,
}

/// What the agent may spend, and whether a relay counts it.
#[derive(Debug, Clone, Default)]
pub struct SpendingSettings {
    /// Every budget that bounds the agent.
    pub budgets: Vec<(BudgetScope, Budget)>,
    /// What models cost.
    pub prices: Prices,
    /// The address of the model's API, if the backend reaches it by the relay.
    pub relay_to: Option<String>,
    /// What the backend spends from.
    pub account: Account,
}

/// The account at a model's provider that the backend uses, as far as the configuration tells it.
#[derive(Debug, Clone, Default)]
pub struct Account {
    /// What it is called to people: `claude with its own login`.
    pub name: String,
    /// The other agents that use it.
    pub others: Vec<AgentName>,
}

/// Everything a daemon needs.
pub struct Settings {
    /// The agent's part of the configuration, paths resolved; it names its backend.
    pub agent: AgentConfig,
    /// Every agent of the installation, this one too.
    pub everybody: Vec<AgentName>,
    /// Those of them whom only owners prompt.
    pub owners_only: Vec<AgentName>,
    /// Where its things are, if it is alone in a container. [`AgentConfig::directory`] is the state
    /// folder then, if that is mounted.
    pub container: Option<Container>,
    /// The mark of its part of the configuration as it was read ([`gangline_config::Config::marks`]).
    pub mark: String,
    /// The network.
    pub irc: IrcSettings,
    /// Where things lie.
    pub paths: Paths,
    /// Lines kept readable of each channel and correspondent (R1-27).
    pub buffer_size: usize,
    /// When it sleeps.
    pub sleep: Option<Schedule>,
    /// What an escalation does to it.
    pub on_escalation: OnEscalation,
    /// What one request may cost.
    pub causes: Causes,
    /// What it may spend.
    pub spending: SpendingSettings,
    /// How it is watched.
    pub watching: Watching,
    /// After what time it counts as stuck.
    pub watchdogs: Limits,
    /// Where alerts go.
    pub alerts: Arc<gangline_alerts::Plan>,
    /// The time.
    pub clock: SharedClock,
    /// The agent's backend, and what it changes of a start.
    pub backend: Found,
    /// The configured one, if that is another.
    pub instead_of: Option<InsteadOf>,
    /// Makes an adapter for that backend.
    pub make_runtime: Arc<dyn Fn() -> Box<dyn Runtime> + Send + Sync>,
    /// The environment of the backend before the daemon adds its own variables.
    pub child_env: BTreeMap<String, String>,
    /// The key under which backends know our own tools (C35).
    pub server_key: ServerKey,
    /// The MCP servers that the backend is offered (R2-34).
    pub mcp_servers: Vec<McpServer>,
    /// The command that joins a tool server's streams to a socket, which stands behind it; empty if
    /// there is none (R2-16).
    pub tool_bridge: Vec<String>,
    /// The hook for the agent's events: its own, or the installation's.
    pub hooks: Option<Hooks>,
    /// What an owner has allowed of what its folder brings along; the daemon finds it at its start.
    pub trusted: Option<Trusted>,
    /// The key for the model, if the backend speaks to one itself.
    pub api_key: Option<Secret>,
    /// A file that holds the model's name where nobody chose one by a command (R2-04).
    pub model_file: Option<PathBuf>,
    /// Values that must never leave: masked in every line, event and answer.
    pub secrets: Vec<KnownSecret>,
}

impl Settings {
    /// Returns the words that start the backend's program, if the agent's configuration has some.
    pub(crate) fn command(&self) -> Option<Vec<String>> {
        let agent = &self.agent;
        let acp = || self.backend.takes_acp_command().then(|| agent.acp_command.clone());
        agent.command.clone().map(|words| self.backend.completed(words)).or_else(acp)
    }

    /// Returns the folder of what the agent keeps: the container's, if it has one, else its own in the
    /// state folder (R2-12, C32).
    pub(crate) fn kept(&self) -> PathBuf {
        let mounted = self.container.as_ref().and_then(Container::mounted);
        mounted.map_or_else(|| self.paths.agent_dir(self.agent.nick.as_str()), Path::to_owned)
    }

    /// Returns the name under which sessions and models of the configured backend are kept.
    pub(crate) fn configured_owner(&self) -> String {
        self.instead_of.as_ref().map_or_else(|| self.backend.owner(), |it| it.owner.clone())
    }
}

/// How a daemon ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The exit code: 0 after a shutdown that was asked for, 78 when no restart helps.
    pub code: u8,
    /// One line for the operator.
    pub why: String,
}

impl Ended {
    /// The exit code of a fault that a restart may fix.
    pub const CRASHED: u8 = 1;
    /// The exit code of a fault that a restart does not fix.
    pub const HOPELESS: u8 = 78;
    /// The exit code when another daemon has the agent.
    pub const TAKEN: u8 = 3;
}
