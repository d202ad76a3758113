//! One item of `agents`.

use std::{collections::BTreeMap, path::PathBuf};

use super::{
    AgentAnswers, Backend, Compaction, DEFAULT_ALLOWED_TOOLS, DayBudget, FolderTrust, Gastown,
    Hooks, McpServerConfig, MentionWhenBusy, OnCrash, Process, Profile, Progress, PromptBy,
    ReplyMode, RestartNote, Role, Thinking, backend, budgets,
    declared::{Declared, plain, section},
    error::{Place, shown},
    hooks,
    limits::{CONTAINER_NAME_MAX, TURNS_PER_CAUSE_MAX, WATERMARK_MAX},
    mcp,
    nearest::nearest,
    node::{Node, Value, bare_channel},
    reader::{Reader, Section},
    schema, sleep,
    value::{is_variable, path, set, thinking, url, variable},
};
use gangline_core::{
    name::{AgentName, ChannelName},
    pause::TimeOfDay,
    permission::Permissions,
};

section! {
    /// `cold_reset`: a large context that its provider has in no cache any more is paid for in full again.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct ColdReset() |reader, key, node| {
        /// The context holds at least so many tokens.
        pub tokens: u64 = 100_000 => reader.integer(key, &node, 1..=i128::from(WATERMARK_MAX)),
        /// So many seconds have passed since the last turn.
        pub idle: u64 = 300 => reader.integer(key, &node, 1..=604_800),
    }
}

