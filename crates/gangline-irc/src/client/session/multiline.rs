//! Messages of several lines (`draft/multiline`), put together to the one that they are.

use std::collections::HashMap;

use super::{Retry, Session};
use crate::wire::{
    Message,
    batch::{self, Mark},
    multiline::{CONCAT, MULTILINE},
};

/// The most messages that are open at once; more are an attack on our memory.
const OPEN_MAX: usize = 32;
/// The most bytes of one message that are kept.
const BYTES_MAX: usize = 64 * 1024;
/// What stands between two lines of such a message: it is one line for us, as all others.
const BREAK: &str = " \u{23ce} ";

/// Messages whose end has not come yet, by the name of their batch.
#[derive(Debug, Default)]
pub(super) struct Multiline(HashMap<String, Part>);

#[derive(Debug)]
struct Part {
    /// The line that has begun the batch.
    start: Message,
    command: Option<String>,
    text: String,
}

impl Session {
    /// Takes a line or an edge of such a message. Returns what is to be done with instead: nothing, the
    /// line itself, or the whole message.
    pub(super) fn multiline(&mut self, message: Message) -> Option<Message> {
        match batch::mark(&message) {
            Some(Mark::Start { reference, kind: MULTILINE, .. }) => {
                if self.multiline.0.len() >= OPEN_MAX {
                    self.close("the server opened too many batches", Retry::Usual);
                    return None;
                }
                let (reference, text) = (reference.to_owned(), String::new());
                self.multiline.0.insert(reference, Part { start: message, command: None, text });
                None
            }
            Some(Mark::End { reference }) => match self.multiline.0.remove(reference) {
                Some(part) => part.whole(),
                None => Some(message),
            },
            Some(Mark::Start { .. }) => Some(message),
            None => match batch::of(&message).and_then(|name| self.multiline.0.get_mut(name)) {
                Some(part) => {
                    part.add(&message);
                    None
                }
                None => Some(message),
            },
        }
    }
}

impl Part {
    fn add(&mut self, line: &Message) {
        let text = line.at(1).unwrap_or("");
        let first = self.command.is_none();
        if self.text.len() + text.len() > BYTES_MAX {
            return;
        }
        if !first && line.tag(CONCAT).is_none() {
            self.text.push_str(BREAK);
        }
        self.text.push_str(text);
        self.command.get_or_insert_with(|| line.command.clone());
    }

    fn whole(self) -> Option<Message> {
        let target = self.start.at(2)?.to_owned();
        let params = vec![target, self.text];
        Some(Message { command: self.command?, params, ..self.start })
    }
}
