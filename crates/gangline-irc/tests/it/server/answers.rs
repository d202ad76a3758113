//! Answers as the protocol's documents say: who is named, by which number, under which label.

use gangline_irc::server::{config::Limits, trust::Origin};
use gangline_irc::{
    server::access::{Access, RoomRule},
    wire::Message,
};

use super::support::{Peer, Room};

/// The label of the next line with this command.
async fn labelled(peer: &mut Peer, bytes: &[u8], command: &str) -> Message {
    peer.raw(bytes).await;
    peer.until(command).await
}

#[tokio::test]
async fn lines_without_text_have_ids_too_and_a_label_stands_on_the_echo_alone() {
    let room = Room::open().await;
    let mut ann = room.modern("ann").await;
    let mut ben = room.modern("ben").await;
    ann.join("#room").await;
    ben.join("#room").await;
    ann.send("@+typing=active TAGMSG #room").await;
    let (seen, echo) = (ben.until("TAGMSG").await, ann.until("TAGMSG").await);
    assert!(seen.tag("msgid").is_some_and(|id| !id.is_empty()));
    assert_eq!(seen.tag("msgid"), echo.tag("msgid"));
    ann.send("@+typing=done TAGMSG #room").await;
    assert_ne!(ben.until("TAGMSG").await.tag("msgid"), seen.tag("msgid"));

    ann.caught_up().await;
    ann.send("@label=me;+typing=active TAGMSG ann").await;
    let both = [ann.until("TAGMSG").await, ann.until("TAGMSG").await];
    let labels: Vec<Option<&str>> = both.iter().map(Message::label).collect();
    assert_eq!(labels, [None, Some("me")]);
    assert!(both.iter().all(|line| line.tag("batch").is_none()));
    room.shut().await;
}

#[tokio::test]
async fn a_line_that_was_not_kept_has_its_place_in_the_history() {
    let room = Room::open().await;
    let mut ann = room.modern("ann").await;
    ann.join("#room").await;
    ann.send("PRIVMSG #room :before").await;
    ann.until("PRIVMSG").await;
    ann.send("@+typing=active TAGMSG #room").await;
    let id = ann.until("TAGMSG").await.tag("msgid").unwrap().to_owned();
    ann.send("PRIVMSG #room :behind").await;
    ann.until("PRIVMSG").await;
    for (range, text) in [("AFTER", "behind"), ("BEFORE", "before")] {
        ann.send(&format!("CHATHISTORY {range} #room msgid={id} 10")).await;
        ann.until("BATCH").await;
        assert_eq!(ann.until("PRIVMSG").await.params[1], text);
        assert!(ann.line().await.unwrap().params[0].starts_with('-'), "{:?}", ann.seen);
    }
    room.shut().await;
}

#[tokio::test]
async fn what_is_no_request_is_refused_under_its_label() {
    let room = Room::open().await;
    let mut ann = room.modern("ann").await;
    let long = format!("@label=c PRIVMSG #room :{}\r\n", "x".repeat(600));
    let endless = format!("@label=d PRIVMSG #room :{}\r\n", "x".repeat(20_000));
    for (bytes, command, label) in [
        (&b"@label=a NO_SUCH thing\r\n"[..], "421", "a"),
        (b"@label=b PRIVMSG #room :caf\xe9\r\n", "FAIL", "b"),
        (long.as_bytes(), "417", "c"),
        (endless.as_bytes(), "417", "d"),
        (b"@label=e PRIVMSG #room :a\rQUIT\r\n", "FAIL", "e"),
        (b"@label=f NOSUCH\r\n", "421", "f"),
    ] {
        assert_eq!(labelled(&mut ann, bytes, command).await.label(), Some(label));
    }
    assert!(ann.caught_up().await.is_empty());
    room.shut().await;
}

#[tokio::test]
async fn bytes_of_another_encoding_leave_nobody_waiting() {
    let room = Room::open().await;
    let mut old = room.dial().await;
    old.raw(b"NICK caf\xe9\r\n").await;
    old.until("432").await;
    old.raw(b"NICK old\r\nUSER old 0 * :caf\xe9\r\n").await;
    old.until("001").await;
    old.raw(b"PRIVMSG old :caf\xe9\r\n").await;
    let refused = old.until("400").await;
    assert_eq!(refused.params[..2], ["old", "PRIVMSG"]);
    assert!(refused.params[2].contains("not UTF-8"), "{refused:?}");
    old.raw(b"QUIT :adi\xf3s\r\n").await;
    assert!(old.until_closed().await.contains("Quit: adi\u{fffd}s"));
    room.shut().await;
}

