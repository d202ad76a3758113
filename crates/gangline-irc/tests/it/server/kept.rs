//! What is shown of a room is kept: topics and modes.

use std::sync::{Arc, atomic::Ordering};

use gangline_irc::server::{
    access::{Access, Guests, RoomRule},
    config::Limits,
    store::{HistoryStore as _, Topic},
    trust::Origin,
};
use gangline_os::clock::UnixMicros;

use super::support::{Disk, Peer, Room};

#[tokio::test]
async fn a_topic_or_mode_that_cannot_be_kept_is_refused_and_not_shown() {
    let room = Room::open().await;
    let mut ann = room.modern("ann").await;
    let mut ben = room.plain("ben").await;
    ann.join("#room").await;
    ben.join("#room").await;
    room.disk.full.store(true, Ordering::SeqCst);
    for (line, command) in [("TOPIC #room :new", "TOPIC"), ("MODE #room +k sesame", "MODE")] {
        ann.send(&format!("@label={command} {line}")).await;
        let refused = ann.until("FAIL").await;
        assert_eq!(refused.label(), Some(command));
        assert_eq!(refused.params[..3], [command, "STORE_FAILED", "#room"]);
        assert!(refused.params[3].contains("disk is full"), "{refused:?}");
    }
    ann.send("TOPIC #room").await;
    ann.until("331").await;
    ann.send("MODE #room").await;
    assert_eq!(ann.until("324").await.params[1..], ["#room", "+n"]);
    room.disk.full.store(false, Ordering::SeqCst);
    ann.send("@label=again TOPIC #room :newer").await;
    assert_eq!(ann.until("TOPIC").await.label(), Some("again"));
    ann.send("@label=modes MODE #room +ki sesame").await;
    let set = ann.until("MODE").await;
    assert_eq!(
        (set.label(), &set.params[..]),
        (Some("modes"), &["#room".to_owned(), "+ik".into(), "sesame".into()][..])
    );
    // Those who were not told of a change have seen none.
    let seen = ben.caught_up().await;
    let seen: Vec<&str> = seen.iter().map(|line| line.params[1].as_str()).collect();
    assert_eq!(seen, ["newer", "+ik"]);
    room.shut().await;
}

#[tokio::test]
async fn changes_that_follow_each_other_are_shown_as_they_are_kept() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    ann.send("MODE #room +mt\r\nMODE #room -m+l 5\r\nTOPIC #room :one\r\nTOPIC #room :two").await;
    assert_eq!(ann.until("MODE").await.params, ["#room", "+mt"]);
    assert_eq!(ann.until("MODE").await.params, ["#room", "+l-m", "5"]);
    for topic in ["one", "two"] {
        assert_eq!(ann.until("TOPIC").await.params[1], topic);
    }
    ann.send("MODE #room").await;
    assert_eq!(ann.until("324").await.params[1..], ["#room", "+ntl", "5"]);
    room.shut().await;
}

fn topic(name: &str, at: i64) -> Topic {
    let (text, by) = ("old".to_owned(), "zoe!~z@localhost".to_owned());
    Topic { channel: name.parse().unwrap(), text, by, at: UnixMicros(at) }
}

/// Beyond the bound the oldest go, but not those of rooms with somebody in them, or with a place in
/// the configuration.
#[tokio::test]
async fn topics_of_rooms_that_are_gone_are_kept_up_to_a_number() {
    const MOST: usize = 10_000;
    let room = Room::open().await;
    let disk: Arc<Disk> = room.disk.clone();
    room.shut().await;
    for number in 0..MOST {
        let at = i64::try_from(number).unwrap();
        disk.put_topic(topic(&format!("#r{number}"), at)).await.unwrap();
    }
    let rooms = [("#r0".to_owned(), RoomRule::default())].into();
    let access = Access { rooms, ..access() };
    let room = Room::again(disk, access, Origin::Own, |_| {}).await;
    let mut ann = room.plain("ann").await;
    for name in ["#r1", "#new", "#newer"] {
        ann.join(name).await;
    }
    for name in ["#new", "#newer"] {
        ann.send(&format!("TOPIC {name} :mine")).await;
        ann.until("TOPIC").await;
    }
    ann.send("JOIN #r2,#r3,#r4").await;
    for (number, what) in [("366", "#r2"), ("366", "#r3"), ("332", "#r4")] {
        assert_eq!(ann.until(number).await.params[1], what);
    }
    let disk: Arc<Disk> = room.disk.clone();
    room.shut().await;
    let kept = disk.topics().await.unwrap();
    assert_eq!(kept.len(), MOST);
    for (name, is_kept) in
        [("#r0", true), ("#r1", true), ("#r2", false), ("#r3", false), ("#r4", true)]
    {
        let found = kept.iter().any(|topic| topic.channel.as_str() == name);
        assert_eq!(found, is_kept, "{name}");
    }
}

