//! An agent loop in an open turn, for the tests of its parts; what it takes in, and what it says when
//! it is parked.

use std::{path::Path, time::Duration};

use gangline_config::AgentConfig;
use gangline_core::{
    Epoch, MessageState, Origin, Principal, Redacted, Redactor, Tier,
    agent::{AgentOptions, Effect, Generation, StartWith},
    patience::{MINUTE, REASONS_A_MINUTE},
};
use gangline_irc::client::TypingState;
use gangline_os::{change_notice::ChangeNotice, clock::UnixMicros, paths::Paths};
use gangline_runtime::{AssistantMessage, SessionId};
use gangline_store::{LineKind, MessageRow, OpenOptions, StandingOrders, Store};
use serde_json::json;
use tokio::sync::Notify;

use super::*;
use crate::{
    bus::LINK_QUEUE,
    checkpoint::CheckpointDeps,
    hand_clock::HandClock,
    journal::{JournalDeps, Record},
    looks::LookDeps,
    nursery::Nursery,
    session::{
        SessionOptions,
        port::{BackendPort, tests as port_tests},
    },
};

mod pausing;
mod turns;

const GENERATION: Generation = Generation(1);

/// See the file.
pub(super) struct Rig {
    pub(super) agent_loop: AgentLoop,
    link: mpsc::Receiver<LinkCommand>,
    pub(super) showing: watch::Receiver<Showing>,
    context: watch::Receiver<Option<TurnContext>>,
    clock: Arc<HandClock>,
    _folder: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

/// A message of somebody, said in that place.
/// Nothing in the store holds the agent; it was read after so many orders.
pub(super) fn standing(words: u64) -> Reply {
    Reply::Standing { orders: StandingOrders { pauses: Vec::new(), resume: None }, words }
}

pub(super) fn row(id: i64, (sender, tier): (&str, Tier), target: &str) -> MessageRow {
    MessageRow {
        id: MessageId(id),
        agent: "oak-ada".parse().unwrap(),
        network_id: "net".to_owned(),
        intake_key: None,
        origin: Origin::Mention,
        principal: Principal { account: sender.to_owned(), tier },
        sender: sender.to_owned(),
        target: target.to_owned(),
        body: Redacted::from_store("do the tests pass?".to_owned()),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        reason: None,
        answer: None,
        attempt: 0,
        takes: 0,
        turn: None,
        not_before: None,
        msgid: None,
        question: None,
        restart: None,
        accepted_at: UnixMicros(0),
        taken_at: None,
        settled_at: None,
    }
}

/// A session whose backend is never polled, and so never started.
fn generations() -> Generations {
    let make = Arc::new(|| -> Box<dyn gangline_runtime::Runtime> { unreachable!() });
    let (backends, _) = Nursery::new("backend", 1);
    Generations::new(
        BackendPort::new(make, backends, CancellationToken::new()),
        SessionOptions {
            options: port_tests::options(None),
            known_as: None,
            first: None,
            configured: None,
            thinking: None,
            token: watch::Sender::new(None),
        },
    )
}

/// The ways to a store of the test's own.
async fn ports(
    folder: &Path,
    agent: &gangline_core::AgentName,
) -> (Journal, Looks, ChangeNotices, Store) {
    let clock = gangline_os::clock::system();
    let options = OpenOptions { path: folder.join("gangline.db"), clock: clock.clone() };
    let store = Store::open(options).await.unwrap();
    let (agent, epoch, outbox) = (agent.clone(), Epoch(1), Arc::new(Notify::new()));
    let committed = watch::Sender::new(0);
    let journal = Journal::new(JournalDeps {
        agent: agent.clone(),
        epoch,
        store: store.clone(),
        paths: Paths { config_file: "/c".into(), state: folder.into(), runtime: folder.into() },
        outbox: Arc::clone(&outbox),
        alerts: Default::default(),
        committed: committed.clone(),
        turns_per_cause: 30,
    });
    let change_notices = ChangeNotices {
        outside: ChangeNotice::bind(&folder.join("bell")).unwrap(),
        inside: Arc::new(Notify::new()),
        outbox,
        alarm: Arc::default(),
        committed,
        intake: CancellationToken::new(),
        model_file: folder.join("model"),
        model_outside: None,
        model: None,
        effort_file: folder.join("effort"),
        effort: None,
    };
    let looks = Looks::new(LookDeps { agent, epoch, store: store.clone(), clock });
    (journal, looks, change_notices, store)
}

impl Rig {
    /// An agent that works on a message.
    pub(super) fn working_on(row: MessageRow, talks: bool) -> Self {
        let mut rig = Self::starting(talks);
        let message = row.id;
        rig.agent_loop.message(Waiting { row, said: Vec::new() });
        rig.hears(RuntimeEvent::Ready { session: SessionId("s".to_owned()) });
        let turn = rig.turn();
        let attempts = vec![(message, 1)];
        rig.agent_loop.written(Reply::Taken { turn, attempts, gone: Vec::new(), pending: 0 });
        rig.hears(RuntimeEvent::Accepted { turn });
        rig
    }

