//! The run id: an environment variable that all children carry, by which they are found.
//!
//! Linux only (`/proc/<pid>/environ`); elsewhere nothing is found. Not found either: a process that
//! was started without its parent's environment, that wrote over it, or that runs as another user.
//! [`crate::descent`] and [`crate::sweep`] also know a process by its parents.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::str::FromStr;

use thiserror::Error;

use crate::proc;

#[cfg(test)]
mod tests;

/// The variable that holds the run id.
pub const RUN_ID: &str = "GANGLINE_RUN";

/// The variable that names the agent that started a process which outlives it, such as a hub: it was
/// started anew without the run id.
pub const STARTED_BY: &str = "GANGLINE_STARTED_BY";

/// An environment is read at once up to so many bytes, and grows the buffer beyond.
const ENVIRON_USUAL: usize = 16 * 1024;

/// What stands behind an agent's nick in the run id of its hooks. No nick has it in it.
const HOOK: &str = ":hook";

/// The same of its supervisor.
const SUPERVISOR: &str = ":supervisor";

/// Whose child a process is: `<installation>/<agent>/<epoch>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    /// The installation's id; holds no slash.
    pub installation: String,
    /// The agent's nick, `<nick>:hook` for a hook of it, or `<nick>:supervisor` for its supervisor; holds
    /// no slash.
    pub agent: String,
    /// The agent's epoch when the process was started.
    pub epoch: i64,
}

impl RunId {
    /// Returns the run id of the agent's hooks: what a backend leaves behind is ended by the run id that
    /// is its own, and a hook may run at that time.
    #[must_use]
    pub fn of_hooks(&self) -> Self {
        Self { agent: format!("{}{HOOK}", self.nick()), ..self.clone() }
    }

    /// Returns the run id of the agent's supervisor: its processes are ended by their own run id, and
    /// nothing of them speaks for the agent.
    #[must_use]
    pub fn of_supervisor(&self) -> Self {
        Self { agent: format!("{}{SUPERVISOR}", self.nick()), ..self.clone() }
    }

    /// Returns whether it is that of the agent's backend: neither of a hook nor of the supervisor.
    #[must_use]
    pub fn is_backends(&self) -> bool {
        self.nick() == self.agent
    }

    /// Returns the agent's nick, also of a hook or of the supervisor.
    #[must_use]
    pub fn nick(&self) -> &str {
        let agent = self.agent.as_str();
        agent.strip_suffix(HOOK).or_else(|| agent.strip_suffix(SUPERVISOR)).unwrap_or(agent)
    }

    /// Returns the environment variable for a child.
    #[must_use]
    pub fn variable(&self) -> (OsString, OsString) {
        (RUN_ID.into(), self.to_string().into())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.installation, self.agent, self.epoch)
    }
}

/// A text is no run id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not of the form installation/agent/epoch")]
pub struct NotARunId(String);

impl FromStr for RunId {
    type Err = NotARunId;

    fn from_str(text: &str) -> Result<Self, NotARunId> {
        let error = || NotARunId(text.to_owned());
        let [installation, agent, epoch] = text.split('/').collect::<Vec<_>>()[..] else {
            return Err(error());
        };
        if installation.is_empty() || agent.is_empty() {
            return Err(error());
        }
        let epoch = epoch.parse().map_err(|_| error())?;
        Ok(Self { installation: installation.to_owned(), agent: agent.to_owned(), epoch })
    }
}

/// A running process that carries a run id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProcess {
    /// Its pid.
    pub pid: u32,
    /// Its run id.
    pub run_id: RunId,
    /// Its start time in clock ticks; names the process for good together with the pid.
    pub start_time: u64,
}

/// Returns this user's running processes that carry a run id of this installation; never ourselves.
#[must_use]
pub fn run_processes(installation: &str) -> Vec<RunProcess> {
    let us = std::process::id();
    let pids = proc::own_users_pids().into_iter().filter(|pid| *pid != us);
    let found = pids.filter_map(run_process);
    found.filter(|found| found.run_id.installation == installation).collect()
}

/// Returns the run id that a process of this user carries, if it carries one.
#[must_use]
pub fn of(pid: u32) -> Option<RunId> {
    find_run_id(&environ(pid)?)
}

/// Returns the environment that a process of this user was started with, in the system's form.
pub(crate) fn environ(pid: u32) -> Option<Vec<u8>> {
    let mut environ = Vec::with_capacity(ENVIRON_USUAL);
    let mut file = File::open(format!("/proc/{pid}/environ")).ok()?;
    file.read_to_end(&mut environ).ok()?;
    Some(environ)
}

/// Returns whether an environment says that its process outlives the agent that started it.
pub(crate) fn outlives(environ: &[u8]) -> bool {
    let value = variable(environ, STARTED_BY);
    value.is_some_and(|value| !value.is_empty()) && find_run_id(environ).is_none()
}

fn run_process(pid: u32) -> Option<RunProcess> {
    let start_time = proc::start_time(pid)?;
    let run_id = of(pid)?;
    proc::alive(pid, start_time).then_some(RunProcess { pid, run_id, start_time })
}

/// Finds the run id among variables that end with NUL. The first counts, as in `getenv`.
pub(crate) fn find_run_id(environ: &[u8]) -> Option<RunId> {
    std::str::from_utf8(variable(environ, RUN_ID)?).ok()?.parse().ok()
}

fn variable<'a>(environ: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let value = |entry: &'a [u8]| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
    environ.split(|byte| *byte == 0).find_map(value)
}
