//! The top of the file: every section but the agents, and what holds between them.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    AgentConfig, Budgets, ConfigError, Environment, Hooks, MAX_CONFIG_BYTES, ModelPrice, Names,
    Server, ServerKey, Supervisor, Warning, Watchdogs, agent, budgets,
    declared::{self, Declared, plain, section},
    error::{Place, Problem},
    hooks, join_address,
    limits::{self, TURNS_PER_CAUSE_MAX},
    node::{Node, load},
    reader::Reader,
    sleep, supervisor,
    value::{self, is_blank, loopback, path},
    webhooks::{self, Alerts, Webhooks},
};
use gangline_core::{
    budget::BudgetAction,
    name::AgentName,
    pause::{Schedule, TimeOfDay},
};

section! {
    /// The whole of `agents.yaml` (R0-61, R1-43).
    #[schemars(title = "Gangline: agents.yaml", deny_unknown_fields)]
    pub struct Config() |reader, key, node| {
        /// The IRC server that the agents join.
        pub server: Server = Server::default() => plain(reader, key, node),
        /// The watcher of the agents' turns.
        pub supervisor: Supervisor = Supervisor::default() => supervisor::read(reader, key, node),
        /// Where alerts go.
        pub webhooks: Webhooks = Webhooks::default() => webhooks::webhooks(reader, key, node),
        /// How alerts look on IRC.
        pub alerts: Alerts = Alerts::default() => webhooks::alerts(reader, key, node),
        /// After what time an agent counts as stuck.
        pub watchdogs: Watchdogs = Watchdogs::default() => plain(reader, key, node),
        /// Lines kept readable per channel, 1 to 100000 (R1-27).
        pub buffer_size: usize = 500 => reader.integer(key, &node, 1..=100_000),
        /// How many turns may follow from one message of a person, over all agents, 1 to 100000. What
        /// goes beyond is held until an owner releases it.
        pub turns_per_cause: u32 = limits::turns_per_cause()
            => reader.integer(key, &node, 1..=TURNS_PER_CAUSE_MAX),
        /// The seconds that an agent may take to come up after a change that a manager asked for, 1 to
        /// 3600; then the change is undone (R2-37).
        pub apply_timeout_seconds: u32 = 60 => reader.integer(key, &node, 1..=3600),
        /// When every agent goes to sleep, in this machine's time, as `"23:00"`: it begins no new turn until
        /// `sleep_end`, and keeps what comes. Over midnight if the end is the earlier one; absent = never
        /// (R0-52).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        pub sleep_start: Option<TimeOfDay> = None => reader.parsed(key, &node).map(Some),
        /// When they wake up.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        pub sleep_end: Option<TimeOfDay> = None => reader.parsed(key, &node).map(Some),
        /// How much may be spent in a day.
        #[serde(skip_serializing_if = "Budgets::is_empty")]
        pub budgets: Budgets = Budgets::default() => plain(reader, key, node),
        /// What models cost that the list of prices does not have, or not rightly.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub prices: BTreeMap<String, ModelPrice> = BTreeMap::new()
            => budgets::prices(reader, key, node),
        /// How the IRC network is had.
        pub network: Network = Network::default() => network(reader, key, node),
        /// The HTTP interface.
        pub http: Http = Http::default() => plain(reader, key, node),
        /// How the daemon's own tools are offered.
        pub mcp: Mcp = Mcp::default() => plain(reader, key, node),
        /// What is run when something happens to an agent; an agent's own `hooks` replace these.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hooks: Option<Hooks> = None => hooks::hooks(reader, key, node).map(Some),
        /// The state folder. A leading `~/` is the home directory; `--state` and the environment win.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub state: Option<PathBuf> = None => path(reader, key, &node).map(Some),
        /// The agents, in the order of the file; no nick twice.
        pub agents: Vec<AgentConfig> = Vec::new(),
    }
    beside {
        /// What is allowed but probably not meant. Not part of the file.
        #[serde(skip)]
        #[schemars(skip)]
        pub warnings: Vec<Warning> = Vec::new(),
    }
    ignored: [
        "telemetry", "presence", "attention", "poll_interval", "system_bots", "links", "webhook_port", "data_dir",
    ]
}

