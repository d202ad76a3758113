//! What time alone shows: a turn without output, and an inbox that is not looked at.

use std::time::Duration;

use crate::time::Now;

/// A turn in which the model does nothing for so long is silent.
pub const SILENT_AFTER: Duration = Duration::from_secs(10 * 60);
/// A turn that is inside a call for so long is silent: a build may take its time.
pub const SILENT_CALL_AFTER: Duration = Duration::from_secs(30 * 60);
/// An agent that has not looked at its inbox for so long, while something waits there, is told (R1-30).
pub const UNREAD_AFTER: Duration = Duration::from_secs(12 * 60);

/// The keys of the findings.
pub(super) const SILENT_KEY: &str = "rule/silent_turn";
pub(super) const UNREAD_KEY: &str = "rule/unread_inbox";

/// How long a turn has been silent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Silence {
    pub(super) lasts: Duration,
    pub(super) nth: u32,
    /// Whether a call is open.
    pub(super) in_call: bool,
}

#[derive(Debug)]
struct Turn {
    last_sign: Now,
    last_look: Now,
    waits: u32,
}

#[derive(Debug, Default)]
pub(super) struct Quiet {
    turn: Option<Turn>,
    inbox_waits: bool,
}

impl Quiet {
    pub(super) fn turn_started(&mut self, now: Now) {
        self.turn = Some(Turn { last_sign: now, last_look: now, waits: 0 });
    }

    pub(super) fn turn_ended(&mut self) {
        *self = Self::default();
    }

    pub(super) fn spoke(&mut self, now: Now) {
        if let Some(turn) = &mut self.turn {
            turn.last_sign = turn.last_sign.max(now);
        }
    }

    pub(super) fn looked(&mut self, now: Now) {
        if let Some(turn) = &mut self.turn {
            turn.last_look = turn.last_look.max(now);
            turn.last_sign = turn.last_sign.max(now);
        }
    }

    pub(super) fn wait_started(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.waits = turn.waits.saturating_add(1);
        }
    }

    pub(super) fn wait_ended(&mut self, now: Now) {
        if let Some(turn) = &mut self.turn {
            turn.waits = turn.waits.saturating_sub(1);
            turn.last_sign = turn.last_sign.max(now);
            // It could not look before.
            turn.last_look = turn.last_look.max(now);
        }
    }

    pub(super) fn inbox_waits(&mut self, waits: bool) {
        self.inbox_waits = waits;
    }

    pub(super) fn silence(&self, now: Now, in_call: bool) -> Option<Silence> {
        let turn = self.turn.as_ref().filter(|turn| turn.waits == 0)?;
        let lasts = now.since(turn.last_sign);
        let nth = if in_call {
            u32::from(lasts >= SILENT_CALL_AFTER)
        } else {
            u32::try_from(lasts.as_secs() / SILENT_AFTER.as_secs()).unwrap_or(u32::MAX)
        };
        (nth > 0).then_some(Silence { lasts, nth, in_call })
    }

    /// Returns how long the agent has not looked, if that is too long.
    pub(super) fn unread(&self, now: Now) -> Option<Duration> {
        let turn = self.turn.as_ref().filter(|turn| turn.waits == 0 && self.inbox_waits)?;
        let unread = now.since(turn.last_look);
        (unread >= UNREAD_AFTER).then_some(unread)
    }
}
