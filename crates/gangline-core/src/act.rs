//! What an agent's calls do for others: a line is sent, a letter, a question, a reminder, a request.
//!
//! An attempt at a message may die after such a call, and the next attempt makes the call again. Each
//! act is recorded under a key of what it does; the same call of a later attempt is answered with the
//! act that is there, once for each. Start at [`first_free`].

use crate::{digest::sha256_hex, words};

#[cfg(test)]
mod tests;

/// How many bytes of the hash are in a key.
const HASH: usize = 16;

words! {
    /// What kind of thing a call does.
    ActKind, "kind of act" {
        /// A line to a room, a person or an agent.
        Send = "send",
        /// A letter to the owners.
        Letter = "letter",
        /// A question.
        Question = "question",
        /// A reminder.
        Reminder = "reminder",
        /// A manager's request for a change.
        Change = "change",
        /// A manager's order to another agent's daemon.
        Order = "order",
    }
}

/// What a call does, hashed: equal for calls of the same kind with the same arguments. The store keeps
/// it, so how it is made never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActKey(String);

impl ActKey {
    /// Returns the key of a call with these arguments, which are masked already.
    #[must_use]
    pub fn new(kind: ActKind, arguments: &[&str]) -> Self {
        let mut whole = kind.as_str().to_owned();
        for argument in arguments {
            // With its length, no argument runs over into the next.
            whole.push_str(&format!("\n{}:{argument}", argument.len()));
        }
        Self(sha256_hex(whole.as_bytes(), HASH))
    }

    /// Returns the text that is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A turn that made the call of an act again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Taken {
    /// The turn that asks now.
    Now,
    /// Another one that did not complete: its next attempt makes the call once more.
    Unfinished,
    /// One that completed: the act was its.
    Finished,
}

/// An act of an earlier attempt that did not complete.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Earlier {
    /// Its number in the store; a later act has a higher one.
    pub id: i64,
    /// Whether anybody got it, or still can: not so for a line that could not be delivered.
    pub arrives: bool,
    /// The turns that made its call again.
    pub taken: Vec<Taken>,
}

/// Returns the act that a call is answered with; `None`: the call does something new.
///
/// `earlier` are the acts with the call's key, of all attempts that did not complete and share a
/// message with the turn. An act is free until the turn itself has taken it, or one that completed.
#[must_use]
pub fn first_free(earlier: &[Earlier]) -> Option<i64> {
    let is_free =
        |act: &&Earlier| act.arrives && act.taken.iter().all(|taken| *taken == Taken::Unfinished);
    earlier.iter().filter(is_free).map(|act| act.id).min()
}
