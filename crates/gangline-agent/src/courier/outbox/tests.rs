//! The outbox in front of a link that only takes what it is given; a real store.

use std::{collections::HashSet, sync::Arc};

use gangline_broker::{Broker, OpenOptions, OutboxState};
use gangline_core::{
    AgentName, Epoch,
    agent::{Agent, AgentOptions},
    redact::{Redacted, Redactor},
    trust,
};
use gangline_os::{CancellationToken, clock, paths::Paths};
use gangline_runtime::Capabilities;
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc, watch};

use super::*;
use crate::{
    courier::{Counts, Office},
    showing::Showing,
};

/// More lines than one page has.
const MANY: usize = PAGE_MAX as usize + 7;

struct Post {
    courier: Courier,
    link: mpsc::Receiver<LinkCommand>,
    _folder: TempDir,
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

fn rooms(names: &[&str]) -> HashSet<ChannelName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

impl Post {
    /// In `#open`, and not let into `#shut`.
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gangline.db");
        let broker = Broker::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        let paths = Paths {
            config_file: "/c".into(),
            state: folder.path().into(),
            runtime: folder.path().into(),
        };
        let (sender, link) = mpsc::channel(LINK_QUEUE);
        let showing = Showing::new(Agent::new(AgentOptions::default()).view());
        let office = Office {
            agent: ada(),
            epoch: Epoch(1),
            broker,
            clock: clock::system(),
            redactor: Arc::new(Redactor::default()),
            network_id: "net".to_owned(),
            own: true,
            trust_nicks: false,
            home: HashSet::new(),
            everybody: vec![ada()],
            closed: CancellationToken::new(),
            opened: CancellationToken::new(),
            policy: trust::Policy::default(),
            brain: mpsc::channel(64).0,
            link: sender,
            outbox: Arc::new(Notify::new()),
            rescan: Arc::new(Notify::new()),
            showing: watch::channel(showing).1,
            can: Capabilities::default(),
            paths,
            model_owner: String::new(),
            joined: watch::Sender::new(rooms(&["#open"])),
            wanted: watch::Sender::new(rooms(&["#open", "#shut"])),
            kept_out: watch::Sender::new(HashSet::new()),
            members: watch::Sender::new(Counts::new()),
            rooms: mpsc::channel(64).0,
        };
        let mut courier = Courier::new(office);
        courier.up = true;
        Self { courier, link, _folder: folder }
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
        self.courier.office.broker.send(send).await.unwrap();
    }

    /// What the link was given, the server having confirmed it.
    async fn said(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok(LinkCommand::Say(say)) = self.link.try_recv() {
            self.courier.confirmed(&say.key, None).await;
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
    post.courier.send_waiting().await;
    let mut first = lines("#open", "a", 1..=1);
    first.extend(lines("#open", "b", 1..=WINDOW - 1));
    assert_eq!(post.said().await, first, "as far as the window goes");
    post.courier.send_waiting().await;
    let mut rest = lines("#open", "b", WINDOW..=WINDOW);
    rest.extend(lines("alice", "c", 1..=1));
    assert_eq!(post.said().await, rest);
    post.courier.send_waiting().await;
    assert_eq!(post.said().await, [""; 0]);

    post.courier.office.joined.send_replace(rooms(&["#open", "#shut"]));
    let mut waited = Vec::new();
    loop {
        post.courier.send_waiting().await;
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
    post.courier.give_up_room(&"#shut".parse().unwrap(), "banned").await;
    let broker = &post.courier.office.broker;
    let given_up = broker.outbox_by_idem(&ada(), "shut").await.unwrap();
    assert_eq!(given_up.len(), MANY);
    assert!(given_up.iter().all(|row| row.state == OutboxState::Undeliverable));
    let left = broker.outbox_pending(&ada(), PAGE_MAX).await.unwrap();
    assert_eq!(left.iter().map(|row| row.body.as_str()).collect::<Vec<_>>(), ["b1"]);
}
