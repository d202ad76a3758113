//! Which answers count when a place was asked for more than once.

use gangline_core::{Principal, Tier};
use gangline_irc::client::{LinkCommand, LinkEvent};

use super::{Cursor, Refill};
use crate::chat::{
    intake::tests::{line, up},
    tests::{Rig, Room},
};

mod schedules;

fn lab() -> gangline_core::Target {
    "#lab".parse().unwrap()
}

/// Joins `#lab`; returns the number of the request for its history.
async fn joins(rig: &mut Rig) -> u64 {
    rig.chat.link_event(LinkEvent::Joined { channel: "#lab".parse().unwrap() }).await;
    asked(rig).expect("its history is asked for")
}

/// Returns the number of the newest request for a page.
fn asked(rig: &mut Rig) -> Option<u64> {
    let commands = std::iter::from_fn(|| rig.link.try_recv().ok());
    let request = |command| match command {
        LinkCommand::CatchUp { request, .. } => Some(request),
        _ => None,
    };
    commands.filter_map(request).last()
}

async fn nothing_is_left(rig: &mut Rig, request: u64) -> bool {
    rig.chat.link_event(LinkEvent::CaughtUp { target: lab(), request }).await;
    rig.chat.cursors.is_live(&lab())
}

/// F1: the place would pass over what the second answer brings, and a daemon killed before that
/// answer would never take it in.
#[tokio::test]
async fn only_the_answer_to_the_newest_request_says_that_lines_come_live() {
    let mut rig = Rig::open(true).await;
    let first = joins(&mut rig).await;
    let second = joins(&mut rig).await;
    assert!(!nothing_is_left(&mut rig, first).await);
    assert!(nothing_is_left(&mut rig, second).await);
    rig.chat.link_event(LinkEvent::Down { why: String::new(), retry_in: Default::default() }).await;
    assert!(!nothing_is_left(&mut rig, second).await, "it was the last connection's");
}

/// The same while the room is filled again with what was taken in and not read.
#[tokio::test]
async fn a_room_is_filled_once_however_often_it_was_asked_for() {
    let mut rig = Rig::open(true).await;
    let cursor = || "msgid=a.1".parse::<Cursor>().unwrap();
    let place = rig.chat.cursors.places.entry("#lab".to_owned()).or_default();
    place.refill = Some(Refill { after: cursor(), pages: 1 });
    place.cursor = Some(cursor());
    let first = joins(&mut rig).await;
    let second = joins(&mut rig).await;
    assert!(!nothing_is_left(&mut rig, first).await);
    assert!(!nothing_is_left(&mut rig, second).await, "history follows what was not read");
    let history = asked(&mut rig).expect("history is asked for");
    assert!(!nothing_is_left(&mut rig, second).await);
    assert!(nothing_is_left(&mut rig, history).await);
}

/// F1: a line that the store did not take is asked for again, whatever an earlier request finds.
#[tokio::test]
async fn a_line_that_was_lost_is_asked_for_again() {
    let mut room = Room::open().await;
    room.rig.chat.history = true;
    let first = joins(&mut room.rig).await;
    // Nothing is taken in any more.
    room.rig.chat.deps.closed.cancel();
    room.says(("boss", Tier::Owner), "#lab", "@oak-ada hello").await;
    assert!(!nothing_is_left(&mut room.rig, first).await);
    room.rig.chat.retry_catch_up();
    assert!(asked(&mut room.rig).is_some_and(|again| again > first));
}

/// F1: what is said between that answer and the JOIN is in no other.
#[tokio::test]
async fn what_history_tells_of_a_room_before_the_join_is_not_all() {
    let mut rig = Rig::open(true).await;
    rig.chat.catch_up(lab());
    let early = asked(&mut rig).expect("its history is asked for");
    assert!(nothing_is_left(&mut rig, early).await);
    let second = joins(&mut rig).await;
    assert!(second > early && !rig.chat.cursors.is_live(&lab()));
}

/// A direct line of the owner's, who is logged in and has the nick `boss`, with a place and a time.
fn direct(number: u32, time: &str) -> gangline_irc::client::Line {
    let id = format!("a.{number}");
    gangline_irc::client::Line {
        target: "oak-ada".parse().unwrap(),
        nick: "boss".to_owned(),
        principal: Some(Principal { account: "owner".to_owned(), tier: Tier::Owner }),
        msgid: Some(id.clone()),
        cursor: Cursor::msgid(&id).ok(),
        server_time: Some(time.to_owned()),
        ..line(&format!("question {number}"))
    }
}

async fn is_up(rig: &mut Rig) -> Vec<LinkCommand> {
    rig.chat.link_event(up(&["batch", "draft/chathistory"])).await;
    std::iter::from_fn(|| rig.link.try_recv().ok()).collect()
}

async fn found(rig: &mut Rig, targets: &[(&str, &str)], more: bool) -> Vec<LinkCommand> {
    let target = |(nick, time): &(&str, &str)| (nick.parse().unwrap(), (*time).to_owned());
    let targets = targets.iter().map(target).collect();
    rig.chat.link_event(LinkEvent::HistoryTargets { targets, more }).await;
    std::iter::from_fn(|| rig.link.try_recv().ok()).collect()
}

