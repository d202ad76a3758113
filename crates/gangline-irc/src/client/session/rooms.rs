//! Channels: which are wanted, which we are in, and when a lost one is tried again.

use std::{collections::BTreeMap, time::Duration};

use gangline_core::name::ChannelName;

use super::{Phase, Session};
use crate::{
    client::{LinkEvent, Timing},
    wire::{Message, numeric, text},
};

/// The longest wait before a channel is tried again.
const LONGEST: Duration = Duration::from_secs(60);
/// The longest list of channels in one JOIN, in bytes.
const JOIN_BYTES: usize = 300;

/// The number of a refusal that is none: the server said nothing.
const NO_ANSWER: u16 = 0;

/// Where we stand with a wanted channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// Not asked for: there is no connection.
    Apart,
    /// JOIN is sent; if it has no answer by then, it is sent again.
    Asked(Duration),
    /// We are in since then.
    In(Duration),
    /// To be tried again then.
    Waiting(Duration),
}

#[derive(Debug)]
struct Room {
    stand: Stand,
    losses: u32,
}

/// The wanted channels.
#[derive(Debug)]
pub(super) struct Rooms(BTreeMap<ChannelName, Room>);

impl Rooms {
    pub(super) fn new(wanted: &[ChannelName]) -> Self {
        let room = |name: &ChannelName| (name.clone(), Room { stand: Stand::Apart, losses: 0 });
        Self(wanted.iter().map(room).collect())
    }

    pub(super) fn forget(&mut self) {
        self.0.values_mut().for_each(|room| room.stand = Stand::Apart);
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let due = |room: &Room| match room.stand {
            Stand::Waiting(until) | Stand::Asked(until) => Some(until),
            Stand::Apart | Stand::In(_) => None,
        };
        self.0.values().filter_map(due).min()
    }
}

impl Session {
    /// At `Up`: asks for all, in as few lines as fit, before anything else that waits.
    pub(super) fn join_wanted_rooms(&mut self, now: Duration) {
        let mut lists: Vec<String> = Vec::new();
        let until = answered_by(now, &self.config.timing);
        for (name, room) in &mut self.rooms.0 {
            // A bouncer is in it already, and a JOIN of such a channel has no answer.
            if !matches!(room.stand, Stand::In(_)) {
                room.stand = Stand::Asked(until);
            }
            match lists.last_mut() {
                Some(list) if list.len() + name.as_str().len() < JOIN_BYTES => {
                    list.push(',');
                    list.push_str(name.as_str());
                }
                _ => lists.push(name.to_string()),
            }
        }
        let pings: Vec<Option<Message>> = lists.iter().map(|_| self.ping_behind_join()).collect();
        for (list, ping) in lists.into_iter().zip(pings).rev() {
            if let Some(ping) = ping {
                self.sending.put_first(ping);
            }
            self.sending.put_first(Message::new("JOIN").param(list));
        }
    }

    pub(super) fn want_room(&mut self, now: Duration, channel: ChannelName) {
        let online = self.is_online();
        let until = answered_by(now, &self.config.timing);
        let room =
            self.rooms.0.entry(channel.clone()).or_insert(Room { stand: Stand::Apart, losses: 0 });
        match room.stand {
            Stand::In(_) | Stand::Asked(_) => {}
            Stand::Apart | Stand::Waiting(_) if online => {
                room.stand = Stand::Asked(until);
                self.ask_to_join(&channel);
            }
            Stand::Apart | Stand::Waiting(_) => {}
        }
    }

    pub(super) fn leave_room(&mut self, channel: &ChannelName, why: &str) {
        let known = self.rooms.0.remove(channel).is_some();
        if known && self.is_online() {
            let part = Message::new("PART").param(channel.as_str());
            self.enqueue(part.trailing(text::sanitize(why)));
        }
    }

    /// JOIN, PART, KICK of anybody.
    pub(super) fn room_changed(&mut self, now: Duration, message: Message) {
        let by = message.nick().unwrap_or_default().to_owned();
        let who = match message.command.as_str() {
            "KICK" => message.at(1).unwrap_or_default(),
            _ => &by,
        };
        let channel = message.at(0).and_then(|name| name.parse::<ChannelName>().ok());
        let (true, Some(channel)) = (self.nick.is_current(who), channel) else {
            return self.pass_other(message);
        };
        let why = match message.command.as_str() {
            "KICK" => message.at(2),
            _ => message.at(1),
        };
        let why = text::sanitize(why.unwrap_or_default());
        match message.command.as_str() {
            "JOIN" => {
                if let Some(room) = self.rooms.0.get_mut(&channel) {
                    room.stand = Stand::In(now);
                }
                self.tell(LinkEvent::Joined { channel });
            }
            "KICK" => {
                self.room_lost(now, &channel);
                self.forget_what_waits_for(&channel);
                self.tell(LinkEvent::Kicked { channel, by, why });
            }
            _ => {
                self.room_lost(now, &channel);
                self.forget_what_waits_for(&channel);
                self.tell(LinkEvent::Parted { channel, why });
            }
        }
    }

