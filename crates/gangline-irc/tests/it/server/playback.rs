//! Clients that do not ask for history are shown what they missed.

use gangline_irc::{
    server::{access::Access, config::Limits, trust::Origin},
    wire::Message,
};

use super::{
    history::{ask, texts},
    support::{Peer, Room},
};

/// A plain client; its greeting is kept in what it returns up to the answer to a PING.
async fn comes(room: &Room, nick: &str) -> (Peer, Vec<Message>) {
    let mut peer = room.plain(nick).await;
    let lines = peer.caught_up().await;
    (peer, lines)
}

async fn leaves(mut peer: Peer) {
    peer.send("QUIT").await;
    peer.until_closed().await;
}

/// The connection is cut: nothing more is heard of it.
async fn dies(peer: Peer, other: &mut Peer) {
    let nick = peer.nick.clone();
    drop(peer);
    loop {
        if other.until("QUIT").await.nick() == Some(&*nick) {
            return;
        }
    }
}

/// What was said, without the time that stands in front of it.
fn said(lines: &[Message]) -> Vec<String> {
    let is_said = |line: &&Message| matches!(&*line.command, "PRIVMSG" | "NOTICE");
    lines.iter().filter(is_said).map(bare).collect()
}

fn bare(line: &Message) -> String {
    let text = line.params[1].as_str();
    let text = match text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((_, text)) => text,
        None => text,
    };
    format!("{} {} {text}", line.nick().unwrap_or("-"), line.params[0])
}

async fn joins(peer: &mut Peer, channel: &str) -> Vec<Message> {
    peer.send(&format!("JOIN {channel}")).await;
    peer.until("366").await;
    peer.caught_up().await
}

async fn says(peer: &mut Peer, target: &str, text: &str) {
    peer.send(&format!("@label=s PRIVMSG {target} :{text}")).await;
    while peer.line().await.unwrap().label() != Some("s") {}
}

#[tokio::test]
async fn what_was_missed_in_a_room_and_alone_is_shown_once_to_who_comes_back() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    says(&mut ada, "#room", "long before").await;
    let (mut zed, lines) = comes(&room, "zed").await;
    assert_eq!(said(&lines), [""; 0]);
    assert_eq!(said(&joins(&mut zed, "#room").await), [""; 0], "the first time nothing is missed");
    says(&mut ada, "#room", "one").await;
    zed.send("PRIVMSG #room :mine").await;
    says(&mut ada, "zed", "two").await;
    let live = zed.caught_up().await;
    assert_eq!(said(&live), ["spark-ada #room one", "spark-ada zed two"]);
    leaves(zed).await;
    for text in ["three", "four"] {
        says(&mut ada, "#room", text).await;
        says(&mut ada, "zed", &format!("{text} alone")).await;
    }
    let (mut zed, lines) = comes(&room, "zed").await;
    assert_eq!(said(&lines), ["spark-ada zed three alone", "spark-ada zed four alone"]);
    let stamped = &lines.iter().find(|line| line.command == "PRIVMSG").unwrap().params[1];
    let ours = gangline_os::clock::local_minute(gangline_os::clock::system().now()).1;
    assert!(stamped.starts_with('[') && stamped[3..].starts_with(&ours[2..3]), "{stamped}");
    let lines = joins(&mut zed, "#room").await;
    assert_eq!(said(&lines), ["spark-ada #room three", "spark-ada #room four"]);
    says(&mut ada, "#room", "live").await;
    assert_eq!(said(&zed.caught_up().await), ["spark-ada #room live"]);
    leaves(zed).await;
    let (mut zed, lines) = comes(&room, "zed").await;
    assert_eq!(said(&lines), [""; 0], "each line once");
    assert_eq!(said(&joins(&mut zed, "#room").await), [""; 0]);
    // A part is an absence too.
    zed.send("PART #room").await;
    zed.until("PART").await;
    says(&mut ada, "#room", "while parted").await;
    assert_eq!(said(&joins(&mut zed, "#room").await), ["spark-ada #room while parted"]);
    room.shut().await;
}

