//! What waits for people because of agents that are no longer configured: nobody would read an answer or carry
//! out a decision, so it is withdrawn and causes no more alerts. Start at [`Removed::on`].

use std::collections::BTreeSet;

use gangline_core::{AgentName, Principal, Tier};
use gangline_os::{change_notice, lock::probe, paths::Paths};
use gangline_store::{AgentRow, PAGE_MAX, QuestionFilter, QuestionRow, Store, StoreError};
use tracing::{info, warn};

/// Who withdraws them.
const BY: &str = "gangline";

/// The configured agents, and whether removed ones were looked for since the configuration was read.
#[derive(Debug)]
pub(super) struct Removed {
    configured: BTreeSet<AgentName>,
    is_done: bool,
}

/// A configuration was read, with these agents.
impl From<Vec<AgentName>> for Removed {
    fn from(configured: Vec<AgentName>) -> Self {
        Self { configured: configured.into_iter().collect(), is_done: false }
    }
}

impl Removed {
    /// Withdraws the questions, approvals and findings of agents that are neither configured nor running, and the
    /// questions that only such agents were asked; once for each configuration. An agent that somebody runs by
    /// hand keeps them until it ends.
    pub(super) async fn on(&mut self, (store, paths): (&Store, &Paths), rows: &[AgentRow]) {
        if self.is_done || rows.is_empty() {
            return;
        }
        let removed = rows.iter().map(|row| &row.agent).filter(|it| !self.configured.contains(*it));
        let (run, gone): (Vec<&AgentName>, Vec<&AgentName>) = removed.partition(|agent| {
            // A lock that cannot be read may be held.
            !matches!(probe(&paths.agent_lock(agent.folded())), Ok(None))
        });
        if let Err(error) = withdraw(store, paths, &gone).await {
            return warn!(%error, "cannot withdraw what removed agents left; trying again");
        }
        self.is_done = run.is_empty();
    }
}

async fn withdraw(store: &Store, paths: &Paths, gone: &[&AgentName]) -> Result<(), StoreError> {
    if gone.is_empty() {
        return Ok(());
    }
    let closed = store.withdraw_removed(gone.iter().copied().cloned().collect()).await?;
    if !closed.is_empty() {
        info!(numbers = ?closed, "approvals and findings withdrawn: their agents were removed");
    }
    let mut before = None;
    loop {
        let filter = QuestionFilter { before, ..QuestionFilter::default() };
        let open = store.questions(filter, PAGE_MAX).await?;
        for row in open.iter().filter(|row| is_nobodys(row, gone)) {
            let by = Principal { account: BY.to_owned(), tier: Tier::Owner };
            match store.cancel_question(row.number, by).await {
                Ok(_) => {
                    info!(number = %row.number, agent = %row.agent, "question withdrawn: an agent was removed")
                }
                Err(gangline_store::AnswerError::Store(error)) => return Err(error),
                // It was closed in the meantime.
                Err(_) => {}
            }
            change_notice::notify(&paths.change_notice(row.agent.folded()));
        }
        before = open.last().map(|row| row.number);
        if before.is_none() {
            return Ok(());
        }
    }
}

/// Returns whether nobody is left to read an answer or to give one.
fn is_nobodys(row: &QuestionRow, gone: &[&AgentName]) -> bool {
    let asked = row.asked.agents();
    let nobody_answers = !asked.is_empty()
        && !row.rule.is_for_people()
        && asked.iter().all(|agent| gone.contains(&agent));
    gone.contains(&&row.agent) || nobody_answers
}

#[cfg(test)]
mod tests;
