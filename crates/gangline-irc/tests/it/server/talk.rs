//! People and agents talk.

use std::sync::atomic::Ordering;

use gangline_irc::server::{
    config::{Flood, Limits},
    trust::Origin,
};

use super::support::{Peer, Room};

#[tokio::test]
async fn two_people_talk_in_a_room_and_alone() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    let mut ben = room.plain("ben").await;
    ann.join("#Room").await;
    ben.join("#room").await;
    assert_eq!(ann.until("JOIN").await.nick(), Some("ben"));
    ann.send("PRIVMSG #ROOM :hello there").await;
    let line = ben.until("PRIVMSG").await;
    assert_eq!(line.source.as_deref(), Some("ann!~ann@localhost"));
    assert_eq!(line.params, ["#ROOM", "hello there"]);
    ben.send("PRIVMSG ann :and to you").await;
    assert_eq!(ann.until("PRIVMSG").await.params, ["ann", "and to you"]);
    assert_eq!(ann.caught_up().await, [], "no echo that was not asked for");
    ben.send("PART #room :bye").await;
    assert_eq!(ann.until("PART").await.params, ["#Room", "bye"]);
    ben.send("QUIT :gone").await;
    assert!(ben.until_closed().await.contains("Quit: gone"));
    room.shut().await;
}

#[tokio::test]
async fn an_echo_carries_the_label_the_msgid_and_the_time() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.modern("ann").await;
    ada.join("#room").await;
    ann.join("#room").await;
    ada.send("@label=L1;+gangline/id=k.1;+draft/reply=x PRIVMSG #room :done").await;
    let echo = ada.until("PRIVMSG").await;
    assert_eq!(echo.label(), Some("L1"));
    assert_eq!(echo.tag("+gangline/id"), Some("k.1"));
    let heard = ann.until("PRIVMSG").await;
    assert_eq!(heard.label(), None);
    assert_eq!(heard.tag("msgid"), echo.tag("msgid"));
    assert!(heard.tag("msgid").is_some());
    assert_eq!(heard.tag("time"), echo.tag("time"));
    assert_eq!(heard.tag("account"), Some("spark-ada"));
    assert_eq!(heard.tag("gangline/principal"), Some("spark-ada"));
    assert_eq!(heard.tag("gangline/tier"), Some("agent"));
    assert_eq!(heard.tag("+gangline/id"), Some("k.1"));
    assert_eq!(heard.tag("+draft/reply"), Some("x"));
    room.shut().await;
}

#[tokio::test]
async fn a_repeated_id_is_answered_with_the_same_echo_and_shown_to_nobody() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.modern("ann").await;
    ada.join("#room").await;
    ann.join("#room").await;
    ada.send("@label=L1;+gangline/id=k.1 PRIVMSG #room :done").await;
    let first = ada.until("PRIVMSG").await;
    ada.send("@label=L2;+gangline/id=k.1 PRIVMSG #room :done again").await;
    let again = ada.until("PRIVMSG").await;
    assert_eq!(again.label(), Some("L2"));
    assert_eq!(again.tag("msgid"), first.tag("msgid"));
    assert_eq!(again.params, first.params);
    ada.send("@+gangline/id=k.2 PRIVMSG #room :next").await;
    assert_eq!(ann.until("PRIVMSG").await.params[1], "done");
    assert_eq!(ann.until("PRIVMSG").await.params[1], "next");
    // The same id of somebody else, or to another target, is another line.
    ann.send("@+gangline/id=k.1 PRIVMSG #room :mine").await;
    assert_eq!(ada.until("PRIVMSG").await.params[1], "next");
    assert_eq!(ada.until("PRIVMSG").await.params[1], "mine");
    ada.send("@+gangline/id=k.1 PRIVMSG ann :private").await;
    ada.caught_up().await;
    for (length, answer) in [(200, "PRIVMSG"), (201, "FAIL")] {
        ada.send(&format!("@+gangline/id={} PRIVMSG #room :long", "k".repeat(length))).await;
        let lines = ada.caught_up().await;
        assert!(lines.iter().any(|line| line.command == answer), "{length}: {lines:?}");
    }
    assert_eq!(ann.until("PRIVMSG").await.params[1], "mine");
    assert_eq!(ann.until("PRIVMSG").await.params[1], "private");
    room.shut().await;
}

