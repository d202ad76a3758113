//! Alerts: raised by the agents' daemons, told by the hub or, where none runs, by the daemon itself.
//!
//! Who tells or sends takes the row first, as it was read; of two processes one gets it.

use gangline_core::AgentName;
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, alerts},
    types::{AlertRow, DeliveryEnd, DeliveryRow, NewAlert, NewDelivery},
};

impl Store {
    /// Raises an alert and returns its number; its record is in the same commit. One that follows
    /// another of its agent and group within [`gangline_core::alert::GROUP_WINDOW`] is counted to that.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn alert(&self, new: NewAlert) -> Result<i64, StoreError> {
        let work = move |w: &mut Writer| alerts::raise(w, &new);
        self.sqlite.write(&op::ALERT, work).await
    }

    /// Returns the alerts that are to be looked at by then, of one agent or of all; oldest first, at
    /// most [`crate::PAGE_MAX`].
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn alerts_due(
        &self,
        agent: Option<&AgentName>,
        now: UnixMicros,
    ) -> Result<Vec<AlertRow>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| alerts::due(c, agent.as_ref(), now);
        self.sqlite.read("look for alerts", work).await
    }

    /// Tells an alert, by making its deliveries in one commit, and says when it is looked at next.
    /// Without deliveries it is only looked at. Returns whether the alert was still as it was read.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn tell_alert(
        &self,
        seen: AlertRow,
        deliveries: Vec<NewDelivery>,
        due: Option<UnixMicros>,
    ) -> Result<bool, StoreError> {
        let work = move |w: &mut Writer| alerts::tell(w, &seen, &deliveries, due);
        self.sqlite.write(&op::TELL_ALERT, work).await
    }

    /// Returns the deliveries that are to be sent by then, and the claimed ones whose sender has had
    /// [`gangline_core::alert::CLAIM`]; oldest first, at most [`crate::PAGE_MAX`].
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn deliveries_due(
        &self,
        agent: Option<&AgentName>,
        now: UnixMicros,
    ) -> Result<Vec<DeliveryRow>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| alerts::deliveries_due(c, agent.as_ref(), now);
        self.sqlite.read("look for deliveries of alerts", work).await
    }

    /// Takes a delivery to send it, and counts the attempt. Returns it as it is now; `None` if another
    /// process has it.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn claim_delivery(
        &self,
        seen: DeliveryRow,
        by: &str,
    ) -> Result<Option<DeliveryRow>, StoreError> {
        let by = by.to_owned();
        let work = move |w: &mut Writer| alerts::claim(w, &seen, &by);
        self.sqlite.write(&op::CLAIM_DELIVERY, work).await
    }

    /// Records what became of a delivery. Returns whether it was still as it was read.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn end_delivery(
        &self,
        seen: DeliveryRow,
        end: DeliveryEnd,
    ) -> Result<bool, StoreError> {
        let work = move |w: &mut Writer| alerts::end(w, &seen, &end);
        self.sqlite.write(&op::END_DELIVERY, work).await
    }

    /// Lets the deliveries that wait for this target wait at least until then: it asked for patience.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn hold_deliveries(&self, target: &str, until: UnixMicros) -> Result<(), StoreError> {
        let target = target.to_owned();
        let work = move |w: &mut Writer| alerts::hold(w, &target, until);
        self.sqlite.write(&op::END_DELIVERY, work).await
    }

    /// Returns when the next alert or delivery is due, of one agent or of all.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn next_alert_due(
        &self,
        agent: Option<&AgentName>,
    ) -> Result<Option<UnixMicros>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| alerts::next_due(c, agent.as_ref());
        self.sqlite.read("look for the next alert", work).await
    }

    /// Returns the last deliveries, newest first, at most `limit` (itself at most
    /// [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn alert_deliveries(
        &self,
        agent: Option<&AgentName>,
        limit: u32,
    ) -> Result<Vec<DeliveryRow>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| alerts::deliveries(c, agent.as_ref(), limit);
        self.sqlite.read("list deliveries of alerts", work).await
    }
}
