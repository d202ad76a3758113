//! What is shown of a room is kept: topics and modes.

use std::sync::atomic::Ordering;

use gangline_irc::server::{access::Access, access::Guests, config::Limits, trust::Origin};

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
    // The agent that was in it comes back, and so does who closed it, as an operator.
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let mut ann = room.plain("ann").await;
    ann.send("JOIN #room").await;
    let names = ann.until("353").await;
    assert!(names.params[3].contains("@ann"), "{names:?}");
    ann.send("MODE #room -i").await;
    ann.until("MODE").await;
    refused(&mut ben, "475").await;
    ben.send("JOIN #room sesame").await;
    assert_eq!(ben.until("353").await.params[2], "#room");
    // Whoever is thrown out does not come back that way.
    ann.send("MODE #room +i\r\nKICK #room spark-ada").await;
    ada.until("KICK").await;
    refused(&mut ada, "473").await;
    ann.send("MODE #room -ik *").await;
    ann.until("MODE").await;
    assert_eq!(ann.until("MODE").await.params[1..], ["-ik", "*"]);
    assert!(room.disk.kept_modes().await.is_empty());
    room.shut().await;
}
