//! The attention list as people see it.

use gangline_api::attention::{AttentionAffects, AttentionOption};
use gangline_core::{
    attention::{ItemKind, ItemState},
    finding::Severity,
};

use super::*;

fn item(number: i64) -> AttentionItem {
    let option =
        |word: &str, what: &str| AttentionOption { word: word.to_owned(), what: what.to_owned() };
    AttentionItem {
        number,
        kind: ItemKind::Finding.into(),
        what: "silent_turn".to_owned(),
        agent: "oak-ada".parse().unwrap(),
        severity: Severity::Warning.into(),
        state: ItemState::Open.into(),
        seen_by: None,
        cause: "the turn has shown no output for 5 minutes".to_owned(),
        evidence: "works on: do the\ntests pass?".to_owned(),
        options: vec![option("abort", "ends the turn"), option("dismiss", "lets it go on")],
        recommended: Some("abort".to_owned()),
        affects: AttentionAffects { waiting: 3, people: 2, ..AttentionAffects::default() },
        raised_at: "2026-11-24T10:00:00.000Z".to_owned(),
    }
}

/// What a reader of a file sees: without the paint.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn now() -> UnixMicros {
    parse_rfc3339("2026-11-24T10:05:00.000Z").unwrap()
}

#[test]
fn each_item_has_its_cause_its_choices_and_what_it_affects() {
    let question = AttentionItem {
        kind: ItemKind::Question.into(),
        what: "operator".to_owned(),
        severity: Severity::Info.into(),
        cause: "merge?".to_owned(),
        evidence: String::new(),
        options: Vec::new(),
        recommended: None,
        affects: AttentionAffects { room: Some("#ops".to_owned()), ..AttentionAffects::default() },
        ..item(3)
    };
    let seen = AttentionItem {
        state: ItemState::Seen.into(),
        seen_by: Some("otto".to_owned()),
        options: Vec::new(),
        affects: AttentionAffects { waiting: 1, ..AttentionAffects::default() },
        ..item(4)
    };
    let resolved = AttentionItem { state: ItemState::Resolved.into(), ..item(5) };
    let list = plain(&list(&[item(12), question, seen, resolved], now(), None));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = list.lines().map(words).collect();
    let cause = "the turn has shown no output for 5 minutes";
    let expected = [
        "NO AGENT AGE WHAT CAUSE",
        &format!("12 oak-ada 5m silent_turn {cause}"),
        "works on: do the ⏎ tests pass?",
        "3 messages wait, 2 of people",
        "abort* ends the turn | dismiss lets it go on",
        "3 oak-ada 5m question operator merge?",
        "in #ops",
        "answer with any text",
        &format!("4 oak-ada 5m silent_turn, seen by otto {cause}"),
        "works on: do the ⏎ tests pass?",
        "1 message waits",
        &format!("5 oak-ada 5m silent_turn, resolved {cause}"),
        "Answer one: gangline answer NO WORD (* is recommended)",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn an_empty_list_says_so_and_letters_are_named_below_it() {
    assert_eq!(list(&[], now(), None), "nothing waits for you\n");
    assert_eq!(letters(0), "");
    assert_eq!(letters(1), "1 letter of an agent waits in `gangline inbox`\n");
    assert_eq!(letters(2), "2 letters of agents wait in `gangline inbox`\n");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let list = plain(&list(&[item(12)], now(), Some(72)));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(list.lines().take(7).all(|line| line.chars().count() <= 72), "{list}");
    let rows: Vec<String> = list.lines().skip(1).take(2).map(words).collect();
    assert_eq!(rows, ["12 oak-ada 5m silent_turn the turn has shown no output for 5", "minutes"]);
}

#[test]
fn changes_are_lines_for_who_reads_along() {
    let line = change("added", &item(12));
    let cause = "the turn has shown no output for 5 minutes";
    let options = "abort* ends the turn | dismiss lets it go on";
    assert_eq!(line, format!("+ 12 oak-ada silent_turn: {cause} ({options})\n"));
    assert!(change("removed", &item(12)).starts_with("- 12 "));
    assert!(change("changed", &item(12)).starts_with("~ 12 "));
}