    /// Lines that wait for their turn in a room we are no longer in would be refused there, or be
    /// said from outside.
    fn forget_what_waits_for(&mut self, channel: &ChannelName) {
        self.replays.forget(channel);
        for key in self.sending.take_back(channel.folded()) {
            self.tell(LinkEvent::NotSent { key });
        }
    }

    /// Somebody opens a room for us: if it is one that is waited for, now is the time.
    pub(super) fn invited(&mut self, now: Duration, message: Message) {
        let asked = Stand::Asked(answered_by(now, &self.config.timing));
        let to_us = message.at(0).is_some_and(|nick| self.nick.is_current(nick));
        let channel = message.at(1).and_then(|name| name.parse::<ChannelName>().ok());
        if let (true, Some(channel)) = (to_us, channel)
            && let Some(room) = self.rooms.0.get_mut(&channel)
            && let Stand::Waiting(_) = room.stand
        {
            room.stand = asked;
            return self.ask_to_join(&channel);
        }
        self.pass_other(message);
    }

    fn ask_to_join(&mut self, channel: &ChannelName) {
        self.enqueue(Message::new("JOIN").param(channel.as_str()));
        if let Some(ping) = self.ping_behind_join() {
            self.enqueue(ping);
        }
    }

    /// A channel that is wanted still is tried again: after 5 s, 10 s, 20 s … 60 s; anew from 5 s
    /// when we were in for a minute.
    fn room_lost(&mut self, now: Duration, channel: &ChannelName) {
        let Some(room) = self.rooms.0.get_mut(channel) else { return };
        if let Stand::In(since) = room.stand
            && now.saturating_sub(since) >= LONGEST
        {
            room.losses = 0;
        }
        let wait = self.config.timing.rejoin_after * 2u32.saturating_pow(room.losses.min(16));
        room.stand = Stand::Waiting(now + wait.min(LONGEST));
        room.losses = room.losses.saturating_add(1);
    }

    pub(super) fn tick_rooms(&mut self, now: Duration) {
        let until_asked = answered_by(now, &self.config.timing);
        let (mut due, mut unanswered) = (Vec::new(), Vec::new());
        for (name, room) in &mut self.rooms.0 {
            match room.stand {
                Stand::Waiting(until) if until <= now => {
                    room.stand = Stand::Asked(until_asked);
                    due.push(name.clone());
                }
                // Nobody can answer what waits for its turn in our own queue.
                Stand::Asked(until) if until <= now && self.sending.holds_join(name) => {
                    room.stand = Stand::Asked(until_asked);
                }
                Stand::Asked(until) if until <= now => unanswered.push(name.clone()),
                Stand::Apart | Stand::Asked(_) | Stand::In(_) | Stand::Waiting(_) => {}
            }
        }
        for name in due {
            self.ask_to_join(&name);
        }
        for channel in unanswered {
            self.room_lost(now, &channel);
            let why = "the server did not answer".to_owned();
            self.tell(LinkEvent::JoinFailed { channel, numeric: NO_ANSWER, why });
        }
    }

    /// Whether a number such as 437, which may mean a nick or a channel, means a channel.
    pub(super) fn is_about_a_room(&self, message: &Message) -> bool {
        message.at(1).is_some_and(|subject| subject.starts_with('#'))
    }

    /// Takes a number that refuses a JOIN that is under way; false if it does not.
    pub(super) fn room_refused(&mut self, now: Duration, number: u16, message: &Message) -> bool {
        let refuses = matches!(
            number,
            numeric::ERR_NOSUCHCHANNEL
                | numeric::ERR_TOOMANYCHANNELS
                | numeric::ERR_UNAVAILRESOURCE
                | 470..=477 | numeric::ERR_THROTTLE | numeric::ERR_NOPRIVILEGES | 489
        );
        let channel = message.at(1).and_then(|name| name.parse::<ChannelName>().ok());
        let (true, Phase::Online, Some(channel)) = (refuses, &self.phase, channel) else {
            return false;
        };
        let asked = |room: &Room| matches!(room.stand, Stand::Asked(_));
        if !self.rooms.0.get(&channel).is_some_and(asked) {
            return false;
        }
        self.room_lost(now, &channel);
        let why = message.params.last().cloned().unwrap_or_default();
        self.tell(LinkEvent::JoinFailed { channel, numeric: number, why });
        true
    }
}

/// Returns until when a JOIN of now has its answer.
fn answered_by(now: Duration, timing: &Timing) -> Duration {
    now + timing.confirm_within * 2
}
