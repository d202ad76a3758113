//! One more agent in the text of an `agents.yaml`, everything else left as its owner wrote it.

use std::fmt::Write as _;

use gangline_core::AgentName;
use serde_json::{Map, Value};

use super::{AgentConfig, Config, ConfigError, import::scalar, parse};

/// What an agent does not inherit: who it is, what it is for, what begins once, what it may order.
const OWN: [&str; 8] =
    ["nick", "role", "enabled", "tags", "gastown", "initial_prompt", "turns_per_cause", "extra"];

/// Why an agent cannot be added to the text.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The text cannot be read as it is.
    #[error("the configuration cannot be used")]
    Unusable(#[source] ConfigError),
    /// The text with the new agent cannot be read.
    #[error("the configuration with the new agent cannot be used")]
    Refused(#[source] ConfigError),
    /// The list of agents is written in a way that cannot be added to.
    #[error("`agents` is not a list with a `-` before each agent, so nothing can be added to it")]
    Form,
}

/// Returns the lines of an agent that has what the template has, but what is its own.
#[must_use]
pub fn entry(nick: &AgentName, template: &AgentConfig) -> Vec<String> {
    let as_map = |agent: &AgentConfig| match serde_json::to_value(agent) {
        Ok(Value::Object(map)) => map,
        Ok(_) | Err(_) => Map::new(),
    };
    let usual = as_map(&AgentConfig::new(nick.clone(), template.directory.clone()));
    let mut lines = vec![
        format!("nick: {nick}"),
        format!("directory: {}", scalar(&template.directory.display().to_string())),
    ];
    for (key, value) in as_map(template) {
        let is_own = OWN.contains(&key.as_str()) || key == "directory";
        if !is_own && !value.is_null() && usual.get(&key) != Some(&value) {
            lines.push(format!("{key}: {value}"));
        }
    }
    lines
}

/// Returns the text with one more agent, behind the last one.
///
/// # Errors
/// See [`AppendError`]. What is returned reads as the old text and this agent.
pub fn with_agent(text: &str, lines: &[String]) -> Result<String, AppendError> {
    let before = parse(text, "agents.yaml").map_err(AppendError::Unusable)?;
    let appended = put(text, lines).ok_or(AppendError::Form)?;
    let after = parse(&appended, "agents.yaml").map_err(AppendError::Refused)?;
    let same = after.agents.len() == before.agents.len() + 1
        && after.agents.starts_with(&before.agents)
        && is_same_without_agents(&before, &after);
    if same { Ok(appended) } else { Err(AppendError::Form) }
}

fn is_same_without_agents(before: &Config, after: &Config) -> bool {
    let bare = |config: &Config| Config {
        agents: Vec::new(),
        // They name lines.
        warnings: Vec::new(),
        ..config.clone()
    };
    bare(before) == bare(after)
}

/// Puts the lines behind the last item of the list.
fn put(text: &str, lines: &[String]) -> Option<String> {
    let all: Vec<&str> = text.lines().collect();
    let head = all.iter().position(|line| {
        let line = line.split(" #").next().unwrap_or_default().trim_end();
        matches!(line, "agents:" | "agents: []")
    })?;
    let empty = all.get(head)?.contains("[]");
    let is_said = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let in_list = |line: &str| line.starts_with([' ', '-']) || !is_said(line);
    let count = all[head + 1..].iter().take_while(|line| in_list(line)).count();
    let block = &all[head + 1..head + 1 + count];
    let first = block.iter().find(|line| is_said(line));
    let margin = match first {
        Some(line) if line.trim_start().starts_with("- ") => line.len() - line.trim_start().len(),
        None if empty => 2,
        Some(_) | None => return None,
    };
    let last = block.iter().rposition(|line| is_said(line)).map_or(head, |at| head + 1 + at);
    let mut out = String::new();
    for (number, line) in all.iter().enumerate() {
        let line = if number == head && empty { "agents:" } else { line };
        let _ = writeln!(out, "{line}");
        if number == last {
            for (nth, added) in lines.iter().enumerate() {
                let mark = if nth == 0 { "- " } else { "  " };
                let _ = writeln!(out, "{:margin$}{mark}{added}", "");
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests;
