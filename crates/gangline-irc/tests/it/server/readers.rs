//! What people have read, and what they take back: `draft/read-marker`, `draft/message-redaction`.

use std::sync::atomic::Ordering;

use super::support::{Peer, Room};

async fn with(room: &Room, nick: &str, account: Option<&str>) -> Peer {
    let mut peer = match account {
        Some(account) => room.account(nick, account).await,
        None => room.modern(nick).await,
    };
    peer.send("CAP REQ :draft/read-marker draft/message-redaction").await;
    assert_eq!(peer.until("CAP").await.at(1), Some("ACK"));
    peer
}

const EARLY: &str = "timestamp=2020-01-04T14:33:26.123Z";
const LATE: &str = "timestamp=2021-01-04T14:33:26.123Z";

#[tokio::test]
async fn what_one_client_has_read_all_clients_of_its_user_know_and_nobody_else() {
    let room = Room::open().await;
    let mut one = with(&room, "boss", Some("owner")).await;
    let mut other = with(&room, "boss2", Some("owner")).await;
    let mut ann = with(&room, "ann", None).await;
    for peer in [&mut one, &mut ann] {
        peer.send("JOIN #Room").await;
        peer.until("JOIN").await;
        assert_eq!(peer.until("MARKREAD").await.params, ["#Room", "*"]);
        peer.until("366").await;
    }
    one.caught_up().await;
    one.send(&format!("@label=m MARKREAD #room {LATE}")).await;
    let set = one.until("MARKREAD").await;
    assert_eq!((set.label(), &set.params[..]), (Some("m"), &["#Room".to_owned(), LATE.into()][..]));
    assert_eq!(other.until("MARKREAD").await.params, ["#Room", LATE]);
    // It never goes back, and a client that comes in is told.
    other.send(&format!("MARKREAD #room {EARLY}")).await;
    assert_eq!(other.until("MARKREAD").await.params, ["#Room", LATE]);
    let late = "2021-01-04";
    assert!(room.disk.kept_markers().await.iter().all(|at| at.starts_with(late)));
    other.send("JOIN #room").await;
    assert_eq!(other.until("MARKREAD").await.params, ["#Room", LATE]);
    other.until("366").await;
    one.send("MARKREAD ann").await;
    assert_eq!(one.until("MARKREAD").await.params, ["ann", "*"]);
    one.send(&format!("MARKREAD ann {EARLY}")).await;
    assert_eq!(one.until("MARKREAD").await.params, ["ann", EARLY]);
    assert!(ann.caught_up().await.iter().all(|line| line.command != "MARKREAD"));
    ann.send("MARKREAD #room").await;
    assert_eq!(ann.until("MARKREAD").await.params[1], "*");
    // Nobody has read what is not said yet.
    one.send("MARKREAD #room timestamp=2999-01-01T00:00:00.000Z").await;
    let now = one.until("MARKREAD").await.params[1].clone();
    assert!(now.starts_with("timestamp=20") && now != LATE, "{now}");
    room.shut().await;
}

#[tokio::test]
async fn a_marker_that_is_wrong_or_cannot_be_kept_is_refused() {
    let room = Room::open().await;
    let mut ann = with(&room, "ann", None).await;
    ann.join("#room").await;
    for (line, code) in [
        ("MARKREAD", "NEED_MORE_PARAMS"),
        ("MARKREAD #room *", "INVALID_PARAMS"),
        ("MARKREAD #room timestamp=yesterday", "INVALID_PARAMS"),
        ("MARKREAD a,b", "INVALID_PARAMS"),
    ] {
        ann.send(line).await;
        assert_eq!(ann.until("FAIL").await.params[..2], ["MARKREAD", code], "{line}");
    }
    room.disk.full.store(true, Ordering::SeqCst);
    ann.send(&format!("@label=f MARKREAD #room {LATE}")).await;
    let fail = ann.until("FAIL").await;
    assert_eq!((fail.label(), &*fail.params[1]), (Some("f"), "INTERNAL_ERROR"));
    ann.send("MARKREAD #room").await;
    assert_eq!(ann.until("MARKREAD").await.params[1], "*");
    room.shut().await;
}

