//! What people hear whose lines wait.

use std::time::Duration;

use gangline_core::{
    Tier,
    agent::View,
    patience::{MINUTE, POSITION_AFTER, REASON_AFTER, REASONS_A_MINUTE},
};

use super::*;
use crate::chat::tests::Room;

const BOB: (&str, Tier) = ("bob", Tier::Member);

fn see(room: &Room, change: impl Fn(&mut View)) {
    room.rig.showing.send_modify(|showing| change(&mut showing.view));
}

#[tokio::test]
async fn a_line_that_waits_is_told_why_within_two_seconds() {
    for (change, expect) in [
        (
            (|view: &mut View| view.paused = true) as fn(&mut View),
            "m1 is stored and waits: I am paused until my owner says `resume`",
        ),
        (
            |view| view.needs_login = true,
            "m1 is stored and waits: my backend is not logged in; I begin when it is",
        ),
        (
            |view| view.degraded = true,
            "m1 is stored and waits: my store cannot write now; I begin when it can again",
        ),
        (
            |view| view.draining = true,
            "m1 is stored and waits: my daemon is stopping; I begin after its next start",
        ),
    ] {
        for (to, text, before) in [("#lab", "@ada hi", "#lab bob: "), ("oak-ada", "hi", "bob ")] {
            let mut room = Room::open().await;
            see(&room, change);
            assert_eq!(room.says(BOB, to, text).await, [""; 0]);
            assert_eq!(room.later(Duration::from_secs(1)).await, [""; 0]);
            let told = room.later(REASON_AFTER - Duration::from_secs(1)).await;
            assert_eq!(told, [format!("{before}{expect}")]);
            assert_eq!(room.later(MINUTE).await, [""; 0], "once is enough");
        }
    }
}

/// A line behind an open turn gets a typing mark, and after 10 s its position.
#[tokio::test]
async fn a_line_that_waits_in_the_queue_is_told_its_position() {
    let mut room = Room::open().await;
    see(&room, |view| view.phase = PhaseName::Working);
    room.says(BOB, "#lab", "@ada one").await;
    room.says(("cat", Tier::Member), "oak-ada", "two").await;
    assert_eq!(room.later(REASON_AFTER).await, ["#lab is typing", "cat is typing"]);
    let told = room.later(POSITION_AFTER).await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("#lab bob: m1 waits, number 1 of 2 in the queue. Now: "),
        "{told:?}"
    );
    assert!(told[1].starts_with("cat m2 waits, number 2 of 2 in the queue. Now: "), "{told:?}");
    assert!(told[1].ends_with("`cancel m2` cancels it"), "{told:?}");
    assert_eq!(room.later(MINUTE).await, [""; 0]);
}

/// Whoever asks too often hears five reasons a minute; agents and strangers hear none.
#[tokio::test]
async fn reasons_are_few_and_for_people() {
    let mut room = Room::open().await;
    see(&room, |view| view.paused = true);
    for _ in 0..REASONS_A_MINUTE + 3 {
        room.says(BOB, "#lab", "@ada hi").await;
    }
    room.says(("oak-bob", Tier::Agent), "#lab", "@ada hi").await;
    let told = room.later(REASON_AFTER).await;
    assert_eq!(told.len(), REASONS_A_MINUTE, "{told:?}");
    room.says(BOB, "#lab", "@ada hi").await;
    assert_eq!(room.later(REASON_AFTER).await, [""; 0]);
    room.rig.clock.forward(MINUTE);
    room.says(BOB, "#lab", "@ada hi").await;
    assert_eq!(room.later(REASON_AFTER).await.len(), 1);
}

#[tokio::test]
async fn a_stranger_is_told_in_private_once_an_hour() {
    let mut room = Room::open().await;
    let eve = ("eve", Tier::Stranger);
    let told = room.says(eve, "#lab", "@ada hi").await;
    assert!(told.len() == 1 && told[0].starts_with("eve "), "{told:?}");
    assert_eq!(room.says(eve, "#lab", "@ada stauts").await, [""; 0]);
    for text in ["@ada help", "@ada yes 5", "@ada go on m1", "@ada no 5 please"] {
        assert_eq!(room.says(eve, "#lab", text).await, [""; 0], "{text}");
    }
    room.rig.clock.forward(STRANGER_EVERY);
    assert_eq!(room.says(eve, "#lab", "@ada hi").await.len(), 1);
    assert_eq!(room.prompts().await, [""; 0]);
}
