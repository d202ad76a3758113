//! One person with two clients: which has the nick, what both are shown, and what counts as read.

use std::{sync::Arc, time::Duration};

use gangline_irc::server::{
    access::{Access, Guests},
    config::Limits,
    trust::Origin,
};

use super::support::{Disk, Peer, Room};

fn limits() -> Limits {
    Limits { flood: None, answer_within: Duration::from_secs(2), ..Limits::default() }
}

async fn dial_owner(room: &Room, nick: &str) -> Peer {
    let mut peer = room.dial().await;
    peer.nick = nick.to_owned();
    peer.send(&format!("PASS owner:pw-owner\r\nNICK {nick}\r\nUSER o 0 * :o")).await;
    peer
}

/// Answers what the server asks.
async fn pong(peer: &mut Peer) {
    peer.until("PING").await;
    peer.send("PONG :irctest").await;
}

/// Laptop and phone come with the same lines of `gangline join`: neither throws the other out.
#[tokio::test]
async fn a_nick_stays_with_the_client_that_answers() {
    let room = Room::with(limits(), Origin::Own).await;
    let mut laptop = dial_owner(&room, "ori").await;
    laptop.until("422").await;
    for _ in 0..3 {
        let mut phone = dial_owner(&room, "ori").await;
        pong(&mut laptop).await;
        let refused = phone.until("433").await;
        assert_eq!(refused.params[1], "ori");
        let told = phone.until("NOTICE").await;
        for part in ["another client of your account `owner`", "Choose another nick", "ori_"] {
            assert!(told.params[1].contains(part), "{part}: {told:?}");
        }
        // What clients do by themselves.
        phone.send("NICK ori_").await;
        phone.until("001").await;
        phone.send("WHOIS ori_").await;
        assert_eq!(phone.until("330").await.params[2], "owner");
        // The same by NICK afterwards; other requests wait for what comes of it.
        phone.send("NICK ori\r\nPING :behind").await;
        pong(&mut laptop).await;
        phone.until("433").await;
        phone.until("NOTICE").await;
        phone.until("PONG").await;
        phone.send("QUIT").await;
        phone.until_closed().await;
    }
    laptop.send("WHOIS ori").await;
    laptop.until("311").await;
    room.shut().await;
}

/// A connection that is dead loses the nick, at registration and by NICK.
#[tokio::test]
async fn a_nick_goes_from_a_client_that_does_not_answer() {
    let limits = Limits { answer_within: Duration::from_millis(300), ..limits() };
    let room = Room::with(limits, Origin::Own).await;
    let mut watcher = room.plain("watcher").await;
    watcher.join("#room").await;
    let mut dead = room.account("spark-ada", "spark-ada").await;
    dead.join("#room").await;
    let clock = gangline_os::clock::system();
    let begun = clock.monotonic();
    let mut fresh = room.account("spark-ada", "spark-ada").await;
    assert!(clock.monotonic().saturating_sub(begun) >= Duration::from_millis(300));
    let told = dead.until_closed().await;
    assert!(told.contains("Replaced by a new connection: this one did not answer"), "{told}");
    assert_eq!(watcher.until("QUIT").await.nick(), Some("spark-ada"));
    fresh.join("#room").await;
    assert_eq!(watcher.until("JOIN").await.nick(), Some("spark-ada"));
    let mut other = room.account("spark-ada_", "spark-ada").await;
    other.send("@label=n NICK spark-ada").await;
    let changed = other.until("NICK").await;
    assert_eq!((changed.label(), &*changed.params[0]), (Some("n"), "spark-ada"));
    assert!(fresh.until_closed().await.contains("did not answer"));
    room.shut().await;
}

/// Who waits for a nick gets it as soon as its holder goes, and keeps nobody waiting who leaves.
#[tokio::test]
async fn a_nick_whose_holder_leaves_is_had_at_once() {
    let limits = Limits { answer_within: super::support::DEADLINE * 2, ..limits() };
    let room = Room::with(limits, Origin::Own).await;
    let mut first = dial_owner(&room, "ori").await;
    first.until("422").await;
    let mut gives_up = dial_owner(&room, "ori").await;
    first.until("PING").await;
    gives_up.send("QUIT").await;
    gives_up.until_closed().await;
    let mut second = dial_owner(&room, "ori").await;
    first.until("PING").await;
    first.send("QUIT").await;
    second.until("001").await;
    room.shut().await;
}

