//! Edits that undo each other in the same file.

use std::collections::VecDeque;

use crate::watch::{Edit, digest};

/// A change has been undone, or made again after that, so often. Once or twice is an experiment: without the
/// change, and with it again. Three times is a line for debugging that came and went twice.
pub(crate) const UNDONE: u32 = 4;
/// The most changes that are remembered.
pub(crate) const REMEMBERED: usize = 64;

#[derive(Debug)]
struct Change {
    file: u64,
    /// The latest change between the two texts.
    before: u64,
    after: u64,
    undone: u32,
}

/// A change that was undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Undone {
    pub(super) key: String,
    pub(super) nth: u32,
    pub(super) times: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The file has what it had.
    Nothing,
    /// It has changed.
    Changed,
    /// It has changed back.
    Undone(Undone),
}

#[derive(Debug, Default)]
pub(super) struct Changes {
    rows: VecDeque<Change>,
    /// The last whole content of files.
    whole: VecDeque<(u64, u64)>,
}

impl Changes {
    pub(super) fn edited(&mut self, edit: &Edit) -> Outcome {
        let file = digest(edit.file.as_str());
        let Some(before) = edit.before.or_else(|| self.replaced(file, edit.after)) else {
            return Outcome::Changed;
        };
        if before == edit.after {
            return Outcome::Nothing;
        }
        let back = |it: &Change| (it.file, it.before, it.after) == (file, edit.after, before);
        let same = |it: &Change| (it.file, it.before, it.after) == (file, before, edit.after);
        if self.rows.iter().any(same) {
            return Outcome::Changed;
        }
        let Some(known) = self.rows.iter_mut().find(|it| back(it)) else {
            if self.rows.len() >= REMEMBERED {
                self.rows.pop_front();
            }
            self.rows.push_back(Change { file, before, after: edit.after, undone: 0 });
            return Outcome::Changed;
        };
        (known.before, known.after) = (before, edit.after);
        known.undone = known.undone.saturating_add(1);
        let pair = digest(&format!("{file} {} {}", before.min(edit.after), before.max(edit.after)));
        Outcome::Undone(Undone {
            key: format!("rule/undone_edits/{pair:016x}"),
            nth: known.undone / UNDONE,
            times: known.undone,
        })
    }

    /// Remembers a file's whole content, and returns the one before, if it is known.
    fn replaced(&mut self, file: u64, content: u64) -> Option<u64> {
        if let Some((_, known)) = self.whole.iter_mut().find(|(it, _)| *it == file) {
            return Some(std::mem::replace(known, content));
        }
        if self.whole.len() >= REMEMBERED {
            self.whole.pop_front();
        }
        self.whole.push_back((file, content));
        None
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.rows.len() + self.whole.len()
    }
}
