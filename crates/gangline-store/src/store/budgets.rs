//! Budgets: what was spent, what was added, what went through relays, holds of the fleet.

use gangline_core::{
    AgentName, Epoch,
    budget::{BudgetScope, Raise, Spent},
};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{OnDone, Writer, budgets},
    types::{FleetHold, NewRaise, NewRelayOpen, RelayOpenRow, RelayedCall, RelayedRow, SpentRow},
};

impl Store {
    /// Returns what was spent since a time.
    ///
    /// # Errors
    /// The storage's.
    pub async fn spent(&self, scope: BudgetScope, since: UnixMicros) -> Result<Spent, StoreError> {
        let work = move |c: &_| budgets::spent(c, &scope, since);
        self.sqlite.read("add up what was spent", work).await
    }

    /// Returns what every agent spent since a time, by who counted it.
    ///
    /// # Errors
    /// The storage's.
    pub async fn spent_by_agent(
        &self,
        agent: Option<&AgentName>,
        since: UnixMicros,
    ) -> Result<Vec<SpentRow>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| budgets::spent_by_agent(c, agent.as_ref(), since);
        self.sqlite.read("add up what each agent spent", work).await
    }

    /// Notes a call that a relay is about to make. `tell` is told its number once the note is committed, which
    /// is before it is synced: it outlives this process then. `tell` must not block.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if the epoch is not the agent's; or the storage's.
    pub async fn relay_begins(
        &self,
        new: NewRelayOpen,
        tell: impl FnOnce(i64) + Send + 'static,
    ) -> Result<i64, StoreError> {
        let work = move |w: &mut Writer| budgets::relay_begins(w, &new);
        let tell: OnDone<i64> = Box::new(move |number| tell(*number));
        self.sqlite.write_and_notify(&op::RELAY_BEGINS, work, Some(tell)).await
    }

    /// Returns calls of an agent's relay that an earlier epoch has noted and that have not ended, the oldest
    /// first, at most so many.
    ///
    /// # Errors
    /// The storage's.
    pub async fn unsettled(
        &self,
        agent: &AgentName,
        epoch: Epoch,
        most: u32,
    ) -> Result<Vec<RelayOpenRow>, StoreError> {
        let (agent, most) = (agent.clone(), i64::from(most));
        let work = move |c: &_| budgets::unsettled(c, &agent, (epoch, most));
        self.sqlite.read("list calls that did not end", work).await
    }

    /// Records a call that went through a relay, and what it used; it is noted as begun no more.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if its turn's epoch is not the agent's; or the storage's.
    pub async fn relayed(&self, call: RelayedCall) -> Result<(), StoreError> {
        self.sqlite.write(&op::RELAYED, move |w: &mut Writer| budgets::relayed(w, &call)).await
    }

    /// Returns the calls of a day that went through relays.
    ///
    /// # Errors
    /// The storage's.
    pub async fn relayed_on(&self, day: &str) -> Result<Vec<RelayedRow>, StoreError> {
        let day = day.to_owned();
        self.sqlite.read("list relayed calls", move |c: &_| budgets::relayed_on(c, &day)).await
    }

    /// Adds to a budget for one day.
    ///
    /// # Errors
    /// The storage's.
    pub async fn raise_budget(&self, new: NewRaise) -> Result<(), StoreError> {
        self.sqlite.write(&op::RAISE_BUDGET, move |w: &mut Writer| budgets::raise(w, &new)).await
    }

    /// Returns what was added to a budget for a day.
    ///
    /// # Errors
    /// The storage's.
    pub async fn raised(&self, scope: BudgetScope, day: &str) -> Result<Raise, StoreError> {
        let day = day.to_owned();
        let work = move |c: &_| budgets::raised(c, &scope, &day);
        self.sqlite.read("read what was added to a budget", work).await
    }

    /// Holds the whole fleet, unless it is held already. Returns whether this hold is new.
    ///
    /// # Errors
    /// The storage's.
    pub async fn hold_fleet(
        &self,
        why: &str,
        until: Option<UnixMicros>,
    ) -> Result<bool, StoreError> {
        let why = why.to_owned();
        let work = move |w: &mut Writer| budgets::hold_fleet(w, &why, until);
        self.sqlite.write(&op::HOLD_FLEET, work).await
    }

    /// Ends the hold of the fleet. Returns whether there was one.
    ///
    /// # Errors
    /// The storage's.
    pub async fn release_fleet(&self, by: &str) -> Result<bool, StoreError> {
        let by = by.to_owned();
        self.sqlite
            .write(&op::HOLD_FLEET, move |w: &mut Writer| budgets::release_fleet(w, &by))
            .await
    }

    /// Returns the hold of the fleet, if there is one.
    ///
    /// # Errors
    /// The storage's.
    pub async fn fleet_hold(&self) -> Result<Option<FleetHold>, StoreError> {
        self.sqlite.read("read the fleet's hold", |c: &_| budgets::fleet_hold(c)).await
    }

    /// Returns when the last hold of the fleet ended.
    ///
    /// # Errors
    /// The storage's.
    pub async fn fleet_released_at(&self) -> Result<Option<UnixMicros>, StoreError> {
        self.sqlite.read("read the fleet's hold", |c: &_| budgets::fleet_released_at(c)).await
    }
}
