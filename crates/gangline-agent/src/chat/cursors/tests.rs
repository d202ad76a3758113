//! Which answers count when a place was asked for more than once.

use gangline_core::Tier;
use gangline_irc::client::{LinkCommand, LinkEvent};

use super::{Cursor, Refill};
use crate::chat::tests::{Rig, Room};

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
    rig.chat.cursors.is_caught_up(&lab())
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
