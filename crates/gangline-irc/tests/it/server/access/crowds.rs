//! Too many connections, and those that never register.

use std::time::Duration;

use gangline_irc::server::{access::Guests, config::Limits, trust::Origin};

use super::{closed, guest_when_there_is_room, guests};
use crate::server::support::Room;

#[tokio::test]
async fn one_user_cannot_take_all_connections() {
    let limits = Limits { registering_each: 3, ready_each: 2, ..Limits::default() };
    let access = guests(Guests::Talk);
    let room = Room::behind(access, limits, Origin::Own).await;
    let mut idle = Vec::new();
    for _ in 0..3 {
        let mut peer = room.dial_as(2).await;
        // An answer proves that it was taken in.
        peer.send("PING x").await;
        peer.until("PONG").await;
        idle.push(peer);
    }
    // One more waits until one of them goes.
    let mut waits = room.dial_as(2).await;
    waits.send("PING later").await;
    // Others are let in meanwhile.
    room.plain("ann").await;
    let nothing = tokio::time::timeout(Duration::from_millis(200), waits.line()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    drop(idle.pop());
    waits.until("PONG").await;
    drop(waits);
    drop(idle);
    let mut peers = Vec::new();
    for nick in ["one", "two"] {
        peers.push(guest_when_there_is_room(&room, nick).await);
    }
    let mut third = room.dial_as(2).await;
    third.send("NICK third\r\nUSER t 0 * :t").await;
    let told = closed(third).await;
    assert!(told.last().unwrap().contains("has 2 connections already"), "{told:?}");
    for nick in ["a", "b", "c", "d"] {
        peers.push(room.plain(nick).await);
    }
    room.shut().await;
}

/// A bouncer whose users come back all at once loses none of them.
#[tokio::test]
async fn a_storm_of_one_user_registers_whole() {
    let limits = Limits { registering_each: 4, flood: None, ..Limits::default() };
    let room = Room::with(limits, Origin::Own).await;
    let mut peers = Vec::new();
    for number in 0..100 {
        let mut peer = room.dial().await;
        peer.nick = format!("user{number}");
        peers.push(peer);
    }
    // The last to come speaks first.
    for peer in peers.iter_mut().rev() {
        let nick = peer.nick.clone();
        peer.send(&format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}")).await;
    }
    for peer in &mut peers {
        peer.until("001").await;
    }
    room.shut().await;
}

/// ZNC sends a line every two seconds: each gives it more time, up to a limit.
#[tokio::test]
async fn a_line_gives_more_time_to_register_up_to_a_limit() {
    let limits = Limits {
        register_within: Duration::from_millis(1000),
        register_at_most: Duration::from_millis(2500),
        ..Limits::default()
    };
    let room = Room::with(limits, Origin::Own).await;
    let (mut slow, mut endless) = (room.dial().await, room.dial().await);
    let clock = gangline_os::clock::system();
    let begun = clock.monotonic();
    let slowly = async {
        for word in ["CAP LS 302", "NICK slow", "USER s 0 * :s"] {
            slow.send(word).await;
            // sleep: a client that sends slowly is what is tested
            tokio::time::sleep(Duration::from_millis(600)).await;
        }
        slow.send("CAP END").await;
        slow.until("001").await;
    };
    let endlessly = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(200));
        while endless.try_send("PING x").await {
            ticks.tick().await;
        }
    };
    let both = async { tokio::join!(slowly, endlessly) };
    tokio::time::timeout(super::super::support::DEADLINE, both).await.unwrap();
    assert!(endless.until_closed().await.contains("Registration timed out"));
    let took = clock.monotonic().saturating_sub(begun);
    assert!(took >= Duration::from_millis(2400), "{took:?}");
    room.shut().await;
}

/// Somebody's time to register ends although others come and go.
#[tokio::test]
async fn each_connection_has_its_own_time_to_register() {
    let limits = Limits { register_within: Duration::from_millis(300), ..Limits::default() };
    let room = Room::with(limits, Origin::Own).await;
    let mut idle = room.dial().await;
    let mut half = room.dial().await;
    half.send("NICK half").await;
    room.plain("ann").await;
    for peer in [&mut idle, &mut half] {
        assert!(peer.until_closed().await.contains("Registration timed out"));
    }
    room.shut().await;
}
