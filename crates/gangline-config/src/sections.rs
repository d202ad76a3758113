//! The top of the file: every section but the agents, and what holds between them.

use std::{collections::BTreeMap, path::PathBuf};

use gangline_core::{
    hook::WebhookEvent,
    name::{AgentName, ChannelName},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AgentConfig, Backend, ConfigError, Environment, Hooks, MAX_CONFIG_BYTES, Names, Server,
    ServerKey, Warning, agent, backend,
    error::{Place, Problem},
    hooks, join_address,
    node::{Node, load},
    reader::{Keys, Reader, Section},
    schema,
    server::server,
    usual,
    value::{self, TURNS_PER_CAUSE_MAX, host, is_blank, set, thinking, url},
};

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

pub(super) const TOP: Keys = Keys {
    known: &[
        "server",
        "supervisor",
        "webhooks",
        "buffer_size",
        "turns_per_cause",
        "network",
        "http",
        "mcp",
        "hooks",
        "state",
        "agents",
    ],
    ignored: &[
        "telemetry",
        "presence",
        "attention",
        "poll_interval",
        "sleep_start",
        "sleep_end",
        "system_bots",
        "links",
        "webhook_port",
        "data_dir",
    ],
};
pub(super) const SUPERVISOR: Keys = Keys {
    known: &["agent", "model", "thinking", "window_size", "eval_interval", "escalation_threshold"],
    ignored: &["prompt_override"],
};
pub(super) const WEBHOOKS: Keys = Keys { known: &["url", "irc_channel", "events"], ignored: &[] };
pub(super) const NETWORK: Keys = Keys { known: &["embedded", "sasl", "trust_nicks"], ignored: &[] };
pub(super) const SASL: Keys = Keys { known: &["account", "password_env"], ignored: &[] };
pub(super) const HTTP: Keys = Keys { known: &["enabled", "host", "port"], ignored: &[] };
pub(super) const MCP: Keys = Keys { known: &["server_key"], ignored: &[] };

/// Reads the whole text.
pub(super) fn read(
    text: &str,
    source_name: &str,
    names: Option<&Names<'_>>,
    environment: &Environment,
) -> Result<Config, ConfigError> {
    if text.len() > MAX_CONFIG_BYTES {
        return Err(ConfigError::too_large(source_name, text.len() as u64));
    }
    let one = |problem| ConfigError::new(source_name, vec![problem]);
    if is_blank(text) {
        return Err(one(empty()));
    }
    let root = load(text).map_err(one)?;
    let mut reader = Reader::new(text, source_name);
    reader.names = names;
    reader.environment = environment.clone();
    for message in &environment.unusable {
        reader.warn_plain(root.place, message.clone());
    }
    let config = top(&mut reader, root);
    let Reader { problems, warnings, .. } = reader;
    match config {
        Some(config) if problems.is_empty() => Ok(Config { warnings, ..config }),
        _ => Err(ConfigError::new(source_name, problems)),
    }
}

pub(super) fn empty() -> Problem {
    Problem {
        place: None,
        message: "the file is empty".into(),
        quoted: None,
        help: Some("begin with `agents:` and one agent with `nick` and `directory`".into()),
    }
}

pub(super) fn top(reader: &mut Reader<'_>, root: Node) -> Option<Config> {
    let mut top = reader.section("the file", root)?;
    let mut config = Config {
        server: part(reader, &mut top, "server", server),
        supervisor: part(reader, &mut top, "supervisor", supervisor),
        webhooks: part(reader, &mut top, "webhooks", webhooks),
        network: part(reader, &mut top, "network", network),
        http: part(reader, &mut top, "http", http),
        mcp: part(reader, &mut top, "mcp", mcp),
        ..Config::default()
    };
    if let Some(node) = top.take("hooks") {
        let section = reader.section("hooks", node);
        config.hooks = section.and_then(|section| hooks::hooks(reader, section));
    }
    if let Some(node) = top.take("buffer_size") {
        set(&mut config.buffer_size, reader.integer("buffer_size", &node, 1..=100_000));
    }
    if let Some(node) = top.take("turns_per_cause") {
        let read = reader.integer("turns_per_cause", &node, 1..=TURNS_PER_CAUSE_MAX);
        set(&mut config.turns_per_cause, read);
        reader.turns_per_cause = config.turns_per_cause;
    }
    if let Some(node) = top.take("state") {
        config.state = reader.text("state", &node).map(Into::into);
    }
    let at = top.place;
    match top.take("agents").map(|node| reader.list("agents", node)) {
        // An empty list is written on purpose.
        Some(Some(items)) => config.agents = agents(reader, items, &config.server.name),
        Some(None) => {}
        None => reader.warn(at, "no agents are configured", None),
    }
    reader.nothing_else("", top, &TOP);
    Some(config)
}

