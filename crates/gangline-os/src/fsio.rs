//! Files: private writes that are whole or absent, private folders, reads with a limit.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::libc::O_NONBLOCK;
use thiserror::Error;

use crate::{clock::UnixMicros, dial::own_uid};

#[cfg(test)]
mod tests;

/// A file was larger than its reader allows. Inside the [`io::Error`] of [`read_capped`].
#[derive(Debug, Error)]
#[error("{} is too large: {size} bytes, the limit is {limit}", path.display())]
pub struct TooLarge {
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes; at least so many when it has no fixed size.
    pub size: u64,
    /// The limit in bytes.
    pub limit: u64,
}

#[derive(Debug, Error)]
#[error("cannot {what} {}", path.display())]
struct FileError {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// Adds to an error what was tried with which file; kind and OS code stay recognisable.
fn about(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    let path = path.to_owned();
    move |source| io::Error::new(source.kind(), FileError { what, path, source })
}

/// Replaces a file by one with these bytes, mode 0600: readers see the old content or the whole
/// new one. Both file and folder are synced before it returns.
///
/// # Errors
/// When any step fails; the old content is then still there and the temporary file is gone.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary_beside(path)?;
    let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(about("write", path))?;
    sync_folder(path).map_err(about("sync the folder of", path))
}

/// Replaces a file as [`write_private`] does, without waiting for the disk: if the machine fails, the file
/// may be the old one, empty or missing.
///
/// # Errors
/// As [`write_private`].
pub fn write_private_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary_beside(path)?;
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(&temporary);
    let written = opened.and_then(|mut file| file.write_all(bytes));
    let written = written.and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(about("write", path))
}

/// Removes a file, and syncs its folder. One that is not there is no error.
///
/// # Errors
/// When it cannot be removed, or the folder cannot be synced.
pub fn remove_synced(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => {
            removed.map_err(about("remove", path))?;
            sync_folder(path).map_err(about("sync the folder of", path))
        }
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn temporary_beside(path: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput);
    let name = name.map_err(io::Error::from).map_err(about("write", path))?;
    let unique = uuid::Uuid::new_v4().simple();
    Ok(path.with_file_name(format!(".{}.{count}.{unique}.tmp", name.to_string_lossy())))
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// Makes a folder and its missing parents, mode 0700. One that is there already is narrowed to
/// 0700.
///
/// # Errors
/// When it cannot be made or narrowed, and when it is a shared folder (sticky, such as `/tmp`).
pub fn private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(path).map_err(about("make the folder", path))?;
    let mode = fs::metadata(path).map_err(about("look at the folder", path))?.permissions().mode();
    if mode & 0o1000 != 0 {
        let shared = io::Error::new(io::ErrorKind::PermissionDenied, "it is shared by all users");
        return Err(about("make private the folder", path)(shared));
    }
    if mode & 0o077 == 0 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
        .map_err(about("make private the folder", path))
}

/// Removes what is in a folder and has not changed since a time; the folder
/// stays. A link is removed and never followed, and a folder that is a link itself is left alone. One
/// that is not there is empty. It blocks its thread.
///
/// # Errors
/// The first that came up; what can be removed is removed for all that.
pub fn empty_dir(path: &Path, before: UnixMicros) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => {}
        Ok(_) => {
            let error = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(about("empty the folder", path)(error));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(about("look at the folder", path)(error)),
    }
    let mut first = Ok(());
    for entry in fs::read_dir(path).map_err(about("look into", path))? {
        let removed = entry.and_then(|entry| remove_older(&entry, before));
        if first.is_ok() {
            first = removed;
        }
    }
    first
}

fn remove_older(entry: &fs::DirEntry, before: UnixMicros) -> io::Result<()> {
    let path = entry.path();
    // Of the link, not of what it points to.
    let data = entry.metadata().map_err(about("look at", &path))?;
    // Nobody can set this time, unlike that of the content.
    let changed = UnixMicros::from_seconds(data.ctime()).0.saturating_add(data.ctime_nsec() / 1000);
    if changed >= before.0 {
        return Ok(());
    }
    let removed = if data.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(about("remove", &path)),
    }
}

/// Reads a whole file of at most `limit` bytes; never holds more than that.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] with [`TooLarge`] inside, naming file, size and limit; else
/// what the system says, with the file's name and its kind kept.
pub fn read_capped(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path).map_err(about("open", path))?;
    read_open(file, path, limit)
}

/// Returns whether a file belongs to this user, or to root: nobody else has put it there.
#[must_use]
pub fn is_ours(about: &fs::Metadata) -> bool {
    about.uid() == 0 || about.uid() == own_uid()
}

/// Reads a whole text file of at most `limit` bytes that somebody else may have put there: a pipe
/// that nobody writes to, or a device, is not waited for.
///
/// # Errors
/// As [`read_text_capped`]; [`io::ErrorKind::InvalidInput`] when it is no regular file.
pub fn read_foreign_text(path: &Path, limit: u64) -> io::Result<String> {
    as_text(read_foreign(path, limit)?, path)
}

/// Reads a whole file as [`read_foreign_text`] does, whatever its bytes are.
///
/// # Errors
/// As [`read_capped`]; [`io::ErrorKind::InvalidInput`] when it is no regular file.
pub fn read_foreign(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut options = File::options();
    let file = options.read(true).custom_flags(O_NONBLOCK).open(path);
    let file = file.map_err(about("open", path))?;
    if !file.metadata().map_err(about("read", path))?.is_file() {
        let kind = io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file");
        return Err(about("read", path)(kind));
    }
    read_open(file, path, limit)
}

fn read_open(file: File, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata().map_err(about("read", path))?.len();
    let mut bytes = Vec::new();
    if size <= limit {
        let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(about("read", path))?;
    }
    let size = size.max(bytes.len() as u64);
    if size > limit {
        let error = TooLarge { path: path.to_owned(), size, limit };
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    Ok(bytes)
}

/// Reads a whole text file of at most `limit` bytes.
///
/// # Errors
/// As [`read_capped`]; [`io::ErrorKind::InvalidData`] when it is not UTF-8.
pub fn read_text_capped(path: &Path, limit: u64) -> io::Result<String> {
    as_text(read_capped(path, limit)?, path)
}

fn as_text(bytes: Vec<u8>, path: &Path) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        .map_err(about("read as UTF-8", path))
}

/// How many links one path may lead over; the kernel's own number.
const LINKS_MAX: u32 = 40;

/// Returns the path with its links resolved as the kernel would: of what does not exist, as much as
/// does; `..` of a folder behind a link is that of the folder. A path with too many links ends where
/// they are counted out. A relative path starts at the working folder.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // `absolute` keeps `..` where there are links to mind.
    let mut links = LINKS_MAX;
    resolve(&absolute, &mut links)
}

fn resolve(path: &Path, links: &mut u32) -> PathBuf {
    let mut done = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => done.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                done.pop();
            }
            Component::Normal(name) => {
                let next = done.join(name);
                match std::fs::read_link(&next) {
                    Ok(target) if *links > 0 => {
                        *links -= 1;
                        done = resolve(&done.join(target), links);
                    }
                    Ok(_) | Err(_) => done = next,
                }
            }
        }
    }
    done
}

/// Returns how many bytes this user may still write to the file system that holds `path`.
///
/// # Errors
/// When the system does not say, most often because the path is not there.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path).map_err(io::Error::from);
    let stat = stat.map_err(about("ask for the room at", path))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}
