//! Whether a program tells again what is on record of its session.
//!
//! What is told again is a sequence of recorded texts, thoughts and calls, in their order. Some may be
//! left out, at the beginning too: programs shorten their histories. Texts come in pieces that are cut
//! anywhere, and are compared without spaces. Pieces that could still be a recorded text are kept back
//! until that text is complete. With the first piece that fits nothing, the model has begun to answer:
//! that piece is new, and so are those that were kept back. Pure. Start at [`Replay::hears`].

use gangline_core::{block::Block, redact::MASK};
use gangline_os::json::{Edges, Joiner};

use crate::acp::update::Update;

/// Stands for a secret that is masked in the record.
const SECRET: char = '\0';

/// So much may be kept back, in bytes and in pieces; no answer of a model is so long.
const KEPT_MAX: usize = 4 * 1024 * 1024;
const PIECES_MAX: usize = 1 << 17;

/// Something that a program told, and the halves of characters at its edges.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) update: Update,
    pub(super) edges: Edges,
}

/// What a piece is.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// It is told again, or may be. So many pieces are known to be, beside those of before.
    Again(u64),
    /// It is new, and so are the pieces that were kept back; in order. Nothing is told again any more.
    New(Vec<Piece>),
}

/// Something on record.
#[derive(Debug, PartialEq)]
enum Item {
    /// Without spaces and what is no character; [`SECRET`] is any text.
    Text(String),
    /// The same.
    Thought(String),
    Call(String),
}

impl Item {
    fn of(block: Block) -> Option<Self> {
        Some(match block {
            Block::Text { text } => Self::Text(recorded(&text)?),
            Block::Thinking { thinking } => Self::Thought(recorded(&thinking)?),
            Block::ToolUse { id, .. } => Self::Call(id),
        })
    }

