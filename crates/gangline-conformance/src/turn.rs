//! One prompt of the suite, and its turn once it is over.

use std::sync::atomic::{AtomicI64, Ordering};

use gangline_core::{Epoch, TurnId};

use gangline_runtime::{ApprovalAsk, Block, RuntimeEvent, TurnResult};

/// Why something does not hold, in one line.
pub(super) type Why = String;

/// A prompt that was given.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) turn: TurnId,
    /// The word in it that stands in no other prompt.
    pub(super) word: String,
}

/// A turn that is over.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) said: Said,
    pub(super) events: Vec<RuntimeEvent>,
    pub(super) asked: Vec<ApprovalAsk>,
    pub(super) result: TurnResult,
}

impl Said {
    /// Takes a number that no prompt of this process has had: words of sessions that are gone
    /// still stand in files and requests. `tag` is the session's name.
    pub(super) fn new(tag: &str) -> Self {
        static NEXT: AtomicI64 = AtomicI64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let turn = TurnId { epoch: Epoch(1), number };
        Self { turn, word: format!("{tag}-{number}-x") }
    }
}

impl Turn {
    pub(super) fn completed(&self) -> Result<(), Why> {
        match &self.result {
            TurnResult::Completed => Ok(()),
            other => Err(format!("the turn ended as {other:?}")),
        }
    }

    /// Returns all that the model said in words.
    pub(super) fn text(&self) -> String {
        let mut all = String::new();
        for event in &self.events {
            if let RuntimeEvent::Message { message, .. } = event {
                for block in &message.content {
                    if let Block::Text { text } = block {
                        all.push_str(text);
                        all.push('\n');
                    }
                }
            }
        }
        all
    }

    pub(super) fn said_text(&self, words: &str) -> Result<(), Why> {
        let text = self.text();
        let short: String = text.chars().take(200).collect();
        if text.contains(words) { Ok(()) } else { Err(format!("{words:?} is not in {short:?}")) }
    }
}
