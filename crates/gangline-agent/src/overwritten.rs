//! The current content of a file that an agent wants to overwrite, for the person who decides.
//!
//! Reads only in the agent's folder, and no file that is closed to the agent. Start at
//! [`compared`].

use std::{io, path::Path};

use gangline_core::{
    approval::{
        diff::Change,
        view::{FileChange, FileExtent, Wanted},
    },
    reading::{Access, Bounds, Extent},
    redact::{Maskable, Redactor},
};
use gangline_os::fsio;

/// The longest file that is compared with what comes, in bytes.
const COMPARED_MAX: u64 = 128 * 1024;
/// The most lines of the two that are compared.
const LINES_MAX: usize = 4000;

/// Returns what is wanted with each whole file compared with what is there. `folder` is where the
/// agent works; `bounds` say what is closed to it.
pub(crate) fn compared(
    wanted: Wanted,
    (folder, bounds): (&Path, &Bounds),
    masks: &Redactor,
) -> Wanted {
    match wanted {
        Wanted::Write { files, more } => {
            let one = |file| compare(file, (folder, bounds), masks);
            Wanted::Write { files: files.into_iter().map(one).collect(), more }
        }
        other @ (Wanted::Run { .. } | Wanted::Use { .. }) => other,
    }
}

fn compare(file: FileChange, at: (&Path, &Bounds), masks: &Redactor) -> FileChange {
    match file.extent {
        FileExtent::Whole => {}
        FileExtent::New | FileExtent::Compared | FileExtent::Unshown(_) | FileExtent::Parts => {
            return file;
        }
    }
    let (extent, change) = match there(&file.path, at) {
        There::Nothing => (FileExtent::New, file.change),
        There::Text(old) => {
            let bytes = old.len() as u64;
            // As what comes was masked when it was stored: line by line.
            let (old, new) = (masks.decided(&old, Maskable::Lines).text, file.change.content());
            let lines = old.as_str().lines().count().max(new.lines().count());
            if lines > LINES_MAX {
                (FileExtent::Unshown(bytes), file.change)
            } else {
                (FileExtent::Compared, Change::compared(old.as_str(), &new))
            }
        }
        There::Unshown(bytes) => (FileExtent::Unshown(bytes), file.change),
        There::Elsewhere => (FileExtent::Whole, file.change),
    };
    FileChange { extent, change, ..file }
}

enum There {
    /// No such file.
    Nothing,
    Text(String),
    /// The size in bytes of a file that is too long, or not text.
    Unshown(u64),
    /// It is not the agent's, or cannot be read.
    Elsewhere,
}

fn there(path: &str, (folder, bounds): (&Path, &Bounds)) -> There {
    let (folder, path) = (fsio::resolved(folder), fsio::resolved(&folder.join(path)));
    if !path.starts_with(&folder) || bounds.access(&path, Extent::Alone) == Access::Closed {
        return There::Elsewhere;
    }
    let size = || std::fs::symlink_metadata(&path).map_or(0, |it| it.len());
    match fsio::read_foreign_text(&path, COMPARED_MAX) {
        // What no screen shows tells nobody what is lost.
        Ok(text) if text.contains('\0') => There::Unshown(text.len() as u64),
        Ok(text) => There::Text(text),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => There::Nothing,
            io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidData => There::Unshown(size()),
            _ => There::Elsewhere,
        },
    }
}

#[cfg(test)]
mod tests;
