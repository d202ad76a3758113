//! Tests of the backend port, over sessions whose other ends the tests hold.

use std::{collections::BTreeMap, path::Path};

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId};
use gangline_os::task::HowEnded;
use gangline_runtime::{
    Answer, ApprovalReply, Prompt,
    session::{self, COMMAND_QUEUE, SessionPort},
};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::*;
use crate::nursery::Nursery;

/// The far end of a session; its task ends with it.
pub(crate) struct Far {
    pub(crate) port: SessionPort,
    _alive: oneshot::Sender<()>,
}

/// A backend whose starts wait for a permit each, and fail for the model `bad`.
struct Fake {
    starts: Arc<Semaphore>,
    opened: mpsc::Sender<Far>,
}

#[async_trait]
impl Runtime for Fake {
    fn capabilities(
        &self,
        _command: Option<&[String]>,
        _extra: &BTreeMap<String, Value>,
    ) -> Result<Capabilities, String> {
        Ok(Capabilities::NONE)
    }

    async fn start(
        &self,
        options: StartOptions,
        tasks: &mut TaskGroup,
    ) -> Result<Session, RuntimeError> {
        self.starts.acquire().await.unwrap().forget();
        if options.model.is_some() {
            return Err(RuntimeError::Start { runtime: "fake", why: "no".to_owned() });
        }
        let (mut session, port) = session::pair("fake", &options, Capabilities::NONE);
        let (alive, ended) = oneshot::channel::<()>();
        session.run_in(tasks, std::time::Duration::MAX, async move { drop(ended.await) });
        self.opened.send(Far { port, _alive: alive }).await.unwrap();
        Ok(session)
    }
}

pub(crate) fn options(model: Option<&str>) -> StartOptions {
    StartOptions { model: model.map(str::to_owned), ..StartOptions::within(Path::new("/folder")) }
}