    fn words(&self) -> Option<(Kind, &str)> {
        match self {
            Self::Text(words) => Some((Kind::Text, words)),
            Self::Thought(words) => Some((Kind::Thought, words)),
            Self::Call(_) => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thought,
}

/// A spot in the record: an item, and a byte of its words.
type Spot = (usize, usize);

/// The record of a session, and how far it was told again.
#[derive(Debug)]
pub(super) struct Replay {
    items: Vec<Item>,
    /// The item behind the last that was told to its end.
    next: usize,
    /// What was told may end there, in the middle of these items.
    inside: Vec<Spot>,
    /// What was told ends with an item, so that any item from `next` on may follow.
    whole: bool,
    /// What may be told again, since the last item that was told to its end.
    kept: Vec<Piece>,
    /// The size of that, in bytes.
    size: usize,
    /// Puts the pieces together.
    joiner: Joiner,
}

impl Replay {
    pub(super) fn of(past: Vec<Block>) -> Self {
        Self {
            items: past.into_iter().filter_map(Item::of).collect(),
            next: 0,
            inside: Vec::new(),
            whole: true,
            kept: Vec::new(),
            size: 0,
            joiner: Joiner::default(),
        }
    }

    /// Takes something that the program tells.
    pub(super) fn hears(&mut self, piece: Piece) -> Heard {
        let (kind, text) = match &piece.update {
            Update::Text { text, .. } => (Kind::Text, text),
            Update::Thought { text } => (Kind::Thought, text),
            Update::Tool(patch) if self.has_call(&patch.id) => {
                // What was kept back stands before it.
                return Heard::Again(self.complete());
            }
            _ => return self.new_from(piece),
        };
        self.size += text.len();
        let words = squashed(&self.joiner.join(text.clone(), piece.edges));
        if self.size > KEPT_MAX || self.kept.len() > PIECES_MAX {
            return self.new_from(piece);
        }
        if words.is_empty() {
            self.kept.push(piece);
            return Heard::Again(0);
        }
        let ends = self.follow(kind, &words);
        let complete = ends.iter().filter(|spot| self.is_end(**spot));
        if let Some(next) = complete.map(|(item, _)| item + 1).min() {
            self.next = next;
            let again = self.complete();
            self.inside = ends.into_iter().filter(|spot| !self.is_over(*spot)).collect();
            return Heard::Again(again);
        }
        if ends.is_empty() {
            return self.new_from(piece);
        }
        (self.inside, self.whole) = (ends, false);
        self.kept.push(piece);
        Heard::Again(0)
    }

    /// Takes something that is known to be of the past, whatever is on record.
    pub(super) fn skips(&mut self, piece: Piece) {
        // A text that is not on record is followed by one that may be.
        if let Heard::New(_) = self.hears(piece) {
            self.take_kept();
        }
    }

    /// Returns what is kept back, of an item that is not told to its end.
    pub(super) fn take_kept(&mut self) -> Vec<Piece> {
        self.inside.clear();
        (self.whole, self.size) = (true, 0);
        std::mem::take(&mut self.kept)
    }

    /// Says whether something is kept back.
    pub(super) fn keeps(&self) -> bool {
        !self.kept.is_empty()
    }

    /// An item was told to its end by one more piece. Returns in how many.
    fn complete(&mut self) -> u64 {
        let kept = self.take_kept();
        u64::try_from(kept.len()).unwrap_or_default().saturating_add(1)
    }

    fn new_from(&mut self, piece: Piece) -> Heard {
        let mut new = self.take_kept();
        new.push(piece);
        self.joiner = Joiner::default();
        Heard::New(new)
    }

    /// Says whether a call is on record. Calls that ran at the same time are told in any order.
    fn has_call(&mut self, id: &str) -> bool {
        let is_it = |item: &Item| matches!(item, Item::Call(call) if call == id);
        let Some(at) = self.items.iter().rposition(is_it) else { return false };
        self.next = self.next.max(at + 1);
        true
    }

    /// Returns the places at which these words end.
    fn follow(&self, kind: Kind, words: &str) -> Vec<Spot> {
        let begins = if self.whole { self.next..self.items.len() } else { 0..0 };
        let spots = self.inside.iter().copied().chain(begins.map(|item| (item, 0)));
        let of_kind = |spot: &Spot| self.words(spot.0).is_some_and(|(its, _)| its == kind);
        let mut spots: Vec<Spot> = spots.filter(of_kind).collect();
        for c in words.chars() {
            spots = spots.into_iter().flat_map(|spot| self.step(spot, c)).collect();
            spots.sort_unstable();
            spots.dedup();
        }
        spots
    }

    /// Returns where one is behind this character.
    fn step(&self, (item, at): Spot, c: char) -> Vec<Spot> {
        let Some((kind, words)) = self.words(item) else { return Vec::new() };
        let Some(wanted) = words[at..].chars().next() else {
            // The words that follow may be told in one piece with these.
            let is_next = |next: &usize| self.words(*next).is_some_and(|(its, _)| its == kind);
            let next = (item + 1..self.items.len()).find(is_next);
            return next.map_or_else(Vec::new, |next| self.step((next, 0), c));
        };
        let behind = at + wanted.len_utf8();
        if wanted == c {
            return vec![(item, behind)];
        }
        if wanted != SECRET {
            return Vec::new();
        }
        let mut spots = self.step((item, behind), c);
        spots.push((item, at));
        spots
    }

    fn words(&self, item: usize) -> Option<(Kind, &str)> {
        self.items.get(item)?.words()
    }

    /// Says whether the item is complete; a secret at its end may be.
    fn is_end(&self, (item, at): Spot) -> bool {
        self.words(item).is_some_and(|(_, words)| words[at..].chars().all(|c| c == SECRET))
    }

    /// Says whether nothing more of the item can come.
    fn is_over(&self, (item, at): Spot) -> bool {
        self.words(item).is_none_or(|(_, words)| at == words.len())
    }
}

/// Returns the words of a text on record; `None` if there is nothing in it to compare.
fn recorded(text: &str) -> Option<String> {
    let mut words = String::with_capacity(text.len());
    for (number, part) in text.split(MASK).enumerate() {
        if number > 0 && !words.ends_with(SECRET) {
            words.push(SECRET);
        }
        words.push_str(&squashed(part));
    }
    words.contains(|c| c != SECRET).then_some(words)
}

/// Returns the words by which a text is compared.
fn squashed(text: &str) -> String {
    let counts = |c: &char| !c.is_whitespace() && *c != char::REPLACEMENT_CHARACTER && *c != SECRET;
    text.chars().filter(counts).collect()
}

#[cfg(test)]
mod tests;
