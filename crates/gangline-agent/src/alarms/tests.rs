//! What is due, with a real store and a clock that the test puts forward.

use gangline_core::{Principal, Tier};
use gangline_os::{CancellationToken, clock::Clock as _, task::TaskGroup};
use gangline_store::{MessageFilter, NewReminder, OpenOptions};

use super::*;
use crate::hand_clock::HandClock;

struct Rig {
    _folder: tempfile::TempDir,
    clock: Arc<HandClock>,
    store: Store,
    made: Arc<Notify>,
    rescan: Arc<Notify>,
    closed: CancellationToken,
    _loop: mpsc::Receiver<Incoming>,
    tasks: TaskGroup,
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

impl Rig {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(HandClock::default());
        let path = folder.path().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock.clone() }).await.unwrap();
        let (agent_loop, _loop) = mpsc::channel(8);
        let (made, rescan) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (closed, tasks) = (CancellationToken::new(), TaskGroup::new("test"));
        let alarms = Alarms {
            agent: ada(),
            store: store.clone(),
            clock: clock.clone(),
            redactor: Arc::default(),
            agent_loop,
            rescan: Arc::clone(&rescan),
            made: Arc::clone(&made),
            committed: watch::Sender::new(0),
        };
        let mut rig = Self { _folder: folder, clock, store, made, rescan, closed, _loop, tasks };
        let closed = rig.closed.clone();
        rig.tasks.spawn("alarms", async move {
            assert_eq!(alarms.run(closed).await, AlarmsEnd::Closed);
        });
        rig
    }

    async fn remind(&self, request: &str, after: Duration, repeats: Option<&str>) {
        let new = NewReminder {
            agent: ada(),
            by: Principal { account: ada().to_string(), tier: Tier::Agent },
            turn: None,
            request: request.to_owned(),
            target: String::new(),
            body: Redactor::default().redact(request),
            due_at: self.clock.now().plus(after),
            repeats: repeats.map(str::to_owned),
            open_max: 100,
        };
        self.store.remind(new).await.unwrap();
        self.made.notify_one();
    }

    /// Waits until so many messages of reminders are there; returns their texts, oldest first.
    async fn fired(&self, count: usize) -> Vec<String> {
        loop {
            let rows = self.store.messages(MessageFilter::default(), 500).await.unwrap();
            if rows.len() >= count {
                return rows.iter().rev().map(|row| row.body.to_string()).collect();
            }
            self.rescan.notified().await;
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// R2-28: what was missed fires once, says how late it is, and goes on from now.
#[tokio::test]
async fn a_repeating_reminder_that_was_missed_fires_once_and_goes_on_from_now() {
    let rig = Rig::open().await;
    rig.remind("tea", 10 * MINUTE, Some("every PT10M")).await;
    rig.clock.forward(34 * MINUTE);
    assert_eq!(rig.fired(1).await, ["tea\n[gangline] late by 24 min"]);
    let next = rig.store.reminders(Some(&ada()), 9).await.unwrap();
    let left = next[0].due_at.since(rig.clock.now());
    assert!(left > 5 * MINUTE && left <= 10 * MINUTE, "{left:?}");
    rig.clock.forward(10 * MINUTE);
    assert_eq!(rig.fired(2).await.len(), 2);
    rig.closed.cancel();
}

/// A burst is spread: an hour has a limit, and nothing is lost by it.
#[tokio::test]
async fn more_reminders_than_an_hour_allows_wait_for_their_turn() {
    let rig = Rig::open().await;
    let all = reminder::FIRINGS_MAX + 2;
    for at in 0..all {
        rig.remind(&at.to_string(), MINUTE, None).await;
    }
    rig.clock.forward(MINUTE);
    assert_eq!(rig.fired(reminder::FIRINGS_MAX).await.len(), reminder::FIRINGS_MAX);
    let waits = rig.store.reminders(Some(&ada()), 9).await.unwrap();
    assert_eq!(waits.len(), 2);
    rig.clock.forward(reminder::FIRINGS_WITHIN);
    assert_eq!(rig.fired(all).await.len(), all);
    rig.closed.cancel();
}
