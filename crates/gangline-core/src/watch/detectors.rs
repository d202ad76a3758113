//! The detectors: rules that find trouble in the steps of an agent without asking a model.
//!
//! Each finding is an episode: it is told once, told again (`nth`) after each further full measure while
//! it goes on, and cleared when it is over. All but a filling context end with their turn. Start at
//! [`Detectors::observe`].

use std::{collections::VecDeque, time::Duration};

use crate::{finding::FindingKind, redact::Redacted, time::Now, whisper::WhisperKind};

use super::{Edit, Step, StepKind, ends};

mod changes;
mod failures;
mod quiet;
mod repeats;
mod texts;

pub use quiet::{SILENT_AFTER, SILENT_CALL_AFTER, UNREAD_AFTER};

/// From this percentage on a context is said to fill up (R1-38) …
pub const CONTEXT_PERCENT: u8 = 80;
/// … and below this one it no longer does.
pub const CONTEXT_CLEAR_PERCENT: u8 = 65;
/// The most calls that are remembered while they have no result.
pub const OPEN_CALLS_MOST: usize = 64;
/// The most findings that hold at once; further ones are not told.
pub const EPISODES_MOST: usize = 32;

/// What the keys of the detectors' findings begin with.
pub const KEYS: &str = "rule/";

/// What the name of a tool is cut to, in bytes.
const TOOL_MOST: usize = 64;
/// What of a call's arguments or an error is shown in a finding, in bytes.
const SHOWN_MOST: usize = 200;

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noticed {
    /// A finding is new, or goes on.
    Raised(Detection),
    /// A finding holds no more.
    Cleared {
        /// Its key.
        key: String,
    },
}

/// What a detector has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// What.
    pub kind: FindingKind,
    /// What the agent is to do.
    pub whisper: WhisperKind,
    /// What the agent is told.
    pub text: Redacted,
    /// What was seen, for people and for the supervisor.
    pub evidence: Redacted,
    /// The finding's name: the same for as long as it goes on.
    pub key: String,
    /// 1 when it is new; one more each time that it has gone on for as long again.
    pub nth: u32,
    /// Whether it counts towards an escalation; advice does not.
    pub counts: bool,
    /// How often the agent repeated the same call with the same outcome; 0 if nothing was repeated.
    pub retries: u32,
}

/// A call without a result.
#[derive(Debug)]
struct Open {
    id: String,
    tool: Redacted,
    input: Redacted,
    digest: u64,
    edits: Vec<Edit>,
    /// Whether it looks at the inbox: it may do so again and again.
    looks: bool,
}

#[derive(Debug)]
struct Episode {
    key: String,
    nth: u32,
    /// Whether the end of the turn ends it.
    of_turn: bool,
}

/// The detectors of one agent. Memory is bounded, whatever comes.
#[derive(Debug, Default)]
pub struct Detectors {
    open: VecDeque<Open>,
    /// The agent looked at its inbox, by a call that is told after it.
    looked: bool,
    repeats: repeats::Repeats,
    failures: failures::Failures,
    changes: changes::Changes,
    quiet: quiet::Quiet,
    episodes: Vec<Episode>,
    noticed: Vec<Noticed>,
}

impl Detectors {
    /// Takes a step, and returns what it changes.
    #[must_use]
    pub fn observe(&mut self, step: &Step) -> Vec<Noticed> {
        let now = step.at;
        match &step.what {
            StepKind::TurnStarted { .. } => {
                self.turn_over();
                self.quiet.turn_started(now);
            }
            StepKind::TurnEnded => {
                self.turn_over();
                self.quiet.turn_ended();
            }
            StepKind::Call { id, tool, input, digest, edits } => {
                self.spoke(now);
                let call = Open {
                    id: id.clone(),
                    tool: tool.head(TOOL_MOST),
                    input: ends(input, SHOWN_MOST),
                    digest: *digest,
                    edits: edits.iter().take(super::EDITS_A_CALL).cloned().collect(),
                    looks: false,
                };
                self.called(call);
            }
            StepKind::Result { id, digest, text, failed } => {
                self.spoke(now);
                self.returned(now, id, (*digest, text, *failed));
            }
            StepKind::Text { .. } | StepKind::Thinking => self.spoke(now),
            StepKind::WaitStarted => self.quiet.wait_started(),
            StepKind::WaitEnded => self.quiet.wait_ended(now),
            StepKind::LookedAtInbox => {
                self.quiet.looked(now);
                match self.open.back_mut() {
                    Some(call) => call.looks = true,
                    None => self.looked = true,
                }
                self.clear(quiet::UNREAD_KEY);
            }
            StepKind::Context { percent } => self.context(*percent),
        }
        self.look_at_inbox(now);
        std::mem::take(&mut self.noticed)
    }

