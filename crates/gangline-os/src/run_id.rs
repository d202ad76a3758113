//! The run id: an environment variable that all children carry, and the sweep that finds by it what
//! a dead daemon left behind.
//!
//! Linux only (`/proc/<pid>/environ`); elsewhere nothing is found. Not found either: a process that
//! was started without its parent's environment, that wrote over it, or that runs as another user.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;
use tokio::time::{sleep, timeout};

use crate::kill::Signal;
use crate::proc;

#[cfg(test)]
mod tests;

/// The variable that holds the run id.
pub const RUN_ID: &str = "GANGLINE_RUN";

/// How often a sweep looks.
const LOOK: Duration = Duration::from_millis(20);

/// An environment is read at once up to so many bytes, and grows the buffer beyond.
const ENVIRON_USUAL: usize = 16 * 1024;

/// How long a sweep goes on killing.
const KILLED_WAIT: Duration = Duration::from_secs(5);

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

/// What a sweep did. Each process stands in one list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Gone after TERM.
    pub ended: Vec<RunProcess>,
    /// Gone after KILL.
    pub killed: Vec<RunProcess>,
    /// Still there: the system holds them or refuses the signal.
    pub left: Vec<RunProcess>,
}

/// Returns this user's running processes that carry a run id of this installation; never ourselves.
#[must_use]
pub fn run_processes(installation: &str) -> Vec<RunProcess> {
    let mut found = all_run_processes();
    found.retain(|found| found.run_id.installation == installation);
    found
}

/// Returns the run id that a process of this user carries, if it carries one.
#[must_use]
pub fn of(pid: u32) -> Option<RunId> {
    let mut environ = Vec::with_capacity(ENVIRON_USUAL);
    let mut file = File::open(format!("/proc/{pid}/environ")).ok()?;
    file.read_to_end(&mut environ).ok()?;
    find_run_id(&environ)
}

fn all_run_processes() -> Vec<RunProcess> {
    let us = std::process::id();
    proc::own_users_pids().into_iter().filter(|pid| *pid != us).filter_map(run_process).collect()
}

fn run_process(pid: u32) -> Option<RunProcess> {
    let start_time = proc::start_time(pid)?;
    let run_id = of(pid)?;
    proc::alive(pid, start_time).then_some(RunProcess { pid, run_id, start_time })
}

/// Finds the run id among variables that end with NUL. The first counts, as in `getenv`.
fn find_run_id(environ: &[u8]) -> Option<RunId> {
    let prefix = [RUN_ID.as_bytes(), b"="].concat();
    let value = environ.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(&*prefix))?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Ends this user's process with a run id for which `keep` says no: TERM, after `grace` KILL, until none
/// is left (five seconds of killing at most). What they start meanwhile is ended too.
///
/// Sees the processes of *every* installation, so `keep` has to say yes to those of others and to
/// holders of a Gangline lock. Ourselves and our ancestors are always kept.
///
/// Cancel-safe: yes; another call goes on with those that are left.
pub async fn sweep(keep: impl Fn(&RunProcess) -> bool, grace: Duration) -> SweepReport {
    let spared = proc::ourselves_and_ancestors();
    let look = || {
        let mut found = all_run_processes();
        found.retain(|found| !spared.contains(&found.pid) && !keep(found));
        found
    };
    let mut termed = BTreeMap::new();
    let mut killed = BTreeMap::new();
    let mut left = Vec::new();
    // A look costs a read for each process of this user: none is taken once nothing was found.
    if timeout(grace, end_all(&look, Signal::Term, &mut termed)).await.is_err() {
        let _ = timeout(KILLED_WAIT, end_all(&look, Signal::Kill, &mut killed)).await;
        left = look();
    }
    termed.retain(|key, _| !killed.contains_key(key));
    let gone = |met: BTreeMap<(u32, u64), RunProcess>| {
        met.into_values().filter(|met| !left.contains(met)).collect()
    };
    SweepReport { ended: gone(termed), killed: gone(killed), left }
}

/// Signals whatever `look` finds until it finds nothing twice in a row: a process that is just
/// being replaced by another program has no environment to read.
async fn end_all(
    look: &impl Fn() -> Vec<RunProcess>,
    signal: Signal,
    met: &mut BTreeMap<(u32, u64), RunProcess>,
) {
    let mut empty = 0;
    while empty < 2 {
        let found = look();
        empty = if found.is_empty() { empty + 1 } else { 0 };
        for found in found {
            if let Entry::Vacant(new) = met.entry((found.pid, found.start_time)) {
                tell(&found, signal);
                new.insert(found);
            }
        }
        sleep(LOOK).await;
    }
}

fn tell(found: &RunProcess, signal: Signal) {
    let RunProcess { pid, run_id, start_time } = found;
    tracing::debug!(pid, %run_id, ?signal, "sweeping");
    let sent = proc::signal_exact(*pid, *start_time, signal);
    if let Err(error) = sent {
        tracing::warn!(pid, %run_id, %error, "cannot signal a process with a run id");
    }
    if signal == Signal::Term {
        let _ = proc::signal_exact(*pid, *start_time, Signal::Cont);
    }
}
