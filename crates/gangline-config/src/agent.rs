//! One item of `agents`.

use std::{collections::BTreeMap, path::PathBuf};

use gangline_core::{
    name::{AgentName, ChannelName},
    permission::Permissions,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Backend, Compaction, Gastown, Hooks, McpServerConfig, MentionWhenBusy, OnCrash, Process,
    Progress, PromptBy, ReplyMode, Thinking, backend,
    error::{Place, shown},
    hooks, mcp,
    nearest::nearest,
    node::{Node, Value, bare_channel},
    reader::{Reader, Section},
    schema, usual,
    value::{TURNS_PER_CAUSE_MAX, WATERMARK_MAX, is_variable, set, thinking, url, variable},
};

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

/// The keys of an agent that mean something to us; all others pass through.
pub(super) const KEYS: &[&str] = &[
    "nick",
    "agent",
    "directory",
    "channels",
    "model",
    "thinking",
    "tags",
    "acp_command",
    "command",
    "account_dir",
    "system_prompt",
    "turn_timeout_seconds",
    "permissions",
    "allowed_tools",
    "prompt",
    "mcp_servers",
    "mcp_servers_file",
    "reply",
    "progress",
    "mention_when_busy",
    "on_crash",
    "compaction",
    "compact_watermark",
    "max_attempts",
    "turns_per_cause",
    "base_url",
    "api_key_env",
    "env",
    "process",
    "initial_prompt",
    "operator_pronouns",
    "gastown",
    "hooks",
    "enabled",
    "extra",
];

/// Reads one agent; `None` if it has no usable nick. The place is that of the nick.
pub(super) fn read(
    reader: &mut Reader<'_>,
    node: Node,
    index: usize,
    server: &str,
) -> Option<(AgentConfig, Place)> {
    let mut section = reader.section(&format!("agents[{index}]"), node)?;
    let nick = section.take("nick");
    let directory = section.take("directory");
    let name = nick.as_ref().map_or_else(|| format!("agents[{index}]"), |node| label(node, index));
    if nick.is_none() {
        reader.fault(section.place, format!("`{name}` needs a `nick`"));
    }
    if directory.is_none() {
        reader.fault(section.place, format!("`{name}` needs a `directory`"));
    }
    let parsed: Option<AgentName> = nick.as_ref().and_then(|node| reader.parsed("nick", node));
    let directory = directory.and_then(|node| reader.text("directory", &node)).map(PathBuf::from);
    let place = nick.map_or(section.place, |node| node.place);
    // A stand-in lets the rest of the item be checked too; its fault is recorded.
    let known = parsed.clone().or_else(|| "spark-unnamed".parse().ok())?;
    let mut agent = AgentConfig::new(known, directory.unwrap_or_default());
    set(&mut agent.operator_pronouns, reader.environment.operator_pronouns.clone());
    set(&mut agent.compact_watermark, reader.environment.compact_watermark);
    let said = section.take("agent");
    agent.agent = said.as_ref().and_then(|node| backend::read(reader, node));
    fields(reader, &mut section, &mut agent);
    rights(reader, &mut section, &mut agent);
    pass_through(reader, section, &mut agent);
    if let (Some(node), Some(named)) = (&said, &agent.agent)
        && let Some((message, help)) = backend::unknown(reader, named, Some(&agent.directory))
    {
        match agent.enabled {
            true => reader.fault_help(node.place, message, help),
            false => reader.warn(node.place, message, Some(help)),
        }
    }
    parsed?;
    if !agent.nick.as_str().starts_with(&format!("{server}-")) {
        reader.warn(
            place,
            format!("nick `{}` does not begin with the server's name `{server}-`", agent.nick),
            Some(format!("other agents and clients expect `{server}-{}`", agent.nick.short())),
        );
    }
    Some((agent, place))
}

fn label(node: &Node, index: usize) -> String {
    match &node.value {
        Value::Text(text) => shown(text),
        _ => format!("agents[{index}]"),
    }
}

fn fields(reader: &mut Reader<'_>, section: &mut Section, agent: &mut AgentConfig) {
    if let Some(node) = section.take_even_null("channels") {
        set(&mut agent.channels, channels(reader, node));
    }
    if let Some(node) = section.take("model") {
        agent.model = reader.text("model", &node);
        let bare = agent.model.as_ref().is_some_and(|model| !model.contains('/'));
        let backend = agent.agent.as_ref().map_or("", Backend::as_str);
        if Backend::PROVIDER_FIRST.contains(&backend) && bare {
            reader.warn(
                node.place,
                format!("the model of an `{backend}` agent needs its provider first"),
                Some("such as `anthropic/claude-sonnet-4-6`".into()),
            );
        }
    }
    if let Some(node) = section.take("thinking") {
        set(&mut agent.thinking, thinking(reader, &node).map(Thinking::Said));
    }
    if let Some(node) = section.take("tags") {
        set(&mut agent.tags, reader.texts("tags", node));
    }
    program(reader, section, agent);
    life(reader, section, agent);
}

