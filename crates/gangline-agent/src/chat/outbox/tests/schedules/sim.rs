//! The chat of one agent with a real store, its link, and the server behind it, which are apart: what
//! one has sent the other has not read yet.

use std::{
    collections::{BTreeSet, VecDeque},
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use gangline_core::{Target, name::ChannelName, redact::Redacted};
use gangline_irc::client::{
    Line, LineKind as WireKind, LinkCommand, LinkEvent, Say, cursor::Cursor,
};
use gangline_os::clock::{self, UnixMicros};
use gangline_store::{LineKind, Send};
use tokio::sync::oneshot;

mod rest;

use super::Step;
use crate::chat::{
    inquiries::{Inquiry, Question},
    tests::{EmptyStore, Rig, ada},
};

const PAGE: usize = 3;
/// Two rooms that the configuration wants the agent in, one of its own choice, and somebody.
const PLACES: [&str; 4] = ["#lab", "#den", CHOSEN, "zoe"];
const CHOSEN: &str = "#own";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    /// `several`: it takes several lines as one message.
    Own { several: bool },
    /// `refuses`: it has a history, and tells nobody of it.
    Foreign { history: bool, refuses: bool },
}

impl Network {
    fn is_own(self) -> bool {
        matches!(self, Self::Own { .. })
    }
}

/// From the link to the server.
enum Sent {
    Say(Say),
    Join(ChannelName),
    Part(ChannelName),
    CatchUp { target: Target, after: Option<Cursor>, request: u64 },
}

/// From the server to the link.
enum Told {
    Echo(String),
    Refused(String),
    Event(LinkEvent),
    /// Own lines and a page of those of others.
    Page(Vec<String>, LinkEvent),
}

/// A line that is in a place.
struct Entry {
    place: Target,
    /// `None`: somebody else's.
    key: Option<String>,
}

pub(super) struct Sim {
    rig: Rig,
    network: Network,
    connected: bool,
    /// The number of the connection, or of the last one.
    connection: u64,
    wanted: BTreeSet<ChannelName>,
    // The link's.
    inside: BTreeSet<ChannelName>,
    asked: BTreeSet<ChannelName>,
    thrown_out: BTreeSet<ChannelName>,
    queue: VecDeque<Say>,
    under_way: VecDeque<String>,
    // Between them.
    sent: VecDeque<Sent>,
    told: VecDeque<Told>,
    // The server's.
    members: BTreeSet<ChannelName>,
    log: Vec<Entry>,
    /// What the chat has not heard of.
    events: VecDeque<LinkEvent>,
    sends: usize,
    begun: UnixMicros,
}

impl Sim {
    pub(super) async fn open(store: &EmptyStore, network: Network) -> Self {
        let rig = rig(store.copy(), network).await;
        let begun = UnixMicros(rig.chat.deps.clock.now().0 + 1_000_000);
        Self {
            rig,
            network,
            connected: false,
            connection: 0,
            wanted: home(),
            inside: BTreeSet::new(),
            asked: BTreeSet::new(),
            thrown_out: BTreeSet::new(),
            queue: VecDeque::new(),
            under_way: VecDeque::new(),
            sent: VecDeque::new(),
            told: VecDeque::new(),
            members: BTreeSet::new(),
            log: Vec::new(),
            events: VecDeque::new(),
            sends: 0,
            begun,
        }
    }

