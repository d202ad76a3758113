//! The latest turns of an agent, cut to what the supervisor is shown. Memory is bounded.

use std::collections::VecDeque;

use crate::redact::Redacted;

use super::{StepKind, ends};

/// The longest task, in bytes.
pub const TASK_MOST: usize = 2_000;
/// The longest entry of a turn, in bytes.
pub const ENTRY_MOST: usize = 400;
/// Of a turn with more entries the first ones …
pub const FIRST_ENTRIES: usize = 6;
/// … and the last ones are kept.
pub const LAST_ENTRIES: usize = 24;

/// The longest label, in bytes.
const LABEL_MOST: usize = 80;

/// One thing in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// What it is: the program's own words and the name of a tool.
    pub(super) label: Redacted,
    pub(super) text: Redacted,
    /// How often it came in a row.
    pub(super) times: u32,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) task: Redacted,
    pub(super) first: Vec<Entry>,
    pub(super) left_out: u32,
    pub(super) last: VecDeque<Entry>,
    pub(super) over: bool,
}

/// The latest turns, oldest first.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) turns: VecDeque<Turn>,
}

impl Window {
    /// Adds a step; the oldest turn goes when there are more than `most`. Returns whether the step ended
    /// a turn.
    pub(super) fn observe(&mut self, step: &StepKind, most: usize) -> bool {
        match step {
            StepKind::TurnStarted { task } => {
                while self.turns.len() >= most.max(1) {
                    self.turns.pop_front();
                }
                self.turns.push_back(Turn {
                    task: ends(task, TASK_MOST),
                    first: Vec::new(),
                    left_out: 0,
                    last: VecDeque::new(),
                    over: false,
                });
            }
            StepKind::TurnEnded => {
                let open = self.turns.back_mut().filter(|turn| !turn.over);
                return open.is_some_and(|turn| !std::mem::replace(&mut turn.over, true));
            }
            StepKind::Text { text } => self.add(Redacted::constant("said"), text),
            StepKind::Thinking => self.add(Redacted::constant("thought"), &Redacted::default()),
            StepKind::Call { tool, input, .. } => {
                self.add(Redacted::derived(format!("called {tool}")), input);
            }
            StepKind::Result { text, failed, .. } => {
                self.add(Redacted::constant(if *failed { "error" } else { "result" }), text);
            }
            StepKind::WaitStarted => self.note("waits for a person"),
            StepKind::Context { .. } | StepKind::WaitEnded => {}
            StepKind::LookedAtInbox => self.note("looked at its inbox"),
        }
        false
    }

    /// Adds an entry to the open turn, or to the last one.
    pub(super) fn add(&mut self, label: Redacted, text: &Redacted) {
        let Some(turn) = self.turns.back_mut() else { return };
        let entry = Entry { label: label.head(LABEL_MOST), text: ends(text, ENTRY_MOST), times: 1 };
        let newest = turn.last.back_mut().or(turn.first.last_mut());
        if let Some(newest) = newest
            && (&newest.label, &newest.text) == (&entry.label, &entry.text)
        {
            newest.times = newest.times.saturating_add(1);
            return;
        }
        if turn.first.len() < FIRST_ENTRIES {
            turn.first.push(entry);
            return;
        }
        if turn.last.len() >= LAST_ENTRIES {
            turn.last.pop_front();
            turn.left_out = turn.left_out.saturating_add(1);
        }
        turn.last.push_back(entry);
    }

    fn note(&mut self, note: &'static str) {
        self.add(Redacted::constant(note), &Redacted::default());
    }
}
