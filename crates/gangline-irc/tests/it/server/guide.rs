//! What the server says by itself about what can be said.

use std::sync::Arc;

use gangline_irc::server::{
    access::{Access, Guests, RoomRule},
    config::ServerConfig,
    remarks::{Names, Remarks},
    store::HistoryStore as _,
    trust::Origin,
};

use super::support::Room;

/// Says something about each line that calls nobody.
struct Echo;

impl Remarks for Echo {
    fn about(&self, text: &str, names: &Names<'_>) -> Option<String> {
        let called = text.strip_prefix('@')?.split(' ').next()?;
        let inside = ["spark-ada", "spark-bob"].map(|agent| (names.is_inside)(agent));
        (!(names.is_known)(called)).then(|| format!("who is {called}? {inside:?}"))
    }
}

fn guided(config: &mut ServerConfig) {
    config.help = vec!["first".to_owned(), "second".to_owned()];
    config.topic = Some("say what you want".to_owned());
    config.remarks = Some(Arc::new(Echo));
}

#[tokio::test]
async fn help_is_told() {
    let room = Room::configured(Access::default(), Origin::Own, guided).await;
    let mut ann = room.plain("ann").await;
    ann.send("HELP").await;
    for (number, words) in [
        ("704", ["ann", "index", "first"]),
        ("705", ["ann", "index", "second"]),
        ("706", ["ann", "index", "End of help"]),
    ] {
        assert_eq!(ann.until(number).await.params, words);
    }
    assert!(ann.seen.iter().any(|line| line.contains("705") && line.contains("JOIN KICK")));
    room.shut().await;
}

/// HELP of a command tells of that command, and of nothing else.
#[tokio::test]
async fn help_of_a_command_is_about_it() {
    let room = Room::open().await;
    let mut ann = room.plain("ann").await;
    ann.send("HELP join").await;
    let usage = ann.until("704").await;
    assert_eq!(usage.params[..2], ["ann", "join"]);
    assert!(usage.params[2].starts_with("JOIN #ROOM"), "{usage:?}");
    ann.until("706").await;
    ann.send("HELP nosuch").await;
    let told = ann.until("524").await;
    assert_eq!(told.params[..2], ["ann", "nosuch"]);
    // Every command that HELP names is one: none is unknown to the server.
    ann.send("HELP").await;
    ann.until("704").await;
    let mut names = Vec::new();
    loop {
        let line = ann.line().await.unwrap();
        match &*line.command {
            "705" => names.extend(line.params[2].split(' ').map(str::to_owned)),
            _ => break,
        }
    }
    assert!(names.len() > 30, "{names:?}");
    for name in names.iter().filter(|name| *name != "QUIT") {
        ann.send(name).await;
        let told = ann.caught_up().await;
        assert!(told.iter().all(|line| line.command != "421"), "{name}: {told:?}");
    }
    room.shut().await;
}

fn configured(rooms: &[&str]) -> Access {
    let rooms = rooms.iter().map(|room| ((*room).to_owned(), RoomRule::default())).collect();
    Access { rooms, ..Access::default() }
}

/// Only what the configuration names begins with the text that teaches the room.
#[tokio::test]
async fn a_room_that_somebody_makes_has_no_topic() {
    let room = Room::configured(configured(&["#lab"]), Origin::Own, guided).await;
    let mut ann = room.plain("ann").await;
    for (name, topic) in [("#lab", Some("say what you want")), ("#mine", None)] {
        ann.send(&format!("JOIN {name}")).await;
        let told = ann.caught_up().await;
        let found = told.iter().find(|line| line.command == "332");
        assert_eq!(found.map(|line| line.params[2].as_str()), topic, "{name}");
        ann.send(&format!("TOPIC {name}")).await;
        ann.until(if topic.is_some() { "332" } else { "331" }).await;
    }
    room.shut().await;
}

