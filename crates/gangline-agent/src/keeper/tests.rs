//! What the keeper writes, in a real store.

use gangline_core::{Origin, Principal, Tier, agent::AgentPhase, redact::Redactor};
use gangline_os::{
    clock::{self, UnixMicros},
    doorbell::Doorbell,
};
use gangline_store::{
    AgentUpdate, EventQuery, LineKind, NewEvent, NewMessage, NewUsage, OpenOptions, Send as Said,
    Tuning, Whose, WithdrawApproval,
};
use tempfile::TempDir;

use super::*;

struct Fixture {
    folder: TempDir,
    store: Store,
    keeper: Option<Keeper>,
    records: mpsc::Sender<Record>,
    waiting: mpsc::Receiver<Record>,
    agent_loop: mpsc::Receiver<Incoming>,
    outbox: Arc<Notify>,
    committed: watch::Receiver<u64>,
    message: MessageId,
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

fn turn() -> TurnId {
    TurnId { epoch: Epoch(1), number: 1 }
}

fn event(kind: &str) -> Record {
    Record::Events(vec![NewEvent {
        agent: ada(),
        epoch: Some(Epoch(1)),
        turn: None,
        kind: kind.to_owned(),
        payload: Redactor::default().redact("{}"),
    }])
}

fn usage() -> Record {
    Record::Usage(Box::new(NewUsage {
        agent: ada(),
        turn: Some(turn()),
        model: "m".to_owned(),
        input: 1,
        output: 1,
        cache_read: 0,
        cache_write: 0,
        cost_micros: None,
    }))
}

fn message(agent: AgentName) -> NewMessage {
    NewMessage {
        agent,
        network_id: "local".to_owned(),
        intake_key: None,
        origin: Origin::Direct,
        principal: Principal { account: "owner".to_owned(), tier: Tier::Owner },
        sender: "otto".to_owned(),
        target: "otto".to_owned(),
        body: Redactor::default().redact("hello"),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

fn said(key: &str, deliver: Option<NewMessage>) -> Said {
    Said {
        agent: ada(),
        turn: None,
        idem_key: key.to_owned(),
        target: "#general".to_owned(),
        lines: vec![Redactor::default().redact("a line").into()],
        kind: LineKind::Notice,
        in_reply_to: None,
        deliver,
    }
}

async fn rings(what: impl Future<Output = ()>, name: &str) {
    let rung = tokio::time::timeout(Duration::from_secs(60), what).await;
    assert!(rung.is_ok(), "{name} is not rung");
}

impl Fixture {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        let whose = Whose { runtime: "claude", configured: "claude" };
        store.begin_epoch(&ada(), (1, "test"), whose).await.unwrap();
        let message = store.accept(message(ada())).await.unwrap().id;
        let (records, waiting) = mpsc::channel(64);
        let (to_loop, agent_loop) = mpsc::channel(64);
        let (fatal, _) = mpsc::channel(4);
        let outbox = Arc::new(Notify::new());
        let (committed_sender, committed) = watch::channel(0);
        let keeper = Keeper {
            agent: ada(),
            epoch: Epoch(1),
            store: store.clone(),
            paths: Paths {
                config_file: "/c".into(),
                state: folder.path().into(),
                runtime: folder.path().into(),
            },
            agent_loop: to_loop,
            outbox: Arc::clone(&outbox),
            rescan: Arc::new(Notify::new()),
            committed: committed_sender,
            fatal,
            turns_per_cause: 1,
        };
        let keeper = Some(keeper);
        Self { folder, store, keeper, records, waiting, agent_loop, outbox, committed, message }
    }

    /// The keeper, on a store of its own that soon says when another one has the lock.
    async fn hasty_keeper(&mut self) -> Keeper {
        let path = self.folder.path().join("gangline.db");
        let tuning = Tuning { lock_wait: Duration::from_millis(200), ..Tuning::default() };
        let options = OpenOptions { path, clock: clock::system() };
        let mut keeper = self.keeper.take().unwrap();
        keeper.store = Store::open_tuned(options, tuning).await.unwrap();
        keeper
    }

    /// Locks the store for every writer, until it is dropped.
    fn locked(&self) -> std::fs::File {
        let lock = std::fs::File::open(self.folder.path().join("gangline.db.wlock")).unwrap();
        lock.lock().unwrap();
        lock
    }

    fn take(&self) -> Record {
        let (messages, prompt_uuid) = (vec![self.message], "uuid".to_owned());
        Record::Take { turn: turn(), messages, prompt_uuid }
    }

    fn end(&self) -> Record {
        let settle = Settle {
            message: self.message,
            state: MessageState::Answered,
            reason: None,
            answer: None,
            not_before: None,
            uncount_attempt: false,
        };
        Record::End(Box::new(EndTurn {
            agent: ada(),
            turn: turn(),
            outcome: "completed".to_owned(),
            settle: vec![settle],
            sends: Vec::new(),
            events: Vec::new(),
            withdraw_approvals: None,
        }))
    }

    /// Lets the keeper write all that waits, and returns how many commits that were.
    async fn write(&mut self, records: Vec<Record>) -> u64 {
        for record in records {
            self.records.try_send(record).unwrap();
        }
        let (records, _) = mpsc::channel(1);
        drop(std::mem::replace(&mut self.records, records));
        let (_, none) = mpsc::channel(1);
        let waiting = std::mem::replace(&mut self.waiting, none);
        self.keeper.take().unwrap().run(waiting).await;
        *self.committed.borrow()
    }

    async fn kinds(&self) -> Vec<String> {
        let page = self.store.events(EventQuery::default()).await.unwrap();
        page.events.into_iter().map(|event| event.kind).collect()
    }

    async fn state(&self) -> MessageState {
        self.store.message(self.message).await.unwrap().unwrap().state
    }

    async fn calls(&self) -> i64 {
        self.store.usage(None, UnixMicros(0)).await.unwrap().calls
    }
}

/// What waits is one commit; T1 is one of its own, whose receipt the agent loop waits for, and stands
/// between what came before it and after it.
#[tokio::test]
async fn records_that_wait_are_written_together_and_in_their_order() {
    let mut fixture = Fixture::open().await;
    let idle = AgentUpdate { phase: Some(AgentPhase::Idle), ..AgentUpdate::default() };
    let records = vec![
        event("a"),
        event("b"),
        fixture.take(),
        event("c"),
        usage(),
        fixture.end(),
        Record::Agent(idle),
        event("d"),
    ];
    assert_eq!(fixture.write(records).await, 3);
    assert_eq!(fixture.kinds().await, ["a", "b", "turn_started", "c", "d"]);
    assert_eq!((fixture.state().await, fixture.calls().await), (MessageState::Answered, 1));
    let row = fixture.store.agent(&ada()).await.unwrap().unwrap();
    assert_eq!(row.phase, Some(AgentPhase::Idle.into()));
    assert!(matches!(fixture.agent_loop.try_recv(), Ok(Incoming::Taken { .. })));
    assert!(fixture.agent_loop.try_recv().is_err());
    // The end of a turn rings for the lines that it may have made.
    tokio::time::timeout(Duration::from_secs(60), fixture.outbox.notified()).await.unwrap();
}

/// Who goes on from what was written hears of it: the outbox of lines, the inbox of messages that
/// went back, a colleague of what it was sent, the hub of an agent that is ready.
#[tokio::test]
async fn those_who_wait_for_what_was_written_are_rung() {
    let bob: AgentName = "oak-bob".parse().unwrap();
    for (kind, outbox, inbox) in [
        ("end", true, true),
        ("say", true, false),
        ("withdraw", true, false),
        ("ready", false, false),
    ] {
        let mut fixture = Fixture::open().await;
        let keeper = fixture.keeper.as_ref().unwrap();
        let (rescan, paths) = (Arc::clone(&keeper.rescan), keeper.paths.clone());
        let colleague = Doorbell::bind(&paths.doorbell(bob.as_str())).unwrap();
        let hub = Doorbell::bind(&paths.doorbell("hub")).unwrap();
        let mut records = Vec::new();
        match kind {
            "end" => {
                let Record::End(mut end) = fixture.end() else { panic!("no end") };
                end.sends = vec![said("end", Some(message(bob.clone())))];
                records.extend([fixture.take(), Record::End(end)]);
            }
            "say" => records.push(Record::Say(Box::new(said("say", None)))),
            "withdraw" => records.push(Record::Withdraw(Box::new(WithdrawApproval {
                agent: ada(),
                turn: turn(),
                request: "q".to_owned(),
                why: Redactor::default().redact("taken back"),
                say: None,
            }))),
            _ => records.push(Record::Agent(AgentUpdate { ready: true, ..AgentUpdate::default() })),
        }
        fixture.write(records).await;
        if outbox {
            rings(fixture.outbox.notified(), "the outbox").await;
        }
        if inbox {
            rings(rescan.notified(), "the inbox").await;
            rings(colleague.rung(), "the colleague").await;
        }
        if kind == "ready" {
            rings(hub.rung(), "the hub").await;
        }
    }
}

/// A turn that was ended by an earlier try is no failure, and keeps nothing from being written.
#[tokio::test]
async fn the_end_of_a_turn_that_has_ended_is_passed_over() {
    let mut fixture = Fixture::open().await;
    let records = vec![fixture.take(), fixture.end(), event("a"), fixture.end(), event("b")];
    assert_eq!(fixture.write(records).await, 2);
    assert_eq!(fixture.kinds().await, ["turn_started", "a", "b"]);
}

/// What a turn used waits a moment for the end of that turn, and not longer.
#[tokio::test]
async fn what_a_turn_used_is_written_with_its_end_if_that_comes_at_once() {
    for comes in [true, false] {
        let mut fixture = Fixture::open().await;
        fixture
            .store
            .take(Take {
                agent: ada(),
                turn: turn(),
                messages: vec![fixture.message],
                prompt_uuid: "uuid".to_owned(),
                how: How::Woke,
                turns_per_cause: 30,
            })
            .await
            .unwrap();
        let end = fixture.end();
        let (records, waiting) = mpsc::channel(8);
        let keeper = fixture.keeper.take().unwrap();
        let mut tasks = gangline_os::task::TaskGroup::new("test");
        tasks.spawn("keeper", keeper.run(waiting));
        records.try_send(usage()).unwrap();
        // Until the keeper waits; no time is looked at before this task does so too.
        tokio::task::yield_now().await;
        if comes {
            records.try_send(end).unwrap();
        }
        let written = fixture.committed.wait_for(|count| *count > 0);
        tokio::time::timeout(Duration::from_secs(60), written).await.unwrap().unwrap();
        let state = if comes { MessageState::Answered } else { MessageState::InTurn };
        assert_eq!((fixture.state().await, fixture.calls().await), (state, 1));
        drop(records);
        tasks.next_end().await;
        assert_eq!(*fixture.committed.borrow(), 1, "one commit");
    }
}

/// While the store is locked the agent loop is told so, and nothing is dropped.
#[tokio::test]
async fn what_cannot_be_written_is_tried_again_in_order() {
    let mut fixture = Fixture::open().await;
    let keeper = fixture.hasty_keeper().await;
    let lock = fixture.locked();
    let (records, waiting) = mpsc::channel(8);
    for record in [event("a"), usage(), event("b")] {
        records.try_send(record).unwrap();
    }
    let mut tasks = gangline_os::task::TaskGroup::new("test");
    tasks.spawn("keeper", keeper.run(waiting));
    let told = tokio::time::timeout(Duration::from_secs(60), fixture.agent_loop.recv()).await;
    assert!(matches!(told, Ok(Some(Incoming::StoreDegraded(_)))), "{told:?}");
    records.try_send(event("c")).unwrap();
    drop(lock);
    drop(records);
    tasks.next_end().await;
    assert_eq!(fixture.kinds().await, ["a", "b", "c"]);
    assert_eq!(fixture.calls().await, 1);
    let told = std::iter::from_fn(|| fixture.agent_loop.try_recv().ok());
    // It may have been tried in vain more than once.
    let mut told = told.skip_while(|it| matches!(it, Incoming::StoreDegraded(_)));
    assert!(matches!(told.next(), Some(Incoming::StoreOk)));
}

/// A message that is to join the open turn while the store is locked joins it when the lock is
/// gone, and the agent loop hears that the store writes again: else it would begin no turn any more.
#[tokio::test]
async fn a_message_joins_once_the_store_writes_again() {
    for how in [How::Steered, How::Read] {
        let mut fixture = Fixture::open().await;
        let keeper = fixture.hasty_keeper().await;
        let take = Take {
            agent: ada(),
            turn: turn(),
            messages: Vec::new(),
            prompt_uuid: "uuid".to_owned(),
            how: How::Woke,
            turns_per_cause: 30,
        };
        fixture.store.take(take).await.unwrap();
        let lock = fixture.locked();
        let (records, waiting) = mpsc::channel(8);
        let (messages, prompt_uuid) = (vec![fixture.message], "uuid".to_owned());
        records.try_send(Record::Join { turn: turn(), messages, prompt_uuid, how }).unwrap();
        let mut tasks = gangline_os::task::TaskGroup::new("test");
        tasks.spawn("keeper", keeper.run(waiting));
        let told = tokio::time::timeout(Duration::from_secs(60), fixture.agent_loop.recv()).await;
        assert!(matches!(told, Ok(Some(Incoming::StoreDegraded(_)))), "{told:?}");
        drop(lock);
        drop(records);
        tasks.next_end().await;
        let mut told = Vec::new();
        while let Ok(incoming) = fixture.agent_loop.try_recv() {
            told.push(incoming);
        }
        told.retain(|it| !matches!(it, Incoming::StoreDegraded(_)));
        let told: Vec<&str> = told
            .iter()
            .map(|it| match it {
                Incoming::Joined { messages, .. } if *messages == [fixture.message] => "joined",
                Incoming::StoreOk => "ok",
                _ => "else",
            })
            .collect();
        let expect: &[&str] = if how == How::Steered { &["joined", "ok"] } else { &["ok"] };
        assert_eq!(told, expect, "{how:?}");
        assert_eq!(fixture.state().await, MessageState::InTurn);
    }
}

/// A storage that fails under a group fails all of it, and all of it is tried again, in order. Here
/// the first try stands after all, which nobody could know: facts may stand twice, none is missing.
#[tokio::test]
async fn a_group_that_the_storage_refused_is_tried_again_as_a_whole() {
    let mut fixture = Fixture::open().await;
    let path = fixture.folder.path().join("gangline.db");
    // The last one who closes it moves the log into the database, so that nothing is in it.
    fixture.store.close().await.unwrap();
    let options = OpenOptions { path: path.clone(), clock: clock::system() };
    fixture.store = Store::open(options).await.unwrap();
    let mut keeper = fixture.keeper.take().unwrap();
    keeper.store = fixture.store.clone();
    std::fs::remove_file(path.with_extension("db-wal")).unwrap();
    let (records, waiting) = mpsc::channel(8);
    for record in [event("a"), usage(), event("b")] {
        records.try_send(record).unwrap();
    }
    drop(records);
    keeper.run(waiting).await;
    assert!(matches!(fixture.agent_loop.try_recv(), Ok(Incoming::StoreDegraded(_))));
    assert!(matches!(fixture.agent_loop.try_recv(), Ok(Incoming::StoreOk)));
    assert_eq!(fixture.kinds().await, ["a", "b", "a", "b"]);
    assert_eq!(fixture.calls().await, 2);
}