fn looks(commands: &[LinkCommand]) -> Vec<&str> {
    let mut after = Vec::new();
    for command in commands {
        if let LinkCommand::FindTargets { after: from } = command {
            after.push(from.as_str());
        }
    }
    after
}

/// Where the store has the agent's place in what the owner says to it: the server tells of it by the account.
async fn kept(rig: &Rig) -> Option<String> {
    let deps = &rig.chat.deps;
    let kept = deps.store.cursors(&deps.agent, &deps.network_id).await.unwrap();
    kept.into_iter().find(|(target, _)| target == "owner").map(|(_, cursor)| cursor)
}

/// F1: the server tells times in milliseconds, and what is after them.
#[tokio::test]
async fn who_wrote_in_the_same_millisecond_is_looked_for_again() {
    let mut rig = Rig::open(true).await;
    assert!(rig.chat.load_cursors().await);
    is_up(&mut rig).await;
    found(&mut rig, &[], false).await;
    rig.chat.link_event(LinkEvent::Line(direct(1, "2100-01-01T00:00:00.007Z"))).await;
    assert_eq!(looks(&is_up(&mut rig).await), ["2100-01-01T00:00:00.006Z"]);
}

/// A word or an answer that was taken live would be a prompt if history told it to a successor.
#[tokio::test]
async fn a_live_direct_line_moves_its_place_though_history_was_not_asked() {
    let mut rig = Rig::open(true).await;
    assert!(rig.chat.load_cursors().await);
    is_up(&mut rig).await;
    rig.chat.link_event(LinkEvent::Line(direct(1, "2100-01-01T00:00:00.001Z"))).await;
    assert_eq!(kept(&rig).await, None, "there may be lines before it");
    found(&mut rig, &[], false).await;
    rig.chat.link_event(LinkEvent::Line(direct(2, "2100-01-01T00:00:00.002Z"))).await;
    assert_eq!(kept(&rig).await.as_deref(), Some("msgid=a.2"));
    let late =
        gangline_irc::client::Line { from_history: true, ..direct(1, "2100-01-01T00:00:00.001Z") };
    rig.chat.link_event(LinkEvent::Line(late)).await;
    rig.chat.keep_cursors().await;
    assert_eq!(kept(&rig).await.as_deref(), Some("msgid=a.2"), "it is from before");
    assert_eq!(rig.chat.cursors.looked_at.as_deref(), Some("2100-01-01T00:00:00.002Z"));
}

/// F1: an answer names only so many people. The agent asks for the others before it moves on.
#[tokio::test]
async fn all_who_wrote_are_found_however_many_they_are() {
    let mut rig = Rig::open(true).await;
    assert!(rig.chat.load_cursors().await);
    is_up(&mut rig).await;
    let (one, two) = ("2100-01-01T00:00:00.001Z", "2100-01-01T00:00:00.005Z");
    let commands = found(&mut rig, &[("kim", one), ("boss", two)], true).await;
    assert_eq!(looks(&commands), ["2100-01-01T00:00:00.004Z"]);
    let again = found(&mut rig, &[("kim", one), ("boss", two)], true).await;
    assert_eq!(looks(&again), [""; 0], "the answer to the same request");
    assert!(!rig.chat.cursors.targets_known);
    let rest = found(&mut rig, &[("boss", two), ("zoe", two)], true).await;
    assert_eq!(looks(&rest), [two], "all of this millisecond");
    found(&mut rig, &[], false).await;
    assert!(rig.chat.cursors.targets_known);
}

/// The server would refuse it, at every tick.
#[tokio::test]
async fn what_was_lost_in_a_room_that_the_agent_has_left_is_not_asked_for() {
    let mut room = Room::open().await;
    room.rig.chat.history = true;
    joins(&mut room.rig).await;
    room.rig.chat.deps.closed.cancel();
    room.says(("boss", Tier::Owner), "#lab", "@oak-ada hello").await;
    let (channel, why) = ("#lab".parse().unwrap(), String::new());
    room.rig.chat.link_event(LinkEvent::Parted { channel, why }).await;
    room.rig.chat.retry_catch_up();
    assert_eq!(asked(&mut room.rig), None);
    assert!(joins(&mut room.rig).await > 0);
}

/// The server tells of a conversation by the account: what is said under another nick while that one's history is
/// on its way is in it.
#[tokio::test]
async fn a_word_under_another_nick_than_the_account_is_to_come_with_its_history() {
    let mut rig = Rig::open(true).await;
    assert!(rig.chat.load_cursors().await);
    is_up(&mut rig).await;
    found(&mut rig, &[("owner", "2100-01-01T00:00:00.001Z")], false).await;
    let word = gangline_irc::client::Line {
        text: "status".to_owned(),
        ..direct(1, "2100-01-01T00:00:00.002Z")
    };
    rig.chat.link_event(LinkEvent::Line(word)).await;
    assert_eq!(rig.chat.words, ["a.1"]);
}
