//! The outbox in front of a link that only takes what it is given; a real store.

use std::collections::HashSet;

use gangline_core::redact::Redacted;
use gangline_irc::client::LinkEvent;
use gangline_store::OutboxState;

use super::*;
use crate::{
    chat::tests::{Rig, ada},
    rooms::RoomsCommand,
};

mod doubtful;
mod schedules;

/// More lines than one page has.
const MANY: usize = PAGE_MAX as usize + 7;

struct Post(Rig);

fn rooms(names: &[&str]) -> HashSet<ChannelName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

impl Post {
    /// In `#open`, and not let into `#shut`.
    async fn open() -> Self {
        let mut rig = Rig::open(true).await;
        let deps = &rig.chat.deps;
        deps.joined.send_replace(rooms(&["#open"]));
        deps.wanted.send_replace(rooms(&["#open", "#shut"]));
        rig.chat.up = true;
        Self(rig)
    }

    async fn queue(&self, name: &str, target: &str, lines: usize) {
        let lines = (1..=lines).map(|line| Redacted::from_store(format!("{name}{line}")).into());
        let send = StoreSend {
            agent: ada(),
            turn: None,
            idem_key: name.to_owned().into(),
            target: target.to_owned(),
            lines: lines.collect(),
            kind: LineKind::Privmsg,
            in_reply_to: None,
            deliver: None,
        };
        self.0.chat.deps.store.send(send).await.unwrap();
    }

    /// What the link was given, the server having confirmed it.
    async fn said(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok(LinkCommand::Say(say)) = self.0.link.try_recv() {
            self.0.chat.confirmed(&say.key, Said::default()).await;
            // The rooms take the agent's own lines whatever happens.
            while self.0.rooms.try_recv().is_ok() {}
            texts.push(format!("{} {}", say.target, say.text));
        }
        texts
    }
}

fn lines(target: &str, name: &str, range: std::ops::RangeInclusive<usize>) -> Vec<String> {
    range.map(|line| format!("{target} {name}{line}")).collect()
}

/// Lines for a room that does not let us in hold up none to other rooms and people, however many
/// they are; each room keeps its order, and what waited is said once its room is open.
#[tokio::test]
async fn lines_for_a_barred_room_hold_up_no_others() {
    let mut post = Post::open().await;
    post.queue("a", "#open", 1).await;
    post.queue("shut", "#shut", MANY).await;
    post.queue("b", "#open", WINDOW).await;
    post.queue("c", "alice", 1).await;
    post.0.chat.send_waiting().await;
    let mut first = lines("#open", "a", 1..=1);
    first.extend(lines("#open", "b", 1..=WINDOW - 1));
    assert_eq!(post.said().await, first, "as far as the window goes");
    post.0.chat.send_waiting().await;
    let mut rest = lines("#open", "b", WINDOW..=WINDOW);
    rest.extend(lines("alice", "c", 1..=1));
    assert_eq!(post.said().await, rest);
    post.0.chat.send_waiting().await;
    assert_eq!(post.said().await, [""; 0]);

    post.0.chat.deps.joined.send_replace(rooms(&["#open", "#shut"]));
    let mut waited = Vec::new();
    loop {
        post.0.chat.send_waiting().await;
        let said = post.said().await;
        assert!(said.len() <= WINDOW);
        if said.is_empty() {
            break;
        }
        waited.extend(said);
    }
    assert_eq!(waited, lines("#shut", "shut", 1..=MANY));
}

/// What waits for a room that stays shut is given up, all of it, and nothing else.
#[tokio::test]
async fn all_lines_for_a_room_that_stays_shut_are_given_up() {
    let mut post = Post::open().await;
    post.queue("shut", "#SHUT", MANY).await;
    post.queue("b", "#open", 1).await;
    post.0.chat.give_up_room(&"#shut".parse().unwrap(), "banned").await;
    let store = &post.0.chat.deps.store;
    let given_up = store.outbox_by_idem(&ada(), "shut").await.unwrap();
    assert_eq!(given_up.len(), MANY);
    assert!(given_up.iter().all(|row| row.state == OutboxState::Undeliverable));
    let left = store.outbox_pending(&ada(), PAGE_MAX).await.unwrap();
    assert_eq!(left.iter().map(|row| row.body.as_str()).collect::<Vec<_>>(), ["b1"]);
}