    /// An agent whose backend is not there yet.
    fn starting(talks: bool) -> Self {
        let clock = Arc::new(HandClock::default());
        let nick: gangline_core::AgentName = "oak-ada".parse().unwrap();
        let core = Agent::new(AgentOptions { epoch: Epoch(1), ..AgentOptions::default() });
        let view = core.view();
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (journal, looks, change_notices, store) = {
            let _entered = runtime.enter();
            runtime.block_on(ports(folder.path(), &nick))
        };
        let (sender, link) = mpsc::channel(LINK_QUEUE);
        let (showing, shown) = watch::channel(Showing::new(view.clone()));
        let (about, context) = watch::channel(None);
        let config = AgentConfig::new(nick.clone(), "/w".into());
        let ports = Ports {
            generations: generations(),
            journal,
            looks,
            change_notices,
            link: sender,
            rooms: mpsc::channel(crate::rooms::ROOMS_QUEUE).0,
            context: about,
            view: watch::Sender::new(view),
            showing,
            unread: watch::channel(crate::rooms::Unread::new()).1,
            drained: CancellationToken::new(),
            beat: Arc::new(AtomicU64::new(0)),
            hooks: HookSender::new((&config, "native"), None).0,
            notes: Notes::new(folder.path().into()),
            checkpoint: Reading::new(CheckpointDeps { agent: nick.clone(), store }),
            whispers: watch::Sender::new(0),
        };
        let me = Identity {
            agent: nick,
            epoch: Epoch(1),
            clock: Arc::<HandClock>::clone(&clock),
            redactor: Arc::new(Redactor::default()),
            everybody: Arc::default(),
        };
        let agent_loop = AgentLoop::new(me, core, ports).talks(talks);
        let (_folder, _runtime) = (folder, runtime);
        Self { agent_loop, link, showing: shown, context, clock, _folder, _runtime }
    }

    pub(super) fn turn(&self) -> TurnId {
        self.agent_loop.core.view().turn.unwrap()
    }

    /// The backend dies at each start.
    pub(super) fn parks(&mut self) {
        for generation in 1..=3 {
            let (generation, by) =
                (Generation(generation), gangline_core::outcome::EndedBy::Itself);
            let how = "no such file".to_owned();
            self.agent_loop.hear_backend(SessionEvent::Exited { generation, by, how });
            self.clock.forward(Duration::from_secs(5));
            self.agent_loop.think(gangline_core::agent::Input::Tick);
        }
        assert_eq!(self.agent_loop.core.view().phase, gangline_core::agent::PhaseName::Parked);
    }

    pub(super) fn hears(&mut self, event: RuntimeEvent) {
        self.agent_loop.hear_backend(SessionEvent::Runtime { generation: GENERATION, event });
    }

    pub(super) fn says(&mut self, content: Vec<Block>) {
        let message = AssistantMessage { model: "m".to_owned(), content };
        self.hears(RuntimeEvent::Message { turn: self.turn(), message });
    }

    pub(super) fn runs(&mut self, id: &str, command: &str) {
        let input = json!({ "command": command });
        self.says(vec![Block::ToolUse { id: id.to_owned(), name: "Bash".to_owned(), input }]);
    }

