//! Nicks that look like somebody else's.

use gangline_irc::server::{access::Guests, trust::Origin};

use super::guests;
use crate::server::support::Room;

/// An agent may have its own name and what follows from it, not that of an agent to come.
#[tokio::test]
async fn an_agent_may_have_no_nick_that_looks_like_another_agents() {
    let room = Room::configured(guests(Guests::No), Origin::Own, |config| {
        config.name = "spark".to_owned();
    });
    let room = room.await;
    for (nick, may) in [
        ("spark-ada", true),
        ("spark-ada_", true),
        ("SPARK-ada__", true),
        ("spark-ada__peek0a1b", true),
        ("spark-ada__peek0a1x", false),
        ("spark-adam", false),
        ("spark-ada-2", false),
        ("spark-zoe", false),
        ("spark-bob", false),
        ("spark-bob_", false),
        ("spark-bob__peek0a1b", false),
        ("ada", true),
    ] {
        let mut peer = room.dial().await;
        peer.send("PASS spark-ada:pw-spark-ada").await;
        peer.until("900").await;
        peer.send(&format!("NICK {nick}\r\nUSER u 0 * :u")).await;
        let answer = peer.line().await.unwrap();
        assert_eq!(answer.command, if may { "001" } else { "433" }, "{nick}");
        peer.send("QUIT").await;
        peer.until_closed().await;
    }
    room.shut().await;
}

/// Nobody may look like the program itself: people trust what it says in the alert channel.
#[tokio::test]
async fn nobody_has_a_nick_that_looks_like_the_programs() {
    let room = Room::configured(guests(Guests::Talk), Origin::Own, |_| {}).await;
    for (nick, may) in [
        ("gangline", false),
        ("Gangline_", false),
        ("gangIine", false),
        ("gang1ine", false),
        ("gang-line", false),
        ("gang|ine", false),
        ("system-", false),
        ("ganglines", true),
        ("gang", true),
    ] {
        let mut peer = room.dial().await;
        peer.send(&format!("NICK {nick}\r\nUSER u 0 * :u")).await;
        let answer = peer.line().await.unwrap();
        assert_eq!(answer.command, if may { "001" } else { "433" }, "{nick}");
        peer.send("QUIT").await;
        peer.until_closed().await;
    }
    room.shut().await;
}

/// A guest may be nobody who could be taken for the program, for somebody in charge or for an agent.
#[tokio::test]
async fn a_guest_has_no_nick_that_looks_like_ours() {
    let room = Room::configured(guests(Guests::Talk), Origin::User(1001), |config| {
        config.name = "spark".to_owned();
    });
    let room = room.await;
    for (nick, may) in [
        ("operator", false),
        ("operat0r", false),
        ("supervisor", false),
        ("reminder", false),
        ("system1", false),
        ("gangline1", false),
        ("_0wner", false),
        ("spark-zoe", false),
        ("spark_ada", false),
        ("sp4rk-ada", true),
        ("zoe", true),
        ("opera", true),
    ] {
        let mut peer = room.dial().await;
        peer.send(&format!("NICK {nick}\r\nUSER u 0 * :u")).await;
        let answer = peer.line().await.unwrap();
        assert_eq!(answer.command, if may { "001" } else { "433" }, "{nick}");
        peer.send("QUIT").await;
        peer.until_closed().await;
    }
    room.shut().await;
}