/// A look at the start has found damage: the owner hears it, also one who comes later.
#[tokio::test]
async fn owners_are_told_of_damage_that_the_look_at_the_start_has_found() {
    let room = Room::open().await;
    let disk: Arc<Disk> = room.disk.clone();
    room.shut().await;
    let mut disk = Arc::into_inner(disk).unwrap();
    disk.damage = Some("irc.db is damaged (page 7)".to_owned());
    let room = Room::again(Arc::new(disk), access(), Origin::Own, |_| {}).await;
    let mut ann = room.modern("ann").await;
    for nick in ["boss", "chief"] {
        let mut boss = room.account(nick, "owner").await;
        let told = boss.until("NOTICE").await;
        assert!(told.params[1].contains("irc.db is damaged (page 7)"), "{told:?}");
    }
    assert!(ann.caught_up().await.iter().all(|line| line.command != "NOTICE"));
    room.shut().await;
}

fn access() -> Access {
    Access { guests: Guests::Talk, ..Access::default() }
}

async fn refused(peer: &mut Peer, number: &str) {
    peer.send("JOIN #room").await;
    assert_eq!(peer.until(number).await.params[1], "#room");
}

#[tokio::test]
async fn the_modes_of_a_room_hold_when_it_was_empty_and_after_a_restart() {
    let limits = Limits { flood: None, ..Limits::default() };
    let room = Room::with(limits.clone(), Origin::Own).await;
    let mut ann = room.plain("ann").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ann.join("#Room").await;
    ada.join("#room").await;
    ann.send("MODE #room +ik sesame").await;
    ann.until("MODE").await;
    for peer in [&mut ann, &mut ada] {
        peer.send("PART #room").await;
        peer.caught_up().await;
    }
    let mut ben = room.plain("ben").await;
    refused(&mut ben, "473").await;
    let disk: std::sync::Arc<Disk> = room.disk.clone();
    room.shut().await;

    let room = Room::again(disk, access(), Origin::Own, |config| config.limits = limits).await;
    let mut ben = room.plain("ben").await;
    refused(&mut ben, "473").await;
    let mut bob = room.account("spark-bob", "spark-bob").await;
    refused(&mut bob, "473").await;
    // The agent that was in it comes back. Whoever has the nick of who closed it does not: only the
    // owner may open it now.
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let mut ann = room.plain("ann").await;
    refused(&mut ann, "473").await;
    let mut boss = room.account("boss", "owner").await;
    boss.send("JOIN #room").await;
    let names = boss.until("353").await;
    assert!(names.params[3].contains("@boss"), "{names:?}");
    boss.send("MODE #room -i").await;
    boss.until("MODE").await;
    refused(&mut ben, "475").await;
    ben.send("JOIN #room sesame").await;
    assert_eq!(ben.until("353").await.params[2], "#room");
    // Whoever is thrown out does not come back that way.
    boss.send("MODE #room +i\r\nKICK #room spark-ada").await;
    ada.until("KICK").await;
    refused(&mut ada, "473").await;
    boss.send("MODE #room -ik *").await;
    boss.until("MODE").await;
    assert_eq!(boss.until("MODE").await.params[1..], ["-ik", "*"]);
    let kept = room.disk.kept_rooms().await;
    let [row] = &kept[..] else { panic!("{kept:?}") };
    assert_eq!((row.founder.as_deref(), row.is_plain()), (Some("owner"), true));
    room.shut().await;
}
