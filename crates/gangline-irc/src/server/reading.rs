//! How far people have read: what a session was shown and has surely read, and the marks of it,
//! which outlive the session.
//!
//! A line counts as read once something was heard from its session after the line was written.
//! Clients that ask for history themselves are followed too: the same person may come back with one
//! that does not. Agents, bots and strangers are not followed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gangline_os::clock::UnixMicros;

use super::store::{MARKS_MAX, Party, ReadMark};

#[cfg(test)]
mod tests;

/// The place that stands for all private conversations of a reader.
pub(super) const PRIVATE: &str = "";

/// Lines that are followed one by one; beyond them the newest ones count together.
const WAITING_MAX: usize = 16;
/// Looks after which somebody is asked whether they have read although lines keep coming.
const LOOKS_MAX: u8 = 12;

/// What a session was shown. Lines have one order in all places, and are shown in it: whoever has
/// read up to a line has read what was shown before it, wherever that was.
#[derive(Debug, Default)]
pub(super) struct Reading {
    places: BTreeMap<String, Place>,
    /// Lines that were shown and not read yet: how many bytes must have been proven, which line.
    waiting: VecDeque<(u64, i64)>,
    /// The newest line that was shown, and the newest private one.
    newest: i64,
    private: i64,
    /// The newest line at the last look, and how many looks ago the first one came.
    looked: (i64, u8),
}

#[derive(Debug, Default)]
struct Place {
    /// The newest line when the session came in: what was missed goes up to it.
    since: i64,
    missed: Shown,
    /// How many bytes were queued when what was missed was.
    opened: u64,
    /// The newest line that counts as read.
    read: Option<i64>,
}

/// Whether a session was shown what was missed in a place. Nothing is read there before.
#[derive(Debug, Default, PartialEq, Eq)]
enum Shown {
    /// It was.
    Yes,
    /// It was not.
    #[default]
    No,
    /// The session asks for history itself; it has not been given these lines yet.
    AllBut(BTreeSet<i64>),
}

/// Whether something that was missed has to be shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// It has.
    Behind,
    /// Nothing was missed.
    UpToDate,
}

impl Reading {
    /// The session is in a place now, whose newest line was `since`.
    pub(super) fn enter(&mut self, place: &str, since: i64, entry: Entry) {
        let (missed, read) = match entry {
            Entry::Behind => (Shown::No, None),
            Entry::UpToDate => (Shown::Yes, Some(since)),
        };
        self.places.insert(place.to_owned(), Place { since, missed, opened: 0, read });
    }

    pub(super) fn leave(&mut self, place: &str) {
        self.places.remove(place);
    }

    pub(super) fn since(&self, place: &str) -> Option<i64> {
        self.places.get(place).map(|place| place.since)
    }

    /// Returns the places and what was newest in each when the session came in.
    pub(super) fn places(&self) -> Vec<(String, i64)> {
        self.places.iter().map(|(name, place)| (name.clone(), place.since)).collect()
    }

    /// A line was queued; with it `bytes` were, all in all. Returns whether that is followed.
    pub(super) fn shown(&mut self, bytes: u64, seq: i64) -> bool {
        if self.places.is_empty() {
            return false;
        }
        self.newest = seq;
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.pop_back();
        }
        self.waiting.push_back((bytes, seq));
        true
    }

    /// The same of a private line.
    pub(super) fn shown_alone(&mut self, bytes: u64, seq: i64) -> bool {
        self.private = seq;
        self.shown(bytes, seq)
    }

    /// What was missed is queued; with it `bytes` were.
    pub(super) fn opened(&mut self, place: &str, bytes: u64) {
        let Some(place) = self.places.get_mut(place) else { return };
        place.missed = Shown::Yes;
        place.opened = bytes;
        let seq = self.newest.max(place.since);
        self.shown(bytes, seq);
    }

    /// The session has to ask for these lines itself.
    pub(super) fn has_to_ask_for(&mut self, place: &str, lines: BTreeSet<i64>) {
        let Some(place) = self.places.get_mut(place) else { return };
        place.missed = Shown::AllBut(lines);
    }

    /// Lines of history were queued. Returns whether these were the last of those that the session
    /// had to ask for.
    pub(super) fn given(&mut self, place: &str, lines: impl Iterator<Item = i64>) -> bool {
        let place = self.places.get_mut(place);
        let Some(Shown::AllBut(missing)) = place.map(|place| &mut place.missed) else {
            return false;
        };
        lines.for_each(|line| {
            missing.remove(&line);
        });
        missing.is_empty()
    }

    /// Returns whether something would be read if anything were heard.
    pub(super) fn waits(&self) -> bool {
        !self.waiting.is_empty() && self.places.values().any(|it| it.missed == Shown::Yes)
    }

    /// Looks whether it is time to ask: no line came since the last look, or lines keep coming.
    pub(super) fn is_to_be_asked(&mut self) -> bool {
        let (seen, looks) = self.looked;
        let asks = seen == self.newest || looks >= LOOKS_MAX;
        self.looked = (self.newest, if asks { 0 } else { looks + 1 });
        asks
    }

    /// Takes out what is read when `proven` bytes are; returns the newest line of each place in which
    /// something is. `newest` is the place of the newest line of a room.
    pub(super) fn read(&mut self, proven: u64, newest: impl Fn(&str) -> i64) -> Vec<(String, i64)> {
        let mut upto = None;
        while let Some((_, seq)) = self.waiting.front().filter(|(at, _)| *at <= proven) {
            upto = upto.max(Some(*seq));
            self.waiting.pop_front();
        }
        let Some(upto) = upto else { return Vec::new() };
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
        let mut read = Vec::new();
        let open = |place: &Place| place.missed == Shown::Yes && place.opened <= proven;
        for (name, place) in self.places.iter_mut().filter(|(_, place)| open(place)) {
            let last = if name == PRIVATE { self.private } else { newest(name) };
            let seq = last.min(upto).max(place.since);
            if place.read < Some(seq) {
                place.read = Some(seq);
                read.push((name.clone(), seq));
            }
        }
        read
    }
}