/// A port, and what the tests have of its backend.
pub(crate) struct Rig {
    pub(crate) port: BackendPort,
    pub(crate) halt: CancellationToken,
    pub(crate) starts: Arc<Semaphore>,
    pub(crate) opened: mpsc::Receiver<Far>,
    pub(crate) root: TaskGroup,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let (opens, opened) = mpsc::channel(4);
        let starts = Arc::new(Semaphore::new(0));
        let permits = Arc::clone(&starts);
        let make: Make =
            Arc::new(move || Box::new(Fake { starts: permits.clone(), opened: opens.clone() }));
        let (spawner, nursery) = Nursery::new("test", 2);
        let mut root = TaskGroup::new("root");
        let halt = CancellationToken::new();
        let halted = halt.clone();
        root.spawn("backend", async move { _ = nursery.run(halted).await });
        let port = BackendPort::new(make, spawner, halt.clone());
        Self { port, halt, starts, opened, root }
    }

    /// Begins a generation as the owner of the port does.
    async fn begin(&mut self, number: i64) {
        self.port.start(next(number));
        match self.port.next().await {
            PortEvent::MayBegin(may) if may == next(number) => {}
            other => panic!("{other:?}"),
        }
        self.port.begin(Generation(number), options(None));
    }

    /// Begins a generation and returns its far end once it runs.
    async fn running(&mut self, number: i64) -> Far {
        self.begin(number).await;
        self.starts.add_permits(1);
        match self.port.next().await {
            PortEvent::Started { generation } => assert_eq!(generation, Generation(number)),
            other => panic!("{other:?}"),
        }
        self.opened.recv().await.unwrap()
    }

    /// Polls the port while others run; nothing may come of it.
    async fn nothing(&mut self) {
        for _ in 0..20 {
            tokio::select! {
                biased;
                event = self.port.next() => panic!("{event:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
    }

    async fn exits(&mut self, number: i64, expect: Exit) {
        match self.port.next().await {
            PortEvent::Exited { generation, exit } => {
                assert_eq!((generation, exit), (Generation(number), expect));
            }
            other => panic!("{other:?}"),
        }
    }
}

fn next(number: i64) -> Next {
    Next { generation: Generation(number), resume: true }
}

fn prompt(number: i64) -> Command {
    let turn = TurnId { epoch: Epoch(1), number };
    Command::Prompt(Prompt { turn, text: "hi".to_owned(), uuid: "u".to_owned() })
}

fn decision(request: &str) -> Command {
    Command::Decide(ApprovalReply { request: request.to_owned(), answer: Answer::Allow })
}

/// Hazard: the loop is slow between the request for another generation and its begin. The old one is
/// asked to end, and the new one begins after its exit only.
#[tokio::test]
async fn the_next_generation_begins_after_the_exit_of_the_last() {
    let mut rig = Rig::new();
    let mut far = rig.running(1).await;
    rig.port.start(next(2));
    assert_eq!(far.port.next().await, Some(Command::Stop(StopReason::Restart)));
    far.port.tell(RuntimeEvent::LoggedIn).await;
    match rig.port.next().await {
        PortEvent::Runtime { generation, event: RuntimeEvent::LoggedIn } => {
            assert_eq!(generation, Generation(1));
        }
        other => panic!("{other:?}"),
    }
    rig.nothing().await;
    assert_eq!(rig.port.send(Command::Interrupt), Passed::NotRunning);
    far.port.tell(RuntimeEvent::Exited { code: 0 }).await;
    rig.exits(1, Exit::Ours).await;
    assert!(matches!(rig.port.next().await, PortEvent::MayBegin(may) if may == next(2)));
}

/// Hazard: the loop ends a backend whose start is not over. The start is not dropped: it is stopped
/// once it is done.
#[tokio::test]
async fn a_start_that_is_ended_is_stopped_once_it_is_done() {
    let mut rig = Rig::new();
    rig.begin(1).await;
    rig.port.end(StopReason::Stuck);
    rig.nothing().await;
    rig.starts.add_permits(1);
    rig.nothing().await;
    let mut far = rig.opened.recv().await.unwrap();
    rig.nothing().await;
    assert_eq!(far.port.next().await, Some(Command::Stop(StopReason::Stuck)));
    far.port.tell(RuntimeEvent::Exited { code: 0 }).await;
    rig.exits(1, Exit::Ours).await;
    assert!(rig.port.is_down());
}

#[tokio::test]
async fn a_start_that_fails_is_told_and_another_may_follow() {
    let mut rig = Rig::new();
    rig.port.start(next(1));
    assert!(matches!(rig.port.next().await, PortEvent::MayBegin(_)));
    rig.port.begin(Generation(1), options(Some("bad")));
    rig.starts.add_permits(1);
    match rig.port.next().await {
        PortEvent::NotStarted { generation, why } => {
            assert_eq!(
                (generation, why.as_str()),
                (Generation(1), "cannot start the fake backend: no")
            );
        }
        other => panic!("{other:?}"),
    }
    rig.running(2).await;
}

/// A generation that was wanted and is ended before it began is told as ended.
#[tokio::test]
async fn a_generation_that_never_began_ends_too() {
    let mut rig = Rig::new();
    rig.port.start(next(1));
    rig.port.end(StopReason::Stuck);
    assert!(!rig.port.is_down());
    rig.exits(1, Exit::Ours).await;
    let mut far = rig.running(2).await;
    rig.port.start(next(3));
    rig.port.end(StopReason::Stuck);
    assert_eq!(far.port.next().await, Some(Command::Stop(StopReason::Restart)));
    far.port.tell(RuntimeEvent::Exited { code: 0 }).await;
    rig.exits(2, Exit::Ours).await;
    rig.exits(3, Exit::Ours).await;
    assert!(rig.port.is_down());
}

/// Interrupts, decisions and a stop wait in order where there is no room; a prompt does not.
#[tokio::test]
async fn what_must_arrive_waits_in_order_for_room() {
    let mut rig = Rig::new();
    let mut far = rig.running(1).await;
    assert_eq!(rig.port.send(prompt(1)), Passed::Sent);
    for _ in 1..COMMAND_QUEUE {
        assert_eq!(rig.port.send(decision("early")), Passed::Sent);
    }
    assert_eq!(rig.port.send(prompt(2)), Passed::Full);
    for command in [Command::Interrupt, decision("a"), Command::Interrupt, decision("b")] {
        assert_eq!(rig.port.send(command), Passed::Sent);
    }
    assert_eq!(rig.port.send(prompt(3)), Passed::Full);
    rig.port.end(StopReason::Stuck);
    rig.nothing().await;
    assert_eq!(far.port.next().await, Some(prompt(1)));
    for _ in 1..COMMAND_QUEUE {
        assert_eq!(far.port.next().await, Some(decision("early")));
        rig.nothing().await;
    }
    let late = [Command::Interrupt, decision("a"), decision("b"), Command::Stop(StopReason::Stuck)];
    for command in late {
        rig.nothing().await;
        assert_eq!(far.port.next().await, Some(command));
    }
}

/// Room that comes meanwhile is theirs.
#[tokio::test]
async fn a_command_does_not_overtake_those_that_wait() {
    let mut rig = Rig::new();
    let mut far = rig.running(1).await;
    for _ in 0..COMMAND_QUEUE {
        assert_eq!(rig.port.send(decision("early")), Passed::Sent);
    }
    assert_eq!(rig.port.send(decision("a")), Passed::Sent);
    assert_eq!(far.port.next().await, Some(decision("early")));
    assert_eq!(rig.port.send(decision("b")), Passed::Sent);
    assert_eq!(rig.port.send(prompt(1)), Passed::Full);
    for _ in 1..COMMAND_QUEUE {
        assert_eq!(far.port.next().await, Some(decision("early")));
        rig.nothing().await;
    }
    for late in ["a", "b"] {
        rig.nothing().await;
        assert_eq!(far.port.next().await, Some(decision(late)));
    }
}

/// A panic of the port's owner ends the backend by its kill policy: its session is told, and has its
/// time, in root's group.
#[tokio::test]
async fn a_panic_of_the_owner_ends_the_backend_in_order() {
    let mut rig = Rig::new();
    let mut far = rig.running(1).await;
    let mut owner = TaskGroup::new("owner");
    let port = rig.port;
    owner.spawn("loop", async move {
        let _port = port;
        panic!("a bug");
    });
    assert!(matches!(owner.next_end().await.unwrap().how, HowEnded::Panicked(_)));
    assert_eq!(far.port.next().await, None);
    assert_eq!(rig.root.len(), 1);
    // It is not dropped while it ends.
    tokio::select! {
        biased;
        end = rig.root.next_end() => panic!("{end:?}"),
        () = tokio::task::yield_now() => {}
    }
    drop(far);
    assert_eq!(rig.root.next_end().await.unwrap().how, HowEnded::Finished);
}

/// The daemon ends its backend even if nobody polls the port any more, and starts no other.
#[tokio::test]
async fn a_halt_ends_the_backend_without_its_owner() {
    let mut rig = Rig::new();
    let mut far = rig.running(1).await;
    rig.halt.cancel();
    assert_eq!(far.port.next().await, Some(Command::Stop(StopReason::Shutdown)));
    far.port.tell(RuntimeEvent::Exited { code: 0 }).await;
    drop(far);
    rig.exits(1, Exit::Ours).await;
    rig.begin(2).await;
    assert!(matches!(rig.port.next().await, PortEvent::NotStarted { .. }));
}

/// Its task may have been started just before.
#[tokio::test]
async fn nothing_begins_once_the_daemon_ends() {
    let rig = Rig::new();
    rig.starts.add_permits(1);
    rig.halt.cancel();
    let (tell, started) = oneshot::channel();
    let one = run(((rig.port.make)(), options(None)), tell, rig.halt.clone());
    tokio::select! {
        biased;
        () = one => {}
        started = started => panic!("{:?}", started.map(|it| it.is_ok())),
    }
}

/// R0-20: one that is gone without a word has crashed.
#[tokio::test]
async fn a_session_that_is_gone_without_a_word_has_crashed() {
    let mut rig = Rig::new();
    let far = rig.running(1).await;
    far.port.tell(RuntimeEvent::LoggedIn).await;
    drop(far);
    assert!(matches!(rig.port.next().await, PortEvent::Runtime { .. }));
    rig.exits(1, Exit::Theirs { code: -1 }).await;
    let far = rig.running(2).await;
    far.port.tell(RuntimeEvent::Exited { code: 7 }).await;
    rig.exits(2, Exit::Theirs { code: 7 }).await;
}
