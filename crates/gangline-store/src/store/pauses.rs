//! Pauses, from a daemon and from outside it.

use gangline_core::{AgentName, pause::PauseReason};
use gangline_os::clock::UnixMicros;

use super::Store;
use crate::{
    error::StoreError,
    op,
    sqlite::{Writer, findings, pauses},
    types::{NewPause, PauseRow},
};

impl Store {
    /// Pauses an agent, whose daemon may be down, until somebody resumes it.
    ///
    /// # Errors
    /// The storage's.
    pub async fn pause(&self, agent: &AgentName) -> Result<(), StoreError> {
        self.begin_pause(NewPause::new(agent.clone(), PauseReason::Operator, None)).await
    }

    /// Keeps a pause, or gives one that is kept another end.
    ///
    /// # Errors
    /// The storage's.
    pub async fn begin_pause(&self, pause: NewPause) -> Result<(), StoreError> {
        self.sqlite.write(&op::PAUSE, move |w| pauses::begin(w, &pause)).await
    }

    /// Forgets a pause, and resolves the finding of an escalation or a limit with it. With `until`, only
    /// a pause that ends then: it may have got another end meanwhile.
    ///
    /// # Errors
    /// The storage's.
    pub async fn end_pause(
        &self,
        agent: &AgentName,
        reason: PauseReason,
        until: Option<UnixMicros>,
    ) -> Result<(), StoreError> {
        let agent = agent.clone();
        let which = (reason, until.map(|at| at.0));
        let work = move |w: &mut Writer| match pauses::end(w, &agent, which)? {
            true => findings::pause_over(w, &agent, reason),
            false => Ok(()),
        };
        self.sqlite.write(&op::PAUSE, work).await
    }

    /// Ends the pauses that an operator may end ([`PauseReason::ends_with_resume`]), from a daemon or
    /// from outside it, with their findings. Messages that wait for the end of a rate limit may be taken at once.
    ///
    /// # Errors
    /// The storage's.
    pub async fn resume(&self, agent: &AgentName) -> Result<(), StoreError> {
        let agent = agent.clone();
        let work = move |w: &mut Writer| pauses::resume_all(w, &agent);
        self.sqlite.write(&op::PAUSE, work).await
    }
}

impl crate::types::AgentRow {
    /// Returns the pauses that stop new turns now.
    pub fn holding(&self, now: UnixMicros) -> impl Iterator<Item = &PauseRow> {
        self.pauses.iter().filter(move |row| row.stops(now))
    }

    /// Returns the escalation that no person has decided yet, whether it holds or only tells.
    #[must_use]
    pub fn escalated(&self) -> Option<&PauseRow> {
        self.pauses.iter().find(|row| row.reason == PauseReason::Escalation)
    }
}
