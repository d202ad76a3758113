//! Recovery of a turn that was lost between T2 and T3: the answer rule over what was recorded of
//! it. A text that was recorded but never sent is no answer; sends and `no_reply` by tool count.

use crate::{
    answer::{Rules, Settlement, TurnAction, TurnLog, TurnMessage, settle},
    id::{MessageId, TurnId},
    message::MessageState,
    outcome::{By, EndedBy, Outcome},
};

/// A line that a turn sent by tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SentLine {
    /// The channel or nick.
    pub to: String,
    /// The line as it was sent.
    pub text: String,
}

/// What the store has of a turn that never ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LostTurn {
    /// The turn.
    pub turn: TurnId,
    /// Its messages, still `in_turn`.
    pub messages: Vec<TurnMessage>,
    /// What it did, in order; a recorded tool call counts as its result.
    pub actions: Vec<TurnAction>,
    /// Every line that it sent, in order.
    pub sent: Vec<SentLine>,
    /// Who had ordered it to end, if somebody had.
    pub ended: Option<By>,
}

/// What becomes of a lost turn. Its outcome is `Lost`, or that of the order to end it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Recovery {
    /// The turn.
    pub turn: TurnId,
    /// Its outcome.
    pub outcome: Outcome,
    /// Each of its messages once.
    pub settle: Vec<Settlement>,
    /// The messages that go back, each with the lines that its next prompt quotes.
    pub quote: Vec<Quote>,
}

/// Lines that an earlier attempt at a message sent already.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Quote {
    /// The message.
    pub message: MessageId,
    /// The lines, in order; may be none.
    pub lines: Vec<SentLine>,
}

/// Returns what becomes of a turn that an earlier daemon left open.
#[must_use]
pub fn recover(lost: LostTurn, rules: Rules) -> Recovery {
    let LostTurn { turn, messages, actions, sent, ended } = lost;
    let outcome = ended.map_or(Outcome::Lost(EndedBy::Itself), Outcome::Interrupted);
    let log = TurnLog { messages, actions, outcome };
    let settle = settle(&log, rules);
    let quote = settle
        .iter()
        .filter(|one| one.state == MessageState::Accepted)
        .map(|one| Quote { message: one.message, lines: sent.clone() })
        .collect();
    Recovery { turn, outcome: log.outcome, settle, quote }
}

#[cfg(test)]
mod tests;
