//! Which agents of a configuration cannot run, and what about it is odd: the same for `up`, a hub
//! that reads the file again, and `config check`.

use std::{collections::BTreeMap, path::PathBuf};

use gangline_config::AgentConfig;
use gangline_core::{AgentName, shown};

use super::{Loaded, driven::Ordered};
use crate::failure::Failure;

#[cfg(test)]
mod tests;

/// An agent that is to run and cannot.
#[derive(Debug)]
pub(crate) struct Unfit {
    pub(crate) agent: AgentName,
    pub(crate) failure: Failure,
}

impl Loaded {
    /// Returns the agents that cannot run, in their order: with the backend that was ordered for
    /// each, else with the configured one. One whose ordered backend cannot run is not among them;
    /// see [`Self::ordered_in_vain`].
    pub(crate) fn unfit(&self, ordered: &Ordered) -> Vec<Unfit> {
        let each = self.enabled().filter_map(|agent| {
            let failure = self.fits(agent, ordered.contains_key(&agent.nick)).err()?;
            Some(Unfit { agent: agent.nick.clone(), failure })
        });
        each.collect()
    }

    fn fits(&self, agent: &AgentConfig, has_order: bool) -> Result<(), Failure> {
        self.has_servers(agent)?;
        let driven = self.driven(agent, None);
        if has_order {
            // Its configured backend does not matter, its folder does.
            return driven.map_or(Ok(()), |driven| driven.has_folder());
        }
        let driven = driven?;
        driven.can_run()?;
        driven.has_folder()
    }

    /// Makes sure that somebody can run, before anything starts; returns those that cannot. One bad
    /// agent does not stop the others.
    ///
    /// # Errors
    /// When there are agents that are to run, and none of them can.
    pub(crate) fn can_run(&self, ordered: &Ordered) -> Result<Vec<Unfit>, Failure> {
        let mut unfit = self.unfit(ordered);
        if unfit.is_empty() || unfit.len() < self.enabled().count() {
            return Ok(unfit);
        }
        let last = unfit.pop().map(|last| last.failure);
        unfit.iter().for_each(|unfit| unfit.failure.report());
        last.map_or(Ok(unfit), Err)
    }

    /// Returns what `up` would refuse, apart from agents: the address of the chat server.
    pub(crate) fn unfit_server(&self) -> Option<Failure> {
        let embedded = self.config.network.embedded;
        embedded.then(|| self.embedded_address().err()).flatten()
    }

    /// Returns a text for each folder that several agents work in.
    pub(crate) fn shared_folders(&self) -> Vec<String> {
        let mut folders: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
        for agent in self.enabled() {
            let folder = agent.directory.canonicalize().unwrap_or(agent.directory.clone());
            folders.entry(folder).or_default().push(agent.nick.as_str());
        }
        let shared = folders.into_iter().filter(|(_, nicks)| nicks.len() > 1);
        let told = |(folder, nicks): (PathBuf, Vec<&str>)| {
            format!(
                "{} work in the same directory, {}: each may overwrite the others' changes; \
                 `git worktree add` gives each its own",
                shown::listed(&nicks),
                folder.display()
            )
        };
        shared.map(told).collect()
    }
}
