//! What a tool's arguments mean to a person who has to decide: a command, a change of files, or
//! something else. Nothing of the arguments is dropped that changes what is done.

use gangline_core::approval::{
    diff::Change,
    view::{FileChange, FileExtent, Wanted},
};
use serde_json::{Map, Value};

/// The tool that runs commands, as every adapter calls it.
const SHELL: &str = "Bash";
/// The tools that write files.
const WRITERS: [&str; 3] = ["Write", "Edit", "MultiEdit"];
/// How a tool may call a file.
const FILE: [&str; 3] = ["file_path", "path", "filePath"];
/// The field in which a daemon adds to a call's arguments which of its files lead elsewhere than they
/// seem to, and where.
pub const LINKS: &str = "gangline:links";
/// Arguments that change nothing of what is done, or that are shown elsewhere.
const SAID: [&str; 6] = ["description", "reason", "timeout", "cwd", "title", LINKS];

/// Returns what the call of a tool would do. `input` are its arguments, masked.
#[must_use]
pub fn wanted(tool: &str, input: &Value) -> Wanted {
    let known = input.as_object().and_then(|fields| match tool {
        SHELL => command(fields),
        tool if WRITERS.contains(&tool) => files(fields),
        _ => None,
    });
    // A program that says in words what it asks for.
    let asks = input.as_object().filter(|fields| rest(fields, &["asks"]).is_none());
    let asks = asks.and_then(|fields| match (text(fields, "title"), text(fields, "asks")?) {
        (Some(title), asks) if title != tool => Some(format!("{title}: {asks}")),
        (Some(_) | None, asks) => Some(asks.to_owned()),
    });
    let arguments = || asks.unwrap_or_else(|| without_links(input)) + &links_of(input);
    known.unwrap_or_else(|| Wanted::Use { tool: tool.to_owned(), arguments: arguments() })
}

/// Returns what a stored approval would do: of its tool, and its arguments as they were stored.
#[must_use]
pub fn wanted_of_row(tool: &str, detail: &str) -> Wanted {
    match serde_json::from_str(detail) {
        Ok(input) => wanted(tool, &input),
        Err(_) => Wanted::Use { tool: tool.to_owned(), arguments: detail.to_owned() },
    }
}

fn command(fields: &Map<String, Value>) -> Option<Wanted> {
    let command = text(fields, "command")?.to_owned();
    let folder = text(fields, "cwd").map(str::to_owned);
    let shown: &[&str] = match is_list_of(fields.get("commands"), &command) {
        true => &["command", "commands"],
        false => &["command"],
    };
    let more = rest(fields, shown);
    Some(Wanted::Run { command, folder, more })
}

/// Returns whether the list says what the command says: some programs give both.
fn is_list_of(commands: Option<&Value>, command: &str) -> bool {
    let parts = commands.and_then(Value::as_array);
    let parts: Option<Vec<&str>> = parts.and_then(|list| list.iter().map(Value::as_str).collect());
    parts.is_some_and(|parts| parts.join("; ") == command)
}

fn files(fields: &Map<String, Value>) -> Option<Wanted> {
    if let Some(changes) = fields.get("changes") {
        let files = patches(changes, fields)?;
        // Its name of the files says what the changes say.
        return Some(Wanted::Write { files, more: rest(fields, &["changes", "file_path"]) });
    }
    let name = FILE.into_iter().find(|name| text(fields, name).is_some())?;
    let path = text(fields, name)?.to_owned();
    let (extent, change, used) = if let Some(content) = text(fields, "content") {
        (FileExtent::Whole, Change::to(content), vec!["content"])
    } else if let Some(edits) = fields.get("edits") {
        let changes: Option<Vec<Change>> = edits.as_array()?.iter().map(edit).collect();
        let change = changes?.into_iter().fold(Change::default(), Change::then);
        (FileExtent::Parts, change, vec!["edits"])
    } else {
        let change = Change::between(text(fields, "old_string")?, text(fields, "new_string")?);
        (FileExtent::Parts, change, vec!["old_string", "new_string"])
    };
    let used: Vec<&str> = used.into_iter().chain([name]).collect();
    let more = rest(fields, &used);
    let leads_to = leads_to(fields, &path);
    Some(Wanted::Write { files: vec![FileChange { path, leads_to, extent, change }], more })
}

