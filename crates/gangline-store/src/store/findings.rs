//! Findings: raised, seen, resolved.

use gangline_core::{AgentName, FindingNumber, MessageId, attention::Item};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::{FindingError, StoreError},
    op,
    sqlite::{Writer, attention, choices, findings, messages},
    types::{FindingAnswer, FindingAnswered, FindingFilter, FindingRow, NewFinding, Raised},
};

impl Store {
    /// Raises a finding, with its event in the same commit. While one of the same agent and key is
    /// unresolved, it takes the new texts and keeps its number and its state; no event is recorded
    /// then.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn raise_finding(&self, new: NewFinding) -> Result<Raised, StoreError> {
        self.sqlite.write(&op::RAISE_FINDING, move |w: &mut Writer| findings::raise(w, &new)).await
    }

    /// Resolves the agent's finding of a key: it holds no more. Returns its number; `None` if none was
    /// unresolved.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], otherwise as every write.
    pub async fn resolve_finding(
        &self,
        agent: &AgentName,
        key: &str,
    ) -> Result<Option<FindingNumber>, StoreError> {
        let (agent, key) = (agent.clone(), key.to_owned());
        let work = move |w: &mut Writer| findings::resolve(w, &agent, &key);
        self.sqlite.write(&op::RESOLVE_FINDING, work).await
    }

    /// Records that somebody has seen a finding. Returns it as it is then.
    ///
    /// # Errors
    /// See [`FindingError`].
    pub async fn see_finding(
        &self,
        number: FindingNumber,
        by: &str,
    ) -> Result<FindingRow, FindingError> {
        let by = by.to_owned();
        let work = move |w: &mut Writer| findings::see(w, number, &by);
        self.sqlite.write(&op::SEE_FINDING, work).await?
    }

    /// Resolves a finding because somebody decided, and does what the choice says, in one commit. Notify the
    /// agents whose rows that changes, and of `start` and `restart` the hub.
    ///
    /// # Errors
    /// See [`FindingError`]; nothing has changed then.
    pub async fn answer_finding(
        &self,
        answer: FindingAnswer,
    ) -> Result<FindingAnswered, FindingError> {
        let work = move |w: &mut Writer| choices::answer(w, &answer);
        self.sqlite.write(&op::DECIDE_FINDING, work).await?
    }

    /// Returns what waits for a human, over all agents: open questions to people, open approvals and
    /// changes, and unresolved findings that offer choices; the most urgent first.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn attention(&self, now: UnixMicros) -> Result<Vec<Item>, StoreError> {
        self.sqlite.read("list what waits for a human", move |c| attention::list(c, now)).await
    }

    /// Puts a message that was given up back into its agent's inbox, with its attempts counted anew,
    /// and resolves the finding about it. Returns whether it had been given up.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn retry(&self, message: MessageId, by: &str) -> Result<bool, StoreError> {
        let by = by.to_owned();
        let work = move |w: &mut Writer| messages::retry(w, message, &by);
        self.sqlite.write(&op::RETRY, work).await
    }

    /// Returns one finding.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn one_finding(
        &self,
        number: FindingNumber,
    ) -> Result<Option<FindingRow>, StoreError> {
        self.sqlite.read("read a finding", move |c| findings::one(c, number)).await
    }

    /// Returns findings, newest first, at most `limit` (itself at most [`crate::PAGE_MAX`]).
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn findings(
        &self,
        filter: FindingFilter,
        limit: u32,
    ) -> Result<Vec<FindingRow>, StoreError> {
        self.sqlite.read("list findings", move |c| findings::list(c, &filter, limit)).await
    }
}
