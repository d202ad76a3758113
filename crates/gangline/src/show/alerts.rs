//! Alerts as a list.

use gangline_api::alert::{Delivery, Test};
use gangline_os::clock::{UnixMicros, parse_rfc3339};

use super::{
    table::{Cell, wrapped},
    text::{age, one_line},
};

/// Returns what `alerts` prints.
pub(crate) fn deliveries(all: &[Delivery], now: UnixMicros, columns: Option<usize>) -> String {
    if all.is_empty() {
        return "no alerts yet\n".to_owned();
    }
    let ago = |at: &str| parse_rfc3339(at).map_or_else(|| "-".to_owned(), |at| age(now.since(at)));
    let row = |it: &Delivery| {
        let trouble =
            it.trouble.as_ref().map(|why| format!(" - {}", one_line(why))).unwrap_or_default();
        [
            Cell::from(ago(&it.made_at)),
            Cell::from(it.agent.as_str()),
            Cell::from(one_line(&it.target)),
            Cell::from(it.state.as_str()),
            Cell::from(format!("{}{trouble}", one_line(&it.text))),
        ]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    wrapped(["AGO", "AGENT", "TARGET", "STATE", "ALERT"], &rows, columns)
}

/// Returns what `alerts test` prints.
pub(crate) fn tests(all: &[Test]) -> String {
    let line = |it: &Test| match &it.trouble {
        None => format!("{} ({}): delivered\n", it.target, it.address),
        Some(why) => format!("{} ({}): not delivered: {}\n", it.target, it.address, one_line(why)),
    };
    all.iter().map(line).collect()
}
