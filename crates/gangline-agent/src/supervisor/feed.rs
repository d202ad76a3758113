//! The feed: what the agent loop tells the supervisor of the agent's steps. It never waits: what there
//! is no room for is skipped and counted, and the count goes with the next step.

use gangline_core::{
    TurnId,
    redact::{Redacted, Redactor},
    time::Now,
    watch::{Step, StepKind, digest},
};
use gangline_runtime::{AssistantMessage, Block, RuntimeEvent, Usage};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::shown_input;

/// The most steps that wait for the supervisor; further ones are skipped.
pub(crate) const FEED_QUEUE: usize = 256;

/// The longest result that waits whole, in bytes. Of a longer one both ends wait, so that a full queue
/// stays small, with a number that tells it from others.
pub(crate) const RESULT_MOST: usize = 32 * 1024;

/// One step, as the backend told it: it is masked and cut by the reader.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fed {
    pub(crate) at: Now,
    pub(crate) seen: Seen,
    /// How many steps were skipped before it.
    pub(crate) skipped: u64,
}

/// What the agent did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    TurnStarted { turn: TurnId, task: Redacted },
    Text(String),
    Thinking,
    Call { id: String, name: String, input: Value },
    Result { id: String, is_error: bool, content: String },
    WaitStarted,
    WaitEnded,
    Context { percent: u8 },
    LookedAtInbox,
    TurnEnded,
}

impl Fed {
    /// Returns the step, masked.
    pub(crate) fn step(self, redactor: &Redactor) -> Step {
        let what = match self.seen {
            Seen::TurnStarted { task, .. } => StepKind::TurnStarted { task },
            Seen::Text(text) => StepKind::Text { text: redactor.redact(&text) },
            Seen::Thinking => StepKind::Thinking,
            Seen::Call { id, name, input } => {
                let shown = shown_input::recorded(&name, &input, redactor).input;
                StepKind::call(&id, &name, (&input, &shown), redactor)
            }
            Seen::Result { id, is_error: true, content } => {
                StepKind::failed(&id, &redactor.redact(&content))
            }
            Seen::Result { id, is_error: false, content } => {
                StepKind::succeeded(&id, &redactor.redact(&content))
            }
            Seen::WaitStarted => StepKind::WaitStarted,
            Seen::WaitEnded => StepKind::WaitEnded,
            Seen::Context { percent } => StepKind::Context { percent },
            Seen::LookedAtInbox => StepKind::LookedAtInbox,
            Seen::TurnEnded => StepKind::TurnEnded,
        };
        Step { at: self.at, what }
    }
}

/// The agent loop's end.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    /// `None`: nobody watches.
    steps: Option<mpsc::Sender<Fed>>,
    skipped: u64,
    /// How many approvals the open turn waits for, as it was told last.
    approvals: usize,
}

impl Feed {
    /// Makes both ends.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Fed>) {
        let (steps, end) = mpsc::channel(FEED_QUEUE);
        (Self { steps: Some(steps), ..Self::default() }, end)
    }

    /// Returns whether somebody watches.
    pub(crate) fn is_on(&self) -> bool {
        self.steps.is_some()
    }

    /// Tells a step, if somebody watches and there is room.
    pub(crate) fn tell(&mut self, at: Now, seen: impl FnOnce() -> Seen) {
        let Some(steps) = &self.steps else { return };
        let Ok(place) = steps.try_reserve() else {
            self.skipped += 1;
            return;
        };
        let skipped = std::mem::take(&mut self.skipped);
        place.send(Fed { at, seen: seen(), skipped });
    }

    /// Tells what a backend's event shows of the agent's steps (R1-06).
    pub(crate) fn hear(&mut self, at: Now, event: &RuntimeEvent) {
        match event {
            RuntimeEvent::Message { message, .. } => self.message(at, message),
            RuntimeEvent::ToolResult { id, is_error, content, .. } => {
                self.tell(at, || Seen::Result {
                    id: id.clone(),
                    is_error: *is_error,
                    content: bounded(content),
                });
            }
            RuntimeEvent::Ready { .. }
            | RuntimeEvent::Session { .. }
            | RuntimeEvent::Began
            | RuntimeEvent::Alive { .. }
            | RuntimeEvent::Waits { .. }
            | RuntimeEvent::NeedsLogin { .. }
            | RuntimeEvent::LoggedIn
            | RuntimeEvent::Effort { .. }
            | RuntimeEvent::Compacting
            | RuntimeEvent::Compacted { .. }
            | RuntimeEvent::Accepted { .. }
            | RuntimeEvent::Steered { .. }
            | RuntimeEvent::ApprovalAsked { .. }
            | RuntimeEvent::ApprovalWithdrawn { .. }
            | RuntimeEvent::Unasked { .. }
            | RuntimeEvent::Usage { .. }
            | RuntimeEvent::Notice { .. }
            | RuntimeEvent::Finished { .. }
            | RuntimeEvent::Refused { .. }
            | RuntimeEvent::Exited { .. } => {}
        }
    }

    fn message(&mut self, at: Now, message: &AssistantMessage) {
        for block in &message.content {
            self.tell(at, || match block {
                Block::Text { text } => Seen::Text(text.clone()),
                Block::Thinking { .. } => Seen::Thinking,
                Block::ToolUse { id, name, input } => {
                    Seen::Call { id: id.clone(), name: name.clone(), input: input.clone() }
                }
            });
        }
    }

    /// Tells how many approvals the open turn waits for now.
    pub(crate) fn waits_for(&mut self, at: Now, approvals: usize) {
        let before = std::mem::replace(&mut self.approvals, approvals);
        for _ in before..approvals {
            self.tell(at, || Seen::WaitStarted);
        }
        for _ in approvals..before {
            self.tell(at, || Seen::WaitEnded);
        }
    }

    /// Tells how full the context is.
    pub(crate) fn context(&mut self, at: Now, (tokens, window): (Option<u64>, Option<u64>)) {
        if let Some((tokens, window)) = tokens.zip(window).filter(|(_, window)| *window > 0) {
            let percent = (tokens.saturating_mul(100) / window).min(100);
            let percent = u8::try_from(percent).unwrap_or(100);
            self.tell(at, || Seen::Context { percent });
        }
    }
}

/// Returns a result, at most [`RESULT_MOST`] bytes of it. What is shown of it is much shorter than its ends
/// are here: a secret that is cut in its middle is not shown.
fn bounded(content: &str) -> String {
    if content.len() <= RESULT_MOST {
        return content.to_owned();
    }
    let head = content.floor_char_boundary(RESULT_MOST / 2 - 50);
    let tail = content.ceil_char_boundary(content.len() - (RESULT_MOST / 2 - 50));
    let (head, number, tail) = (&content[..head], digest(content), &content[tail..]);
    format!("{head}\n[… {} bytes, {number:x} …]\n{tail}", content.len())
}

/// Adds up what was used.
pub(crate) fn add(sum: &mut Usage, more: &Usage) {
    sum.input_tokens = sum.input_tokens.saturating_add(more.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(more.output_tokens);
    sum.cache_read_tokens = sum.cache_read_tokens.saturating_add(more.cache_read_tokens);
    sum.cache_write_tokens = sum.cache_write_tokens.saturating_add(more.cache_write_tokens);
    if let Some(cost) = more.cost_micros {
        sum.cost_micros = Some(sum.cost_micros.unwrap_or_default().saturating_add(cost));
    }
}

#[cfg(test)]
mod tests;
