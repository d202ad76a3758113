//! The forms of the files: `runtimes.json` (R3-12), Gas Town's `agents.json` and `config.json`
//! (C22). A file that is not there says nothing; one with a fault says what it can.

use std::{collections::BTreeSet, io, path::Path};

use gangline_os::fsio;

use super::{
    item::{Delivery, Files, Form, Item, Ready, Said},
    json::{Lines, Node, Text},
    source::{Problem, Source},
};

/// The largest file that is read, in bytes.
pub(super) const LARGEST: u64 = 1024 * 1024;
/// The longest name, in bytes.
const LONGEST_NAME: usize = 64;
const NO_NAME: &str = "is no backend's name: write a-z, 0-9, and -, _ or . between them";
/// So much of what is wrong with a file, or of no use in it, is told.
const MOST_TOLD: usize = 20;
/// The longest warm-up: ten minutes.
const LONGEST_DELAY_MS: u64 = 600_000;

/// Reads a file into what is known; calls `take` with its root.
pub(super) fn file(
    path: &Path,
    files: &mut Files,
    take: impl FnOnce(&Node<'_>, &mut Files) -> Result<(), Problem>,
) {
    let text = match fsio::read_foreign_text(path, LARGEST) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return,
        Err(error) => {
            let source = Source::File { file: path.to_owned(), line: 1, path: String::new() };
            let inner = error.get_ref();
            let said = inner.and_then(|it| it.source()).map(ToString::to_string);
            let said = said.or_else(|| inner.map(ToString::to_string));
            let cause = said.unwrap_or_else(|| error.to_string());
            files.problems.push(Problem { source, message: format!("it cannot be read: {cause}") });
            return;
        }
    };
    text_of(path, &text, files, take);
}

fn text_of(
    path: &Path,
    text: &str,
    files: &mut Files,
    take: impl FnOnce(&Node<'_>, &mut Files) -> Result<(), Problem>,
) {
    let (problems, ignored) = (files.problems.len(), files.ignored.len());
    let lines = Lines::of(text);
    let root = Text { file: path, text, lines: &lines }.root();
    if let Err(problem) = root.and_then(|root| take(&root, files)) {
        files.problems.push(problem);
    }
    shorten(&mut files.problems, problems);
    shorten(&mut files.ignored, ignored);
}

/// A file may have a hundred thousand faults; whoever reads of them has not the time.
fn shorten(all: &mut Vec<Problem>, before: usize) {
    let more = all.len().saturating_sub(before + MOST_TOLD);
    all.truncate(before + MOST_TOLD);
    if let (Some(last), 1..) = (all.last_mut(), more) {
        last.message.push_str(&format!("; and {more} more like it"));
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads a `runtimes.json` (R3-12).
pub(super) fn runtimes(path: &Path, files: &mut Files) {
    file(path, files, |root, files| {
        for (key, node) in once(root.members()?, files) {
            match key.as_str() {
                "default" => default(&node, files, false),
                "runtimes" => entries(&node, files, Form::Runtimes)?,
                _ => ignore(&node, files),
            }
        }
        Ok(())
    });
}

/// Reads Gas Town's `settings/agents.json`.
pub(super) fn agents(path: &Path, files: &mut Files) {
    file(path, files, |root, files| {
        for (key, node) in once(root.members()?, files) {
            match key.as_str() {
                "version" if node.raw() == "1" => {}
                "version" => files.problems.push(node.problem(
                    "its `version` is not 1, the only one that is known; it is read as if it were",
                )),
                "agents" => entries(&node, files, Form::Agents)?,
                _ => ignore(&node, files),
            }
        }
        Ok(())
    });
}

/// Reads Gas Town's `settings/config.json`: of its many fields those about agents.
pub(super) fn settings(path: &Path, files: &mut Files) {
    file(path, files, |root, files| {
        for (key, node) in once(root.members()?, files) {
            match key.as_str() {
                "default_agent" if is_set(&node) => default(&node, files, true),
                "agents" if !node.is_null() => entries(&node, files, Form::Agents)?,
                "role_agents" if !node.is_null() => {
                    for (role, node) in once(node.members()?, files) {
                        match said(&node, true) {
                            Ok(said) => files.roles.push((role, said)),
                            Err(problem) => files.problems.push(problem),
                        }
                    }
                }
                // The rest is about other things.
                _ => {}
            }
        }
        Ok(())
    });
}

fn is_set(node: &Node<'_>) -> bool {
    !node.is_null() && node.raw() != "\"\""
}

fn default(node: &Node<'_>, files: &mut Files, by_town: bool) {
    match said(node, by_town) {
        Ok(said) => files.defaults.push(said),
        Err(problem) => files.problems.push(problem),
    }
}

pub(super) fn said(node: &Node<'_>, by_town: bool) -> Result<Said, Problem> {
    let name = node.text()?;
    if !is_name(&name) {
        return Err(node.problem(format!("{} {NO_NAME}", node.shown())));
    }
    Ok(Said { name, source: node.source(), by_town })
}

pub(super) fn ignore(node: &Node<'_>, files: &mut Files) {
    let message = format!("{} is not used by Gangline", node.shown());
    files.ignored.push(node.problem(message));
}

/// Tells of keys that stand in an object twice; the last one holds, as everywhere with JSON.
fn once<'a>(members: Vec<(String, Node<'a>)>, files: &mut Files) -> Vec<(String, Node<'a>)> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<(String, Node<'a>)> = Vec::new();
    for (key, node) in members.into_iter().rev() {
        if seen.insert(key.clone()) {
            kept.push((key, node));
        } else {
            let message = format!("{} appears twice; the last one applies", node.shown());
            files.problems.push(node.problem(message));
        }
    }
    kept.reverse();
    kept
}

