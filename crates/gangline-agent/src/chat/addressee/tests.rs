//! Who is there, by what the server says.

use gangline_core::{MessageId, redact::Redacted, split::Joint};
use gangline_store::{LineKind, OutboxState};

use super::*;

const ACCOUNT: Option<&str> = Some("alice-at-home");

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn row(id: i64) -> OutboxRow {
    OutboxRow {
        id: OutboxId(id),
        agent: "oak-ada".parse().unwrap(),
        idem_key: format!("k{id}").into(),
        part: 0,
        parts: 1,
        target: "alice".to_owned(),
        body: Redacted::from_store("text".to_owned()),
        joint: Joint::Anew,
        kind: LineKind::Privmsg,
        state: OutboxState::Queued,
        sent_as: None,
        turn: None,
        in_reply_to: Some(MessageId(1)),
        attempts: 0,
        tell: None,
        why: None,
        msgid: None,
        may_be_doubled: false,
        question: None,
        cause_root: None,
        hops: 1,
        created_at: UnixMicros(0),
        sent_at: None,
        settled_at: None,
    }
}

fn asked(account: Option<&str>) -> Asked {
    Asked { nick: nick("alice"), account: account.map(str::to_owned) }
}

fn nick(nick: &str) -> Nick {
    nick.parse().unwrap()
}

fn hear(people: &mut Addressees, now: u64, lines: &[&str]) -> bool {
    let mut released = false;
    for line in lines {
        released |= people.heard(seconds(now), &Message::parse(line).unwrap());
    }
    released
}

fn whois(account: Option<&str>) -> Vec<String> {
    let mut lines = vec![":irc 311 ada alice a host * :Alice".to_owned()];
    lines.extend(account.map(|it| format!(":irc 330 ada Alice {it} :is logged in as")));
    lines.push(":irc 318 ada alice :End of WHOIS".to_owned());
    lines
}

