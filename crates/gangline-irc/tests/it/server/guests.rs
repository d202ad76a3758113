//! Guests who may talk: what they do ends with them, and changes nothing for others.

use std::collections::BTreeMap;

use gangline_irc::server::{
    access::{Access, Guests, RoomRule},
    config::Limits,
    trust::Origin,
};
use gangline_os::secret::Secret;

use super::support::{Peer, Room};

async fn talking(rooms: BTreeMap<String, RoomRule>) -> Room {
    let access = Access { guests: Guests::Talk, rooms, ..Access::default() };
    Room::behind(access, Limits { flood: None, ..Limits::default() }, Origin::Own).await
}

/// Registers as another user, without an account.
async fn guest(room: &Room, nick: &str) -> Peer {
    let mut peer = room.dial_as(2).await;
    peer.nick = nick.to_owned();
    peer.send(&format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}")).await;
    peer.until("422").await;
    peer
}

/// The numerics that answer a line.
async fn answers(peer: &mut Peer, line: &str) -> Vec<String> {
    peer.send(line).await;
    peer.caught_up().await.into_iter().map(|line| line.command).collect()
}

async fn names(peer: &mut Peer, room: &str) -> String {
    peer.send(&format!("NAMES {room}")).await;
    peer.until("353").await.params[3].clone()
}

#[tokio::test]
async fn a_guest_who_opens_a_room_has_no_power_in_it() {
    let room = talking(BTreeMap::new()).await;
    let mut eve = guest(&room, "eve").await;
    eve.join("#mine").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#mine").await;
    eve.until("JOIN").await;
    for (line, answer) in [
        ("TOPIC #mine :mine for ever", "482"),
        ("MODE #mine +k sesame", "482"),
        ("MODE #mine +i", "482"),
        ("MODE #mine +b *!*@*", "482"),
        ("MODE #mine +o eve", "482"),
        ("KICK #mine spark-ada :out", "482"),
        // What ends with them they may do.
        ("TOPIC #mine", "331"),
        ("MODE #mine", "324"),
        ("AWAY :lunch", "306"),
    ] {
        let told = answers(&mut eve, line).await;
        assert_eq!(told.first().map(String::as_str), Some(answer), "{line}: {told:?}");
    }
    eve.send("PRIVMSG #mine :hello").await;
    assert_eq!(ada.until("PRIVMSG").await.params[1], "hello");
    room.shut().await;
}

/// A room is not without operators because a guest came first.
#[tokio::test]
async fn the_first_person_among_guests_is_the_operator() {
    let room = talking(BTreeMap::new()).await;
    let mut eve = guest(&room, "eve").await;
    let mut mal = guest(&room, "mal").await;
    eve.join("#lab").await;
    mal.join("#lab").await;
    let mut ann = room.plain("ann").await;
    ann.join("#lab").await;
    let mut ben = room.plain("ben").await;
    ben.join("#lab").await;
    let here = names(&mut ben, "#lab").await;
    let mut here: Vec<&str> = here.split(' ').collect();
    here.sort_unstable();
    assert_eq!(here, ["@ann", "ben", "eve", "mal"]);
    ann.send("KICK #lab eve").await;
    assert_eq!(eve.until("KICK").await.params[1], "eve");
    room.shut().await;
}

#[tokio::test]
async fn nobody_makes_a_guest_an_operator() {
    let room = talking(BTreeMap::new()).await;
    let mut ann = room.plain("ann").await;
    let mut eve = guest(&room, "eve").await;
    ann.join("#lab").await;
    eve.join("#lab").await;
    ann.caught_up().await;
    ann.send("MODE #lab +ov eve eve").await;
    let refused = ann.until("482").await;
    assert!(refused.params[2].contains("eve has no account"), "{refused:?}");
    assert_eq!(ann.until("MODE").await.params, ["#lab", "+v", "eve"]);
    assert!(names(&mut ann, "#lab").await.contains("+eve"));
    // A person of our own is one, as before.
    let mut ben = room.plain("ben").await;
    ben.join("#lab").await;
    ann.send("MODE #lab +o ben").await;
    assert_eq!(ben.until("MODE").await.params[1..], ["+o", "ben"]);
    room.shut().await;
}

/// A room that is for members only: a guest comes in by a member's invitation alone.
#[tokio::test]
async fn guests_may_be_kept_out_of_a_room_that_is_open_to_members() {
    let rule = RoomRule { no_guests: true, ..RoomRule::default() };
    let room = talking([("#alerts".to_owned(), rule)].into()).await;
    let mut eve = guest(&room, "eve").await;
    assert_eq!(answers(&mut eve, "JOIN #alerts").await, ["473"]);
    let mut ann = room.plain("ann").await;
    ann.join("#alerts").await;
    assert_eq!(answers(&mut eve, "JOIN #alerts").await, ["473"]);
    ann.send("INVITE eve #alerts").await;
    eve.until("INVITE").await;
    eve.join("#alerts").await;
    room.shut().await;
}

/// An invitation by a guest is a message; it opens no room, now or later.
#[tokio::test]
async fn an_invitation_by_a_guest_opens_nothing() {
    let rule = RoomRule { key: Some(Secret::new("sesame")), ..RoomRule::default() };
    let room = talking([("#ops".to_owned(), rule)].into()).await;
    let mut eve = guest(&room, "eve").await;
    let mut mal = guest(&room, "mal").await;
    eve.join("#ops sesame").await;
    assert_eq!(answers(&mut eve, "INVITE mal #ops").await, ["482"]);
    let mut ann = room.plain("ann").await;
    ann.join("#lab").await;
    eve.join("#lab").await;
    ann.caught_up().await;
    assert_eq!(answers(&mut eve, "INVITE mal #lab").await, ["341"]);
    mal.until("INVITE").await;
    ann.send("MODE #lab +i").await;
    ann.until("MODE").await;
    assert_eq!(answers(&mut mal, "JOIN #lab").await, ["473"]);
    assert_eq!(answers(&mut eve, "INVITE mal #lab").await, ["MODE", "482"]);
    ann.send("MODE #lab -i+k open").await;
    ann.until("MODE").await;
    assert_eq!(answers(&mut eve, "INVITE mal #lab").await, ["MODE", "482"]);
    // A person's invitation opens it.
    ann.send("INVITE mal #lab").await;
    mal.until("INVITE").await;
    mal.join("#lab").await;
    room.shut().await;
}
