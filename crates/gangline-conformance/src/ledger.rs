//! What every stream of events has to keep to, whatever happens in it. Pure.

use gangline_core::TurnId;

use gangline_runtime::RuntimeEvent;

/// The events of one session so far, as far as their order matters.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    ready: bool,
    exited: bool,
    compacting: bool,
    open: Option<Open>,
    last: Option<TurnId>,
    faults: Vec<String>,
}

#[derive(Debug)]
struct Open {
    turn: TurnId,
    accepted: bool,
}

impl Ledger {
    /// A prompt was taken.
    pub(super) fn prompted(&mut self, turn: TurnId) {
        if let Some(open) = &self.open {
            self.faults.push(format!("{turn:?} was taken while {:?} is open", open.turn));
        }
        self.open = Some(Open { turn, accepted: false });
        self.last = Some(turn);
    }

    /// An event came.
    pub(super) fn see(&mut self, event: &RuntimeEvent) {
        if self.exited {
            self.faults.push(format!("after its exit it said {}", short(event)));
        }
        match event {
            RuntimeEvent::Ready { .. } => {
                if std::mem::replace(&mut self.ready, true) {
                    self.faults.push("it became ready twice".to_owned());
                }
            }
            RuntimeEvent::Compacting => self.compacting = true,
            RuntimeEvent::Compacted { .. } => {
                if !std::mem::replace(&mut self.compacting, false) {
                    self.faults.push("a compaction ended that had not begun".to_owned());
                }
            }
            RuntimeEvent::Accepted { turn } => self.accepted(*turn),
            RuntimeEvent::Message { turn, .. }
            | RuntimeEvent::ToolResult { turn, .. }
            | RuntimeEvent::ApprovalAsked { turn, .. }
            | RuntimeEvent::ApprovalWithdrawn { turn, .. }
            | RuntimeEvent::Unasked { turn, .. }
            | RuntimeEvent::Steered { turn, .. } => self.inside(*turn, event),
            RuntimeEvent::Alive { turn } | RuntimeEvent::Waits { turn, .. } => {
                if !self.is_open(*turn) {
                    self.stray(event);
                }
            }
            // What a compaction costs between turns is told for the turn before it.
            RuntimeEvent::Usage { turn, .. } => {
                if self.last != Some(*turn) {
                    self.stray(event);
                }
            }
            RuntimeEvent::Finished { turn, .. } => {
                if self.is_open(*turn) {
                    self.open = None;
                } else {
                    self.stray(event);
                }
            }
            RuntimeEvent::Exited { .. } => {
                self.exited = true;
                self.open = None;
            }
            RuntimeEvent::Session { .. }
            | RuntimeEvent::Refused { .. }
            | RuntimeEvent::Began
            | RuntimeEvent::NeedsLogin { .. }
            | RuntimeEvent::LoggedIn
            | RuntimeEvent::Effort { .. }
            | RuntimeEvent::Notice { .. } => {}
        }
    }

    fn accepted(&mut self, turn: TurnId) {
        match &mut self.open {
            Some(open) if open.turn == turn => {
                if !self.ready {
                    self.faults.push("a prompt was accepted before it was ready".to_owned());
                }
                if std::mem::replace(&mut open.accepted, true) {
                    self.faults.push(format!("{turn:?} was accepted twice"));
                }
            }
            Some(_) | None => self.stray(&RuntimeEvent::Accepted { turn }),
        }
    }

    fn inside(&mut self, turn: TurnId, event: &RuntimeEvent) {
        match &self.open {
            Some(open) if open.turn == turn && open.accepted => {}
            Some(open) if open.turn == turn => {
                let fault = format!("{} came before its prompt was accepted", short(event));
                self.faults.push(fault);
            }
            Some(_) | None => self.stray(event),
        }
    }

    fn stray(&mut self, event: &RuntimeEvent) {
        self.faults.push(format!("no such turn is open, but it said {}", short(event)));
    }

    fn is_open(&self, turn: TurnId) -> bool {
        self.open.as_ref().is_some_and(|open| open.turn == turn)
    }

    /// Returns whether a turn is open.
    pub(super) fn busy(&self) -> bool {
        self.open.is_some()
    }

    /// Returns whether it has said its exit.
    pub(super) fn exited(&self) -> bool {
        self.exited
    }

    /// Returns what was wrong, and forgets it.
    pub(super) fn take_faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.faults)
    }
}

/// Returns an event in few words.
pub(super) fn short(event: &RuntimeEvent) -> String {
    let text = format!("{event:?}");
    match text.char_indices().nth(160) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
