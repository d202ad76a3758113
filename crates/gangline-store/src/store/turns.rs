//! Turns: T1 and T3, recovery, and the record of events.

use gangline_core::{AgentName, Epoch, redact::Redacted};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{events, turns},
    types::{EndTurn, Ended, EventPage, EventQuery, NewEvent, OpenTurn, Take, Taken},
};

impl Store {
    /// T1: takes waiting messages into a turn, counting the attempt, and opens the turn if it is
    /// new (recorded as the event `turn_started`; additions as `turn_steered`). Messages that do
    /// not wait any more are reported and left alone.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] unless the turn's epoch is the agent's; [`StoreError::TurnNotOpen`]
    /// if it has ended; or the storage's.
    pub async fn take(&self, take: Take) -> Result<Taken, StoreError> {
        self.sqlite.write(&op::TAKE, move |w| turns::take(w, &take)).await
    }

    /// T3: ends a turn in one commit: outcome, messages' states, outbox, events, approvals.
    ///
    /// # Errors
    /// [`StoreError::Fenced`]; [`StoreError::TurnNotOpen`] if it has ended already (then nothing
    /// is done again); or the storage's.
    pub async fn end_turn(&self, end: EndTurn) -> Result<Ended, StoreError> {
        self.sqlite.write(&op::END_TURN, move |w| turns::end(w, &end)).await
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
    ) -> Result<Vec<OpenTurn>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| turns::open_turns(c, &agent, older_than);
        self.sqlite.read("read open turns", work).await
    }

    /// Records events in their order. Returns the last one's `seq`, 0 if there was none.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if one names an epoch (or turn) that is not the agent's; or the
    /// storage's. All are recorded or none.
    pub async fn append(&self, events: Vec<NewEvent>) -> Result<i64, StoreError> {
        self.sqlite.write(&op::APPEND, move |w| events::append(w, &events)).await
    }

    /// Reads a page of events.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] for a turn without its agent; or the storage's.
    pub async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        self.sqlite.read("read events", move |c| events::page(c, &query)).await
    }

    /// Returns the payloads of an agent's newest events of one kind since a time, the oldest first; at
    /// most so many.
    ///
    /// # Errors
    /// The storage's.
    pub async fn payloads_of(
        &self,
        agent: &AgentName,
        kind: &'static str,
        since: UnixMicros,
        most: u32,
    ) -> Result<Vec<Redacted>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| events::payloads(c, &agent, kind, since, most);
        self.sqlite.read("read events of a kind", work).await
    }
}
