//! Message tags: names that Gangline uses, escaping, and reading of the tag section.

/// Binds a response to its request.
pub const LABEL: &str = "label";
/// The server's id of a line.
pub const MSGID: &str = "msgid";
/// When the server saw the line: `2026-11-21T21:33:48.123Z`.
pub const TIME: &str = "time";
/// The account that the sender is logged in to.
pub const ACCOUNT: &str = "account";
/// The batch that the line belongs to.
pub const BATCH: &str = "batch";
/// The sender has said that it is a program.
pub const BOT: &str = "bot";
/// The line that this one answers, by its `msgid`.
pub const REPLY: &str = "+draft/reply";
/// `active`, `paused` or `done`: somebody is writing.
pub const TYPING: &str = "+typing";
/// The sender's own id of a line, for recognising it again after a reconnect.
pub const GANGLINE_ID: &str = "+gangline/id";
/// Stamped by the installation's own server: the account of who speaks.
pub const GANGLINE_PRINCIPAL: &str = "gangline/principal";
/// Stamped by the installation's own server: the tier of who speaks.
pub const GANGLINE_TIER: &str = "gangline/tier";

/// A key or value that has no wire form.
pub(super) struct Unwritable;

/// Reads a tag section; the `@` and the space may be there or not. Empty keys are passed over.
pub(super) fn read(section: &str) -> Vec<(String, Option<String>)> {
    let data = section.strip_prefix('@').unwrap_or(section).trim_end_matches(' ');
    let tag = |part: &str| match part.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(unescape(value))),
        None => (part.to_owned(), None),
    };
    data.split(';').map(tag).filter(|(key, _)| !key.is_empty()).collect()
}

/// Splits a line into its tag section (`@…` and one space) and the rest.
pub(super) fn split(line: &[u8]) -> (&[u8], &[u8]) {
    if line.first() != Some(&b'@') {
        return (b"", line);
    }
    let end = line.iter().position(|byte| *byte == b' ').map_or(line.len(), |at| at + 1);
    line.split_at(end)
}

/// Returns the label of a line that may be no message at all, so that its refusal can carry it.
#[must_use]
pub fn label_of(line: &[u8]) -> Option<String> {
    let section = String::from_utf8_lossy(split(line).0).into_owned();
    let found = read(&section).into_iter().rev().find(|(key, _)| key == LABEL)?;
    found.1.filter(|label| !label.contains('\0'))
}

/// Appends `key` or `key=value`.
pub(super) fn write(out: &mut String, key: &str, value: Option<&str>) -> Result<(), Unwritable> {
    let illegal = [';', '=', ' ', '\r', '\n', '\0'];
    if key.is_empty() || key.contains(illegal) || value.is_some_and(|v| v.contains('\0')) {
        return Err(Unwritable);
    }
    out.push_str(key);
    if let Some(value) = value {
        out.push('=');
        out.push_str(&escape(value));
    }
    Ok(())
}

/// Returns a tag value as it stands on the wire.
#[must_use]
pub fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            ';' => out.push_str("\\:"),
            ' ' => out.push_str("\\s"),
            '\\' => out.push_str("\\\\"),
            '\r' => out.push_str("\\r"),
            '\n' => out.push_str("\\n"),
            other => out.push(other),
        }
    }
    out
}

/// Returns the value that a wire form stands for. An unknown escape is its own letter; a lone
/// backslash at the end is dropped.
#[must_use]
pub fn unescape(wire: &str) -> String {
    let mut out = String::with_capacity(wire.len());
    let mut chars = wire.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(':') => out.push(';'),
            Some('s') => out.push(' '),
            Some('r') => out.push('\r'),
            Some('n') => out.push('\n'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}
