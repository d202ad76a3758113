//! Keys and names: what a server and its tools may be called. Pure.

use std::collections::BTreeSet;

/// Longest name of a tool that the API takes.
const NAME_LIMIT: usize = 128;
const KEY_LIMIT: usize = 64;

/// Says why a key cannot be used. Two underscores in a row would make it another server's: a
/// permission for `mcp__a__*` must not reach the server `a__b`.
pub(super) fn check_key(key: &str, taken: &mut BTreeSet<String>) -> Result<(), &'static str> {
    if key.is_empty() || key.len() > KEY_LIMIT || !key.chars().all(is_plain) {
        return Err("its key must be letters, digits, `-` and `_`, at most 64 of them");
    }
    if key.contains("__") || key.starts_with('_') || key.ends_with('_') {
        return Err("its key must not begin or end with `_`, nor have two of them in a row");
    }
    if !taken.insert(key.to_owned()) {
        return Err("another server has the same key");
    }
    Ok(())
}

/// Returns the name by which the model calls a tool; nothing if it is too long.
pub(super) fn tool_name(key: &str, tool: &str) -> Option<String> {
    let plain: String = tool.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let name = format!("mcp__{key}__{plain}");
    (!plain.is_empty() && name.len() <= NAME_LIMIT).then_some(name)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

#[cfg(test)]
mod tests;
