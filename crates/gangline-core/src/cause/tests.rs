//! Limits, words, and the one line that people say to a held cause.

use super::*;

fn ledger(turns: i64, allowed: i64) -> Ledger {
    Ledger { turns, allowed }
}

#[test]
fn the_limit_is_the_agents_until_a_release_raises_it() {
    for (turns, allowed, limit, admits, released) in [
        (0, 0, 30, true, false),
        (29, 0, 30, true, false),
        (30, 0, 30, false, false),
        (5, 0, 5, false, false),
        (5, 0, 30, true, false),
        (30, 60, 30, true, true),
        (30, 60, 5, true, true),
        (60, 60, 30, false, false),
    ] {
        let ledger = ledger(turns, allowed);
        assert_eq!((ledger.admits(limit), ledger.is_released()), (admits, released), "{ledger:?}");
    }
}

#[test]
fn only_the_whole_line_releases() {
    for (text, id) in [
        ("go on m12", Some(12)),
        ("Go on M12!", Some(12)),
        (" go  on m12. ", Some(12)),
        ("go on m12?", Some(12)),
        ("go on m12,", Some(12)),
        ("go on", None),
        ("go on 12", None),
        ("go on m12 please", None),
        ("please go on m12", None),
        ("go m12 on", None),
    ] {
        assert_eq!(parse_go_on(text), id.map(MessageId), "{text}");
    }
}

#[test]
fn what_was_used_is_told_with_what_is_known() {
    let used = |turns, agents, seconds, tokens| {
        Used { turns, agents, lasted: Duration::from_secs(seconds), tokens }.in_words()
    };
    assert_eq!(used(1, 1, 59, 0), "1 turn of 1 agent in 59 s");
    assert_eq!(used(30, 5, 125, 48_210), "30 turns of 5 agents in 2 min, 48210 tokens");
    assert_eq!(used(30, 2, 3_720, 0), "30 turns of 2 agents in 1 h 2 min");
}

#[test]
fn the_announcement_names_both_ways_on_and_fits_into_one_line() {
    let teller: AgentName = "spark-ada".parse().unwrap();
    let used = Used { turns: 9_999, agents: 99, lasted: DAY, tokens: 9_999_999_999 };
    for limit in [Limit::Turns(9_999), Limit::Hops(99)] {
        let line = announcement((MessageId(123_456), "otto"), &teller, limit, &used);
        for part in ["otto: ", "@spark-ada go on m123456", "release m123456", "--cause m123456"] {
            assert!(line.contains(part), "{line}");
        }
        assert!(line.len() <= crate::split::LINE_BYTES, "{} bytes: {line}", line.len());
        let shown = announcement((MessageId(1), "a\nb"), &teller, limit, &used);
        assert!(shown.starts_with("ab: m1 "), "{shown}");
    }
}

const DAY: Duration = Duration::from_secs(86_400);
