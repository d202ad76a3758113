//! What is said is taken in, whatever the order of losses and restarts.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use gangline_core::{Principal, Target, Tier};
use gangline_irc::client::{Line, LineKind, LinkCommand, LinkEvent, cursor::Cursor};
use gangline_os::{
    CancellationToken,
    clock::{self, UnixMicros},
};
use gangline_store::MessageFilter;
use proptest::prelude::*;

use crate::chat::tests::{EmptyStore, Rig};

/// The lines of a page.
const PAGE: usize = 2;
/// Rounds in which all must have come to rest.
const ROUNDS: usize = 1000;
const CHANNEL: &str = "#lab";
const BOSS: &str = "boss";

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Somebody asks the agent in the room, or alone.
    Say {
        alone: bool,
    },
    /// The link takes a command of the chat's.
    Carry,
    /// The chat hears of an event of the link's.
    Hear,
    /// The connection is lost, which the chat hears later.
    Lose,
    /// There is a connection again, in no room yet.
    Connect,
    /// The server has let it into the room.
    Join,
    Tick,
    /// The store takes nothing, or takes something again.
    Refuse(bool),
    /// The daemon is killed, and starts again.
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any::<bool>().prop_map(|alone| Step::Say { alone }),
        8 => Just(Step::Carry),
        8 => Just(Step::Hear),
        2 => Just(Step::Lose),
        3 => Just(Step::Connect),
        4 => Just(Step::Join),
        2 => Just(Step::Tick),
        1 => any::<bool>().prop_map(Step::Refuse),
        1 => Just(Step::Kill),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connection {
    Off,
    Up,
    InTheRoom,
}

/// The chat of one agent, its link and the server behind it.
struct Sim {
    rig: Rig,
    connection: Connection,
    /// What the chat has not heard of.
    events: VecDeque<LinkEvent>,
    /// Everything that was said.
    said: Vec<Line>,
    begun: UnixMicros,
}

impl Sim {
    async fn open(store: &EmptyStore) -> Self {
        let mut rig = Rig::at(store.copy(), true).await;
        begin(&mut rig).await;
        let begun = UnixMicros(rig.chat.deps.clock.now().0 + 1_000_000);
        let (events, said) = (VecDeque::new(), Vec::new());
        Self { rig, connection: Connection::Off, events, said, begun }
    }

    async fn does(&mut self, step: Step) {
        match step {
            Step::Say { alone } => self.say(alone),
            Step::Carry => self.carry(),
            Step::Hear => self.hear().await,
            Step::Lose if self.connection != Connection::Off => {
                self.connection = Connection::Off;
                let why = "lost".to_owned();
                self.events.push_back(LinkEvent::Down { why, retry_in: Duration::ZERO });
            }
            Step::Connect if self.connection == Connection::Off => {
                self.connection = Connection::Up;
                self.events.push_back(LinkEvent::Up {
                    nick: "oak-ada".to_owned(),
                    caps: vec!["batch".to_owned(), "draft/chathistory".to_owned()],
                    network: "oak".to_owned(),
                    own_server: true,
                    first: false,
                });
            }
            Step::Join if self.connection == Connection::Up => {
                self.connection = Connection::InTheRoom;
                let channel = CHANNEL.parse().unwrap();
                self.events.push_back(LinkEvent::Joined { channel });
            }
            Step::Lose | Step::Connect | Step::Join => {}
            Step::Tick => {
                self.rig.chat.keep_cursors().await;
                self.rig.chat.retry_catch_up();
            }
            Step::Refuse(refuses) => {
                self.rig.chat.deps.closed = CancellationToken::new();
                if refuses {
                    self.rig.chat.deps.closed.cancel();
                }
            }
            Step::Kill => self.is_killed().await,
        }
        // Nobody else empties these.
        while self.rig.rooms.try_recv().is_ok() {}
        while self.rig.agent_loop.try_recv().is_ok() {}
    }

    async fn is_killed(&mut self) {
        self.rig.chat.deps.store.close().await.unwrap();
        let folder = std::mem::replace(&mut self.rig.folder, tempfile::tempdir().unwrap());
        (self.connection, self.rig) = (Connection::Off, Rig::at(folder, true).await);
        self.events.clear();
        begin(&mut self.rig).await;
    }

    fn say(&mut self, alone: bool) {
        let number = i64::try_from(self.said.len()).unwrap() + 1;
        let id = format!("a.{number}");
        let line = Line {
            kind: LineKind::Privmsg,
            target: if alone { "oak-ada" } else { CHANNEL }.parse().unwrap(),
            nick: BOSS.to_owned(),
            account: None,
            principal: Some(Principal { account: "owner".to_owned(), tier: Tier::Owner }),
            msgid: Some(id.clone()),
            server_time: Some(clock::rfc3339(UnixMicros(self.begun.0 + 1000 * number))),
            cursor: Cursor::msgid(&id).ok(),
            text: format!("@oak-ada question {number}"),
            gangline_id: None,
            from_history: false,
            reply_to: None,
            bot: false,
        };
        if self.shows(&line.target) {
            self.events.push_back(LinkEvent::Line(line.clone()));
        }
        self.said.push(line);
    }

