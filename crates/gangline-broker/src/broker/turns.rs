//! Turns: T1 and T3, recovery, and the record of events.

use gangline_core::{AgentName, Epoch};

use super::Broker;
use crate::{
    error::BrokerError,
    op,
    sqlite::{events, turns},
    types::{EndTurn, Ended, EventPage, EventQuery, NewEvent, OpenTurn, Take, Taken},
};

impl Broker {
    /// T1: takes waiting messages into a turn, counting the attempt, and opens the turn if it is
    /// new (recorded as the event `turn_started`; additions as `turn_steered`). Messages that do
    /// not wait any more are reported and left alone.
    ///
    /// # Errors
    /// [`BrokerError::Fenced`] unless the turn's epoch is the agent's; [`BrokerError::TurnNotOpen`]
    /// if it has ended; or the storage's.
    pub async fn take(&self, take: Take) -> Result<Taken, BrokerError> {
        self.store.write(&op::TAKE, move |w| turns::take(w, &take)).await
    }

    /// T3: ends a turn in one commit: outcome, messages' states, outbox, events, approvals.
    ///
    /// # Errors
    /// [`BrokerError::Fenced`]; [`BrokerError::TurnNotOpen`] if it has ended already (then nothing
    /// is done again); or the storage's.
    pub async fn end_turn(&self, end: EndTurn) -> Result<Ended, BrokerError> {
        self.store.write(&op::END_TURN, move |w| turns::end(w, &end)).await
    }

    /// Returns the agent's turns without an end from before an epoch, oldest first, with their
    /// messages.
    ///
    /// # Errors
    /// The storage's.
    pub async fn open_turns(
        &self,
        agent: &AgentName,
        older_than: Epoch,
    ) -> Result<Vec<OpenTurn>, BrokerError> {
        let agent = agent.clone();
        let work = move |c: &_| turns::open_turns(c, &agent, older_than);
        self.store.read("read open turns", work).await
    }

    /// Records events in their order. Returns the last one's `seq`, 0 if there was none.
    ///
    /// # Errors
    /// [`BrokerError::Fenced`] if one names an epoch (or turn) that is not the agent's; or the
    /// storage's. All are recorded or none.
    pub async fn append(&self, events: Vec<NewEvent>) -> Result<i64, BrokerError> {
        self.store.write(&op::APPEND, move |w| events::append(w, &events)).await
    }

    /// Reads a page of events.
    ///
    /// # Errors
    /// [`BrokerError::Invalid`] for a turn without its agent; or the storage's.
    pub async fn events(&self, query: EventQuery) -> Result<EventPage, BrokerError> {
        self.store.read("read events", move |c| events::page(c, &query)).await
    }
}