    /// What is shown once the clock has gone on.
    pub(super) fn later(&mut self, by: Duration) -> Vec<String> {
        self.shown();
        self.clock.forward(by);
        self.agent_loop.beat();
        self.shown()
    }

    /// Typing marks and notices, as `target text`.
    pub(super) fn shown(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Ok(command) = self.link.try_recv() {
            if let LinkCommand::Typing { target, state } = command {
                all.push(match state {
                    TypingState::Active => format!("{target} types"),
                    TypingState::Done => format!("{target} is done"),
                });
            }
        }
        for record in self.agent_loop.journal.take_waiting() {
            if let Record::Entry(Entry::Send(say)) = record {
                assert_eq!(say.kind, LineKind::Notice);
                all.extend(say.lines.iter().map(|line| format!("{} {}", say.target, line.text)));
            }
        }
        all
    }
}

/// A row that is handed over at its commit is taken at once, unless more waits than the loop knows
/// of: then it is a change notice, and a look returns all that waits in its order.
#[test]
fn a_row_that_is_handed_over_while_a_look_is_due_is_a_change_notice_only() {
    let mut rig = Rig::starting(false);
    let hand = |rig: &mut Rig, id: i64| {
        let row = row(id, ("ori", Tier::Owner), "#lab");
        rig.agent_loop.take(Incoming::Accepted(Box::new(row)));
        rig.agent_loop.rows.contains_key(&MessageId(id))
    };
    assert!(!hand(&mut rig, 7), "the first look is due");
    let Rig { agent_loop, _runtime, .. } = &mut rig;
    let found = _runtime.block_on(agent_loop.looks.next());
    agent_loop.found(found);
    assert!(hand(&mut rig, 8));
    rig.agent_loop.looks.want();
    assert!(!hand(&mut rig, 9));
    // What a closed daemon is handed waits for its successor.
    let Rig { agent_loop, _runtime, .. } = &mut rig;
    let found = _runtime.block_on(agent_loop.looks.next());
    agent_loop.found(found);
    rig.agent_loop.change_notices.intake.cancel();
    assert!(!hand(&mut rig, 10));
}

/// An agent that is busy holds as many rows as may wait and no more: the store has the others.
#[test]
fn rows_beyond_those_that_may_wait_are_not_held() {
    let mut rig = Rig::starting(false);
    let Rig { agent_loop, _runtime, .. } = &mut rig;
    let found = _runtime.block_on(agent_loop.looks.next());
    agent_loop.found(found);
    let most = AgentOptions::default().queue_max;
    for id in 1..=i64::try_from(most).unwrap() + 40 {
        let row = row(id, ("ori", Tier::Owner), "#lab");
        agent_loop.take(Incoming::Accepted(Box::new(row)));
    }
    assert!(agent_loop.core.passes_over());
    assert_eq!(agent_loop.rows.len(), most);
}

/// A person who asks a parked agent gets the reason at once, at most five times a minute; agents
/// get none.
#[test]
fn a_parked_agent_says_so_to_people() {
    let mut rig = Rig::starting(false);
    let give = |rig: &mut Rig, row: MessageRow| {
        rig.agent_loop.message(Waiting { row, said: Vec::new() });
    };
    give(&mut rig, row(1, ("ori", Tier::Owner), "#lab"));
    rig.parks();
    rig.shown();
    let many = i64::try_from(REASONS_A_MINUTE).unwrap() + 2;
    for id in 2..2 + many {
        give(&mut rig, row(id, ("ori", Tier::Owner), "#lab"));
        give(&mut rig, row(100 + id, ("oak-bob", Tier::Agent), "#lab"));
    }
    let told = rig.shown();
    assert_eq!(told.len(), REASONS_A_MINUTE, "{told:?}");
    assert!(told[0].starts_with("#lab ori: my backend keeps failing"), "{told:?}");
    // What was not told is, when it is looked at again later.
    rig.clock.forward(MINUTE);
    give(&mut rig, row(1 + many, ("ori", Tier::Owner), "#lab"));
    assert_eq!(rig.shown().len(), 1);
}

/// C7: a backend whose first starts fail has no session that it could forget.
#[test]
fn only_an_agent_that_had_a_session_is_told_to_have_a_new_one() {
    let mut rig = Rig::starting(true);
    let told = |rig: &mut Rig| {
        rig.agent_loop
            .carry_out(Effect::StartRuntime { generation: GENERATION, with: StartWith::Fresh });
        let records = rig.agent_loop.journal.take_waiting();
        records.iter().filter(|it| format!("{it:?}").contains("fresh_session")).count()
    };
    assert_eq!(told(&mut rig), 0);
    rig.hears(RuntimeEvent::Ready { session: SessionId("s".to_owned()) });
    assert_eq!(told(&mut rig), 1);
}

/// Whoever waits for a start sees what the backend has said meanwhile, and why the start before
/// failed; both are over once it is ready.
#[test]
fn a_start_that_takes_long_says_why() {
    let mut rig = Rig::starting(false);
    let row = row(1, ("ori", Tier::Owner), "#lab");
    rig.agent_loop.message(Waiting { row, said: Vec::new() });
    let told = |rig: &Rig| {
        let note = rig.showing.borrow().note.clone();
        (note.start_notice, note.last_failure)
    };
    assert_eq!(told(&rig), (None, None));
    let said = "its screen ends with: wait".to_owned();
    rig.hears(RuntimeEvent::Notice { text: said.clone() });
    assert_eq!(told(&rig), (Some(said.clone()), None));
    rig.clock.forward(AgentOptions::default().start_timeout);
    rig.agent_loop.think(gangline_core::agent::Input::Tick);
    let (by, how) = (gangline_core::outcome::EndedBy::Us, String::new());
    rig.agent_loop.hear_backend(SessionEvent::Exited { generation: GENERATION, by, how });
    let why = format!("the backend was not ready in time and was stopped: {said}");
    assert_eq!(told(&rig), (None, Some(why.clone())));
    rig.clock.forward(Duration::from_secs(5));
    rig.agent_loop.think(gangline_core::agent::Input::Tick);
    assert_eq!(told(&rig), (None, Some(why.clone())), "it starts again");
    let (generation, session) = (Generation(2), SessionId("s".to_owned()));
    let event = RuntimeEvent::Ready { session };
    rig.agent_loop.hear_backend(SessionEvent::Runtime { generation, event });
    assert_eq!(told(&rig), (None, None));
    let turn = rig.turn();
    let attempts = vec![(MessageId(1), 1)];
    rig.agent_loop.written(Reply::Taken { turn, attempts, gone: Vec::new(), pending: 0 });
    let event = RuntimeEvent::Accepted { turn };
    rig.agent_loop.hear_backend(SessionEvent::Runtime { generation, event });
    let (by, how) = (gangline_core::outcome::EndedBy::Us, String::new());
    rig.agent_loop.hear_backend(SessionEvent::Exited { generation, by, how });
    assert_eq!(rig.agent_loop.core.view().phase, gangline_core::agent::PhaseName::Down);
    assert_eq!(told(&rig), (None, None), "a later start is not told with the old failure");
}

/// The next daemon's start is not told with a failure of the one before.
#[test]
fn a_daemon_that_ends_leaves_no_failure_behind() {
    let mut rig = Rig::starting(false);
    let row = row(1, ("ori", Tier::Owner), "#lab");
    rig.agent_loop.message(Waiting { row, said: Vec::new() });
    let (by, how) = (gangline_core::outcome::EndedBy::Itself, "no such file".to_owned());
    rig.agent_loop.hear_backend(SessionEvent::Exited { generation: GENERATION, by, how });
    let failure = |rig: &Rig| rig.showing.borrow().note.last_failure.clone();
    assert_eq!(failure(&rig).as_deref(), Some("no such file"));
    rig.agent_loop.think(gangline_core::agent::Input::Drain(gangline_core::agent::Drain::Soft));
    rig.agent_loop.show();
    assert_eq!(failure(&rig), None);
}
