//! Marks of what was read that wait to be kept. While the disk is full they wait for long, so there
//! is a bound.

use std::collections::{BTreeMap, BTreeSet};

use gangline_os::clock::UnixMicros;

use super::store::{MARKS_MAX, ReadMark};

#[cfg(test)]
mod tests;

/// Marks that wait at most: each that is kept may be forgotten for another one.
pub const UNKEPT_MAX: usize = 2 * MARKS_MAX;

/// Party, nick and place.
type Key = (String, String, String);

/// The newest mark of each party, nick and place; of more than [`UNKEPT_MAX`] the newest ones.
#[derive(Debug, Default)]
pub struct UnkeptMarks {
    marks: BTreeMap<Key, ReadMark>,
    /// The same by their age: in a storm of strangers each mark makes the oldest one go.
    ages: BTreeSet<(UnixMicros, Key)>,
}

impl UnkeptMarks {
    /// Adds a mark, in place of an older one of its party, nick and place. The oldest goes when
    /// there are too many; what it says was read is shown again.
    pub fn add(&mut self, mark: ReadMark) {
        let key = (mark.party.key(), mark.nick.clone(), mark.place.clone());
        let at = mark.at;
        if let Some(before) = self.marks.insert(key.clone(), mark) {
            self.ages.remove(&(before.at, key.clone()));
        }
        self.ages.insert((at, key));
        if self.marks.len() > UNKEPT_MAX
            && let Some((_, oldest)) = self.ages.pop_first()
        {
            self.marks.remove(&oldest);
        }
    }

    /// Returns whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Returns those that wait.
    pub fn iter(&self) -> impl Iterator<Item = &ReadMark> {
        self.marks.values()
    }

    /// Forgets all: they are kept.
    pub fn clear(&mut self) {
        self.ages.clear();
        self.marks.clear();
    }

    /// Takes all out.
    pub fn take(&mut self) -> Vec<ReadMark> {
        self.ages.clear();
        std::mem::take(&mut self.marks).into_values().collect()
    }
}
