//! CTCP: requests inside a text, between two 0x01. Only ACTION is ever written or understood.

/// Returns the text of `/me …`.
#[must_use]
pub fn action(text: &str) -> String {
    format!("\u{1}ACTION {text}\u{1}")
}

/// Returns the verb and the rest, if the text is a CTCP request (the closing 0x01 may be absent).
#[must_use]
pub fn split(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('\u{1}')?;
    let inner = inner.strip_suffix('\u{1}').unwrap_or(inner);
    Some(inner.split_once(' ').unwrap_or((inner, "")))
}
