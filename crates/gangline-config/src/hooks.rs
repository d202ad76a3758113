//! `hooks` and `gastown`: what Gas Town's tools are told of an agent (R3-09 … R3-11).

use super::{
    declared::{plain, section},
    node::Node,
    reader::Reader,
    schema,
};
use gangline_core::hook::HookEvent;

section! {
    /// `hooks`: a program to run on an agent's events, with a JSON object on its standard input (R3-10,
    /// R3-11).
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Hooks(command: Vec<String> = Vec::new()) |reader, key, node| {
        /// The program and its arguments; looked for on the agent's PATH.
        pub command: Vec<String> = command => reader.texts(key, node),
        /// The events to run it on; absent = all of them.
        #[schemars(with = "Vec<schema::HookEvents>")]
        pub events: Vec<HookEvent> = HookEvent::ALL.to_vec() => reader.words(key, node),
        /// The seconds after which it is killed, 1 to 600.
        pub timeout_seconds: u64 = 10 => reader.integer(key, &node, 1..=600),
    }
}

section! {
    /// `gastown`: Gas Town's names for an agent. Each becomes a variable in its environment.
    #[derive(Eq)]
    #[schemars(deny_unknown_fields)]
    pub struct Gastown() |reader, key, node| {
        /// `GT_ROLE`, such as `rig/crew/name`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub role: Option<String> = None => reader.text(key, &node).map(Some),
        /// `GT_RIG`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rig: Option<String> = None => reader.text(key, &node).map(Some),
        /// `GT_POLECAT`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub polecat: Option<String> = None => reader.text(key, &node).map(Some),
        /// The bead that it works on; only hooks get it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub bead: Option<String> = None => reader.text(key, &node).map(Some),
        /// `BD_ACTOR`; absent = its nick.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub actor: Option<String> = None => reader.text(key, &node).map(Some),
    }
}

/// Reads `hooks`.
pub(super) fn hooks(reader: &mut Reader<'_>, key: &str, node: Node) -> Option<Hooks> {
    let place = node.place;
    let hooks: Hooks = plain(reader, key, node)?;
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
