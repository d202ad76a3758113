//! History in the form of culture's server: a line each, then an end. A search goes through the
//! store page by page, and lets others have their turn between two pages.

use gangline_os::clock::UnixMicros;

use super::{
    outgoing::Outgoing,
    store::{HistoryQuery, StoredLine},
};
use crate::wire::{BODY_MAX, multiline, text::cut};

#[cfg(test)]
mod tests;

/// The most lines of one answer.
pub(super) const LINES_MAX: usize = 500;
/// The number of lines that are searched at once.
pub(super) const SEARCH_PAGE: usize = 500;
/// The maximum number of lines that are searched, the newest first.
const SEARCH_MAX: usize = 10_000;
/// The bytes of `:`, ` HISTORY`, ` :` and the line end.
const AROUND: usize = 1 + 8 + 2 + 2;
/// Behind the last line.
const END: &str = "End of history";

/// What is told, and in which form.
pub(super) struct HistoryReply {
    /// The channel or nick as it was written.
    pub(super) target: String,
    /// What the store is asked next.
    pub(super) query: HistoryQuery,
    pub(super) what: What,
}

/// Which lines are told.
pub(super) enum What {
    /// The newest.
    Recent,
    /// The oldest behind a line; the end names the line to go on from.
    Since { cursor: String },
    /// Those that contain a text.
    Search(Search),
}

/// A search that is under way.
pub(super) struct Search {
    /// What is looked for, in lower case.
    term: String,
    /// What was found, the newest first.
    pub(super) found: Vec<StoredLine>,
    /// How many lines were looked at.
    seen: usize,
}

/// What follows from a page of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    More,
    Done,
}

impl What {
    /// Returns a search; none for a blank text, which every line contains.
    pub(super) fn search(term: &str) -> Option<Self> {
        let term = term.trim().to_lowercase();
        let search = Search { term, found: Vec::new(), seen: 0 };
        (!search.term.is_empty()).then_some(Self::Search(search))
    }
}

impl Search {
    /// Takes a page, the oldest line first.
    pub(super) fn take(&mut self, page: Vec<StoredLine>) -> Then {
        self.seen += page.len();
        let whole = page.len() >= SEARCH_PAGE;
        let hits =
            page.into_iter().rev().filter(|it| it.line.text.to_lowercase().contains(&self.term));
        let room = LINES_MAX - self.found.len();
        self.found.extend(hits.take(room));
        let on = whole && self.found.len() < LINES_MAX && self.seen < SEARCH_MAX;
        if on { Then::More } else { Then::Done }
    }
}

impl HistoryReply {
    /// Returns the lines and the end, as the server of that name writes them.
    pub(super) fn lines(&self, name: &str, lines: &[StoredLine]) -> Vec<Outgoing> {
        let target = self.target.as_str();
        let mut answers = Vec::with_capacity(lines.len() + 1);
        for StoredLine { line, .. } in lines {
            let nick = line.source.split('!').next().unwrap_or_default();
            let at = seconds(line.at);
            let words = [target, nick, &at];
            let around =
                AROUND + name.len() + words.iter().map(|word| word.len() + 1).sum::<usize>();
            // What stands before the text is longer than where it was said first.
            let room = BODY_MAX.saturating_sub(around);
            let mut told = |text: &str| {
                for part in parts(text, room) {
                    answers.push(Outgoing::new(name, "HISTORY", &words, Some(part)));
                }
            };
            match multiline::is_several(&line.text) {
                false => told(&text(&line.text)),
                true => {
                    let lines = multiline::lines(&line.text).map(|(text, _)| text);
                    lines.filter(|text| !text.is_empty()).for_each(&mut told);
                }
            }
        }
        answers.push(match &self.what {
            What::Recent | What::Search(_) => {
                Outgoing::new(name, "HISTORYEND", &[target], Some(END))
            }
            What::Since { cursor } => {
                let next = lines.last().map_or(cursor, |line| &line.msgid);
                Outgoing::new(name, "HISTORYEND", &[target, next], None)
            }
        });
        answers
    }
}

/// Returns a text in parts of at most `room` bytes, cut between characters.
fn parts(text: &str, room: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let part = cut(rest, room);
        parts.push(part);
        rest = &rest[part.len()..];
        if rest.is_empty() || part.is_empty() {
            return parts;
        }
    }
}

/// Returns a time as seconds since 1970, with its parts.
fn seconds(at: UnixMicros) -> String {
    format!("{}.{:06}", at.0.div_euclid(1_000_000), at.0.rem_euclid(1_000_000))
}

/// Returns a line as a reader of plain text has it.
fn text(text: &str) -> String {
    match text.strip_prefix("\u{1}ACTION ") {
        Some(action) => format!("/me {}", action.trim_end_matches('\u{1}')),
        None => text.to_owned(),
    }
}