/// A line that was written to a client which was never heard of again may not have been read.
#[tokio::test]
async fn what_a_dead_client_may_not_have_read_is_shown_again() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let (mut zed, _) = comes(&room, "zed").await;
    joins(&mut zed, "#room").await;
    says(&mut ada, "#room", "read").await;
    zed.caught_up().await;
    says(&mut ada, "#room", "written").await;
    says(&mut ada, "zed", "written alone").await;
    zed.until("PRIVMSG").await;
    dies(zed, &mut ada).await;
    says(&mut ada, "#room", "missed").await;
    let (mut zed, lines) = comes(&room, "zed").await;
    assert_eq!(said(&lines), ["spark-ada zed written alone"]);
    let lines = joins(&mut zed, "#room").await;
    assert_eq!(said(&lines), ["spark-ada #room written", "spark-ada #room missed"]);
    // It dies again before it is heard of: the same lines once more, none lost.
    let (mut zed2, _) = {
        dies(zed, &mut ada).await;
        comes(&room, "zed").await
    };
    zed2.send("JOIN #room").await;
    zed2.until("366").await;
    room.shut().await;
}

/// It is shown to the same party under the same nick: not to somebody new, not to strangers, not to
/// programs, and not to clients that ask for it themselves.
#[tokio::test]
async fn nobody_else_is_shown_anything() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    for nick in ["zed", "bot"] {
        let (mut peer, _) = comes(&room, nick).await;
        joins(&mut peer, "#room").await;
        says(&mut ada, nick, "hello").await;
        if nick == "bot" {
            peer.send("MODE bot +B").await;
            peer.until("MODE").await;
        }
        leaves(peer).await;
    }
    says(&mut ada, "#room", "missed").await;
    says(&mut ada, "zed", "missed alone").await;
    for nick in ["ann", "bot"] {
        let (mut peer, lines) = comes(&room, nick).await;
        assert_eq!(said(&lines), [""; 0], "{nick}");
        assert_eq!(said(&joins(&mut peer, "#room").await), [""; 0], "{nick}");
    }
    let mut modern = room.modern("zed").await;
    assert_eq!(said(&modern.caught_up().await), [""; 0]);
    modern.send("JOIN #room").await;
    modern.until("366").await;
    assert_eq!(said(&modern.caught_up().await), [""; 0]);
    leaves(modern).await;
    let (_, lines) = comes(&room, "zed").await;
    assert_eq!(said(&lines), ["spark-ada zed missed alone"], "it is still there for the other");
    room.shut().await;

    let room = Room::with(Limits { flood: None, ..Limits::default() }, Origin::User(1)).await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    for _ in 0..2 {
        let (mut eve, lines) = comes(&room, "eve").await;
        assert_eq!(said(&lines), [""; 0]);
        assert_eq!(said(&joins(&mut eve, "#room").await), [""; 0]);
        leaves(eve).await;
        says(&mut ada, "#room", "not for eve").await;
    }
    room.shut().await;
}

/// What it had read is forgotten on the disk, too.
#[tokio::test]
async fn a_program_is_shown_nothing_after_a_restart_of_the_server() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let (mut bot, _) = comes(&room, "bot").await;
    joins(&mut bot, "#room").await;
    says(&mut ada, "#room", "its mark is kept with this").await;
    bot.send("MODE bot +B").await;
    bot.until("MODE").await;
    leaves(bot).await;
    says(&mut ada, "#room", "missed").await;
    let disk = room.disk.clone();
    room.shut().await;
    let room = Room::again(disk, Access::default(), Origin::Own, |_| ()).await;
    let (mut bot, lines) = comes(&room, "bot").await;
    assert_eq!(said(&lines), [""; 0]);
    assert_eq!(said(&joins(&mut bot, "#room").await), [""; 0]);
    room.shut().await;
}