/// A room has the first topic until somebody sets or clears it, also when everybody has left.
#[tokio::test]
async fn a_new_room_has_a_topic_until_somebody_changes_it() {
    let room = Room::configured(configured(&["#new"]), Origin::Own, guided).await;
    let mut ann = room.plain("ann").await;
    ann.send("JOIN #new").await;
    assert_eq!(ann.until("332").await.params, ["ann", "#new", "say what you want"]);
    ann.send("TOPIC #new :").await;
    ann.until("TOPIC").await;
    ann.send("PART #new").await;
    ann.until("PART").await;
    ann.send("JOIN #new").await;
    ann.until("366").await;
    ann.send("TOPIC #new").await;
    assert_eq!(ann.until("331").await.params, ["ann", "#new", "No topic is set"]);
    room.shut().await;
}

/// The first topic costs nothing, however many rooms there were: it is stored nowhere.
#[tokio::test]
async fn the_first_topic_of_a_room_is_not_stored() {
    let room = Room::configured(configured(&["#one", "#two"]), Origin::Own, guided).await;
    let mut ann = room.plain("ann").await;
    for name in ["#one", "#two"] {
        ann.send(&format!("JOIN {name}")).await;
        assert_eq!(ann.until("332").await.params[1..], [name, "say what you want"]);
        assert_eq!(ann.until("333").await.params[1..3], [name, "irctest"]);
    }
    ann.send("LIST").await;
    for name in ["#one", "#two"] {
        assert_eq!(ann.until("322").await.params[1..], [name, "1", "say what you want"]);
    }
    ann.send("TOPIC #two :mine").await;
    ann.until("TOPIC").await;
    let stored = room.disk.topics().await.unwrap();
    assert_eq!(stored.iter().map(|topic| topic.channel.as_str()).collect::<Vec<_>>(), ["#two"]);
    room.shut().await;
}

/// A guest who only reads opens no rooms.
#[tokio::test]
async fn a_guest_who_reads_opens_no_room_and_leaves_no_topic() {
    let access = Access { guests: Guests::Read, ..configured(&["#a", "#b"]) };
    let room = Room::configured(access, Origin::Own, guided).await;
    let mut eve = room.dial_as(7).await;
    eve.send("NICK eve\r\nUSER eve 0 * :Eve\r\nJOIN #a,#b").await;
    for name in ["#a", "#b"] {
        assert_eq!(eve.until("403").await.params[1], name);
    }
    assert_eq!(room.disk.topics().await.unwrap(), []);
    let mut ann = room.plain("ann").await;
    ann.send("JOIN #a").await;
    assert_eq!(ann.until("332").await.params, ["ann", "#a", "say what you want"]);
    room.shut().await;
}

/// The author alone hears it, after the line was shown; programs never do.
#[tokio::test]
async fn a_line_that_calls_nobody_is_answered_to_its_author_alone() {
    let room = Room::configured(Access::default(), Origin::Own, guided).await;
    let mut ann = room.plain("ann").await;
    let mut ben = room.plain("ben").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    for peer in [&mut ann, &mut ben, &mut ada] {
        peer.join("#lab").await;
    }
    ann.send("PRIVMSG #lab :@nosuch hello").await;
    let told = ann.until("NOTICE").await;
    assert_eq!(told.source.as_deref(), Some("irctest"));
    assert_eq!(told.params, ["ann", "who is nosuch? [true, false]"]);
    assert_eq!(ben.until("PRIVMSG").await.params, ["#lab", "@nosuch hello"]);
    // Somebody who is here, an account, a notice, a private line, an agent: nothing is said.
    for line in [
        "PRIVMSG #lab :@ben hi",
        "PRIVMSG #lab :@spark-bob hi",
        "NOTICE #lab :@nosuch hi",
        "PRIVMSG ben :@nosuch hi",
    ] {
        ann.send(line).await;
    }
    // What was shown to the others was remarked on before.
    while ben.until("PRIVMSG").await.params[0] != "ben" {}
    ada.send("PRIVMSG #lab :@nosuch hi").await;
    while ben.until("PRIVMSG").await.nick() != Some("spark-ada") {}
    let is_remark = |line: &gangline_irc::wire::Message| {
        line.command == "NOTICE" && line.source.as_deref() == Some("irctest")
    };
    for (peer, who) in [(&mut ann, "ann"), (&mut ben, "ben"), (&mut ada, "ada")] {
        let lines = peer.caught_up().await;
        assert!(!lines.iter().any(is_remark), "{who}: {lines:?}");
    }
    room.shut().await;
}
