//! The outbox in front of a link that only takes what it is given; a real store.

use std::collections::HashSet;

use gangline_broker::OutboxState;
use gangline_core::redact::Redacted;

use super::*;
use crate::courier::tests::{Rig, ada};

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
        let office = &rig.courier.office;
        office.joined.send_replace(rooms(&["#open"]));
        office.wanted.send_replace(rooms(&["#open", "#shut"]));
        rig.courier.up = true;
        Self(rig)
    }

    async fn queue(&self, name: &str, target: &str, lines: usize) {
        let lines = (1..=lines).map(|line| Redacted::from_store(format!("{name}{line}")));
        let send = BrokerSend {
            agent: ada(),
            turn: None,
            idem_key: name.to_owned(),
            target: target.to_owned(),
            lines: lines.collect(),
            kind: LineKind::Privmsg,
            in_reply_to: None,
            deliver: None,
        };
        self.0.courier.office.broker.send(send).await.unwrap();
    }

    /// What the link was given, the server having confirmed it.
    async fn said(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok(LinkCommand::Say(say)) = self.0.link.try_recv() {
            self.0.courier.confirmed(&say.key, Said::default()).await;
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
    post.0.courier.send_waiting().await;
    let mut first = lines("#open", "a", 1..=1);
    first.extend(lines("#open", "b", 1..=WINDOW - 1));
    assert_eq!(post.said().await, first, "as far as the window goes");
    post.0.courier.send_waiting().await;
    let mut rest = lines("#open", "b", WINDOW..=WINDOW);
    rest.extend(lines("alice", "c", 1..=1));
    assert_eq!(post.said().await, rest);
    post.0.courier.send_waiting().await;
    assert_eq!(post.said().await, [""; 0]);

    post.0.courier.office.joined.send_replace(rooms(&["#open", "#shut"]));
    let mut waited = Vec::new();
    loop {
        post.0.courier.send_waiting().await;
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
    post.0.courier.give_up_room(&"#shut".parse().unwrap(), "banned").await;
    let broker = &post.0.courier.office.broker;
    let given_up = broker.outbox_by_idem(&ada(), "shut").await.unwrap();
    assert_eq!(given_up.len(), MANY);
    assert!(given_up.iter().all(|row| row.state == OutboxState::Undeliverable));
    let left = broker.outbox_pending(&ada(), PAGE_MAX).await.unwrap();
    assert_eq!(left.iter().map(|row| row.body.as_str()).collect::<Vec<_>>(), ["b1"]);
}

/// The link names the line that a private line answers: then the server knows whose it is.
#[tokio::test]
async fn a_private_line_names_its_question_to_the_server() {
    let mut post = Post::open().await;
    let send = |name: &str, target: &str| BrokerSend {
        agent: ada(),
        turn: None,
        idem_key: name.to_owned(),
        target: target.to_owned(),
        lines: vec![Redacted::from_store(name.to_owned())],
        kind: LineKind::Privmsg,
        in_reply_to: None,
        deliver: None,
    };
    let broker = &post.0.courier.office.broker;
    broker.answer(send("answer", "otto"), Some("m.1".to_owned())).await.unwrap();
    broker.send(send("aside", "otto")).await.unwrap();
    post.0.courier.send_waiting().await;
    let mut named = Vec::new();
    while let Ok(LinkCommand::Say(say)) = post.0.link.try_recv() {
        named.push((say.text, say.reply_to));
    }
    let wanted = [("answer".to_owned(), Some("m.1".to_owned())), ("aside".to_owned(), None)];
    assert_eq!(named, wanted);
}
