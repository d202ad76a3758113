//! The lines of a file's change, as people read differences: `+` for new lines, `-` for those that
//! go, a blank before those that stay.

use similar::{ChangeTag, TextDiff};

use crate::{
    lookalike,
    redact::{self, Hidden},
    shown,
};

/// So many lines that stay are shown before and after a change.
const CONTEXT: usize = 3;
/// Behind an old line that must not count as equal to a new one. No file that is compared has it.
const UNLIKE: char = '\0';

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// It is there before and after.
    Stays(String),
    /// It goes.
    Goes(String),
    /// It is new.
    Comes(String),
    /// What a program says of the lines that follow, such as `@@ -1,2 +1,2 @@`.
    Heading(String),
}

/// The lines of a change, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// The lines.
    pub lines: Vec<Line>,
}

/// What is odd about the lines that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Odd {
    /// Lines with a letter that looks like another.
    pub alike: usize,
    /// Lines with characters that show nothing.
    pub unseen: usize,
}

impl Odd {
    /// Returns the sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { alike: self.alike + other.alike, unseen: self.unseen + other.unseen }
    }

    /// Returns it in words; nothing if nothing is odd.
    #[must_use]
    pub fn notes(self) -> Vec<String> {
        let has = |lines: usize, one: &str, many: &str| match lines {
            0 => None,
            1 => Some(format!("1 line has {one}")),
            lines => Some(format!("{lines} lines have {many}")),
        };
        let alike = "a letter that looks like another";
        let unseen = "characters that show nothing, written as `<U+…>`";
        let alike = has(self.alike, alike, "letters that look like others");
        alike.into_iter().chain(has(self.unseen, unseen, unseen)).collect()
    }
}

/// How many lines a change adds and removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// New lines.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
}

impl Counts {
    /// Returns the sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { added: self.added + other.added, removed: self.removed + other.removed }
    }
}

impl Change {
    /// Returns the change of a file that gets this content, whatever it held.
    #[must_use]
    pub fn to(content: &str) -> Self {
        Self { lines: split(content).map(|line| Line::Comes(line.to_owned())).collect() }
    }

    /// Returns the change of a file that goes, with this content.
    #[must_use]
    pub fn gone(content: &str) -> Self {
        Self { lines: split(content).map(|line| Line::Goes(line.to_owned())).collect() }
    }

    /// Returns the change from one text to another: what both begin and end with stays.
    #[must_use]
    pub fn between(old: &str, new: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (split(old).collect(), split(new).collect());
        let begin = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
        let (old_rest, new_rest) = (&old[begin..], &new[begin..]);
        let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
        let end = pairs.take_while(|(one, other)| one == other).count();
        let stays = |lines: &[&str]| -> Vec<Line> {
            lines.iter().map(|line| Line::Stays((*line).to_owned())).collect()
        };
        let mut lines = stays(&old[begin.saturating_sub(CONTEXT)..begin]);
        let goes = &old_rest[..old_rest.len() - end];
        let comes = &new_rest[..new_rest.len() - end];
        lines.extend(goes.iter().map(|line| Line::Goes((*line).to_owned())));
        lines.extend(comes.iter().map(|line| Line::Comes((*line).to_owned())));
        let after = &old_rest[old_rest.len() - end..];
        lines.extend(stays(&after[..after.len().min(CONTEXT)]));
        Self { lines }
    }

    /// Returns the change of a whole file: the parts that differ, each with what stays around it and a
    /// heading of where it is. Lines of which something is hidden may differ in that, so they count as
    /// different.
    #[must_use]
    pub fn compared(old: &str, new: &str) -> Self {
        let unlike = |line: &str| match redact::hides(line) {
            true => format!("{line}{UNLIKE}"),
            false => line.to_owned(),
        };
        let old: Vec<String> = split(old).map(unlike).collect();
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let new: Vec<&str> = split(new).collect();
        let diff = TextDiff::from_slices(&old, &new);
        let mut lines = Vec::new();
        for part in diff.grouped_ops(CONTEXT) {
            let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
            let span = |from: usize, to: usize| format!("{},{}", from + 1, to - from);
            let (from, to) = (first.old_range().start, last.old_range().end);
            let (new_from, new_to) = (first.new_range().start, last.new_range().end);
            let heading = format!("@@ -{} +{} @@", span(from, to), span(new_from, new_to));
            lines.push(Line::Heading(heading));
            for change in part.iter().flat_map(|op| diff.iter_changes(op)) {
                let text = change.value().to_owned();
                lines.push(match change.tag() {
                    ChangeTag::Equal => Line::Stays(text),
                    ChangeTag::Delete => Line::Goes(text.trim_end_matches(UNLIKE).to_owned()),
                    ChangeTag::Insert => Line::Comes(text),
                });
            }
        }
        Self { lines }
    }