fn agents(reader: &mut Reader<'_>, items: Vec<Node>, server: &str) -> Vec<super::AgentConfig> {
    let mut seen: BTreeMap<String, Place> = BTreeMap::new();
    let mut agents = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let Some((agent, place)) = agent::read(reader, item, index, server) else { continue };
        let folded = agent.nick.folded().to_owned();
        if let Some(first) = seen.get(&folded) {
            let message =
                format!("nick `{}` is taken already: see line {}", agent.nick, first.line);
            reader.fault(place, message);
            continue;
        }
        seen.insert(folded, place);
        agents.push(agent);
    }
    agents
}

/// Reads one section, or gives its default.
fn part<T: Default>(
    reader: &mut Reader<'_>,
    top: &mut Section,
    name: &str,
    read: fn(&mut Reader<'_>, Section) -> T,
) -> T {
    match top.take(name).and_then(|node| reader.section(name, node)) {
        Some(section) => read(reader, section),
        None => T::default(),
    }
}

fn supervisor(reader: &mut Reader<'_>, mut section: Section) -> Supervisor {
    let mut supervisor = Supervisor::default();
    if let Some(node) = section.take("agent") {
        supervisor.agent = backend::read(reader, &node);
        if let Some(backend) = &supervisor.agent
            && let Some((message, help)) = backend::unknown(reader, backend, None)
        {
            reader.fault_help(node.place, message, help);
        }
    }
    if let Some(node) = section.take("model") {
        set(&mut supervisor.model, reader.text("model", &node));
    }
    if let Some(node) = section.take("thinking") {
        set(&mut supervisor.thinking, thinking(reader, &node));
    }
    for (key, field, most) in [
        ("window_size", &mut supervisor.window_size, 1000),
        ("eval_interval", &mut supervisor.eval_interval, 1000),
        ("escalation_threshold", &mut supervisor.escalation_threshold, 100),
    ] {
        if let Some(node) = section.take(key) {
            set(field, reader.integer(key, &node, 1..=most));
        }
    }
    reader.nothing_else("supervisor", section, &SUPERVISOR);
    supervisor
}

fn webhooks(reader: &mut Reader<'_>, mut section: Section) -> Webhooks {
    let mut webhooks = Webhooks::default();
    if let Some(node) = section.take("url") {
        webhooks.url = url(reader, "url", &node);
    }
    if let Some(node) = section.take_even_null("irc_channel") {
        let channel = match node.value {
            super::node::Value::Null => None,
            _ => reader.parsed("irc_channel", &node),
        };
        webhooks.irc_channel = channel;
    }
    if let Some(node) = section.take("events")
        && let Some(items) = reader.list("events", node)
    {
        webhooks.events =
            items.iter().filter_map(|item| reader.word("an item of `events`", item)).collect();
    }
    reader.nothing_else("webhooks", section, &WEBHOOKS);
    webhooks
}

fn network(reader: &mut Reader<'_>, mut section: Section) -> Network {
    let mut network = Network::default();
    if let Some(node) = section.take("embedded") {
        set(&mut network.embedded, reader.boolean("embedded", &node));
    }
    if let Some(node) = section.take("trust_nicks") {
        set(&mut network.trust_nicks, reader.boolean("trust_nicks", &node));
    }
    if let Some(node) = section.take("sasl") {
        let place = node.place;
        network.sasl = reader.section("sasl", node).and_then(|section| sasl(reader, section));
        if network.embedded {
            reader.warn(
                place,
                "`network.sasl` is for a server that is not ours",
                Some("agents log in to the embedded server by themselves".into()),
            );
        }
    }
    reader.nothing_else("network", section, &NETWORK);
    network
}

fn sasl(reader: &mut Reader<'_>, mut section: Section) -> Option<Sasl> {
    let account = section.take("account").and_then(|node| reader.text("account", &node));
    let variable = section.take("password_env");
    let place = section.place;
    reader.nothing_else("network.sasl", section, &SASL);
    let Some(node) = variable else {
        reader.fault(place, "`network.sasl` needs `password_env`");
        return None;
    };
    let password_env = value::variable(reader, "password_env", &node)?;
    Some(Sasl { account, password_env })
}

fn http(reader: &mut Reader<'_>, mut section: Section) -> Http {
    let mut http = Http::default();
    if let Some(node) = section.take("enabled") {
        set(&mut http.enabled, reader.boolean("enabled", &node));
    }
    if let Some(node) = section.take("host") {
        set(&mut http.host, host(reader, &node));
    }
    if let Some(node) = section.take("port") {
        set(&mut http.port, reader.integer("port", &node, 0..=65535));
    }
    reader.nothing_else("http", section, &HTTP);
    http
}

fn mcp(reader: &mut Reader<'_>, mut section: Section) -> Mcp {
    let mut mcp = Mcp::default();
    if let Some(node) = section.take("server_key") {
        set(&mut mcp.server_key, reader.word("server_key", &node));
    }
    reader.nothing_else("mcp", section, &MCP);
    mcp
}
