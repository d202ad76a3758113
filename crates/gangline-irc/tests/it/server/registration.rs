//! From a connection to a user.

use std::time::Duration;

use gangline_core::Tier;
use gangline_irc::server::{
    Server, ServerEnd,
    config::{BindError, Limits, ServerConfig},
    memory::MemoryStore,
    trust::Origin,
};
use gangline_os::clock;

use super::support::Room;

#[tokio::test]
async fn a_client_without_capabilities_is_welcomed_as_clients_expect() {
    let room = Room::open().await;
    let mut ann = room.dial().await;
    ann.send("NICK ann").await;
    ann.send("USER ann 0 * :Ann").await;
    let mut commands = Vec::new();
    loop {
        let line = ann.line().await.unwrap();
        assert!(line.tags.is_empty(), "no tags were asked for");
        commands.push(line.command.clone());
        if line.command == "422" {
            break;
        }
    }
    assert_eq!(commands[..6], ["001", "002", "003", "004", "005", "005"]);
    assert!(ann.seen.iter().any(|line| line.contains("CASEMAPPING=rfc1459 CHANTYPES=#")));
    assert!(ann.seen.iter().any(|line| line.contains("CHATHISTORY=100 MSGREFTYPES=")));
    room.shut().await;
}

/// A client that does not speak 302 takes the whole word for the name.
#[tokio::test]
async fn an_old_client_is_offered_names_without_values() {
    let room = Room::open().await;
    for (ask, sasl) in [("CAP LS", "sasl"), ("CAP LS 302", "sasl=SCRAM-SHA-256,PLAIN")] {
        let mut ann = room.dial().await;
        ann.send(ask).await;
        let offered = ann.until("CAP").await;
        let offered = offered.params.last().unwrap();
        assert!(offered.split(' ').any(|word| word == sasl), "{ask}: {offered}");
    }
    room.shut().await;
}

#[tokio::test]
async fn registration_waits_for_the_end_of_negotiation() {
    let room = Room::open().await;
    let mut ann = room.dial().await;
    ann.send("CAP LS 302").await;
    let offered = ann.until("CAP").await;
    let offered = offered.params.last().unwrap();
    for cap in [
        "message-tags",
        "sasl=SCRAM-SHA-256,PLAIN",
        "draft/chathistory",
        "labeled-response",
        "batch",
    ] {
        assert!(offered.split(' ').any(|word| word == cap), "{cap} in {offered}");
    }
    ann.send("NICK ann").await;
    ann.send("USER ann 0 * :Ann").await;
    assert_eq!(ann.caught_up().await, []);
    ann.send("CAP REQ :message-tags no-such-thing").await;
    assert_eq!(ann.until("CAP").await.at(1), Some("NAK"));
    ann.send("CAP REQ :server-time").await;
    assert_eq!(ann.until("CAP").await.at(1), Some("ACK"));
    ann.send("CAP END").await;
    let welcome = ann.until("001").await;
    assert!(welcome.tag("time").unwrap().ends_with('Z'));
    ann.send("CAP LIST").await;
    let list = ann.until("CAP").await;
    assert_eq!(list.params.last().unwrap(), "server-time cap-notify");
    room.shut().await;
}

#[tokio::test]
async fn nothing_but_registration_is_done_before_it() {
    let room = Room::open().await;
    let mut ann = room.dial().await;
    ann.send("JOIN #room").await;
    assert_eq!(ann.line().await.unwrap().command, "451");
    ann.send("NICK 0bad").await;
    assert_eq!(ann.line().await.unwrap().command, "432");
    room.shut().await;
}

#[tokio::test]
async fn sasl_logs_in_and_a_wrong_password_does_not() {
    let room = Room::open().await;
    let mut ada = room.dial().await;
    ada.send("CAP REQ :sasl account-tag").await;
    assert_eq!(ada.authenticate("spark-ada", "wrong").await, "904");
    assert_eq!(ada.authenticate("nobody", "pw-nobody").await, "904");
    assert_eq!(ada.authenticate("spark-ada", "pw-spark-ada").await, "903");
    ada.send("NICK spark-ada").await;
    ada.send("USER a 0 * :Ada").await;
    ada.send("CAP END").await;
    ada.until("001").await;
    ada.send("WHOIS spark-ada").await;
    assert_eq!(ada.until("330").await.at(2), Some("spark-ada"));
    room.shut().await;
}

#[tokio::test]
async fn three_wrong_credentials_end_the_connection() {
    let room = Room::open().await;
    let mut eve = room.dial().await;
    eve.send("CAP REQ :sasl").await;
    for guess in ["a", "b", "c"] {
        assert_eq!(eve.authenticate("owner", guess).await, "904");
    }
    assert!(eve.until_closed().await.contains("Too many wrong credentials"));
    room.shut().await;
}

