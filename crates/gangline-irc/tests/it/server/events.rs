//! CHATHISTORY with `draft/event-playback`: what happened, among what was said.

use std::sync::{Arc, atomic::Ordering};

use gangline_irc::{
    server::{access::Access, config::Limits, trust::Origin},
    wire::Message,
};

use super::{
    history::{ask, texts},
    support::{Disk, Peer, Room},
};

/// A client that wants events too.
async fn reader(room: &Room, nick: &str) -> Peer {
    let mut peer = room.modern(nick).await;
    negotiate(&mut peer, "draft/event-playback").await;
    peer
}

async fn negotiate(peer: &mut Peer, caps: &str) {
    peer.send(&format!("CAP REQ :{caps}")).await;
    assert_eq!(peer.until("CAP").await.at(1), Some("ACK"));
}

/// The lines without what is different in each run: who, command, words.
fn shown(lines: &[Message]) -> Vec<String> {
    let one = |line: &Message| {
        let who = line.nick().unwrap_or_default();
        format!("{who} {} {}", line.command, line.params.join(" ")).trim_end().to_owned()
    };
    lines.iter().map(one).collect()
}

/// Says something and waits until it is shown.
async fn say(peer: &mut Peer, text: &str) {
    peer.send(&format!("PRIVMSG #room :{text}")).await;
    peer.until("PRIVMSG").await;
}

/// A room in which everything happens that is recorded. Returns who reads and who does not.
async fn eventful(room: &Room) -> (Peer, Peer) {
    let mut ann = reader(room, "ann").await;
    let mut ben = room.modern("ben").await;
    ann.join("#Room").await;
    say(&mut ann, "one").await;
    ben.join("#room").await;
    ann.until("JOIN").await;
    ann.send("MODE #room +ov ben ben").await;
    ann.until("MODE").await;
    ann.send("MODE #room +lk 9 sesame").await;
    ann.until("MODE").await;
    ben.send("TOPIC #room :work").await;
    ann.until("TOPIC").await;
    say(&mut ann, "two").await;
    ben.send("NICK bob").await;
    ann.until("NICK").await;
    ben.send("PART #room :lunch").await;
    ann.until("PART").await;
    ben.send("JOIN #room sesame").await;
    ben.until("366").await;
    ann.send("KICK #room bob :enough").await;
    ann.until("KICK").await;
    let mut cat = room.modern("cat").await;
    cat.send("JOIN #room sesame").await;
    cat.until("366").await;
    cat.send("QUIT :bye").await;
    cat.until_closed().await;
    ann.until("QUIT").await;
    say(&mut ann, "three").await;
    ben.send("JOIN #room sesame").await;
    ben.until("366").await;
    ann.until("JOIN").await;
    (ann, ben)
}

const ALL: [&str; 14] = [
    "ann PRIVMSG #room one",
    "ben JOIN #Room",
    "ann MODE #Room +ov ben ben",
    "ann MODE #Room +kl * 9",
    "ben TOPIC #Room work",
    "ann PRIVMSG #room two",
    "ben NICK bob",
    "bob PART #Room lunch",
    "bob JOIN #Room",
    "ann KICK #Room bob enough",
    "cat JOIN #Room",
    "cat QUIT Quit: bye",
    "ann PRIVMSG #room three",
    "bob JOIN #Room",
];