#[tokio::test]
async fn errors_name_what_they_are_about() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    ann.join("#Room").await;
    for (line, number, params) in [
        ("PRIVMSG", "411", &["ann", "No recipient given (PRIVMSG)"][..]),
        ("PRIVMSG #room", "412", &["ann", "No text to send"]),
        ("PRIVMSG #room :", "412", &["ann", "No text to send"]),
        ("TAGMSG", "411", &["ann", "No recipient given (TAGMSG)"]),
    ] {
        ann.send(line).await;
        assert_eq!(ann.until(number).await.params, params, "{line}");
    }
    let mut nobody = room.dial().await;
    nobody.send("NICK nobody\r\nUSER a 0 * :").await;
    nobody.until("461").await;
    nobody.send("USER a 0 * :b").await;
    nobody.until("001").await;
    room.shut().await;
}

#[tokio::test]
async fn an_invitation_names_the_account_that_sent_it() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.modern("ann").await;
    ada.join("#room").await;
    ada.send("INVITE ann #room").await;
    let invited = ann.until("INVITE").await;
    assert_eq!((invited.tag("account"), &*invited.params[1]), (Some("spark-ada"), "#room"));
    room.shut().await;
}

#[tokio::test]
async fn the_most_users_are_those_that_were_registered() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    let mut unregistered = Vec::new();
    for _ in 0..5 {
        let mut peer = room.dial().await;
        peer.send("PING here").await;
        peer.until("PONG").await;
        unregistered.push(peer);
    }
    room.plain("ben").await.send("QUIT").await;
    ann.caught_up().await;
    ann.send("LUSERS").await;
    for number in ["265", "266"] {
        assert_eq!(ann.until(number).await.params[2], "2");
    }
    room.shut().await;
}

#[tokio::test]
async fn the_rest_of_too_long_a_login_is_passed_over() {
    let room = Room::open().await;
    let mut eve = room.dial().await;
    eve.send("CAP REQ :sasl").await;
    let chunk = format!("AUTHENTICATE {}", "A".repeat(400));
    for last in ["AUTHENTICATE +", "AUTHENTICATE QUFBQQ==", ""] {
        eve.send("AUTHENTICATE PLAIN").await;
        eve.until("AUTHENTICATE").await;
        for _ in 0..12 {
            eve.send(&chunk).await;
        }
        if !last.is_empty() {
            eve.send(last).await;
        }
        let told = eve.caught_up().await;
        let told: Vec<&str> = told.iter().map(|line| line.command.as_str()).collect();
        assert_eq!(told, ["905"], "{last}");
    }
    // One who stops sending and begins anew is heard, also with a mechanism that there is not.
    eve.send("AUTHENTICATE EXTERNAL").await;
    eve.until("908").await;
    assert_eq!(eve.authenticate("owner", "pw-owner").await, "903");
    room.shut().await;
}

#[tokio::test]
async fn who_names_the_channel_and_takes_masks() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    let mut ben = room.plain("ben").await;
    let mut bea = room.plain("bea").await;
    ann.join("#Room").await;
    ben.join("#room").await;
    bea.send("MODE bea +i").await;
    bea.caught_up().await;
    ann.send("WHO #ROOM").await;
    let row = ann.until("352").await;
    assert_eq!(row.params[1], "#Room");
    assert_eq!(ann.until("315").await.params[1], "#ROOM");
    let mut nicks = async |mask: &str| {
        ann.send(&format!("WHO {mask}")).await;
        let mut nicks = Vec::new();
        loop {
            let line = ann.line().await.unwrap();
            match &*line.command {
                "352" => nicks.push(line.params[5].clone()),
                "315" => return nicks,
                _ => {}
            }
        }
    };
    for (mask, found) in [
        ("*", &["ann", "ben"][..]),
        ("0", &["ann", "ben"]),
        ("B*", &["ben"]),
        ("b?n", &["ben"]),
        ("*the*tester", &["ann", "ben"]),
        ("bea", &["bea"]),
        ("nobody*", &[]),
        ("* o", &[]),
        ("#none", &[]),
    ] {
        assert_eq!(nicks(mask).await, found, "{mask}");
    }
    room.shut().await;
}

