//! The record of a conversation as one text, for the model that sums it up; pure.
//!
//! Long results and arguments are shortened; if the whole is still too long, the oldest parts are
//! left out, but never what an earlier summary said.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::tool::shorten;
use crate::wire::{Block, Message, Role};

/// How much of one text is kept, in bytes.
const TEXT: usize = 16 << 10;
/// How much of one tool's arguments or result is kept, in bytes.
const TOOL: usize = 4 << 10;

/// Returns the record of these messages in about `budget` bytes. The first is kept whatever it
/// costs, up to the budget: it may be an earlier summary.
pub(super) fn transcript(messages: &[Cow<'_, Message>], budget: usize) -> String {
    let mut names = HashMap::new();
    let entries: Vec<String> =
        messages.iter().flat_map(|message| entries(message, &mut names)).collect();
    let Some((first, rest)) = entries.split_first() else { return String::new() };
    let first = shorten(first.clone(), budget);
    let mut room = budget.saturating_sub(first.len());
    let kept = rest.iter().rev().take_while(|entry| {
        let fits = entry.len() <= room;
        room = room.saturating_sub(entry.len());
        fits
    });
    let left_out = rest.len() - kept.count();
    let mut text = first;
    if left_out > 0 {
        text.push_str(&format!("[… {left_out} older entries left out …]\n\n"));
    }
    text.push_str(&rest[left_out..].concat());
    text
}

/// Returns what one message adds to the record; `names` are those of the tools that were called.
fn entries(message: &Message, names: &mut HashMap<String, String>) -> Vec<String> {
    message.content.iter().filter_map(|block| entry(message.role, block, names)).collect()
}

fn entry(role: Role, block: &Block, names: &mut HashMap<String, String>) -> Option<String> {
    if block.is_thought() {
        return None;
    }
    let who = match role {
        Role::User => "instructions",
        Role::Assistant => "agent",
    };
    if let Some(text) = block.as_text() {
        let text = text.trim();
        return (!text.is_empty()).then(|| format!("[{who}]\n{}\n\n", shorten(text.into(), TEXT)));
    }
    if let Some(call) = block.as_tool_call() {
        let input = shorten(call.input.to_string(), TOOL);
        let line = format!("[{who} calls {}]\n{input}\n\n", call.name);
        names.insert(call.id, call.name);
        return Some(line);
    }
    if let Some(id) = block.answers() {
        let name = names.get(id).map_or("a tool", String::as_str);
        let what = match block.as_json().get("is_error").and_then(serde_json::Value::as_bool) {
            Some(true) => "error",
            Some(false) | None => "result",
        };
        let content = block.field("content").unwrap_or_default();
        return Some(format!("[{what} of {name}]\n{}\n\n", shorten(content.into(), TOOL)));
    }
    Some(format!("[{who}: a block of the kind {:?}]\n\n", block.kind()))
}

#[cfg(test)]
mod tests;
