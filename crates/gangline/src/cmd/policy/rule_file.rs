//! A file of rules: a JSON list whose items say what one rule lets run. `policy list --json` and `policy
//! suggest --json` write it, `policy test` reads it.

use std::path::Path;

use gangline_core::{
    AgentName,
    rule::{Form, Rule},
};
use gangline_os::fsio;
use gangline_runtime::shell;
use serde::Deserialize;

use crate::failure::Failure;

/// The longest file, in bytes.
const MAX: u64 = 1 << 20;

/// One rule of the file.
#[derive(Debug)]
pub(super) struct FileRule {
    /// Whose; `None` = every agent's.
    pub(super) agent: Option<AgentName>,
    /// What it lets run; its number is its place in the file, from 1.
    pub(super) rule: Rule,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    agent: Option<AgentName>,
    tool: String,
    directory: String,
    command: Option<Command>,
    file: Option<String>,
    arguments: Option<String>,
    // What the lists of rules say beside it.
    #[serde(rename = "number")]
    _number: Option<i64>,
    #[serde(rename = "allows")]
    _allows: Option<String>,
    #[serde(rename = "approval")]
    _approval: Option<i64>,
    #[serde(rename = "made_by")]
    _made_by: Option<String>,
    #[serde(rename = "made_as")]
    _made_as: Option<String>,
    #[serde(rename = "made_at")]
    _made_at: Option<String>,
    #[serde(rename = "allowed")]
    _allowed: Option<u64>,
    /// A rule that allows nothing.
    void: Option<String>,
}

/// A command as its words, or as a shell reads it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Command {
    Words(Vec<String>),
    Line(String),
}

/// Reads the rules of a file.
pub(super) fn read(file: &Path) -> Result<Vec<FileRule>, Failure> {
    let name = file.display();
    let text = fsio::read_text_capped(file, MAX)
        .map_err(|error| Failure::user(format!("cannot read the rules in {name}: {error}")))?;
    let items: Vec<Item> = serde_json::from_str(&text).map_err(|error| {
        Failure::user(format!("the rules in {name} cannot be used: {error}"))
            .hint("`gangline policy list --json` shows the form")
    })?;
    let items = (1..).zip(items).filter(|(_, item)| item.void.is_none());
    let rules = items.map(|(number, item)| {
        rule(number, item).map_err(|why| {
            Failure::user(format!("rule {number} in {name} cannot be used: {why}"))
                .hint("`gangline policy list --json` shows the form")
        })
    });
    rules.collect()
}

fn rule(number: i64, item: Item) -> Result<FileRule, String> {
    let Item { agent, tool, directory, command, file, arguments, .. } = item;
    let form = match (command, file, arguments) {
        (Some(command), None, None) => Form::Command(words(command)?),
        (None, Some(file), None) => Form::File(file),
        (None, None, Some(arguments)) => Form::Arguments(arguments),
        _ => return Err("it needs one of `command`, `file` and `arguments`".to_owned()),
    };
    Ok(FileRule { agent, rule: Rule { number, tool, directory, form } })
}

fn words(command: Command) -> Result<Vec<String>, String> {
    let line = match command {
        Command::Words(words) if words.is_empty() => {
            return Err("its `command` is empty".to_owned());
        }
        Command::Words(words) => {
            shell::still_holds(&words).map_err(|unclear| format!("its `command`: {unclear}"))?;
            return Ok(words);
        }
        Command::Line(line) => line,
    };
    let commands = shell::commands(&line).map_err(|unclear| format!("its `command`: {unclear}"))?;
    match <[Vec<String>; 1]>::try_from(commands) {
        Ok([words]) => Ok(words),
        Err(_) => Err("its `command` is more than one: each needs a rule of its own".to_owned()),
    }
}

#[cfg(test)]
mod tests;
