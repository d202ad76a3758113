//! What was found about this agent: recorded by the loop, the only writer.

use gangline_store::{Entry, NewFinding};

use super::AgentLoop;

impl AgentLoop {
    /// Raises a finding; a second one of its key gives the first new texts.
    pub(super) fn finding(&mut self, new: NewFinding) {
        self.journal.push(Entry::Finding(Box::new(new)));
    }

    /// What was found under this key holds no more; nothing happens if nothing was.
    pub(super) fn finding_resolved(&mut self, key: impl Into<String>) {
        self.journal.push(Entry::FindingResolved(self.me.agent.clone(), key.into()));
    }
}
