//! Pieces of a file of culture's, read and made where both its sections and its agents need them.

use super::{
    super::{
        error::{Place, shown},
        node::{Key, Node, Value},
        reader::Section,
    },
    note::Draft,
};

const POLLING: &str = "channels are not polled: an agent wakes when it is addressed";
pub(super) const LINKS: &str = "servers are not linked";

/// What has no counterpart here, and why.
pub(super) const NOT_TAKEN: &[(&str, &str)] = &[
    ("telemetry", "Gangline sends no traces and no metrics"),
    ("presence", "an agent's lock says whether it runs"),
    ("attention", POLLING),
    ("poll_interval", POLLING),
    ("system_bots", "Gangline has no bots"),
    ("links", LINKS),
    ("webhook_port", "Gangline has no bots that receive webhooks"),
    ("data_dir", "data is in the state folder; `state` or --state names another"),
];

/// Returns a text as a node at a place.
pub(super) fn text(text: impl Into<String>, place: Place) -> Node {
    Node { value: Value::Text(text.into()), place }
}

/// Returns a key at a place.
pub(super) fn key(text: &str, place: Place) -> Key {
    Key { text: text.to_owned(), place }
}

/// Takes an entry whose value is not empty: `key:` and `key: ""` say nothing in culture.
pub(super) fn take(section: &mut Section, name: &str) -> Option<(Key, Node)> {
    let index = section.entries.iter().position(|(key, _)| key.text == name)?;
    let entry = section.entries.remove(index);
    let says = match &entry.1.value {
        Value::Null => false,
        Value::Text(text) => !text.trim().is_empty(),
        _ => true,
    };
    says.then_some(entry)
}

/// Returns a key, with its value where that is short and no secret.
pub(super) fn said(name: &str, node: &Node) -> String {
    match &node.value {
        Value::Bool(value) => format!("{name}: {value}"),
        Value::Integer(value) => format!("{name}: {value}"),
        Value::Text(value) if NOT_TAKEN.iter().any(|(known, _)| *known == name) => {
            format!("{name}: {}", shown(value))
        }
        _ => name.to_owned(),
    }
}

/// Returns a channel with its #.
pub(super) fn channel(draft: &mut Draft<'_>, node: Node) -> Node {
    match &node.value {
        Value::Text(name) if !name.starts_with('#') => {
            let whole = format!("#{name}");
            draft.changed(node.place, &format!("channel `{}`", shown(name)), "a # goes in front");
            text(whole, node.place)
        }
        _ => node,
    }
}
