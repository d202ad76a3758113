//! Private answers: they belong to the conversation of their question, not to a nick.

use std::sync::Arc;

use gangline_irc::{
    server::{
        access::{Access, Guests},
        config::{Limits, ServerConfig},
        trust::Origin,
    },
    wire::Message,
};

use super::{
    history::{ask, texts},
    support::{Peer, Room, Standing},
};

async fn strangers() -> Room {
    Room::with(Limits { flood: None, ..Limits::default() }, Origin::User(1)).await
}

/// Asks the agent something privately; returns the id of the question, as the agent hears it.
async fn asks(peer: &mut Peer, ada: &mut Peer, text: &str) -> String {
    peer.send(&format!("PRIVMSG spark-ada :{text}")).await;
    let heard = ada.until("PRIVMSG").await;
    assert_eq!(heard.params[1], text);
    heard.tag("msgid").unwrap().to_owned()
}

/// Answers as a daemon does; returns the echo or the refusal.
async fn answers(
    ada: &mut Peer,
    (to, question): (&str, &str),
    (key, text): (&str, &str),
) -> Message {
    let tags = format!("@label={key};+gangline/id={key};+draft/reply={question}");
    ada.send(&format!("{tags} PRIVMSG {to} :{text}")).await;
    loop {
        let line = ada.line().await.unwrap();
        if line.label() == Some(key) {
            return line;
        }
    }
}

async fn leaves(mut peer: Peer) {
    peer.send("QUIT").await;
    peer.until_closed().await;
}

/// What a peer was told by others up to now.
async fn heard(peer: &mut Peer) -> Vec<String> {
    let lines = peer.caught_up().await;
    let is_said = |line: &&Message| matches!(&*line.command, "PRIVMSG" | "NOTICE");
    let said = lines.iter().filter(is_said).filter(|line| line.nick() != Some(&*peer.nick));
    said.map(|line| line.params.join(" ")).collect()
}

/// The next line that somebody else said to the peer.
async fn next(peer: &mut Peer) -> Message {
    loop {
        let line = peer.until("PRIVMSG").await;
        if line.nick() != Some(&*peer.nick) {
            return line;
        }
    }
}

#[tokio::test]
async fn a_stranger_who_takes_the_askers_nick_is_told_nothing() {
    let room = strangers().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut own = room.account("own3", "owner").await;
    let question = asks(&mut own, &mut ada, "nap").await;
    leaves(own).await;
    let mut eve = room.modern("own3").await;
    let echo = answers(&mut ada, ("own3", &question), ("k.1", "napped 77")).await;
    assert_eq!(echo.command, "PRIVMSG");
    assert_eq!(heard(&mut eve).await, [""; 0]);
    let mut own = room.account("own4", "owner").await;
    let lines = ask(&mut own, "LATEST spark-ada * 9").await;
    assert_eq!(texts(&lines), ["nap", "napped 77"]);
    assert_eq!(lines[1].tag("msgid"), echo.tag("msgid"));
    room.shut().await;
}

/// The nick of a member is no proof of who has it now: an account is another party.
#[tokio::test]
async fn an_account_that_takes_a_members_nick_is_told_nothing() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut zed = room.plain("zed").await;
    let question = asks(&mut zed, &mut ada, "nap").await;
    leaves(zed).await;
    let mut own = room.account("zed", "owner").await;
    let echo = answers(&mut ada, ("zed", &question), ("k.1", "napped")).await;
    assert_eq!(echo.command, "PRIVMSG");
    assert_eq!(heard(&mut own).await, [""; 0]);
    assert_eq!(texts(&ask(&mut own, "LATEST spark-ada * 9").await), [""; 0]);
    room.shut().await;
}

/// Whoever names a line of a conversation between others has no part in it: the line goes to who has
/// the nick now, as if it named none.
#[tokio::test]
async fn naming_a_line_between_others_changes_nothing() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut bob = room.account("spark-bob", "spark-bob").await;
    let mut own = room.account("own3", "owner").await;
    let question = asks(&mut own, &mut ada, "nap").await;
    leaves(own).await;
    let mut zed = room.modern("own3").await;
    assert_eq!(answers(&mut bob, ("own3", &question), ("k.1", "psst")).await.command, "PRIVMSG");
    assert_eq!(heard(&mut zed).await, ["own3 psst"]);
    let mut own = room.account("own4", "owner").await;
    assert_eq!(texts(&ask(&mut own, "LATEST spark-bob * 9").await), [""; 0]);
    room.shut().await;
}

