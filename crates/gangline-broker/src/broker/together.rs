//! Several writes in one commit, for an owner who has them all at hand.

use gangline_core::{AgentName, ApprovalNumber, Epoch};

use super::Broker;
use crate::{
    error::BrokerError,
    op::{self, Op},
    sqlite::{Work, Writer, agents, approvals, events, outbox, turns},
    types::{AgentUpdate, EndTurn, NewEvent, NewUsage, Send},
};

/// One of the writes of [`Broker::together`].
#[derive(Debug, Clone)]
pub enum Entry {
    /// As [`Broker::append`].
    Events(Vec<NewEvent>),
    /// As [`Broker::add_usage`].
    Usage(NewUsage),
    /// As [`Broker::set_agent`].
    Agent(AgentName, Epoch, AgentUpdate),
    /// As [`Broker::mark_delivered`].
    Delivered(ApprovalNumber),
    /// As [`Broker::send`].
    Send(Box<Send>),
    /// T3, as [`Broker::end_turn`].
    End(EndTurn),
}

impl Broker {
    /// Makes the writes in their order, in one commit with one sync. Returns what became of each:
    /// one that is refused by itself ([`BrokerError::Fenced`], [`BrokerError::TurnNotOpen`], a
    /// statement that fails) leaves the others as they are; a storage that cannot write fails all.
    ///
    /// # Errors
    /// [`BrokerError::Busy`] or [`BrokerError::Closed`]: none is written.
    pub async fn together(
        &self,
        entries: Vec<Entry>,
    ) -> Result<Vec<Result<(), BrokerError>>, BrokerError> {
        self.store.write_together(entries.into_iter().map(Entry::write).collect()).await
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
            Self::Agent(agent, epoch, update) => {
                let work = move |w: &mut Writer| agents::update(w, &agent, epoch, &update);
                (&op::SET_AGENT, Box::new(work))
            }
            Self::Delivered(number) => {
                let work = move |w: &mut Writer| approvals::mark_delivered(w, number);
                (&op::MARK_DELIVERED, Box::new(work))
            }
            Self::Send(send) => {
                (&op::SEND, Box::new(move |w: &mut Writer| outbox::send(w, &send, None).map(drop)))
            }
            Self::End(end) => {
                (&op::END_TURN, Box::new(move |w: &mut Writer| turns::end(w, &end).map(drop)))
            }
        }
    }
}