    /// Whether the server shows the connection what is said there.
    fn shows(&self, target: &Target) -> bool {
        match target {
            Target::Channel(_) => self.connection == Connection::InTheRoom,
            Target::Nick(_) => self.connection != Connection::Off,
        }
    }

    async fn hear(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.rig.chat.link_event(event).await;
        }
    }

    fn carry(&mut self) {
        let event = match self.rig.link.try_recv() {
            Ok(LinkCommand::CatchUp { target, after, request }) => {
                self.page(target, after, request)
            }
            Ok(LinkCommand::FindTargets { after }) => self.targets(&after),
            Ok(_) | Err(_) => return,
        };
        self.events.push_back(event);
    }

    fn page(&self, target: Target, after: Option<Cursor>, request: u64) -> LinkEvent {
        if !self.shows(&target) {
            return LinkEvent::CatchUpFailed { target, request, why: "not there".to_owned() };
        }
        let after = after.expect("every place has a cursor");
        let is_after = |line: &&Line| match after.as_str().split_once('=') {
            Some(("timestamp", time)) => line.server_time.as_deref().unwrap() > time,
            Some((_, id)) => number(line.msgid.as_deref().unwrap()) > number(id),
            None => unreachable!("a cursor has a kind"),
        };
        let alone = matches!(target, Target::Nick(_));
        let of_it = |line: &&Line| matches!(line.target, Target::Nick(_)) == alone;
        let lines = self.said.iter().filter(of_it).filter(is_after).take(PAGE);
        let lines: Vec<Line> =
            lines.cloned().map(|line| Line { from_history: true, ..line }).collect();
        let Some(cursor) = lines.last().and_then(|line| line.cursor.clone()) else {
            return LinkEvent::CaughtUp { target, request };
        };
        let more = lines.len() == PAGE;
        LinkEvent::HistoryPage { target, lines, cursor, more, request }
    }

    fn targets(&self, after: &str) -> LinkEvent {
        if self.connection == Connection::Off {
            return LinkEvent::HistoryTargetsFailed { why: "not there".to_owned() };
        }
        let alone = |line: &&Line| matches!(line.target, Target::Nick(_));
        let newest = self.said.iter().rfind(alone).and_then(|line| line.server_time.clone());
        let newest = newest.filter(|time| time.as_str() > after);
        let targets = newest.into_iter().map(|time| (BOSS.parse().unwrap(), time)).collect();
        LinkEvent::HistoryTargets { targets }
    }

    /// Lets all come to rest, with a connection that holds and a store that writes.
    async fn rests(&mut self) {
        self.does(Step::Refuse(false)).await;
        for _ in 0..ROUNDS {
            for step in [Step::Connect, Step::Join, Step::Carry, Step::Hear] {
                self.does(step).await;
            }
            if self.events.is_empty() && self.rig.link.is_empty() {
                self.does(Step::Tick).await;
                if self.rig.link.is_empty() {
                    return;
                }
            }
        }
        panic!("it never comes to rest");
    }

    /// The ids of the lines that are not in the store.
    async fn missing(&self) -> Vec<String> {
        let store = &self.rig.chat.deps.store;
        let rows = store.messages(MessageFilter::default(), 1000).await.unwrap();
        let taken: BTreeSet<String> = rows.into_iter().filter_map(|row| row.msgid).collect();
        let said = self.said.iter().filter_map(|line| line.msgid.clone());
        said.filter(|id| !taken.contains(id)).collect()
    }
}

fn number(msgid: &str) -> usize {
    msgid.strip_prefix("a.").unwrap().parse().unwrap()
}

/// Reads the places, as a daemon does before its link is up.
async fn begin(rig: &mut Rig) {
    let home = || std::iter::once(CHANNEL.parse().unwrap()).collect();
    rig.chat.deps.home = home();
    rig.chat.deps.wanted.send_replace(home());
    assert!(rig.chat.load_cursors().await);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// F1: everything that the server has accepted is in the store in the end.
    #[test]
    fn nothing_that_was_said_is_missing(steps in prop::collection::vec(step(), 1..120)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (missing, said) = runtime.block_on(async {
            let store = EmptyStore::make().await;
            let mut sim = Sim::open(&store).await;
            for step in steps {
                sim.does(step).await;
            }
            sim.rests().await;
            (sim.missing().await, sim.said.len())
        });
        prop_assert_eq!(missing, [""; 0], "of {}", said);
    }
}