#[tokio::test]
async fn modes_that_cannot_be_had_are_refused_and_not_passed_over() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    ann.join("#Room").await;
    for (change, number, params) in [
        ("-n", "742", &["ann", "#Room", "n", "n"][..]),
        ("+l none", "696", &["ann", "#Room", "l", "none"]),
        ("+k a,b", "696", &["ann", "#Room", "k", "*"]),
        ("+o", "696", &["ann", "#Room", "o", "*"]),
        ("+x", "472", &["ann", "x"]),
    ] {
        ann.send(&format!("MODE #room {change}")).await;
        let refused = ann.until(number).await;
        assert_eq!(refused.params[..params.len()], *params, "{change}");
    }
    ann.send("MODE #room +n").await;
    assert!(ann.caught_up().await.is_empty(), "it is set already");
    ann.send("MODE #room").await;
    assert_eq!(ann.until("324").await.params[1..], ["#Room", "+n"]);
    // A room that somebody may not know of is not told by its modes.
    ann.send("MODE #room +s").await;
    ann.until("MODE").await;
    let mut ben = room.plain("ben").await;
    ben.send("MODE #room").await;
    ben.until("403").await;
    room.shut().await;
}

#[tokio::test]
async fn what_005_promises_is_kept() {
    let room = Room::open().await;
    let mut ann = room.dial().await;
    ann.send("NICK ann\r\nUSER a 0 * :a").await;
    ann.until("422").await;
    let promised: Vec<String> =
        ann.seen.iter().filter(|line| line.contains(" 005 ")).cloned().collect();
    let promised = promised.concat();
    assert!(promised.contains("NAMES:,") && promised.contains("SAFELIST"), "{promised}");
    ann.send("JOIN #a,#b\r\nNAMES #a,#b").await;
    for _ in 0..2 {
        for name in ["#a", "#b"] {
            assert_eq!(ann.until("366").await.params[1], name);
        }
    }
    room.shut().await;
}

#[tokio::test]
async fn names_have_their_hosts_for_those_who_ask() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    let mut ben = room.plain("ben").await;
    ben.send("CAP REQ :userhost-in-names\r\nJOIN #room").await;
    assert_eq!(ben.until("353").await.params[3], "@ann!~ann@localhost ben!~ben@localhost");
    room.shut().await;
}

#[tokio::test]
async fn who_watches_a_nick_hears_of_its_changes_without_sharing_a_room() {
    let room = Room::open().await;
    let mut ann = room.modern("ann").await;
    let mut ben = room.modern("ben").await;
    let mut cat = room.modern("cat").await;
    ann.send("CAP REQ :extended-monitor away-notify setname account-notify").await;
    cat.send("CAP REQ :away-notify setname account-notify").await;
    for peer in [&mut ann, &mut cat] {
        peer.send("MONITOR + ben").await;
        peer.until("730").await;
    }
    ben.send("CAP REQ :sasl\r\nAWAY :out\r\nSETNAME :Ben B").await;
    ben.caught_up().await;
    assert_eq!(ben.authenticate("owner", "pw-owner").await, "903");
    assert_eq!(ann.until("AWAY").await.params, ["out"]);
    assert_eq!(ann.until("SETNAME").await.params, ["Ben B"]);
    assert_eq!(ann.until("ACCOUNT").await.params, ["owner"]);
    assert!(cat.caught_up().await.is_empty(), "watching alone tells who comes and goes");
    ann.send("MONITOR - ben").await;
    ann.caught_up().await;
    ben.send("AWAY").await;
    ben.caught_up().await;
    assert!(ann.caught_up().await.is_empty());
    room.shut().await;
}

/// A list of 3,000 rooms whose topics make it longer than any buffer of the kernel.
async fn crowded(limits: Limits) -> (Room, Vec<Peer>) {
    let topic = "t".repeat(300);
    let set = |config: &mut gangline_irc::server::config::ServerConfig| {
        config.limits = limits;
        config.topic = Some(topic);
    };
    // Rooms of the configuration have the first topic.
    let name =
        |number: usize| format!("#room-{}-{}-{}", number / 100, number / 10 % 10, number % 10);
    let rooms = (0..3000).map(|number| (name(number), RoomRule::default())).collect();
    let access = Access { rooms, ..Access::default() };
    let room = Room::configured(access, Origin::Own, set).await;
    let mut peers = Vec::new();
    for number in 0..30 {
        let mut peer = room.plain(&format!("p{number}")).await;
        for ten in 0..10 {
            let names: Vec<String> =
                (0..10).map(|one| format!("#room-{number}-{ten}-{one}")).collect();
            peer.send(&format!("JOIN {}", names.join(","))).await;
            for _ in 0..10 {
                peer.until("366").await;
            }
        }
        peer.seen.clear();
        peers.push(peer);
    }
    (room, peers)
}

