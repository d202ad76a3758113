//! Where this program lies, so that it can be started again: also after an upgrade has put another
//! one in its place.

use std::{
    fs::{self, Metadata},
    io,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use gangline_os::{paths, process::find_on_path};

use crate::failure::Failure;

#[cfg(test)]
mod tests;

/// What Linux adds to the name of a running program whose file is gone.
const DELETED: &[u8] = b" (deleted)";

/// Returns the path by which this program was called, links in it kept, so that what an upgrade
/// puts there is what is started next.
pub(crate) fn path() -> Result<PathBuf, Failure> {
    let lost = |error| Failure::environment(error).doing("cannot find the path of this program");
    let running = std::env::current_exe().map_err(lost)?;
    let called = std::env::args_os().next().map(PathBuf::from).and_then(|name| called(&name));
    // The kernel's link leads to the file itself, whatever has its name now.
    let own = fs::metadata("/proc/self/exe").or_else(|_| fs::metadata(&running)).ok();
    choose(called, &running, own.as_ref()).map_err(lost)
}

/// Returns the path that the shell found for this name.
fn called(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return Some(paths::absolute(name));
    }
    let path = std::env::var_os("PATH")?;
    find_on_path(name, &path)
}

fn choose(
    called: Option<PathBuf>,
    running: &Path,
    own: Option<&Metadata>,
) -> Result<PathBuf, io::Error> {
    let same = |path: &Path| {
        let there = fs::metadata(path).ok();
        there.zip(own).is_some_and(|(there, own)| is_same(&there, own))
    };
    // A name that anybody may give to `exec` counts only if it leads to what runs.
    if let Some(called) = called.filter(|called| same(called)) {
        return Ok(called);
    }
    if running.is_file() {
        return Ok(running.to_owned());
    }
    // It was replaced since it was started: the new one has the name now.
    let bytes = running.as_os_str().as_bytes();
    let before = bytes.strip_suffix(DELETED).unwrap_or(bytes);
    let before = PathBuf::from(std::ffi::OsStr::from_bytes(before));
    if before.is_file() {
        return Ok(before);
    }
    let text = format!("{} is gone", before.display());
    Err(io::Error::new(io::ErrorKind::NotFound, text))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}
