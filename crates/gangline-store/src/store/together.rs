//! Several writes in one commit, for an owner who has them all at hand.

use gangline_core::{AgentName, ApprovalNumber, Epoch, MessageId, TurnId};

use super::Store;
use crate::{
    error::StoreError,
    op::{self, Op},
    sqlite::{Work, Writer, agents, alerts, approvals, events, findings, send, turns, whispers},
    types::{
        AgentUpdate, Delivered, EndTurn, NewAlert, NewEvent, NewFinding, NewUsage, NewWhisper, Send,
    },
};

/// One of the writes of [`Store::together`].
#[derive(Debug, Clone)]
pub enum Entry {
    /// As [`Store::append`].
    Events(Vec<NewEvent>),
    /// As [`Store::add_usage`].
    Usage(NewUsage),
    /// As [`Store::alert`].
    Alert(Box<NewAlert>),
    /// As [`Store::alert`], unless a question is open that the agent asked in that turn, or in another attempt
    /// at that message.
    AlertUnlessAsked {
        /// The alert.
        alert: Box<NewAlert>,
        /// The turn that has ended.
        turn: TurnId,
        /// Its message.
        message: MessageId,
    },
    /// Records what a daemon says of itself.
    Agent(AgentName, Epoch, AgentUpdate),
    /// Records that the runtime has the decision.
    Delivered(ApprovalNumber),
    /// As [`Store::send`].
    Send(Box<Send>),
    /// As [`Store::raise_finding`].
    Finding(Box<NewFinding>),
    /// As [`Store::resolve_finding`].
    FindingResolved(AgentName, String),
    /// T3, as [`Store::end_turn`].
    End(EndTurn),
    /// As [`Store::whisper`]; one too many is not recorded.
    Whisper(Box<NewWhisper>),
    /// Records that whispers have reached the agent, once for each.
    WhispersDelivered(Delivered),
}

impl Store {
    /// Makes the writes in their order, in one commit with one sync. Returns what became of each:
    /// one that is refused by itself ([`StoreError::Fenced`], [`StoreError::TurnNotOpen`], a
    /// statement that fails) leaves the others as they are; a storage that cannot write fails all.
    ///
    /// # Errors
    /// [`StoreError::Busy`] or [`StoreError::Closed`]: none is written.
    pub async fn together(
        &self,
        entries: Vec<Entry>,
    ) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        self.sqlite.write_together(entries.into_iter().map(Entry::write).collect()).await
    }
}

impl Entry {
    fn write(self) -> (&'static Op, Work) {
        match self {
            Self::Events(events) => {
                (&op::APPEND, Box::new(move |w: &mut Writer| events::append(w, &events).map(drop)))
            }
            Self::Usage(usage) => {
                (&op::ADD_USAGE, Box::new(move |w: &mut Writer| agents::add_usage(w, &usage)))
            }
            Self::Alert(alert) => {
                let work = move |w: &mut Writer| alerts::raise(w, &alert).map(drop);
                (&op::ALERT, Box::new(work))
            }
            Self::AlertUnlessAsked { alert, turn, message } => {
                let work =
                    move |w: &mut Writer| alerts::raise_unless_asked(w, &alert, (turn, message));
                (&op::ALERT, Box::new(work))
            }
            Self::Agent(agent, epoch, update) => {
                let work = move |w: &mut Writer| agents::update(w, &agent, epoch, &update);
                (&op::SET_AGENT, Box::new(work))
            }
            Self::Delivered(number) => {
                let work = move |w: &mut Writer| approvals::mark_delivered(w, number);
                (&op::MARK_DELIVERED, Box::new(work))
            }
            Self::Finding(new) => {
                let work = move |w: &mut Writer| findings::raise(w, &new).map(drop);
                (&op::RAISE_FINDING, Box::new(work))
            }
            Self::FindingResolved(agent, key) => {
                let work = move |w: &mut Writer| findings::resolve(w, &agent, &key).map(drop);
                (&op::RESOLVE_FINDING, Box::new(work))
            }
            Self::Send(send) => {
                (&op::SEND, Box::new(move |w: &mut Writer| send::send(w, &send, None).map(drop)))
            }
            Self::Whisper(new) => {
                (&op::WHISPER, Box::new(move |w: &mut Writer| whispers::say(w, &new).map(drop)))
            }
            Self::WhispersDelivered(told) => {
                let work = move |w: &mut Writer| whispers::deliver(w, &told);
                (&op::WHISPERS_DELIVERED, Box::new(work))
            }
            Self::End(end) => {
                (&op::END_TURN, Box::new(move |w: &mut Writer| turns::end(w, &end).map(drop)))
            }
        }
    }
}