/// The link names the line that a private line answers: then the server knows whose it is.
#[tokio::test]
async fn a_private_line_names_its_question_to_the_server() {
    let mut post = Post::open().await;
    let send = |name: &str, target: &str| StoreSend {
        agent: ada(),
        turn: None,
        idem_key: name.to_owned().into(),
        target: target.to_owned(),
        lines: vec![Redacted::from_store(name.to_owned()).into()],
        kind: LineKind::Privmsg,
        in_reply_to: None,
        deliver: None,
    };
    let store = &post.0.chat.deps.store;
    store.answer(send("answer", "otto"), Some("m.1".to_owned())).await.unwrap();
    store.send(send("aside", "otto")).await.unwrap();
    post.0.chat.send_waiting().await;
    let mut named = Vec::new();
    while let Ok(LinkCommand::Say(say)) = post.0.link.try_recv() {
        named.push((say.text, say.reply_to));
    }
    let wanted = [("answer".to_owned(), Some("m.1".to_owned())), ("aside".to_owned(), None)];
    assert_eq!(named, wanted);
}

/// The server is ours and takes messages of several lines.
fn up_with(post: &mut Post, several: bool) {
    post.0.chat.up = true;
    post.0.chat.takes_several = several;
}

impl Post {
    async fn rows(&self, name: &str) -> Vec<OutboxRow> {
        self.0.chat.deps.store.outbox_by_idem(&ada(), name).await.unwrap()
    }

    /// What the link was given, unconfirmed: ids and texts.
    async fn given(&mut self) -> Vec<(String, Vec<String>)> {
        self.0.chat.send_waiting().await;
        let mut given = Vec::new();
        while let Ok(LinkCommand::Say(say)) = self.0.link.try_recv() {
            let further = say.further.into_iter().map(|(_, text)| text);
            given.push((say.key, std::iter::once(say.text).chain(further).collect()));
        }
        given
    }

    /// The daemon dies, and its successor looks at the outbox.
    fn die(&mut self) {
        self.0.chat.in_flight = InFlight::default();
    }
}

fn given(key: &str, texts: &[&str]) -> (String, Vec<String>) {
    (key.to_owned(), texts.iter().map(|text| (*text).to_owned()).collect())
}

/// Where the own server takes it, a long answer is one message: one id, one confirmation for all
/// rows.
#[tokio::test]
async fn a_long_answer_is_one_message_and_is_confirmed_at_once() {
    let mut post = Post::open().await;
    up_with(&mut post, true);
    post.queue("a", "#open", 3).await;
    post.queue("b", "#open", 1).await;
    let wanted = [given("a.all", &["a1", "a2", "a3"]), given("b.0", &["b1"])];
    assert_eq!(post.given().await, wanted);
    assert_eq!(post.given().await, [], "it is under way");
    assert!(post.rows("a").await.iter().all(|row| row.sent_as == Some(SentAs::Whole)));
    let said = Said { msgid: Some("m.7".to_owned()), at: None };
    post.0.chat.confirmed("a.all", said).await;
    for row in post.rows("a").await {
        let state = (row.state, row.attempts, row.msgid.as_deref());
        assert_eq!(state, (OutboxState::Confirmed, 1, Some("m.7")), "part {}", row.part);
    }
    let Ok(RoomsCommand::Line { line, .. }) = post.0.rooms.try_recv() else { panic!("no line") };
    assert_eq!((line.text.as_str(), line.msgid.as_deref()), ("a1 ⏎ a2 ⏎ a3", Some("m.7")));
    assert!(post.0.rooms.try_recv().is_err(), "one message is one line for who reads along");
}

