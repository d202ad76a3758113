//! Rules: made by a decision, listed, removed.

use gangline_core::{AgentName, ApprovalNumber, rule::Offer};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::{DecideError, StoreError},
    op,
    sqlite::{Writer, approvals, rules},
    types::{Always, ApprovalRow, NewAlert, RuleRow, Ruling},
};

impl Store {
    /// Decides an open or a void approval and stores the rules that it offers, with their record in the
    /// log, in one commit. An approval that offers no rule is decided this once, and the record says why.
    ///
    /// # Errors
    /// See [`DecideError`]; nothing is stored then.
    pub async fn decide_always(
        &self,
        number: ApprovalNumber,
        ruling: Ruling,
    ) -> Result<Always, DecideError> {
        let work = move |w: &mut Writer| approvals::decide_always(w, number, &ruling);
        self.sqlite.write(&op::DECIDE, work).await?
    }

    /// Returns what an approval offers to make a rule of; `None` if an older program asked.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn offer(&self, number: ApprovalNumber) -> Result<Option<Offer>, StoreError> {
        self.sqlite.read("read what an approval offers", move |c| rules::offer(c, number)).await
    }

    /// Returns the approvals that were asked since a time, the newest first, with what each offered to
    /// make a rule of; at most [`crate::PAGE_MAX`], and only those before this number if one is given.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn asked_since(
        &self,
        agent: Option<&AgentName>,
        since: UnixMicros,
        before: Option<ApprovalNumber>,
    ) -> Result<Vec<(ApprovalRow, Option<Offer>)>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| approvals::asked_since(c, agent.as_ref(), since, before);
        self.sqlite.read("list approvals", work).await
    }

    /// Returns the rules of one agent, or all, by number.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn rules(&self, agent: Option<&AgentName>) -> Result<Vec<RuleRow>, StoreError> {
        let agent = agent.cloned();
        self.sqlite.read("list rules", move |c| rules::list(c, agent.as_ref())).await
    }

    /// Voids rules that would not be made today, each with the reason: they are listed, and allow nothing.
    /// Returns the void rules of the agent that no alert has named yet.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn void_rules(
        &self,
        agent: &AgentName,
        found: Vec<(i64, String)>,
    ) -> Result<Vec<RuleRow>, StoreError> {
        let agent = agent.clone();
        let work = move |w: &mut Writer| rules::void(w, &agent, &found);
        self.sqlite.write(&op::VOID_RULES, work).await
    }

    /// Raises the alert that names void rules, and records that they were named.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn tell_void_rules(
        &self,
        numbers: Vec<i64>,
        alert: NewAlert,
    ) -> Result<(), StoreError> {
        let work = move |w: &mut Writer| rules::tell_void(w, &numbers, &alert);
        self.sqlite.write(&op::VOID_RULES, work).await
    }

    /// Removes a rule and returns it: what it allowed is asked about again. The log says who removed it.
    /// `None` if there is no such rule.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn remove_rule(&self, number: i64, by: &str) -> Result<Option<RuleRow>, StoreError> {
        let by = by.to_owned();
        self.sqlite.write(&op::REMOVE_RULE, move |w| rules::remove(w, number, &by)).await
    }
}