section! {
    /// One item of `agents` (R0-62, R0-63). Other fields reach the backend unchanged, in `extra`
    /// (R0-64).
    pub struct AgentConfig(
        nick: AgentName = "spark-unnamed".parse().ok()?,
        directory: PathBuf = PathBuf::new()
    ) |reader, key, node| {
        /// `<server>-<name>`.
        #[schemars(with = "String")]
        pub nick: AgentName = nick,
        /// The backend: a built-in one or a name in `runtimes.json`; absent = the one that the project
        /// names, else the default of `runtimes.json`, else `claude`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub agent: Option<Backend> = None => backend::read(reader, &node).map(Some),
        /// The folder it works in. A leading `~/` is the home directory.
        pub directory: PathBuf = directory => path(reader, key, &node),
        /// The channels it joins.
        #[schemars(with = "Vec<String>")]
        pub channels: Vec<ChannelName> = "#general".parse().into_iter().collect()
            => channels(reader, key, node),
        /// The model; absent = the backend's default. For `acp` the provider comes first.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub model: Option<String> = None => reader.text(key, &node).map(Some),
        /// How much it thinks, in the words of `claude`, `codex` and `native`; other backends ignore it
        /// (R0-65). If it is absent, `codex` follows its own settings.
        pub thinking: Thinking = Thinking::Usual => thinking(reader, &node).map(Thinking::Said),
        /// Where it runs (R2-12, R2-33, C30, C32).
        pub profile: Profile = Profile::Host => reader.word(key, &node),
        /// What becomes of the message that tells it of its daemon's start (R2-14); absent = `wake` under
        /// `profile: container`, else `inbox`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub restart_note: Option<RestartNote> = None => restart_note(reader, key, &node).map(Some),
        /// Words that describe it.
        pub tags: Vec<String> = Vec::new() => reader.texts(key, node),
        /// The program of an `acp` backend, with arguments.
        pub acp_command: Vec<String> = vec!["opencode".into(), "acp".into()]
            => command(reader, key, node),
        /// The backend's program, with arguments that come before Gangline's own; absent = its usual
        /// name, looked up on the PATH.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub command: Option<Vec<String>> = None => command(reader, key, node).map(Some),
        /// The folder of the agent's own login (R3-05); absent = the user's login. A leading `~/` is
        /// the home directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub account_dir: Option<PathBuf> = None => path(reader, key, &node).map(Some),
        /// Text that replaces the default system prompt.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub system_prompt: Option<String> = None => reader.text(key, &node).map(Some),
        /// A file with the system prompt, in place of the default one (R1-57). A leading `~/` is the home
        /// directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub system_prompt_file: Option<PathBuf> = None => path(reader, key, &node).map(Some),
        /// Rules that always hold: they are in the system prompt, and are given again whenever the
        /// context was shortened (C13).
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub pinned: Vec<String> = Vec::new() => reader.texts(key, node),
        /// The seconds without activity after which a turn is ended, at most 604800; time spent waiting
        /// for an approval does not count. 0 = no limit.
        #[schemars(range(min = 0, max = 604_800))]
        pub turn_timeout_seconds: f64 = 600.0 => reader.seconds(key, &node, 604_800),
        /// Who decides what its tools may do.
        #[schemars(schema_with = "schema::permissions")]
        pub permissions: Permissions = Permissions::Ask => reader.word(key, &node),
        /// The tools that may run under `permissions: allowlist`.
        pub allowed_tools: Vec<String> = DEFAULT_ALLOWED_TOOLS.map(String::from).to_vec()
            => reader.texts(key, node),
        /// What is loaded of what its folder brings along for its program: settings, hooks, MCP servers,
        /// plugins, skills, commands. Instructions such as `CLAUDE.md` are read in any case.
        pub trust: FolderTrust = FolderTrust::None => reader.word(key, &node),
        /// Which people may prompt it; absent = members, for an agent in a terminal only owners.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prompt: Option<PromptBy> = None => reader.word(key, &node).map(Some),
        /// How much other agents' answers to its questions may decide (R1-52); absent = it chooses for each
        /// question. People's answers always count.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub agent_answers: Option<AgentAnswers> = None => reader.word(key, &node).map(Some),
        /// Whether it may run the other agents: `manager` gives it the tools for that (R2-35 … R2-39).
        pub role: Role = Role::Agent => reader.word(key, &node),
        /// MCP servers that it may use, by their keys (R2-34).
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub mcp_servers: BTreeMap<String, McpServerConfig> = BTreeMap::new()
            => mcp::servers(reader, key, node),
        /// A file with more of them, in JSON or YAML. A leading `~/` is the home directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mcp_servers_file: Option<PathBuf> = None => path(reader, key, &node).map(Some),
        /// Who posts its answers on IRC.
        pub reply: ReplyMode = ReplyMode::RelayIfSilent => reader.word(key, &node),
        /// What the room reads during a turn.
        pub progress: Progress = Progress::Quiet => reader.word(key, &node),
        /// What happens to a mention while it works.
        pub mention_when_busy: MentionWhenBusy = MentionWhenBusy::Queue => reader.word(key, &node),
        /// How its backend is restarted after a crash.
        pub on_crash: OnCrash = OnCrash::Resume => reader.word(key, &node),
        /// When it goes to sleep, instead of the file's `sleep_start`; with `sleep_end`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        pub sleep_start: Option<TimeOfDay> = None => reader.parsed(key, &node).map(Some),
        /// When it wakes up.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        pub sleep_end: Option<TimeOfDay> = None => reader.parsed(key, &node).map(Some),
        /// Who makes the conversation fit the model's context (C13).
        pub compaction: Compaction = Compaction::Harness => compaction(reader, key, &node),
        /// How full the context may become under `compaction: harness` (R2-09). Up to 1: a part of the
        /// model's context, or 150000 tokens if its size is unknown. Above 1: tokens. 0: never shorten
        /// it beforehand.
        #[schemars(range(min = 0, max = 100_000_000))]
        pub compact_watermark: f64 = 0.75 => reader.number(key, &node, WATERMARK_MAX),
        /// When a new session begins instead of a large one that nobody used for a while; absent = never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cold_reset: Option<ColdReset> = None => plain(reader, key, node).map(Some),
        /// The number of attempts at a message, 1 to 100; after the last one it is a dead letter.
        pub max_attempts: u32 = 5 => reader.integer(key, &node, 1..=100),
        /// A lower limit than the installation's `turns_per_cause`, for this agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub turns_per_cause: Option<u32> = None => lower(reader, key, &node).map(Some),
        /// How much it may spend in a day, in place of `budgets.agent`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub budget: Option<DayBudget> = None => budgets::budget(reader, key, node).map(Some),
        /// Whether its backend reaches the model by Gangline's relay, which counts and keeps the key;
        /// absent = only under a budget with `action: stop`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub relay: Option<bool> = None => reader.boolean(key, &node).map(Some),
        /// The model's address, where the backend lets it be chosen.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub base_url: Option<String> = None => url(reader, key, &node).map(Some),
        /// The environment variable that holds the model's key.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub api_key_env: Option<String> = None => variable(reader, key, &node).map(Some),
        /// Variables added to the backend's environment.
        pub env: BTreeMap<String, String> = BTreeMap::new() => env(reader, key, node),
        /// How its program runs (C4).
        pub process: Process = Process::Resident => reader.word(key, &node),
        /// The first prompt of an empty session, in a turn of its own (R0-07). Without one, a Codex agent
        /// with a Gas Town role is prompted to run `gt prime` (R3-15).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub initial_prompt: Option<String> = None => reader.text(key, &node).map(Some),
        /// The operator's pronouns: what `{operator_pronouns}` in the system prompt becomes (R2-15).
        pub operator_pronouns: String = "she/her".into() => reader.text(key, &node),
        /// Its names for Gas Town's tools, which read them from the environment (R3-09).
        pub gastown: Gastown = Gastown::default() => plain(reader, key, node),
        /// The program to run on its events, instead of the file's `hooks`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hooks: Option<Hooks> = None => hooks::hooks(reader, key, node).map(Some),
        /// Whether the agent runs.
        pub enabled: bool = true => reader.boolean(key, &node),
        /// Fields that are passed to the backend; also the place for one whose name resembles ours.
        pub extra: BTreeMap<String, serde_json::Value> = BTreeMap::new(),
    }
}