#[tokio::test]
async fn a_list_of_any_length_is_sent_at_the_pace_of_its_reader() {
    // A hundredth of what the list has: it was the end of whoever asked.
    let limits = Limits { flood: None, send_queue: 160 * 1024, ..Limits::default() };
    let (room, mut peers) = crowded(limits).await;
    let mut ann = room.modern("ann").await;
    ann.send("@label=list LIST\r\nPING :behind the list").await;
    // It does not read, and others are served meanwhile.
    peers[0].send("PING :still there").await;
    peers[0].until("PONG").await;
    let start = ann.until("BATCH").await;
    assert_eq!((start.label(), start.at(1)), (Some("list"), Some("labeled-response")));
    let reference = start.params[0][1..].to_owned();
    let mut names = Vec::new();
    loop {
        let line = ann.line().await.expect("the reader was closed");
        match &*line.command {
            "322" => {
                assert_eq!((line.tag("batch"), line.params[3].len()), (Some(&*reference), 300));
                names.push(line.params[1].clone());
            }
            "321" | "323" => assert_eq!(line.tag("batch"), Some(&*reference)),
            "BATCH" => {
                assert_eq!(line.params[0], format!("-{reference}"));
                break;
            }
            other => panic!("{other} stands in the list"),
        }
    }
    assert_eq!(names.len(), 3000);
    assert!(names.is_sorted());
    assert_eq!(ann.line().await.unwrap().params[1], "behind the list");
    // Short answers are labelled as ever.
    ann.send("@label=one LIST #room-0-0-0").await;
    assert_eq!(ann.until("BATCH").await.label(), Some("one"));
    ann.until("323").await;
    room.shut().await;
}

#[tokio::test]
async fn many_long_answers_to_one_who_does_not_read_wait_for_it() {
    let limits =
        Limits { flood: None, send_queue: 400 * 1024, connections: 1000, ..Limits::default() };
    let room = Room::with(limits, Origin::Own).await;
    let mut peers = Vec::new();
    for number in 0..400 {
        let mut peer = room.plain(&format!("somebody-with-a-long-name-{number}")).await;
        peer.join("#room").await;
        peers.push(peer);
    }
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    let asked = 120;
    ann.send(&"WHO #room\r\nNAMES #room\r\nWHO *\r\n".repeat(asked)).await;
    // Longer than the kernel's buffers and the queue together; nothing is lost of it.
    let mut ends = [0, 0];
    while ends != [2 * asked, asked] {
        match &*ann.line().await.expect("the reader was closed").command {
            "315" => ends[0] += 1,
            "366" => ends[1] += 1,
            _ => {}
        }
        ann.seen.clear();
    }
    room.shut().await;
}

#[tokio::test]
async fn a_request_behind_a_list_is_answered_under_its_own_label() {
    // More than is collected for a label, less than has to wait for its reader.
    let room = Room::open().await;
    let mut peers = Vec::new();
    for number in 0..100 {
        let mut peer = room.plain(&format!("n{number}")).await;
        peer.join("#room").await;
        peers.push(peer);
    }
    let mut ann = room.modern("ann").await;
    ann.join("#room").await;
    // They wait for the store together, and are done one after the other then.
    ann.send(
        "CHATHISTORY LATEST #room * 1\r\n@label=who WHO *\r\n@label=ping PING x\r\n@label=whois \
         WHOIS ann",
    )
    .await;
    for edge in ["+", "-"] {
        assert!(ann.until("BATCH").await.params[0].starts_with(edge));
    }
    let (mut open, mut ended, mut labels) = (None, 0, Vec::new());
    while ended < 2 {
        let line = ann.line().await.unwrap();
        labels.extend(line.label().map(str::to_owned));
        match line.params[0].split_at(1) {
            ("+", reference) if line.command == "BATCH" => {
                assert_eq!(open.replace(reference.to_owned()), None);
            }
            ("-", reference) if line.command == "BATCH" => {
                assert_eq!(open.take().as_deref(), Some(reference));
                ended += 1;
            }
            _ => assert_eq!(line.tag("batch"), open.as_deref()),
        }
    }
    assert_eq!(labels, ["who", "ping", "whois"]);
    room.shut().await;
}
