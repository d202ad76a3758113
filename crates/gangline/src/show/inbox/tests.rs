//! The lists as people see them.

use gangline_api::inbox::Vote;
use gangline_core::{MessageId, QuestionNumber};

use super::*;

fn question(number: i64) -> Question {
    Question {
        number: QuestionNumber(number),
        agent: "oak-ada".parse().unwrap(),
        to: "room:#ops".to_owned(),
        rule: "humans".to_owned(),
        question: "deploy\nwhere?".to_owned(),
        options: vec!["staging".to_owned(), "production".to_owned()],
        multi: false,
        state: "open".to_owned(),
        answer: None,
        answerer: None,
        votes: Vec::new(),
        asked_at: "2026-11-24T10:00:00.000Z".to_owned(),
        expires_at: None,
        answered_at: None,
    }
}

fn now() -> UnixMicros {
    parse_rfc3339("2026-11-24T10:05:00.000Z").unwrap()
}

#[test]
fn questions_are_listed_with_what_to_choose_from_and_how_to_answer() {
    let answered = Question {
        state: "answered".to_owned(),
        answer: Some("staging".to_owned()),
        answerer: Some("ori".to_owned()),
        to: "operator".to_owned(),
        ..question(2)
    };
    let list = questions(&[question(1), answered.clone()], now(), None);
    let rows: Vec<&str> = list.lines().collect();
    assert!(rows[0].contains("QUESTION"), "{list}");
    for part in ["oak-ada", "5m", "#ops", "open", "1) staging  2) production"] {
        assert!(rows[1].contains(part), "{part}: {list}");
    }
    assert!(rows[2].contains("operator") && rows[2].contains("→ staging (ori)"), "{list}");
    assert_eq!(rows[3], "Answer one: gangline answer NO TEXT");
    assert_eq!(questions(&[answered], now(), None).lines().count(), 2);
    assert_eq!(questions(&[], now(), None), "no open questions\n");
    // R1-52: who decides sees what agents have said.
    let votes = ["oak-bob", "oak-eve"]
        .map(|agent| Vote { agent: agent.parse().unwrap(), answer: "staging".to_owned() });
    let list = questions(&[Question { votes: votes.into(), ..question(1) }], now(), None);
    assert!(list.contains("production  (so far oak-bob: staging; oak-eve: staging)"), "{list}");
}

#[test]
fn letters_are_listed_with_what_to_do_about_them() {
    let letter = Letter {
        letter: 3,
        agent: "oak-ada".parse().unwrap(),
        body: "the disk\nis full\u{202e}".to_owned(),
        state: "new".to_owned(),
        in_reply_to: None,
        answer: None,
        settled_by: None,
        sent_at: "2026-11-24T10:00:00.000Z".to_owned(),
    };
    let list = letters(std::slice::from_ref(&letter), now(), None);
    assert!(list.contains("the disk") && list.contains("<U+202E>"), "{list}");
    assert!(list.ends_with("put it away: gangline inbox done NO\n"), "{list}");
    let settled_by = Some("ori".to_owned());
    let done =
        Letter { settled_by: settled_by.clone(), state: "done".to_owned(), ..letter.clone() };
    let answered =
        Letter { answer: Some(MessageId(7)), settled_by, state: "answered".to_owned(), ..letter };
    let list = letters(&[done, answered], now(), None);
    assert!(list.contains("→ done (ori)") && list.contains("→ m7 (ori)"), "{list}");
    assert!(list.ends_with("`gangline trace mN` shows an answer\n"), "{list}");
    assert!(letters(&[], now(), None).starts_with("no letters"));
}
