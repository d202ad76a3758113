//! The chat of one agent with a real store, its link and the server behind it.

use std::{
    collections::{BTreeSet, VecDeque},
    future::poll_fn,
    pin::pin,
    task::Poll,
    time::Duration,
};

use gangline_core::{Principal, Target, Tier, name::ChannelName};
use gangline_irc::client::{Line, LineKind, LinkCommand, LinkEvent, cursor::Cursor};
use gangline_os::{
    CancellationToken,
    clock::{self, UnixMicros},
};
use gangline_store::MessageFilter;
use tokio::sync::oneshot;

use super::{Say, Step, Text};
use crate::{
    bus::{Incoming, Word},
    chat::{
        inquiries::{Inquiry, Question},
        tests::{EmptyStore, Rig},
    },
};

/// The lines of a page, and the targets of an answer.
const PAGE: usize = 2;
/// Rounds in which all must have come to rest.
const ROUNDS: usize = 2000;
/// The rooms: two that the configuration wants the agent in, and one of its own choice.
const ROOMS: [&str; 3] = ["#lab", "#den", CHOSEN];
const CHOSEN: &str = "#own";
const PEOPLE: [(&str, Tier); 3] =
    [("boss", Tier::Owner), ("kim", Tier::Member), ("oak-bob", Tier::Agent)];

pub(super) fn room(at: usize) -> ChannelName {
    ROOMS[at].parse().unwrap()
}

/// How a server answers who is not in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum History {
    OfMembers,
    OfAnybody,
}

struct Spoken {
    line: Line,
    text: Text,
    /// Whether the agent has to get it.
    due: bool,
}

pub(super) struct Sim {
    rig: Rig,
    history: History,
    connected: bool,
    /// Where the server has let the connection in.
    inside: BTreeSet<Target>,
    /// Where the link wants to be.
    wanted: BTreeSet<Target>,
    /// Whether the agent wants to be in the room of its choice, and has been there since.
    chooses: bool,
    in_chosen: bool,
    /// What the chat has not heard of.
    events: VecDeque<LinkEvent>,
    said: Vec<Spoken>,
    /// The millisecond of the newest line, after a day that is after all that the clock shows.
    now: i64,
    /// Whether it was said in the millisecond of the one before.
    tied: bool,
    begun: UnixMicros,
    pub(super) paused: usize,
}

impl Sim {
    pub(super) async fn open(store: &EmptyStore, history: History) -> Self {
        let mut rig = Rig::at(store.copy(), true).await;
        begin(&mut rig).await;
        let begun = UnixMicros(rig.chat.deps.clock.now().0 / 1000 * 1000 + 86_400_000_000);
        Self {
            rig,
            history,
            connected: false,
            inside: BTreeSet::new(),
            wanted: home(),
            chooses: false,
            in_chosen: false,
            events: VecDeque::new(),
            said: Vec::new(),
            now: 0,
            tied: false,
            begun,
            paused: 0,
        }
    }

    pub(super) async fn does(&mut self, step: Step) {
        match step {
            Step::Say(say) => self.say(say),
            Step::Carry => self.carry(),
            Step::Stall => self.stall(),
            Step::Hear => self.hear().await,
            Step::HearUntil(polls) => self.hear_failing(polls).await,
            Step::DieHearing(polls) => {
                self.hear_part(polls).await;
                self.is_killed().await;
            }
            Step::Lose if self.connected => {
                self.connected = false;
                self.inside.clear();
                let why = "lost".to_owned();
                self.events.push_back(LinkEvent::Down { why, retry_in: Duration::ZERO });
            }
            Step::Connect if !self.connected => {
                self.connected = true;
                self.events.push_back(LinkEvent::Up {
                    nick: "oak-ada".to_owned(),
                    caps: vec!["batch".to_owned(), "draft/chathistory".to_owned()],
                    network: "oak".to_owned(),
                    own_server: true,
                    first: false,
                    connection: 1,
                });
            }
            Step::Join if self.connected => self.join(),
            Step::Kick(at) => self.kick(room(at)),
            Step::Lose | Step::Connect | Step::Join => {}
            Step::Tick => {
                self.rig.chat.keep_cursors().await;
                self.rig.chat.retry_catch_up();
            }
            Step::Refuse(refuses) => self.refuse(refuses),
            Step::Kill => self.is_killed().await,
            Step::Choose => {
                self.asks(Question::Join(CHOSEN.parse().unwrap())).await;
                self.chooses = true;
            }
            Step::Leave => {
                self.asks(Question::Part(CHOSEN.parse().unwrap())).await;
                self.has_left_its_choice();
            }
        }
        self.rig.chat.deps.outbox.notify_one();
        // Nobody else empties these.
        while self.rig.rooms.try_recv().is_ok() {}
        while let Ok(incoming) = self.rig.agent_loop.try_recv() {
            self.paused += usize::from(matches!(incoming, Incoming::Operator(Word::Pause { .. })));
        }
    }

