//! The conversation: built from records alone, so that memory and a replayed log cannot differ.
//!
//! Each record goes to the log first, then into memory. Blocks are only ever added at the end. What
//! of it is sent to the model is the [`View`].

mod view;

use std::borrow::Cow;
use std::path::Path;

pub(crate) use self::view::CONTINUE;
use self::view::View;

use crate::session::{Record, SessionError, SessionLog};
use crate::tool::ToolResult;
use crate::wire::{Block, Message, Role, Usage, open_calls};

/// A conversation and its log, if it has one.
#[derive(Debug, Default)]
pub(crate) struct History {
    messages: Vec<Message>,
    /// The last message is a response that has not ended.
    open: bool,
    log: Option<SessionLog>,
    id: Option<String>,
    view: View,
}

impl History {
    /// Takes up the log of this path, or begins one, and closes what a crash left open.
    pub(crate) fn resume(path: &Path) -> Result<Self, SessionError> {
        let (log, records) = SessionLog::open(path)?;
        let mut history = Self { log: Some(log), ..Self::default() };
        records.into_iter().for_each(|record| history.apply(record));
        history.close("interrupted: the program ended before the tool was done")?;
        Ok(history)
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the messages that are sent to the model, in order.
    pub(crate) fn view(&self) -> Vec<Cow<'_, Message>> {
        self.view.of(&self.messages)
    }

    /// Returns the latest instructions of people that are still sent, oldest first, with the numbers
    /// of their messages.
    pub(crate) fn instructions(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> {
        self.view.instructions()
    }

    /// Returns what people have said from this message on.
    pub(crate) fn said_since(&self, message: usize) -> Vec<String> {
        let said = self.messages.iter().skip(message).filter(|it| it.role == Role::User);
        let texts = said.flat_map(|message| message.content.iter().filter_map(Block::as_text));
        texts.filter(|text| *text != CONTINUE).map(str::to_owned).collect()
    }

    /// Returns whether thoughts are sent.
    pub(crate) fn sends_thoughts(&self) -> bool {
        self.view().iter().any(|message| message.content.iter().any(Block::is_thought))
    }

    /// Returns the id of the session log.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Makes a record durable, then part of the conversation.
    pub(crate) fn append(&mut self, record: Record) -> Result<(), SessionError> {
        if let Some(log) = &mut self.log {
            log.append(&record)?;
        }
        self.apply(record);
        Ok(())
    }

    /// Ends a response that is open and answers every open tool call with this error.
    pub(crate) fn close(&mut self, reason: &str) -> Result<(), SessionError> {
        if self.open {
            self.append(Record::End { stop_reason: None, usage: Usage::default() })?;
        }
        for id in open_calls(&self.messages) {
            let block = Block::tool_result(&ToolResult::error(&id, reason));
            self.append(Record::Result { block })?;
        }
        Ok(())
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Session { id, .. } => self.id = Some(id),
            Record::User { content } => {
                self.open = false;
                self.view.heard(self.messages.len(), &content);
                self.messages.push(Message { role: Role::User, content });
            }
            Record::Block { block } => {
                match self.messages.last_mut() {
                    Some(last) if self.open => last.content.push(block),
                    Some(_) | None => {
                        self.messages.push(Message { role: Role::Assistant, content: vec![block] });
                    }
                }
                self.open = true;
            }
            Record::End { .. } => self.open = false,
            Record::Result { block } => match self.messages.last_mut() {
                Some(last) if last.role == Role::User => last.content.push(block),
                Some(_) | None => {
                    self.messages.push(Message { role: Role::User, content: vec![block] });
                }
            },
            Record::Summary { content, instructions, .. } => {
                self.open = false;
                self.view = View::beginning(self.messages.len(), content, instructions);
            }
            Record::Clear => {
                self.open = false;
                self.view = View::empty(self.messages.len());
            }
            Record::Refused { from } => self.view.hide(from, self.messages.len()),
            Record::ThoughtsDropped => self.view.drop_thoughts(self.messages.len()),
        }
    }
}
