//! File locks that die with their holder and can be asked about without being taken.
//!
//! OFD write locks on Linux: they belong to the opened file, so opening or closing the file
//! elsewhere in the process does no harm. Elsewhere POSIX record locks, which do not conflict
//! within one process. The file is never unlinked; it names its holder.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use thiserror::Error;

use crate::{clock::UnixMicros, proc};

#[cfg(test)]
mod tests;

/// A note longer than this is cut when it is read back.
const MAX_HOLDER: u64 = 4_096;
/// How long [`FileLock::take`] waits for a lock whose file names no living process.
const ORPHANED_AT_MOST: Duration = Duration::from_secs(2);
/// How often it tries again.
const ORPHANED_EVERY: Duration = Duration::from_millis(5);

/// A lock that is held. Dropping it, or the end of the process however it comes, gives it back.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

/// Why a lock was not taken.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody has it.
    #[error("the lock is held by {0}")]
    Held(Holder),
    /// The file cannot be opened, locked or written.
    #[error("cannot lock {}", path.display())]
    Io {
        /// The lock's file.
        path: std::path::PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Who holds a lock, as far as the file tells. All is unknown in the moment between taking the
/// lock and writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The holder's pid.
    pub pid: Option<u32>,
    /// The holder's start time in clock ticks.
    pub start_time: Option<u64>,
    /// The note given when it was taken; one line.
    pub note: String,
}

impl FileLock {
    /// Takes the lock without waiting, making the file (mode 0600) when it is missing. Then writes
    /// pid, start time and the note into it; line breaks in the note become spaces.
    ///
    /// # Errors
    /// [`LockError::Held`] when another has it, within this process too; [`LockError::Io`] when the
    /// file cannot be used.
    pub fn try_take(path: &Path, note: &str) -> Result<Self, LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        // A link would have another file written.
        options.custom_flags(libc::O_NOFOLLOW);
        let mut file = options.open(path).map_err(failed)?;
        match fcntl(&file, set(&whole_file(libc::F_WRLCK))) {
            Ok(_) => {}
            Err(Errno::EAGAIN | Errno::EACCES) => {
                return Err(LockError::Held(read_holder(&mut file).map_err(failed)?));
            }
            Err(error) => return Err(failed(error.into())),
        }
        write_holder(&mut file, note).map_err(failed)?;
        Ok(Self { file })
    }

    /// Takes the lock as [`try_take`](Self::try_take) does, but waits up to 2 s while the file names
    /// no living process. That happens just before a new holder writes its name, and after a
    /// holder was killed while it was starting a child: until its `exec` the child has the file open,
    /// and so holds the lock. Blocks the thread meanwhile.
    ///
    /// # Errors
    /// As [`try_take`](Self::try_take).
    pub fn take(path: &Path, note: &str) -> Result<Self, LockError> {
        Self::take_waiting(path, note, std::thread::sleep)
    }

    fn take_waiting(
        path: &Path,
        note: &str,
        mut wait: impl FnMut(Duration),
    ) -> Result<Self, LockError> {
        let mut waited = Duration::ZERO;
        loop {
            match Self::try_take(path, note) {
                Err(LockError::Held(holder))
                    if holder.pid.is_none() && waited < ORPHANED_AT_MOST => {}
                result => return result,
            }
            wait(ORPHANED_EVERY);
            waited += ORPHANED_EVERY;
        }
    }

    /// Shows that the holder lives: the file's time of change becomes `now`. Nothing is synced.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn show_life(&self, now: UnixMicros) -> io::Result<()> {
        let micros = u64::try_from(now.0).unwrap_or(0);
        self.file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_micros(micros))
    }

    /// Gives the lock back now, even if a child that is just being started still has the file open
    /// for a moment (which would hold up a lock that is dropped).
    ///
    /// # Errors
    /// When the system refuses; the lock is given back by the drop then.
    pub fn release(self) -> io::Result<()> {
        fcntl(&self.file, set(&whole_file(libc::F_UNLCK)))?;
        Ok(())
    }
}

/// Returns the holder's last sign of life: only whether it changes means something. `None` if the file
/// cannot be read.
#[must_use]
pub fn sign_of_life(path: &Path) -> Option<i64> {
    let data = std::fs::metadata(path).ok()?;
    data.mtime().checked_mul(1_000_000_000)?.checked_add(data.mtime_nsec())
}

/// Asks whether the lock is held, by this process or another, without taking it; no file, no
/// holder. Needs only to read the file.
///
/// # Errors
/// When the file cannot be opened or asked.
pub fn probe(path: &Path) -> io::Result<Option<Holder>> {
    let mut options = OpenOptions::new();
    // What has this name may be a pipe, which would wait for its other end.
    let mut file = match options.read(true).custom_flags(libc::O_NONBLOCK).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut lock = whole_file(libc::F_WRLCK);
    fcntl(&file, get(&mut lock))?;
    if lock.l_type == libc::F_UNLCK as libc::c_short {
        return Ok(None);
    }
    read_holder(&mut file).map(Some)
}

/// Returns whether the lock is held by the process with this pid, as far as the file tells.
pub(crate) fn is_held_by(path: &Path, pid: u32) -> bool {
    probe(path).is_ok_and(|holder| holder.is_some_and(|holder| holder.pid == Some(pid)))
}

#[cfg(target_os = "linux")]
fn set(lock: &libc::flock) -> FcntlArg<'_> {
    FcntlArg::F_OFD_SETLK(lock)
}

#[cfg(target_os = "linux")]
fn get(lock: &mut libc::flock) -> FcntlArg<'_> {
    FcntlArg::F_OFD_GETLK(lock)
}

#[cfg(not(target_os = "linux"))]
fn set(lock: &libc::flock) -> FcntlArg<'_> {
    FcntlArg::F_SETLK(lock)
}

#[cfg(not(target_os = "linux"))]
fn get(lock: &mut libc::flock) -> FcntlArg<'_> {
    FcntlArg::F_GETLK(lock)
}

fn whole_file(kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Overwrites in place and cuts afterwards, so that a reader never sees an empty file.
fn write_holder(file: &mut File, note: &str) -> io::Result<()> {
    let pid = std::process::id();
    let started = proc::start_time(pid).map(|started| started.to_string()).unwrap_or_default();
    let note = note.replace(['\n', '\r'], " ");
    let text = format!("pid {pid}\nstarted {started}\nnote {note}\n");
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// Reads who holds a lock that is held. What a holder before left there counts as unknown.
fn read_holder(file: &mut File) -> io::Result<Holder> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(MAX_HOLDER).read_to_end(&mut bytes)?;
    let holder = parse_holder(&String::from_utf8_lossy(&bytes));
    let gone = match (holder.pid, holder.start_time) {
        (Some(pid), Some(started)) => !proc::alive(pid, started),
        _ => false,
    };
    Ok(if gone { Holder::default() } else { holder })
}

fn parse_holder(text: &str) -> Holder {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    Holder {
        pid: field("pid ").and_then(|pid| pid.parse().ok()),
        start_time: field("started ").and_then(|started| started.parse().ok()),
        note: field("note ").unwrap_or_default().to_owned(),
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("a process that has not said its name yet")?,
        }
        if self.note.is_empty() { Ok(()) } else { write!(f, " ({})", self.note) }
    }
}