impl AgentConfig {
    /// Returns an agent with every default.
    #[must_use]
    pub fn new(nick: AgentName, directory: PathBuf) -> Self {
        Self::with_defaults(nick, directory)
    }

    /// Returns what becomes of the message that tells it of its daemon's start.
    #[must_use]
    pub fn restart_note(&self) -> RestartNote {
        self.restart_note.unwrap_or(match self.profile {
            Profile::Host => RestartNote::Inbox,
            Profile::Container => RestartNote::Wake,
        })
    }

    /// Returns whether it surely works in a terminal, where nothing asks before tools run. A
    /// backend of `runtimes.json` may do so too.
    #[must_use]
    pub fn is_in_terminal(&self) -> bool {
        let named = self.agent.as_ref().is_some_and(|it| it.as_str() == Backend::TERMINAL);
        named || self.process == Process::Tmux
    }
}

/// Reads one agent; `None` if it has no usable nick. The place is that of the nick.
pub(super) fn read(
    reader: &mut Reader<'_>,
    node: Node,
    index: usize,
    server: &str,
) -> Option<(AgentConfig, Place)> {
    let mut section = reader.section(&format!("agents[{index}]"), node)?;
    let nick = section.take("nick");
    let name = nick.as_ref().map_or_else(|| format!("agents[{index}]"), |node| label(node, index));
    if nick.is_none() {
        reader.fault(section.place, format!("`{name}` needs a `nick`"));
    }
    if section.place_of("directory").is_none() {
        reader.fault(section.place, format!("`{name}` needs a `directory`"));
    }
    let parsed: Option<AgentName> = nick.as_ref().and_then(|node| reader.parsed("nick", node));
    let place = nick.map_or(section.place, |node| node.place);
    let mut agent = AgentConfig::usual()?;
    set(&mut agent.nick, parsed.clone());
    set(&mut agent.operator_pronouns, reader.environment.operator_pronouns.clone());
    set(&mut agent.compact_watermark, reader.environment.compact_watermark);
    set(&mut agent.profile, reader.environment.profile);
    let said = section.place_of("agent");
    let sleep = sleep::place(&section);
    fields(reader, &mut section, &mut agent);
    sleep::check(reader, sleep, (agent.sleep_start, agent.sleep_end));
    pass_through(reader, section, &mut agent);
    if let (Some(place), Some(named)) = (said, &agent.agent)
        && let Some((message, help)) = backend::unknown(reader, named, Some(&agent.directory))
    {
        match agent.enabled {
            true => reader.fault_help(place, message, help),
            false => reader.warn(place, message, Some(help)),
        }
    }
    parsed?;
    fits_container(reader, &agent, place);
    if !agent.nick.as_str().starts_with(&format!("{server}-")) {
        reader.warn(
            place,
            format!("nick `{}` does not begin with the server's name `{server}-`", agent.nick),
            Some(format!("other agents and clients expect `{server}-{}`", agent.nick.short())),
        );
    }
    Some((agent, place))
}

