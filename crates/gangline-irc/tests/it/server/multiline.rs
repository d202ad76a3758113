//! Messages of several lines: `draft/multiline`.

use gangline_irc::wire::Message;

use super::support::{Peer, Room};

async fn several(room: &Room, nick: &str, account: Option<&str>) -> Peer {
    let mut peer = match account {
        Some(account) => room.account(nick, account).await,
        None => room.modern(nick).await,
    };
    peer.send("CAP REQ :draft/multiline").await;
    assert_eq!(peer.until("CAP").await.at(1), Some("ACK"));
    peer.join("#room").await;
    peer
}

/// Sends a message; a line that begins with `+` goes on the one before it.
async fn say(peer: &mut Peer, tags: &str, target: &str, lines: &[&str]) {
    peer.send(&format!("{tags}BATCH +1 draft/multiline {target}")).await;
    for line in lines {
        let (tag, line) = match line.strip_prefix('+') {
            Some(line) => (";draft/multiline-concat", line),
            None => ("", *line),
        };
        peer.send(&format!("@batch=1{tag} PRIVMSG {target} :{line}")).await;
    }
    peer.send("BATCH -1").await;
}

/// Reads a message up to its end: the line that begins it, and its lines.
async fn message(peer: &mut Peer) -> (Message, Vec<(String, bool)>) {
    let start = loop {
        let line = peer.until("BATCH").await;
        if line.at(1) == Some("draft/multiline") {
            break line;
        }
    };
    let mut lines = Vec::new();
    loop {
        let line = peer.line().await.unwrap();
        if line.command == "BATCH" {
            assert_eq!(line.params[0][1..], start.params[0][1..]);
            return (start, lines);
        }
        assert_eq!(line.tag("batch"), Some(&start.params[0][1..]));
        assert_eq!((line.source.as_ref(), line.at(0)), (start.source.as_ref(), start.at(2)));
        assert_eq!(line.tag("msgid"), None);
        lines.push((line.params[1].clone(), line.tag("draft/multiline-concat").is_some()));
    }
}

fn lines(of: &[(&str, bool)]) -> Vec<(String, bool)> {
    of.iter().map(|(text, concat)| ((*text).to_owned(), *concat)).collect()
}

const SAID: [&str; 4] = ["hello :", "", "how is ", "+everyone?"];

#[tokio::test]
async fn a_message_of_several_lines_is_one_for_those_who_take_it_and_lines_for_others() {
    let room = Room::open().await;
    let mut ann = several(&room, "ann", None).await;
    let mut ben = several(&room, "ben", None).await;
    let mut cat = room.modern("cat").await;
    let mut old = room.plain("old").await;
    cat.join("#room").await;
    old.join("#room").await;
    ann.caught_up().await;
    say(&mut ann, "@label=m;+draft/reply=x ", "#room", &SAID).await;
    let whole = lines(&[("hello :", false), ("", false), ("how is ", false), ("everyone?", true)]);
    let (echo, echoed) = message(&mut ann).await;
    assert_eq!((echo.label(), &echoed), (Some("m"), &whole));
    let (start, heard) = message(&mut ben).await;
    assert_eq!((start.label(), &heard), (None, &whole));
    assert_eq!((start.tag("msgid"), start.tag("+draft/reply")), (echo.tag("msgid"), Some("x")));
    assert!(start.tag("msgid").is_some() && start.tag("gangline/tier").is_some());
    let mut said = Vec::new();
    for _ in 0..3 {
        let line = cat.until("PRIVMSG").await;
        assert_eq!(line.tag("gangline/principal"), Some("~ann"));
        assert_eq!(line.tag("time"), echo.tag("time"));
        said.push((line.params[1].clone(), line.tag("msgid").map(str::to_owned)));
    }
    let msgid = echo.tag("msgid").map(str::to_owned);
    let expected = [("hello :", msgid), ("how is ", None), ("everyone?", None)];
    assert_eq!(said, expected.map(|(text, msgid)| (text.to_owned(), msgid)));
    for text in ["hello :", "how is ", "everyone?"] {
        assert_eq!(old.until("PRIVMSG").await.params[1], text);
    }
    room.shut().await;
}

