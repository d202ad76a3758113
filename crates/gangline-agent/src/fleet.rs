//! The other agents of the installation, for a manager: who they are by the present configuration, who
//! runs, and what one was started with that is another now.

use std::collections::BTreeMap;

use gangline_config::{Config, MAX_CONFIG_BYTES};
use gangline_core::AgentName;
use gangline_os::{
    change_notice, fsio,
    lock::{self, Holder},
    paths::Paths,
    proc,
};
use gangline_store::{Applied, Store, StoreError};

/// The manager itself, as hyperhive calls it (R2-37).
pub(crate) const MANAGER: &str = "hm1nd";

/// What an agent's daemon was started with that is another now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// Its part of the configuration.
    Configuration,
    /// The program.
    Program,
}

/// What the configuration is for each agent, by its mark.
pub(crate) type Marks = BTreeMap<AgentName, String>;

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Fleet {
    pub(crate) paths: Paths,
    pub(crate) store: Store,
    pub(crate) me: AgentName,
}

impl Fleet {
    /// Reads the present configuration.
    pub(crate) fn config(&self) -> Result<Config, String> {
        self.parsed(&self.text()?)
    }

    pub(crate) fn text(&self) -> Result<String, String> {
        let file = &self.paths.config_file;
        fsio::read_foreign_text(file, MAX_CONFIG_BYTES as u64)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))
    }

    pub(crate) fn parsed(&self, text: &str) -> Result<Config, String> {
        let parsed = gangline_config::parse(text, &self.paths.config_file.display().to_string());
        parsed.map_err(|error| format!("the configuration cannot be used: {error}"))
    }

    /// Returns the agent of this installation that is meant: by its nick, by what stands in it behind
    /// the server's name, or `hm1nd` for the manager itself.
    pub(crate) fn meant(&self, config: &Config, name: &str) -> Result<AgentName, String> {
        let name = name.trim().trim_start_matches('@').to_lowercase();
        if name == MANAGER {
            return Ok(self.me.clone());
        }
        let all = || config.agents.iter().map(|agent| &agent.nick);
        let found = all().find(|nick| nick.folded() == name);
        if let Some(found) =
            found.or_else(|| all().find(|nick| nick.short().to_lowercase() == name))
        {
            return Ok(found.clone());
        }
        let known: Vec<&str> = all().map(AgentName::as_str).collect();
        Err(format!("there is no agent `{name}` here, only {}", known.join(", ")))
    }

    /// Returns who holds the agent's lock: its daemon, if it runs.
    pub(crate) fn holder(&self, agent: &AgentName) -> Result<Option<Holder>, String> {
        lock::probe(&self.paths.agent_lock(agent.folded()))
            .map_err(|error| format!("cannot tell whether {agent} runs: {error}"))
    }

    /// Returns what names the process of an agent's daemon for good; nothing if none runs.
    pub(crate) fn running(&self, agent: &AgentName) -> String {
        let holder = self.holder(agent).ok().flatten().unwrap_or_default();
        let (pid, start) = (holder.pid.unwrap_or(0), holder.start_time.unwrap_or(0));
        format!("{pid}-{start}")
    }

    /// Returns whether a hub runs, which follows orders.
    pub(crate) fn has_hub(&self) -> bool {
        matches!(lock::probe(&self.paths.hub_lock()), Ok(Some(_)))
    }

    /// Lets the hub look at what was ordered.
    pub(crate) fn notify_hub(&self) {
        change_notice::notify(&self.paths.change_notice("hub"));
    }

    /// Returns what is new for a daemon that runs; `None` if nothing is. One that an older version
    /// started is not known to be configured otherwise.
    pub(crate) fn news(
        &self,
        agent: &AgentName,
        (marks, applied): (&Marks, &[Applied]),
    ) -> Result<Option<News>, String> {
        let Some(holder) = self.holder(agent)? else { return Ok(None) };
        let known = applied.iter().find(|it| it.agent == *agent);
        let now = marks.get(agent);
        if known.zip(now).is_some_and(|(known, now)| known.mark != *now) {
            return Ok(Some(News::Configuration));
        }
        let replaced = holder.pid.and_then(proc::was_replaced).unwrap_or(false);
        Ok(replaced.then_some(News::Program))
    }

    /// Returns what daemons were started with.
    pub(crate) async fn applied(&self) -> Result<Vec<Applied>, StoreError> {
        self.store.applied().await
    }
}
