//! Files of instructions: each text once, bounded, and only from where they may lie.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::imports;

/// How much of one file is read, in bytes.
pub(super) const FILE_LIMIT: usize = 64 << 10;
/// How much is read of all files together, in bytes.
const TOTAL_LIMIT: usize = 192 << 10;

/// Who wrote a file, and so where it and what it imports may lie.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin<'a> {
    /// The person that the agent works for: anywhere.
    Person { home: Option<&'a Path> },
    /// A project, whose authors may be anybody: in the project.
    Project { root: &'a Path },
}

impl Origin<'_> {
    /// Returns where a file really lies; an error, for people, if it may not lie there, and nothing
    /// if there is none.
    pub(super) fn locate(self, file: &Path) -> Result<Option<PathBuf>, String> {
        let Ok(real) = fs::canonicalize(file) else { return Ok(None) };
        if !fs::metadata(&real).is_ok_and(|about| about.is_file()) {
            return Ok(None);
        }
        match self {
            Self::Project { root } if !real.starts_with(root) => {
                Err(format!("{} is not read: it leads out of the project", file.display()))
            }
            Self::Project { .. } | Self::Person { .. } => Ok(Some(real)),
        }
    }
}

/// The first bytes of a file, and whether that is all of it.
pub(super) fn read_start(file: &Path, limit: usize) -> Option<(String, bool)> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    File::open(file).ok()?.take(most).read_to_end(&mut bytes).ok()?;
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
        if file.file_name().is_none_or(|name| name != "CLAUDE.md") {
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
    match (import.strip_prefix("~/"), origin) {
        (Some(rest), Origin::Person { home }) => Some(home?.join(rest)),
        (Some(_), Origin::Project { .. }) => None,
        (None, _) => Some(from.parent()?.join(import)),
    }
}
