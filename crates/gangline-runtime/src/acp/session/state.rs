//! What [`super::Session`] keeps.

use gangline_core::TurnId;
use gangline_os::json::Joiner;
use serde_json::Value;

use crate::NamedFile;

/// How far the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The program was greeted.
    Greeting,
    /// A session was asked for.
    Opening,
    /// Its model is being set.
    Choosing,
    /// Prompts can be given.
    Open,
    /// The program wants a login first.
    LoggedOut,
}

/// What the program says that it can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Can {
    pub(super) load: bool,
    pub(super) resume: bool,
    pub(super) http: bool,
}

/// How a session is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// An empty one.
    New,
    /// A kept one, whose past is told again.
    Load,
    /// A kept one.
    Resume,
}

/// A request of ours that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sent {
    Greeting,
    Open(Way),
    Guard,
    /// In a session that is open.
    GuardAgain,
    /// `when`: before the session is told to be open, or later.
    Mode {
        to: String,
        /// By the choice that stands for the modes.
        by_choice: bool,
        when: When,
    },
    /// `first`: before the session is told to be open; then a way that is left to try.
    Model {
        model: String,
        first: When,
    },
    Prompt,
    Compact,
}

/// When a model or a mode is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    AtTheStart,
    Ordered,
}

/// Something that is done between turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    Model(String),
    Compact,
    Clear,
}

/// A question that waits for a human.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ask {
    /// The program's id of the request.
    pub(super) id: Value,
    pub(super) options: Vec<Choosable>,
    /// The files that it is about, and where they led.
    pub(super) files: Vec<NamedFile>,
}

/// One answer that the program takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choosable {
    pub(super) id: String,
    pub(super) kind: String,
}

/// Words that have come so far and are not told yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Words {
    #[default]
    None,
    Text {
        message: Option<String>,
        text: String,
    },
    Thought(String),
}

#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    pub(super) accepted: bool,
    /// We asked for its end.
    pub(super) asked: bool,
    pub(super) words: Words,
    /// Puts the pieces of the words together.
    pub(super) joiner: Joiner,
    /// The model said something, or wanted a tool.
    pub(super) busy: bool,
    /// Words were the last that it did.
    pub(super) spoke: bool,
    /// An error of the program that came as a text, if nothing came after it.
    pub(super) error: Option<String>,
    /// Why calls were refused since the last prompt.
    pub(super) refused: Vec<String>,
    /// Prompts that only told the model of a refusal.
    pub(super) told: u32,
    /// Something was told again in it that was said before.
    pub(super) told_again: bool,
}

impl Turn {
    pub(super) fn new(id: TurnId) -> Self {
        Self {
            id,
            accepted: false,
            asked: false,
            words: Words::None,
            joiner: Joiner::default(),
            busy: false,
            spoke: false,
            error: None,
            refused: Vec::new(),
            told: 0,
            told_again: false,
        }
    }
}

/// Token counts of the process so far, where the program counts so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) cost_micros: u64,
}
