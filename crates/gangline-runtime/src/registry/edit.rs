//! `runtimes.json` with another default: only that value changes, all other text stays.

use std::path::Path;

use super::{
    json::{Lines, Text},
    source::Problem,
};

/// Returns the text of a `runtimes.json` with `name` as its default; `file` is for messages. An
/// empty text becomes a file that says only that.
///
/// # Errors
/// What is wrong with the text.
pub fn with_default(file: &Path, text: &str, name: &str) -> Result<String, Problem> {
    let value = serde_json::Value::from(name).to_string();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(format!("{{\n  \"default\": {value}\n}}\n"));
    }
    let lines = Lines::of(text);
    let root = Text { file, text, lines: &lines }.root()?;
    let members = root.members()?;
    // The last one holds.
    if let Some((_, node)) = members.iter().rev().find(|(key, _)| key == "default") {
        let (from, to) = (node.offset(), node.offset() + node.raw().len());
        return Ok(format!("{}{value}{}", &text[..from], &text[to..]));
    }
    // Behind the brace, with the space that its first member has before it.
    let open = root.offset() + 1;
    let inside = &text[open..];
    let space = &inside[..inside.len() - inside.trim_start().len()];
    let comma = if members.is_empty() { "" } else { "," };
    Ok(format!("{}{space}\"default\": {value}{comma}{inside}", &text[..open]))
}
