//! A configuration written down for people: what differs from the defaults, in a good order.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::{
    super::{
        AgentConfig, Config, agent::edits, declared::Declared, nearest::nearest, reader::is_secret,
    },
    yaml,
};

/// Keys of an agent that are written even when they say the default.
const ALWAYS: [&str; 5] = ["nick", "agent", "directory", "channels", "permissions"];

const HEAD: &str = "\
# The fleet of this machine, as `gangline import` read it in culture's files.
# Check it after a change: gangline config check
";

const ASKING: &str = "\
# culture lets every agent do everything unasked (bypassPermissions). Here tools ask first:
# `permissions: ask`. `allowlist` gives an agent only the tools of `allowed_tools`, unasked;
# `bypass` lets everything run unasked, for an agent in a sandbox.
";

/// What is to be written.
pub(super) struct Document {
    /// The server's name.
    pub(super) server: String,
    /// The files it is from, fit to be shown.
    pub(super) files: Vec<String>,
    /// Whether an agent's permissions are an answer of ours.
    pub(super) asking: bool,
    /// Lines about what is not in it, fit to be shown.
    pub(super) comments: Vec<String>,
    /// Gangline's sections, the agents aside.
    pub(super) sections: BTreeMap<String, Json>,
    /// The agents.
    pub(super) items: Vec<Item>,
}

/// One agent to be written.
pub(super) struct Item {
    values: Map<String, Json>,
    comments: Vec<String>,
}

impl Item {
    pub(super) fn new(agent: &AgentConfig, comments: Vec<String>) -> Self {
        let default = AgentConfig::new(agent.nick.clone(), agent.directory.clone());
        let default = object(serde_json::to_value(default).ok());
        let mut values = object(serde_json::to_value(agent).ok());
        values
            .retain(|key, value| ALWAYS.contains(&key.as_str()) || default.get(key) != Some(value));
        if agent.is_in_terminal() {
            // Nothing is asked there.
            values.remove("permissions");
        }
        Self { values, comments }
    }
}

fn object(value: Option<Json>) -> Map<String, Json> {
    match value {
        Some(Json::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Returns the whole file.
pub(super) fn text(document: &Document) -> String {
    let mut out = String::from(HEAD);
    out.push_str("# Read, and left as they are:\n");
    document.files.iter().for_each(|file| out.push_str(&format!("#   {file}\n")));
    if document.asking {
        out.push_str("#\n");
        out.push_str(ASKING);
    }
    if !document.comments.is_empty() {
        out.push_str("#\n");
    }
    document.comments.iter().for_each(|line| out.push_str(&format!("# {line}\n")));
    sections(document, &mut out);
    out.push_str("\nagents:\n");
    for (index, item) in document.items.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        agent(item, &mut out);
    }
    out
}

fn sections(document: &Document, out: &mut String) {
    let defaults = object(serde_json::to_value(Config::default()).ok());
    let mut sections = document.sections.clone();
    let mut server = object(sections.remove("server"));
    server.insert("name".to_owned(), document.server.clone().into());
    out.push_str("\nserver:\n");
    let usual = object(defaults.get("server").cloned());
    for key in ["name", "host", "port"] {
        if let Some(value) = server.get(key).or_else(|| usual.get(key)) {
            out.push_str(&format!("  {key}:{}\n", yaml::value(value, 2)));
        }
    }
    for name in Config::KEYS.known.iter().filter(|name| **name != "agents") {
        let Some(value) = sections.get(*name) else { continue };
        let default = defaults.get(*name).cloned().unwrap_or(Json::Null);
        section(name, value, &default, out);
    }
}

/// Writes what a section says otherwise than its default.
fn section(name: &str, value: &Json, default: &Json, out: &mut String) {
    match (value, default) {
        (Json::Object(value), Json::Object(default)) => {
            let other: Vec<_> =
                value.iter().filter(|(key, value)| default.get(*key) != Some(value)).collect();
            if other.is_empty() {
                return;
            }
            out.push_str(&format!("\n{name}:\n"));
            for (key, value) in other {
                out.push_str(&format!("  {key}:{}\n", yaml::value(value, 2)));
            }
        }
        (value, default) if value == default => {}
        (value, _) => out.push_str(&format!("\n{name}:{}\n", yaml::value(value, 0))),
    }
}

fn agent(item: &Item, out: &mut String) {
    item.comments.iter().for_each(|line| out.push_str(&format!("  # {line}\n")));
    let mut lead = "  - ";
    let known =
        AgentConfig::KEYS.known.iter().filter(|key| !matches!(**key, "permissions" | "extra"));
    let first = ["nick", "agent", "directory", "channels", "permissions"];
    let order = first.iter().chain(known.filter(|key| !first.contains(key)));
    for key in order {
        let Some(value) = item.values.get(*key) else { continue };
        out.push_str(&format!("{lead}{key}:{}\n", yaml::value(value, 4)));
        lead = "    ";
    }
    extra(&object(item.values.get("extra").cloned()), out);
}

/// Writes what is for the backend: beside our own keys where that is allowed, else under `extra`.
fn extra(extra: &Map<String, Json>, out: &mut String) {
    let (beside, aside): (Vec<_>, Vec<_>) = extra.iter().partition(|(key, _)| may_stand(key));
    for (key, value) in beside {
        out.push_str(&format!("    {}:{}\n", yaml::scalar(key), yaml::value(value, 4)));
    }
    if aside.is_empty() {
        return;
    }
    out.push_str("    extra:\n");
    for (key, value) in aside {
        out.push_str(&format!("      {}:{}\n", yaml::scalar(key), yaml::value(value, 6)));
    }
}

/// Returns whether the reader takes a key for the backend's when it stands beside ours.
fn may_stand(key: &str) -> bool {
    // `<<` would be a merge.
    let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    plain
        && !is_secret(key)
        && nearest(key, AgentConfig::KEYS.known.iter().copied(), edits(key)).is_none()
}
