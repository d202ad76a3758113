//! What is left of an agent's programs is ended: at the start what a dead daemon left, at the end what
//! this one's programs left.

use std::{path::PathBuf, time::Duration};

use gangline_core::{AgentName, Epoch};
use gangline_os::{
    run_id::RunId,
    sweep::{
        self, Root, Sweep,
        record::{self, Record},
    },
};
use gangline_store::Store;
use tracing::info;

use crate::settings::Settings;

/// What is left of programs gets this long between TERM and KILL.
const GRACE: Duration = Duration::from_secs(3);
/// The file in the agent's folder that names its running programs.
const RECORD: &str = "processes";

/// Ends what is left of one agent's programs.
pub(super) struct Sweeper {
    installation: String,
    agent: AgentName,
    epoch: Epoch,
    record: PathBuf,
}

impl Sweeper {
    pub(super) fn new(settings: &Settings, store: &Store, epoch: Epoch) -> Self {
        let agent = settings.agent.nick.clone();
        let record = settings.paths.agent_dir(agent.as_str()).join(RECORD);
        Self { installation: store.installation_id().to_owned(), agent, epoch, record }
    }

    /// Returns the record of the programs that run, for a successor.
    pub(super) fn record(&self) -> Record {
        Record::new(self.record.clone())
    }

    /// Ends what a predecessor left running, before its session is gone on with; returns whether all
    /// of it has ended.
    pub(super) async fn left_by_a_predecessor(&self) -> bool {
        let recorded = record::read(&self.record);
        let roots = [Root::Marked, Root::Recorded(&recorded)];
        let older = |found: &RunId| self.is_agents(found) && found.epoch < self.epoch.0;
        sweep(Sweep { ours: &older, roots: &roots }, "swept what an earlier daemon left").await
    }

    /// Ends what this daemon's programs left running.
    pub(super) async fn left_at_the_end(&self) {
        let roots = [Root::Marked, Root::Adopted];
        let ours = |found: &RunId| self.is_agents(found) && found.epoch <= self.epoch.0;
        sweep(Sweep { ours: &ours, roots: &roots }, "swept what was left at the end").await;
    }

    fn is_agents(&self, found: &RunId) -> bool {
        found.installation == self.installation && found.nick() == self.agent.as_str()
    }
}

/// Sweeps; returns whether all has ended.
async fn sweep(what: Sweep<'_>, done: &str) -> bool {
    let report = sweep::sweep(what, GRACE).await;
    if !report.is_empty() {
        info!(
            ended = report.ended.len(),
            killed = report.killed.len(),
            left = report.left.len(),
            done
        );
    }
    report.left.is_empty()
}
