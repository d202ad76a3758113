//! Who is not let in: programs that are no IRC clients, and people whose password is wrong.

use std::time::Duration;

use super::support::{DEADLINE, Peer, Room};

/// Everything that a connection was sent until it was closed.
async fn closed(mut peer: Peer) -> Vec<String> {
    peer.until_closed().await;
    peer.seen.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// A web page in the owner's browser may post any text to any port.
#[tokio::test]
async fn an_http_request_is_closed_and_nothing_of_it_is_executed() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    let body = "NICK web\r\nUSER w 0 * :w\r\nJOIN #room\r\nPRIVMSG #room :@spark-ada obey\r\n";
    let long = "x".repeat(600);
    for head in [
        "POST / HTTP/1.1\r\nHost: localhost:6667\r\nContent-Type: text/plain\r\n\r\n",
        "GET /chat HTTP/1.1\r\n",
        "PUT / HTTP/1.0\n",
        "Host: localhost\r\n",
        "NICK first\r\nhost: localhost\r\n",
        "CAP LS 302\r\nPOST / HTTP/1.1\r\nHost: x\r\n",
        &format!("POST /{long} HTTP/1.1\r\nHost: x\r\n"),
    ] {
        let mut web = room.dial().await;
        web.raw(format!("{head}{body}").as_bytes()).await;
        let told = closed(web).await;
        assert!(told.last().unwrap().contains("does not speak HTTP"), "{head}: {told:?}");
        assert!(!told.iter().any(|line| line.contains(" 001 ")), "{head}: {told:?}");
    }
    assert!(ann.caught_up().await.is_empty());
    // What people say is theirs, also when it looks like HTTP.
    ann.send("PRIVMSG #room :x\r\nHost: localhost").await;
    assert_eq!(ann.caught_up().await.len(), 1, "an unknown command");
    let mut http = room.plain("http").await;
    http.join("#room").await;
    room.shut().await;
}

#[tokio::test]
async fn a_wrong_server_password_is_refused_and_lets_nobody_in() {
    for (password, why) in [
        ("owner:wrong", "Password incorrect"),
        ("nobody:pw-nobody", "Password incorrect"),
        ("owner:", "Password incorrect"),
        ("pw-owner", "ACCOUNT:PASSWORD"),
    ] {
        let room = Room::open().await;
        let mut eve = room.dial().await;
        eve.send(&format!("PASS {password}\r\nNICK eve\r\nUSER eve 0 * :Eve")).await;
        let told = closed(eve).await;
        let [refusal, goodbye] = &told[..] else { panic!("{password}: {told:?}") };
        assert!(refusal.contains(" 464 ") && refusal.contains(why), "{password}: {refusal}");
        assert!(goodbye.starts_with("ERROR ") && goodbye.contains(why), "{password}: {goodbye}");
        room.shut().await;
    }
}

/// Who failed to log in is not let in as somebody without an account, but may try again first.
#[tokio::test]
async fn after_a_wrong_sasl_password_nobody_registers_as_less() {
    let room = Room::open().await;
    let mut sly = room.dial().await;
    sly.send("CAP REQ :sasl").await;
    assert_eq!(sly.authenticate("owner", "wrong").await, "904");
    sly.send("NICK sly\r\nUSER sly 0 * :Sly\r\nCAP END").await;
    let told = closed(sly).await;
    assert!(told.iter().any(|line| line.contains(" 464 ")), "{told:?}");
    assert!(!told.iter().any(|line| line.contains(" 001 ")), "{told:?}");
    let mut boss = room.dial().await;
    boss.send("CAP REQ :sasl").await;
    assert_eq!(boss.authenticate("owner", "wrong").await, "904");
    assert_eq!(boss.authenticate("owner", "pw-owner").await, "903");
    boss.send("NICK boss\r\nUSER boss 0 * :Boss\r\nCAP END").await;
    boss.until("001").await;
    room.shut().await;
}

/// After some wrong passwords not even a right one is looked at, for a while.
#[tokio::test]
async fn wrong_passwords_are_slowed_down() {
    let room = Room::open().await;
    let attempt = async |password: &str| {
        let mut peer = room.dial().await;
        peer.send(&format!("PASS {password}\r\nNICK boss\r\nUSER b 0 * :B")).await;
        let line = peer.line().await.unwrap();
        (line.command, line.params.last().cloned().unwrap_or_default())
    };
    for _ in 0..4 {
        assert_eq!(attempt("owner:wrong").await.0, "464");
    }
    let (number, why) = attempt("owner:pw-owner").await;
    assert_eq!(number, "464");
    assert!(why.contains("Too many wrong passwords; try again in"), "{why}");
    // Others are not kept out by that.
    let mut other = room.dial_as(2).await;
    other.send("PASS owner:pw-owner\r\nNICK other\r\nUSER o 0 * :O").await;
    other.until("001").await;
    let let_in = async {
        while attempt("owner:pw-owner").await.0 != "900" {
            // sleep: the pause is what is tested
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(DEADLINE, let_in).await.unwrap();
    room.shut().await;
}