impl Config {
    /// Returns when an agent of this file sleeps: by its own hours, else by the file's (R0-52).
    #[must_use]
    pub fn sleep_of(&self, agent: &AgentConfig) -> Option<Schedule> {
        let own = sleep::hours((agent.sleep_start, agent.sleep_end));
        own.or_else(|| sleep::hours((self.sleep_start, self.sleep_end)))
    }

    /// Returns the agent of that name.
    #[must_use]
    pub fn agent(&self, nick: &AgentName) -> Option<&AgentConfig> {
        self.agents.iter().find(|agent| agent.nick == *nick)
    }
}

section! {
    /// `mcp`: how the daemon's own tools are offered.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Mcp() |reader, key, node| {
        /// The key of their server: the model calls them `mcp__<key>__send`.
        pub server_key: ServerKey = ServerKey::Gangline => reader.word(key, &node),
    }
}

section! {
    /// `network`: which IRC network the agents use.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Network() |reader, key, node| {
        /// Whether the hub itself is the IRC server; `false` = join the one at `server`.
        pub embedded: bool = true => reader.boolean(key, &node),
        /// How agents log in to a server other than Gangline's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sasl: Option<Sasl> = None => sasl(reader, key, node).map(Some),
        /// Whether to trust a nick without an account on a server other than Gangline's own. If not,
        /// such a person is a stranger and starts no turn.
        pub trust_nicks: bool = false => reader.boolean(key, &node),
    }
}

section! {
    /// `network.sasl`: a login; the password itself is never in the file.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Sasl(password_env: String = String::new()) |reader, key, node| {
        /// The account; absent = each agent's own nick.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub account: Option<String> = None => reader.text(key, &node).map(Some),
        /// The environment variable that holds the password.
        pub password_env: String = password_env => value::variable(reader, key, &node),
    }
}

section! {
    /// `http`: the HTTP interface of the hub.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Http() |reader, key, node| {
        /// Whether the hub has one.
        pub enabled: bool = false => reader.boolean(key, &node),
        /// The address it listens on, of this machine only.
        pub host: String = "127.0.0.1".into() => loopback(reader, &node),
        /// Its TCP port; 0 = any free one.
        pub port: u16 = 8667 => reader.integer(key, &node, 0..=65535),
    }
}

impl Http {
    /// Returns `host:port`, an IPv6 host in brackets.
    #[must_use]
    pub fn address(&self) -> String {
        join_address(&self.host, self.port)
    }
}

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
    let mut config = Config::default();
    let place = sleep::place(&top);
    config.take(reader, &mut top);
    sleep::check(reader, place, (config.sleep_start, config.sleep_end));
    reader.turns_per_cause = config.turns_per_cause;
    let at = top.place;
    match top.take("agents").map(|node| reader.list("agents", node)) {
        // An empty list is written on purpose.
        Some(Some(items)) => config.agents = agents(reader, items, &config.server.name),
        Some(None) => {}
        None => reader.warn(at, "no agents are configured", None),
    }
    relays_fit(reader, &config, at);
    reader.nothing_else("", top, &Config::KEYS);
    Some(config)
}

/// Faults what no relay could do.
fn relays_fit(reader: &mut Reader<'_>, config: &Config, place: Place) {
    for agent in config.agents.iter().filter(|agent| agent.relay == Some(false)) {
        let budgets = config.budgets_of(agent);
        if let Some((scope, _)) =
            budgets.iter().find(|(_, budget)| budget.action == BudgetAction::Stop)
        {
            reader.fault_help(
                place,
                format!("`relay: false` of {} and `action: stop` of the budget of {scope} exclude each other", agent.nick),
                "leave `relay` out, or write `action: hold`",
            );
        }
    }
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

fn network(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Network> {
    let section = reader.section(key, node)?;
    let login = section.place_of("sasl");
    let network: Network = declared::read(reader, key, section)?;
    if let Some(place) = login.filter(|_| network.embedded) {
        reader.warn(
            place,
            "`network.sasl` is for a server that is not ours",
            Some("agents log in to the embedded server by themselves".into()),
        );
    }
    Some(network)
}

fn sasl(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Sasl> {
    let section = reader.section(key, node)?;
    if section.place_of("password_env").is_none() {
        reader.fault(section.place, "`network.sasl` needs `password_env`");
    }
    declared::read(reader, "network.sasl", section)
}
