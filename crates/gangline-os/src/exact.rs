//! Files by a path of which no part may be a link, so that what was judged is what is used.
//!
//! Whoever resolves a path, decides, and opens it then by its name may open another file: a link can be
//! changed in between. Here each part is opened below the one before, and a link ends it. Start at
//! [`open`]; paths come from [`fsio::resolved`](crate::fsio::resolved).

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Write},
    os::fd::OwnedFd,
    path::{Component, Path},
};

use rustix::{
    fs::{self, AtFlags, Mode, OFlags},
    io::Errno,
};

/// Opens a file for reading of which no part of the path may be a link: what was [resolved](crate::fsio::resolved) and
/// judged is opened, or nothing. Does not wait for the other end of a pipe.
///
/// # Errors
/// When it cannot be opened, or a part of the path is a link by now.
pub fn open(path: &Path) -> io::Result<File> {
    let (folder, name) = split(path)?;
    let folder = folder_without_links(folder, Missing::Fails)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(fs::openat(&folder, name, flags, Mode::empty())?.into())
}

/// Replaces a file's content in one step and keeps its permissions; folders above it are made. No
/// part of the path may be a link.
///
/// # Errors
/// When it cannot be written, or a part of the path is a link by now.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let (folder, name) = split(path)?;
    let folder = folder_without_links(folder, Missing::IsMade)?;
    let fresh = format!(".{}.{}", name.to_string_lossy(), uuid::Uuid::new_v4().simple());
    let written = write_beside(&folder, (name, &fresh), content);
    if written.is_err() {
        // The error that matters is the one that is returned.
        let _removed = fs::unlinkat(&folder, &fresh, AtFlags::empty());
    }
    written
}

fn write_beside(folder: &OwnedFd, (name, fresh): (&OsStr, &str), content: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file: File = fs::openat(folder, fresh, flags, Mode::from_raw_mode(0o666))?.into();
    file.write_all(content)?;
    match fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(about) => fs::fchmod(&file, Mode::from_raw_mode(about.st_mode))?,
        Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    file.sync_all()?;
    Ok(fs::renameat(folder, fresh, folder, name)?)
}

/// What becomes of a folder that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fails,
    IsMade,
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let parts = path.parent().zip(path.file_name()).filter(|_| path.is_absolute());
    parts.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Opens a folder, one part of its path after the other.
fn folder_without_links(path: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A folder that may be passed through need not be readable.
    #[cfg(target_os = "linux")]
    let flags = flags | OFlags::PATH;
    let mut folder = fs::open("/", flags, Mode::empty())?;
    for part in path.components() {
        let name = match part {
            Component::RootDir => continue,
            Component::Normal(name) => name,
            Component::Prefix(_) | Component::CurDir | Component::ParentDir => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        };
        if missing == Missing::IsMade {
            match fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                // What may not be made may be there: opening it tells.
                Ok(()) | Err(_) => {}
            }
        }
        folder = fs::openat(&folder, name, flags, Mode::empty())?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests;
