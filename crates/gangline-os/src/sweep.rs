//! The sweep: ends what a program or a daemon left running, found by its run id or by its parents.
//!
//! By its parents means: a process that this one has adopted as the subreaper of all that it started, one
//! that a daemon recorded before it was killed, and everything below what is found either way. Linux
//! only; elsewhere nothing is found. Start at [`sweep`]; which processes are meant is decided in
//! `sweep/found.rs`, what a daemon records is in [`record`].

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use tokio::time::{sleep as pause, timeout};

use crate::kill::Signal;
use crate::proc;
use crate::run_id::RunId;

mod found;
pub mod record;
#[cfg(test)]
mod tests;

/// How often a sweep looks.
const LOOK: Duration = Duration::from_millis(20);
/// How long a sweep goes on killing.
const KILLED_WAIT: Duration = Duration::from_secs(5);

/// A process, named for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process {
    /// Its pid.
    pub pid: u32,
    /// Its start time in clock ticks since boot.
    pub start_time: u64,
}

/// Where a sweep begins to look.
#[derive(Clone, Copy, Debug)]
pub enum Root<'a> {
    /// At every process of this user that carries a run id which is swept.
    Marked,
    /// At the orphans that this process has adopted: children of it that it did not start. None if it
    /// is not a subreaper.
    Adopted,
    /// At these, as far as they still run.
    Recorded(&'a [Process]),
}

/// What a sweep ends: the processes at its roots, and all below them.
///
/// Left alone, with all below: who carries a run id that is not swept, who outlives the agent that
/// started it (as a hub does) or holds a Gangline lock, and this process and its ancestors.
#[derive(Clone, Copy)]
pub struct Sweep<'a> {
    /// Whether processes with this run id are swept. Those of *every* installation are asked about.
    pub ours: &'a (dyn Fn(&RunId) -> bool + Sync),
    /// Where it begins.
    pub roots: &'a [Root<'a>],
}

/// What a sweep did. Each process stands in one list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Gone after TERM.
    pub ended: Vec<Process>,
    /// Gone after KILL.
    pub killed: Vec<Process>,
    /// Still there: the system holds them or refuses the signal.
    pub left: Vec<Process>,
}

impl Report {
    /// Returns whether there was nothing to end.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Ends this user's processes that [`Sweep`] means: TERM, after `grace` KILL, until none is left (five
/// seconds of killing at most). What they start meanwhile is ended too.
///
/// Cancel-safe: yes; another call goes on with those that are left.
pub async fn sweep(what: Sweep<'_>, grace: Duration) -> Report {
    let look = || found::look(what);
    let mut termed = BTreeMap::new();
    let mut killed = BTreeMap::new();
    let mut left = Vec::new();
    // A look costs a read for each process of this user: none is taken once nothing was found.
    if timeout(grace, end_all(&look, Signal::Term, &mut termed)).await.is_err() {
        let _ = timeout(KILLED_WAIT, end_all(&look, Signal::Kill, &mut killed)).await;
        left = look();
    }
    termed.retain(|process, ()| !killed.contains_key(process));
    let gone = |met: BTreeMap<Process, ()>| {
        met.into_keys().filter(|process| !left.contains(process)).collect()
    };
    Report { ended: gone(termed), killed: gone(killed), left }
}

/// Signals whatever `look` finds until it finds nothing twice in a row: a process that is just
/// being replaced by another program has no environment to read.
async fn end_all(
    look: &impl Fn() -> Vec<Process>,
    signal: Signal,
    met: &mut BTreeMap<Process, ()>,
) {
    let mut empty = 0;
    loop {
        let found = look();
        empty = if found.is_empty() { empty + 1 } else { 0 };
        if empty == 2 {
            return;
        }
        for found in found {
            if let Entry::Vacant(new) = met.entry(found) {
                tell(found, signal);
                new.insert(());
            }
        }
        pause(LOOK).await;
    }
}

fn tell(Process { pid, start_time }: Process, signal: Signal) {
    tracing::debug!(pid, ?signal, "sweeping");
    if let Err(error) = proc::signal_exact(pid, start_time, signal) {
        tracing::warn!(pid, %error, "cannot signal a process that was left");
    }
    if signal == Signal::Term {
        let _ = proc::signal_exact(pid, start_time, Signal::Cont);
    }
}
