//! The rules as a list.

use gangline_api::policy::PolicyRule;
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
            Cell::from(one_line(&rule.allows)),
        ]
    };
    let rows: Vec<_> = rules.iter().map(row).collect();
    table(["NO", "AGENT", "AGE", "BY", "RUNS WITHOUT ASKING"], &rows)
}
