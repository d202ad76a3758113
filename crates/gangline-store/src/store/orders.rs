//! Orders: whether daemons shall run, and when they start anew. Notify the hub after a write.

use gangline_core::AgentName;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, orders},
    types::{Desired, Order, RestartWhen},
};

impl Store {
    /// Orders whether an agent's daemon shall run, from now on and after every restart of the hub.
    /// A restart that was asked for stays asked for. Returns the whole order.
    ///
    /// # Errors
    /// The storage's.
    pub async fn order(
        &self,
        agent: &AgentName,
        desired: Desired,
        by: &str,
    ) -> Result<Order, StoreError> {
        let (agent, by) = (agent.clone(), by.to_owned());
        let work = move |w: &mut Writer| orders::desire(w, &agent, desired, &by);
        self.sqlite.write(&op::ORDER, work).await
    }

    /// Orders that the agent's daemon of the present epoch be followed by another one, and that it
    /// shall run if it should not. Takes the place of an earlier restart that is not done yet.
    /// Returns the whole order.
    ///
    /// # Errors
    /// The storage's.
    pub async fn order_restart(
        &self,
        agent: &AgentName,
        when: RestartWhen,
        by: &str,
    ) -> Result<Order, StoreError> {
        let (agent, by) = (agent.clone(), by.to_owned());
        let work = move |w: &mut Writer| orders::restart(w, &agent, when, &by);
        self.sqlite.write(&op::ORDER, work).await
    }

    /// Orders which backend the agent's daemon has from its next start on, in place of the
    /// configured one; `None` = the configured one. Whether it shall run stays as it is. Returns the
    /// whole order.
    ///
    /// # Errors
    /// The storage's.
    pub async fn order_runtime(
        &self,
        agent: &AgentName,
        runtime: Option<&str>,
        by: &str,
    ) -> Result<Order, StoreError> {
        let (agent, by) = (agent.clone(), by.to_owned());
        let runtime = runtime.map(str::to_owned);
        let work = move |w: &mut Writer| orders::runtime(w, &agent, runtime.as_deref(), &by);
        self.sqlite.write(&op::ORDER, work).await
    }

    /// Returns every order by agent; an agent without one shall run.
    ///
    /// # Errors
    /// The storage's.
    pub async fn orders(&self) -> Result<Vec<Order>, StoreError> {
        self.sqlite.read("list orders", orders::list).await
    }
}
