//! `supervisor`: who watches the agents' turns, and how closely (R0-30 … R0-34).

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Backend, OnEscalation, agent, backend,
    declared::{self, section},
    node::{Node, Value},
    reader::Reader,
    value::{thinking, url, variable},
};

/// The model of a supervisor that is Claude Code, where the file names none (R0-33).
pub const CLAUDE_MODEL: &str = "claude-sonnet-4-6";

/// Who watches the agents' turns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String")]
pub enum Watcher {
    /// Nobody.
    Off,
    /// Rules, which ask no model and cost nothing. The default of a file that has no `supervisor`
    /// section.
    #[default]
    Rules,
    /// Rules, and a model behind this backend. The default of a `supervisor` section is `claude`.
    Model(Backend),
}

impl Watcher {
    /// The word for nobody.
    pub const OFF: &str = "off";
    /// The word for rules alone.
    pub const RULES: &str = "rules";

    /// Returns the word of the file.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Off => Self::OFF,
            Self::Rules => Self::RULES,
            Self::Model(backend) => backend.as_str(),
        }
    }
}

impl fmt::Display for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Watcher> for String {
    fn from(watcher: Watcher) -> Self {
        watcher.as_str().to_owned()
    }
}

section! {
    /// `supervisor`: the watcher of the agents' turns (R0-30 … R0-34).
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Supervisor() |reader, key, node| {
        /// Who watches: a backend, `rules` (no model, no costs) or `off`. Without a `supervisor` section
        /// it is `rules`; in a section that does not name it, `claude`.
        pub agent: Watcher = Watcher::Rules => watcher(reader, &node),
        /// The model it thinks with; absent = `claude-sonnet-4-6` for `claude`, the backend's own for
        /// others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub model: Option<String> = None => reader.text(key, &node).map(Some),
        /// How much it thinks.
        pub thinking: String = "medium".into() => thinking(reader, &node),
        /// The number of turns that it looks back at, 1 to 1000.
        pub window_size: u32 = 20 => reader.integer(key, &node, 1..=1000),
        /// The number of turns between two looks, 1 to 1000.
        pub eval_interval: u32 = 5 => reader.integer(key, &node, 1..=1000),
        /// The number of failed corrections in a row that become an escalation, 1 to 100.
        pub escalation_threshold: u32 = 3 => reader.integer(key, &node, 1..=100),
        /// What an escalation does to the agent (C1).
        pub on_escalation: OnEscalation = OnEscalation::Hold => reader.word(key, &node),
        /// Text that replaces the supervisor's prompt (R1-36).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prompt: Option<String> = None => reader.text(key, &node).map(Some),
        /// The program of its backend, with arguments; absent = the agent's, if both have the same
        /// backend, else the usual one.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub command: Option<Vec<String>> = None => agent::command(reader, key, node).map(Some),
        /// The address of its model, where the backend lets it be chosen; absent = as for `command`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub base_url: Option<String> = None => url(reader, key, &node).map(Some),
        /// The environment variable that holds the key for its model; absent = as for `command`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub api_key_env: Option<String> = None => variable(reader, key, &node).map(Some),
        /// Variables added to its backend's environment.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub env: BTreeMap<String, String> = BTreeMap::new() => agent::env(reader, key, node),
    }
}

impl Supervisor {
    /// Returns the model that the file wants; `None` = the backend's own.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        let usual = || match &self.agent {
            Watcher::Model(backend) if backend.as_str() == Backend::SEEDS_DEFAULT => {
                Some(CLAUDE_MODEL)
            }
            Watcher::Model(_) | Watcher::Rules | Watcher::Off => None,
        };
        self.model.as_deref().or_else(usual)
    }
}

/// Reads the section. One that is there and names nobody has asked for the seed's supervisor.
pub(super) fn read(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Supervisor> {
    let mut section = reader.section(key, node)?;
    let said = section.place_of("agent");
    // The other programs' name of the prompt.
    let other = section.take("prompt_override");
    let has_own = section.place_of("prompt").is_some();
    let of_a_model = OF_A_MODEL.map(|key| (key, section.place_of(key)));
    let mut supervisor: Supervisor = declared::read(reader, key, section)?;
    let blank = |node: &Node| matches!(&node.value, Value::Text(text) if text.trim().is_empty());
    if let Some(node) = other.filter(|node| !blank(node))
        && let Some(text) = reader.text("prompt_override", &node)
    {
        match has_own {
            true => reader.warn(
                node.place,
                "`prompt_override` has no effect beside `prompt`",
                Some("remove one of them".into()),
            ),
            false => supervisor.prompt = Some(text),
        }
    }
    match (said, &supervisor.agent) {
        (None, _) => supervisor.agent = Backend::SEEDS_DEFAULT.parse().map(Watcher::Model).ok()?,
        (Some(place), Watcher::Model(backend)) => {
            if let Some((message, help)) = backend::unknown(reader, backend, None) {
                reader.fault_help(place, message, format!("rules, off, or {help}"));
            }
        }
        (Some(_), Watcher::Off | Watcher::Rules) => {
            for (key, place) in of_a_model {
                let Some(place) = place else { continue };
                let help = "remove it, or name a backend in `agent`";
                reader.warn(
                    place,
                    format!("`{key}` has no effect: no model watches"),
                    Some(help.into()),
                );
            }
        }
    }
    Some(supervisor)
}

/// The keys that are for a model alone.
const OF_A_MODEL: [&str; 5] = ["model", "prompt", "command", "base_url", "api_key_env"];

fn watcher(reader: &mut Reader<'_>, node: &Node) -> Option<Watcher> {
    match &node.value {
        // `off` is a word here, whatever YAML makes of it.
        Value::Bool(false) => Some(Watcher::Off),
        Value::Text(word) if word == Watcher::OFF => Some(Watcher::Off),
        Value::Text(word) if word == Watcher::RULES => Some(Watcher::Rules),
        _ => backend::read(reader, node).map(Watcher::Model),
    }
}