    pub(super) async fn does(&mut self, step: Step) {
        match step {
            Step::Say(place, lines) => self.say(place, lines).await,
            Step::Chatter(place) => self.chatter(PLACES[place].parse().unwrap()),
            Step::Take => self.take(),
            Step::Send => self.send(),
            Step::Serve => self.serve(),
            Step::Read => self.read(),
            Step::Hear => {
                if let Some(event) = self.events.pop_front() {
                    self.rig.chat.link_event(event).await;
                }
            }
            Step::DieHearing(polls) => {
                if let Some(event) = self.events.pop_front() {
                    part(pin!(self.rig.chat.link_event(event)), polls).await;
                }
                self.is_killed(polls).await;
            }
            Step::DieSending(polls) => {
                part(pin!(self.rig.chat.send_waiting()), polls).await;
                self.is_killed(polls).await;
            }
            Step::Lose(had) if self.connected => {
                self.is_cut(had);
                let under_way = self.under_way.drain(..);
                self.events.extend(under_way.map(|key| LinkEvent::Unconfirmed { key }));
                let queue = self.queue.drain(..);
                self.events.extend(queue.map(|say| LinkEvent::NotSent { key: say.key }));
                let why = "lost".to_owned();
                self.events.push_back(LinkEvent::Down { why, retry_in: Duration::ZERO });
            }
            Step::Connect if !self.connected => self.connect(),
            Step::Join if self.connected => self.join(),
            Step::Lose(_) | Step::Connect | Step::Join => {}
            Step::Kick(place) => self.kick(PLACES[place].parse().unwrap()),
            Step::Tick => {
                // A room that has thrown us out is tried again after seconds: the chat has heard of it.
                if self.events.is_empty() && self.rig.link.is_empty() && self.queue.is_empty() {
                    self.thrown_out.clear();
                }
                let chat = &mut self.rig.chat;
                chat.keep_cursors().await;
                chat.retry_catch_up();
                chat.record_confirmed().await;
                chat.look_for_addressees().await;
                chat.send_waiting().await;
            }
            Step::Kill(had) => self.is_killed(had).await,
            Step::Choose => self.asks(Question::Join(CHOSEN.parse().unwrap())).await,
            Step::Leave => self.asks(Question::Part(CHOSEN.parse().unwrap())).await,
        }
        // Nobody else empties these.
        while self.rig.rooms.try_recv().is_ok() {}
        while self.rig.agent_loop.try_recv().is_ok() {}
    }

    async fn say(&mut self, place: usize, lines: usize) {
        self.sends += 1;
        let name = format!("s{}", self.sends);
        let lines = (0..lines).map(|at| Redacted::from_store(format!("{name}.{at}")).into());
        let send = Send {
            agent: ada(),
            turn: None,
            idem_key: name.clone().into(),
            target: PLACES[place].to_owned(),
            lines: lines.collect(),
            kind: LineKind::Privmsg,
            in_reply_to: None,
            deliver: None,
        };
        self.rig.chat.deps.store.send(send).await.unwrap();
        self.rig.chat.send_waiting().await;
    }

    async fn asks(&mut self, question: Question) {
        let (reply, _answer) = oneshot::channel();
        self.rig.chat.asked(Inquiry { question, reply }).await;
    }

    /// The server hears no more than this of what was on its way.
    fn is_cut(&mut self, had: usize) {
        (0..had).for_each(|_| self.serve());
        self.connected = false;
        self.sent.clear();
        self.told.clear();
        self.members.clear();
        self.inside.clear();
        self.asked.clear();
    }

    async fn is_killed(&mut self, had: usize) {
        self.is_cut(had);
        (self.queue, self.under_way) = (VecDeque::new(), VecDeque::new());
        self.events.clear();
        self.wanted = home();
        self.rig.chat.deps.store.close().await.unwrap();
        let folder = std::mem::replace(&mut self.rig.folder, tempfile::tempdir().unwrap());
        self.rig = rig(folder, self.network).await;
    }

    fn connect(&mut self) {
        self.connected = true;
        self.connection += 1;
        let caps: &[&str] = match self.network {
            Network::Own { several: true } => &["batch", "draft/chathistory", "draft/multiline"],
            Network::Own { several: false } | Network::Foreign { history: true, .. } => {
                &["batch", "draft/chathistory"]
            }
            Network::Foreign { history: false, .. } => &["batch"],
        };
        self.events.push_back(LinkEvent::Up {
            nick: "oak-ada".to_owned(),
            caps: caps.iter().map(|cap| (*cap).to_owned()).collect(),
            network: "oak".to_owned(),
            own_server: self.network.is_own(),
            first: false,
            connection: self.connection,
        });
    }

    /// What was given before it goes out first.
    fn join(&mut self) {
        if !self.queue.is_empty() {
            return;
        }
        let is_new = |it: &&ChannelName| {
            let known = [&self.inside, &self.asked, &self.thrown_out];
            !known.iter().any(|channels| channels.contains(*it))
        };
        if let Some(channel) = self.wanted.iter().find(is_new).cloned() {
            self.asked.insert(channel.clone());
            self.sent.push_back(Sent::Join(channel));
        }
    }