/// Refuses a name that hyperhive's containers could not have (C30).
fn fits_container(reader: &mut Reader<'_>, agent: &AgentConfig, place: Place) {
    let short = agent.nick.short();
    if agent.profile == Profile::Container && short.len() > CONTAINER_NAME_MAX {
        reader.fault_help(
            place,
            format!(
                "`{short}` has {} characters; under `profile: container` a name has at most \
                 {CONTAINER_NAME_MAX}",
                short.len()
            ),
            format!("shorten the part of `{}` behind the server's name", agent.nick),
        );
    }
}

fn label(node: &Node, index: usize) -> String {
    match &node.value {
        Value::Text(text) => shown(text),
        _ => format!("agents[{index}]"),
    }
}

/// Reads what is declared, and warns of what does not go together.
fn fields(reader: &mut Reader<'_>, section: &mut Section, agent: &mut AgentConfig) {
    if let Some(node) = section.take_null("channels") {
        no_channels(reader, &node);
    }
    let [model, process, permissions] =
        ["model", "process", "permissions"].map(|key| section.place_of(key));
    let prompts = ["system_prompt", "system_prompt_file"].map(|key| section.place_of(key));
    agent.take(reader, section);
    if let [Some(_), Some(place)] = prompts {
        reader.fault_help(
            place,
            "`system_prompt` and `system_prompt_file` are both set",
            "keep one",
        );
    }
    let bare = agent.model.as_ref().is_some_and(|model| !model.contains('/'));
    let backend = agent.agent.as_ref().map_or("", Backend::as_str);
    if let Some(place) = model.filter(|_| bare && Backend::PROVIDER_FIRST.contains(&backend)) {
        reader.warn(
            place,
            format!("the model of an `{backend}` agent needs its provider first"),
            Some("such as `anthropic/claude-sonnet-4-6`".into()),
        );
    }
    if let (Some(place), Some(backend), Process::PerTurn) =
        (process, other_than_claude(agent), agent.process)
    {
        reader.warn(
            place,
            format!("`process: per_turn` has no effect for `agent: {backend}`"),
            Some("only `claude` can run one process for each turn".into()),
        );
    }
    if let Some(place) = permissions.filter(|_| agent.is_in_terminal()) {
        let (message, help) = NOTHING_ASKS;
        reader.warn(place, message, Some(help.to_owned()));
    }
}

