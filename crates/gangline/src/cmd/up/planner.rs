//! What the hub keeps, by the configuration: at its start, and whenever it reads it again.

use gangline_config::{AgentConfig, Config, Server};
use gangline_hub::hub::{Listening, Plan, Refused};
use gangline_os::paths::Paths;

use super::Checked;
use crate::{
    cli::Global,
    configuration::{self, Loaded, access},
    failure::Failure,
    keep::Keep,
    store,
};

#[cfg(test)]
mod tests;

/// Makes plans of configurations.
pub(super) struct Planner {
    keep: Keep,
    paths: Paths,
    keeps_agents: bool,
    /// The configuration that the hub started with.
    first: Config,
    /// The configuration of the present plan.
    present: Loaded,
    /// Whether the state folder is the one that the configuration names.
    state_is_configured: bool,
    /// Whether a plan was made already: the next one is of the file as it is then.
    begun: bool,
}

impl Planner {
    pub(super) fn new(
        global: &Global,
        checked: Checked,
        keeps_agents: bool,
    ) -> Result<Self, Failure> {
        Ok(Self {
            keep: Keep::new(&checked.paths)?,
            paths: checked.paths,
            keeps_agents,
            state_is_configured: global.state.is_none(),
            first: checked.loaded.config.clone(),
            present: checked.loaded,
            begun: false,
        })
    }

    /// Returns what to keep. A configuration that cannot be run is refused as a whole, and the
    /// present one stays.
    pub(super) fn plan(&mut self, listening: &Listening) -> Result<Plan, Refused> {
        if !self.begun {
            self.begun = true;
            return self.made(&self.present, listening).map_err(refused);
        }
        let loaded = self.read().map_err(refused)?;
        let plan = self.made(&loaded, listening).map_err(refused)?;
        self.present = loaded;
        Ok(plan)
    }

    fn read(&self) -> Result<Loaded, Failure> {
        let loaded = configuration::load(&self.present.file)?;
        for warning in loaded.warnings() {
            tracing::warn!(warning, "of the new configuration");
        }
        let ordered = store::ordered(&self.paths);
        for unfit in loaded.can_run(&ordered)? {
            tracing::warn!(agent = %unfit.agent, why = unfit.failure.sentence(), "cannot run");
        }
        for failure in loaded.ordered_in_vain(&ordered) {
            tracing::warn!(why = failure.sentence(), "an agent cannot run as ordered");
        }
        let unapplied = self.unapplied(&loaded);
        if !unapplied.is_empty() {
            let sections = unapplied.join(", ");
            tracing::warn!(sections, "these changes take effect when the hub starts again");
        }
        Ok(loaded)
    }

    /// Returns the sections with changes that this hub cannot take over.
    fn unapplied(&self, loaded: &Loaded) -> Vec<&'static str> {
        let moved = self.state_is_configured && self.first.state != loaded.config.state;
        let changed = unapplied(&self.first, &loaded.config);
        changed.into_iter().chain(moved.then_some("state")).collect()
    }

    fn made(&self, loaded: &Loaded, listening: &Listening) -> Result<Plan, Failure> {
        let agents: Vec<&AgentConfig> = loaded.enabled().collect();
        agents.iter().try_for_each(|agent| self.keep.prepare(agent))?;
        let daemon = |agent: &&AgentConfig| self.keep.daemon(agent, loaded, &listening.irc);
        Ok(Plan {
            kept: if self.keeps_agents { agents.iter().map(daemon).collect() } else { Vec::new() },
            configured: loaded.config.agents.iter().map(|agent| agent.nick.clone()).collect(),
            accounts: agents.iter().map(|agent| agent.nick.clone()).collect(),
            access: access::access(&loaded.config),
            alerts: configuration::alerts::plan(loaded),
            unapplied: self.unapplied(loaded),
        })
    }
}

/// Returns the sections whose changes a running hub cannot take over.
fn unapplied(old: &Config, new: &Config) -> Vec<&'static str> {
    // `guests` and `rooms` take effect at once.
    let place = |server: &Server| (server.name.clone(), server.host.clone(), server.port);
    let sections = [
        ("server", place(&old.server) != place(&new.server)),
        ("network", old.network != new.network),
        ("http", old.http != new.http),
    ];
    sections.into_iter().filter_map(|(name, changed)| changed.then_some(name)).collect()
}

fn refused(failure: Failure) -> Refused {
    Refused(failure.text())
}