fn edit(edit: &Value) -> Option<Change> {
    let fields = edit.as_object()?;
    let old_and_new = ["old_string", "new_string"];
    let change = Change::between(text(fields, "old_string")?, text(fields, "new_string")?);
    // An edit that says more, such as `replace_all`, is not understood: the arguments are shown.
    let plain = fields.iter().all(|(name, value)| {
        old_and_new.contains(&name.as_str()) || *value == Value::Bool(false) || value.is_null()
    });
    plain.then_some(change)
}

/// A list of `{path, kind, diff}`.
fn patches(changes: &Value, all: &Map<String, Value>) -> Option<Vec<FileChange>> {
    let patch = |change: &Value| {
        let fields = change.as_object()?;
        let (path, diff) = (text(fields, "path")?, text(fields, "diff")?);
        let named = path;
        let kind = fields.get("kind").and_then(Value::as_object);
        let moved = kind.and_then(|kind| text(kind, "move_path"));
        let kind = kind.and_then(|kind| text(kind, "type")).or_else(|| text(fields, "kind"));
        let (path, extent, change) = match kind {
            Some("add") if !diff.starts_with("@@") => {
                (path.to_owned(), FileExtent::Whole, Change::to(diff))
            }
            Some("delete") => (format!("{path} (deleted)"), FileExtent::Parts, Change::gone(diff)),
            _ => (path.to_owned(), FileExtent::Parts, Change::of_unified(diff)),
        };
        let leads = [Some(named), moved].into_iter().flatten().filter_map(|it| leads_to(all, it));
        let leads: Vec<String> = leads.collect();
        let leads_to = (!leads.is_empty()).then(|| leads.join(", "));
        let path = moved.map_or_else(|| path.clone(), |moved| format!("{path} -> {moved}"));
        Some(FileChange { path, leads_to, extent, change })
    };
    let files: Vec<FileChange> = changes.as_array()?.iter().map(patch).collect::<Option<_>>()?;
    (!files.is_empty()).then_some(files)
}

/// Returns where a file leads, if its name does not say it.
fn leads_to(fields: &Map<String, Value>, path: &str) -> Option<String> {
    let path = path.strip_prefix("file://").unwrap_or(path);
    fields.get(LINKS)?.as_object()?.get(path)?.as_str().map(str::to_owned)
}

fn without_links(input: &Value) -> String {
    match input.as_object() {
        Some(fields) if fields.contains_key(LINKS) => {
            let rest = fields.iter().filter(|(name, _)| *name != LINKS);
            let rest: Map<String, Value> = rest.map(|(k, v)| (k.clone(), v.clone())).collect();
            Value::Object(rest).to_string()
        }
        Some(_) | None => input.to_string(),
    }
}

/// Returns ` (NAME → PLACE, a link)` of each file that leads elsewhere.
fn links_of(input: &Value) -> String {
    let links = input.get(LINKS).and_then(Value::as_object).into_iter().flatten();
    links.filter_map(|(name, to)| Some(format!(" ({name} → {})", to.as_str()?))).collect()
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

/// Returns the arguments that nothing else shows, if there are any.
fn rest(fields: &Map<String, Value>, shown: &[&str]) -> Option<String> {
    let rest: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| !shown.contains(&name.as_str()) && !SAID.contains(&name.as_str()))
        .filter(|(_, value)| !value.is_null() && **value != Value::Bool(false))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!rest.is_empty()).then(|| Value::Object(rest).to_string())
}

#[cfg(test)]
mod tests;