/// A session with `draft/chathistory` leaves a mark as well: what it was never given is shown to the
/// same nick without that.
#[tokio::test]
async fn what_a_client_that_asks_for_history_missed_is_shown_to_one_that_does_not() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    says(&mut ada, "#room", "long before").await;
    let mut modern = room.modern("zed").await;
    modern.join("#room").await;
    says(&mut ada, "#room", "seen").await;
    says(&mut ada, "zed", "seen alone").await;
    modern.caught_up().await;
    leaves(modern).await;
    says(&mut ada, "#room", "missed").await;
    says(&mut ada, "zed", "missed alone").await;
    // It comes again, asks for nothing and goes.
    let mut modern = room.modern("zed").await;
    modern.join("#room").await;
    says(&mut ada, "#room", "live").await;
    modern.caught_up().await;
    leaves(modern).await;
    let (mut zed, lines) = comes(&room, "zed").await;
    assert_eq!(said(&lines), ["spark-ada zed missed alone"]);
    let lines = said(&joins(&mut zed, "#room").await);
    assert_eq!(lines, ["spark-ada #room missed", "spark-ada #room live"]);
    room.shut().await;
}

/// What it asked for and was given is read, and what was live after that.
#[tokio::test]
async fn what_a_client_has_asked_for_is_not_shown_to_one_that_does_not_ask() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let mut modern = room.modern("zed").await;
    modern.join("#room").await;
    says(&mut ada, "zed", "hello").await;
    modern.caught_up().await;
    leaves(modern).await;
    for text in ["one", "two"] {
        says(&mut ada, "#room", text).await;
        says(&mut ada, "zed", &format!("{text} alone")).await;
    }
    let mut modern = room.modern("zed").await;
    modern.join("#room").await;
    assert_eq!(texts(&ask(&mut modern, "LATEST #ROOM * 1").await), ["two"]);
    let alone = ask(&mut modern, "LATEST spark-ada * 9").await;
    assert_eq!(texts(&alone), ["hello", "one alone", "two alone"]);
    says(&mut ada, "#room", "live").await;
    modern.caught_up().await;
    leaves(modern).await;
    let (mut zed, lines) = comes(&room, "zed").await;
    assert_eq!(said(&lines), [""; 0], "it was given all of them");
    let lines = said(&joins(&mut zed, "#room").await);
    let all = ["spark-ada #room one", "spark-ada #room two", "spark-ada #room live"];
    assert_eq!(lines, all, "of the room it was given one of two");
    leaves(zed).await;
    room.shut().await;
}

#[tokio::test]
async fn an_account_is_shown_what_it_missed_under_any_nick() {
    let room = Room::with(Limits { flood: None, ..Limits::default() }, Origin::User(1)).await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let owner = async |nick: &str| {
        let mut peer = room.dial().await;
        peer.nick = nick.to_owned();
        peer.send(&format!("PASS owner:pw-owner\r\nNICK {nick}\r\nUSER o 0 * :o")).await;
        peer.until("422").await;
        let lines = peer.caught_up().await;
        (peer, said(&lines))
    };
    let (mut own, _) = owner("own3").await;
    joins(&mut own, "#room").await;
    own.send("PRIVMSG spark-ada :nap").await;
    let question = ada.until("PRIVMSG").await.tag("msgid").unwrap().to_owned();
    leaves(own).await;
    let mut eve = room.plain("own3").await;
    says(&mut ada, "#room", "in the open").await;
    let tags = format!("@label=s;+draft/reply={question}");
    ada.send(&format!("{tags} PRIVMSG own3 :napped")).await;
    ada.until("PRIVMSG").await;
    let (mut own, lines) = owner("own4").await;
    assert_eq!(lines, ["spark-ada own4 napped"], "under the nick that it has now");
    assert_eq!(said(&joins(&mut own, "#room").await), ["spark-ada #room in the open"]);
    assert_eq!(said(&eve.caught_up().await), [""; 0]);
    room.shut().await;
}

#[tokio::test]
async fn a_member_who_gets_its_nick_later_is_shown_what_it_missed_then() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let (mut zed, _) = comes(&room, "zed").await;
    joins(&mut zed, "#room").await;
    says(&mut ada, "zed", "hello").await;
    leaves(zed).await;
    says(&mut ada, "#room", "missed").await;
    says(&mut ada, "zed", "missed alone").await;
    let (mut other, lines) = comes(&room, "zed_").await;
    assert_eq!(said(&lines), [""; 0]);
    assert_eq!(said(&joins(&mut other, "#room").await), [""; 0]);
    says(&mut ada, "#room", "live").await;
    assert_eq!(said(&other.caught_up().await), ["spark-ada #room live"]);
    other.send("NICK zed").await;
    let mut lines = other.caught_up().await;
    lines.extend(other.caught_up().await);
    let mut lines = said(&lines);
    lines.sort();
    assert_eq!(lines, ["spark-ada #room missed", "spark-ada zed missed alone"]);
    room.shut().await;
}