    fn kick(&mut self, channel: ChannelName) {
        if self.members.remove(&channel) {
            let (by, why) = ("boss".to_owned(), "out".to_owned());
            self.told.push_back(Told::Event(LinkEvent::Kicked { channel, by, why }));
        }
    }

    fn chatter(&mut self, channel: ChannelName) {
        let place = Target::Channel(channel.clone());
        self.log.push(Entry { place, key: None });
        if self.members.contains(&channel) {
            let line = self.line(self.log.len(), false);
            self.told.push_back(Told::Event(LinkEvent::Line(line)));
        }
    }

    /// Somebody else's line.
    fn line(&self, number: usize, from_history: bool) -> Line {
        let at = i64::try_from(number).unwrap() * 1000;
        Line {
            kind: WireKind::Privmsg,
            target: self.log[number - 1].place.clone(),
            nick: "boss".to_owned(),
            account: None,
            principal: None,
            msgid: Some(format!("a.{number}")),
            server_time: Some(clock::rfc3339(UnixMicros(self.begun.0 + at))),
            cursor: Cursor::msgid(&format!("a.{number}")).ok(),
            text: "hello".to_owned(),
            gangline_id: None,
            from_history,
            reply_to: None,
            bot: false,
        }
    }

    fn take(&mut self) {
        match self.rig.link.try_recv() {
            Ok(LinkCommand::Say(say)) if say.connection.is_some_and(|it| it != self.connection) => {
            }
            Ok(LinkCommand::Say(say)) => {
                let known = self.queue.iter().any(|it| it.key == say.key)
                    || self.under_way.contains(&say.key);
                match (known, self.connected) {
                    (true, _) => {}
                    (false, true) => self.queue.push_back(say),
                    (false, false) => self.events.push_back(LinkEvent::NotSent { key: say.key }),
                }
            }
            Ok(LinkCommand::CatchUp { target, request, .. }) if !self.connected => {
                let why = "down".to_owned();
                self.events.push_back(LinkEvent::CatchUpFailed { target, request, why });
            }
            Ok(LinkCommand::CatchUp { target, request, .. })
                if self.network == Network::Foreign { history: false, refuses: false } =>
            {
                self.events.push_back(LinkEvent::CaughtUp { target, request });
            }
            Ok(LinkCommand::CatchUp { target, after, request }) => {
                self.sent.push_back(Sent::CatchUp { target, after, request });
            }
            Ok(LinkCommand::FindTargets { .. }) => {
                let found = LinkEvent::HistoryTargets { targets: Vec::new(), more: false };
                self.events.push_back(found);
            }
            Ok(LinkCommand::Join(channel)) => {
                self.wanted.insert(channel);
            }
            Ok(LinkCommand::Part { channel, .. }) => {
                if self.wanted.remove(&channel) && self.connected {
                    self.sent.push_back(Sent::Part(channel));
                }
            }
            Ok(_) | Err(_) => {}
        }
    }

    fn send(&mut self) {
        if let Some(say) = self.queue.pop_front() {
            self.under_way.push_back(say.key.clone());
            self.sent.push_back(Sent::Say(say));
        }
    }

    fn serve(&mut self) {
        let told = match self.sent.pop_front() {
            None => return,
            Some(Sent::Say(Say { key, target, .. })) => match &target {
                Target::Channel(channel) if !self.members.contains(channel) => Told::Refused(key),
                Target::Channel(_) | Target::Nick(_) => {
                    let is_there = |it: &Entry| it.key.as_ref() == Some(&key);
                    if !self.network.is_own() || !self.log.iter().any(is_there) {
                        self.log.push(Entry { place: target, key: Some(key.clone()) });
                    }
                    Told::Echo(key)
                }
            },
            Some(Sent::Join(channel)) => {
                self.members.insert(channel.clone());
                Told::Event(LinkEvent::Joined { channel })
            }
            Some(Sent::Part(channel)) => match self.members.remove(&channel) {
                true => Told::Event(LinkEvent::Parted { channel, why: String::new() }),
                false => return,
            },
            Some(Sent::CatchUp { target, after, request }) => self.page(target, after, request),
        };
        self.told.push_back(told);
    }

