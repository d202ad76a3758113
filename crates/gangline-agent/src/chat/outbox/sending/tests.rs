//! What goes out as one, and in which form.

use gangline_core::{AgentName, redact::Redacted};
use gangline_os::clock::UnixMicros;

use super::*;

fn row(part: i64, (body, joint): (&str, Joint)) -> OutboxRow {
    OutboxRow {
        id: OutboxId(10 + part),
        agent: "oak-ada".parse::<AgentName>().unwrap(),
        idem_key: "k".to_owned().into(),
        part,
        parts: 4,
        target: "#lab".to_owned(),
        body: Redacted::from_store(body.to_owned()),
        joint,
        kind: LineKind::Privmsg,
        state: OutboxState::Queued,
        sent_as: None,
        turn: None,
        in_reply_to: None,
        attempts: 0,
        tell: None,
        why: None,
        msgid: None,
        may_be_doubled: false,
        question: Some("m.1".to_owned()),
        cause_root: None,
        hops: 1,
        created_at: UnixMicros(0),
        sent_at: None,
        settled_at: None,
    }
}

fn rows() -> Vec<OutboxRow> {
    let lines =
        [("one", Joint::Anew), ("two", Joint::Anew), ("goes", Joint::Space), ("on", Joint::Word)];
    (0..).zip(lines).map(|(part, line)| row(part, line)).collect()
}

#[test]
fn all_rows_are_one_message_under_one_id() {
    let whole = Sending::whole(rows()).unwrap();
    let say = whole.say("#lab".parse().unwrap(), 1);
    assert_eq!((say.key.as_str(), say.reply_to.as_deref()), ("k.all", Some("m.1")));
    assert_eq!(say.text, "one");
    let further = [(Follows::Anew, "two "), (Follows::On, "goes"), (Follows::On, "on")];
    assert_eq!(say.further, further.map(|(follows, text)| (follows, text.to_owned())));
    assert_eq!(whole.on_one_line(), "one ⏎ two goeson");
    assert_eq!(whole.ids(), [10, 11, 12, 13].map(OutboxId));
    assert_eq!(named("all", rows()).unwrap().key(), "k.all");
}

#[test]
fn a_row_by_itself_is_a_line_under_its_own_id() {
    let line = named("2", rows()).unwrap();
    let say = line.say("#lab".parse().unwrap(), 1);
    assert_eq!((say.key.as_str(), say.text.as_str()), ("k.2", "goes"));
    assert_eq!(say.further, []);
    for part in ["4", "-1", "whole", ""] {
        assert!(named(part, rows()).is_none(), "{part}");
    }
}

#[test]
fn the_first_time_decides_how_a_send_is_said() {
    let check = |what: &str, change: &dyn Fn(&mut Vec<OutboxRow>), expect: SentAs| {
        let mut rows = rows();
        change(&mut rows);
        assert_eq!(how(&rows), expect, "{what}");
    };
    let all = |rows: &mut Vec<OutboxRow>, form| {
        for row in rows {
            (row.sent_as, row.attempts, row.state) = (Some(form), 1, OutboxState::Sent);
        }
    };
    check("never said", &|_| {}, SentAs::Whole);
    check("said whole", &|rows| all(rows, SentAs::Whole), SentAs::Whole);
    check("said in lines", &|rows| all(rows, SentAs::Lines), SentAs::Lines);
    check("one said as a line", &|rows| rows[1].sent_as = Some(SentAs::Lines), SentAs::Lines);
    check("one said by an older program", &|rows| rows[0].attempts = 1, SentAs::Lines);
    check("one given up", &|rows| rows[3].state = OutboxState::Undeliverable, SentAs::Lines);
    let many =
        |rows: &mut Vec<OutboxRow>| *rows = (0..101).map(|n| row(n, ("x", Joint::Anew))).collect();
    check("more lines than a message may have", &many, SentAs::Lines);
    let long = |rows: &mut Vec<OutboxRow>| {
        *rows = (0..90).map(|n| row(n, (&"x".repeat(300), Joint::Anew))).collect();
    };
    check("more bytes than a message may have", &long, SentAs::Lines);
}

#[test]
fn notices_and_single_lines_stay_lines() {
    let mut notice = rows().remove(0);
    assert!(may_be_whole(&notice));
    notice.kind = LineKind::Notice;
    assert!(!may_be_whole(&notice));
    let single = OutboxRow { parts: 1, ..rows().remove(0) };
    assert!(!may_be_whole(&single));
    let said = OutboxRow { sent_as: Some(SentAs::Lines), ..rows().remove(0) };
    assert!(!may_be_whole(&said));
}