    fn refuse(&mut self, refuses: bool) {
        self.rig.chat.deps.closed = CancellationToken::new();
        if refuses {
            self.rig.chat.deps.closed.cancel();
        }
    }

    /// The agent decides where to be.
    async fn asks(&mut self, question: Question) {
        let (reply, _answer) = oneshot::channel();
        self.rig.chat.asked(Inquiry { question, reply }).await;
    }

    /// What was said there is for nobody now.
    fn has_left_its_choice(&mut self) {
        (self.chooses, self.in_chosen) = (false, false);
        let there = |spoken: &&mut Spoken| spoken.line.target.as_str() == CHOSEN;
        self.said.iter_mut().filter(there).for_each(|spoken| spoken.due = false);
    }

    async fn is_killed(&mut self) {
        self.rig.chat.deps.store.close().await.unwrap();
        let folder = std::mem::replace(&mut self.rig.folder, tempfile::tempdir().unwrap());
        self.rig = Rig::at(folder, true).await;
        (self.connected, self.wanted) = (false, home());
        self.inside.clear();
        self.events.clear();
        self.has_left_its_choice();
        begin(&mut self.rig).await;
    }

    fn say(&mut self, Say { by, place, text, tie }: Say) {
        // No more targets have their newest line in one millisecond than one answer holds.
        let tie = tie && !self.tied;
        (self.tied, self.now) = (tie, self.now + i64::from(!tie));
        let number = self.said.len() + 1;
        let id = format!("a.{number}");
        let (nick, tier) = PEOPLE[by];
        let target = ROOMS.get(place).copied().unwrap_or("oak-ada").parse().unwrap();
        let line = Line {
            kind: LineKind::Privmsg,
            target,
            nick: nick.to_owned(),
            account: None,
            principal: Some(Principal { account: nick.to_owned(), tier }),
            msgid: Some(id.clone()),
            server_time: Some(clock::rfc3339(UnixMicros(self.begun.0 + 1000 * self.now))),
            cursor: Cursor::msgid(&id).ok(),
            text: match text {
                Text::Question => format!("@oak-ada question {number}"),
                Text::Pause => "@oak-ada pause".to_owned(),
            },
            gangline_id: None,
            from_history: false,
            reply_to: None,
            bot: false,
        };
        if self.shows(&line.target) {
            self.events.push_back(LinkEvent::Line(line.clone()));
        }
        let due = line.target.as_str() != CHOSEN || self.in_chosen;
        self.said.push(Spoken { line, text, due });
    }

    /// Whether the server shows the connection what is said there.
    fn shows(&self, target: &Target) -> bool {
        match target {
            Target::Channel(_) => self.inside.contains(target),
            Target::Nick(_) => self.connected,
        }
    }

    fn join(&mut self) {
        let Some(target) = self.wanted.iter().find(|it| !self.inside.contains(*it)) else { return };
        let Target::Channel(channel) = target.clone() else { unreachable!("rooms are wanted") };
        self.in_chosen |= self.chooses && channel.as_str() == CHOSEN;
        self.inside.insert(target.clone());
        self.events.push_back(LinkEvent::Joined { channel });
    }