#[tokio::test]
async fn the_owner_may_log_in_by_pass_and_bears_any_free_nick() {
    let room = Room::open().await;
    let mut ann = room.dial().await;
    ann.send("PASS owner:pw-owner").await;
    ann.send("NICK ann").await;
    ann.send("USER ann 0 * :Ann").await;
    ann.until("422").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ann.send("PRIVMSG spark-ada :hello").await;
    let line = ada.until("PRIVMSG").await;
    assert_eq!(line.tag("account"), Some("owner"));
    assert_eq!(line.tag("gangline/tier"), Some("owner"));
    assert_eq!(line.tag("gangline/principal"), Some("owner"));
    room.shut().await;
}

#[tokio::test]
async fn the_nick_of_an_account_is_nobody_elses() {
    let room = Room::open().await;
    let mut eve = room.dial().await;
    eve.send("NICK spark-ada").await;
    eve.send("USER eve 0 * :Eve").await;
    assert_eq!(eve.until("433").await.at(1), Some("spark-ada"));
    eve.send("NICK eve").await;
    eve.until("001").await;
    eve.send("NICK SPARK-ADA").await;
    assert_eq!(eve.until("433").await.at(1), Some("SPARK-ADA"));
    // Another agent is somebody else too.
    let mut bob = room.account("spark-bob", "spark-bob").await;
    bob.send("NICK spark-ada").await;
    bob.until("433").await;
    room.shut().await;
}

#[tokio::test]
async fn a_nick_in_use_is_refused_whatever_its_case() {
    let room = Room::open().await;
    let _ann = room.plain("Ann[1]").await;
    let mut other = room.dial().await;
    other.send("NICK ann{1}").await;
    other.send("USER o 0 * :O").await;
    other.until("433").await;
    room.shut().await;
}

#[tokio::test]
async fn an_account_made_later_frees_its_nick() {
    let room = Room::open().await;
    let mut squatter = room.plain("spark-new").await;
    let account = gangline_irc::server::store::Account {
        name: "spark-new".parse().unwrap(),
        tier: Tier::Agent,
        credential_sha256: String::new(),
        last_nick: None,
    };
    gangline_irc::server::store::HistoryStore::put_account(&*room.disk, account).await.unwrap();
    assert!(squatter.until_closed().await.contains("belongs to an account"));
    room.shut().await;
}

#[tokio::test]
async fn who_does_not_register_or_answer_is_closed() {
    let limits = Limits {
        // Long enough for the one who does register.
        register_within: Duration::from_secs(1),
        ping_every: Duration::from_millis(100),
        ping_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let room = Room::with(limits, Origin::Own).await;
    let mut idle = room.dial().await;
    assert!(idle.until_closed().await.contains("Registration timed out"));
    let mut dead = room.plain("dead").await;
    dead.until("PING").await;
    assert!(dead.until_closed().await.contains("Ping timeout"));
    room.shut().await;
}

#[tokio::test]
async fn only_loopback_is_listened_on() {
    struct Nobody;
    impl gangline_irc::server::trust::Trust for Nobody {
        fn authenticate(&self, _: Origin, _: &str, _: &str) -> Option<gangline_core::Principal> {
            None
        }
        fn origin(&self, _: std::net::SocketAddr, peer: std::net::SocketAddr) -> Origin {
            Origin::Unknown(peer.ip())
        }
    }
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:6667"] {
        let config = ServerConfig::new(address.parse().unwrap(), "x", clock::system());
        let store = std::sync::Arc::new(MemoryStore::new(1));
        let bound = Server::bind(config, store, std::sync::Arc::new(Nobody));
        let Err(error) = bound else { panic!("{address} was bound") };
        assert!(matches!(error, BindError::NotLoopback { .. }), "{error}");
        assert!(error.to_string().contains("no TLS"));
    }
}

#[tokio::test]
async fn more_connections_than_the_limit_are_told_so() {
    let room = Room::with(Limits { connections: 1, ..Limits::default() }, Origin::Own).await;
    let _first = room.plain("first").await;
    let mut second = room.dial().await;
    assert!(second.until_closed().await.contains("no room for more connections"));
    room.shut().await;
}

#[tokio::test]
async fn a_stop_tells_everybody_and_closes() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    room.shut().await;
    assert!(ann.until_closed().await.contains("shutting down"));
}

/// A stop that does not wait for a stuck store for ever says so.
#[tokio::test]
async fn a_stop_with_a_stuck_store_says_that_lines_were_not_confirmed() {
    let limits = Limits { grace: Duration::from_millis(100), ..Limits::default() };
    let room = Room::with(limits, Origin::Own).await;
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    room.disk.slow.send_replace(true);
    ann.send("PRIVMSG #room :never confirmed").await;
    // It is on its way to the store.
    while room.disk.slow.receiver_count() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(room.stop().await, ServerEnd::StoreSilent);
}