/// What somebody says in private is seen by their other clients, as their own line.
#[tokio::test]
async fn own_private_lines_are_shown_to_the_other_clients_of_the_account() {
    let room = Room::with(limits(), Origin::Own).await;
    let mut laptop = room.account("ori", "owner").await;
    let mut phone = room.account("phone", "owner").await;
    let mut old = dial_owner(&room, "old").await;
    old.until("422").await;
    let mut ulf = room.plain("ulf").await;
    laptop.send("@label=x PRIVMSG ulf :hi").await;
    let echo = laptop.until("PRIVMSG").await;
    assert_eq!(echo.label(), Some("x"));
    let shown = phone.until("PRIVMSG").await;
    assert_eq!(
        (shown.nick(), &shown.params[..]),
        (Some("phone"), &["ulf".to_owned(), "hi".into()][..])
    );
    assert_eq!(shown.tag("msgid"), echo.tag("msgid"));
    assert_eq!(ulf.until("PRIVMSG").await.nick(), Some("ori"));
    assert!(laptop.caught_up().await.iter().all(|line| line.command != "PRIVMSG"), "once");
    // A client that does not ask for its own lines would take it for somebody else's.
    assert!(old.caught_up().await.iter().all(|line| line.command != "PRIVMSG"));
    ulf.send("PRIVMSG ori :hello").await;
    for peer in [&mut laptop, &mut phone, &mut old] {
        assert_eq!(peer.until("PRIVMSG").await.params[1], "hello");
    }
    room.shut().await;
}

async fn again(room: Room, limits: Limits) -> Room {
    let disk: Arc<Disk> = room.disk.clone();
    room.shut().await;
    let access = Access { guests: Guests::Talk, ..Access::default() };
    Room::again(disk, access, Origin::Own, |config| config.limits = limits).await
}

async fn missed(room: &Room, nick: &str) -> Vec<String> {
    let mut peer = room.plain(nick).await;
    peer.send("JOIN #room").await;
    let told = peer.caught_up().await;
    let said = told.iter().filter(|line| line.command == "PRIVMSG");
    said.map(|line| line.params[1].clone()).collect()
}

/// A client that only reads is asked soon after the last line, and what it has read is stored then.
#[tokio::test]
async fn what_a_silent_client_has_read_is_stored_soon() {
    let limits = Limits { read_within: Duration::from_millis(300), ..limits() };
    let room = Room::with(limits.clone(), Origin::Own).await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.plain("ann").await;
    ada.join("#room").await;
    ann.join("#room").await;
    ann.caught_up().await;
    let before = room.disk.kept_marks().await;
    for text in ["one", "two"] {
        ada.send(&format!("PRIVMSG #room :{text}")).await;
    }
    let clock = gangline_os::clock::system();
    let begun = clock.monotonic();
    ann.until("PRIVMSG").await;
    pong(&mut ann).await;
    while room.disk.kept_marks().await <= before {
        tokio::task::yield_now().await;
    }
    let took = clock.monotonic().saturating_sub(begun);
    assert!(took < Duration::from_secs(30), "long before the tick of the server: {took:?}");
    // Quiet now: nobody is asked again.
    let quiet = tokio::time::timeout(Duration::from_millis(700), ann.until("PING")).await;
    assert!(quiet.is_err(), "{quiet:?}");
    room.shut().await;
}

/// A stop asks before it ends.
#[tokio::test]
async fn what_was_read_before_a_stop_is_not_shown_after_it() {
    let limits = Limits {
        read_within: super::support::DEADLINE * 2,
        hear_out: super::support::DEADLINE,
        ..limits()
    };
    let room = Room::with(limits.clone(), Origin::Own).await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.plain("ann").await;
    ada.join("#room").await;
    ann.join("#room").await;
    ann.caught_up().await;
    ada.send("PRIVMSG #room :seen").await;
    ann.until("PRIVMSG").await;
    let (room, ()) = tokio::join!(again(room, limits), async {
        pong(&mut ann).await;
        ann.until("ERROR").await;
    });
    let none: [String; 0] = [];
    assert_eq!(missed(&room, "ann").await, none);
    room.shut().await;
}