/// What was said privately to the one whom somebody becomes did not reach this session, however late
/// it was said.
#[tokio::test]
async fn what_was_said_alone_to_who_was_not_there_is_shown_to_who_takes_the_nick() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let (zed, _) = {
        let (mut zed, lines) = comes(&room, "zed").await;
        says(&mut ada, "zed", "hello").await;
        zed.caught_up().await;
        (zed, lines)
    };
    leaves(zed).await;
    let (mut other, _) = comes(&room, "zed_").await;
    says(&mut ada, "zed", "missed alone").await;
    other.send("NICK zed").await;
    let mut lines = other.caught_up().await;
    lines.extend(other.caught_up().await);
    assert_eq!(said(&lines), ["spark-ada zed missed alone"]);
    // The same for who logs in late.
    let mut boss = room.account("boss", "owner").await;
    says(&mut ada, "boss", "hello").await;
    boss.caught_up().await;
    leaves(boss).await;
    let mut late = room.plain("boss2").await;
    assert_eq!(late.authenticate("owner", "pw-owner").await, "903");
    leaves(late).await;
    let mut late = room.plain("boss2").await;
    says(&mut ada, "owner", "for the owner").await;
    assert_eq!(late.authenticate("owner", "pw-owner").await, "903");
    assert_eq!(said(&late.caught_up().await), ["spark-ada boss2 for the owner"]);
    room.shut().await;
}

/// At most 100 lines of a place are shown, and how many came before them.
#[tokio::test]
async fn of_many_lines_the_newest_are_shown_and_the_others_counted() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let (mut zed, _) = comes(&room, "zed").await;
    joins(&mut zed, "#room").await;
    leaves(zed).await;
    for number in 0..107 {
        says(&mut ada, "#room", &number.to_string()).await;
    }
    let (mut zed, _) = comes(&room, "zed").await;
    let lines = said(&joins(&mut zed, "#room").await);
    assert_eq!(lines.len(), 101);
    assert!(lines[0].starts_with("irctest #room 7 earlier lines of #room"), "{}", lines[0]);
    assert_eq!((&*lines[1], &*lines[100]), ("spark-ada #room 7", "spark-ada #room 106"));
    let (_, rest) = lines[0].split_once("/quote ").unwrap();
    zed.send(rest.split_once('`').unwrap().0).await;
    let shown = said(&zed.caught_up().await);
    assert_eq!(shown.len(), 7);
    assert_eq!(shown[6], "spark-ada #room 6");
    room.shut().await;
}

/// A mark cannot stand between them: those before what it asked for are still missed.
#[tokio::test]
async fn who_asked_for_the_newest_of_many_lines_has_not_read_those_before() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    for round in 0..2 {
        let mut modern = room.modern("zed").await;
        modern.join("#room").await;
        let newest = ask(&mut modern, "LATEST #room * 100").await;
        assert_eq!(newest.len(), 100 * round);
        modern.caught_up().await;
        leaves(modern).await;
        for number in 0..107 * (1 - round) {
            says(&mut ada, "#room", &number.to_string()).await;
        }
    }
    let (mut zed, _) = comes(&room, "zed").await;
    let lines = said(&joins(&mut zed, "#room").await);
    assert!(lines[0].starts_with("irctest #room 7 earlier lines of #room"), "{lines:?}");
    room.shut().await;
}

