//! The attention list as people read it.

use gangline_api::attention::AttentionItem;
use gangline_core::{
    attention::{Item, ItemState},
    finding::Severity,
};
use gangline_os::clock::{UnixMicros, parse_rfc3339, rfc3339};

use super::{
    table::{Cell, wrapped},
    text::{Paint, age, cut, one_line},
};

#[cfg(test)]
mod tests;

/// So much of a text is shown, in characters.
const TEXT_MAX: usize = 160;

/// Returns an item as every surface shows it.
pub(crate) fn wire(item: &Item) -> AttentionItem {
    AttentionItem::of(item, rfc3339(UnixMicros(item.since.0)))
}

fn short(text: &str) -> String {
    cut(&one_line(text), TEXT_MAX)
}

/// Returns what `attention` prints.
pub(crate) fn list(items: &[AttentionItem], now: UnixMicros, columns: Option<usize>) -> String {
    if items.is_empty() {
        return "nothing waits for you\n".to_owned();
    }
    let mut rows = Vec::new();
    for item in items {
        let since = parse_rfc3339(&item.raised_at);
        rows.push([
            Cell::painted(paint(item), item.number.to_string()),
            Cell::from(item.agent.as_str()),
            Cell::from(since.map_or_else(|| "-".to_owned(), |at| age(now.since(at)))),
            Cell::painted(paint(item), what(item)),
            Cell::from(short(&item.cause)),
        ]);
        for detail in details(item) {
            let none = || Cell::from("");
            rows.push([none(), none(), none(), none(), Cell::painted(Paint::Dim, detail)]);
        }
    }
    let list = wrapped(["NO", "AGENT", "AGE", "WHAT", "CAUSE"], &rows, columns);
    match items.iter().any(|item| item.state != ItemState::Resolved && !item.options.is_empty()) {
        true => format!("{list}Answer one: gangline answer NO WORD (* is recommended)\n"),
        false => list,
    }
}

/// Returns what `attention` prints of letters, which it does not list; nothing without any.
pub(crate) fn letters(waiting: usize) -> String {
    match waiting {
        0 => String::new(),
        1 => "1 letter of an agent waits in `gangline inbox`\n".to_owned(),
        _ => format!("{waiting} letters of agents wait in `gangline inbox`\n"),
    }
}

/// Returns one change of the list, for a program or a file that reads along.
pub(crate) fn change(change: &str, item: &AttentionItem) -> String {
    let sign = match change {
        "added" => '+',
        "removed" => '-',
        _ => '~',
    };
    let options = options(item).map_or_else(String::new, |options| format!(" ({options})"));
    let cause = short(&item.cause);
    format!("{sign} {} {} {}: {cause}{options}\n", item.number, item.agent, what(item))
}

fn paint(item: &AttentionItem) -> Paint {
    match item.severity.known() {
        _ if item.state == ItemState::Resolved => Paint::Dim,
        Some(Severity::Error) => Paint::Red,
        Some(Severity::Warning) => Paint::Yellow,
        Some(Severity::Info) | None => Paint::Plain,
    }
}

fn what(item: &AttentionItem) -> String {
    let what = match item.kind.as_str() {
        "finding" => one_line(&item.what),
        kind => format!("{} {}", one_line(kind), one_line(&item.what)),
    };
    let state = match (item.state.known(), &item.seen_by) {
        (Some(ItemState::Seen), Some(by)) => format!(", seen by {}", one_line(by)),
        (Some(ItemState::Resolved), _) => ", resolved".to_owned(),
        _ => String::new(),
    };
    format!("{what}{state}")
}

/// Returns the lines below the cause: what shows it, what it affects, and what may be answered.
fn details(item: &AttentionItem) -> Vec<String> {
    if item.state == ItemState::Resolved {
        return Vec::new();
    }
    let evidence = Some(short(&item.evidence)).filter(|text| !text.is_empty());
    let affects = affects(item);
    evidence.into_iter().chain(affects).chain(options(item)).collect()
}

fn affects(item: &AttentionItem) -> Option<String> {
    let affects = &item.affects;
    let text = Some(short(&affects.text)).filter(|text| !text.is_empty());
    let room = affects.room.as_ref().map(|room| format!("in {}", one_line(room)));
    let waiting = match (affects.waiting, affects.people) {
        (0, _) => None,
        (1, 0) => Some("1 message waits".to_owned()),
        (1, _) => Some("1 message of a person waits".to_owned()),
        (waiting, 0) => Some(format!("{waiting} messages wait")),
        (waiting, people) => Some(format!("{waiting} messages wait, {people} of people")),
    };
    let parts: Vec<String> = text.into_iter().chain(room).chain(waiting).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn options(item: &AttentionItem) -> Option<String> {
    let shown = |option: &gangline_api::attention::AttentionOption| {
        let word = one_line(&option.word);
        if item.recommended.as_ref() == Some(&option.word) {
            format!("{word}* {}", short(&option.what))
        } else {
            format!("{word} {}", short(&option.what))
        }
    };
    let parts: Vec<String> = item.options.iter().map(shown).collect();
    match (parts.is_empty(), item.kind.as_str()) {
        (true, "question") => Some("answer with any text".to_owned()),
        (true, _) => None,
        (false, _) => Some(parts.join(" | ")),
    }
}