/// An agent that names a line of its own goes on in that conversation, whoever is there.
#[tokio::test]
async fn an_agent_that_names_its_own_line_goes_on_with_whom_it_was_for() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut own = room.account("own3", "owner").await;
    let question = asks(&mut own, &mut ada, "nap").await;
    let first = answers(&mut ada, ("own3", &question), ("k.1", "napped")).await;
    let first = first.tag("msgid").unwrap().to_owned();
    leaves(own).await;
    let more = answers(&mut ada, ("own3", &first), ("k.2", "and more")).await;
    assert_eq!(more.command, "PRIVMSG");
    let mut own = room.account("own4", "owner").await;
    let lines = ask(&mut own, "LATEST spark-ada * 9").await;
    assert_eq!(texts(&lines), ["nap", "napped", "and more"]);
    room.shut().await;
}

#[tokio::test]
async fn a_member_who_has_left_finds_the_answer_in_the_conversation() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut zed = room.plain("zed").await;
    let question = asks(&mut zed, &mut ada, "nap").await;
    leaves(zed).await;
    let echo = answers(&mut ada, ("zed", &question), ("k.1", "napped")).await;
    assert_eq!(echo.command, "PRIVMSG");
    // The agent says it again after a crash: the same line, still once.
    let again = answers(&mut ada, ("zed", &question), ("k.1", "napped")).await;
    assert_eq!(again.tag("msgid"), echo.tag("msgid"));
    let mut zed = room.modern("zed").await;
    assert_eq!(texts(&ask(&mut zed, "LATEST spark-ada * 9").await), ["nap", "napped"]);
    let again = answers(&mut ada, ("zed", &question), ("k.1", "napped")).await;
    assert_eq!(again.tag("msgid"), echo.tag("msgid"));
    assert_eq!(heard(&mut zed).await, [""; 0], "what was kept before is not shown as new");
    answers(&mut ada, ("zed", &question), ("k.2", "and more")).await;
    assert_eq!(heard(&mut zed).await, ["zed and more"]);
    room.shut().await;
}

#[tokio::test]
async fn every_session_of_the_account_hears_the_answer_under_its_own_nick() {
    let room = strangers().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut laptop = room.account("laptop", "owner").await;
    let question = asks(&mut laptop, &mut ada, "report").await;
    let mut phone = room.account("phone", "owner").await;
    let echo = answers(&mut ada, ("laptop", &question), ("k.1", "all well")).await;
    assert_eq!(echo.params[0], "laptop");
    assert_eq!(heard(&mut laptop).await, ["laptop all well"]);
    let lines = phone.caught_up().await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0].params, ["phone", "all well"]);
    assert_eq!(lines[0].tag("msgid"), echo.tag("msgid"));
    room.shut().await;
}

/// Its other session hears it as said to it; the one that has said it has its echo and no more.
#[tokio::test]
async fn who_writes_to_another_session_of_their_own_hears_it_once() {
    let room = strangers().await;
    let mut laptop = room.account("laptop", "owner").await;
    let mut phone = room.account("phone", "owner").await;
    laptop.send("PRIVMSG phone :a note").await;
    for peer in [&mut laptop, &mut phone] {
        let lines = peer.caught_up().await;
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(lines[0].params, ["phone", "a note"]);
    }
    room.shut().await;
}

/// Nothing proves who a stranger is but the connection that has asked.
#[tokio::test]
async fn a_stranger_is_answered_only_while_it_stays() {
    let room = strangers().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut eve = room.modern("eve").await;
    let question = asks(&mut eve, &mut ada, "who are you?").await;
    answers(&mut ada, ("eve", &question), ("k.1", "not your agent")).await;
    assert_eq!(heard(&mut eve).await, ["eve not your agent"]);
    leaves(eve).await;
    let mut other = room.modern("eve").await;
    let refused = answers(&mut ada, ("eve", &question), ("k.2", "again")).await;
    assert_eq!(refused.command, "401");
    let lost = answers(&mut ada, ("eve", "gone.1"), ("k.3", "to a lost question")).await;
    assert_eq!(lost.command, "401");
    // Its own question is answered; renamed, it is somebody else again.
    let question = asks(&mut other, &mut ada, "and now?").await;
    assert_eq!(answers(&mut ada, ("eve", &question), ("k.4", "yes")).await.command, "PRIVMSG");
    assert_eq!(heard(&mut other).await, ["eve yes"]);
    other.send("NICK mallory").await;
    other.send("NICK eve").await;
    other.caught_up().await;
    assert_eq!(answers(&mut ada, ("eve", &question), ("k.5", "no")).await.command, "401");
    room.shut().await;
}

