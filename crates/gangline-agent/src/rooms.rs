//! The rooms: the last lines of each channel and correspondent, kept for the agent to read
//! (R1-07, R1-27).
//!
//! Owns the rings and nothing else. The chat task hands over each line once it is in the store,
//! live or caught up; the control socket reads. How far a channel was read is written at the tick
//! and at the end, under `read/<channel>`, so that a restart can fill its ring again from there.

mod ring;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    future::Future,
    pin::Pin,
    sync::Arc,
};

use gangline_api::ipc::{ChatLine, LINE_MAX};
use gangline_core::{
    AgentName, MessageId,
    name::{ChannelName, Target},
    redact::Redactor,
};
use gangline_irc::client::cursor::Cursor;
use gangline_os::CancellationToken;
use gangline_store::Store;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::warn;

use ring::Ring;
pub(crate) use ring::{Became, By, Order, Spoken, Wanted};

#[cfg(test)]
mod tests;

/// The maximum number of places; beyond it, the one that was silent longest is forgotten.
const PLACES_MAX: usize = 1000;
/// The most messages that are remembered because they were given before their line came.
const GIVEN_MAX: usize = 256;
/// Room for what waits for the rooms.
pub(crate) const ROOMS_QUEUE: usize = 64;
/// The bytes of a page's lines: the response has to stay below culture's [`LINE_MAX`].
const PAGE_BYTES: usize = LINE_MAX - 4096;
/// What a place's cursor of reading is stored under, before the target.
const READ_KEY: &str = "read/";

/// How many lines were not read and are no messages, by the name of the place; those with none are
/// left out.
pub(crate) type Unread = BTreeMap<String, u64>;

/// Returns the key under which it is kept how far a target was read.
pub(crate) fn read_key(target: &Target) -> String {
    format!("{READ_KEY}{}", target.folded())
}

/// Returns the target of such a key.
pub(crate) fn target_of_key(key: &str) -> Option<Target> {
    key.strip_prefix(READ_KEY)?.parse().ok()
}

/// Messages to the rooms.
#[derive(Debug)]
pub(crate) enum RoomsCommand {
    /// A line was heard.
    Line { place: Target, line: Spoken },
    /// A line that was heard before, or read by an earlier daemon, has become a message.
    Known { place: Target, line: Spoken },
    /// The agent was given what was said there as a prompt, or nobody wants an answer any more.
    Given { place: Target, message: MessageId },
    /// The agent is in the channel, or will be: it has a ring from now on.
    Enter { channel: ChannelName },
    /// The agent has left the channel by its own decision (R1-21).
    Leave { channel: ChannelName },
    /// So far the place had been read before this daemon's start.
    ReadBefore { place: Target, cursor: Cursor },
    /// Somebody reads.
    Read { place: Target, wanted: Wanted, reply: oneshot::Sender<ReadPage> },
}

/// What a reader gets.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ReadPage {
    /// The lines, oldest first, masked.
    pub(crate) lines: Vec<ChatLine>,
    /// The messages that are among them.
    pub(crate) messages: Vec<MessageId>,
    /// How many unread lines are left.
    pub(crate) remaining: u64,
    /// How many unread lines were dropped before these.
    pub(crate) lost: u64,
}

/// The rooms' part of the daemon.
pub(crate) struct Rooms {
    pub(crate) agent: AgentName,
    /// The network's name in keys.
    pub(crate) network_id: String,
    pub(crate) store: Store,
    pub(crate) redactor: Arc<Redactor>,
    /// Lines kept of each place.
    pub(crate) lines: usize,
    pub(crate) unread: watch::Sender<Unread>,
}

struct Room {
    /// The name as it was written first.
    name: String,
    ring: Ring,
    /// When it was last heard of, counted in lines.
    heard: u64,
}

/// The rings, by folded target.
#[derive(Default)]
struct Places {
    rooms: HashMap<String, Room>,
    count: u64,
    /// Messages whose line is still on its way here, oldest first.
    given: VecDeque<MessageId>,
}

/// Cursors that are being written; gives those that were.
type Keeping = Pin<Box<dyn Future<Output = Vec<(String, Cursor)>> + Send>>;

/// Why the rooms ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoomsEnd {
    /// They were stopped.
    Stopped,
    /// Nobody speaks to them any more.
    Deserted,
}

enum Event {
    Command(Option<RoomsCommand>),
    Tick,
    Kept(Vec<(String, Cursor)>),
    Stop,
}

impl Rooms {
    /// Keeps until it is stopped or nobody speaks to it any more. Lines are taken and read also
    /// while the store cannot write. Cancel-safe but for the last write: dropped, the cursors of up
    /// to one tick are not kept, and lines are read twice.
    pub(crate) async fn run(
        self,
        mut told: mpsc::Receiver<RoomsCommand>,
        mut ticks: watch::Receiver<u64>,
        stop: CancellationToken,
    ) -> RoomsEnd {
        let mut places = Places::default();
        let mut keeping: Option<Keeping> = None;
        let end = loop {
            let kept = async {
                match &mut keeping {
                    Some(keeping) => keeping.await,
                    None => std::future::pending().await,
                }
            };
            let event = tokio::select! {
                told = told.recv() => Event::Command(told),
                kept = kept => Event::Kept(kept),
                Ok(()) = ticks.changed() => Event::Tick,
                () = stop.cancelled() => Event::Stop,
            };
            match event {
                Event::Command(Some(told)) => self.take(&mut places, told),
                Event::Tick if keeping.is_none() => keeping = self.keep(&places),
                Event::Tick => {}
                Event::Kept(kept) => {
                    keeping = None;
                    places.kept(&kept);
                }
                Event::Command(None) => break RoomsEnd::Deserted,
                Event::Stop => break RoomsEnd::Stopped,
            }
        };
        if let Some(keeping) = keeping {
            places.kept(&keeping.await);
        }
        if let Some(keeping) = self.keep(&places) {
            keeping.await;
        }
        end
    }

