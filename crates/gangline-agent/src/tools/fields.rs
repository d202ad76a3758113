//! Arguments of a tool call, checked one by one; the errors are for the model.

use std::ops::RangeInclusive;

use serde_json::Value;

#[cfg(test)]
mod tests;

pub(super) fn text<'a>(input: &'a Value, name: &str) -> Result<&'a str, String> {
    maybe_text(input, name)?.ok_or_else(|| format!("`{name}` is missing"))
}

pub(super) fn maybe_text<'a>(input: &'a Value, name: &str) -> Result<Option<&'a str>, String> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| format!("`{name}` must be a string")),
    }
}

/// Reads a whole number, also from a string of digits: models write both.
pub(super) fn number(
    input: &Value,
    name: &str,
    range: RangeInclusive<u64>,
) -> Result<Option<u64>, String> {
    let number = match input.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(digits)) => digits.trim().parse().ok(),
        Some(value) => value.as_u64(),
    };
    let (least, most) = (*range.start(), *range.end());
    let wanted = match (least, most) {
        (0, u64::MAX) => "a whole number".to_owned(),
        (1, u64::MAX) => "a whole number above 0".to_owned(),
        _ => format!("a whole number from {least} to {most}"),
    };
    let number = number.filter(|number| range.contains(number));
    number.map(Some).ok_or_else(|| format!("`{name}` must be {wanted}"))
}

pub(super) fn flag(input: &Value, name: &str) -> Result<bool, String> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| format!("`{name}` must be true or false")),
    }
}

pub(super) fn texts(input: &Value, name: &str) -> Result<Vec<String>, String> {
    let wanted = || format!("`{name}` must be a list of strings");
    let items = match input.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(value) => value.as_array().ok_or_else(wanted)?,
    };
    items.iter().map(|it| it.as_str().map(str::to_owned).ok_or_else(wanted)).collect()
}

/// Reads names with commas between them, also from a list of strings: models write both. Empty if it is
/// left out.
pub(super) fn names(input: &Value, name: &str) -> Result<String, String> {
    match input.get(name) {
        Some(Value::Array(_)) => Ok(texts(input, name)?.join(",")),
        _ => Ok(maybe_text(input, name)?.unwrap_or_default().to_owned()),
    }
}

/// Reads one of a closed set of words; `None` if it is left out.
pub(super) fn word<W: std::str::FromStr<Err: std::fmt::Display>>(
    input: &Value,
    name: &str,
) -> Result<Option<W>, String> {
    let text = maybe_text(input, name)?.filter(|text| !text.is_empty());
    text.map(|text| text.parse().map_err(|error: W::Err| format!("`{name}`: {error}"))).transpose()
}
