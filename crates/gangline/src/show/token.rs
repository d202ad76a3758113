//! The tokens as a list.

use gangline_api::token::Token;
use gangline_os::clock::{UnixMicros, parse_rfc3339};

use super::{
    table::{Cell, table},
    text::{age, one_line},
};

#[cfg(test)]
mod tests;

/// Returns what `token list` prints.
pub(crate) fn list(tokens: &[Token], now: UnixMicros) -> String {
    if tokens.is_empty() {
        return "no tokens; `gangline token add --scope mcp:NICK` makes one\n".to_owned();
    }
    let since = |at: &str| parse_rfc3339(at).map(|at| age(now.since(at)));
    let row = |token: &Token| {
        let used = match (&token.revoked_at, &token.used_at) {
            (Some(_), _) => "revoked".to_owned(),
            (None, None) => "never".to_owned(),
            (None, Some(at)) => since(at).unwrap_or_else(|| "-".to_owned()),
        };
        [
            Cell::from(token.number.to_string()),
            Cell::from(token.scope.as_str()),
            Cell::from(since(&token.made_at).unwrap_or_else(|| "-".to_owned())),
            Cell::from(used),
            Cell::from(one_line(&token.made_by)),
            Cell::from(one_line(&token.label)),
        ]
    };
    let rows: Vec<_> = tokens.iter().map(row).collect();
    table(["NO", "OPENS", "AGE", "USED", "BY", "LABEL"], &rows)
}