fn notify(people: &mut Addressees, now: u64, account: Option<&str>) -> bool {
    let lines = whois(account);
    hear(people, now, &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

const GONE: [&str; 2] = [":irc 401 ada alice :No such nick", ":irc 318 ada alice :End of WHOIS"];

#[test]
fn a_nick_without_an_account_is_believed_until_the_server_says_that_nobody_has_it() {
    let mut people = Addressees::default();
    assert_eq!(people.reach(seconds(0), &row(1), asked(None)), Reach::Go(nick("alice")));
    assert_eq!(people.is_away(seconds(1), &row(1), asked(None)), Reach::Away);
    assert_eq!(people.reach(seconds(900), &row(2), asked(None)), Reach::Away);
    assert!(people.holds(OutboxId(1)) && people.holds(OutboxId(2)));
    assert!(!hear(
        &mut people,
        900,
        &[":bob!b@h JOIN #r", ":bob!b@h NICK bobby", ":alic!a@h QUIT"]
    ));
    assert!(hear(&mut people, 901, &[":ALICE!a@h JOIN #r"]));
    assert!(!people.holds(OutboxId(1)) && !people.holds(OutboxId(2)));
    assert_eq!(people.reach(seconds(902), &row(1), asked(None)), Reach::Go(nick("alice")));
}

#[test]
fn who_takes_the_nick_or_speaks_is_there() {
    for line in [":bob!b@h NICK :alice", ":alice!a@h JOIN :#r"] {
        let mut people = Addressees::default();
        people.is_away(seconds(1), &row(1), asked(None));
        assert!(hear(&mut people, 2, &[line]), "{line}");
    }
    let mut people = Addressees::default();
    people.is_away(seconds(1), &row(1), asked(None));
    assert!(people.seen("Alice", None));
    assert!(!people.seen("Alice", None), "nothing waits any more");
}

/// The holder of the nick has to be logged in to the account that asked.
#[test]
fn an_account_is_asked_for_before_its_answer_goes() {
    let mut people = Addressees::default();
    let ask = Reach::Wait(vec![nick("alice")]);
    assert_eq!(people.reach(seconds(0), &row(1), asked(ACCOUNT)), ask);
    let again = people.reach(seconds(1), &row(2), asked(ACCOUNT));
    assert_eq!(again, Reach::Wait(vec![]), "asked once for all lines");
    assert!(notify(&mut people, 2, Some("Alice-at-Home")));
    for id in [1, 2] {
        let now = people.reach(seconds(2), &row(id), asked(ACCOUNT));
        assert_eq!(now, Reach::Go(nick("alice")));
    }
    // What was told does not count for long, and not beyond a change of the nick.
    assert_eq!(people.reach(seconds(8), &row(3), asked(ACCOUNT)), ask);
    assert!(notify(&mut people, 9, ACCOUNT));
    hear(&mut people, 9, &[":alice!a@h QUIT :bye"]);
    assert_eq!(people.reach(seconds(9), &row(3), asked(ACCOUNT)), ask);
}

#[test]
fn another_account_or_none_gets_nothing() {
    for holder in [Some("eve"), None] {
        let mut people = Addressees::default();
        people.reach(seconds(0), &row(1), asked(ACCOUNT));
        assert!(notify(&mut people, 1, holder), "it is judged anew");
        assert_eq!(people.reach(seconds(1), &row(1), asked(ACCOUNT)), Reach::Away);
        assert!(people.holds(OutboxId(1)));
    }
    let mut people = Addressees::default();
    people.reach(seconds(0), &row(1), asked(ACCOUNT));
    assert!(hear(&mut people, 1, &GONE));
    assert_eq!(people.reach(seconds(1), &row(1), asked(ACCOUNT)), Reach::Away);
}

/// The person may have another nick by now: the account is seen on a line of the room.
#[test]
fn an_answer_follows_its_account_to_another_nick() {
    let mut people = Addressees::default();
    people.reach(seconds(0), &row(1), asked(ACCOUNT));
    notify(&mut people, 1, Some("eve"));
    people.reach(seconds(1), &row(1), asked(ACCOUNT));
    assert!(!hear(&mut people, 2, &["@account=bob :alice_!a@h JOIN #r"]));
    assert!(hear(&mut people, 2, &["@account=alice-at-home :alice_!a@h JOIN #r"]));
    let wait = people.reach(seconds(2), &row(1), asked(ACCOUNT));
    assert_eq!(wait, Reach::Wait(vec![nick("alice_")]), "the tag alone does not do");
    let lines = [
        ":irc 311 ada alice_ a host * :A",
        ":irc 330 ada alice_ alice-at-home :is logged in as",
        ":irc 318 ada alice_ :End",
    ];
    assert!(hear(&mut people, 3, &lines));
    let go = people.reach(seconds(3), &row(1), asked(ACCOUNT));
    assert_eq!(go, Reach::Go(nick("alice_")));
    assert_eq!(people.is_away(seconds(3), &row(1), asked(ACCOUNT)), Reach::Away);
    people.drop_line(OutboxId(1));
    let wait = people.reach(seconds(4), &row(1), asked(ACCOUNT));
    assert_eq!(wait, Reach::Away, "it has gone from there");
}

/// Only what answers a question of ours counts.
#[test]
fn replies_to_nobody_are_passed_over() {
    let mut people = Addressees::default();
    assert!(!notify(&mut people, 0, ACCOUNT));
    assert_eq!(people.reach(seconds(0), &row(1), asked(ACCOUNT)), Reach::Wait(vec![nick("alice")]));
    people.reach(seconds(11), &row(2), asked(ACCOUNT));
    assert!(notify(&mut people, 12, ACCOUNT));
}

#[test]
fn who_is_waited_for_is_looked_for_a_few_at_a_time() {
    let mut people = Addressees::default();
    for id in 1..=6 {
        let asked = Asked { nick: nick(&format!("p{id}")), account: None };
        people.is_away(seconds(0), &row(id), asked);
    }
    assert_eq!(people.look(seconds(59)), []);
    let first = people.look(seconds(60));
    assert_eq!(first.len(), LOOKS_MAX);
    let second = people.look(seconds(90));
    assert_eq!(second.len(), 6 - LOOKS_MAX);
    assert!(second.iter().all(|nick| !first.contains(nick)));
    assert_eq!(people.look(seconds(91)), []);
    assert_eq!(people.look(seconds(120)), first);
}

/// Somebody who shares no room with us is found by looking.
#[test]
fn who_is_found_by_looking_gets_the_answer() {
    let mut people = Addressees::default();
    people.is_away(seconds(0), &row(1), asked(None));
    assert_eq!(people.look(seconds(60)), [nick("alice")]);
    hear(&mut people, 61, &GONE);
    assert_eq!(people.reach(seconds(61), &row(1), asked(None)), Reach::Away);
    assert_eq!(people.look(seconds(120)), [nick("alice")]);
    assert!(notify(&mut people, 121, None));
    assert_eq!(people.reach(seconds(121), &row(1), asked(None)), Reach::Go(nick("alice")));
}

#[test]
fn lines_wait_for_a_day_and_no_more_than_the_bound() {
    let mut people = Addressees::default();
    people.is_away(seconds(0), &row(1), asked(None));
    let day = UnixMicros(24 * 3600 * 1_000_000);
    assert!(people.expired(UnixMicros(day.0 - 1)).is_empty());
    assert_eq!(people.expired(day).len(), 1);
    assert!(people.is_waited_for("ALICE"));
    people.drop_line(OutboxId(1));
    assert!(people.expired(day).is_empty() && !people.is_waited_for("alice"));
    for id in 1..=i64::try_from(WAITING_MAX).unwrap() {
        assert_eq!(people.is_away(seconds(0), &row(id), asked(None)), Reach::Away);
    }
    assert_eq!(people.is_away(seconds(0), &row(-1), asked(None)), Reach::GiveUp);
}

/// What is known of people for whom nothing waits is forgotten.
#[test]
fn nicks_are_not_collected() {
    let mut people = Addressees::default();
    for id in 1..=9 {
        let asked = Asked { nick: nick(&format!("p{id}")), account: Some("a".to_owned()) };
        people.reach(seconds(0), &row(id), asked);
        people.drop_line(OutboxId(id));
    }
    people.look(seconds(61));
    assert!(people.nicks.is_empty());
    people.seen("x", Some("a"));
    assert!(people.seen_as.is_empty());
}
