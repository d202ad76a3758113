//! What a program says outside of the turn that it belongs to: the end of an answer after the end of
//! its turn, and the past again after a session was loaded.
//!
//! An end is held back until the pipe is quiet, so that a late piece still belongs to its turn. A
//! program that never had one is not waited for any more. After a session was loaded, the first
//! prompt waits until the pipe is quiet: what comes before it is the past. Behind it, so is what
//! repeats the record of the session, and what follows words of a user that are not our prompt.
//! Nothing of the past becomes part of an answer: it may have been said in private.

use std::time::Duration;

use serde_json::Value;

use super::{
    Late, Session,
    replay::{Heard, Piece, Replay},
    state::Way,
};
use crate::{
    acp::{turn_result::Signs, update::Update},
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
/// Within so much after the first prompt, or after the last piece of the past, the past may be told.
const TOLD_WITHIN: Duration = Duration::from_secs(2);
/// What the model is asked if all that it said is what it had said before.
const AGAIN: &str = "Your answer was not delivered: it could not be told apart from what you said \
     earlier in this conversation. Give your answer once more.";
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
    /// What may be told again; `None` once the model has begun to answer.
    replay: Option<Replay>,
    /// Until when it may be. Not known before the first prompt.
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
        if self.replay.is_some() {
            let until = self.now.saturating_add(TOLD_WITHIN);
            self.past_until.get_or_insert(until);
        }
    }

    #[cfg(test)]
    pub(super) fn set_replay(&mut self, past: Vec<crate::Block>) {
        self.replay = Some(Replay::of(past));
    }

    /// Returns the record, as long as it may be told again. An item that is being told is told to its
    /// end, however long that takes.
    fn replay(&mut self) -> Option<&mut Replay> {
        let over = self.past_until.is_some_and(|until| until <= self.now);
        self.replay.take_if(|replay| over && !replay.keeps());
        self.replay.as_mut()
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
        let past = std::mem::take(&mut self.setup.past);
        let may_tell = way == Way::Load && self.setup.late == Late::MayCome;
        self.outside.settling = may_tell;
        self.outside.replay = may_tell.then(|| Replay::of(past));
        self.outside.past_until = None;
    }

    /// Words of a user are told: those of our prompt, or of the past. The whole prompt is a sign that
    /// what follows answers it.
    pub(super) fn user_said(&mut self, text: &str) {
        let Outside { prompt, settling, .. } = &self.outside;
        let ours = !*settling && !prompt.is_empty();
        let (whole, part) = (ours && text.contains(prompt.as_str()), ours && prompt.contains(text));
        let Some(replay) = self.outside.replay() else { return };
        // They stand behind an item of the past, if it was told to its end or not.
        replay.take_kept();
        self.outside.in_the_past = !whole && !part;
        if whole {
            self.outside.replay = None;
        }
    }

    /// Returns what is new: what is not told again, and what was kept back because it might have been.
    pub(super) fn new_in(&mut self, update: Update) -> Vec<Piece> {
        let says = matches!(update, Update::Text { .. } | Update::Thought { .. } | Update::Tool(_));
        let remark = matches!(&update, Update::Text { text, .. } if self.is_remark(text));
        let piece = Piece { update, edges: self.edges };
        if matches!(piece.update, Update::Text { .. }) {
            self.outside.late |= self.held.is_some();
        }
        // What nobody asked for answers nothing.
        let asked = self.outside.past_until.is_some();
        let ordered = !asked && self.order.is_some();
        let known = self.outside.settling || self.outside.in_the_past || !asked;
        let Some(replay) = self.outside.replay().filter(|_| says && !remark && !ordered) else {
            return vec![piece];
        };
        if known {
            replay.skips(piece);
            self.told_again(1);
            return Vec::new();
        }
        match replay.hears(piece) {
            Heard::Again(pieces) => {
                if pieces > 0 {
                    self.outside.past_until = Some(self.outside.now.saturating_add(TOLD_WITHIN));
                }
                self.told_again(pieces);
                Vec::new()
            }
            Heard::New(pieces) => {
                self.outside.replay = None;
                pieces
            }
        }
    }

    /// The model has begun to answer, by something that is neither words nor a call.
    pub(super) fn answers(&mut self) {
        let kept = self.outside.replay.take().map(|mut replay| replay.take_kept());
        self.take_all(kept.unwrap_or_default());
    }

    /// The turn ends: what was kept back is a part of its answer, if it has one.
    pub(super) fn answered_all(&mut self, has_answer: bool) {
        let kept = self.outside.replay.as_mut().map(Replay::take_kept).unwrap_or_default();
        if has_answer && !kept.is_empty() {
            self.outside.replay = None;
            self.take_all(kept);
        }
    }

    fn take_all(&mut self, pieces: Vec<Piece>) {
        for Piece { update, edges } in pieces {
            self.edges = edges;
            self.take(update);
        }
    }

    /// If nothing is left of a turn but what the model had said before, nobody knows whether that was
    /// its answer. It is asked once more; nothing that was said before comes after that.
    pub(super) fn asks_once_more(&mut self, signs: &Signs) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let again = std::mem::take(&mut turn.told_again);
        if !again || signs.busy || signs.asked || signs.error.is_some() {
            return false;
        }
        self.outside.replay = None;
        self.send_prompt(AGAIN);
        true
    }

    fn told_again(&mut self, pieces: u64) {
        if pieces == 0 {
            return;
        }
        if let Some(turn) = &mut self.turn {
            turn.told_again = true;
        }
        for _ in 0..pieces {
            self.passed_over("told again what was said before, after it had loaded the session");
        }
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
