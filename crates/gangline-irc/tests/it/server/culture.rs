//! HISTORY, as clients of culture's server ask for it.

use gangline_irc::wire::Message;

use super::support::{Peer, Room};

/// Asks; returns who said what, and what stands behind the end.
async fn ask(peer: &mut Peer, request: &str) -> (Vec<(String, String)>, String) {
    peer.send(&format!("HISTORY {request}")).await;
    let mut lines = Vec::new();
    loop {
        let line = peer.line().await.unwrap();
        assert_eq!(line.source.as_deref(), Some("irctest"), "{line:?}");
        match line.command.as_str() {
            "HISTORY" => {
                let [_, nick, at, text] = line.params.as_slice() else { panic!("{line:?}") };
                assert!(at.parse::<f64>().is_ok_and(|at| at > 1e9), "{line:?}");
                lines.push((nick.clone(), text.clone()));
            }
            "HISTORYEND" => return (lines, line.params[1].clone()),
            other => panic!("{other}: {line:?}"),
        }
    }
}

fn texts(lines: &[(String, String)]) -> Vec<&str> {
    lines.iter().map(|(_, text)| text.as_str()).collect()
}

async fn say(peer: &mut Peer, target: &str, text: &str) -> Message {
    peer.send(&format!("PRIVMSG {target} :{text}")).await;
    peer.until("PRIVMSG").await
}

/// A message of several lines is one message, and comes in its lines: those clients know no other.
#[tokio::test]
async fn a_message_of_several_lines_comes_in_its_lines() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.send("CAP REQ :draft/multiline").await;
    ada.until("CAP").await;
    ada.join("#room").await;
    let line = |text: &str| format!("@batch=1 PRIVMSG #room :{text}\r\n");
    let lines: String = ["one", "", "two"].map(line).concat();
    ada.send(&format!("BATCH +1 draft/multiline #room\r\n{lines}BATCH -1")).await;
    say(&mut ada, "#room", "three").await;
    let mut bob = room.plain("bob").await;
    assert_eq!(texts(&ask(&mut bob, "RECENT #room 2").await.0), ["one", "two", "three"]);
    assert_eq!(texts(&ask(&mut bob, "SEARCH #room :two").await.0), ["one", "two"]);
    room.shut().await;
}

/// culture's `channel read` without a daemon: from outside of the room, which nobody sees.
#[tokio::test]
async fn the_newest_lines_are_told_in_cultures_form() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    for text in ["one", "Two words", "\u{1}ACTION waves\u{1}"] {
        say(&mut ada, "#room", text).await;
    }
    let mut bob = room.plain("bob").await;
    let (lines, end) = ask(&mut bob, "RECENT #room 50").await;
    let ada_says = |text: &str| ("spark-ada".to_owned(), text.to_owned());
    assert_eq!(lines, [ada_says("one"), ada_says("Two words"), ada_says("/me waves")]);
    assert_eq!(end, "End of history");
    assert_eq!(texts(&ask(&mut bob, "recent #ROOM 2").await.0), ["Two words", "/me waves"]);
    assert_eq!(texts(&ask(&mut bob, "RECENT #room 0").await.0), Vec::<&str>::new());
    assert_eq!(texts(&ask(&mut bob, "SEARCH #room :two W").await.0), ["Two words"]);
    assert_eq!(ask(&mut bob, "SEARCH #room :three").await, (vec![], "End of history".to_owned()));
    assert_eq!(ask(&mut bob, "RECENT #nowhere 5").await.0, []);
    ada.send("NAMES #room").await;
    assert_eq!(ada.until("353").await.params[3], "spark-ada", "nobody joined");
    bob.send("LIST").await;
    assert_eq!(bob.until("322").await.params[1], "#room");
    assert_eq!(bob.line().await.unwrap().command, "323", "looking makes no room");
}

/// SINCE: page after page, each line once; the end names where to go on.
#[tokio::test]
async fn since_goes_on_from_where_it_ended() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    for number in 0..5 {
        say(&mut ada, "#room", &number.to_string()).await;
    }
    let (mut cursor, mut seen) = ("*".to_owned(), Vec::new());
    loop {
        let (lines, next) = ask(&mut ada, &format!("SINCE #room {cursor} 2")).await;
        if lines.is_empty() {
            assert_eq!(next, cursor, "an empty page keeps the place");
            break;
        }
        seen.extend(lines.into_iter().map(|(_, text)| text));
        cursor = next;
    }
    assert_eq!(seen, ["0", "1", "2", "3", "4"]);
    say(&mut ada, "#room", "5").await;
    assert_eq!(texts(&ask(&mut ada, &format!("SINCE #room {cursor}")).await.0), ["5"]);
    assert_eq!(texts(&ask(&mut ada, "SINCE #room :").await.0).len(), 6);
}

/// A text that was as long as a line may be comes whole, in two lines if need be.
#[tokio::test]
async fn a_long_line_is_not_cut() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    let mut text = "ä".repeat(240);
    while {
        ada.send(&format!("PRIVMSG #room :{text}")).await;
        let answer = ada.line().await.unwrap();
        answer.command != "PRIVMSG"
    } {
        text.pop();
    }
    let (lines, _) = ask(&mut ada, "RECENT #room 5").await;
    assert_eq!(texts(&lines).concat(), text);
}

/// A private conversation is told to its two sides; a closed room to who is in it.
#[tokio::test]
async fn what_is_not_ones_own_is_not_told() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut bob = room.account("bob", "owner").await;
    say(&mut ada, "bob", "psst").await;
    assert_eq!(bob.until("PRIVMSG").await.params[1], "psst");
    assert_eq!(texts(&ask(&mut bob, "RECENT spark-ada 5").await.0), ["psst"]);
    let mut eve = room.plain("eve").await;
    assert_eq!(ask(&mut eve, "RECENT spark-ada 5").await.0, []);
    bob.join("#den").await;
    say(&mut bob, "#den", "secret").await;
    for mode in ["+i", "-i+k key"] {
        bob.send(&format!("MODE #den {mode}")).await;
        bob.until("MODE").await;
        eve.send("HISTORY RECENT #den 5").await;
        let refused = eve.line().await.unwrap();
        assert!(refused.params.last().unwrap().contains("could not be retrieved"), "{refused:?}");
        assert_eq!(texts(&ask(&mut bob, "RECENT #den 5").await.0), ["secret"]);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_told() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    ada.join("#room").await;
    for (request, why) in [
        ("", "HISTORY takes RECENT, SEARCH or SINCE"),
        ("LATEST #room 5", "HISTORY takes RECENT, SEARCH or SINCE"),
        ("RECENT", "Not enough parameters"),
        ("RECENT #room", "Not enough parameters"),
        ("RECENT #room many", "The number of lines must be a whole number"),
        ("RECENT #room -1", "The number of lines must be a whole number"),
        ("SINCE #room * x", "The number of lines must be a whole number"),
        ("SEARCH #room : ", "Say what to look for"),
        ("RECENT @x 5", "Messages could not be retrieved"),
    ] {
        ada.send(&format!("HISTORY {request}")).await;
        let refused = ada.line().await.unwrap();
        assert!(refused.params.last().unwrap().contains(why), "{request}: {refused:?}");
    }
}
