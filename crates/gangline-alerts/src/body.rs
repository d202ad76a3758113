//! What each kind of target is sent.

use gangline_config::TargetKind;
use gangline_core::finding::Severity;
use gangline_store::DeliveryRow;
use serde_json::json;

use crate::plan::Where;

/// The most characters of a message that Discord takes.
pub const DISCORD_MAX: usize = 2_000;

/// A request's body, and the headers that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The bytes.
    pub text: String,
    /// Name and value of each header.
    pub headers: Vec<(&'static str, String)>,
}

/// Returns the gravest of these alerts, the first of several.
#[must_use]
pub fn lead(rows: &[DeliveryRow]) -> Option<&DeliveryRow> {
    rows.iter().rev().max_by_key(|row| row.severity)
}

/// Returns what the target is sent: one message for all of these alerts, a line for each.
#[must_use]
pub fn body(to: &Where, rows: &[DeliveryRow]) -> Body {
    let Some(lead) = lead(rows) else { return Body { text: String::new(), headers: Vec::new() } };
    let texts: Vec<_> = rows.iter().map(|row| row.text.as_str()).collect();
    let text = texts.join("\n");
    let text = text.as_str();
    match to.kind {
        TargetKind::Generic => of_json(&json!({"content": text})),
        TargetKind::Discord => {
            let content = cut(text, DISCORD_MAX);
            of_json(&json!({"content": content, "allowed_mentions": {"parse": []}}))
        }
        TargetKind::Slack => {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            of_json(&json!({"text": text}))
        }
        TargetKind::Ntfy => {
            let (priority, tag) = match lead.severity {
                Severity::Info => ("3", "information_source"),
                Severity::Warning => ("4", "warning"),
                Severity::Error => ("5", "rotating_light"),
            };
            let headers = vec![
                ("content-type", "text/plain; charset=utf-8".to_owned()),
                ("title", title(lead, rows.len())),
                ("priority", priority.to_owned()),
                ("tags", tag.to_owned()),
            ];
            Body { text: text.to_owned(), headers }
        }
        TargetKind::Template => filled(to.template.as_deref().unwrap_or("{{text}}"), lead),
    }
}

fn title(lead: &DeliveryRow, count: usize) -> String {
    match count {
        1 => format!("{} {}", lead.agent, lead.event.as_str()),
        _ => format!("{count} alerts, one is {} {}", lead.agent, lead.event.as_str()),
    }
}

fn of_json(value: &serde_json::Value) -> Body {
    let headers = vec![("content-type", "application/json".to_owned())];
    Body { text: value.to_string(), headers }
}

/// Fills a template. Values are escaped if the template is JSON, and nothing in them is filled again.
fn filled(template: &str, row: &DeliveryRow) -> Body {
    let begins = template.trim_start();
    let is_json = begins.starts_with(['{', '[', '"']) && !begins.starts_with("{{");
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, behind)) = after.split_once("}}") else {
            rest = after;
            text.push_str("{{");
            continue;
        };
        match value(name.trim(), row) {
            Some(value) if is_json => text.push_str(&escaped(&value)),
            Some(value) => text.push_str(&value),
            None => {
                text.push_str("{{");
                rest = after;
                continue;
            }
        }
        rest = behind;
    }
    text.push_str(rest);
    let kind = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
    Body { text, headers: vec![("content-type", kind.to_owned())] }
}

fn value(name: &str, row: &DeliveryRow) -> Option<String> {
    match name {
        "text" => Some(row.text.as_str().to_owned()),
        "agent" => Some(row.agent.to_string()),
        "event" => Some(row.event.as_str().to_owned()),
        "severity" => Some(row.severity.to_string()),
        "number" => Some(row.about.map_or(String::new(), |(number, _)| number.to_string())),
        _ => None,
    }
}

/// Returns a text as it stands between the quotes of JSON.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
