//! What the journal writes, in a real store.

use gangline_core::{
    MessageState, Origin, Principal, Tier, agent::AgentPhase, outcome::OutcomeWord,
    redact::Redactor,
};
use gangline_os::{
    change_notice::ChangeNotice,
    clock::{self, UnixMicros},
};
use gangline_store::{
    AgentUpdate, EventQuery, LineKind, NewEvent, NewMessage, NewUsage, OpenError, OpenOptions,
    Send as Said, Settle, Tuning, Whose, WithdrawApproval,
};
use tempfile::TempDir;

use super::*;

struct Fixture {
    folder: TempDir,
    store: Store,
    journal: Journal,
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
    Record::Entry(Entry::Events(vec![NewEvent {
        agent: ada(),
        epoch: Some(Epoch(1)),
        turn: None,
        kind: kind.to_owned(),
        payload: Redactor::default().redact("{}"),
    }]))
}

fn usage() -> Record {
    Record::Entry(Entry::Usage(NewUsage {
        agent: ada(),
        turn: Some(turn()),
        by: gangline_core::usage::Spender::Agent,
        model: "m".to_owned(),
        input: 1,
        output: 1,
        cache_read: 0,
        cache_write: 0,
        cost_micros: None,
        source: gangline_core::budget::UsageSource::Backend,
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
        idem_key: key.to_owned().into(),
        target: "#general".to_owned(),
        lines: vec![Redactor::default().redact("a line").into()],
        kind: LineKind::Notice,
        in_reply_to: None,
        deliver,
    }
}

async fn notifies(what: impl Future<Output = ()>, name: &str) {
    let notified = tokio::time::timeout(Duration::from_secs(60), what).await;
    assert!(notified.is_ok(), "{name} is not notified");
}

impl Fixture {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        let whose = Whose { runtime: "claude", configured: "claude" };
        store.begin_epoch(&ada(), (1, "test"), whose).await.unwrap();
        let message = store.accept(message(ada())).await.unwrap().id;
        let outbox = Arc::new(Notify::new());
        let (committed_sender, committed) = watch::channel(0);
        let journal = Journal::new(JournalDeps {
            agent: ada(),
            epoch: Epoch(1),
            store: store.clone(),
            paths: Paths {
                config_file: "/c".into(),
                state: folder.path().into(),
                runtime: folder.path().into(),
            },
            outbox: Arc::clone(&outbox),
            alerts: Default::default(),
            committed: committed_sender,
            turns_per_cause: 1,
        });
        Self { folder, store, journal, outbox, committed, message }
    }

    /// Gives the journal a store of its own that soon says when another one has the lock.
    async fn hasty(&mut self) {
        let path = self.folder.path().join("gangline.db");
        let tuning = Tuning { lock_wait: Duration::from_secs(1), ..Tuning::default() };
        // It may take longer to open it on a loaded machine.
        let store = loop {
            let options = OpenOptions { path: path.clone(), clock: clock::system() };
            match Store::open_tuned(options, tuning.clone()).await {
                Err(OpenError::Busy { .. }) => {}
                opened => break opened.unwrap(),
            }
        };
        self.journal = Journal::new(JournalDeps { store, ..(*self.journal.deps).clone() });
    }

    /// Locks the store for every writer, until it is dropped.
    fn locked(&self) -> std::fs::File {
        let lock = std::fs::File::open(self.folder.path().join("gangline.db.wlock")).unwrap();
        lock.lock().unwrap();
        lock
    }

    /// Has the first write that follows fail, although it is written.
    async fn lose_log(&mut self) {
        let path = self.folder.path().join("gangline.db");
        // The last one who closes it moves the log into the database, so that nothing is in it.
        self.store.close().await.unwrap();
        let options = OpenOptions { path: path.clone(), clock: clock::system() };
        self.store = Store::open(options).await.unwrap();
        let deps = (*self.journal.deps).clone();
        self.journal = Journal::new(JournalDeps { store: self.store.clone(), ..deps });
        std::fs::remove_file(path.with_extension("db-wal")).unwrap();
    }

    fn take(&self) -> Record {
        let (messages, prompt_uuid) = (vec![self.message], "uuid".to_owned());
        Single::Take { turn: turn(), messages, prompt_uuid }.into()
    }

    fn end(&self) -> EndTurn {
        let settle = Settle {
            message: self.message,
            state: MessageState::Answered,
            reason: None,
            answer: None,
            not_before: None,
            uncount_attempt: false,
        };
        EndTurn {
            agent: ada(),
            turn: turn(),
            outcome: OutcomeWord::Completed.into(),
            settle: vec![settle],
            sends: Vec::new(),
            events: Vec::new(),
            withdraw_approvals: None,
        }
    }

    /// Lets the journal write all that waits; returns what it tells.
    async fn written(&mut self) -> Vec<Reply> {
        let mut replies = Vec::new();
        while !self.journal.is_empty() {
            tokio::select! {
                reply = self.journal.next() => replies.push(reply),
                _ = self.committed.changed() => {}
            }
        }
        replies
    }

    /// Writes, and returns how many commits that were.
    async fn write(&mut self, records: Vec<Record>) -> (Vec<Reply>, u64) {
        for record in records {
            self.journal.push(record);
        }
        let replies = self.written().await;
        (replies, *self.committed.borrow())
    }

    /// Returns what is told next.
    async fn told(&mut self) -> Reply {
        tokio::time::timeout(Duration::from_secs(60), self.journal.next()).await.unwrap()
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

/// What waits is one commit; T1 is one of its own, whose receipt the loop waits for, and stays
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
        Entry::End(fixture.end()).into(),
        Entry::Agent(ada(), Epoch(1), idle).into(),
        event("d"),
    ];
    let (replies, commits) = fixture.write(records).await;
    assert_eq!(commits, 3);
    assert_eq!(fixture.kinds().await, ["a", "b", "turn_started", "c", "d"]);
    assert_eq!((fixture.state().await, fixture.calls().await), (MessageState::Answered, 1));
    let row = fixture.store.agent(&ada()).await.unwrap().unwrap();
    assert_eq!(row.phase, Some(AgentPhase::Idle.into()));
    assert!(matches!(&replies[..], [Reply::Taken { .. }, Reply::Rescan]), "{replies:?}");
    // The end of a turn notifies of the lines that it may have made.
    notifies(fixture.outbox.notified(), "the outbox").await;
}

/// What continues from a commit hears of it: the outbox of lines, the inbox of messages that went
/// back, a colleague of what it was sent, the hub of an agent that is ready.
#[tokio::test]
async fn those_who_wait_for_what_was_written_are_notified() {
    let bob: AgentName = "oak-bob".parse().unwrap();
    for (kind, outbox, inbox) in [
        ("end", true, true),
        ("say", true, false),
        ("withdraw", true, false),
        ("ready", false, false),
    ] {
        let mut fixture = Fixture::open().await;
        let paths = fixture.journal.deps.paths.clone();
        let colleague = ChangeNotice::bind(&paths.change_notice(bob.as_str())).unwrap();
        let hub = ChangeNotice::bind(&paths.change_notice("hub")).unwrap();
        let records = match kind {
            "end" => {
                let sends = vec![said("end", Some(message(bob.clone())))];
                let end = EndTurn { sends, ..fixture.end() };
                vec![fixture.take(), Entry::End(end).into()]
            }
            "say" => vec![Entry::Send(Box::new(said("say", None))).into()],
            "withdraw" => vec![
                Single::Withdraw(Box::new(WithdrawApproval {
                    agent: ada(),
                    turn: turn(),
                    request: "q".to_owned(),
                    why: Redactor::default().redact("taken back"),
                    say: None,
                }))
                .into(),
            ],
            _ => {
                let update = AgentUpdate { ready: true, ..AgentUpdate::default() };
                vec![Entry::Agent(ada(), Epoch(1), update).into()]
            }
        };
        let (replies, _) = fixture.write(records).await;
        if outbox {
            notifies(fixture.outbox.notified(), "the outbox").await;
        }
        assert_eq!(replies.iter().any(|it| matches!(it, Reply::Rescan)), inbox, "{kind}");
        if inbox {
            notifies(colleague.notified(), "the colleague").await;
        }
        if kind == "ready" {
            notifies(hub.notified(), "the hub").await;
        }
    }
}

/// A turn that was ended by an earlier try is no failure, and keeps nothing from being written.
#[tokio::test]
async fn the_end_of_a_turn_that_has_ended_is_passed_over() {
    let mut fixture = Fixture::open().await;
    let end = || Record::Entry(Entry::End(fixture.end()));
    let records = vec![fixture.take(), end(), event("a"), end(), event("b")];
    assert_eq!(fixture.write(records).await.1, 2);
    assert_eq!(fixture.kinds().await, ["turn_started", "a", "b"]);
}

/// What a turn used waits a moment for the end of that turn, and not longer.
#[tokio::test]
async fn what_a_turn_used_is_written_with_its_end_if_that_comes_at_once() {
    for comes in [true, false] {
        let mut fixture = Fixture::open().await;
        let take = fixture.take();
        fixture.write(vec![take]).await;
        fixture.journal.push(usage());
        // Until the journal waits.
        assert!(polled_once(&mut fixture.journal).is_none());
        if comes {
            let end = fixture.end();
            fixture.journal.push(Entry::End(end));
            assert!(polled_once(&mut fixture.journal).is_none());
            let writes = matches!(fixture.journal.state, State::Writing(_));
            assert!(writes, "nothing more is waited for");
        }
        fixture.written().await;
        let state = if comes { MessageState::Answered } else { MessageState::InTurn };
        assert_eq!((fixture.state().await, fixture.calls().await), (state, 1));
        assert_eq!(*fixture.committed.borrow(), 2, "one commit after T1");
    }
}

/// Polls once.
fn polled_once(journal: &mut Journal) -> Option<Reply> {
    let next = std::pin::pin!(journal.next());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match next.poll(&mut context) {
        std::task::Poll::Ready(reply) => Some(reply),
        std::task::Poll::Pending => None,
    }
}

/// While the store is locked the loop is told so, and nothing is dropped.
#[tokio::test]
async fn what_cannot_be_written_is_tried_again_in_order() {
    let mut fixture = Fixture::open().await;
    fixture.hasty().await;
    let lock = fixture.locked();
    for record in [event("a"), usage(), event("b")] {
        fixture.journal.push(record);
    }
    let told = fixture.told().await;
    assert!(matches!(told, Reply::Degraded(_)), "{told:?}");
    fixture.journal.push(event("c"));
    drop(lock);
    let told = fixture.written().await;
    assert_eq!(fixture.kinds().await, ["a", "b", "c"]);
    assert_eq!(fixture.calls().await, 1);
    // It may have been tried in vain more than once.
    let mut told = told.iter().skip_while(|it| matches!(it, Reply::Degraded(_)));
    assert!(matches!(told.next(), Some(Reply::Healthy)));
}

/// A message that is to join the open turn while the store is locked joins it when the lock is gone,
/// and the loop hears that the store writes again: else it would begin no turn any more.
#[tokio::test]
async fn a_message_joins_once_the_store_writes_again() {
    for how in [How::Steered, How::Read] {
        let mut fixture = Fixture::open().await;
        let (messages, prompt_uuid) = (Vec::new(), "uuid".to_owned());
        fixture.write(vec![Single::Take { turn: turn(), messages, prompt_uuid }.into()]).await;
        fixture.hasty().await;
        let lock = fixture.locked();
        let (messages, prompt_uuid) = (vec![fixture.message], "uuid".to_owned());
        fixture.journal.push(Single::Join { turn: turn(), messages, prompt_uuid, how });
        let told = fixture.told().await;
        assert!(matches!(told, Reply::Degraded(_)), "{told:?}");
        drop(lock);
        let told = fixture.written().await;
        let told: Vec<&str> = told
            .iter()
            .filter(|it| !matches!(it, Reply::Degraded(_)))
            .map(|it| match it {
                Reply::Joined { messages, .. } if *messages == [fixture.message] => "joined",
                Reply::Healthy => "healthy",
                _ => "else",
            })
            .collect();
        let expect: &[&str] =
            if how == How::Steered { &["joined", "healthy"] } else { &["healthy"] };
        assert_eq!(told, expect, "{how:?}");
        assert_eq!(fixture.state().await, MessageState::InTurn);
    }
}

/// A turn whose T1 cannot be written is undone before anything else is, and its message waits again.
#[tokio::test]
async fn a_turn_that_could_not_be_taken_is_undone_first() {
    let mut fixture = Fixture::open().await;
    fixture.hasty().await;
    let lock = fixture.locked();
    let take = fixture.take();
    fixture.journal.push(take);
    fixture.journal.push(event("a"));
    let told = fixture.told().await;
    assert!(matches!(told, Reply::Degraded(_)), "{told:?}");
    drop(lock);
    let told = fixture.written().await;
    let told: Vec<_> = told.iter().filter(|it| !matches!(it, Reply::Degraded(_))).collect();
    let undone = matches!(
        &told[..],
        [Reply::Rescan, Reply::TakeFailed { turn: of }, Reply::Healthy] if *of == turn()
    );
    assert!(undone, "{told:?}");
    assert_eq!(fixture.state().await, MessageState::Accepted);
    assert_eq!(fixture.kinds().await, ["a"]);
}

/// A storage that fails under a group fails all of it, and all of it is tried again, in order. Here
/// the first try was written after all, which nobody could know: facts may be there twice, none is
/// missing.
#[tokio::test]
async fn a_group_that_the_storage_refused_is_tried_again_as_a_whole() {
    let mut fixture = Fixture::open().await;
    fixture.lose_log().await;
    let (replies, _) = fixture.write(vec![event("a"), usage(), event("b")]).await;
    assert!(matches!(&replies[..], [Reply::Degraded(_), Reply::Healthy]), "{replies:?}");
    assert_eq!(fixture.kinds().await, ["a", "b", "a", "b"]);
    assert_eq!(fixture.calls().await, 2);
}

/// The take was written after all, which nobody could know: its undoing leaves no trace of it.
#[tokio::test]
async fn a_take_that_is_undone_is_no_attempt() {
    let mut fixture = Fixture::open().await;
    fixture.lose_log().await;
    let take = fixture.take();
    let (replies, _) = fixture.write(vec![take]).await;
    let undone = matches!(
        &replies[..],
        [Reply::Degraded(_), Reply::Rescan, Reply::TakeFailed { .. }, Reply::Healthy]
    );
    assert!(undone, "{replies:?}");
    let row = fixture.store.message(fixture.message).await.unwrap().unwrap();
    assert_eq!((row.state, row.attempt, row.takes), (MessageState::Accepted, 0, 1));
}

#[tokio::test]
async fn a_commit_takes_so_many_entries_and_no_more() {
    let mut fixture = Fixture::open().await;
    let records = (0..=TOGETHER_MAX).map(|_| event("a")).collect();
    assert_eq!(fixture.write(records).await.1, 2);
    assert_eq!(fixture.kinds().await.len(), TOGETHER_MAX + 1);
}

#[tokio::test]
async fn a_message_that_comes_too_late_for_its_turn_goes_back() {
    for how in [How::Steered, How::Read] {
        let mut fixture = Fixture::open().await;
        let late = fixture.store.accept(message(ada())).await.unwrap().id;
        let (messages, prompt_uuid) = (vec![late], "uuid".to_owned());
        let join = Single::Join { turn: turn(), messages, prompt_uuid, how };
        let records = vec![fixture.take(), Entry::End(fixture.end()).into(), join.into()];
        let (replies, _) = fixture.write(records).await;
        let goes_back = matches!(
            &replies[..],
            [Reply::Taken { .. }, Reply::Rescan, Reply::JoinFailed { messages, .. }, Reply::Rescan]
                if *messages == [late]
        );
        assert!(goes_back, "{how:?}: {replies:?}");
    }
}

/// The line that tells of a limit is in the outbox of the agent that the request went to first.
#[tokio::test]
async fn the_outbox_is_notified_of_a_limit_that_a_take_meets() {
    let mut fixture = Fixture::open().await;
    let records = vec![fixture.take(), Entry::End(fixture.end()).into()];
    fixture.write(records).await;
    notifies(fixture.outbox.notified(), "the outbox").await;
    let next = NewMessage { cause_root: Some(fixture.message), hops: 1, ..message(ada()) };
    let messages = vec![fixture.store.accept(next).await.unwrap().id];
    let (turn, prompt_uuid) = (TurnId { number: 2, ..turn() }, "uuid".to_owned());
    let (replies, _) =
        fixture.write(vec![Single::Take { turn, messages, prompt_uuid }.into()]).await;
    let held = matches!(&replies[..], [Reply::Taken { gone, .. }] if gone.len() == 1);
    assert!(held, "{replies:?}");
    notifies(fixture.outbox.notified(), "the outbox").await;
}
