//! CHATHISTORY.

use gangline_irc::{
    server::{config::Limits, trust::Origin},
    wire::Message,
};

use super::support::{Peer, Room};

/// Asks, and returns the lines of the batch.
pub(super) async fn ask(peer: &mut Peer, request: &str) -> Vec<Message> {
    peer.send(&format!("@label=h CHATHISTORY {request}")).await;
    let start = peer.until("BATCH").await;
    assert_eq!(start.label(), Some("h"));
    let reference = start.params[0][1..].to_owned();
    let mut lines = Vec::new();
    loop {
        let line = peer.line().await.unwrap();
        if line.command == "BATCH" {
            assert_eq!(line.params[0], format!("-{reference}"));
            return lines;
        }
        assert_eq!(line.tag("batch"), Some(&*reference));
        lines.push(line);
    }
}

pub(super) fn texts(lines: &[Message]) -> Vec<&str> {
    lines.iter().map(|line| line.params[1].as_str()).collect()
}

async fn said(peer: &mut Peer, target: &str, count: usize) -> Vec<Message> {
    let mut echoes = Vec::new();
    for number in 0..count {
        peer.send(&format!("PRIVMSG {target} :{number}")).await;
        echoes.push(peer.until("PRIVMSG").await);
    }
    echoes
}

#[tokio::test]
async fn a_room_is_paged_by_msgid_in_both_directions() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let echoes = said(&mut ada, "#room", 10).await;
    let id = |at: usize| format!("msgid={}", echoes[at].tag("msgid").unwrap());
    for (request, expected) in [
        ("LATEST #room * 3".to_owned(), &["7", "8", "9"][..]),
        ("LATEST #room * 1000".to_owned(), &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
        (format!("LATEST #ROOM {} 100", id(7)), &["8", "9"]),
        (format!("AFTER #room {} 2", id(3)), &["4", "5"]),
        (format!("AFTER #room {} 100", id(9)), &[]),
        (format!("BEFORE #room {} 2", id(3)), &["1", "2"]),
        (format!("BEFORE #room {} 9", id(0)), &[]),
        (format!("BETWEEN #room {} {} 9", id(2), id(5)), &["3", "4"]),
        (format!("BETWEEN #room {} {} 1", id(5), id(2)), &["4"]),
        (format!("AROUND #room {} 3", id(5)), &["4", "5", "6"]),
        ("AFTER #room msgid=never.7 2".to_owned(), &["0", "1"]),
    ] {
        let lines = ask(&mut ada, &request).await;
        assert_eq!(texts(&lines), expected, "{request}");
    }
    let lines = ask(&mut ada, "LATEST #room * 1").await;
    for tag in ["msgid", "time", "account", "gangline/principal", "gangline/tier"] {
        assert_eq!(lines[0].tag(tag), echoes[9].tag(tag), "{tag}");
    }
    room.shut().await;
}

#[tokio::test]
async fn a_room_is_paged_by_time() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let echoes = said(&mut ada, "#room", 3).await;
    let last = echoes[2].tag("time").unwrap().to_owned();
    assert_eq!(
        texts(&ask(&mut ada, "AFTER #room timestamp=1990-01-01T00:00:00.000Z 2").await),
        ["0", "1"]
    );
    assert!(ask(&mut ada, &format!("AFTER #room timestamp={last} 9")).await.is_empty());
    room.shut().await;
}

#[tokio::test]
async fn a_line_to_an_absent_agent_is_kept_and_found() {
    let room = Room::open().await;
    let mut ann = room.modern("ann").await;
    ann.send("@label=L PRIVMSG spark-ada :are you there?").await;
    let echo = ann.until("PRIVMSG").await;
    assert_eq!(echo.label(), Some("L"));
    assert!(ann.caught_up().await.is_empty(), "no 401");
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let span = "timestamp=1990-01-01T00:00:00.000Z timestamp=2990-01-01T00:00:00.000Z";
    let targets = ask(&mut ada, &format!("TARGETS {span} 50")).await;
    assert_eq!(targets.len(), 1);
    assert_eq!(targets[0].params[..2], ["TARGETS", "ann"]);
    assert_eq!(targets[0].at(2), echo.tag("time"));
    let since = "timestamp=1990-01-01T00:00:00.000Z";
    let lines = ask(&mut ada, &format!("AFTER ann {since} 50")).await;
    assert_eq!(texts(&lines), ["are you there?"]);
    assert_eq!(lines[0].params[0], "spark-ada");
    assert_eq!(lines[0].tag("msgid"), echo.tag("msgid"));
    // Its answer finds the asker, and both lines are one conversation for both.
    ada.send("PRIVMSG ann :yes").await;
    assert_eq!(ann.until("PRIVMSG").await.params[1], "yes");
    let lines = ask(&mut ann, "LATEST spark-ada * 50").await;
    assert_eq!(texts(&lines), ["are you there?", "yes"]);
    room.shut().await;
}