fn entries(node: &Node<'_>, files: &mut Files, form: Form) -> Result<(), Problem> {
    for (name, node) in once(node.members()?, files) {
        let read = entry(&name, &node, files, form);
        if let Some(item) = read.unwrap_or_else(|problem| {
            files.problems.push(problem);
            None
        }) {
            files.items.push(item);
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let ends = name.bytes().next().zip(name.bytes().last());
    ends.is_some_and(|(first, last)| plain(first) && plain(last))
        && name.len() <= LONGEST_NAME
        && name.bytes().all(|b| plain(b) || b"-_.".contains(&b))
}

/// Reads one entry; nothing when it cannot be used, which is then told.
fn entry(
    name: &str,
    node: &Node<'_>,
    files: &mut Files,
    form: Form,
) -> Result<Option<Item>, Problem> {
    if !is_name(name) {
        return Err(node.problem(format!("{} {NO_NAME}", node.shown())));
    }
    let mut item =
        Item { name: name.to_owned(), source: Some(node.source()), form, ..Item::default() };
    let mut acp = None;
    for (key, node) in once(node.members()?, files) {
        match (key.as_str(), form) {
            _ if node.is_null() => {}
            ("bin", Form::Runtimes) | ("command", Form::Agents) => {
                item.program = Some(node.text()?)
            }
            ("args", _) => item.args = node.texts()?,
            ("env", _) => item.env = node.variables()?,
            ("base_url", Form::Runtimes) => item.base_url = Some(url(&node)?),
            ("api_key_env", Form::Runtimes) => item.api_key_env = Some(variable(&node)?),
            ("adapter", Form::Runtimes) => item.adapter = Some(node.text()?),
            ("delivery", Form::Runtimes) => item.delivery = Some(delivery(&node)?),
            ("ready", Form::Runtimes) => item.ready = Some(ready(&node)?),
            ("ready_delay_ms", _) => item.ready_delay_ms = Some(node.number(LONGEST_DELAY_MS)?),
            ("ready_prompt_prefix", _) if is_set(&node) => item.ready_prompt = Some(node.text()?),
            ("acp", Form::Agents) => acp = Some(node),
            // It says its own key again.
            ("name", Form::Agents) => {}
            _ => ignore(&node, files),
        }
    }
    item.acp = acp.map(|node| acp_command(&node, &item, files)).transpose()?;
    let entry = match item.found(Some(Path::new("/"))) {
        Ok(found) => found.entry,
        Err(message) => return Err(node.problem(format!("{}: {message}", node.shown()))),
    };
    for idle in item.idle(entry) {
        let message =
            format!("{}: `{idle}` is not used with the {} adapter", node.shown(), entry.name);
        files.ignored.push(node.problem(message));
    }
    Ok(Some(item))
}

fn delivery(node: &Node<'_>) -> Result<Delivery, Problem> {
    match node.text()?.as_str() {
        "tmux" => Ok(Delivery::Tmux),
        "stdin" => Ok(Delivery::Stdin),
        "rpc" => Ok(Delivery::Rpc),
        _ => Err(node.problem(format!("{} is tmux, stdin or rpc", node.shown()))),
    }
}

fn url(node: &Node<'_>) -> Result<String, Problem> {
    let url = node.text()?;
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if rest.is_some_and(|rest| !rest.is_empty()) && !url.contains(char::is_whitespace) {
        return Ok(url);
    }
    Err(node.problem(format!("{} begins with http:// or https:// and a host", node.shown())))
}

/// The value is not quoted: somebody may have written the secret itself.
fn variable(node: &Node<'_>) -> Result<String, Problem> {
    let name = node.text()?;
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(legal) {
        return Ok(name);
    }
    Err(node.problem(format!("{} is the name of an environment variable", node.shown())))
}

fn ready(node: &Node<'_>) -> Result<Ready, Problem> {
    match node.text()?.as_str() {
        "prompt" => Ok(Ready::Prompt),
        "warmup" => Ok(Ready::Warmup),
        _ => Err(node.problem(format!("{} is prompt or warmup", node.shown()))),
    }
}

/// Returns what starts the program as an ACP agent: `subcommand` and `flag` are words behind the
/// program's name, `native` is a command of its own.
fn acp_command(node: &Node<'_>, item: &Item, files: &mut Files) -> Result<Vec<String>, Problem> {
    let (mut mode, mut word, mut args) = (None, None, Vec::new());
    for (key, node) in once(node.members()?, files) {
        match key.as_str() {
            _ if node.is_null() => {}
            "mode" => mode = Some(node.text()?),
            "command" if is_set(&node) => word = Some(node.text()?),
            "args" => args = node.texts()?,
            _ => ignore(&node, files),
        }
    }
    let program = item.program.clone().unwrap_or_else(|| item.name.clone());
    let mut command = match (mode.as_deref(), word) {
        (Some("native"), word) => vec![word.unwrap_or(program)],
        (Some("subcommand" | "flag") | None, word) => {
            std::iter::once(program).chain(word).collect()
        }
        (Some(_), _) => {
            let message = format!("{}.mode is subcommand, flag or native", node.shown());
            return Err(node.problem(message));
        }
    };
    command.extend(args);
    Ok(command)
}

/// Reads a text as if it stood in such a file.
#[cfg(test)]
pub(super) fn read(text: &str, form: Form, files: &mut Files) {
    text_of(Path::new("/c/runtimes.json"), text, files, |root, files| {
        for (key, node) in once(root.members()?, files) {
            match key.as_str() {
                "default" => default(&node, files, false),
                "runtimes" | "agents" => entries(&node, files, form)?,
                _ => ignore(&node, files),
            }
        }
        Ok(())
    });
}
