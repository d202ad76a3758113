//! Operators of the server, and what clients of thirty years ask of one.

use super::support::Room;

#[tokio::test]
async fn the_owners_password_makes_an_operator_who_may_kill() {
    let room = Room::open().await;
    let (mut ann, mut ben) = (room.plain("ann").await, room.plain("ben").await);
    for (line, number) in [
        ("KILL ben :no", "481"),
        ("WALLOPS :no", "481"),
        ("OPER owner", "461"),
        ("OPER owner wrong", "464"),
        ("OPER nobody pw-nobody", "464"),
        ("OPER spark-ada pw-spark-ada", "491"),
    ] {
        ann.send(line).await;
        assert_eq!(ann.line().await.unwrap().command, number, "{line}");
    }
    ann.send("OPER owner pw-owner").await;
    ann.until("381").await;
    assert_eq!(ann.until("MODE").await.params, ["ann", "+o"]);
    ben.send("WHOIS ann\r\nWHO ann\r\nUSERHOST ann\r\nLUSERS\r\nWHO * o").await;
    ben.until("313").await;
    assert_eq!(ben.until("352").await.params[6], "H*");
    assert!(ben.until("302").await.params[1].starts_with("ann*=+"));
    assert_eq!(ben.until("252").await.params[1], "1");
    assert_eq!(ben.until("352").await.params[5], "ann");
    // It has the server's powers, not the owner's account: agents do not obey it.
    ann.send("WHOIS ann").await;
    assert!(ann.caught_up().await.iter().all(|line| line.command != "330"));
    ben.send("MODE ben +w").await;
    ben.until("MODE").await;
    ann.send("WALLOPS :down at five").await;
    assert_eq!(ben.until("WALLOPS").await.params, ["down at five"]);
    ann.send("KILL ben :enough").await;
    assert_eq!(ben.until("KILL").await.params, ["ben", "enough"]);
    assert!(ben.until_closed().await.contains("Killed by ann: enough"));
    ann.send("MODE ann -o\r\nKILL ann").await;
    ann.until("481").await;
    // Who is logged in as the owner is one without a word.
    let mut boss = room.account("boss", "owner").await;
    boss.send("KILL ann").await;
    assert!(ann.until_closed().await.contains("Killed by boss"));
    room.shut().await;
}

#[tokio::test]
async fn whowas_tells_who_had_a_nick_the_last_one_first() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    for user in ["one", "two"] {
        let mut peer = room.dial().await;
        peer.send(&format!("NICK ben\r\nUSER {user} 0 * :{user} was here")).await;
        peer.until("422").await;
        peer.send(if user == "one" { "NICK cy" } else { "QUIT" }).await;
        peer.until(if user == "one" { "NICK" } else { "ERROR" }).await;
    }
    ann.send("WHOWAS BEN").await;
    for user in ["two", "one"] {
        let was = ann.until("314").await;
        assert_eq!(was.params[1..3], ["ben", &format!("~{user}")]);
        assert_eq!(was.params[5], format!("{user} was here"));
        assert!(ann.until("312").await.params[3].starts_with("until 2"));
    }
    ann.until("369").await;
    ann.send("WHOWAS ben 1").await;
    let told = ann.caught_up().await;
    assert_eq!(told.iter().filter(|line| line.command == "314").count(), 1);
    ann.send("WHOWAS nosuch").await;
    ann.until("406").await;
    ann.until("369").await;
    room.shut().await;
}

#[tokio::test]
async fn whois_shows_all_rooms() {
    let room = Room::open().await;
    let (mut ann, mut ben) = (room.plain("ann").await, room.plain("ben").await);
    let rooms: Vec<String> = (0..60).map(|n| format!("#a-room-with-a-long-name-{n}")).collect();
    for name in &rooms {
        ben.join(name).await;
    }
    ann.send("WHOIS ben").await;
    let told = ann.caught_up().await;
    let lines = told.iter().filter(|line| line.command == "319");
    let mut shown: Vec<String> = lines
        .flat_map(|line| line.params[2].split(' '))
        .map(|name| name.trim_start_matches('@').to_owned())
        .collect();
    shown.sort();
    let mut wanted = rooms.clone();
    wanted.sort();
    assert_eq!(shown, wanted);
    room.shut().await;
}

#[tokio::test]
async fn what_every_server_is_asked_is_answered() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    for (line, numbers) in [
        ("ADMIN", &["256", "257", "258", "259"][..]),
        ("INFO", &["371", "374"]),
        ("STATS u", &["242", "219"]),
        ("STATS c", &["219"]),
        ("LINKS", &["365"]),
    ] {
        ann.send(line).await;
        let told = ann.caught_up().await;
        let mut got: Vec<&str> = told.iter().map(|line| line.command.as_str()).collect();
        got.dedup();
        assert_eq!(got, numbers, "{line}");
    }
    room.shut().await;
}

/// A key that is refused is a secret all the same.
#[tokio::test]
async fn a_refused_key_is_not_repeated() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    ann.join("#room").await;
    for key in ["+k :two words", "+k a,b", "+k :"] {
        ann.send(&format!("MODE #room {key}")).await;
        assert_eq!(ann.until("696").await.params[1..4], ["#room", "k", "*"], "{key}");
    }
    room.shut().await;
}
