use anstream::adapter::strip_str;
use gangline_core::{MessageState, Origin, Tier};
use gangline_store::{OutboxRow, OutboxState};
use jiff::tz::TimeZone;

use super::screen;
use crate::view::tests::{life, line};

#[test]
fn the_whole_life_of_a_message_stands_in_the_order_of_time() {
    insta::assert_snapshot!(strip_str(&screen(&life(), &TimeZone::UTC)).to_string(), @r#"
    m42  to oak-ada  answered
    a mention in #general, from ada (owner)
    > @oak-ada run ls

    2026-11-21
    12:00:00.000  accepted     
    12:00:01.000  turn t3.7    woke, attempt 2
    12:00:01.000  tool         Bash {"command":"ls"}
    12:00:02.000  approval 12  asked: Bash: ls -l<U+001B>[2J
    12:00:05.000  approval 12  allowed by owner
    12:00:06.000  result       Bash: a ⏎ b
    12:00:06.000  question 7   to the owners: merge?
    12:00:07.000  of_tomorrow  {"x":1}
    12:00:08.000  not repeated question 7 of turn t2.9 to the owners: merge?
    12:00:09.000  line         to #general (answer): two files
    12:00:09.000  turn t3.7    ended: completed
    12:00:09.000  answered     
    12:00:11.000  line         confirmed after 2 tries; may be doubled

    answer
    two files
    and a folder
    "#);
}

#[test]
fn what_is_not_settled_yet_says_so() {
    let mut life = life();
    life.message.state = MessageState::Accepted;
    (life.message.answer, life.message.settled_at) = (None, None);
    life.message.reason = Some("turn lost".into());
    life.outbox = vec![
        OutboxRow { state: OutboxState::Queued, may_be_doubled: false, ..line() },
        OutboxRow {
            state: OutboxState::Undeliverable,
            why: Some("403 No such channel".into()),
            part: 1,
            parts: 2,
            ..line()
        },
    ];
    let text = strip_str(&screen(&life, &TimeZone::UTC)).to_string();
    assert!(text.ends_with("\nnot settled yet: turn lost\n"), "{text}");
    assert!(text.contains("line 2/2     undeliverable: 403 No such channel\n"), "{text}");
    assert!(!text.contains("confirmed"), "{text}");
}

/// Each thing is said once: the name that was seen, the account if it is another name, the rights.
#[test]
fn who_wrote_it_is_said_once() {
    let from = |origin: Origin, (sender, account, tier): (&str, &str, Tier)| {
        let mut life = life();
        let message = &mut life.message;
        message.origin = origin;
        message.sender = sender.into();
        message.principal.account = account.into();
        message.principal.tier = tier;
        let text = strip_str(&screen(&life, &TimeZone::UTC)).to_string();
        text.lines().nth(1).unwrap().to_owned()
    };
    for (origin, who, shown) in [
        (Origin::Mention, ("ada", "owner", Tier::Owner), "a mention in #general, from ada (owner)"),
        (Origin::Mention, ("bob", "bob", Tier::Member), "a mention in #general, from bob (member)"),
        (
            Origin::Mention,
            ("b\x1bb", "bob", Tier::Member),
            "a mention in #general, from b<U+001B>b, logged in as bob (member)",
        ),
        (
            Origin::Mention,
            ("eve", "~eve", Tier::Stranger),
            "a mention in #general, from eve, not logged in (stranger)",
        ),
        (Origin::Cli, ("owner", "owner", Tier::Owner), "the command line in #general, from owner"),
        (
            Origin::Wake,
            ("matrix", "wake:matrix", Tier::Agent),
            "a wake by a program in #general, from matrix, with agent rights",
        ),
    ] {
        assert_eq!(from(origin, who), shown);
    }
}