/// Reads what starts the backend's program, and with what.
fn program(reader: &mut Reader<'_>, section: &mut Section, agent: &mut AgentConfig) {
    if let Some(node) = section.take("acp_command") {
        let place = node.place;
        let command = reader.texts("acp_command", node);
        if command.as_ref().is_some_and(Vec::is_empty) {
            reader.fault(place, "`acp_command` is empty");
        }
        set(&mut agent.acp_command, command);
    }
    if let Some(node) = section.take("command") {
        let place = node.place;
        agent.command = reader.texts("command", node);
        if agent.command.as_ref().is_some_and(Vec::is_empty) {
            reader.fault(place, "`command` is empty");
        }
    }
    if let Some(node) = section.take("account_dir") {
        agent.account_dir = reader.text("account_dir", &node).map(PathBuf::from);
    }
    if let Some(node) = section.take("system_prompt") {
        agent.system_prompt = reader.text("system_prompt", &node);
    }
    if let Some(node) = section.take("turn_timeout_seconds") {
        let read = reader.seconds("turn_timeout_seconds", &node, 604_800);
        set(&mut agent.turn_timeout_seconds, read);
    }
    if let Some(node) = section.take("base_url") {
        agent.base_url = url(reader, "base_url", &node);
    }
    if let Some(node) = section.take("api_key_env") {
        agent.api_key_env = variable(reader, "api_key_env", &node);
    }
    if let Some(node) = section.take("env") {
        let place = node.place;
        set(&mut agent.env, reader.text_map("env", node));
        for name in agent.env.keys().filter(|name| !is_variable(name)) {
            reader.fault(place, format!("`{}` is not a variable's name", shown(name)));
        }
    }
}

/// Reads when the program runs, and what it is told at its start.
fn life(reader: &mut Reader<'_>, section: &mut Section, agent: &mut AgentConfig) {
    if let Some(node) = section.take("process") {
        set(&mut agent.process, reader.word("process", &node));
        if let Some(backend) = other_than_claude(agent)
            && agent.process == Process::PerTurn
        {
            reader.warn(
                node.place,
                format!("`process: per_turn` has no effect for `agent: {backend}`"),
                Some("only `claude` can run one process for each turn".into()),
            );
        }
    }
    if let Some(node) = section.take("initial_prompt") {
        agent.initial_prompt = reader.text("initial_prompt", &node);
    }
    if let Some(node) = section.take("operator_pronouns") {
        set(&mut agent.operator_pronouns, reader.text("operator_pronouns", &node));
    }
    if let Some(node) = section.take("gastown")
        && let Some(section) = reader.section("gastown", node)
    {
        agent.gastown = hooks::gastown(reader, section);
    }
    if let Some(node) = section.take("hooks") {
        let section = reader.section("hooks", node);
        agent.hooks = section.and_then(|section| hooks::hooks(reader, section));
    }
    if let Some(node) = section.take("enabled") {
        set(&mut agent.enabled, reader.boolean("enabled", &node));
    }
}

fn rights(reader: &mut Reader<'_>, section: &mut Section, agent: &mut AgentConfig) {
    if let Some(node) = section.take("permissions") {
        if agent.is_in_terminal() {
            let (message, help) = NOTHING_ASKS;
            reader.warn(node.place, message, Some(help.to_owned()));
        }
        set(&mut agent.permissions, reader.word("permissions", &node));
    }
    if let Some(node) = section.take("prompt") {
        agent.prompt = reader.word("prompt", &node);
    }
    if let Some(node) = section.take("allowed_tools") {
        set(&mut agent.allowed_tools, reader.texts("allowed_tools", node));
    }
    if let Some(node) = section.take("mcp_servers") {
        set(&mut agent.mcp_servers, mcp::servers(reader, "mcp_servers", node));
    }
    if let Some(node) = section.take("mcp_servers_file") {
        agent.mcp_servers_file = reader.text("mcp_servers_file", &node).map(PathBuf::from);
    }
    if let Some(node) = section.take("reply") {
        set(&mut agent.reply, reader.word("reply", &node));
    }
    if let Some(node) = section.take("progress") {
        set(&mut agent.progress, reader.word("progress", &node));
    }
    if let Some(node) = section.take("mention_when_busy") {
        set(&mut agent.mention_when_busy, reader.word("mention_when_busy", &node));
    }
    if let Some(node) = section.take("on_crash") {
        set(&mut agent.on_crash, reader.word("on_crash", &node));
    }
    if let Some(node) = section.take("compaction") {
        set(&mut agent.compaction, compaction(reader, &node));
    }
    if let Some(node) = section.take("compact_watermark") {
        let read = reader.number("compact_watermark", &node, WATERMARK_MAX);
        set(&mut agent.compact_watermark, read);
    }
    if let Some(node) = section.take("max_attempts") {
        set(&mut agent.max_attempts, reader.integer("max_attempts", &node, 1..=100));
    }
    if let Some(node) = section.take("turns_per_cause") {
        agent.turns_per_cause = lower(reader, &node);
    }
}

/// Reads a limit of turns that is not above the installation's.
fn lower(reader: &mut Reader<'_>, node: &Node) -> Option<u32> {
    let most = reader.turns_per_cause;
    let turns = reader.integer("turns_per_cause", node, 1..=TURNS_PER_CAUSE_MAX)?;
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
    for (key, node) in section.entries {
        if reader.refuse_secret(&key) {
            continue;
        }
        if let Some(near) = nearest(&key.text, KEYS.iter().copied(), edits(&key.text)) {
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

fn channels(reader: &mut Reader<'_>, node: Node) -> Option<Vec<ChannelName>> {
    if matches!(node.value, Value::Null) {
        let help = bare_channel(reader.source(), node.place);
        match help {
            Some(help) => reader.fault_help(node.place, "`channels` is empty", help),
            None => reader.fault_help(
                node.place,
                "`channels` is empty",
                "write `channels: []` for none, or leave the key out for \"#general\"",
            ),
        }
        return None;
    }
    let items = reader.list("channels", node)?;
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

fn compaction(reader: &mut Reader<'_>, node: &Node) -> Option<Compaction> {
    match node.value {
        // `off` is a word here too.
        Value::Bool(false) => Some(Compaction::Off),
        _ => reader.word("compaction", node),
    }
}
