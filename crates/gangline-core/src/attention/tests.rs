//! The order of the attention list.

use crate::{AgentName, FindingNumber, finding::ChoiceWord};
use std::time::Duration;

use super::{
    Affects, Held, Item, ItemKind, ItemState, Offer, approval_severity, parse_answer,
    question_severity, rank,
};
use crate::{
    Redacted,
    finding::Severity,
    privacy::{Reader, Said},
    time::WallMicros,
};

fn item(number: i64, severity: Severity) -> Item {
    Item {
        number,
        kind: ItemKind::Finding,
        what: "silent_turn".to_owned(),
        agent: "spark-ada".parse().unwrap(),
        severity,
        state: ItemState::Open,
        seen_by: None,
        cause: Redacted::default(),
        evidence: Redacted::default(),
        options: Vec::new(),
        recommended: None,
        affects: Affects::default(),
        since: WallMicros(100),
        said: Said::InARoom,
    }
}

fn behind(people: u64, waiting: u64) -> Affects {
    Affects { people, waiting, ..Affects::default() }
}

/// Each row is better placed than the next one, in whatever order they came.
#[test]
fn the_gravest_comes_first_then_who_is_blocked_then_the_oldest() {
    let rows = [
        Item { since: WallMicros(900), ..item(9, Severity::Error) },
        Item { state: ItemState::Seen, affects: behind(9, 9), ..item(1, Severity::Error) },
        Item { since: WallMicros(800), affects: behind(1, 1), ..item(8, Severity::Warning) },
        Item { since: WallMicros(700), affects: behind(0, 50), ..item(7, Severity::Warning) },
        Item { since: WallMicros(50), ..item(6, Severity::Warning) },
        Item { since: WallMicros(60), ..item(2, Severity::Warning) },
        item(3, Severity::Info),
        item(4, Severity::Info),
    ];
    let expected: Vec<i64> = rows.iter().map(|item| item.number).collect();
    for start in 0..rows.len() {
        let mut turned: Vec<Item> =
            rows.iter().cycle().skip(start).take(rows.len()).cloned().collect();
        turned.reverse();
        rank(&mut turned);
        let numbers: Vec<i64> = turned.iter().map(|item| item.number).collect();
        assert_eq!(numbers, expected, "begun at {start}");
    }
}

#[test]
fn what_waits_long_becomes_graver() {
    let after = Duration::from_secs;
    assert_eq!(approval_severity(after(0)), Severity::Warning);
    assert_eq!(approval_severity(after(3599)), Severity::Warning);
    assert_eq!(approval_severity(after(3600)), Severity::Error);
    assert_eq!(question_severity(after(0), Held::Nothing), Severity::Info);
    assert_eq!(question_severity(after(600), Held::Nothing), Severity::Warning);
    assert_eq!(question_severity(after(0), Held::Call), Severity::Warning);
}

#[test]
fn a_choice_is_said_with_its_number_and_nothing_else() {
    let check = |text: &str, expect: Option<(i64, &str)>| {
        let read = parse_answer(text).map(|(number, word)| (number.0, word.as_str()));
        assert_eq!(read, expect, "{text}");
    };
    check("12 resume", Some((12, "resume")));
    check("resume 12", Some((12, "resume")));
    check(" #12  Retry! ", Some((12, "retry")));
    check("answer 12 abort.", Some((12, "abort")));
    check("answer 12", None);
    check("resume", None);
    check("12", None);
    check("12 yes", None);
    check("12 resume please", None);
    check("m12 retry", None);
    check("release m12", None);
    check("99999999999999999999 resume", None);
}

#[test]
fn a_choice_said_to_somebody_else_is_answered_with_the_line_to_send() {
    let agent: AgentName = "oak-bob".parse().unwrap();
    let expected = "finding 12 is about oak-bob, not me: say `@oak-bob 12 resume` in a room that it is in, \
                    or `/msg oak-bob 12 resume`, or run `gangline answer 12 resume`";
    assert_eq!(super::say_to(&agent, FindingNumber(12), ChoiceWord::Resume), expected);
    // The line is one that is read.
    assert_eq!(parse_answer("12 resume"), Some((FindingNumber(12), ChoiceWord::Resume)));
}

/// Of what was said in private others learn that it waits, how grave it is, and what we say of it.
#[test]
fn others_are_shown_no_word_of_what_was_said_in_private() {
    for (kind, options_stay) in
        [(ItemKind::Question, false), (ItemKind::Approval, true), (ItemKind::Finding, true)]
    {
        let text = |text: &str| Redacted::from_store(text.to_owned());
        let offer = Offer { word: "1".to_owned(), what: "pay".to_owned() };
        let affects = Affects { text: text("the wire"), people: 2, ..Affects::default() };
        let private = Item {
            kind,
            cause: text("wire 90000 EUR?"),
            evidence: text("ACME"),
            options: vec![offer],
            affects,
            said: Said::InPrivate,
            ..item(7, Severity::Warning)
        };
        assert_eq!(private.clone().shown_to(Reader::Owner), private);
        let open = Item { said: Said::InARoom, ..private.clone() };
        assert_eq!(open.clone().shown_to(Reader::Others), open);
        let shown = private.clone().shown_to(Reader::Others);
        assert_eq!((shown.number, &shown.agent, shown.kind), (7, &private.agent, kind));
        assert_eq!((shown.severity, shown.affects.people), (Severity::Warning, 2));
        assert_eq!(!shown.options.is_empty(), options_stay, "{kind}");
        let told = format!("{} {} {}", shown.cause, shown.evidence, shown.affects.text);
        assert_eq!(told.trim(), "(not said in a room: the owner's token shows it)");
    }
}
