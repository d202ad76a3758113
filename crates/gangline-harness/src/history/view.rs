//! The view: which part of the conversation is sent to the model. Pure.
//!
//! The conversation itself is never touched (R4-11, C13). A view begins at the last summary or at
//! the last clearing, leaves out what was refused, and may lack thoughts that the API no longer
//! takes.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use crate::wire::{Block, Message, Role};

/// How many instructions are remembered for the next summary.
const INSTRUCTIONS: usize = 48;

/// What the harness says to a model whose response was cut off at its limit; no instruction of a
/// person.
pub(crate) const CONTINUE: &str = "[Your response reached its length limit and was cut off. Go on \
     exactly where it ended, without an apology and without repeating what was said.]";

/// Which messages are sent.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Stands for everything before `from`.
    head: Option<Message>,
    /// The first message that is sent.
    from: usize,
    /// Stretches that are left out; each ends where the conversation ended then.
    hidden: Vec<Range<usize>>,
    /// Messages before this one are sent without their thoughts.
    thoughts_from: usize,
    /// What people said, with the number of its message.
    instructions: VecDeque<(usize, String)>,
}

impl View {
    /// Returns a view that begins with a summary of everything before the message `from`.
    pub(super) fn beginning(from: usize, content: Vec<Block>, instructions: Vec<String>) -> Self {
        let head = Some(Message { role: Role::User, content });
        let before = from.saturating_sub(1);
        let instructions = instructions.into_iter().map(|text| (before, text)).collect();
        Self { head, instructions, ..Self::empty(from) }
    }

    /// Returns a view without anything before the message `from`.
    pub(super) fn empty(from: usize) -> Self {
        Self { from, thoughts_from: from, ..Self::default() }
    }

    /// Leaves out the messages from `from` to the end of the conversation, and what was said in
    /// them.
    pub(super) fn hide(&mut self, from: usize, end: usize) {
        let from = from.max(self.from);
        if from < end {
            self.hidden.push(from..end);
            self.instructions.retain(|(message, _)| *message < from);
        }
    }

    /// Leaves out all thoughts before the message `end`.
    pub(super) fn drop_thoughts(&mut self, end: usize) {
        self.thoughts_from = end;
    }

    /// Remembers what a person said in this message.
    pub(super) fn heard(&mut self, message: usize, content: &[Block]) {
        let texts = content.iter().filter_map(Block::as_text).filter(|text| *text != CONTINUE);
        self.instructions.extend(texts.map(|text| (message, text.to_owned())));
        let excess = self.instructions.len().saturating_sub(INSTRUCTIONS);
        self.instructions.drain(..excess);
    }

    /// Returns the latest instructions, oldest first.
    pub(super) fn instructions(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> {
        self.instructions.iter().map(|(message, text)| (*message, text.as_str()))
    }

    /// Returns what is sent of the conversation.
    pub(super) fn of<'a>(&'a self, messages: &'a [Message]) -> Vec<Cow<'a, Message>> {
        let shown = (self.from..messages.len())
            .filter(|number| !self.hidden.iter().any(|hidden| hidden.contains(number)))
            .map(|number| match number < self.thoughts_from {
                true => without_thoughts(&messages[number]),
                false => Cow::Borrowed(&messages[number]),
            });
        self.head.iter().map(Cow::Borrowed).chain(shown).collect()
    }
}

fn without_thoughts(message: &Message) -> Cow<'_, Message> {
    if !message.content.iter().any(Block::is_thought) {
        return Cow::Borrowed(message);
    }
    let content = message.content.iter().filter(|block| !block.is_thought()).cloned().collect();
    Cow::Owned(Message { role: message.role, content })
}

#[cfg(test)]
mod tests;