#[tokio::test]
async fn who_asked_for_events_gets_them_among_the_lines_and_others_do_not() {
    let room = Room::open().await;
    let (mut ann, mut ben) = eventful(&room).await;
    let lines = ask(&mut ann, "LATEST #room * 100").await;
    // Ann's own JOIN was before the first line: the room had no history yet.
    assert_eq!(shown(&lines), ALL);
    assert!(lines.iter().all(|line| line.tag("time").is_some() && line.tag("msgid").is_some()));
    // The ids and times are those of the lines as they were shown.
    for line in &lines {
        let id = format!("msgid={}", line.tag("msgid").unwrap());
        let time = format!("time={}", line.tag("time").unwrap());
        let live = |seen: &&String| !seen.contains("batch=") && seen.contains(&id);
        let live = ann.seen.iter().find(live);
        assert!(live.is_some_and(|live| live.contains(&time)), "{line:?}");
    }
    assert!(!ann.seen.iter().any(|seen| seen.contains("batch=") && seen.contains("sesame")));
    let lines = ask(&mut ben, "LATEST #room * 100").await;
    assert_eq!(texts(&lines), ["one", "two", "three"]);
    room.shut().await;
}

#[tokio::test]
async fn events_count_and_are_paged_with_the_lines_in_both_directions() {
    let room = Room::open().await;
    let (mut ann, _ben) = eventful(&room).await;
    for size in [1, 2, 5] {
        let mut back: Vec<Message> = Vec::new();
        loop {
            let request = match back.first() {
                None => format!("LATEST #room * {size}"),
                Some(oldest) => {
                    format!("BEFORE #room msgid={} {size}", oldest.tag("msgid").unwrap())
                }
            };
            let mut page = ask(&mut ann, &request).await;
            assert!(page.len() <= size, "{request}: {page:?}");
            if page.is_empty() {
                break;
            }
            page.append(&mut back);
            back = page;
        }
        assert_eq!(shown(&back), ALL, "back by {size}");
        let mut on: Vec<Message> = Vec::new();
        loop {
            let request = match on.last() {
                None => format!("AFTER #room timestamp=1990-01-01T00:00:00.000Z {size}"),
                Some(newest) => {
                    format!("AFTER #room msgid={} {size}", newest.tag("msgid").unwrap())
                }
            };
            let page = ask(&mut ann, &request).await;
            if page.is_empty() {
                break;
            }
            on.extend(page);
        }
        assert_eq!(shown(&on), ALL, "on by {size}");
    }
    let lines = ask(&mut ann, "LATEST #room * 100").await;
    let id = |at: usize| format!("msgid={}", lines[at].tag("msgid").unwrap());
    for (request, from, to) in [
        (format!("AROUND #room {} 4", id(7)), 5, 9),
        (format!("BETWEEN #room {} {} 50", id(1), id(4)), 2, 4),
        (format!("BETWEEN #room {} {} 2", id(9), id(2)), 7, 9),
        (format!("LATEST #room {} 50", id(11)), 12, 14),
    ] {
        assert_eq!(shown(&ask(&mut ann, &request).await), ALL[from..to], "{request}");
    }
    room.shut().await;
}

/// Agents and bots answer what they read.
#[tokio::test]
async fn agents_and_bots_get_no_events_whatever_they_asked_for() {
    let room = Room::open().await;
    let (_ann, mut ben) = eventful(&room).await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    negotiate(&mut ada, "draft/event-playback").await;
    ada.send("JOIN #room sesame").await;
    ada.until("366").await;
    assert_eq!(texts(&ask(&mut ada, "LATEST #room * 100").await), ["one", "two", "three"]);
    negotiate(&mut ben, "draft/event-playback").await;
    assert!(ask(&mut ben, "LATEST #room * 100").await.len() > 3);
    ben.send("MODE bob +B").await;
    ben.until("MODE").await;
    assert_eq!(texts(&ask(&mut ben, "LATEST #room * 100").await), ["one", "two", "three"]);
    room.shut().await;
}

#[tokio::test]
async fn a_join_is_shown_with_account_and_real_name_to_those_who_asked() {
    let room = Room::open().await;
    let mut ann = reader(&room, "ann").await;
    ann.join("#room").await;
    say(&mut ann, "one").await;
    let mut boss = room.account("boss", "owner").await;
    boss.join("#room").await;
    let plain = ask(&mut ann, "LATEST #room * 1").await;
    assert_eq!(shown(&plain), ["boss JOIN #room"]);
    assert_eq!(plain[0].tag("account"), Some("owner"));
    negotiate(&mut ann, "extended-join").await;
    let extended = ask(&mut ann, "LATEST #room * 1").await;
    assert_eq!(shown(&extended), ["boss JOIN #room owner boss"]);
    room.shut().await;
}