#[tokio::test]
async fn an_answer_to_the_nick_of_an_absent_owner_is_kept_for_the_account() {
    let room = Room::open().await;
    let mut boss = room.account("boss", "owner").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    boss.send("PRIVMSG spark-ada :report, please").await;
    ada.until("PRIVMSG").await;
    boss.send("QUIT").await;
    boss.until_closed().await;
    ada.send("@label=A PRIVMSG boss :all well").await;
    assert_eq!(ada.until("PRIVMSG").await.label(), Some("A"));
    let mut boss = room.account("chief", "owner").await;
    let lines = ask(&mut boss, "LATEST spark-ada * 50").await;
    assert_eq!(texts(&lines), ["report, please", "all well"]);
    let span = "timestamp=1990-01-01T00:00:00.000Z timestamp=2990-01-01T00:00:00.000Z";
    let targets = ask(&mut ada, &format!("TARGETS {span} 50")).await;
    assert_eq!(targets[0].params[1], "owner", "a name that reaches it under any nick");
    assert_eq!(texts(&ask(&mut ada, "LATEST owner * 1").await), ["all well"]);
    room.shut().await;
}

#[tokio::test]
async fn what_is_not_ones_own_is_not_shown() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut bob = room.account("spark-bob", "spark-bob").await;
    let mut ann = room.modern("ann").await;
    ada.join("#room").await;
    said(&mut ada, "#room", 1).await;
    said(&mut ada, "ann", 1).await;
    ann.until("PRIVMSG").await;
    bob.send("CHATHISTORY LATEST #room * 10").await;
    assert_eq!(bob.until("FAIL").await.params[1], "INVALID_TARGET");
    assert!(ask(&mut bob, "LATEST ann * 10").await.is_empty());
    assert!(ask(&mut bob, "LATEST spark-ada * 10").await.is_empty());
    for (request, code) in [
        ("LATEST #room", "INVALID_TARGET"),
        ("LATEST ann *", "INVALID_PARAMS"),
        ("LATEST ann * 0", "INVALID_PARAMS"),
        ("AFTER ann seq=1 10", "INVALID_MSGREFTYPE"),
        ("AFTER ann timestamp=yesterday 10", "INVALID_PARAMS"),
        ("TARGETS msgid=a msgid=b 10", "INVALID_MSGREFTYPE"),
        ("FORGET ann", "UNKNOWN_COMMAND"),
    ] {
        bob.send(&format!("CHATHISTORY {request}")).await;
        assert_eq!(bob.until("FAIL").await.params[1], code, "{request}");
    }
    room.shut().await;
}

#[tokio::test]
async fn a_stranger_has_no_private_history_since_anybody_could_bear_its_nick() {
    let room = Room::with(Limits { flood: None, ..Limits::default() }, Origin::User(1)).await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut eve = room.modern("eve").await;
    eve.send("PRIVMSG spark-ada :secret").await;
    let line = ada.until("PRIVMSG").await;
    assert_eq!(line.tag("gangline/tier"), Some("stranger"));
    assert_eq!(line.tag("gangline/principal"), Some("~eve"));
    eve.send("CHATHISTORY LATEST spark-ada * 10").await;
    assert_eq!(eve.until("FAIL").await.params[1], "INVALID_TARGET");
    let span = "timestamp=1990-01-01T00:00:00.000Z timestamp=2990-01-01T00:00:00.000Z";
    assert!(ask(&mut eve, &format!("TARGETS {span} 9")).await.is_empty());
    assert_eq!(texts(&ask(&mut ada, "LATEST eve * 9").await), ["secret"]);
    room.shut().await;
}