#[tokio::test]
async fn a_repeated_line_is_confirmed_even_if_its_target_has_gone() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.plain("ann").await;
    ada.send("@+gangline/id=k.1 PRIVMSG ann :done").await;
    let first = ada.until("PRIVMSG").await;
    ann.send("QUIT").await;
    ann.until_closed().await;
    ada.send("@label=L2;+gangline/id=k.1 PRIVMSG ann :done").await;
    let again = ada.until("PRIVMSG").await;
    assert_eq!((again.label(), again.tag("msgid")), (Some("L2"), first.tag("msgid")));
    ada.send("@label=L3;+gangline/id=k.2 PRIVMSG nobody :more").await;
    let refused = ada.until("401").await;
    assert_eq!(refused.label(), Some("L3"));
    room.shut().await;
}

#[tokio::test]
async fn many_lines_in_flight_keep_their_order_with_what_comes_between() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    let mut ben = room.plain("ben").await;
    ann.join("#room").await;
    ben.join("#room").await;
    let mut sent = String::new();
    for number in 0..200 {
        sent.push_str(&format!("PRIVMSG #room :{number}\r\n"));
    }
    sent.push_str("PART #room\r\nPRIVMSG #room :too late\r\nJOIN #room\r\nPRIVMSG #room :back\r\n");
    sent.push_str("PRIVMSG #room :bye\r\nQUIT\r\n");
    ann.raw(sent.as_bytes()).await;
    for number in 0..200 {
        assert_eq!(ben.until("PRIVMSG").await.params[1], number.to_string());
    }
    let mut rest = Vec::new();
    while rest.last().is_none_or(|command| command != "QUIT") {
        rest.push(ben.line().await.unwrap().command);
    }
    assert_eq!(rest, ["PART", "JOIN", "PRIVMSG", "PRIVMSG", "QUIT"]);
    room.shut().await;
}

#[tokio::test]
async fn what_somebody_asked_before_leaving_is_still_done_in_order() {
    let room = Room::open().await;
    let mut ben = room.plain("ben").await;
    let mut ann = room.plain("ann").await;
    ben.join("#room").await;
    room.disk.slow.send_replace(true);
    ann.send("PRIVMSG ben :one\r\nJOIN #room\r\nPRIVMSG #room :two").await;
    drop(ann);
    assert_eq!(ben.caught_up().await, []);
    room.disk.slow.send_replace(false);
    assert_eq!(ben.until("PRIVMSG").await.params[1], "one");
    assert_eq!(ben.until("JOIN").await.nick(), Some("ann"));
    assert_eq!(ben.until("PRIVMSG").await.params[1], "two");
    assert_eq!(ben.until("QUIT").await.nick(), Some("ann"));
    room.shut().await;
}

#[tokio::test]
async fn nothing_is_echoed_or_shown_before_it_is_kept() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ben = room.plain("ben").await;
    room.disk.slow.send_replace(true);
    ada.send("@+gangline/id=k.1 PRIVMSG ben :one\r\nPING :behind").await;
    // Others are served meanwhile; what the sender asks later waits for its line.
    for _ in 0..3 {
        assert_eq!(ben.caught_up().await, []);
    }
    room.disk.slow.send_replace(false);
    assert_eq!(ben.until("PRIVMSG").await.params[1], "one");
    assert_eq!(ada.line().await.unwrap().command, "PRIVMSG");
    assert_eq!(ada.line().await.unwrap().command, "PONG");
    room.shut().await;
}

#[tokio::test]
async fn a_full_disk_is_told_to_the_sender_and_nobody_sees_the_line() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut old = room.plain("old").await;
    let mut ann = room.plain("ann").await;
    for peer in [&mut ada, &mut old, &mut ann] {
        peer.join("#room").await;
    }
    room.disk.full.store(true, Ordering::SeqCst);
    ada.send("@label=L1;+gangline/id=k PRIVMSG #room :lost?").await;
    let fail = ada.until("FAIL").await;
    assert_eq!(fail.label(), Some("L1"));
    assert_eq!(fail.params[..3], ["PRIVMSG", "STORE_FAILED", "#room"]);
    old.send("PRIVMSG #room :lost?").await;
    let refused = old.until("400").await;
    assert_eq!(refused.params[1], "PRIVMSG");
    assert!(refused.params[2].contains("disk is full"), "{refused:?}");
    room.disk.full.store(false, Ordering::SeqCst);
    ada.send("@label=L2;+gangline/id=k PRIVMSG #room :kept").await;
    assert_eq!(ada.until("PRIVMSG").await.label(), Some("L2"));
    assert_eq!(ann.until("PRIVMSG").await.params[1], "kept");
    room.shut().await;
}

