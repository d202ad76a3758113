//! Descent: which agent's daemon a process comes from, by the line of its parents.
//!
//! A daemon is the subreaper of all that it starts, so for as long as it runs the line of parents
//! leads to it from each of these processes, whatever environment and session they have. Linux only:
//! elsewhere nothing is known of anybody. No sandbox either: who has something else start a process
//! (`at`, a service manager, a container, a terminal server that ran before) is not its parent.
//! Start at [`owner`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::run_id::{self, RunId};
use crate::{lock, proc};

#[cfg(test)]
mod tests;

/// A line of parents that is longer ends here.
const LINE_MAX: usize = 256;

/// Whose processes are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// Its state folder.
    pub state: PathBuf,
    /// Its id, which run ids have; without it no run id counts.
    pub id: Option<String>,
}

/// What of an agent a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its backend's, such as its shell: it may speak for the agent.
    Backend,
    /// A hook's or the supervisor's, by its run id.
    Beside,
}

/// The agent that a process belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its nick, folded.
    pub nick: String,
    /// What the process is of it.
    pub part: Part,
}

/// What a process is that holds a lock of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The daemon of the agent with this nick.
    Daemon(String),
    /// The hub.
    Hub,
}

/// What is known of processes. One of a test is a table.
pub(crate) trait Processes {
    fn parent(&self, pid: u32) -> Option<u32>;
    fn holder(&self, pid: u32) -> Option<Holder>;
    fn run_id(&self, pid: u32) -> Option<RunId>;
}

/// Returns which agent a process belongs to: by its daemon, which is one of its ancestors, else by a run
/// id. None for people's processes, other programs', the daemons and the hub themselves. Reads a few
/// small files for each ancestor.
#[must_use]
pub fn owner(pid: u32, of: &Installation) -> Option<Owner> {
    decide(pid, of.id.as_deref(), &System::new(&of.state))
}

/// The nearest daemon or hub decides: a hub that an agent's shell started is everybody's, and what is
/// below it is not that agent's.
pub(crate) fn decide(
    pid: u32,
    installation: Option<&str>,
    known: &impl Processes,
) -> Option<Owner> {
    let mut line = Vec::new();
    let mut daemon = None;
    let mut at = Some(pid);
    while let Some(pid) = at.filter(|pid| *pid != 0 && line.len() < LINE_MAX) {
        if line.contains(&pid) {
            break;
        }
        match known.holder(pid) {
            Some(Holder::Daemon(_)) if line.is_empty() => return None,
            Some(Holder::Daemon(nick)) => {
                daemon = Some(nick);
                break;
            }
            Some(Holder::Hub) => break,
            None => {}
        }
        line.push(pid);
        at = known.parent(pid);
    }
    let ours = |run_id: &RunId| match &daemon {
        Some(nick) => run_id.nick().eq_ignore_ascii_case(nick),
        None => Some(run_id.installation.as_str()) == installation,
    };
    let mark = line.into_iter().find_map(|pid| known.run_id(pid).filter(ours));
    let part = match mark.as_ref().is_none_or(RunId::is_backends) {
        true => Part::Backend,
        false => Part::Beside,
    };
    let marked = mark.map(|run_id| run_id.nick().to_lowercase());
    daemon.or(marked).map(|nick| Owner { nick, part })
}

/// The system's own processes, and one installation's locks.
struct System {
    agents: PathBuf,
    hub: PathBuf,
}

impl System {
    fn new(state: &Path) -> Self {
        // The system tells open files by their real paths.
        let state = fs::canonicalize(state).unwrap_or_else(|_| state.to_owned());
        Self { agents: state.join("agents"), hub: state.join("hub.lock") }
    }
}

impl Processes for System {
    fn parent(&self, pid: u32) -> Option<u32> {
        proc::stat(pid).map(|stat| stat.parent)
    }

    /// By the locks that it holds: everybody may open such a file, and only the holder has its name in it.
    fn holder(&self, pid: u32) -> Option<Holder> {
        proc::open_files(pid).into_iter().find_map(|file| {
            let holder = if file == self.hub {
                Holder::Hub
            } else {
                let folder = file.strip_prefix(&self.agents).ok()?.parent()?;
                let is_lock = file.file_name()? == "lock" && folder.components().count() == 1;
                Holder::Daemon(folder.to_str().filter(|_| is_lock)?.to_owned())
            };
            lock::is_held_by(&file, pid).then_some(holder)
        })
    }

    fn run_id(&self, pid: u32) -> Option<RunId> {
        run_id::of(pid)
    }
}
