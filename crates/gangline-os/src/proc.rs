//! What the system knows of a process: start time, state, group, memory, processor time.
//!
//! Reads `/proc`. Where there is none, everything is unknown (`None`, empty), and [`alive`] asks by
//! a null signal.

use std::{fs, io, os::unix::fs::MetadataExt, path::PathBuf};

use nix::unistd::{Uid, getpid};

use crate::exit::Exit;
use crate::kill::Signal;

pub use ending::Ending;

mod ending;
#[cfg(test)]
mod tests;

/// The fields of `/proc/<pid>/stat` that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// The group that its terminal belongs to; `None` without a terminal.
    pub(crate) foreground: Option<u32>,
    pub(crate) ticks: u64,
    pub(crate) start_time: u64,
}

impl Stat {
    /// Says whether it still runs: neither a zombie nor dead.
    pub(crate) fn runs(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// Returns how many files and sockets this process may have open; `None` if there is no limit.
#[must_use]
pub fn descriptor_limit() -> Option<usize> {
    use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
    let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    (soft != RLIM_INFINITY).then(|| usize::try_from(soft).ok())?
}

/// Returns when the process started, in clock ticks since boot. With the pid it names a process
/// for good, since a pid is used again after a while.
#[must_use]
pub fn start_time(pid: u32) -> Option<u64> {
    stat(pid).map(|stat| stat.start_time)
}

/// Says whether the process with this pid *and* start time still runs (a zombie does not).
#[must_use]
pub fn alive(pid: u32, start_time: u64) -> bool {
    if cfg!(target_os = "linux") {
        return stat(pid).is_some_and(|stat| stat.start_time == start_time && stat.runs());
    }
    crate::kill::null_signal(pid)
}

/// Returns whether the file of a running process's program was replaced or removed since it was
/// started; none where the system does not tell.
#[must_use]
pub fn was_replaced(pid: u32) -> Option<bool> {
    let link = PathBuf::from(format!("/proc/{pid}/exe"));
    let named = fs::read_link(&link).ok()?;
    let runs = fs::metadata(&link).ok()?;
    Some(
        !fs::metadata(named)
            .is_ok_and(|there| (there.dev(), there.ino()) == (runs.dev(), runs.ino())),
    )
}

/// Returns how a process of this user ended whose parent has not asked for it yet; `None` while it
/// runs, after its parent has asked, for another user's, and where the system does not tell.
#[must_use]
pub fn how_ended(pid: u32) -> Option<Exit> {
    // Of another user's process the system tells zero, which would be read as a success.
    if !is_own(pid) {
        return None;
    }
    parse_end(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the memory that is the process's own share, in KiB (`Pss` of `smaps_rollup`).
#[must_use]
pub fn pss_kib(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Returns the processor time used so far, user and system, in clock ticks (100 a second).
#[must_use]
pub fn cpu_ticks(pid: u32) -> Option<u64> {
    stat(pid).map(|stat| stat.ticks)
}

/// Returns whether a process was started with this variable in its environment, and not empty; `None`
/// if that cannot be told. What it set or removed since does not count.
#[must_use]
pub fn has_variable(pid: u32, name: &str) -> Option<bool> {
    let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |entry: &[u8]| -> Option<bool> {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(!value.trim_ascii().is_empty())
    };
    Some(environ.split(|byte| *byte == 0).find_map(value).unwrap_or(false))
}

/// Sends a signal to the process with this pid *and* start time; `false` when it is gone.
///
/// # Errors
/// When the system refuses, for instance because the process is another user's.
#[cfg(target_os = "linux")]
pub fn signal_exact(pid: u32, start_time: u64, signal: Signal) -> io::Result<bool> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(false) };
    let handle = match pidfd_open(target, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(rustix::io::Errno::SRCH | rustix::io::Errno::INVAL) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    // The handle is for whoever has the pid now; from here on it cannot become another's.
    if !alive(pid, start_time) {
        return Ok(false);
    }
    match pidfd_send_signal(&handle, signal.to_rustix()) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::SRCH) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Sends a signal to the process with this pid; `false` when it is gone.
///
/// # Errors
/// When the system refuses.
#[cfg(not(target_os = "linux"))]
pub fn signal_exact(pid: u32, _start_time: u64, signal: Signal) -> io::Result<bool> {
    crate::kill::signal_pid(pid, signal)
}

/// Returns what a process of this user has open, as the system names it: paths, and `socket:[INODE]`.
pub(crate) fn open_files(pid: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

/// Returns a process of this user that has the socket with this inode; those that were started last
/// are looked at first. Each process costs a look at all that it has open.
pub(crate) fn with_socket(inode: u64) -> Option<u32> {
    let name = PathBuf::from(format!("socket:[{inode}]"));
    let mut pids: Vec<u32> = pids().collect();
    pids.sort_unstable_by(|one, other| other.cmp(one));
    pids.into_iter().find(|pid| open_files(*pid).contains(&name))
}

/// Returns the pids of all processes that we may see.
pub(crate) fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the pids of this user's processes; ours is among them.
pub(crate) fn own_users_pids() -> Vec<u32> {
    pids().filter(|pid| is_own(*pid)).collect()
}

fn is_own(pid: u32) -> bool {
    let uid = Uid::effective().as_raw();
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|it| it.uid() == uid)
}

/// Returns our own pid and those of our parents, up to the first process.
pub(crate) fn ourselves_and_ancestors() -> Vec<u32> {
    let mut pid = getpid().as_raw().unsigned_abs();
    let mut line = Vec::new();
    while pid != 0 && !line.contains(&pid) {
        line.push(pid);
        pid = stat(pid).map_or(0, |stat| stat.parent);
    }
    line
}

pub(crate) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// What a parent would be told stands last.
fn parse_end(text: &str) -> Option<Exit> {
    let stat = parse_stat(text)?;
    let (_, rest) = text.rsplit_once(')')?;
    let status: i32 = rest.split_ascii_whitespace().nth(49)?.parse().ok()?;
    if stat.runs() {
        return None;
    }
    Some(match (status & 0x7f, (status >> 8) & 0xff) {
        (0, code) => Exit { code: Some(code), signal: None },
        (signal, _) => Exit { code: None, signal: Some(signal) },
    })
}

/// The program's name stands in brackets and may hold spaces and brackets itself.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let id = |index: usize| number(index).and_then(|id| u32::try_from(id).ok());
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: id(1)?,
        group: id(2)?,
        session: id(3)?,
        foreground: id(5),
        ticks: number(11)?.checked_add(number(12)?)?,
        start_time: number(19)?,
    })
}
