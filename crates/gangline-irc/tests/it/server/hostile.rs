//! Peers that mean harm, or do not read.

use std::time::Duration;

use gangline_irc::server::{config::Limits, trust::Origin};

use super::support::Room;

#[tokio::test]
async fn tags_that_only_the_server_may_set_are_stripped() {
    let room = Room::open().await;
    let mut eve = room.modern("eve").await;
    let mut ann = room.modern("ann").await;
    ann.join("#room").await;
    eve.join("#room").await;
    eve.send(
        "@gangline/principal=owner;gangline/tier=owner;account=owner;msgid=fake;bot;batch=b1;\
         time=1990-01-01T00:00:00.000Z;+gangline/tier=owner;+x=1 PRIVMSG #room :obey",
    )
    .await;
    let line = ann.until("PRIVMSG").await;
    assert_eq!(line.tag("gangline/principal"), Some("~eve"));
    assert_eq!(line.tag("gangline/tier"), Some("member"));
    assert_eq!(line.tag("account"), None);
    assert_eq!(line.tag("bot"), None);
    assert_eq!(line.tag("batch"), None);
    assert_ne!(line.tag("msgid"), Some("fake"));
    assert!(!line.tag("time").unwrap().starts_with("1990"));
    assert_eq!(line.tags.iter().filter(|(key, _)| key == "gangline/tier").count(), 1);
    assert_eq!(line.tag("+x"), Some("1"));
    room.shut().await;
}

#[tokio::test]
async fn control_bytes_inject_nothing() {
    let room = Room::open().await;
    let mut eve = room.plain("eve").await;
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    eve.join("#room").await;
    eve.raw(b"PRIVMSG #room :one\rPRIVMSG #room :two\r\n").await;
    assert!(eve.until("400").await.params[2].contains("CR, LF or NUL"));
    eve.raw(b"PRIVMSG #room :nul\0here\r\n").await;
    eve.until("400").await;
    eve.raw(b"PRIVMSG #room :\x1b[31mred\x07 \x02bold\x02 \x01ACTION waves\x01\r\n").await;
    assert_eq!(
        ann.until("PRIVMSG").await.params[1],
        "?[31mred? \u{2}bold\u{2} \u{1}ACTION waves\u{1}"
    );
    eve.raw(b"@+a=x\\r\\nQUIT PRIVMSG #room :tagged\r\n").await;
    assert_eq!(ann.until("PRIVMSG").await.params[1], "tagged");
    eve.raw(b"JOIN :#a b\r\nWHOIS :x\x02 y :z\r\nFLY:\r\n").await;
    assert!(ann.caught_up().await.is_empty());
    eve.caught_up().await;
    room.shut().await;
}

#[tokio::test]
async fn invalid_utf8_is_refused_and_not_relayed() {
    let room = Room::open().await;
    let mut eve = room.modern("eve").await;
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    eve.join("#room").await;
    ann.until("JOIN").await;
    eve.raw(b"PRIVMSG #room :\xff\xfe\r\n").await;
    assert_eq!(eve.until("FAIL").await.params[..2], ["PRIVMSG", "INVALID_UTF8"]);
    assert!(ann.caught_up().await.is_empty());
    room.shut().await;
}

#[tokio::test]
async fn too_long_a_line_is_refused_whole_and_never_cut() {
    let room = Room::open().await;
    let mut eve = room.plain("eve").await;
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    eve.join("#room").await;
    ann.until("JOIN").await;
    // Longer than a line, longer than a buffer, and too long only with the sender's name.
    for bytes in [600, 100_000, 495] {
        let line = format!("PRIVMSG #room :{}", "x".repeat(bytes));
        eve.send(&line).await;
        eve.until("417").await;
    }
    assert!(ann.caught_up().await.is_empty());
    let prefix = ":eve!~eve@localhost PRIVMSG #room :\r\n".len();
    let fits = "y".repeat(512 - prefix);
    eve.send(&format!("PRIVMSG #room :{fits}")).await;
    assert_eq!(ann.until("PRIVMSG").await.params[1], fits);
    assert_eq!(ann.seen.last().unwrap().len(), 512);
    room.shut().await;
}

#[tokio::test]
async fn a_reader_that_does_not_read_is_dropped_and_the_others_go_on() {
    let limits = Limits {
        flood: None,
        send_queue: 64 * 1024,
        grace: Duration::from_millis(200),
        ..Limits::default()
    };
    let room = Room::with(limits, Origin::Own).await;
    let mut ann = room.modern("ann").await;
    let mut ben = room.modern("ben").await;
    let mut deaf = room.modern("deaf").await;
    for peer in [&mut ann, &mut ben, &mut deaf] {
        peer.join("#room").await;
    }
    let text = "x".repeat(400);
    let mut gone = false;
    // The kernel's buffers take some megabytes before the queue fills.
    for _ in 0..100_000 {
        ann.send(&format!("PRIVMSG #room :{text}")).await;
        ben.until("PRIVMSG").await;
        loop {
            let line = ann.line().await.unwrap();
            gone |= line.command == "QUIT" && line.nick() == Some("deaf");
            if line.command == "PRIVMSG" {
                break;
            }
        }
        ann.seen.clear();
        ben.seen.clear();
        if gone {
            break;
        }
    }
    assert!(gone, "the deaf one is still there");
    // Half a line at its end must not look like a whole one.
    while deaf.line().await.is_some() {}
    let last = deaf.seen.last().unwrap();
    assert!(!last.ends_with('\n') || last.contains(&text) || last.starts_with("ERROR"), "{last}");
    ann.send("PRIVMSG ben :still here").await;
    assert_eq!(ben.until("PRIVMSG").await.params[1], "still here");
    room.shut().await;
}

#[tokio::test]
async fn hundreds_come_at_once() {
    let room = Room::open().await;
    let mut peers = Vec::new();
    for number in 0..200 {
        let mut peer = room.dial().await;
        peer.send(&format!("NICK n{number}\r\nUSER n 0 * :n\r\nJOIN #room")).await;
        peers.push(peer);
    }
    for peer in &mut peers {
        peer.until("366").await;
    }
    peers[0].send("PRIVMSG #room :all of you").await;
    for peer in &mut peers[1..] {
        assert_eq!(peer.until("PRIVMSG").await.params[1], "all of you");
    }
    room.shut().await;
}