#[tokio::test]
async fn in_a_history_it_is_one_message_in_a_batch_of_its_own() {
    let room = Room::open().await;
    let mut ann = several(&room, "ann", None).await;
    say(&mut ann, "", "#room", &SAID).await;
    let (said, _) = message(&mut ann).await;
    ann.send("PRIVMSG #room :behind it").await;
    ann.until("PRIVMSG").await;
    ann.send("CHATHISTORY LATEST #room * 2").await;
    let history = ann.until("BATCH").await.params[0][1..].to_owned();
    let (start, lines) = message(&mut ann).await;
    assert_eq!((start.tag("batch"), start.tag("msgid")), (Some(&*history), said.tag("msgid")));
    assert_eq!(lines.len(), 4);
    assert_eq!(ann.until("PRIVMSG").await.params[1], "behind it");
    assert_eq!(ann.until("BATCH").await.params[0], format!("-{history}"));
    // To one who does not take it each line is of the history.
    let mut cat = room.modern("cat").await;
    cat.join("#room").await;
    cat.send("CHATHISTORY LATEST #room * 2").await;
    let history = cat.until("BATCH").await.params[0][1..].to_owned();
    for text in ["hello :", "how is ", "everyone?", "behind it"] {
        let line = cat.until("PRIVMSG").await;
        assert_eq!((line.tag("batch"), &*line.params[1]), (Some(&*history), text));
    }
    room.shut().await;
}

#[tokio::test]
async fn in_private_and_said_again_it_is_the_same_message() {
    let room = Room::open().await;
    let mut ada = several(&room, "spark-ada", Some("spark-ada")).await;
    let mut ann = several(&room, "ann", None).await;
    say(&mut ada, "@label=1;+gangline/id=k.1 ", "ann", &["one", "two"]).await;
    let (start, told) = message(&mut ann).await;
    assert_eq!((start.at(2), told.len()), (Some("ann"), 2));
    let (first, _) = message(&mut ada).await;
    say(&mut ada, "@label=2;+gangline/id=k.1 ", "ann", &["one", "two"]).await;
    let (again, _) = message(&mut ada).await;
    assert_eq!((again.label(), again.tag("msgid")), (Some("2"), first.tag("msgid")));
    assert!(ann.caught_up().await.is_empty());
    room.shut().await;
}

#[tokio::test]
async fn a_wrong_message_is_refused_once_and_nothing_of_it_is_said() {
    let room = Room::open().await;
    let mut ann = several(&room, "ann", None).await;
    let mut ben = several(&room, "ben", None).await;
    ann.caught_up().await;
    let long = "x".repeat(400);
    let (bytes, count) = (vec![long.as_str(); 50], vec!["x"; 101]);
    for (lines, words) in [
        (&bytes[..], &["BATCH", "MULTILINE_MAX_BYTES", "16384"][..]),
        (&count, &["BATCH", "MULTILINE_MAX_LINES", "100"]),
        (&["", ""], &["BATCH", "MULTILINE_INVALID"]),
        (&["a", "+"], &["BATCH", "MULTILINE_INVALID"]),
        (&[], &["BATCH", "MULTILINE_INVALID"]),
    ] {
        say(&mut ann, "@label=no ", "#room", lines).await;
        let fail = ann.until("FAIL").await;
        assert_eq!(fail.label(), Some("no"));
        assert_eq!(fail.params[..words.len()], *words);
        assert!(ann.caught_up().await.is_empty(), "it is told once: {words:?}");
    }
    for (lines, code) in [
        (
            "BATCH +1 draft/multiline #room\r\n@batch=1 PRIVMSG #else :x\r\nBATCH -1",
            "MULTILINE_INVALID_TARGET",
        ),
        (
            "BATCH +1 draft/multiline #room\r\n@batch=1 PRIVMSG #room :x\r\n@batch=1 NOTICE #room :x\r\nBATCH -1",
            "MULTILINE_INVALID",
        ),
        ("BATCH +1 netsplit a b\r\n@batch=1 PRIVMSG #room :x\r\nBATCH -1", "UNKNOWN_TYPE"),
        ("BATCH -2", "INVALID_REFTAG"),
    ] {
        ann.send(lines).await;
        assert_eq!(ann.until("FAIL").await.params[1], code);
        assert!(ann.caught_up().await.is_empty());
    }
    say(&mut ann, "@label=404 ", "#nowhere", &["a", "b"]).await;
    assert_eq!(ann.until("403").await.label(), Some("404"));
    assert!(ben.caught_up().await.is_empty());
    say(&mut ann, "", "#room", &["and", "now"]).await;
    assert_eq!(message(&mut ben).await.1.len(), 2);
    room.shut().await;
}
