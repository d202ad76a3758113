//! Configuration files: never written over, moved aside if somebody says so.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use gangline_os::clock::UnixMicros;

use crate::failure::Failure;

/// Makes the folder of a file, and its missing parents, mode 0700. One that is there is left as it
/// is: it may be somebody's project.
pub(crate) fn make_folder(file: &Path) -> Result<(), Failure> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| {
        Failure::environment(error).doing(format!("cannot make the folder {}", folder.display()))
    })
}

/// Writes a file that is not there yet, mode 0600, synced.
pub(crate) fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would be in the way of the next try.
        let _ = fs::remove_file(path);
    }
    written
}

/// Returns the failure for a configuration that is there already.
pub(crate) fn taken(path: &Path) -> Failure {
    Failure::user(format!("there is a configuration already: {}", path.display()))
        .hint("`gangline config check` checks it")
        .hint("--force renames it and writes a new one")
}

/// Returns whether something is at this path, be it a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Moves a file aside under a name with the time; returns the new name.
pub(crate) fn set_aside(path: &Path, now: UnixMicros) -> Result<PathBuf, Failure> {
    let failed = |error: io::Error| {
        Failure::environment(error).doing(format!("cannot move {} aside", path.display()))
    };
    let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let stamp: String =
        now.to_string().chars().take(19).filter(|c| c.is_ascii_alphanumeric()).collect();
    let mut aside = path.with_file_name(format!("{}.before-{stamp}", name.to_string_lossy()));
    let mut number = 1;
    while is_there(&aside) {
        number += 1;
        let again = format!("{}.before-{stamp}-{number}", name.to_string_lossy());
        aside = path.with_file_name(again);
    }
    fs::rename(path, &aside).map_err(failed)?;
    Ok(aside)
}
