//! What a daemon records of its descendants, so that its successor finds those of a daemon that was
//! killed: without it they are adopted by somebody else, and nothing tells any more whose they were.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Process;
use crate::{fsio, proc};

#[cfg(test)]
mod tests;

/// Names this boot: a pid and a start time name a process only within one.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// The most that is read, in bytes: some ten thousand processes.
const RECORD_MAX: u64 = 256 * 1024;

/// The file of the descendants of this process.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    written: Option<BTreeSet<Process>>,
}

impl Record {
    /// Returns a record that is not written yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, written: None }
    }

    /// Writes which descendants this process has now, if they are others than before: one small read for
    /// each process of the machine. Nothing is synced, since a restart of the machine ends them all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn renew(&mut self) -> io::Result<()> {
        let Some(boot) = boot() else { return Ok(()) };
        let now = below(std::process::id(), &parents());
        if self.written.as_ref() == Some(&now) {
            return Ok(());
        }
        let lines = now.iter().map(|process| format!("{} {}\n", process.pid, process.start_time));
        let text: String = std::iter::once(format!("{boot}\n")).chain(lines).collect();
        fsio::write_private_unsynced(&self.path, text.as_bytes())?;
        self.written = Some(now);
        Ok(())
    }
}

/// Returns what was recorded in this boot; nothing without a file.
#[must_use]
pub fn read(path: &Path) -> Vec<Process> {
    let text = fsio::read_text_capped(path, RECORD_MAX).unwrap_or_default();
    parse(&text, boot().as_deref())
}

fn parse(text: &str, boot: Option<&str>) -> Vec<Process> {
    let mut lines = text.lines();
    if boot.is_none() || lines.next() != boot {
        return Vec::new();
    }
    let process = |line: &str| {
        let (pid, start_time) = line.split_once(' ')?;
        Some(Process { pid: pid.parse().ok()?, start_time: start_time.parse().ok()? })
    };
    lines.filter_map(process).collect()
}

fn boot() -> Option<String> {
    Some(fs::read_to_string(BOOT_ID).ok()?.trim().to_owned())
}

/// Returns all running processes with their parents.
fn parents() -> BTreeMap<Process, u32> {
    let row = |pid: u32| {
        let stat = proc::stat(pid).filter(proc::Stat::runs)?;
        Some((Process { pid, start_time: stat.start_time }, stat.parent))
    };
    proc::pids().filter_map(row).collect()
}

/// Returns all that descends from a process.
fn below(pid: u32, parents: &BTreeMap<Process, u32>) -> BTreeSet<Process> {
    let mut known = BTreeSet::from([pid]);
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for (process, parent) in parents {
            if process.pid != pid && known.contains(parent) {
                known.insert(process.pid);
                found.insert(*process);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