    fn kick(&mut self, channel: ChannelName) {
        if self.inside.remove(&Target::Channel(channel.clone())) {
            let (by, why) = ("boss".to_owned(), "out".to_owned());
            self.events.push_back(LinkEvent::Kicked { channel, by, why });
        }
    }

    async fn hear(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.rig.chat.link_event(event).await;
        }
    }

    /// The store fails in the midst of it.
    async fn hear_failing(&mut self, polls: usize) {
        let Some(event) = self.events.pop_front() else { return };
        let closed = self.rig.chat.deps.closed.clone();
        let mut left = polls;
        let mut heard = pin!(self.rig.chat.link_event(event));
        poll_fn(|cx| {
            if left == 0 {
                closed.cancel();
            }
            left = left.saturating_sub(1);
            heard.as_mut().poll(cx)
        })
        .await;
    }

    /// The daemon comes no further.
    async fn hear_part(&mut self, polls: usize) {
        let Some(event) = self.events.pop_front() else { return };
        let mut left = polls;
        let mut heard = pin!(self.rig.chat.link_event(event));
        poll_fn(|cx| {
            if left == 0 {
                return Poll::Ready(());
            }
            left -= 1;
            heard.as_mut().poll(cx)
        })
        .await;
    }

    fn carry(&mut self) {
        let event = match self.rig.link.try_recv() {
            Ok(LinkCommand::CatchUp { target, after, request }) => {
                self.page(target, after, request)
            }
            Ok(LinkCommand::FindTargets { after }) => self.targets(&after),
            Ok(LinkCommand::Say(say)) if self.connected => {
                LinkEvent::Confirmed { key: say.key, msgid: None, at: None }
            }
            Ok(LinkCommand::Say(say)) => LinkEvent::NotSent { key: say.key },
            Ok(LinkCommand::Join(channel)) => {
                self.wanted.insert(Target::Channel(channel));
                return;
            }
            Ok(LinkCommand::Part { channel, why }) => {
                let target = Target::Channel(channel.clone());
                self.wanted.remove(&target);
                match self.inside.remove(&target) {
                    true => LinkEvent::Parted { channel, why },
                    false => return,
                }
            }
            Ok(_) | Err(_) => return,
        };
        self.events.push_back(event);
    }

    /// As [`Self::carry`], but an answer about history comes after its time.
    fn stall(&mut self) {
        let before = self.events.len();
        self.carry();
        if self.events.len() == before {
            return;
        }
        let answer = self.events.pop_back().expect("it has been carried");
        let why = "the server did not answer".to_owned();
        match answer {
            LinkEvent::HistoryPage { target, lines, request, .. } => {
                self.events.push_back(LinkEvent::CatchUpFailed { target, request, why });
                self.events.extend(lines.into_iter().map(LinkEvent::Line));
            }
            LinkEvent::CaughtUp { target, request } => {
                self.events.push_back(LinkEvent::CatchUpFailed { target, request, why });
            }
            LinkEvent::HistoryTargets { .. } => {
                self.events.push_back(LinkEvent::HistoryTargetsFailed { why });
            }
            other => self.events.push_back(other),
        }
    }

    fn page(&self, target: Target, after: Option<Cursor>, request: u64) -> LinkEvent {
        let told = match &target {
            Target::Channel(_) if self.history == History::OfAnybody => self.connected,
            Target::Channel(_) | Target::Nick(_) => self.shows(&target),
        };
        if !told {
            return LinkEvent::CatchUpFailed { target, request, why: "not there".to_owned() };
        }
        let after = after.expect("every place has a cursor");
        let is_after = |line: &&Line| match after.as_str().split_once('=') {
            Some(("timestamp", time)) => line.server_time.as_deref().unwrap() > time,
            Some((_, id)) => number(line.msgid.as_deref().unwrap()) > number(id),
            None => unreachable!("a cursor has a kind"),
        };
        let of_it = |line: &&Line| match &target {
            Target::Channel(_) => line.target == target,
            Target::Nick(nick) => line.target.as_str() == "oak-ada" && line.nick == nick.as_str(),
        };
        let said = self.said.iter().map(|spoken| &spoken.line);
        let lines = said.filter(of_it).filter(is_after).take(PAGE);
        let lines: Vec<Line> =
            lines.cloned().map(|line| Line { from_history: true, ..line }).collect();
        let Some(cursor) = lines.last().and_then(|line| line.cursor.clone()) else {
            return LinkEvent::CaughtUp { target, request };
        };
        let more = lines.len() == PAGE;
        LinkEvent::HistoryPage { target, lines, cursor, more, request }
    }

    fn targets(&self, after: &str) -> LinkEvent {
        if !self.connected {
            return LinkEvent::HistoryTargetsFailed { why: "not there".to_owned() };
        }
        let newest = |place: &dyn Fn(&Line) -> bool| {
            let newest = self.said.iter().map(|it| &it.line).rfind(|line| place(line));
            newest.and_then(|line| line.server_time.clone()).filter(|time| time.as_str() > after)
        };
        let people = PEOPLE.iter().map(|(nick, _)| {
            let direct = |line: &Line| line.target.as_str() == "oak-ada" && line.nick == *nick;
            (nick.parse().unwrap(), newest(&direct))
        });
        let found = people.filter_map(|(target, time)| Some((target, time?)));
        let mut targets: Vec<(Target, String)> = found.collect();
        targets.sort_by(|a, b| a.1.cmp(&b.1));
        targets.truncate(PAGE);
        let more = targets.len() == PAGE;
        LinkEvent::HistoryTargets { targets, more }
    }

    /// Lets all come to rest, with a connection that holds and a store that writes.
    pub(super) async fn rests(&mut self) {
        self.does(Step::Refuse(false)).await;
        for _ in 0..ROUNDS {
            for step in [Step::Connect, Step::Join, Step::Carry, Step::Hear] {
                self.does(step).await;
            }
            if self.events.is_empty() && self.rig.link.is_empty() {
                self.does(Step::Tick).await;
                if self.rig.link.is_empty() && self.wanted == self.inside {
                    return;
                }
            }
        }
        panic!("it never comes to rest");
    }

    /// The questions that are not in the store.
    pub(super) async fn missing(&self) -> Vec<String> {
        let taken = self.taken().await;
        let due = self.said.iter().filter(|it| it.due && it.text == Text::Question);
        let ids = due.filter_map(|spoken| spoken.line.msgid.clone());
        ids.filter(|id| !taken.contains(id)).collect()
    }

    /// The orders that have become prompts, and how many orders were given.
    pub(super) async fn orders(&self) -> (Vec<String>, usize) {
        let taken = self.taken().await;
        // An agent gives none: its word is a line like others.
        let is_order = |it: &&Spoken| it.text == Text::Pause && it.line.nick != "oak-bob";
        let orders = self.said.iter().filter(is_order);
        let ids: Vec<String> = orders.filter_map(|it| it.line.msgid.clone()).collect();
        let given = ids.len();
        (ids.into_iter().filter(|id| taken.contains(id)).collect(), given)
    }

    async fn taken(&self) -> BTreeSet<String> {
        let rows = self.rig.chat.deps.store.messages(MessageFilter::default(), 1000).await.unwrap();
        rows.into_iter().filter_map(|row| row.msgid).collect()
    }
}

fn number(msgid: &str) -> usize {
    msgid.strip_prefix("a.").unwrap().parse().unwrap()
}

fn home() -> BTreeSet<Target> {
    [0, 1].map(|at| Target::Channel(room(at))).into()
}

/// Reads the places, as a daemon does before its link is up.
async fn begin(rig: &mut Rig) {
    let home = || [room(0), room(1)].into();
    rig.chat.deps.home = home();
    rig.chat.deps.wanted.send_replace(home());
    assert!(rig.chat.load_cursors().await);
}