async fn said(peer: &mut Peer, target: &str, text: &str) -> String {
    peer.send(&format!("PRIVMSG {target} :{text}")).await;
    peer.until("PRIVMSG").await.tag("msgid").unwrap().to_owned()
}

async fn history(peer: &mut Peer, target: &str) -> Vec<String> {
    peer.send(&format!("CHATHISTORY LATEST {target} * 10")).await;
    peer.until("BATCH").await;
    let mut texts = Vec::new();
    loop {
        let line = peer.line().await.unwrap();
        match &*line.command {
            "PRIVMSG" => texts.push(line.params[1].clone()),
            _ => return texts,
        }
    }
}

#[tokio::test]
async fn who_said_a_line_takes_it_back_and_it_is_in_no_history() {
    let room = Room::open().await;
    let mut ann = with(&room, "ann", None).await;
    let mut ben = with(&room, "ben", None).await;
    let mut old = room.modern("old").await;
    for peer in [&mut ann, &mut ben, &mut old] {
        peer.join("#room").await;
    }
    said(&mut ann, "#room", "stays").await;
    let secret = said(&mut ann, "#room", "hunter2").await;
    ann.send(&format!("@label=r REDACT #room {secret} :a password")).await;
    let gone = ann.until("REDACT").await;
    assert_eq!(gone.label(), Some("r"));
    let seen = ben.until("REDACT").await;
    assert_eq!(seen.params, ["#room", &*secret, "a password"]);
    assert_eq!((seen.nick(), seen.label()), (Some("ann"), None));
    assert!(old.caught_up().await.iter().all(|line| line.command != "REDACT"));
    assert_eq!(history(&mut old, "#room").await, ["stays"]);
    // In private both sides lose it.
    let private = said(&mut ann, "ben", "psst").await;
    ann.send(&format!("REDACT ben {private}")).await;
    assert_eq!(ben.until("REDACT").await.params[1], private);
    assert!(history(&mut ben, "ann").await.is_empty());
    room.shut().await;
}

#[tokio::test]
async fn what_one_may_not_take_back_stays() {
    let room = Room::open().await;
    let mut ann = with(&room, "ann", None).await;
    let mut ben = with(&room, "ben", None).await;
    let mut cat = with(&room, "cat", None).await;
    ann.join("#room").await;
    ben.join("#room").await;
    let public = said(&mut ann, "#room", "public").await;
    let private = said(&mut ann, "cat", "private").await;
    #[derive(Clone, Copy)]
    enum Who {
        Ben,
        Cat,
    }
    for (who, line, code) in [
        (Who::Ben, format!("REDACT #room {public}"), "REDACT_FORBIDDEN"),
        (Who::Cat, format!("REDACT #room {public}"), "INVALID_TARGET"),
        (Who::Cat, format!("REDACT ann {private}"), "REDACT_FORBIDDEN"),
        // Whether a line is there that one may not see is not told.
        (Who::Ben, format!("REDACT ann {private}"), "UNKNOWN_MSGID"),
        (Who::Cat, format!("REDACT ann {public}"), "UNKNOWN_MSGID"),
        (Who::Ben, "REDACT #room no.1".to_owned(), "UNKNOWN_MSGID"),
    ] {
        let peer = match who {
            Who::Ben => &mut ben,
            Who::Cat => &mut cat,
        };
        peer.send(&line).await;
        assert_eq!(peer.until("FAIL").await.params[..2], ["REDACT", code], "{line}");
    }
    room.disk.full.store(true, Ordering::SeqCst);
    ann.send(&format!("REDACT #room {public}")).await;
    assert_eq!(ann.until("FAIL").await.params[1], "STORE_FAILED");
    room.disk.full.store(false, Ordering::SeqCst);
    assert_eq!(history(&mut ben, "#room").await, ["public"]);
    // An operator of the room may; ann opened it.
    let bens = said(&mut ben, "#room", "spam").await;
    ann.send(&format!("REDACT #room {bens} :spam")).await;
    assert_eq!(ben.until("REDACT").await.params[1], bens);
    ann.send(&format!("REDACT #room {bens}")).await;
    assert_eq!(ann.until("FAIL").await.params[1], "UNKNOWN_MSGID");
    room.shut().await;
}