/// A send keeps its first form, also in the next daemon and on a server that has changed.
#[tokio::test]
async fn what_was_said_in_one_form_is_said_again_in_that_form() {
    let mut post = Post::open().await;
    up_with(&mut post, true);
    post.queue("whole", "#open", 2).await;
    let whole = [given("whole.all", &["whole1", "whole2"])];
    assert_eq!(post.given().await, whole);
    post.die();
    up_with(&mut post, false);
    assert_eq!(post.given().await, [], "this server would take it for other lines");
    post.queue("lines", "#open", 2).await;
    let lines = [given("lines.0", &["lines1"]), given("lines.1", &["lines2"])];
    assert_eq!(post.given().await, lines, "what waits holds up no others");
    post.0.chat.confirmed("lines.0", Said::default()).await;
    post.die();
    up_with(&mut post, true);
    assert_eq!(post.given().await, [&whole[..], &lines[1..]].concat());
}

/// A refused message is given up as a whole, and the asker hears it once.
#[tokio::test]
async fn a_refused_message_is_given_up_whole() {
    let mut post = Post::open().await;
    up_with(&mut post, true);
    post.queue("a", "#open", 3).await;
    post.given().await;
    post.0.chat.failed("a.all", "MULTILINE_INVALID: no", None).await;
    for row in post.rows("a").await {
        assert_eq!(row.state, OutboxState::Undeliverable);
        assert_eq!(row.why.as_deref(), Some("MULTILINE_INVALID: no"));
    }
    assert_eq!(post.given().await, []);
}

/// A confirmation that came too late for its connection is seen in history.
#[tokio::test]
async fn a_message_that_history_shows_is_confirmed_whole() {
    let mut post = Post::open().await;
    up_with(&mut post, true);
    post.queue("a", "#open", 3).await;
    post.given().await;
    post.die();
    let said = Said { msgid: Some("m.7".to_owned()), at: None };
    post.0.chat.confirmed("a.all", said).await;
    assert!(post.rows("a").await.iter().all(|row| row.state == OutboxState::Confirmed));
    assert_eq!(post.given().await, []);
}

/// Elsewhere lines stay lines, also those of a message that our own server had a part in.
#[tokio::test]
async fn on_a_server_that_is_not_ours_every_line_is_said_by_itself() {
    let rig = Rig::open(false).await;
    rig.chat.deps.joined.send_replace(rooms(&["#open"]));
    let mut post = Post(rig);
    let up = LinkEvent::Up {
        nick: "oak-ada".to_owned(),
        caps: vec!["batch".to_owned(), "draft/multiline".to_owned()],
        network: "net".to_owned(),
        own_server: false,
        first: true,
        connection: 1,
    };
    post.0.chat.link_event(up).await;
    post.queue("a", "#open", 2).await;
    assert_eq!(post.given().await, [given("a.0", &["a1"]), given("a.1", &["a2"])]);
    assert!(post.rows("a").await.iter().all(|row| row.sent_as == Some(SentAs::Lines)));
}

/// The link says that the own server takes them.
#[tokio::test]
async fn a_connection_says_whether_it_takes_messages() {
    for (caps, takes) in [
        (&["batch", "draft/multiline"][..], true),
        (&["draft/multiline"], false),
        (&["batch"], false),
    ] {
        let mut rig = Rig::open(true).await;
        let caps = caps.iter().map(|cap| (*cap).to_owned()).collect();
        let (nick, network) = ("oak-ada".to_owned(), "net".to_owned());
        let (own_server, first, connection) = (true, true, 1);
        let up = LinkEvent::Up { nick, caps, network, own_server, first, connection };
        rig.chat.link_event(up).await;
        assert_eq!(rig.chat.takes_several, takes);
    }
}
