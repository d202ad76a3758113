//! Pieces of a turn: what the model said, and which tools ran.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::permit;

/// The longest output of a tool that is passed on, in bytes; the program may have megabytes of it.
const OUTPUT_MAX: usize = 64 * 1024;

/// One piece of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// A text for the model, by the id that we gave it.
    User { client: Option<String> },
    /// A text for the reader.
    Text(String),
    /// Reasoning.
    Thinking(String),
    /// A tool.
    Tool(Tool),
    /// The context is being shortened.
    Compaction,
    /// Something that is not shown.
    Other,
}

/// A use of a tool, and what came of it as far as is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub(super) id: String,
    /// By the name that the rest of the daemon knows.
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) output: String,
    pub(super) is_error: bool,
}

/// Reads one item; of a kind that is not known nothing is shown.
pub(super) fn read(item: Value) -> serde_json::Result<Item> {
    let Some(kind) = item.get("type").and_then(Value::as_str).map(str::to_owned) else {
        return Err(serde::de::Error::missing_field("type"));
    };
    Ok(match kind.as_str() {
        "userMessage" => {
            let User { client_id } = serde_json::from_value(item)?;
            Item::User { client: client_id }
        }
        "agentMessage" => {
            let Text { text } = serde_json::from_value(item)?;
            Item::Text(text)
        }
        "reasoning" => {
            let Reasoning { summary, content } = serde_json::from_value(item)?;
            Item::Thinking(if summary.is_empty() { content } else { summary }.join("\n\n"))
        }
        "commandExecution" => Item::Tool(command(serde_json::from_value(item)?)),
        "fileChange" => Item::Tool(patch(serde_json::from_value(item)?)),
        "mcpToolCall" => Item::Tool(of_server(serde_json::from_value(item)?)),
        "dynamicToolCall" => Item::Tool(dynamic(serde_json::from_value(item)?)),
        "webSearch" | "imageView" | "collabAgentToolCall" => Item::Tool(other(&kind, item)?),
        "contextCompaction" => Item::Compaction,
        _ => Item::Other,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    #[serde(default)]
    client_id: Option<String>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
struct Reasoning {
    #[serde(default)]
    summary: Vec<String>,
    #[serde(default)]
    content: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Command {
    id: String,
    command: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    aggregated_output: Option<String>,
    #[serde(default)]
    exit_code: Option<i64>,
}

fn command(item: Command) -> Tool {
    let output = cut(item.aggregated_output.unwrap_or_default());
    let code = item.exit_code.filter(|code| *code != 0);
    let output = match (item.status.as_str(), code) {
        ("declined", _) if output.is_empty() => "it was not allowed".to_owned(),
        (_, Some(code)) => format!("{output}\n(exit code {code})").trim_start().to_owned(),
        (_, None) => output,
    };
    Tool {
        id: item.id,
        name: permit::SHELL.to_owned(),
        input: json!({"command": script(&item.command)}),
        output,
        is_error: failed(&item.status) || code.is_some(),
    }
}

fn failed(status: &str) -> bool {
    matches!(status, "failed" | "declined")
}

/// Returns what a shell was told, out of the whole command line; or that, if it is another one. A
/// human decides by it, so nothing of it may be lost.
pub(super) fn script(command: &str) -> String {
    // Most command lines are short; one that is not is not taken apart for nothing.
    let program = command.split_whitespace().next().unwrap_or_default();
    if !program.trim_matches(['"', '\'']).ends_with("sh") {
        return command.to_owned();
    }
    let words = match shlex::split(command) {
        Some(words) => words,
        None => return command.to_owned(),
    };
    match &words[..] {
        [shell, flag, script]
            if shell.starts_with('/')
                && ["/bash", "/sh", "/zsh", "/dash"].iter().any(|it| shell.ends_with(it))
                && ["-c", "-lc"].contains(&flag.as_str()) =>
        {
            script.clone()
        }
        _ => command.to_owned(),
    }
}

#[derive(Deserialize)]
struct Patch {
    id: String,
    #[serde(default)]
    changes: Vec<Change>,
    #[serde(default)]
    status: String,
}

#[derive(Deserialize)]
struct Change {
    path: String,
    kind: Value,
    #[serde(default)]
    diff: String,
}

fn patch(item: Patch) -> Tool {
    let kind = |change: &Change| {
        change.kind.get("type").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let new = !item.changes.is_empty() && item.changes.iter().all(|it| kind(it) == "add");
    let changes: Vec<Value> = item
        .changes
        .iter()
        .map(|it| json!({"path": it.path, "kind": it.kind, "diff": it.diff}))
        .collect();
    let paths: Vec<&str> = item.changes.iter().map(|it| it.path.as_str()).collect();
    let output = match item.status.as_str() {
        "completed" => format!("changed {}", paths.join(", ")),
        "declined" => "it was not allowed".to_owned(),
        other => other.to_owned(),
    };
    Tool {
        id: item.id,
        name: if new { permit::WRITE } else { permit::EDIT }.to_owned(),
        input: json!({"file_path": paths.join(", "), "changes": changes}),
        output,
        is_error: failed(&item.status),
    }
}

/// Returns the files that a patch changes, and those that it makes of them, as its tool's input
/// names them.
pub(super) fn changed(input: &Value) -> impl Iterator<Item = &str> {
    let changes = input["changes"].as_array().into_iter().flatten();
    changes
        .flat_map(|change| [&change["path"], &change["kind"]["move_path"]])
        .filter_map(Value::as_str)
}

#[derive(Deserialize)]
struct OfServer {
    id: String,
    server: String,
    tool: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    status: String,
    #[serde(default)]
    result: Option<Content>,
    #[serde(default)]
    error: Option<Message>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    content: Vec<Value>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    message: String,
}

fn of_server(item: OfServer) -> Tool {
    let said = item.result.map(|result| texts(&result.content)).unwrap_or_default();
    let wrong = item.error.map(|error| error.message);
    Tool {
        id: item.id,
        name: permit::of_server(&item.server, &item.tool),
        input: item.arguments,
        is_error: failed(&item.status) || wrong.is_some(),
        output: cut(wrong.unwrap_or(said)),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dynamic {
    id: String,
    tool: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    content_items: Option<Vec<Value>>,
    #[serde(default)]
    success: Option<bool>,
    #[serde(default)]
    status: String,
}

fn dynamic(item: Dynamic) -> Tool {
    Tool {
        id: item.id,
        name: item.tool,
        input: item.arguments,
        output: cut(texts(&item.content_items.unwrap_or_default())),
        is_error: item.success == Some(false) || failed(&item.status),
    }
}

/// Returns the texts of a result; what is no text is named by its kind.
fn texts(content: &[Value]) -> String {
    let text = |block: &Value| match block.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => {
            let kind = block.get("type").and_then(Value::as_str).unwrap_or("something");
            format!("[{kind}]")
        }
    };
    content.iter().map(text).collect::<Vec<_>>().join("\n")
}

fn other(kind: &str, item: Value) -> serde_json::Result<Tool> {
    let mut fields: Map<String, Value> = serde_json::from_value(item)?;
    let id = match fields.remove("id") {
        Some(Value::String(id)) => id,
        _ => return Err(serde::de::Error::missing_field("id")),
    };
    let status = fields.get("status").and_then(Value::as_str).unwrap_or_default().to_owned();
    fields.retain(|name, value| {
        !value.is_null() && !matches!(name.as_str(), "type" | "status" | "agentsStates")
    });
    let name = match kind {
        "webSearch" => permit::SEARCH,
        "imageView" => permit::LOOK,
        _ => permit::AGENTS,
    };
    let is_error = failed(&status);
    Ok(Tool { id, name: name.to_owned(), input: fields.into(), output: status, is_error })
}

/// Returns the text, its middle left out when it is too long.
fn cut(text: String) -> String {
    if text.len() <= OUTPUT_MAX {
        return text;
    }
    let head = &text[..text.floor_char_boundary(OUTPUT_MAX / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - OUTPUT_MAX / 2)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[{left_out} bytes left out]\n{tail}")
}

#[cfg(test)]
mod tests;
