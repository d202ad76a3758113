//! Which processes a sweep means: decided over a table of all processes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Process, Root, Sweep};
use crate::process::adopted;
use crate::run_id::{self, RunId};
use crate::{lock, proc};

#[cfg(test)]
mod tests;

/// What is known of one running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) parent: u32,
    pub(super) start_time: u64,
    /// Whether it is another user's: then it is not ended, and what is below it may be.
    pub(super) foreign: bool,
    /// Its run id, if it is this user's and has one.
    pub(super) run_id: Option<RunId>,
    /// Whether its environment says that it outlives who started it.
    pub(super) outlives: bool,
}

/// All running processes by their pids.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(pub(super) BTreeMap<u32, Row>);

/// Who looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Us {
    pub(super) pid: u32,
    /// Ourselves and our ancestors.
    pub(super) line: Vec<u32>,
    /// Children that we started; none of them is adopted. Nothing if we adopt nobody.
    pub(super) own: Option<BTreeSet<u32>>,
}

impl Table {
    pub(super) fn read() -> Self {
        let own: BTreeSet<u32> = proc::own_users_pids().into_iter().collect();
        let row = |pid: u32| {
            let stat = proc::stat(pid).filter(proc::Stat::runs)?;
            let foreign = !own.contains(&pid);
            let environ = (!foreign).then(|| run_id::environ(pid)).flatten();
            let environ = environ.unwrap_or_default();
            let row = Row {
                parent: stat.parent,
                start_time: stat.start_time,
                foreign,
                run_id: run_id::find_run_id(&environ),
                outlives: run_id::outlives(&environ),
            };
            // Its environment may be that of another who has the pid by now.
            (proc::start_time(pid) == Some(stat.start_time)).then_some((pid, row))
        };
        Self(proc::pids().filter_map(row).collect())
    }
}

/// Returns what is to be ended now.
pub(super) fn look(what: Sweep<'_>) -> Vec<Process> {
    let mut table = Table::read();
    let (pid, line) = (std::process::id(), proc::ourselves_and_ancestors());
    // After the table: a child in it that was just started is known as ours by now.
    let us = Us { pid, line, own: adopted::own_if_adopting() };
    let found = find(what, &us, &table);
    // They are few, mostly none, so that what they have open may be looked at.
    let holders = found.iter().filter(|process| holds_lock(process.pid));
    let holders: Vec<u32> = holders.map(|process| process.pid).collect();
    if holders.is_empty() {
        return found;
    }
    for (_, row) in table.0.iter_mut().filter(|(pid, _)| holders.contains(pid)) {
        row.outlives = true;
    }
    find(what, &us, &table)
}

/// Finds the roots and what is below them.
pub(super) fn find(what: Sweep<'_>, us: &Us, table: &Table) -> Vec<Process> {
    let is_left = |pid: u32, row: &Row| {
        us.line.contains(&pid)
            || row.outlives
            || row.run_id.as_ref().is_some_and(|run_id| !(what.ours)(run_id))
    };
    let is_root = |pid: u32, row: &Row| {
        what.roots.iter().any(|root| match root {
            Root::Marked => row.run_id.is_some(),
            Root::Adopted => {
                row.parent == us.pid && us.own.as_ref().is_some_and(|own| !own.contains(&pid))
            }
            Root::Recorded(known) => known.contains(&Process { pid, start_time: row.start_time }),
        })
    };
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (pid, row) in &table.0 {
        children.entry(row.parent).or_default().push(*pid);
    }
    let roots = table.0.iter().filter(|(pid, row)| is_root(**pid, row)).map(|(pid, _)| *pid);
    let mut open: Vec<u32> = roots.collect();
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(pid) = open.pop() {
        let Some(row) = table.0.get(&pid) else { continue };
        if is_left(pid, row) || !seen.insert(pid) {
            continue;
        }
        if !row.foreign {
            found.push(Process { pid, start_time: row.start_time });
        }
        open.extend(children.get(&pid).into_iter().flatten());
    }
    found.sort_unstable();
    found
}

/// Returns whether the process holds a Gangline lock of any installation: the file's name ends in
/// `lock`, and the process's name is in it.
fn holds_lock(pid: u32) -> bool {
    let locks = proc::open_files(pid).into_iter();
    let mut locks = locks.filter(|file| {
        file.file_name().is_some_and(|name| name.to_string_lossy().ends_with("lock"))
    });
    locks.any(|file| lock::is_held_by(&file, pid))
}
