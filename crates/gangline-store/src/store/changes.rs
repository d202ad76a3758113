//! Changes that managers ask for: requested, decided, applied by the hub step by step.

use gangline_core::{AgentName, ApprovalNumber};

use super::Store;
use crate::{
    error::{DecideError, StoreError},
    op,
    sqlite::{Writer, changes},
    types::{ChangeRequested, ChangeRow, ChangeStep, ChangeTold, NewChange, Ruling},
};

impl Store {
    /// Asks for a change. `bring` makes the lines for people, once the number is known; they are in
    /// the same commit. The same request again is the same change.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn request_change(
        &self,
        new: NewChange,
        bring: impl FnOnce(ApprovalNumber) -> ChangeTold + Send + 'static,
    ) -> Result<ChangeRequested, StoreError> {
        let work = move |w: &mut Writer| changes::request(w, &new, None, bring);
        self.sqlite.write(&op::REQUEST_CHANGE, work).await
    }

    /// Decides a change; only an owner may, which the caller has made sure of. A no is a message to
    /// the manager, in the same commit. Notify the manager, and of a yes the hub.
    ///
    /// # Errors
    /// See [`DecideError`]; nothing is stored then.
    pub async fn decide_change(
        &self,
        number: ApprovalNumber,
        ruling: Ruling,
    ) -> Result<ChangeRow, DecideError> {
        let work = move |w: &mut Writer| changes::decide(w, number, &ruling);
        self.sqlite.write(&op::DECIDE_CHANGE, work).await?
    }

    /// Takes a step with a change, if it stands where the step begins; returns whether it did. The
    /// last step is a message to the manager, in the same commit.
    ///
    /// # Errors
    /// As every write.
    pub async fn step_change(
        &self,
        number: ApprovalNumber,
        step: ChangeStep,
    ) -> Result<bool, StoreError> {
        let work = move |w: &mut Writer| changes::step(w, number, &step);
        self.sqlite.write(&op::STEP_CHANGE, work).await
    }

    /// Returns one change.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn change(&self, number: ApprovalNumber) -> Result<Option<ChangeRow>, StoreError> {
        self.sqlite.read("read a change", move |c| changes::one(c, number)).await
    }

    /// Returns the newest changes, oldest first: of one manager, or only those that nobody has decided.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn changes(
        &self,
        agent: Option<&AgentName>,
        open_only: bool,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        let agent = agent.cloned();
        let read = move |c: &_| changes::list(c, agent.as_ref(), open_only);
        self.sqlite.read("list changes", read).await
    }

    /// Returns the changes that the hub has to do something for, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn changes_under_way(&self) -> Result<Vec<ChangeRow>, StoreError> {
        self.sqlite.read("list changes", changes::under_way).await
    }
}
