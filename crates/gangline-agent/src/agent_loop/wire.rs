//! Conversions from the backend's types to the record's.

use gangline_api::{approval::wanted, event};
use gangline_core::{
    approval::{Audience, view},
    redact::Redactor,
};
use gangline_runtime::{AssistantMessage, Block};

use crate::shown_input::{self, Shown};

/// A message as the record has it.
pub(super) struct Recorded {
    pub(super) event: event::Assistant,
    /// Each of its calls in one line, in order.
    pub(super) calls: Vec<String>,
}

/// Returns the message as the record has it (R0-18): its words masked, its calls as they would be shown
/// to somebody who decides on them. Nothing more of these may be hidden.
pub(super) fn assistant(message: &AssistantMessage, redactor: &Redactor) -> Recorded {
    let words = |text: &str| redactor.redact(text).into_string();
    let mut calls = Vec::new();
    let mut block = |block: &Block| match block {
        Block::Text { text } => Block::Text { text: words(text) },
        Block::Thinking { thinking } => Block::Thinking { thinking: words(thinking) },
        Block::ToolUse { id, name, input } => {
            let shown = shown_input::recorded(name, input, redactor);
            calls.push(in_a_line(name, &shown));
            Block::ToolUse { id: id.clone(), name: words(name), input: shown.input }
        }
    };
    let content = message.content.iter().map(&mut block).collect();
    Recorded { event: event::Assistant { model: words(&message.model), content }, calls }
}

/// Returns in one line what a call does, for everybody; empty if owners alone are shown that.
pub(super) fn in_a_line(tool: &str, shown: &Shown) -> String {
    match shown.audience {
        Audience::Everybody => view::summary(&wanted(tool, &shown.input)),
        Audience::Owners => String::new(),
    }
}