/// Whoever's lines they are: once when it begins, at the owner's login, and when it is over.
#[tokio::test]
async fn owners_are_told_that_nothing_can_be_stored() {
    let room = Room::open().await;
    let mut boss = room.account("boss", "owner").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.modern("ann").await;
    for peer in [&mut ada, &mut ann] {
        peer.join("#room").await;
    }
    let notices = async |peer: &mut Peer| {
        let told = peer.caught_up().await.into_iter().filter(|line| line.command == "NOTICE");
        told.map(|line| line.params[1].clone()).collect::<Vec<_>>()
    };
    room.disk.full.store(true, Ordering::SeqCst);
    for text in ["one", "two", "three"] {
        ada.send(&format!("PRIVMSG #room :{text}")).await;
        ada.until("FAIL").await;
    }
    let refuses = "The chat server refuses all messages, because it cannot store them: database \
                   or disk is full";
    assert_eq!(notices(&mut boss).await, [refuses]);
    let mut late = room.account("late", "owner").await;
    assert_eq!(notices(&mut late).await, [refuses]);
    room.disk.full.store(false, Ordering::SeqCst);
    ada.send("PRIVMSG #room :kept").await;
    ada.until("PRIVMSG").await;
    ada.send("PRIVMSG #room :also kept").await;
    ada.until("PRIVMSG").await;
    for owner in [&mut boss, &mut late] {
        assert_eq!(notices(owner).await, ["The chat server can store messages again"]);
    }
    room.disk.full.store(true, Ordering::SeqCst);
    ada.send("PRIVMSG #room :lost").await;
    ada.until("FAIL").await;
    assert_eq!(notices(&mut boss).await, [refuses], "it is a new trouble");
    assert_eq!(notices(&mut ann).await, [""; 0], "nobody else is told");
    room.shut().await;
}

#[tokio::test]
async fn labelled_requests_are_answered_as_one() {
    let room = Room::open().await;
    let mut ann = room.modern("ann").await;
    ann.send("@label=none PONG x").await;
    let ack = ann.line().await.unwrap();
    assert_eq!((ack.command.as_str(), ack.label()), ("ACK", Some("none")));
    ann.send("@label=one PING x").await;
    assert_eq!(ann.until("PONG").await.label(), Some("one"));
    ann.send("@label=many WHOIS ann").await;
    let start = ann.until("BATCH").await;
    assert_eq!((start.label(), start.at(1)), (Some("many"), Some("labeled-response")));
    let reference = start.params[0][1..].to_owned();
    assert_eq!(ann.until("318").await.tag("batch"), Some(&*reference));
    assert_eq!(ann.until("BATCH").await.params[0], format!("-{reference}"));
    ann.send("@label=no PRIVMSG #nowhere :x").await;
    assert_eq!(ann.until("403").await.label(), Some("no"));
    room.shut().await;
}

#[tokio::test]
async fn what_may_not_be_sent_is_refused_by_number() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    let mut ben = room.plain("ben").await;
    ben.join("#ben").await;
    for (line, number) in [
        ("PRIVMSG", "411"),
        ("PRIVMSG ben", "412"),
        ("PRIVMSG ben :", "412"),
        ("PRIVMSG nobody :x", "401"),
        ("PRIVMSG #none :x", "403"),
        ("PRIVMSG #ben :x", "404"),
        ("PRIVMSG a,b :x", "407"),
        ("JOIN", "461"),
        ("JOIN nohash", "403"),
        ("KICK #ben ben", "442"),
        ("TOPIC #ben :x", "442"),
        ("MODE #ben +i", "482"),
        ("WHOIS nobody", "401"),
        ("USER a 0 * :b", "462"),
        ("FLY", "421"),
    ] {
        ann.send(line).await;
        assert!(!ann.until(number).await.params.is_empty(), "{line}");
    }
    // Programs never answer a notice.
    ann.send("NOTICE nobody :x").await;
    ann.caught_up().await.iter().for_each(|line| assert_ne!(line.command, "401"));
    room.shut().await;
}

