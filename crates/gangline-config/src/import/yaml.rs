//! Values as YAML that reads as exactly these values again.

use std::fmt::Write as _;

use serde_json::Value as Json;

/// Words that a reader of YAML may take for something else than text.
const WORDS: [&str; 14] = [
    "true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan", "infinity", "none",
    "nil",
];

/// Returns a text as a YAML scalar on one line: plain when nobody could take it for something
/// else, else in double quotes with everything escaped that does not show.
#[must_use]
pub fn scalar(text: &str) -> String {
    let mut bytes = text.bytes();
    let starts = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'/');
    let plain = bytes.all(|b| b.is_ascii_alphanumeric() || b"_/.-".contains(&b));
    let word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    if starts && plain && !word { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if shows(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    0x1_0000.. => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

/// Returns whether a character stands for itself in every editor and every reader of YAML.
pub(super) fn shows(c: char) -> bool {
    let hidden = matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff0}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}');
    !c.is_control() && !hidden
}

/// Returns a value in flow form, on one line.
pub(super) fn flow(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(map) => {
            let entry =
                |(key, value): (&String, &Json)| format!("{}: {}", quoted(key), flow(value));
            let entries: Vec<String> = map.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Returns the value of a key in block form: what follows `key:`, begun by a space.
/// `indent` is that of the key.
pub(super) fn value(value: &Json, indent: usize) -> String {
    match value {
        Json::String(text) if is_block(text) => block(text, indent + 2),
        Json::String(text) => format!(" {}", scalar(text)),
        other => format!(" {}", flow(other)),
    }
}

/// Returns whether a text may stand as a literal block without an indicator of its indentation.
fn is_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let first = body.chars().next();
    body.contains('\n')
        && first.is_some_and(|c| !c.is_whitespace())
        && !body.ends_with('\n')
        && body.chars().all(|c| c == '\n' || c == '\t' || shows(c))
}

fn block(text: &str, indent: usize) -> String {
    let (body, head) = match text.strip_suffix('\n') {
        Some(body) => (body, " |"),
        None => (text, " |-"),
    };
    let mut out = String::from(head);
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            let _ = write!(out, "{:indent$}{line}", "");
        }
    }
    out
}

/// Returns how deep lists and mappings nest in a value; 0 for a scalar.
pub(super) fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 0,
    }
}
