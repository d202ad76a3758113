//! Agents and epochs, usage, accounts.

use gangline_core::{AgentName, Principal, usage::Spender};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, agents, removed},
    types::{AccountRow, AgentRow, EpochStart, NewUsage, SessionRow, UsageSum, Whose},
};

impl Store {
    /// Begins the agent's next epoch. Every older writer is fenced from this commit on; this
    /// process's writes for the agent, also those that name no epoch, are bound to the new one. The
    /// session that it returns is one of that runtime's own.
    ///
    /// # Errors
    /// The storage's.
    pub async fn begin_epoch(
        &self,
        agent: &AgentName,
        (pid, note): (u32, &str),
        whose: Whose<'_>,
    ) -> Result<EpochStart, StoreError> {
        let (agent, note) = (agent.clone(), note.to_owned());
        let (runtime, configured) = (whose.runtime.to_owned(), whose.configured.to_owned());
        let work = move |w: &mut Writer| {
            let whose = Whose { runtime: &runtime, configured: &configured };
            let start = agents::begin(w, &agent, (pid, &note), whose)?;
            removed::back(w, &agent)?;
            Ok(start)
        };
        self.sqlite.write(&op::BEGIN_EPOCH, work).await
    }

    /// Closes what waits for people because of agents that are no longer configured: their open approvals are
    /// withdrawn, changes that they asked for are refused, findings about them are resolved. Returns the numbers.
    /// A finding opens again when such an agent begins an epoch, unless it was raised anew.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be written.
    pub async fn withdraw_removed(&self, agents: Vec<AgentName>) -> Result<Vec<i64>, StoreError> {
        let work = move |w: &mut Writer| removed::withdraw(w, &agents);
        self.sqlite.write(&op::WITHDRAW_APPROVAL, work).await
    }

    /// Returns one agent; none if it never began an epoch and was never paused.
    ///
    /// # Errors
    /// The storage's.
    pub async fn agent(&self, agent: &AgentName) -> Result<Option<AgentRow>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("read an agent", move |c| agents::one(c, &agent)).await
    }

    /// Returns the sessions that an agent has had, the one that was used last first.
    ///
    /// # Errors
    /// The storage's.
    pub async fn sessions(&self, agent: &AgentName) -> Result<Vec<SessionRow>, StoreError> {
        let agent = agent.clone();
        self.sqlite.read("list sessions", move |c| agents::known_sessions(c, &agent)).await
    }

    /// Returns all agents by name.
    ///
    /// # Errors
    /// The storage's.
    pub async fn agents(&self) -> Result<Vec<AgentRow>, StoreError> {
        self.sqlite.read("list agents", agents::list).await
    }

    /// Records what a model call used.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if a turn is named whose epoch is not the agent's; or the storage's.
    pub async fn add_usage(&self, usage: NewUsage) -> Result<(), StoreError> {
        self.sqlite.write(&op::ADD_USAGE, move |w| agents::add_usage(w, &usage)).await
    }

    /// Adds up usage since a time, of one agent or of all.
    ///
    /// # Errors
    /// The storage's.
    pub async fn usage(
        &self,
        agent: Option<&AgentName>,
        since: UnixMicros,
    ) -> Result<UsageSum, StoreError> {
        let agent = agent.cloned();
        let work = move |c: &_| agents::usage(c, agent.as_ref(), (None, since));
        self.sqlite.read("add up usage", work).await
    }

    /// Adds up what one spender has used for an agent since a time: what its supervisor costs is
    /// counted apart.
    ///
    /// # Errors
    /// The storage's.
    pub async fn usage_by(
        &self,
        agent: &AgentName,
        by: Spender,
        since: UnixMicros,
    ) -> Result<UsageSum, StoreError> {
        let agent = agent.clone();
        let work = move |c: &_| agents::usage(c, Some(&agent), (Some(by), since));
        self.sqlite.read("add up usage", work).await
    }

    /// Makes an account or changes its tier. Names and tiers only: no secret is kept here.
    ///
    /// # Errors
    /// The storage's.
    pub async fn put_account(&self, principal: Principal) -> Result<(), StoreError> {
        let work = move |w: &mut Writer| agents::put_account(w, &principal);
        self.sqlite.write(&op::PUT_ACCOUNT, work).await
    }

    /// Returns all accounts by name.
    ///
    /// # Errors
    /// The storage's.
    pub async fn accounts(&self) -> Result<Vec<AccountRow>, StoreError> {
        self.sqlite.read("list accounts", agents::accounts).await
    }
}
