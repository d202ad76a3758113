//! Approvals: asking, deciding, handing the decision over.

use gangline_core::{AgentName, ApprovalNumber, Epoch, MessageId};

use super::Store;
use crate::{
    error::{DecideError, StoreError},
    op,
    sqlite::{Writer, approvals, places},
    types::{
        AllowedBefore, Announce, ApprovalPlace, ApprovalRow, Decided, OpenApproval, OpenedApproval,
        Ruling, SendReceipt, WithdrawApproval,
    },
};

impl Store {
    /// Asks. A re-ask (same agent, message, tool and arguments hash) of a void or withdrawn
    /// approval opens the same number again; a decision made while it was void is used if this is
    /// the message's next attempt, and forgotten if it is a later one.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] unless the turn's epoch is the agent's; [`StoreError::TurnNotOpen`];
    /// or the storage's.
    pub async fn open_approval(&self, ask: OpenApproval) -> Result<OpenedApproval, StoreError> {
        self.sqlite.write(&op::OPEN_APPROVAL, move |w| approvals::open(w, &ask)).await
    }

    /// Decides an open or a void approval, and says so wherever it was announced, in one commit.
    /// Who may decide is the caller's question.
    ///
    /// # Errors
    /// See [`DecideError`].
    pub async fn decide(
        &self,
        number: ApprovalNumber,
        ruling: Ruling,
    ) -> Result<Decided, DecideError> {
        let work = move |w: &mut Writer| approvals::decide(w, number, &ruling);
        self.sqlite.write(&op::DECIDE, work).await?
    }

    /// Returns approvals by number, the oldest first: the open ones, or the newest
    /// [`crate::PAGE_MAX`] of all.
    ///
    /// # Errors
    /// The storage's.
    pub async fn approvals(
        &self,
        agent: Option<&AgentName>,
        open_only: bool,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| approvals::list(c, agent.as_ref(), open_only);
        self.sqlite.read("list approvals", work).await
    }

    /// Returns one approval.
    ///
    /// # Errors
    /// The storage's.
    pub async fn approval(
        &self,
        number: ApprovalNumber,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        self.sqlite.read("read an approval", move |c| approvals::one(c, number)).await
    }

    /// Returns the decided approvals of this epoch that the runtime has not got yet.
    ///
    /// # Errors
    /// The storage's.
    pub async fn undelivered_decisions(
        &self,
        agent: &AgentName,
        epoch: Epoch,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| approvals::undelivered(c, &agent, epoch);
        self.sqlite.read("read decisions", work).await
    }

    /// Returns the calls that people have allowed the agent for a message and that its backends have had
    /// the decision of, the newest first. Read before an attempt, these are of earlier ones.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub async fn allowed_before(
        &self,
        agent: &AgentName,
        message: MessageId,
    ) -> Result<Vec<AllowedBefore>, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| approvals::allowed_before(c, &agent, message);
        self.sqlite.read("read what was allowed before", work).await
    }

    /// Announces an approval in one more place, if it is still open. The same key again changes
    /// nothing.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if a turn is named whose epoch is not the agent's; or the storage's.
    pub async fn announce(
        &self,
        number: ApprovalNumber,
        announce: Announce,
    ) -> Result<SendReceipt, StoreError> {
        let work = move |w: &mut Writer| approvals::announce(w, number, &announce);
        self.sqlite.write(&op::SEND, work).await
    }

    /// Returns where an approval was announced, or will be.
    ///
    /// # Errors
    /// The storage's.
    pub async fn approval_places(
        &self,
        number: ApprovalNumber,
    ) -> Result<Vec<ApprovalPlace>, StoreError> {
        self.sqlite.read("read an approval's places", move |c| places::list(c, number)).await
    }

    /// Closes an open approval that its runtime has taken back. Returns its number; `None` if it is
    /// not open: then nothing is said.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] unless the epoch is the agent's; or the storage's.
    pub async fn withdraw_approval(
        &self,
        withdraw: WithdrawApproval,
    ) -> Result<Option<ApprovalNumber>, StoreError> {
        let work = move |w: &mut Writer| approvals::withdraw_one(w, &withdraw);
        self.sqlite.write(&op::WITHDRAW_APPROVAL, work).await
    }

    /// Makes the agent's open approvals of older epochs void, and those that were decided but not
    /// handed over: the decision then waits for the message's next attempt. For a daemon's start,
    /// before lost turns are ended. Returns their numbers.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] unless the epoch is the agent's; or the storage's.
    pub async fn void_older(
        &self,
        agent: &AgentName,
        epoch: Epoch,
    ) -> Result<Vec<ApprovalNumber>, StoreError> {
        let agent = agent.clone();
        let work = move |w: &mut Writer| approvals::void_older(w, &agent, epoch);
        self.sqlite.write(&op::VOID_OLDER, work).await
    }
}
