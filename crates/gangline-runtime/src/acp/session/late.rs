//! What a program says outside of the turn that it belongs to: the end of an answer after the end of
//! its turn, and the past again after a session was loaded.
//!
//! An end is held back until the pipe is quiet, so that a late piece still belongs to its turn. A
//! program that never had one is not waited for any more. After a session was loaded, the first
//! prompt waits until the pipe is quiet: what comes before it is the past. So it is with what follows
//! words of a user that are not our prompt. Nothing of the past becomes part of an answer: it may
//! have been said in private.

use std::time::Duration;

use serde_json::Value;

use super::{Late, Session, state::Way};
use crate::{
    acp::update::Update,
    program::{
        oddities::Oddities,
        protocol::{AtEnd, Hold},
    },
};

const SECOND: Duration = Duration::from_secs(1);
/// An end that nobody asked for may come from a process that is being killed.
pub(super) const CANCELLED: Hold = Hold { quiet: SECOND, most: SECOND, at_end: AtEnd::Lost };
/// The end of an answer may come so much after the end of its turn.
const GRACE: Hold = Hold { quiet: Duration::from_millis(150), most: SECOND, at_end: AtEnd::Done };
/// The past is told within so much after a session was loaded, with no longer pause in it.
const SETTLING: Hold =
    Hold { quiet: Duration::from_millis(400), most: Duration::from_secs(2), at_end: AtEnd::Lost };
/// After so many turns in a row in which nothing came late, an end is not held back.
const TRUSTED_AFTER: u32 = 8;

/// An end of a turn that is held back.
#[derive(Debug)]
pub(super) struct HeldEnd {
    pub(super) end: Value,
    pub(super) hold: Hold,
}

/// What is known of words outside of turns.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// The time of the line that is being read.
    pub(super) now: Duration,
    /// The session was loaded, and the pipe was not quiet since.
    settling: bool,
    /// Until when the past may be told.
    past_until: Option<Duration>,
    /// A user's words were told that are not our prompt.
    in_the_past: bool,
    /// The prompt that was given last.
    prompt: String,
    /// Turns in a row in which nothing came late.
    in_order: u32,
    /// Something came late in the open turn.
    late: bool,
    passed_over: Oddities,
}

impl Outside {
    pub(super) fn is_settling(&self) -> bool {
        self.settling
    }

    pub(super) fn prompted(&mut self, text: &str) {
        text.clone_into(&mut self.prompt);
        self.in_the_past = false;
        self.late = false;
    }

    /// Returns how long the end of a turn is held back.
    pub(super) fn grace(&self, late: Late) -> Option<Hold> {
        (late == Late::MayCome && self.in_order < TRUSTED_AFTER).then_some(GRACE)
    }
}

impl Session {
    pub(super) fn hold(&self) -> Option<Hold> {
        match &self.held {
            Some(held) => Some(held.hold),
            None => self.outside.settling.then_some(SETTLING),
        }
    }

    /// Nothing has come for a while: does what was held back.
    pub(super) fn settled(&mut self) {
        if let Some(held) = self.held.take() {
            if held.hold == GRACE {
                let late = std::mem::take(&mut self.outside.late);
                self.outside.in_order = if late { 0 } else { self.outside.in_order + 1 };
            }
            self.end_turn(Ok(held.end));
        } else if std::mem::take(&mut self.outside.settling) {
            self.go_on();
        }
    }

    /// A session was opened.
    pub(super) fn loaded(&mut self, way: Way) {
        let may_tell = way == Way::Load && self.setup.late == Late::MayCome;
        self.outside.settling = may_tell;
        self.outside.past_until = may_tell.then(|| self.outside.now + SETTLING.most);
    }

    /// Words of a user are told: those of our prompt, or of the past.
    pub(super) fn user_said(&mut self, text: &str) {
        self.outside.in_the_past = self.may_be_past() && !self.outside.prompt.contains(text);
    }

    fn may_be_past(&self) -> bool {
        self.outside.past_until.is_some_and(|until| self.outside.now < until)
    }

    /// Says whether it is told again, and counts it.
    pub(super) fn is_of_the_past(&mut self, update: &Update) -> bool {
        let says = matches!(update, Update::Text { .. } | Update::Thought { .. } | Update::Tool(_));
        let past = self.outside.settling || (self.outside.in_the_past && self.may_be_past());
        if says && past {
            self.passed_over("told again what was said before, after it had loaded the session");
        }
        says && past
    }

    /// Words came while the end of their turn is held back.
    pub(super) fn came_late(&mut self) {
        self.outside.late |= self.held.is_some();
    }

    /// Words came that no turn waits for.
    pub(super) fn said_outside(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        // The ends that follow are held back again.
        self.outside.in_order = 0;
        self.passed_over("said something after its turn had ended; it is in no answer");
    }

    /// Its words are not repeated: they may be private.
    fn passed_over(&mut self, what: &str) {
        if let Some(number) = self.outside.passed_over.count(what) {
            let name = self.setup.recipe.name;
            let so_far =
                if number == 1 { String::new() } else { format!(" ({number} pieces so far)") };
            self.notice(format!("{name} {what}{so_far}"));
        }
    }
}
