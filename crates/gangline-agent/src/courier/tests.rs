//! A courier with a real store, and the other ends of its queues, for the tests of its parts.

use std::{collections::HashSet, sync::Arc, time::Duration};

use gangline_broker::{Broker, OpenOptions, Tuning, Whose};
use gangline_core::{
    AgentName, Epoch,
    agent::{Agent, AgentOptions},
    redact::Redactor,
    trust,
};
use gangline_irc::client::LinkCommand;
use gangline_os::{CancellationToken, clock, paths::Paths};
use gangline_runtime::Capabilities;
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc, watch};

use super::{Counts, Courier, Office};
use crate::{
    bus::{Incoming, LINK_QUEUE},
    rooms::ToRooms,
    showing::Showing,
};

/// The courier of `oak-ada` on a server whose nicks are trusted, and the other ends of its queues.
pub(super) struct Rig {
    pub(super) courier: Courier,
    pub(super) link: mpsc::Receiver<LinkCommand>,
    pub(super) rooms: mpsc::Receiver<ToRooms>,
    /// Where the store is.
    pub(super) folder: TempDir,
    _brain: mpsc::Receiver<Incoming>,
}

pub(super) fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

impl Rig {
    /// `own` says whether the server is that of the hub.
    pub(super) async fn open(own: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tuning = Tuning { lock_wait: Duration::from_millis(200), ..Tuning::default() };
        let path = folder.path().join("gangline.db");
        let options = OpenOptions { path, clock: clock::system() };
        let broker = Broker::open_tuned(options, tuning).await.unwrap();
        let whose = Whose { runtime: "native", configured: "native" };
        broker.begin_epoch(&ada(), (1, "test"), whose).await.unwrap();
        let view = Agent::new(AgentOptions::default()).view();
        let ((brain, _brain), (rooms, heard)) = (mpsc::channel(64), mpsc::channel(64));
        let (sender, link) = mpsc::channel(LINK_QUEUE);
        let office = Office {
            agent: ada(),
            epoch: Epoch(1),
            broker,
            clock: clock::system(),
            redactor: Arc::new(Redactor::default()),
            network_id: "net".to_owned(),
            own,
            trust_nicks: true,
            home: HashSet::new(),
            everybody: vec![ada()],
            closed: CancellationToken::new(),
            opened: CancellationToken::new(),
            policy: trust::Policy::default(),
            brain,
            link: sender,
            outbox: Arc::new(Notify::new()),
            rescan: Arc::new(Notify::new()),
            showing: watch::channel(Showing::new(view)).1,
            can: Capabilities::default(),
            paths: Paths {
                config_file: "/c".into(),
                state: folder.path().into(),
                runtime: folder.path().into(),
            },
            model_owner: "native".to_owned(),
            joined: watch::Sender::default(),
            wanted: watch::Sender::default(),
            kept_out: watch::Sender::default(),
            members: watch::Sender::new(Counts::new()),
            rooms,
        };
        Self { courier: Courier::new(office), link, rooms: heard, folder, _brain }
    }
}
