//! The files beside the database, and the file locks on them.
//!
//! The kernel drops such a lock with its holder, however that ends. The files are never unlinked.
//! The database itself and its `-shm` are never opened here: closing such a descriptor would drop
//! SQLite's own locks.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, OFlags, flock},
    io::Errno,
};

/// Where the neighbours are.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) wal: PathBuf,
    pub(crate) wlock: PathBuf,
    pub(crate) used: PathBuf,
    pub(crate) ckpt: PathBuf,
}

impl Files {
    pub(crate) fn beside(database: &Path) -> Self {
        let with = |end: &str| {
            let mut name = OsString::from(database);
            name.push(end);
            PathBuf::from(name)
        };
        Self { wal: with("-wal"), wlock: with(".wlock"), used: with(".use"), ckpt: with(".ckpt") }
    }

    /// Returns what the holder of the write lock wrote of itself.
    pub(crate) fn holder(&self) -> String {
        let mut text = String::new();
        let read = File::open(&self.wlock).and_then(|f| f.take(200).read_to_string(&mut text));
        match (read, text.trim()) {
            (Ok(_), holder) if !holder.is_empty() => holder.to_owned(),
            _ => "an unknown process".to_owned(),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // A link would have another file written.
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)
}

fn lock(file: &File, how: FlockOperation) -> io::Result<()> {
    loop {
        match flock(file, how) {
            Err(Errno::INTR) => {}
            result => return result.map_err(io::Error::from),
        }
    }
}

/// Returns whether the lock was had.
fn try_lock(file: &File, how: FlockOperation) -> io::Result<bool> {
    match lock(file, how) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// The lock that every writer of the database holds from before `BEGIN` until after `COMMIT`.
#[derive(Debug)]
pub(crate) struct WriteLock {
    file: File,
    note: [u8; 32],
}

impl WriteLock {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut note = [b' '; 32];
        let text = format!("process {}", std::process::id());
        for (to, from) in note.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        Ok(Self { file: open(path)?, note })
    }

    /// Blocks this thread until the lock is had, and names its holder in the file.
    pub(crate) fn take(&self) -> io::Result<()> {
        lock(&self.file, FlockOperation::LockExclusive)?;
        // A full disk must not keep us from rolling back or checkpointing: the name is for people.
        drop(self.file.write_at(&self.note, 0));
        Ok(())
    }

    pub(crate) fn release(&self) {
        // Cannot fail on a lock that is held; closing the file would release it too.
        drop(lock(&self.file, FlockOperation::Unlock));
    }
}

/// A shared lock, held by each process that has the database open; its file counts how often the
/// log had to be made anew.
#[derive(Debug)]
pub(crate) struct UseLock {
    file: File,
}

/// Who has the database open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenBy {
    UsAlone,
    OthersToo,
}

impl UseLock {
    /// Takes the lock; the write lock must be held, so that nobody else changes it meanwhile.
    pub(crate) fn take(path: &Path) -> io::Result<(Self, OpenBy)> {
        let file = open(path)?;
        let alone = try_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        // From exclusive to shared, or to shared at once: nobody holds it exclusively for long.
        lock(&file, FlockOperation::LockShared)?;
        Ok((Self { file }, if alone { OpenBy::UsAlone } else { OpenBy::OthersToo }))
    }

    pub(crate) fn generation(&mut self) -> io::Result<u64> {
        let mut text = String::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_string(&mut text)?;
        Ok(text.trim().parse().unwrap_or(0))
    }

    /// Marks the file for good: there is a database now.
    pub(crate) fn mark(&mut self) -> io::Result<()> {
        if self.file.metadata()?.len() > 0 {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(0))?;
        writeln!(self.file, "{:020}", 0)
    }

    pub(crate) fn raise(&mut self) -> io::Result<u64> {
        let next = self.generation()? + 1;
        self.file.seek(SeekFrom::Start(0))?;
        writeln!(self.file, "{next:020}")?;
        Ok(next)
    }
}

/// Returns the lock for one checkpoint, if nobody else makes one.
pub(crate) fn checkpoint_lock(path: &Path) -> io::Result<Option<File>> {
    let file = open(path)?;
    let had = try_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(had.then_some(file))
}

/// Makes the database's file, empty and private, if there is none.
pub(crate) fn make_private(database: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(database) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Says what happened to the log if the path no longer names the file that we have open.
pub(crate) fn log_lost(ours: &File, path: &Path) -> Option<String> {
    let ours = match ours.metadata() {
        Ok(ours) => ours,
        Err(error) => return Some(format!("cannot look at the write-ahead log: {error}")),
    };
    match std::fs::metadata(path) {
        Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => None,
        Ok(_) => Some("the write-ahead log was replaced while it was in use".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Some("the write-ahead log was deleted while it was in use".to_owned())
        }
        Err(error) => Some(format!("cannot look at the write-ahead log: {error}")),
    }
}