#[tokio::test]
async fn rooms_have_topics_names_modes_kicks_and_invitations() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ann.join("#room").await;
    ada.join("#room").await;
    ada.send("TOPIC #room :what we do").await;
    assert_eq!(ann.until("TOPIC").await.params, ["#room", "what we do"]);
    let mut ben = room.plain("ben").await;
    ben.send("JOIN #room").await;
    assert_eq!(ben.until("332").await.params[2], "what we do");
    let names = ben.until("353").await;
    let mut names: Vec<&str> = names.params[3].split(' ').collect();
    names.sort_unstable();
    assert_eq!(names, ["@ann", "ben", "spark-ada"]);
    ben.send("KICK #room ann").await;
    ben.until("482").await;
    ann.send("MODE #room +ik-k+o sesame x ben").await;
    assert_eq!(ann.until("MODE").await.params, ["#room", "+o", "ben"]);
    assert_eq!(ann.until("MODE").await.params, ["#room", "+i"]);
    ann.send("KICK #room ben :out").await;
    assert_eq!(ben.until("KICK").await.params, ["#room", "ben", "out"]);
    ben.send("JOIN #room").await;
    ben.until("473").await;
    ann.send("INVITE ben #room").await;
    assert_eq!(ben.until("INVITE").await.params, ["ben", "#room"]);
    ben.join("#room").await;
    ann.send("MODE #room").await;
    assert_eq!(ann.until("324").await.params[1..], ["#room", "+ni"]);
    ann.send("WHO #room").await;
    let mut rows = 0;
    loop {
        let line = ann.line().await.unwrap();
        rows += usize::from(line.command == "352");
        if line.command == "315" {
            break;
        }
    }
    assert_eq!(rows, 3);
    room.shut().await;
}

#[tokio::test]
async fn tags_without_a_text_are_shown_to_those_who_read_tags_and_not_kept() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.modern("ann").await;
    let mut old = room.plain("old").await;
    for peer in [&mut ada, &mut ann, &mut old] {
        peer.join("#room").await;
    }
    ada.send("@+typing=active TAGMSG #room").await;
    assert_eq!(ann.until("TAGMSG").await.tag("+typing"), Some("active"));
    ada.send("PRIVMSG #room :x").await;
    let seen = old.until("PRIVMSG").await;
    assert!(seen.tags.is_empty());
    assert!(old.seen.iter().all(|line| !line.contains(" TAGMSG ")));
    ann.send("CHATHISTORY LATEST #room * 10").await;
    let batch = ann.until("BATCH").await;
    assert_eq!(batch.at(1), Some("chathistory"));
    assert_eq!(ann.line().await.unwrap().command, "PRIVMSG");
    assert_eq!(ann.line().await.unwrap().command, "BATCH");
    room.shut().await;
}

#[tokio::test]
async fn a_bot_says_so_and_an_absent_friend_too() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.modern("ann").await;
    ada.send("MODE spark-ada +B").await;
    ada.until("MODE").await;
    ada.send("AWAY :thinking").await;
    ada.until("306").await;
    ada.send("PRIVMSG ann :hi").await;
    assert_eq!(ann.until("PRIVMSG").await.tag("bot"), Some(""));
    ann.send("PRIVMSG spark-ada :hi").await;
    assert_eq!(ann.until("301").await.params[2], "thinking");
    ann.send("WHOIS spark-ada").await;
    ann.until("335").await;
    room.shut().await;
}

#[tokio::test]
async fn monitors_hear_of_coming_and_going() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    ann.send("MONITOR + ben").await;
    assert_eq!(ann.until("731").await.params[1], "ben");
    let mut ben = room.plain("ben").await;
    assert_eq!(ann.until("730").await.params[1], "ben!~ben@localhost");
    ben.send("QUIT").await;
    assert_eq!(ann.until("731").await.params[1], "ben");
    room.shut().await;
}

#[tokio::test]
async fn people_are_slowed_and_agents_are_not() {
    let flood = Some(Flood { burst: 10, per_second: 20 });
    let room = Room::with(Limits { flood, ..Limits::default() }, Origin::Own).await;
    let mut ann = room.plain("ann").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let clock = gangline_os::clock::system();
    let mut took = Vec::new();
    // The agent says so much more that nobody would take its time for that of a person.
    for (peer, lines) in [(&mut ann, 30), (&mut ada, 1000)] {
        let begun = clock.monotonic();
        peer.raw("PING x\r\n".repeat(lines).as_bytes()).await;
        for _ in 0..lines {
            peer.until("PONG").await;
        }
        took.push(clock.monotonic().saturating_sub(begun));
    }
    assert!(took[0].as_millis() >= 900, "20 lines beyond the burst: {took:?}");
    assert!(took[1].as_secs() < 49, "990 lines would take that long: {took:?}");
    room.shut().await;
}