/// The time of day stands still for a while after it was set back.
#[tokio::test]
async fn a_stranger_of_the_same_instant_is_another_one() {
    let access = Access { guests: Guests::Talk, ..Access::default() };
    let still = |config: &mut ServerConfig| config.clock = Arc::new(Standing);
    let room = Room::configured(access, Origin::User(1), still).await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut eve = room.modern("eve").await;
    let question = asks(&mut eve, &mut ada, "who are you?").await;
    assert_eq!(answers(&mut ada, ("eve", &question), ("k.1", "ada")).await.command, "PRIVMSG");
    leaves(eve).await;
    let mut other = room.modern("eve").await;
    assert_eq!(answers(&mut ada, ("eve", &question), ("k.2", "ada!")).await.command, "401");
    assert_eq!(heard(&mut other).await, [""; 0]);
    room.shut().await;
}

/// An agent may write to a member whom it has talked to, at any time; a nick that nobody has, and
/// that it never talked to, is told so at once.
#[tokio::test]
async fn an_agent_writes_to_a_member_it_knows_who_is_not_here() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut zed = room.plain("zed").await;
    asks(&mut zed, &mut ada, "hello").await;
    leaves(zed).await;
    ada.send("@label=a PRIVMSG zed :by the way").await;
    assert_eq!(ada.until("PRIVMSG").await.label(), Some("a"));
    ada.send("@label=b PRIVMSG nobody :by the way").await;
    assert_eq!(ada.until("401").await.label(), Some("b"));
    let mut zed = room.modern("zed").await;
    assert_eq!(texts(&ask(&mut zed, "LATEST spark-ada * 9").await), ["hello", "by the way"]);
    room.shut().await;
}

/// A reply tag is a client's word: it moves no line to a conversation that its target is not of.
#[tokio::test]
async fn a_line_that_names_another_conversation_goes_to_its_target() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.modern("ann").await;
    let mut ben = room.modern("ben").await;
    let question = asks(&mut ann, &mut ada, "for you alone").await;
    assert_eq!(answers(&mut ada, ("ben", &question), ("k.1", "hi ben")).await.params[0], "ben");
    assert_eq!(heard(&mut ben).await, ["ben hi ben"]);
    // Ben names a line that he has never seen.
    ben.send(&format!("@+draft/reply={question} PRIVMSG ann :mine")).await;
    assert_eq!(next(&mut ann).await.params, ["ann", "mine"]);
    assert_eq!(heard(&mut ada).await, [""; 0]);
    assert_eq!(texts(&ask(&mut ben, "LATEST ann * 9").await), ["mine"]);
    assert_eq!(texts(&ask(&mut ann, "LATEST spark-ada * 9").await), ["for you alone"]);
    // What was asked in a room may be answered privately.
    ada.join("#room").await;
    ann.join("#room").await;
    ann.send("PRIVMSG #room :in the open").await;
    let open = ada.until("PRIVMSG").await.tag("msgid").unwrap().to_owned();
    leaves(ann).await;
    assert_eq!(answers(&mut ada, ("ann", &open), ("k.2", "aside")).await.command, "PRIVMSG");
    let mut ann = room.modern("ann").await;
    let lines = ask(&mut ann, "LATEST spark-ada * 9").await;
    assert_eq!(texts(&lines), ["for you alone", "aside"]);
    room.shut().await;
}

#[tokio::test]
async fn answers_and_other_lines_keep_their_order() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut ann = room.modern("ann").await;
    ada.join("#room").await;
    ann.join("#room").await;
    let question = asks(&mut ann, &mut ada, "count").await;
    let mut sent = String::new();
    for number in 0..40 {
        sent.push_str(&format!("@+draft/reply={question} PRIVMSG ann :a{number}\r\n"));
        sent.push_str(&format!("PRIVMSG #room :b{number}\r\nPRIVMSG ann :c{number}\r\n"));
    }
    ada.raw(sent.as_bytes()).await;
    for number in 0..40 {
        for letter in ["a", "b", "c"] {
            assert_eq!(next(&mut ann).await.params[1], format!("{letter}{number}"));
        }
    }
    room.shut().await;
}

/// A typing mark for somebody who has left is dropped in silence: a refusal of it would be taken for
/// that of the answer which follows.
#[tokio::test]
async fn a_typing_mark_for_who_has_left_is_not_refused() {
    let room = Room::open().await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    let mut zed = room.plain("zed").await;
    let question = asks(&mut zed, &mut ada, "nap").await;
    leaves(zed).await;
    ada.send("@+typing=done TAGMSG zed").await;
    assert_eq!(ada.caught_up().await, []);
    assert_eq!(answers(&mut ada, ("zed", &question), ("k.1", "x")).await.command, "PRIVMSG");
    let mut ann = room.modern("ann").await;
    ann.send("@+typing=done TAGMSG zed").await;
    ann.until("401").await;
    room.shut().await;
}
