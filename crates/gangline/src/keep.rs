//! The processes that a hub of this program keeps: this program again, with other arguments.

use std::{
    ffi::OsString,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

use gangline_config::{AgentConfig, Config, Environment};
use gangline_hub::kept::Kept;
use gangline_os::{
    fsio,
    paths::Paths,
    process::{Group, Output, Spawn, Stdin, base_env},
};

use crate::{
    configuration::{Loaded, servers},
    failure::Failure,
    logging, program,
};

#[cfg(test)]
mod tests;

/// A log that is larger when a hub starts makes room; one older one is kept.
const LOG_MAX: u64 = 16 * 1024 * 1024;
/// Names the file of the model, as hyperhive's containers do (R2-04).
pub(crate) const MODEL_FILE: &str = "HYPERHIVE_MODEL_FILE";

/// What all kept processes have in common.
#[derive(Debug, Clone)]
pub(crate) struct Keep {
    program: PathBuf,
    paths: Paths,
}

impl Keep {
    /// Returns a maker of processes that use these paths.
    pub(crate) fn new(paths: &Paths) -> Result<Self, Failure> {
        Ok(Self { program: program::path()?, paths: paths.clone() })
    }

    /// Returns the program that is started.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Makes the folder of an agent, with room in its log.
    pub(crate) fn prepare(&self, agent: &AgentConfig) -> Result<(), Failure> {
        let folder = self.paths.agent_dir(agent.nick.folded());
        fsio::private_dir(&folder).map_err(Failure::environment)?;
        make_room(&self.daemon_log(agent))
    }

    /// Returns the daemon of an agent.
    pub(crate) fn daemon(&self, agent: &AgentConfig, loaded: &Loaded, irc: &str) -> Kept {
        let config = &loaded.config;
        let args: Vec<OsString> = [
            "daemon".as_ref(),
            agent.nick.as_str().as_ref(),
            "--state".as_ref(),
            self.paths.state.as_os_str(),
            "--config".as_ref(),
            self.paths.config_file.as_os_str(),
            "--irc".as_ref(),
            irc.as_ref(),
        ]
        .map(OsString::from)
        .to_vec();
        let password = config.network.sasl.as_ref().map(|sasl| sasl.password_env.as_str());
        let servers = servers::variables(agent);
        // Which backend it has is decided when it starts: the key of any may be needed.
        let keys = loaded.registry.at(&agent.directory).list();
        let keys = keys.iter().filter_map(|found| found.api_key_env.as_deref());
        let variables = agent.api_key_env.as_deref().into_iter().chain(password).chain(servers);
        let variables = variables.chain(keys);
        Kept {
            name: agent.nick.to_string(),
            agent: Some(agent.nick.clone()),
            spawn: self.spawn(args, &self.daemon_log(agent), environment(variables)),
            lock: self.paths.agent_lock(agent.nick.folded()),
            settings: settings(agent, config, irc),
        }
    }

    /// Returns the stand-in model on this port, which outlives the agent that asks it, and makes
    /// room in its log.
    pub(crate) fn standin(&self, port: u16, of: &AgentConfig) -> Result<Kept, Failure> {
        let lock = standin_lock(&self.paths);
        let log = self.paths.state.join("standin.log");
        make_room(&log)?;
        let listen = format!("127.0.0.1:{port}");
        let (outlive, hub) = (self.paths.agent_lock(of.nick.folded()), self.paths.hub_lock());
        let args: Vec<OsString> = [
            "standin".as_ref(),
            "serve".as_ref(),
            "--listen".as_ref(),
            listen.as_ref(),
            "--lock".as_ref(),
            lock.as_os_str(),
            "--outlive".as_ref(),
            outlive.as_os_str(),
            // A hub that was killed asks nobody to end.
            "--needed-by".as_ref(),
            outlive.as_os_str(),
            "--needed-by".as_ref(),
            hub.as_os_str(),
        ]
        .map(OsString::from)
        .to_vec();
        let spawn = self.spawn(args, &log, environment(std::iter::empty()));
        Ok(Kept { name: "standin".to_owned(), agent: None, spawn, lock, settings: 0 })
    }

    /// Returns the file that an agent's daemon logs to.
    pub(crate) fn daemon_log(&self, agent: &AgentConfig) -> PathBuf {
        self.paths.agent_dir(agent.nick.folded()).join("daemon.log")
    }

    fn spawn(&self, args: Vec<OsString>, log: &Path, env: Vec<(OsString, OsString)>) -> Spawn {
        Spawn {
            program: self.program.clone(),
            args,
            cwd: self.paths.state.clone(),
            env,
            stdin: Stdin::Null,
            stdout: Output::File(log.to_owned()),
            stderr: Output::File(log.to_owned()),
            group: Group::Session,
        }
    }
}

/// Returns the lock that the demo's stand-in holds.
pub(crate) fn standin_lock(paths: &Paths) -> PathBuf {
    paths.state.join("standin.lock")
}

/// Returns a number that differs when a daemon would be configured differently: by all that it reads when it
/// starts. Addresses of webhooks are not among it: the hub posts there.
fn settings(agent: &AgentConfig, config: &Config, irc: &str) -> u64 {
    let hooks = agent.hooks.as_ref().or(config.hooks.as_ref());
    let own = (agent, hooks, config.sleep_of(agent), config.budgets_of(agent));
    let limits = (&config.watchdogs, config.turns_per_cause, config.buffer_size);
    let alerts = (&config.alerts, &config.webhooks.irc_channel);
    let shared = (&config.network, &config.mcp, &config.supervisor, &config.prices, limits, alerts);
    let mut hasher = DefaultHasher::new();
    format!("{own:?} {shared:?} {irc}").hash(&mut hasher);
    hasher.finish()
}

/// Returns what every child may have, our own switches, and the variables that are named.
fn environment<'a>(named: impl Iterator<Item = &'a str>) -> Vec<(OsString, OsString)> {
    const OURS: [&str; 3] = ["GANGLINE_FAILPOINTS", logging::VARIABLE, MODEL_FILE];
    let mut env = base_env();
    for name in OURS.into_iter().chain(Environment::VARIABLES).chain(named) {
        if let Some(value) = std::env::var_os(name) {
            env.retain(|(known, _)| known != name);
            env.push((name.into(), value));
        }
    }
    // One heap instead of one for each of a daemon's few threads: 0.3 MB of every daemon.
    env.push(("MALLOC_ARENA_MAX".into(), "1".into()));
    env
}

/// Moves a log aside that has grown large.
pub(crate) fn make_room(log: &Path) -> Result<(), Failure> {
    if !std::fs::metadata(log).is_ok_and(|about| about.len() > LOG_MAX) {
        return Ok(());
    }
    std::fs::rename(log, log.with_extension("log.1")).map_err(|error| {
        Failure::environment(error).doing(format!("cannot move {} aside", log.display()))
    })
}