    /// Looks at what time alone makes a finding. `inbox_waiting` says whether something waits there that
    /// the agent could look at. To be called every half a minute or so; a call too many does nothing.
    #[must_use]
    pub fn tick(&mut self, now: Now, inbox_waiting: bool) -> Vec<Noticed> {
        self.quiet.inbox_waits(inbox_waiting);
        if !inbox_waiting {
            self.clear(quiet::UNREAD_KEY);
        }
        if let Some(silence) = self.quiet.silence(now, !self.open.is_empty()) {
            let (text, evidence) = texts::silent(&silence, self.open.back().map(|it| &it.tool));
            self.raise(Detection {
                kind: FindingKind::SilentTurn,
                whisper: WhisperKind::Correction,
                text,
                evidence,
                key: quiet::SILENT_KEY.to_owned(),
                nth: silence.nth,
                counts: !silence.in_call,
                retries: 0,
            });
        }
        self.look_at_inbox(now);
        std::mem::take(&mut self.noticed)
    }

    /// Forgets everything, as after a person's word that the agent is to go on (R1-35), and returns the
    /// findings that held.
    #[must_use]
    pub fn rearm(&mut self) -> Vec<Noticed> {
        let held = std::mem::take(self).episodes;
        held.into_iter().map(|it| Noticed::Cleared { key: it.key }).collect()
    }

    fn turn_over(&mut self) {
        self.open.clear();
        self.looked = false;
        self.repeats = repeats::Repeats::default();
        self.failures = failures::Failures::default();
        self.changes = changes::Changes::default();
        self.clear_where(|it| it.of_turn);
    }

    fn spoke(&mut self, now: Now) {
        self.quiet.spoke(now);
        self.clear(quiet::SILENT_KEY);
    }

    fn called(&mut self, call: Open) {
        // Replayed: it is the same call.
        if self.open.iter().any(|it| it.id == call.id) {
            return;
        }
        if self.open.len() >= OPEN_CALLS_MOST {
            self.open.pop_front();
        }
        let looks = std::mem::take(&mut self.looked);
        self.open.push_back(Open { looks, ..call });
    }

    fn returned(&mut self, now: Now, id: &str, (digest, text, failed): (u64, &Redacted, bool)) {
        // A result of no known call, or a second one of the same, says nothing.
        let Some(at) = self.open.iter().position(|it| it.id == id) else { return };
        let Some(call) = self.open.remove(at) else { return };
        if failed {
            let failure = failures::Failure { tool: &call.tool, call: call.digest, error: digest };
            if let Some(found) = self.failures.failed(&failure, text.as_str().len()) {
                self.raise(texts::failing(&call.tool, &ends(text, SHOWN_MOST), found));
            }
            return;
        }
        for key in self.failures.succeeded(&call.tool, call.digest) {
            self.clear(&key);
        }
        if self.edited(&call) {
            self.repeats.changed();
            self.failures.changed();
            self.clear_where(|it| it.key.starts_with(repeats::KEY));
            return;
        }
        if call.looks {
            return;
        }
        match self.repeats.returned(now, (call.digest, call.tool.as_str(), digest)) {
            repeats::Seen::New => {
                self.failures.changed();
                self.clear_where(|it| it.key.starts_with(repeats::KEY));
            }
            repeats::Seen::Again(found) => {
                self.raise(texts::repeating(&call.tool, &call.input, found))
            }
        }
    }

    /// Records what a call has changed, and returns whether it has changed anything.
    fn edited(&mut self, call: &Open) -> bool {
        let mut changed = false;
        for edit in &call.edits {
            let outcome = self.changes.edited(edit);
            changed |= outcome != changes::Outcome::Nothing;
            if let changes::Outcome::Undone(found) = outcome {
                self.raise(texts::undoing(&edit.file, found));
            }
        }
        changed
    }

    fn context(&mut self, percent: u8) {
        const KEY: &str = "rule/context_filling";
        if percent < CONTEXT_CLEAR_PERCENT {
            self.clear(KEY);
        } else if percent >= CONTEXT_PERCENT {
            self.raise(texts::context(percent, KEY));
        }
    }

    /// An agent that is inside a call, or waits for somebody, cannot look.
    fn look_at_inbox(&mut self, now: Now) {
        if self.open.is_empty()
            && let Some(unread) = self.quiet.unread(now)
        {
            self.raise(texts::unread(unread));
        }
    }

    /// Tells a finding, unless this has been told.
    fn raise(&mut self, detection: Detection) {
        if detection.nth == 0 {
            return;
        }
        let full = self.episodes.len() >= EPISODES_MOST;
        match self.episodes.iter_mut().find(|it| it.key == detection.key) {
            Some(known) if known.nth >= detection.nth => return,
            Some(known) => known.nth = detection.nth,
            None if full => return,
            None => self.episodes.push(Episode {
                key: detection.key.clone(),
                nth: detection.nth,
                of_turn: detection.kind != FindingKind::ContextFilling,
            }),
        }
        self.noticed.push(Noticed::Raised(detection));
    }

    fn clear(&mut self, key: &str) {
        self.clear_where(|it| it.key == key);
    }

    fn clear_where(&mut self, over: impl Fn(&Episode) -> bool) {
        let over = self.episodes.extract_if(.., |it| over(it));
        self.noticed.extend(over.map(|it| Noticed::Cleared { key: it.key }));
    }

    /// Returns how many things are remembered, for the test of the bound.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        let rows = self.repeats.remembered() + self.failures.remembered();
        rows + self.open.len()
            + self.changes.remembered()
            + self.episodes.len()
            + self.noticed.len()
    }
}

/// A duration in whole minutes.
fn minutes(duration: Duration) -> u64 {
    duration.as_secs() / 60
}
