//! What becomes of lines while the store cannot write.

use std::{collections::HashSet, path::Path, sync::Arc, time::Duration};

use gangline_broker::{Broker, MessageFilter, OpenOptions, Tuning, Whose};
use gangline_core::{
    Epoch,
    agent::{Agent, AgentOptions},
    redact::Redactor,
    trust,
};
use gangline_irc::client::LinkEvent;
use gangline_os::{CancellationToken, clock, paths::Paths};
use gangline_runtime::Capabilities;
use tokio::sync::{Notify, mpsc, watch};

use super::*;
use crate::{bus::Incoming, courier::Counts, rooms::ToRooms, showing::Showing};

/// The ends of the courier's queues, and its store.
struct Around {
    broker: Broker,
    rooms: mpsc::Receiver<ToRooms>,
    _brain: mpsc::Receiver<Incoming>,
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

async fn courier(folder: &Path) -> (Courier, Around) {
    let path = folder.join("gangline.db");
    let tuning = Tuning { lock_wait: Duration::from_millis(200), ..Tuning::default() };
    let options = OpenOptions { path, clock: clock::system() };
    let broker = Broker::open_tuned(options, tuning).await.unwrap();
    let whose = Whose { runtime: "native", configured: "native" };
    broker.begin_epoch(&ada(), (1, "test"), whose).await.unwrap();
    let view = Agent::new(AgentOptions::default()).view();
    let ((brain, _brain), (rooms, heard)) = (mpsc::channel(64), mpsc::channel(64));
    let office = Office {
        agent: ada(),
        epoch: Epoch(1),
        broker: broker.clone(),
        clock: clock::system(),
        redactor: Arc::new(Redactor::default()),
        network_id: "irc".to_owned(),
        own: false,
        trust_nicks: true,
        home: HashSet::new(),
        everybody: vec![ada()],
        closed: CancellationToken::new(),
        opened: CancellationToken::new(),
        policy: trust::Policy::default(),
        brain,
        link: mpsc::channel(64).0,
        outbox: Arc::new(Notify::new()),
        rescan: Arc::new(Notify::new()),
        showing: watch::channel(Showing::new(view)).1,
        can: Capabilities::default(),
        paths: Paths {
            config_file: "/c".into(),
            state: folder.to_owned(),
            runtime: folder.to_owned(),
        },
        model_owner: "native".to_owned(),
        joined: watch::Sender::default(),
        wanted: watch::Sender::default(),
        kept_out: watch::Sender::default(),
        members: watch::Sender::new(Counts::new()),
        rooms,
    };
    (Courier::new(office), Around { broker, rooms: heard, _brain })
}

fn line(text: &str) -> Line {
    Line {
        kind: WireKind::Privmsg,
        target: "oak-ada".parse().unwrap(),
        nick: "otto".to_owned(),
        account: None,
        principal: None,
        msgid: None,
        server_time: None,
        cursor: None,
        text: text.to_owned(),
        gangline_id: None,
        from_history: false,
        reply_to: None,
        bot: false,
    }
}

fn up(caps: &[&str]) -> LinkEvent {
    LinkEvent::Up {
        nick: "oak-ada".to_owned(),
        caps: caps.iter().map(|cap| (*cap).to_owned()).collect(),
        network: "net".to_owned(),
        own_server: false,
        first: true,
    }
}

/// A prompt that comes while somebody holds the store's lock is taken in when the lock is free, in
/// its order, from a server that will not say it again. One that keeps a history is asked instead.
#[tokio::test]
async fn what_no_server_says_again_is_kept_until_the_store_takes_it() {
    for history in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (mut courier, mut around) = courier(folder.path()).await;
        let caps: &[&str] = if history { &["batch", "draft/chathistory"] } else { &[] };
        courier.link_event(up(caps)).await;
        let lock = std::fs::File::open(folder.path().join("gangline.db.wlock")).unwrap();
        lock.lock().unwrap();
        for text in ["first", "second"] {
            courier.link_event(LinkEvent::Line(line(text))).await;
        }
        courier.take_kept().await;
        drop(lock);
        // While some wait, those that come later do not overtake them.
        if !history {
            courier.link_event(LinkEvent::Line(line("third"))).await;
        }
        let expect: &[&str] = if history { &[] } else { &["first", "second", "third"] };
        // Whoever waited for the lock gets it now, sooner or later.
        let all = async {
            loop {
                courier.take_kept().await;
                let rows = around.broker.messages(MessageFilter::default(), 10).await.unwrap();
                if rows.len() >= expect.len() {
                    return rows;
                }
            }
        };
        let rows = tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
        let mut taken: Vec<(i64, &str)> =
            rows.iter().map(|row| (row.id.0, row.body.as_str())).collect();
        taken.sort_unstable();
        let taken: Vec<&str> = taken.into_iter().map(|(_, text)| text).collect();
        assert_eq!(taken, expect, "history: {history}");
        let mut read = 0;
        while around.rooms.try_recv().is_ok() {
            read += 1;
        }
        assert_eq!(read, taken.len(), "the agent may read what was taken in");
    }
}