/// Reads a program and its arguments.
pub(super) fn command(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Vec<String>> {
    let place = node.place;
    let command = reader.texts(key, node)?;
    if command.is_empty() {
        reader.fault(place, format!("`{key}` is empty"));
    }
    Some(command)
}

/// Reads variables of the environment.
pub(super) fn env(
    reader: &mut Reader<'_>,
    key: &str,
    node: Node,
) -> Option<BTreeMap<String, String>> {
    let place = node.place;
    let env = reader.text_map(key, node)?;
    for name in env.keys().filter(|name| !is_variable(name)) {
        reader.fault(place, format!("`{}` is not a variable's name", shown(name)));
    }
    Some(env)
}

/// Reads a limit of turns that is not above the installation's.
fn lower(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<u32> {
    let most = reader.turns_per_cause;
    let turns = reader.integer(key, node, 1..=TURNS_PER_CAUSE_MAX)?;
    if turns > most {
        reader.fault_help(
            node.place,
            format!("`turns_per_cause` of an agent may lower the limit of {most}, not raise it"),
            "raise `turns_per_cause` at the top of the file, for all agents",
        );
    }
    Some(turns)
}

/// What is said of `permissions` where no tool is asked about.
const NOTHING_ASKS: (&str, &str) = (
    "`permissions` has no effect in a terminal: nothing is asked there",
    "leave it out; everybody who may prompt this agent has its shell: `prompt: owners` (the default) or \
     `members`",
);

/// Returns the built-in backend that is surely not Claude Code.
fn other_than_claude(agent: &AgentConfig) -> Option<&str> {
    let named = agent.agent.as_ref()?.as_str();
    (named != "claude" && Backend::BUILT_IN.contains(&named)).then_some(named)
}

/// What is left belongs to the backend (R0-64), unless it is a slip of the finger.
fn pass_through(reader: &mut Reader<'_>, mut section: Section, agent: &mut AgentConfig) {
    if let Some(node) = section.take("extra")
        && let Some(extra) = reader.section("extra", node)
    {
        for (key, node) in extra.entries {
            let json = reader.json(&key.text, node);
            agent.extra.insert(key.text, json);
        }
    }
    let known = AgentConfig::KEYS.known;
    for (key, node) in section.entries {
        if reader.refuse_secret(&key) {
            continue;
        }
        if let Some(near) = nearest(&key.text, known.iter().copied(), edits(&key.text)) {
            reader.fault_help(
                key.place,
                format!("unknown key `{}`: did you mean `{near}`?", shown(&key.text)),
                "if the backend really has a field of this name, write it under `extra:`",
            );
            continue;
        }
        let json = reader.json(&key.text, node);
        if agent.extra.insert(key.text.clone(), json).is_some() {
            let message = format!("`{}` appears here and under `extra:`", shown(&key.text));
            reader.fault(key.place, message);
        }
    }
}

/// Foreign fields are legal here, so only a very near miss is a slip.
pub(super) fn edits(key: &str) -> usize {
    if key.chars().count() >= 8 { 2 } else { 1 }
}

fn no_channels(reader: &mut Reader<'_>, node: &Node) {
    let help = bare_channel(reader.source(), node.place).unwrap_or_else(|| {
        "write `channels: []` for none, or leave the key out for \"#general\"".to_owned()
    });
    reader.fault_help(node.place, "`channels` is empty", help);
}

fn channels(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Vec<ChannelName>> {
    let items = reader.list(key, node)?;
    let mut channels: Vec<ChannelName> = Vec::new();
    for item in &items {
        let Some(channel) = reader.parsed::<ChannelName>("an item of `channels`", item) else {
            continue;
        };
        if channels.contains(&channel) {
            reader.warn(item.place, format!("channel `{channel}` appears twice"), None);
        } else {
            channels.push(channel);
        }
    }
    Some(channels)
}

fn compaction(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<Compaction> {
    if is_off(node) { Some(Compaction::Off) } else { reader.word(key, node) }
}

fn restart_note(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<RestartNote> {
    if is_off(node) { Some(RestartNote::Off) } else { reader.word(key, node) }
}

/// Returns whether the value is the word `off`, which YAML takes for a truth value.
fn is_off(node: &Node) -> bool {
    matches!(node.value, Value::Bool(false))
}
