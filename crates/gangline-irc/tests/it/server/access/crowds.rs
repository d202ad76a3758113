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
    let told = closed(room.dial_as(2).await).await;
    assert!(told[0].contains("3 connections of your user have not registered"), "{told:?}");
    // Others are let in meanwhile.
    room.plain("ann").await;
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