/// Who reads: a party under a nick (folded).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reader {
    pub(super) party: Party,
    pub(super) nick: String,
}

type Key = (String, String, String);

/// All marks, at most [`MARKS_MAX`].
#[derive(Debug, Default)]
pub(super) struct ReadMarks {
    marks: BTreeMap<Key, (i64, UnixMicros)>,
    /// The same by their age: in a storm of new rooms each makes the oldest one go.
    ages: BTreeSet<(UnixMicros, Key)>,
}

impl ReadMarks {
    pub(super) fn load(&mut self, marks: Vec<ReadMark>) {
        for mark in marks {
            let key = (mark.party.key(), mark.nick, mark.place);
            if let Some(seq) = mark.seq {
                self.put(key, seq, mark.at);
            }
        }
    }

    /// Returns how far the reader has read a place. Under a new nick an account has read what it
    /// has under any other.
    pub(super) fn get(&self, reader: &Reader, place: &str) -> Option<i64> {
        let key = (reader.party.key(), reader.nick.clone(), place.to_owned());
        if let Some((seq, _)) = self.marks.get(&key) {
            return Some(*seq);
        }
        let from: Key = (key.0.clone(), String::new(), String::new());
        let of_party = self.marks.range(from..).take_while(|((party, ..), _)| *party == key.0);
        of_party.filter(|((.., at), _)| at == place).map(|(_, (seq, _))| *seq).max()
    }

    /// Moves a mark forward; returns what is to be kept.
    pub(super) fn set(
        &mut self,
        reader: &Reader,
        (place, seq): (&str, i64),
        now: UnixMicros,
    ) -> Vec<ReadMark> {
        let key = (reader.party.key(), reader.nick.clone(), place.to_owned());
        let known = self.marks.get(&key).map(|(seq, _)| *seq);
        if known.is_some_and(|known| known >= seq) {
            return Vec::new();
        }
        let mut changed = Vec::new();
        if known.is_none() && self.marks.len() >= MARKS_MAX {
            changed.extend(self.forget_oldest(now));
        }
        changed.push(mark(&key, Some(seq), now));
        self.put(key, seq, now);
        changed
    }

    /// Forgets all marks of a reader; returns what is to be kept.
    pub(super) fn forget(&mut self, reader: &Reader, now: UnixMicros) -> Vec<ReadMark> {
        let (party, nick) = (reader.party.key(), &reader.nick);
        let is_its = |key: &Key| key.0 == party && key.1 == *nick;
        let gone: Vec<Key> = self.marks.keys().filter(|key| is_its(key)).cloned().collect();
        gone.iter().for_each(|key| self.remove(key));
        gone.iter().map(|key| mark(key, None, now)).collect()
    }

    fn forget_oldest(&mut self, now: UnixMicros) -> Option<ReadMark> {
        let (_, key) = self.ages.first()?.clone();
        self.remove(&key);
        Some(mark(&key, None, now))
    }

    fn put(&mut self, key: Key, seq: i64, at: UnixMicros) {
        self.remove(&key);
        self.ages.insert((at, key.clone()));
        self.marks.insert(key, (seq, at));
    }

    fn remove(&mut self, key: &Key) {
        if let Some((_, at)) = self.marks.remove(key) {
            self.ages.remove(&(at, key.clone()));
        }
    }
}

fn mark((party, nick, place): &Key, seq: Option<i64>, at: UnixMicros) -> ReadMark {
    let party = Party::from_key(party);
    ReadMark { party, nick: nick.clone(), place: place.clone(), seq, at }
}
