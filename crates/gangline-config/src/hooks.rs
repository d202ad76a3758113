//! `hooks` and `gastown`: what Gas Town's tools are told of an agent (R3-09 … R3-11).

use gangline_core::hook::HookEvent;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    reader::{Keys, Reader, Section},
    schema,
    value::set,
};

pub(super) const HOOKS: Keys =
    Keys { known: &["command", "events", "timeout_seconds"], ignored: &[] };
pub(super) const GASTOWN: Keys =
    Keys { known: &["role", "rig", "polecat", "bead", "actor"], ignored: &[] };

/// `hooks`: a program to run on an agent's events, with a JSON object on its standard input (R3-10,
/// R3-11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Hooks {
    /// The program and its arguments; looked for on the agent's PATH.
    pub command: Vec<String>,
    /// The events to run it on; absent = all of them.
    #[schemars(with = "Vec<schema::HookEvents>", default = "all_events")]
    pub events: Vec<HookEvent>,
    /// The seconds after which it is killed, 1 to 600.
    #[schemars(default = "default_timeout")]
    pub timeout_seconds: u64,
}

/// `gastown`: Gas Town's names for an agent. Each becomes a variable in its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Gastown {
    /// `GT_ROLE`, such as `rig/crew/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// `GT_RIG`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rig: Option<String>,
    /// `GT_POLECAT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polecat: Option<String>,
    /// The bead that it works on; only hooks get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bead: Option<String>,
    /// `BD_ACTOR`; absent = its nick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

fn all_events() -> Vec<HookEvent> {
    HookEvent::ALL.to_vec()
}

fn default_timeout() -> u64 {
    10
}

pub(super) fn hooks(reader: &mut Reader<'_>, mut section: Section) -> Option<Hooks> {
    let place = section.place;
    let mut hooks =
        Hooks { command: Vec::new(), events: all_events(), timeout_seconds: default_timeout() };
    if let Some(node) = section.take("command") {
        set(&mut hooks.command, reader.texts("command", node));
    }
    if let Some(node) = section.take("events")
        && let Some(items) = reader.list("events", node)
    {
        hooks.events =
            items.iter().filter_map(|item| reader.word("an item of `events`", item)).collect();
    }
    if let Some(node) = section.take("timeout_seconds") {
        set(&mut hooks.timeout_seconds, reader.integer("timeout_seconds", &node, 1..=600));
    }
    reader.nothing_else("hooks", section, &HOOKS);
    if hooks.command.is_empty() {
        reader.fault_help(
            place,
            "`hooks` needs a `command`",
            "a list of words: [program, argument]",
        );
        return None;
    }
    Some(hooks)
}

pub(super) fn gastown(reader: &mut Reader<'_>, mut section: Section) -> Gastown {
    let mut names = Gastown::default();
    for (key, field) in [
        ("role", &mut names.role),
        ("rig", &mut names.rig),
        ("polecat", &mut names.polecat),
        ("bead", &mut names.bead),
        ("actor", &mut names.actor),
    ] {
        if let Some(node) = section.take(key) {
            *field = reader.text(key, &node);
        }
    }
    reader.nothing_else("gastown", section, &GASTOWN);
    names
}
