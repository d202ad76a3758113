//! The rules as a list.

use gangline_api::policy::{PolicyChange, PolicyRule, PolicyTest, SuggestedRule};
use gangline_os::clock::{UnixMicros, parse_rfc3339};

use super::{
    table::{Cell, table},
    text::{age, one_line},
};

#[cfg(test)]
mod tests;

/// Returns what `policy list` prints. No rule is cut: the end could allow more than its beginning
/// shows.
pub(crate) fn list(rules: &[PolicyRule], now: UnixMicros) -> String {
    if rules.is_empty() {
        return "no rules; `gangline approve N --always` makes one\n".to_owned();
    }
    let row = |rule: &PolicyRule| {
        let made = parse_rfc3339(&rule.made_at);
        [
            Cell::from(rule.number.to_string()),
            Cell::from(rule.agent.as_str()),
            Cell::from(made.map_or_else(|| "-".to_owned(), |at| age(now.since(at)))),
            Cell::from(one_line(&rule.made_as)),
            Cell::from(one_line(&match &rule.void {
                Some(why) => format!("void, allows nothing: {}: {why}", rule.allows),
                None => rule.allows.clone(),
            })),
        ]
    };
    let rows: Vec<_> = rules.iter().map(row).collect();
    table(["NO", "AGENT", "AGE", "BY", "RUNS WITHOUT ASKING"], &rows)
}

/// Returns what `policy test` prints.
pub(crate) fn tested(found: &PolicyTest) -> String {
    let row = |change: &PolicyChange| {
        let rules: Vec<String> = change.rules.iter().map(ToString::to_string).collect();
        let would = match change.would.as_str() {
            "run" => format!("runs unasked, by rule {}", rules.join(", ")),
            _ => "is asked about".to_owned(),
        };
        let was = match change.was.as_str() {
            "allowed_by_rule" => "allowed by a rule",
            "denied" => "REFUSED",
            was => was,
        };
        [
            Cell::from(change.approval.to_string()),
            Cell::from(change.agent.as_str()),
            Cell::from(was.to_owned()),
            Cell::from(would),
            Cell::from(one_line(&change.call)),
        ]
    };
    // The present rules change little: what they let run is what is asked for.
    let again = found.changes.iter().filter(|it| it.would == "ask");
    let rows: Vec<_> = match found.unasked.is_empty() {
        true => found.changes.iter().map(row).collect(),
        false => found.unasked.iter().chain(again).map(row).collect(),
    };
    let count = |was: &str, would: &str| {
        found
            .changes
            .iter()
            .filter(|it| it.would == would && (was.is_empty() || it.was == was))
            .count()
    };
    let (runs, refused, asks) = (count("", "run"), count("denied", "run"), count("", "ask"));
    let mut text = match rows.is_empty() {
        true => String::new(),
        false => table(["APPROVAL", "AGENT", "WAS", "WITH THESE RULES", "CALL"], &rows),
    };
    let same = found.calls - runs - asks;
    text.push_str(&format!(
        "{} recorded calls: {runs} would run unasked, {asks} would be asked about again, {same} stay as \
         they were\n",
        found.calls
    ));
    if !found.unasked.is_empty() {
        text.push_str(&format!("by these rules {} calls run unasked\n", found.unasked.len()));
    }
    if refused > 0 {
        text.push_str(&format!(
            "{refused} of those that would run were refused by a person: check these rules\n"
        ));
    }
    text
}

/// Returns what `policy suggest` prints.
pub(crate) fn suggested(rules: &[SuggestedRule]) -> String {
    if rules.is_empty() {
        return "no rule to suggest: no harmless call was allowed that often\n".to_owned();
    }
    let row = |rule: &SuggestedRule| {
        [
            Cell::from(rule.agent.as_str()),
            Cell::from(rule.allowed.to_string()),
            Cell::from(one_line(&rule.allows)),
        ]
    };
    let rows: Vec<_> = rules.iter().map(row).collect();
    let mut text = table(["AGENT", "ALLOWED", "COULD RUN WITHOUT ASKING"], &rows);
    text.push_str("to make such a rule, answer the next such approval with `yes N always`\n");
    text
}
