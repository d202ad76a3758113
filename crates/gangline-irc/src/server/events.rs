//! What happens in rooms beside what is said: who comes, goes and is renamed, topics, modes.
//!
//! It is shown at once and stored with the lines that follow, in rooms with a history, for clients
//! that want it among the lines (`draft/event-playback`). A crash loses what was not stored yet.

use std::{sync::Arc, time::Duration};

use gangline_core::ChannelName;
use gangline_os::clock::UnixMicros;

use super::seldom::Seldom;

#[cfg(test)]
mod tests;

/// Events that wait for the next commit before one is made for them.
const MANY: usize = 1_024;
/// Events that wait at most, while nothing can be stored; later ones are not stored.
pub const WAITING_MAX: usize = 4_096;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Somebody came in.
    Join,
    /// Somebody left the room.
    Part,
    /// Somebody left the server.
    Quit,
    /// Somebody was put out.
    Kick,
    /// Somebody has another nick.
    Nick,
    /// The topic was set.
    Topic,
    /// Modes were set.
    Mode,
}

/// All kinds.
const KINDS: [EventKind; 7] = [
    EventKind::Join,
    EventKind::Part,
    EventKind::Quit,
    EventKind::Kick,
    EventKind::Nick,
    EventKind::Topic,
    EventKind::Mode,
];

impl EventKind {
    /// Returns the command.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Join => "JOIN",
            Self::Part => "PART",
            Self::Quit => "QUIT",
            Self::Kick => "KICK",
            Self::Nick => "NICK",
            Self::Topic => "TOPIC",
            Self::Mode => "MODE",
        }
    }

    /// Returns the kind of that command.
    #[must_use]
    pub fn of(command: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.as_str() == command)
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its id on the wire.
    pub msgid: String,
    /// The place of the newest line when it was shown: it comes behind that line.
    pub behind: i64,
    /// When.
    pub at: UnixMicros,
    /// What.
    pub kind: EventKind,
    /// Who did it: `nick!user@host`, or the server's name.
    pub source: String,
    /// The account, if logged in.
    pub account: Option<String>,
    /// The words behind the command.
    pub words: Vec<String>,
    /// The text behind them. That of a JOIN is the real name, for those who asked for it.
    pub text: Option<String>,
}

/// An event of a room, to be stored if the room has a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The room.
    pub room: ChannelName,
    /// What happened.
    pub event: Arc<Event>,
}

/// A place in a history with events: the place of a line and 0, or the place of the line that an
/// event comes behind and the event's number, from 1.
pub type Place = (i64, i64);

/// The client on whose account something happens, and what is told of it.
pub(super) struct Doing<'a> {
    pub(super) kind: EventKind,
    pub(super) source: &'a str,
    pub(super) account: Option<&'a str>,
    pub(super) words: &'a [&'a str],
    pub(super) text: Option<&'a str>,
}

/// Events that wait to be stored.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    events: Vec<NewEvent>,
    dropped: Seldom,
}

impl Waiting {
    /// Adds an event; returns whether it is time to store them.
    pub(super) fn add(&mut self, event: NewEvent, now: Duration) -> bool {
        if self.events.len() < WAITING_MAX {
            self.events.push(event);
        } else if let Some(count) = self.dropped.counts(now) {
            tracing::warn!(count, "events of rooms are not stored: too many wait");
        }
        self.events.len() >= MANY
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn take(&mut self) -> Vec<NewEvent> {
        std::mem::take(&mut self.events)
    }
}

/// Returns changes of modes without the keys that they set: a history is read by people who come
/// in later.
pub(super) fn without_keys(changed: &[String]) -> Vec<String> {
    let (mut shown, mut on) = (changed.to_vec(), true);
    let letters = changed.first().map(String::as_str).unwrap_or_default();
    let mut at = 1;
    for letter in letters.chars() {
        match letter {
            '+' | '-' => on = letter == '+',
            'k' => {
                if let Some(key) = shown.get_mut(at) {
                    "*".clone_into(key);
                }
                at += 1;
            }
            'o' | 'v' | 'b' => at += 1,
            'l' if on => at += 1,
            _ => {}
        }
    }
    shown
}
