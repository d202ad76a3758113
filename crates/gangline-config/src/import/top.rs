//! The sections of a file of culture's, put in Gangline's words. Places stay those of the source,
//! so that the reader of Gangline's own file can say what is wrong with them.

use std::net::IpAddr;

use gangline_core::hook::WebhookEvent;

use super::{
    super::{
        Config, Watcher,
        declared::Declared,
        error::{Place, shown},
        node::{Key, Node, Value},
        reader::Section,
    },
    Shape,
    agent::{self, Word},
    note::Draft,
    piece::{LINKS, NOT_TAKEN, channel, key, said, take, text},
};

/// A file's sections in Gangline's words.
#[derive(Default)]
pub(super) struct Sections {
    /// Keys of Gangline's top level, the agents aside.
    pub(super) entries: Vec<(Key, Node)>,
    /// The items of a list of agents.
    pub(super) agents: Vec<Node>,
    /// `agents: {suffix: directory}`.
    pub(super) manifest: Vec<(Key, Node)>,
    /// A key of `entries` that is our conclusion and not in the file.
    pub(super) derived: Option<&'static str>,
    /// Whether all of it was put into the archive.
    pub(super) archived: bool,
}

/// Reads the server's name, when there is one. Not taken out.
pub(super) fn server_name(root: &Section) -> Option<(String, Place)> {
    let server = &root.entries.iter().find(|(key, _)| key.text == "server")?.1;
    let Value::Map(entries) = &server.value else { return None };
    let name = &entries.iter().find(|(key, _)| key.text == "name")?.1;
    match &name.value {
        Value::Text(text) if !text.trim().is_empty() => Some((text.clone(), name.place)),
        _ => None,
    }
}

/// Translates all sections of a file.
pub(super) fn translate(draft: &mut Draft<'_>, mut root: Section, shape: Shape) -> Sections {
    let mut out = Sections::default();
    match root.entries.iter().position(|(key, _)| key.text == "agents") {
        Some(index) => match root.entries.remove(index).1.value {
            Value::Map(entries) => out.manifest = entries,
            Value::List(items) => out.agents = items,
            Value::Null => {}
            other => {
                let message = format!("`agents` must be a list or a mapping, not {}", other.kind());
                draft.reader.fault(root.place, message);
            }
        },
        None if matches!(shape, Shape::Folder) => {
            // A flat culture.yaml: the file is the agent.
            let entries = std::mem::take(&mut root.entries);
            out.agents.push(Node { value: Value::Map(entries), place: root.place });
        }
        None => {}
    }
    if let Some((at, node)) = take(&mut root, "server") {
        server(draft, (at, node), shape, &mut out);
    }
    if let Some((at, node)) = take(&mut root, "supervisor") {
        out.entries.extend(supervisor(draft, at, node));
    }
    if let Some((at, node)) = take(&mut root, "webhooks") {
        out.entries.extend(webhooks(draft, at, node));
    }
    if let Some((at, node)) = take(&mut root, "buffer_size")
        && let Some(node) = within(draft, "buffer_size", node, (1, 100_000))
    {
        out.entries.push((at, node));
    }
    sleep(draft, &mut root);
    rest(draft, root, &mut out);
    out
}

/// One of the two hours alone is not taken: nobody said when the sleep begins or ends.
fn sleep(draft: &mut Draft<'_>, root: &mut Section) {
    let hours = ["sleep_start", "sleep_end"];
    let said_here = |root: &Section, name| root.entries.iter().any(|(key, _)| key.text == name);
    let [start, end] = hours.map(|name| said_here(root, name));
    if start == end {
        return;
    }
    for name in hours {
        if let Some((at, node)) = take(root, name) {
            let why = "`sleep_start` and `sleep_end` belong together: write both";
            draft.dropped(at.place, &said(name, &node), why);
        }
    }
}

/// What is left: known and without counterpart, Gangline's own, or unknown.
fn rest(draft: &mut Draft<'_>, mut root: Section, out: &mut Sections) {
    for (name, why) in NOT_TAKEN {
        if let Some((at, node)) = take(&mut root, name) {
            draft.dropped(at.place, &said(name, &node), why);
        }
    }
    for (at, node) in root.entries {
        if Config::KEYS.known.contains(&at.text.as_str()) {
            // What is written outweighs what was derived.
            out.entries.retain(|(known, _)| known.text != at.text);
            out.derived = out.derived.filter(|derived| *derived != at.text);
            out.entries.push((at, node));
        } else {
            unknown(draft, &at, "");
        }
    }
}

fn unknown(draft: &mut Draft<'_>, at: &Key, within: &str) {
    let what = format!("`{within}{}`", shown(&at.text));
    draft.dropped(at.place, &what, "this key is not known");
}

fn server(draft: &mut Draft<'_>, (at, node): (Key, Node), shape: Shape, out: &mut Sections) {
    let place = node.place;
    let Some(mut server) = draft.reader.section("server", node) else { return };
    let mut entries = Vec::new();
    entries.extend(take(&mut server, "name"));
    if let Some((at, node)) = take(&mut server, "host") {
        let elsewhere = host(draft, at, node, shape);
        if elsewhere.as_ref().is_some_and(|(_, node)| !is_loopback(node)) {
            let off = Node { value: Value::Bool(false), place };
            let network = vec![(key("embedded", place), off)];
            out.entries.push((key("network", place), Node { value: Value::Map(network), place }));
            out.derived = Some("network");
        }
        entries.extend(elsewhere);
    }
    entries.extend(take(&mut server, "port"));
    if let Some((at, node)) = take(&mut server, "links") {
        draft.dropped(at.place, &format!("server.links{}", link_names(&node)), LINKS);
    }
    if let Some((at, node)) = take(&mut server, "archived")
        && matches!(node.value, Value::Bool(true))
    {
        out.archived = true;
        let why = "each of its agents is written with `enabled: false`";
        draft.changed(at.place, "the server is archived", why);
    }
    for of_archive in ["archived_at", "archived_reason"] {
        let _ = take(&mut server, of_archive);
    }
    server.entries.iter().for_each(|(at, _)| unknown(draft, at, "server."));
    out.entries.push((at, Node { value: Value::Map(entries), place }));
}