    fn page(&self, target: Target, after: Option<Cursor>, request: u64) -> Told {
        let may = match (&target, self.network) {
            (_, Network::Foreign { refuses: true, .. }) => false,
            (Target::Channel(channel), _) => self.members.contains(channel),
            (Target::Nick(_), _) => true,
        };
        if !may {
            let why = "refused".to_owned();
            return Told::Event(LinkEvent::CatchUpFailed { target, request, why });
        }
        let after = after.expect("every room has a cursor");
        let from = after.as_str().strip_prefix("msgid=a.").map_or(0, |it| it.parse().unwrap());
        let there = (1..=self.log.len()).filter(|number| self.log[number - 1].place == target);
        let page: Vec<usize> = there.filter(|number| *number > from).take(PAGE).collect();
        let own = page.iter().filter_map(|number| self.log[number - 1].key.clone()).collect();
        let others = page.iter().filter(|number| self.log[**number - 1].key.is_none());
        let lines = others.map(|number| self.line(*number, true)).collect();
        let event = match page.last() {
            None => LinkEvent::CaughtUp { target, request },
            Some(newest) => {
                let cursor = Cursor::msgid(&format!("a.{newest}")).unwrap();
                LinkEvent::HistoryPage { target, lines, cursor, more: true, request }
            }
        };
        Told::Page(own, event)
    }

    fn read(&mut self) {
        match self.told.pop_front() {
            None => {}
            Some(Told::Echo(key)) => {
                let at = self.is_taken(&key).then_some(None);
                let confirmed = at.map(|at| LinkEvent::Confirmed { key, msgid: None, at });
                self.events.extend(confirmed);
            }
            Some(Told::Refused(key)) => {
                let numeric = self.is_taken(&key).then_some(404);
                let why = "cannot send".to_owned();
                let numeric = numeric.map(Some);
                self.events.extend(numeric.map(|numeric| LinkEvent::Failed { key, why, numeric }));
            }
            Some(Told::Page(own, event)) => {
                for key in own {
                    self.is_taken(&key);
                    self.events.push_back(LinkEvent::Confirmed { key, msgid: None, at: None });
                }
                self.events.push_back(event);
            }
            Some(Told::Event(event)) => self.happened(event),
        }
    }

    fn happened(&mut self, event: LinkEvent) {
        match &event {
            LinkEvent::Joined { channel } => {
                self.asked.remove(channel);
                self.inside.insert(channel.clone());
            }
            LinkEvent::Kicked { channel, .. } | LinkEvent::Parted { channel, .. } => {
                self.inside.remove(channel);
                self.thrown_out.insert(channel.clone());
                let there = Target::Channel(channel.clone());
                let queue = std::mem::take(&mut self.queue);
                let (gone, left) = queue.into_iter().partition(|say| say.target == there);
                self.queue = left;
                let gone: VecDeque<Say> = gone;
                self.events.extend(gone.into_iter().map(|it| LinkEvent::NotSent { key: it.key }));
            }
            _ => {}
        }
        self.events.push_back(event);
    }

    fn is_taken(&mut self, key: &str) -> bool {
        let at = self.under_way.iter().position(|it| it == key);
        at.and_then(|at| self.under_way.remove(at)).is_some()
    }
}

/// Polls it so often; the daemon comes no further.
async fn part(mut work: Pin<&mut impl Future<Output = ()>>, polls: usize) {
    let mut left = polls;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        work.as_mut().poll(cx)
    })
    .await;
}

fn home() -> BTreeSet<ChannelName> {
    [PLACES[0], PLACES[1]].map(|name| name.parse().unwrap()).into()
}

async fn rig(folder: tempfile::TempDir, network: Network) -> Rig {
    let mut rig = Rig::at(folder, network.is_own()).await;
    rig.chat.deps.home = home().into_iter().collect();
    rig.chat.deps.wanted.send_replace(home().into_iter().collect());
    assert!(rig.chat.load_cursors().await);
    rig
}
