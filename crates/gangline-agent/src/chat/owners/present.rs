//! Where owners are, as our own server reports it: owners get no private reminder of what is on
//! their screen, and no pile of reminders overnight. Start at [`Chat::knows_owners`].

use std::{collections::HashSet, time::Duration};

use gangline_core::{
    approval::remind::Owner,
    name::{ChannelName, fold},
    trust::OWNER,
};
use gangline_os::clock::UnixMicros;
use tokio::sync::oneshot;

use crate::chat::{
    Chat,
    inquiries::{Answer, Inquiry, Question, Unanswered},
};

/// How long an answer of the server is valid.
pub(super) const KNOWN_FOR: Duration = Duration::from_secs(20);
/// The most rooms that the server is asked about.
const ROOMS_MAX: usize = 8;

type Answered = oneshot::Receiver<Result<Answer, Unanswered>>;

/// What is known of where owners are.
#[derive(Debug, Default)]
pub(in crate::chat) struct Owners {
    /// Rooms whose answer is not there yet.
    asked: Vec<(ChannelName, Answered)>,
    /// When the server was asked last, by the monotonic clock.
    asked_at: Option<Duration>,
    /// Where an owner is.
    rooms: HashSet<ChannelName>,
    /// When an owner said something last.
    heard_at: Option<UnixMicros>,
}

impl Owners {
    /// An owner said something.
    pub(in crate::chat) fn heard(&mut self, now: UnixMicros) {
        self.heard_at = Some(now);
    }

    /// Returns whether an answer of the server is awaited.
    pub(in crate::chat) fn is_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Returns where an owner is, seen from the room where something was asked. `since`: when
    /// owners were told last.
    pub(super) fn owner(&self, room: Option<&ChannelName>, since: Option<UnixMicros>) -> Owner {
        let spoke = self.heard_at.is_some_and(|heard| since.is_none_or(|since| heard > since));
        match room {
            Some(room) if self.rooms.contains(room) => Owner::InRoom,
            Some(_) | None if spoke || !self.rooms.is_empty() => Owner::Here,
            Some(_) | None => Owner::Away,
        }
    }

    fn collect(&mut self) {
        let asked = std::mem::take(&mut self.asked);
        for (room, mut answered) in asked {
            match answered.try_recv() {
                Ok(Ok(Answer::Accounts(accounts))) => {
                    if accounts.iter().any(|account| fold(account) == OWNER) {
                        self.rooms.insert(room);
                    }
                }
                Ok(_) | Err(oneshot::error::TryRecvError::Closed) => {}
                Err(oneshot::error::TryRecvError::Empty) => self.asked.push((room, answered)),
            }
        }
    }
}

impl Chat {
    /// Returns whether it is known where owners are; if not, the server has been asked.
    pub(super) fn knows_owners(&mut self) -> bool {
        let now = self.deps.clock.monotonic();
        if self.owners.is_asked() {
            self.owners.collect();
            return !self.owners.is_asked();
        }
        if self.owners.asked_at.is_some_and(|at| now.saturating_sub(at) < KNOWN_FOR) {
            return true;
        }
        self.owners.rooms.clear();
        if !self.up {
            return true;
        }
        let mut rooms: Vec<ChannelName> = self.deps.joined.borrow().iter().cloned().collect();
        rooms.sort_by(|one, other| one.folded().cmp(other.folded()));
        for room in rooms.into_iter().take(ROOMS_MAX) {
            let (reply, answered) = oneshot::channel();
            let question = Question::Accounts(room.clone());
            let commands = self.inquiries.ask(now, Inquiry { question, reply });
            self.command_all(commands);
            self.owners.asked.push((room, answered));
        }
        self.owners.asked_at = Some(now);
        !self.owners.is_asked()
    }
}
