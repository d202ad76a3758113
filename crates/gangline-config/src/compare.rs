//! Two configurations compared: what differs in words, and each agent's part as a mark that differs
//! when it does.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use gangline_core::AgentName;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Config, masked_url};

impl Config {
    /// Returns for each agent a short text that differs when its own part of the configuration does,
    /// or what concerns every agent: the network, the hooks, the limits, the supervisor. Two builds of
    /// the program may give different texts for the same part.
    #[must_use]
    pub fn marks(&self) -> BTreeMap<AgentName, String> {
        let shared = format!(
            "{:?} {:?} {:?} {} {} {:?} {:?} {:?} {:?} {:?}",
            self.network,
            self.mcp,
            self.hooks,
            self.buffer_size,
            self.turns_per_cause,
            self.supervisor,
            (self.sleep_start, self.sleep_end),
            (&self.budgets, &self.prices),
            self.watchdogs,
            (serde_json::to_string(&self.webhooks), &self.alerts)
        );
        let mark = |agent: &super::AgentConfig| {
            let mut hasher = DefaultHasher::new();
            format!("{agent:?} {shared}").hash(&mut hasher);
            (agent.nick.clone(), format!("{:016x}", hasher.finish()))
        };
        self.agents.iter().map(mark).collect()
    }
}

/// How much a change weighs for whoever allows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It changes who an agent is to others, what it may do, or what is run for it: accounts, tokens,
    /// hooks, roles, permissions, programs, servers, what it is told to do.
    Power,
    /// Anything else.
    Other,
}

/// One thing that differs between two configurations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// How much it weighs.
    pub weight: Weight,
    /// What it is, on one line: `oak-bob: permissions: "ask" → "bypass"`.
    pub text: String,
}

/// The keys of an agent that have weight.
const POWER: [&str; 27] = [
    "account_dir",
    "acp_command",
    "agent",
    "agent_answers",
    "allowed_tools",
    "api_key_env",
    "base_url",
    "budget",
    "command",
    "directory",
    "enabled",
    "env",
    "extra",
    "gastown",
    "hooks",
    "mcp_servers",
    "mcp_servers_file",
    "permissions",
    "pinned",
    "process",
    "prompt",
    "relay",
    "role",
    "screen",
    "system_prompt",
    "system_prompt_file",
    "trust",
];
/// The sections of the file that have it.
const POWERS: [&str; 11] = [
    "apply_timeout_seconds",
    "budgets",
    "hooks",
    "http",
    "mcp",
    "network",
    "prices",
    "server",
    "state",
    "supervisor",
    "webhooks",
];
/// The most that is shown of a value, in characters.
const VALUE_MAX: usize = 200;

/// Returns what differs between two configurations, what weighs most first.
#[must_use]
pub fn differences(before: &Config, after: &Config) -> Vec<Difference> {
    let mut found = Vec::new();
    let bare = |config: &Config| Config { agents: Vec::new(), ..config.clone() };
    put(&mut found, "", (&bare(before), &bare(after)), &POWERS);
    for agent in &before.agents {
        match after.agent(&agent.nick) {
            Some(now) => put(&mut found, &format!("{}: ", agent.nick), (agent, now), &POWER),
            None => found.push(power(format!("{} is removed", agent.nick))),
        }
    }
    for agent in after.agents.iter().filter(|agent| before.agent(&agent.nick).is_none()) {
        found.push(power(format!("{} is new, in {}", agent.nick, agent.directory.display())));
        let usual = super::AgentConfig::new(agent.nick.clone(), agent.directory.clone());
        put(&mut found, &format!("{}: ", agent.nick), (&usual, agent), &POWER);
    }
    // The sort keeps the order of what weighs the same.
    found.sort_by_key(|difference| difference.weight);
    found
}

fn power(text: String) -> Difference {
    Difference { weight: Weight::Power, text }
}

fn put<T: Serialize>(
    found: &mut Vec<Difference>,
    whose: &str,
    (before, after): (&T, &T),
    powers: &[&str],
) {
    let (before, after) = (keys(before), keys(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names.into_iter().filter(|name| before.get(*name) != after.get(*name)) {
        let (was, is) = (value(name, before.get(name)), value(name, after.get(name)));
        let told =
            if was == is { format!("other values of {is}") } else { format!("{was} → {is}") };
        let weight = if powers.contains(&name.as_str()) { Weight::Power } else { Weight::Other };
        found.push(Difference { weight, text: format!("{whose}{name}: {told}") });
    }
}

fn keys<T: Serialize>(of: &T) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(map)) => map,
        Ok(_) | Err(_) => Map::new(),
    }
}

/// Returns a value for people. Of variables only the names are shown.
fn value(key: &str, value: Option<&Value>) -> String {
    let text = match (key, value) {
        (_, None | Some(Value::Null)) => "none".to_owned(),
        ("env", Some(Value::Object(map))) if !map.is_empty() => {
            map.keys().cloned().collect::<Vec<_>>().join(", ")
        }
        (_, Some(Value::Object(map))) if map.get("env").is_some_and(Value::is_object) => {
            let mut map = map.clone();
            if let Some(Value::Object(env)) = map.get("env") {
                let names: Vec<Value> = env.keys().cloned().map(Value::String).collect();
                map.insert("env".to_owned(), names.into());
            }
            Value::Object(map).to_string()
        }
        // Who knows such an address may post there.
        ("webhooks", Some(value)) => without_urls(value).to_string(),
        (_, Some(value)) => value.to_string(),
    };
    gangline_core::shown::cut(&text, VALUE_MAX)
}

/// Returns a value in which only the hosts of addresses are shown.
fn without_urls(of: &Value) -> Value {
    match of {
        Value::String(text) if text.contains("://") => masked_url(text).into(),
        Value::Array(items) => items.iter().map(without_urls).collect(),
        Value::Object(map) => map.iter().map(|(key, of)| (key.clone(), without_urls(of))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