    fn take(&self, places: &mut Places, told: RoomsCommand) {
        match told {
            RoomsCommand::Line { place, mut line } => {
                places.look_at_given(&mut line);
                let room = self.room(places, &place);
                if room.ring.push(line) {
                    self.show(room);
                }
            }
            RoomsCommand::Known { place, mut line } => {
                places.look_at_given(&mut line);
                if let Some(room) = places.rooms.get_mut(place.folded()) {
                    room.ring.known(&line);
                    self.show(room);
                }
            }
            RoomsCommand::Given { place, message } => {
                let room = places.rooms.get_mut(place.folded());
                match room.map(|room| (room.ring.given(message), room)) {
                    Some((true, room)) => self.show(room),
                    Some((false, _)) | None => places.was_given(message),
                }
            }
            RoomsCommand::Enter { channel } => {
                self.room(places, &Target::Channel(channel));
            }
            RoomsCommand::Leave { channel } => {
                self.forget(places, channel.folded());
            }
            RoomsCommand::ReadBefore { place, cursor } => {
                let room = self.room(places, &place);
                room.ring = Ring::new(self.lines, Some(cursor));
            }
            RoomsCommand::Read { place, wanted, reply } => {
                let page = match places.rooms.get_mut(place.folded()) {
                    Some(room) => {
                        let page = self.read(&mut room.ring, wanted);
                        self.show(room);
                        page
                    }
                    None => ReadPage::default(),
                };
                // Whoever asked may be gone.
                let _ = reply.send(page);
            }
        }
    }

    /// Lines are masked when they are read: few of those that are heard are.
    fn read(&self, ring: &mut Ring, wanted: Wanted) -> ReadPage {
        let mut bytes = 0;
        let told = |line: &Spoken| line.chat_line(self.redactor.redact(&line.text).into_string());
        let page = ring.read(wanted, |line| {
            let written = serde_json::to_vec(&told(line)).map_or(PAGE_BYTES, |text| text.len());
            bytes += written + 1;
            bytes <= PAGE_BYTES
        });
        ReadPage {
            lines: page.lines.iter().map(told).collect(),
            messages: page.lines.iter().filter_map(Spoken::message).collect(),
            remaining: page.remaining,
            lost: page.lost,
        }
    }

    /// Publishes how many lines of the place were not read.
    fn show(&self, room: &Room) {
        let now = room.ring.heard_only();
        self.unread.send_if_modified(|unread| match (unread.get_mut(&room.name), now) {
            (Some(_), 0) => unread.remove(&room.name).is_some(),
            (Some(count), now) => std::mem::replace(count, now) != now,
            (None, 0) => false,
            (None, now) => unread.insert(room.name.clone(), now).is_none(),
        });
    }

    fn room<'a>(&self, places: &'a mut Places, place: &Target) -> &'a mut Room {
        places.count += 1;
        if places.rooms.len() >= PLACES_MAX && !places.rooms.contains_key(place.folded()) {
            let silent = places.rooms.iter().min_by_key(|(_, room)| room.heard);
            if let Some(name) = silent.map(|(name, _)| name.clone()) {
                self.forget(places, &name);
            }
        }
        let room = places.rooms.entry(place.folded().to_owned()).or_insert_with(|| Room {
            name: place.to_string(),
            ring: Ring::new(self.lines, None),
            heard: 0,
        });
        room.heard = places.count;
        room
    }

    fn forget(&self, places: &mut Places, folded: &str) {
        if let Some(room) = places.rooms.remove(folded) {
            self.unread.send_if_modified(|unread| unread.remove(&room.name).is_some());
        }
    }

    /// Writes how far channels were read, where that has changed. What is said directly reaches the
    /// agent as messages: its ring starts empty with each daemon.
    fn keep(&self, places: &Places) -> Option<Keeping> {
        let channels = places.rooms.iter().filter(|(target, _)| target.starts_with('#'));
        let moved: Vec<(String, Cursor)> = channels
            .filter_map(|(target, room)| Some((target.clone(), room.ring.moved_to()?.clone())))
            .collect();
        if moved.is_empty() {
            return None;
        }
        let (store, agent, network) =
            (self.store.clone(), self.agent.clone(), self.network_id.clone());
        Some(Box::pin(async move {
            let mut kept = Vec::new();
            for (target, cursor) in moved {
                let key = format!("{READ_KEY}{target}");
                match store.move_cursor(&agent, &network, &key, cursor.as_str()).await {
                    Ok(()) => kept.push((target, cursor)),
                    Err(error) => {
                        warn!(%error, "cannot store how far lines were read");
                        break;
                    }
                }
            }
            kept
        }))
    }
}

impl Places {
    /// The agent may be given a message before its line gets here.
    fn was_given(&mut self, message: MessageId) {
        if self.given.len() >= GIVEN_MAX {
            self.given.pop_front();
        }
        self.given.push_back(message);
    }

    fn look_at_given(&mut self, line: &mut Spoken) {
        let Some(message) = line.message() else { return };
        if let Some(at) = self.given.iter().position(|given| *given == message) {
            self.given.remove(at);
            line.became = Became::Given(message);
        }
    }

    fn kept(&mut self, kept: &[(String, Cursor)]) {
        for (target, cursor) in kept {
            if let Some(room) = self.rooms.get_mut(target) {
                room.ring.kept(cursor);
            }
        }
    }
}
