//! What a program reports by its hooks: that it took a text, what it does, that a turn is over.
//!
//! Nobody may end a turn by it alone: other hooks of the same program can make it go on, and what
//! was typed meanwhile is still to come. So a reported end counts once the screen takes a prompt,
//! which it then need not do for long.

use std::time::Duration;

use gangline_core::TurnId;
use serde_json::Value;

use super::{Action, Turn, Turns};
use crate::{
    AssistantMessage, Block, RuntimeEvent, SessionId,
    tmux::{
        hooks::{Ending, HookEvent},
        text::Receipt,
    },
};

/// A program whose hooks run has reported within this that it took a text.
const RECEIPT_WITHIN: Duration = Duration::from_secs(3);
/// What was reported to be asked is on the screen within this.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);

/// Returns what is told when the program asks a human.
pub(super) fn asks() -> RuntimeEvent {
    let text = "the program waits for a human in its terminal: `gangline attach NICK --write`";
    RuntimeEvent::Notice { text: text.to_owned() }
}

impl Turn {
    /// Says whether the question that shows was told already.
    pub(super) fn asked_lately(&self, now: Duration) -> bool {
        self.asked_at.is_some_and(|at| now.saturating_sub(at) < SHOWN_WITHIN)
    }
}

impl Turns {
    /// Takes what a hook of the program has said.
    pub(in crate::tmux) fn hook_event(&mut self, object: &Value, now: Duration) -> Vec<Action> {
        let Some(hooks) = &self.profile.hooks else { return Vec::new() };
        let receipts = hooks.receipts();
        let Some(told) = hooks.read(object) else { return Vec::new() };
        self.reports |= receipts;
        match told {
            HookEvent::Session(session) => self.session_is(session),
            HookEvent::Accepted(text) => self.taken(&text, now),
            HookEvent::Call { id, name, input } => {
                if let Some(turn) = self.turn.as_mut().filter(|turn| turn.taken) {
                    // What was its end was none.
                    turn.ended = None;
                    let block = Block::ToolUse { id, name, input };
                    self.out.push(said(turn.id, block));
                }
            }
            HookEvent::Result { id, name, is_error, content } => {
                if let Some(turn) = self.turn.as_ref().filter(|turn| turn.taken) {
                    let turn = turn.id;
                    self.tell(RuntimeEvent::ToolResult { turn, id, name, is_error, content });
                }
            }
            HookEvent::Ended(ending) => self.ended(ending, now),
            HookEvent::Asks => {
                if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.asks) {
                    turn.asks = true;
                    turn.asked_at = Some(now);
                    self.tell(asks());
                }
            }
            HookEvent::Compacting => self.tell(RuntimeEvent::Compacting),
            HookEvent::Compacted => self.tell(RuntimeEvent::Compacted { failed: None }),
        }
        self.done()
    }

    fn session_is(&mut self, session: SessionId) {
        if session == self.session {
            return;
        }
        self.session = session.clone();
        // Else it is told when prompts are taken.
        if self.ready {
            self.tell(RuntimeEvent::Session { session });
        }
    }

    /// The program has taken a text: ours, or what somebody else has typed.
    fn taken(&mut self, text: &str, now: Duration) {
        if let Some(delivery) = self.delivery.take_if(|it| it.is_in(text)) {
            let own = delivery.is_prompt();
            if let Some(line) = delivery.line() {
                self.delivered(&delivery, line, now);
            }
            if let Some(turn) = self.turn.as_mut().filter(|_| own) {
                turn.taken = true;
            }
            return;
        }
        // The screen was quicker.
        if let Some(turn) = &mut self.turn
            && turn.from_line.is_some()
            && Receipt::of(&turn.typed).is_in(text)
        {
            turn.taken = true;
        }
    }

    fn ended(&mut self, ending: Ending, now: Duration) {
        let Ending { texts, answer, result } = ending;
        // Who says what was typed need not have said it before.
        for text in &texts {
            self.taken(text, now);
        }
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.taken) else { return };
        turn.ended = Some(result);
        if !answer.is_empty() {
            let block = Block::Text { text: answer };
            self.out.push(said(turn.id, block));
        }
        self.looks = 0;
    }

    /// Says whether the program may yet report that it has taken a text that is out of the input.
    pub(super) fn awaits_receipt(&self, waited: Duration, all: Duration) -> bool {
        self.reports
            && waited < RECEIPT_WITHIN
            && all + RECEIPT_WITHIN < self.profile.deliver_within()
    }
}

fn said(turn: TurnId, block: Block) -> Action {
    let message = AssistantMessage { model: String::new(), content: vec![block] };
    Action::Report(RuntimeEvent::Message { turn, message })
}
