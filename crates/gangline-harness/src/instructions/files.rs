//! Files of instructions: each text once, bounded, and only from where they may lie.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gangline_os::{exact, fsio};

use super::imports;

/// How much of one file is read, in bytes.
pub(super) const FILE_LIMIT: usize = 64 << 10;
/// Files whose imports are read.
const IMPORTING: [&str; 2] = ["CLAUDE.md", "CLAUDE.local.md"];
/// How much is read of all files together, in bytes.
const TOTAL_LIMIT: usize = 192 << 10;

/// Who wrote a file, and so where it and what it imports may lie.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whose<'a> {
    /// The person that the agent works for: anywhere.
    Person { home: Option<&'a Path> },
    /// A project, whose authors may be anybody: in the project.
    Project { root: &'a Path },
}

/// Which files may be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) whose: Whose<'a>,
    /// What is never read.
    pub(super) closed: &'a [PathBuf],
}

impl Origin<'_> {
    /// Returns where a file really lies; an error, for people, if it may not lie there, and nothing
    /// if there is none.
    pub(super) fn locate(self, file: &Path) -> Result<Option<PathBuf>, String> {
        let Ok(real) = fs::canonicalize(file) else { return Ok(None) };
        if !fs::metadata(&real).is_ok_and(|about| about.is_file()) {
            return Ok(None);
        }
        let not_read = |why: &str| Err(format!("{} is not read: {why}", file.display()));
        match self.whose {
            Whose::Project { root } if !real.starts_with(root) => {
                not_read("it leads out of the project")
            }
            Whose::Project { .. } | Whose::Person { .. } if self.is_closed(&real) => {
                not_read("it holds credentials, or belongs to the installation")
            }
            Whose::Project { .. } | Whose::Person { .. } if !is_ours(&real) => {
                not_read("it belongs to another user")
            }
            Whose::Project { .. } | Whose::Person { .. } => Ok(Some(real)),
        }
    }

    fn is_closed(self, real: &Path) -> bool {
        let holds_all = |closed: &Path| match self.whose {
            Whose::Project { root } => root.starts_with(closed),
            Whose::Person { .. } => false,
        };
        self.closed.iter().any(|closed| real.starts_with(closed) && !holds_all(closed))
    }
}

/// Returns whether a file or folder is there and is this user's, or root's.
pub(super) fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| fsio::is_ours(&about))
}

/// The first bytes of a file that was [located](Origin::locate), and whether that is all of it. Nothing,
/// if it is no longer the file that was judged: a link, no regular file, or another user's.
pub(super) fn read_start(file: &Path, limit: usize) -> Option<(String, bool)> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let file = exact::open(file).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || !fsio::is_ours(&about) {
        return None;
    }
    file.take(most).read_to_end(&mut bytes).ok()?;
    let whole = bytes.len() <= limit;
    bytes.truncate(limit);
    Some((String::from_utf8_lossy(&bytes).into_owned(), whole))
}

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    text: String,
    texts: BTreeSet<String>,
    notices: Vec<String>,
}

impl Gathered {
    /// Reads a file, if it is there and says something new, and what it imports.
    pub(super) fn read(&mut self, file: &Path, origin: Origin<'_>) {
        let Some(text) = self.take(file, origin) else { return };
        if !file.file_name().is_some_and(|name| IMPORTING.iter().any(|it| name == *it)) {
            return;
        }
        for import in imports::of(&text) {
            match resolve(&import, file, origin) {
                Some(file) => drop(self.take(&file, origin)),
                None => self.notices.push(format!(
                    "{} imports {import}, which is not in the project: it is not read",
                    file.display()
                )),
            }
        }
    }

    fn take(&mut self, file: &Path, origin: Origin<'_>) -> Option<String> {
        let real = match origin.locate(file) {
            Ok(real) => real?,
            Err(notice) => {
                self.notices.push(notice);
                return None;
            }
        };
        let (text, whole) = read_start(&real, FILE_LIMIT)?;
        let text = text.trim().to_owned();
        // The same instructions often lie under two names, or are imported where they lie.
        if text.is_empty() || !self.texts.insert(text.clone()) {
            return None;
        }
        if self.text.len().saturating_add(text.len()) > TOTAL_LIMIT {
            self.notices.push(format!("{} is not read: there is too much already", file.display()));
            return None;
        }
        if !whole {
            self.notices.push(format!("{} is cut off at {FILE_LIMIT} bytes", file.display()));
        }
        // Writing to a string does not fail.
        let _ = write!(self.text, "\n\n## {}\n\n{text}", file.display());
        Some(text)
    }

    /// Returns the text of all files and the notices.
    pub(super) fn done(self) -> (String, Vec<String>) {
        let text = match self.text.as_str() {
            "" => String::new(),
            text => format!(
                "# Instructions\n\nFrom files of the people you work for and of the project. What \
                 stands later counts more.{text}"
            ),
        };
        (text, self.notices)
    }
}

/// Returns the file that an import means; nothing if it is one of the home directory and may not be.
fn resolve(import: &str, from: &Path, origin: Origin<'_>) -> Option<PathBuf> {
    match (import.strip_prefix("~/"), origin.whose) {
        (Some(rest), Whose::Person { home }) => Some(home?.join(rest)),
        (Some(_), Whose::Project { .. }) => None,
        (None, _) => Some(from.parent()?.join(import)),
    }
}
