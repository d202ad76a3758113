//! What an import tells: each thing that was taken, changed or left out, with its place and why.

use std::fmt;

use serde::Serialize;

use super::{
    super::{error::Place, reader::Reader},
    yaml,
};

/// The fate of a key or an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It means the same here.
    Taken,
    /// It was put in another way; what it means may differ.
    Changed,
    /// It has no counterpart here.
    Dropped,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Taken => "taken",
            Self::Changed => "changed",
            Self::Dropped => "dropped",
        })
    }
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct At {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// One thing that an import tells. Texts are fit to be shown: one line, no control characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Its fate.
    pub fate: Fate,
    /// Where it stands; absent when no line says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// Which key or agent.
    pub what: String,
    /// What it became, or why it did not.
    pub why: String,
}

/// `FILE:LINE: what: why`, without the fate.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(At { file, line }) = &self.at {
            write!(f, "{file}:{line}: ")?;
        }
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// The place where one file is worked on: its reader, and what is told of it.
pub(super) struct Draft<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) notes: Vec<Note>,
    /// Lines for the written file: what it does not say any more.
    pub(super) comments: Vec<String>,
    name: &'a str,
}

impl<'a> Draft<'a> {
    pub(super) fn new(text: &'a str, name: &'a str) -> Self {
        Self { reader: Reader::new(text, name), notes: Vec::new(), comments: Vec::new(), name }
    }

    /// Returns how messages call the file.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    fn note(&mut self, fate: Fate, place: Place, what: &str, why: &str) {
        let at = Some(At { file: line(self.name), line: place.line });
        self.notes.push(Note { fate, at, what: line(what), why: line(why) });
    }

    /// Puts what is told in the order of the file.
    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.sort_by_key(|note| note.at.as_ref().map(|at| at.line));
        notes
    }

    /// Records what means the same here.
    pub(super) fn taken(&mut self, place: Place, what: &str, why: &str) {
        self.note(Fate::Taken, place, what, why);
    }

    /// Records what is put in another way.
    pub(super) fn changed(&mut self, place: Place, what: &str, why: &str) {
        self.note(Fate::Changed, place, what, why);
    }

    /// Records what another file has said already.
    pub(super) fn repeated(&mut self, place: Place, what: &str, why: &str) {
        self.note(Fate::Dropped, place, what, why);
    }

    /// Records what has no counterpart; the written file has a comment of it.
    pub(super) fn dropped(&mut self, place: Place, what: &str, why: &str) {
        self.note(Fate::Dropped, place, what, why);
        self.comments.push(format!("not imported: {}: {}", line(what), line(why)));
    }
}

/// Makes a sentence fit to be one line of a report or a comment.
pub(super) fn line(text: &str) -> String {
    text.chars().map(visible).collect()
}

fn visible(c: char) -> char {
    if c == '\t' { ' ' } else { Some(c).filter(|c| yaml::shows(*c)).unwrap_or('\u{fffd}') }
}