/// Somebody who is not in a room gets nothing of it, and a room in which nothing was ever said
/// has no history.
#[tokio::test]
async fn events_of_other_rooms_and_of_silent_ones_are_not_shown() {
    let room = Room::open().await;
    let mut ann = reader(&room, "ann").await;
    let mut ben = reader(&room, "ben").await;
    for name in ["#room", "#silent"] {
        ann.join(name).await;
    }
    say(&mut ann, "one").await;
    ben.join("#silent").await;
    assert!(ask(&mut ben, "LATEST #silent * 100").await.is_empty());
    ben.send("CHATHISTORY LATEST #room * 100").await;
    assert_eq!(ben.until("FAIL").await.params[1], "INVALID_TARGET");
    // What is of one room only is not told in another.
    ann.send("TOPIC #room :secret").await;
    ann.until("TOPIC").await;
    ann.send("PRIVMSG #silent :hello").await;
    ann.until("PRIVMSG").await;
    ben.send("NICK bob").await;
    ben.until("NICK").await;
    let lines = ask(&mut ben, "LATEST #silent * 100").await;
    assert_eq!(shown(&lines), ["ann PRIVMSG #silent hello", "ben NICK bob"]);
    assert_eq!(
        shown(&ask(&mut ann, "LATEST #room * 9").await),
        ["ann PRIVMSG #room one", "ann TOPIC #room secret"]
    );
    // A private conversation has lines alone.
    ben.send("PRIVMSG ann :psst").await;
    ann.until("PRIVMSG").await;
    assert_eq!(shown(&ask(&mut ann, "LATEST bob * 9").await), ["bob PRIVMSG ann psst"]);
    room.shut().await;
}

/// While the disk is full, what happens is shown, and the history is answered.
#[tokio::test]
async fn a_full_disk_costs_events_and_nothing_else() {
    let room = Room::open().await;
    let mut ann = reader(&room, "ann").await;
    ann.join("#room").await;
    say(&mut ann, "one").await;
    room.disk.full.store(true, Ordering::SeqCst);
    let mut ben = room.modern("ben").await;
    ben.join("#room").await;
    ann.until("JOIN").await;
    assert_eq!(shown(&ask(&mut ann, "LATEST #room * 9").await), ["ann PRIVMSG #room one"]);
    room.disk.full.store(false, Ordering::SeqCst);
    ben.send("PART #room").await;
    ann.until("PART").await;
    let lines = ask(&mut ann, "LATEST #room * 9").await;
    assert_eq!(shown(&lines), ["ann PRIVMSG #room one", "ben PART #room"]);
    room.shut().await;
}

/// A clean end stores what waits.
#[tokio::test]
async fn events_are_there_after_a_restart() {
    let room = Room::open().await;
    let mut ann = reader(&room, "ann").await;
    ann.join("#room").await;
    say(&mut ann, "one").await;
    ann.send("TOPIC #room :last").await;
    ann.until("TOPIC").await;
    let disk: Arc<Disk> = room.disk.clone();
    room.shut().await;
    let limits = Limits { flood: None, ..Limits::default() };
    let set = |config: &mut gangline_irc::server::config::ServerConfig| config.limits = limits;
    let room = Room::again(disk, Access::default(), Origin::Own, set).await;
    let mut ann = reader(&room, "ann").await;
    ann.join("#room").await;
    let lines = ask(&mut ann, "LATEST #room * 9").await;
    assert_eq!(shown(&lines), ["ann PRIVMSG #room one", "ann TOPIC #room last", "ann JOIN #room"]);
    room.shut().await;
}
