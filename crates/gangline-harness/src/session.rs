//! The session log: one JSON line per complete block or message, synced before it counts.
//!
//! Only appended to: what is no longer sent to the model stays in it, below a record that says so. A
//! version that does not know such a record sends more, and nothing invalid. A last line that a crash cut off was never acknowledged and is dropped when
//! the log is opened again. Writes are short and block the caller's thread.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use gangline_os::failpoint;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::{Block, Usage};

const VERSION: u32 = 1;
const KINDS: [&str; 9] = [
    "session",
    "user",
    "block",
    "end",
    "result",
    "summary",
    "clear",
    "refused",
    "thoughts_dropped",
];

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Record {
    /// The first line.
    Session { v: u32, id: String },
    /// A prompt.
    User { content: Vec<Block> },
    /// A complete block of the response under way.
    Block { block: Block },
    /// The response ended, or was given up.
    End { stop_reason: Option<String>, usage: Usage },
    /// A tool call was answered.
    Result { block: Block },
    /// What came before is no longer sent: this is sent in its place.
    Summary {
        /// The blocks that stand for it, as they are sent.
        content: Vec<Block>,
        /// The last instructions of people, word for word; they are part of `content`.
        instructions: Vec<String>,
        /// What it cost to make it.
        usage: Usage,
    },
    /// What came before is no longer sent.
    Clear,
    /// The model's makers refused to go on: the messages from this one on are no longer sent.
    Refused { from: usize },
    /// The thoughts that came before are no longer sent.
    ThoughtsDropped,
}

/// Why a session could not be kept or taken up again.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The file could not be opened or made.
    #[error("cannot open the session log {path}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line makes no sense.
    #[error("line {line} of the session log {path} is damaged")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// A newer version of this program wrote it.
    #[error("the session log {path} has version {found}, newer than {VERSION}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A line could not be made durable; the harness did not go on without it.
    #[error("cannot append to the session log {path}")]
    Append {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// An open log.
#[derive(Debug)]
pub(crate) struct SessionLog {
    path: PathBuf,
    file: File,
    /// Length of what is acknowledged.
    good: u64,
    /// Something beyond `good` may have been written.
    torn: bool,
}

impl SessionLog {
    /// Opens or makes the log and returns what it holds; the first record is the session's.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<Record>), SessionError> {
        let failed = |source| SessionError::Open { path: path.to_owned(), source };
        let (file, text) = open_and_read(path).map_err(failed)?;
        let (mut records, good) = parse(path, &text)?;
        let torn = good < text.len();
        let mut log = Self { path: path.to_owned(), file, good: good as u64, torn };
        if records.is_empty() {
            let id = uuid::Uuid::now_v7().to_string();
            let first = Record::Session { v: VERSION, id };
            log.append(&first)?;
            records.push(first);
        }
        Ok((log, records))
    }

    /// Appends a record; when this returns it survives a crash of the machine.
    pub(crate) fn append(&mut self, record: &Record) -> Result<(), SessionError> {
        self.try_append(record)
            .map_err(|source| SessionError::Append { path: self.path.clone(), source })
    }

    fn try_append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        if self.torn {
            self.file.set_len(self.good)?;
        }
        self.torn = true;
        self.file.write_all(&line)?;
        failpoint::hit("harness.log.written");
        self.file.sync_data()?;
        failpoint::hit("harness.log.synced");
        self.good += line.len() as u64;
        self.torn = false;
        Ok(())
    }
}

fn open_and_read(path: &Path) -> io::Result<(File, Vec<u8>)> {
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        std::fs::create_dir_all(parent)?;
    }
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    if text.is_empty() {
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok((file, text))
}

/// Returns the records and the length of the part that holds them.
fn parse(path: &Path, text: &[u8]) -> Result<(Vec<Record>, usize), SessionError> {
    let mut records = Vec::new();
    let mut good = 0;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    for (number, line) in lines.enumerate() {
        let end = good + line.len();
        let record = line.strip_suffix(b"\n").and_then(read_line);
        match record {
            None if end == text.len() => break,
            None => return Err(SessionError::Corrupt { path: path.to_owned(), line: number + 1 }),
            Some(Line::Known(Record::Session { v, .. })) if v > VERSION => {
                return Err(SessionError::Newer { path: path.to_owned(), found: v });
            }
            Some(Line::Known(record)) => records.push(record),
            Some(Line::Unknown) => {}
        }
        good = end;
    }
    Ok((records, good))
}

enum Line {
    Known(Record),
    /// Of a kind that a later version added.
    Unknown,
}

fn read_line(line: &[u8]) -> Option<Line> {
    let value: Value = serde_json::from_slice(line).ok()?;
    if !KINDS.contains(&value["kind"].as_str()?) {
        return Some(Line::Unknown);
    }
    serde_json::from_value(value).ok().map(Line::Known)
}

#[cfg(test)]
mod tests;