/// Returns the host to join; none where the default is meant.
fn host(draft: &mut Draft<'_>, at: Key, node: Node, shape: Shape) -> Option<(Key, Node)> {
    let Value::Text(host) = &node.value else { return Some((at, node)) };
    let ip = host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    if ip.is_some_and(|ip| ip.is_unspecified()) || shape == Shape::Mesh {
        let why = "Gangline's own server listens for this machine only: localhost";
        draft.changed(at.place, &format!("server.host: {}", shown(host)), why);
        return None;
    }
    if !is_loopback(&node) {
        let why = "the server is on another machine, so `network: {embedded: false}` is written. \
                   People there are strangers to the agents, and start no turn, unless they have \
                   accounts or `network.trust_nicks` says otherwise";
        draft.changed(at.place, &format!("server.host: {}", shown(host)), why);
    }
    Some((at, node))
}

fn is_loopback(node: &Node) -> bool {
    let Value::Text(host) = &node.value else { return true };
    let ip = host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    host.eq_ignore_ascii_case("localhost") || ip.is_some_and(|ip| ip.is_loopback())
}

/// Returns the names of linked servers: nothing else of a link, since that may be a password.
fn link_names(node: &Node) -> String {
    let Value::List(items) = &node.value else { return String::new() };
    let name = |item: &Node| match &item.value {
        Value::Map(entries) => entries.iter().find_map(|(key, node)| match &node.value {
            Value::Text(text) if key.text == "name" => Some(shown(text)),
            _ => None,
        }),
        _ => None,
    };
    let names: Vec<String> = items.iter().filter_map(name).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn supervisor(draft: &mut Draft<'_>, at: Key, node: Node) -> Option<(Key, Node)> {
    let place = node.place;
    let mut section = draft.reader.section("supervisor", node)?;
    let mut entries = Vec::new();
    if let Some((at, node)) = take(&mut section, "agent") {
        let ours = |word: &str| [Watcher::RULES, Watcher::OFF].contains(&word);
        match agent::backend_word(&node) {
            Word::Backend(word) => entries.push((at, text(word, node.place))),
            Word::Unknown(word) if ours(&word) => entries.push((at, node)),
            Word::Unknown(unknown) => {
                let why = format!("there is no backend `{unknown}`: the supervisor uses claude");
                draft.dropped(at.place, "supervisor.agent", &why);
            }
            Word::NoText => entries.push((at, node)),
        }
    }
    for name in ["model", "thinking", "prompt", "command", "base_url", "api_key_env", "env"] {
        entries.extend(take(&mut section, name));
    }
    for (name, most) in
        [("window_size", 1000), ("eval_interval", 1000), ("escalation_threshold", 100)]
    {
        if let Some((at, node)) = take(&mut section, name)
            && let Some(node) = within(draft, &format!("supervisor.{name}"), node, (1, most))
        {
            entries.push((at, node));
        }
    }
    if let Some((at, node)) = take(&mut section, "prompt_override") {
        entries.push((key("prompt", at.place), node));
    }
    section.entries.iter().for_each(|(at, _)| unknown(draft, at, "supervisor."));
    Some((at, Node { value: Value::Map(entries), place }))
}

fn webhooks(draft: &mut Draft<'_>, at: Key, node: Node) -> Option<(Key, Node)> {
    let place = node.place;
    let mut section = draft.reader.section("webhooks", node)?;
    let mut entries = Vec::new();
    entries.extend(take(&mut section, "url"));
    let silent = section.entries.iter().any(|(key, node)| {
        key.text == "irc_channel"
            && match &node.value {
                Value::Null => true,
                Value::Text(text) => text.trim().is_empty(),
                _ => false,
            }
    });
    match take(&mut section, "irc_channel") {
        Some((at, node)) => entries.push((at, channel(draft, node))),
        None if silent => {
            entries.push((key("irc_channel", place), Node { value: Value::Null, place }));
        }
        None => {}
    }
    if let Some((at, node)) = take(&mut section, "events") {
        entries.push((at, events(draft, node)));
    }
    section.entries.iter().for_each(|(at, _)| unknown(draft, at, "webhooks."));
    Some((at, Node { value: Value::Map(entries), place }))
}

fn events(draft: &mut Draft<'_>, node: Node) -> Node {
    let place = node.place;
    let Value::List(items) = node.value else { return node };
    let mut known = Vec::new();
    for item in items {
        match &item.value {
            Value::Text(text) if WebhookEvent::ALL.iter().all(|event| event.as_str() != text) => {
                let why = "there is no such event";
                draft.dropped(item.place, &format!("webhooks.events: `{}`", shown(text)), why);
            }
            _ => known.push(item),
        }
    }
    Node { value: Value::List(known), place }
}

/// Returns a whole number if it lies within the bounds; one that does not is left out, and the
/// default holds.
fn within(
    draft: &mut Draft<'_>,
    name: &str,
    node: Node,
    (least, most): (i128, i128),
) -> Option<Node> {
    match node.value {
        Value::Integer(number) if !(least..=most).contains(&number) => {
            let why = format!("{number} is not from {least} to {most}: the default applies");
            draft.changed(node.place, name, &why);
            None
        }
        _ => Some(node),
    }
}
