//! Values that several sections have, and what is true of them everywhere.

use std::{net::IpAddr, path::PathBuf};

use super::{
    error::shown,
    node::{Node, Value},
    reader::Reader,
};

/// Replaces the default by what was read, if it could be read.
pub(super) fn set<T>(field: &mut T, read: Option<T>) {
    if let Some(value) = read {
        *field = value;
    }
}

/// Returns whether a file says nothing.
pub(super) fn is_blank(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    text.lines()
        .map(str::trim)
        .all(|line| line.is_empty() || line.starts_with('#') || line == "---")
}

/// Reads a path. What it is relative to is known later.
pub(super) fn path(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<PathBuf> {
    reader.text(key, node).map(Into::into)
}

/// Reads the name or address of a host.
pub(super) fn host(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let host = reader.text("host", node)?;
    let legal = |c: char| c.is_ascii_alphanumeric() || ".-_:[]%".contains(c);
    if host.chars().all(legal) && host.len() <= 255 {
        return Some(host);
    }
    let shown = shown(&host);
    reader.fault_help(
        node.place,
        format!("`{shown}` is not a host name or address"),
        "write the name alone; the port has a key of its own",
    );
    None
}

/// Reads the name or address of this machine: what is not encrypted leaves it by no other way.
pub(super) fn loopback(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    let host = host(reader, node)?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if address || host.eq_ignore_ascii_case("localhost") {
        return Some(host);
    }
    reader.fault_help(
        node.place,
        format!("`{}` is not a loopback address, and there is no TLS", shown(&host)),
        "write 127.0.0.1; from another machine use an SSH tunnel or a proxy with TLS",
    );
    None
}

/// Reads how much an agent thinks: one word, passed to the backend.
pub(super) fn thinking(reader: &mut Reader<'_>, node: &Node) -> Option<String> {
    match node.value {
        // `off` is a word here, whatever YAML makes of it.
        Value::Bool(false) => Some("off".into()),
        _ => reader.text("thinking", node),
    }
}

/// Reads an http or https address.
pub(super) fn url(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<String> {
    let url = reader.text(key, node)?;
    if is_url(&url) {
        return Some(url);
    }
    reader.fault(node.place, format!("`{key}` must begin with http:// or https:// and a host"));
    None
}

/// Returns whether a text begins like an HTTP address: with the scheme and a host.
pub(super) fn is_url(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let plain = !url.chars().any(|c| c.is_whitespace() || c.is_control());
    plain && rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// Reads the name of an environment variable.
pub(super) fn variable(reader: &mut Reader<'_>, key: &str, node: &Node) -> Option<String> {
    let name = reader.text(key, node)?;
    if is_variable(&name) {
        return Some(name);
    }
    // Not quoted: somebody may have written the secret itself.
    reader.secret_value_fault(
        node.place,
        &format!("`{key}` must be the name of an environment variable"),
        "such as ANTHROPIC_API_KEY; the value itself does not belong in this file",
    );
    None
}

/// Returns whether a variable or header of this name holds what must not be shown.
pub(super) fn names_a_secret(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "apikey",
        "auth",
        "authorization",
        "cookie",
        "credential",
        "credentials",
        "key",
        "pass",
        "passwd",
        "password",
        "secret",
        "token",
    ];
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default().to_ascii_lowercase();
    WORDS.contains(&last.as_str())
}

/// Returns whether this may be the name of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