/// With `server-time` the time is a tag, and with `message-tags` the id is there.
#[tokio::test]
async fn a_client_with_tags_is_told_time_and_id_by_tags() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let tagged = async || {
        let mut peer = room.dial().await;
        peer.nick = "zed".to_owned();
        peer.send("CAP REQ :message-tags server-time\r\nNICK zed\r\nUSER z 0 * :z\r\nCAP END")
            .await;
        peer.until("422").await;
        peer
    };
    let mut zed = tagged().await;
    joins(&mut zed, "#room").await;
    leaves(zed).await;
    ada.send("@label=s PRIVMSG #room :missed").await;
    let echo = ada.until("PRIVMSG").await;
    let mut zed = tagged().await;
    let lines = joins(&mut zed, "#room").await;
    let line = lines.iter().find(|line| line.command == "PRIVMSG").unwrap();
    assert_eq!(line.params, ["#room", "missed"]);
    assert_eq!((line.tag("time"), line.tag("msgid")), (echo.tag("time"), echo.tag("msgid")));
    assert!(line.tag("time").is_some());
    room.shut().await;
}

/// A client that missed more than its queue holds would be closed at each return.
#[tokio::test]
async fn what_is_too_much_for_a_clients_queue_is_shortened() {
    let limits = Limits { flood: None, send_queue: 16 * 1024, ..Limits::default() };
    let room = Room::with(limits, Origin::Own).await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let (mut zed, _) = comes(&room, "zed").await;
    says(&mut ada, "zed", "hello").await;
    zed.caught_up().await;
    leaves(zed).await;
    let long = "x".repeat(300);
    for number in 0..90 {
        says(&mut ada, "zed", &format!("{number} {long}")).await;
    }
    let (_, lines) = comes(&room, "zed").await;
    let lines = said(&lines);
    assert!(lines[0].contains("earlier lines of spark-ada are not shown"), "{}", lines[0]);
    assert!(lines.last().unwrap().starts_with("spark-ada zed 89 x"));
    assert!((4..=91).contains(&lines.len()), "{}", lines.len());
    room.shut().await;
}

/// irssi asks for `server-time` without `message-tags` and shows its own clock: it is told the time in
/// the text. ZNC asks for it with `userhost-in-names` and shows it. Neither shows it twice.
#[tokio::test]
async fn a_client_is_told_the_time_once() {
    for (caps, by_tag) in [("server-time", false), ("server-time userhost-in-names", true)] {
        told_once(caps, by_tag).await;
    }
}

async fn told_once(caps: &str, by_tag: bool) {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let timed = async || {
        let mut peer = room.dial().await;
        peer.nick = "zed".to_owned();
        peer.send(&format!("CAP REQ :{caps}\r\nNICK zed\r\nUSER z 0 * :z\r\nCAP END")).await;
        peer.until("422").await;
        peer
    };
    let mut zed = timed().await;
    joins(&mut zed, "#room").await;
    leaves(zed).await;
    says(&mut ada, "#room", "missed").await;
    let mut zed = timed().await;
    let lines = joins(&mut zed, "#room").await;
    assert_eq!(said(&lines), ["spark-ada #room missed"]);
    let line = lines.iter().find(|line| line.command == "PRIVMSG").unwrap();
    assert_eq!(line.tag("time").is_some(), by_tag);
    let text = &line.params[1];
    assert_eq!(text.starts_with('[') && text.ends_with("] missed"), !by_tag, "{text}");
    room.shut().await;
}

/// A message of several lines is one that was missed: it is shown line by line, none of them cut.
#[tokio::test]
async fn a_missed_message_of_several_lines_is_shown_line_by_line() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let (mut zed, _) = comes(&room, "zed").await;
    joins(&mut zed, "#room").await;
    leaves(zed).await;
    ada.send("CAP REQ :draft/multiline").await;
    ada.until("CAP").await;
    let lines: Vec<String> = (0..12).map(|n| format!("{n} {}", "x".repeat(330))).collect();
    let body = lines.iter().map(|line| format!("@batch=1 PRIVMSG #room :{line}\r\n"));
    let body: String = body.collect();
    ada.send(&format!("@label=s BATCH +1 draft/multiline #room\r\n{body}BATCH -1")).await;
    while ada.line().await.unwrap().label() != Some("s") {}
    let (mut zed, _) = comes(&room, "zed").await;
    let shown = said(&joins(&mut zed, "#room").await);
    let wanted: Vec<String> = lines.iter().map(|line| format!("spark-ada #room {line}")).collect();
    assert_eq!(shown, wanted);
    room.shut().await;
}
