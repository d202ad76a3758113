//! Orders about an agent's turn or session.

use gangline_core::AgentName;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{agents, turn_orders},
    types::{EndOrder, OpenTurnOrder, OrderedEnd, StandingOrders, TurnOrderKind},
};

impl Store {
    /// Orders the end of a turn, with an escalation if that is wanted, in one commit. The agent's daemon
    /// ends the turn ([`Store::turns_to_end`]); if it dies before, its successor settles the turn as ended
    /// by a person.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written; nothing has changed then.
    pub async fn order_end(&self, order: EndOrder) -> Result<OrderedEnd, StoreError> {
        self.sqlite.write(&op::ORDER_TURN, move |w| turn_orders::end(w, &order)).await
    }

    /// Orders a new session ([`TurnOrderKind::Clear`]) or a shorter one ([`TurnOrderKind::Compact`]) from
    /// the next turn on. Returns the order's number, for [`crate::Entry::SessionDone`].
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written; nothing has changed then.
    pub async fn order_session(
        &self,
        agent: &AgentName,
        kind: TurnOrderKind,
        by: &str,
    ) -> Result<i64, StoreError> {
        let (agent, by) = (agent.clone(), by.to_owned());
        let work = move |w: &mut _| turn_orders::session(w, &agent, (kind, &by));
        self.sqlite.write(&op::ORDER_TURN, work).await
    }

    /// Returns what holds the agent, and whether its backend is to be tried again; `None` if the store
    /// does not know the agent.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn standing_orders(
        &self,
        agent: &AgentName,
    ) -> Result<Option<StandingOrders>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| agents::standing(c, &agent);
        self.sqlite.read("read what holds an agent", work).await
    }

    /// Returns the agent's orders about turns and sessions that have no outcome yet, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn open_turn_orders(
        &self,
        agent: &AgentName,
    ) -> Result<Vec<OpenTurnOrder>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("read orders about turns", move |c| turn_orders::open(c, &agent)).await
    }
}