    /// Returns the lines that come, as a text: of a change to a whole content all of it.
    #[must_use]
    pub fn content(&self) -> String {
        let comes = self.lines.iter().filter_map(|line| match line {
            Line::Comes(text) => Some(text.as_str()),
            Line::Stays(_) | Line::Goes(_) | Line::Heading(_) => None,
        });
        comes.collect::<Vec<_>>().join("\n")
    }

    /// Returns the change that a unified diff tells.
    #[must_use]
    pub fn of_unified(text: &str) -> Self {
        let mut in_hunk = false;
        let line = |line: &str| {
            in_hunk |= line.starts_with("@@");
            let rest = || line.get(1..).unwrap_or_default().to_owned();
            match line.as_bytes().first() {
                Some(b'+') if in_hunk => Line::Comes(rest()),
                Some(b'-') if in_hunk => Line::Goes(rest()),
                Some(b' ') if in_hunk => Line::Stays(rest()),
                Some(_) | None => Line::Heading(line.to_owned()),
            }
        };
        Self { lines: split(text).map(line).collect() }
    }

    /// Returns this change and then another one of the same file.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.lines.extend(other.lines);
        self
    }

    /// Returns how many lines come and go.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let count = |of: fn(&Line) -> bool| self.lines.iter().filter(|line| of(line)).count();
        Counts {
            added: count(|line| matches!(line, Line::Comes(_))),
            removed: count(|line| matches!(line, Line::Goes(_))),
        }
    }

    /// Returns what is odd about the lines that come.
    #[must_use]
    pub fn odd(&self) -> Odd {
        let comes = self.lines.iter().filter_map(|line| match line {
            Line::Comes(text) => Some(text.as_str()),
            Line::Stays(_) | Line::Goes(_) | Line::Heading(_) => None,
        });
        comes.fold(Odd::default(), |odd, text| {
            let alike = usize::from(lookalike::in_line(text).is_some());
            odd.plus(Odd { alike, unseen: usize::from(hides_something(text)) })
        })
    }

    /// Returns how much is hidden in the lines.
    #[must_use]
    pub fn hidden(&self) -> Hidden {
        let of = |line: &Line| match line {
            Line::Stays(text) | Line::Goes(text) | Line::Comes(text) | Line::Heading(text) => {
                redact::hidden(text)
            }
        };
        self.lines.iter().map(of).fold(Hidden::default(), Hidden::plus)
    }

    /// Returns the lines for a reader, with everything visible; behind one that comes with a letter that
    /// looks like another stands which.
    pub fn shown(&self) -> impl Iterator<Item = String> {
        self.lines.iter().flat_map(|line| {
            let (sign, text) = match line {
                Line::Stays(text) => ("  ", text),
                Line::Goes(text) => ("- ", text),
                Line::Comes(text) => ("+ ", text),
                Line::Heading(text) => ("", text),
            };
            let odd = match line {
                Line::Comes(text) => lookalike::in_line(text),
                Line::Stays(_) | Line::Goes(_) | Line::Heading(_) => None,
            };
            let odd = odd.map(|odd| format!("      note: {odd}"));
            std::iter::once(format!("  {sign}{}", shown::code(text))).chain(odd)
        })
    }
}

/// Returns whether something of a line shows nothing. The return before a break shows nothing either, and is
/// how some systems end each line.
fn hides_something(line: &str) -> bool {
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.chars().any(|c| shown::is_hidden(c) && c != '\t')
}

/// A text's lines; a break at its end begins no other line.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let none = text.is_empty();
    text.split('\n').filter(move |_| !none)
}

#[cfg(test)]
mod tests;
