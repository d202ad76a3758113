//! One text on its way into the program: the input is emptied, the text pasted and seen there, sent
//! off and seen to be gone. What is not seen is tried again until the time is over (R3-07).

use std::time::Duration;

use gangline_os::terminal;

use super::{Action, Turns, short};
use crate::{
    RuntimeEvent,
    tmux::{
        profile::Kind,
        screen::Screen,
        text::{Receipt, Sight},
    },
};

/// How often the key that empties a line is pressed for an input of many lines.
const CLEARS: u32 = 40;
/// How long a paste may take to show, at first; it doubles with each attempt.
const SHOWS_WITHIN: Duration = Duration::from_secs(2);
/// How often they are pressed although nothing changes.
const VAIN_CLEARS: u32 = 2;
/// How long the program may take to empty its input.
const CLEARS_WITHIN: Duration = Duration::from_millis(500);
/// How long a text that was sent off may stay in the input, at first; it doubles.
const LEAVES_WITHIN: Duration = Duration::from_secs(1);
/// What a program's own prompt may take of a row, in columns.
const PROMPT_MAX: usize = 20;
/// Above so many lines the history is forgotten before a turn, so that nothing is lost in it.
const HISTORY_HIGH: usize = 5000;

#[derive(Debug)]
pub(super) enum Stage {
    /// What somebody left in the input is taken out: how often the keys were pressed, how often
    /// in vain, when last, and what was there then.
    Clearing { presses: u32, vain: u32, at: Duration, before: Option<String> },
    /// It was pasted behind this, in this line.
    Pasted { at: Duration, line: usize, before: String },
    /// It was sent off from this line, so often.
    Sent { at: Duration, times: u32, cursor: usize },
}

impl Stage {
    fn first(now: Duration) -> Self {
        Self::Clearing { presses: 0, vain: 0, at: now, before: None }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Delivery {
    text: String,
    receipt: Receipt,
    /// The id of what is added to a turn; `None` = it is the turn's own prompt.
    steer: Option<String>,
    since: Duration,
    attempts: u32,
    stage: Stage,
}

impl Delivery {
    pub(super) fn new(text: String, steer: Option<String>, now: Duration) -> Self {
        let receipt = Receipt::of(&text);
        let stage = Stage::first(now);
        Self { text, receipt, steer, since: now, attempts: 0, stage }
    }

    /// Says whether the terminal would throw away a part of it.
    fn too_long(&self, screen: &Screen) -> bool {
        screen.line_mode && self.text.len() >= terminal::LINE_MAX
    }

    /// Returns where the program's own lines begin, once the text was sent off.
    pub(super) fn sent_from(&self) -> Option<usize> {
        match self.stage {
            Stage::Sent { cursor, .. } => Some(cursor + 1),
            Stage::Clearing { .. } | Stage::Pasted { .. } => None,
        }
    }

    /// Returns the line in which it was typed, once it was.
    pub(super) fn line(&self) -> Option<usize> {
        match self.stage {
            Stage::Sent { cursor, .. } => Some(cursor),
            Stage::Pasted { line, .. } => Some(line),
            Stage::Clearing { .. } => None,
        }
    }

    /// Says whether it is, or is in, a text that the program took.
    pub(super) fn is_in(&self, taken: &str) -> bool {
        self.line().is_some() && self.receipt.is_in(taken)
    }

    /// Says whether it opens the turn.
    pub(super) fn is_prompt(&self) -> bool {
        self.steer.is_none()
    }

    /// Says whether the text may be in the input.
    pub(super) fn pasted(&self) -> bool {
        self.attempts > 0
    }
}

impl Turns {
    pub(super) fn deliver(&mut self, screen: &Screen, now: Duration) {
        let Some(mut delivery) = self.delivery.take() else { return };
        if now.saturating_sub(delivery.since) >= self.profile.deliver_within() {
            return self.undelivered(&delivery, screen);
        }
        let stage = std::mem::replace(&mut delivery.stage, Stage::first(now));
        delivery.stage = match stage {
            Stage::Clearing { presses, vain, at, before } => {
                self.clearing(&mut delivery, screen, (presses, vain, at, before), now)
            }
            Stage::Pasted { at, line, before } => {
                self.pasted(&delivery, screen, (at, line, before), now)
            }
            Stage::Sent { at, times, cursor } if self.has_left(&delivery, screen, cursor) => {
                let waits = (now.saturating_sub(at), now.saturating_sub(delivery.since));
                if !self.awaits_receipt(waits.0, waits.1) {
                    return self.delivered(&delivery, cursor, now);
                }
                Stage::Sent { at, times, cursor }
            }
            Stage::Sent { at, times, cursor } => {
                if now.saturating_sub(at) >= LEAVES_WITHIN * 2u32.pow(times.min(5) - 1) {
                    self.out.push(Action::Keys(self.profile.submit.clone()));
                    Stage::Sent { at: now, times: times + 1, cursor }
                } else {
                    Stage::Sent { at, times, cursor }
                }
            }
        };
        self.delivery = Some(delivery);
    }

    /// Says whether the program takes text now, as far as is known.
    fn takes(&self, delivery: &Delivery, screen: &Screen) -> bool {
        if delivery.too_long(screen) {
            return false;
        }
        let has_input = self.profile.ready.is_empty() || screen.input_row(&self.profile).is_some();
        let idle = delivery.steer.is_some() || !screen.busy(&self.profile);
        has_input && idle
    }

    /// Empties the input. What the keys do not change is no text, but a hint or a prompt.
    fn clearing(
        &mut self,
        delivery: &mut Delivery,
        screen: &Screen,
        (presses, vain, at, before): (u32, u32, Duration, Option<String>),
        now: Duration,
    ) -> Stage {
        let same = Stage::Clearing { presses, vain, at, before: before.clone() };
        if !self.takes(delivery, screen) {
            return same;
        }
        if delivery.attempts == 0 && presses == 0 && screen.history > HISTORY_HIGH {
            self.out.push(Action::ForgetHistory);
            return same;
        }
        let input = screen.input(&self.profile, None);
        let unchanged = before.as_ref() == Some(&input);
        if unchanged && now.saturating_sub(at) < CLEARS_WITHIN {
            return same;
        }
        // A press may take away no more than the end of a line, which is not seen.
        let hint = unchanged && vain >= VAIN_CLEARS;
        if !input.is_empty() && !hint && presses < CLEARS {
            self.out.push(Action::Keys(self.clear_keys()));
            let vain = if unchanged { vain + 1 } else { 0 };
            return Stage::Clearing { presses: presses + 1, vain, at: now, before: Some(input) };
        }
        delivery.attempts += 1;
        if let Some(turn) = self.turn.as_mut().filter(|_| delivery.steer.is_none()) {
            turn.wanted_more = screen.wants_more(&self.profile).is_some();
        }
        self.out.push(Action::Paste(delivery.text.clone()));
        self.looks = 0;
        let line = screen.cursor_line();
        Stage::Pasted { at: now, line, before: screen.input(&self.profile, Some(line)) }
    }

    fn pasted(
        &mut self,
        delivery: &Delivery,
        screen: &Screen,
        (at, line, before): (Duration, usize, String),
        now: Duration,
    ) -> Stage {
        let whole = match self.profile.kind {
            Kind::Line => line >= screen.history && !self.is_sideways(delivery, screen, line),
            Kind::Box => Receipt::is_short(&delivery.text),
        };
        let sight = if whole { Sight::Whole { before: &before } } else { Sight::End };
        let input = screen.input(&self.profile, Some(line));
        let with_signs = screen.input_with_signs(&self.profile, line);
        let seen = |input: &String| delivery.receipt.seen(input, sight, &self.profile);
        if seen(&input) || with_signs.as_ref().is_some_and(seen) {
            self.out.push(Action::Keys(self.profile.submit.clone()));
            self.looks = 0;
            return Stage::Sent { at: now, times: 1, cursor: screen.cursor_line() };
        }
        if now.saturating_sub(at) < SHOWS_WITHIN * 2u32.pow(delivery.attempts.min(5) - 1) {
            return Stage::Pasted { at, line, before };
        }
        self.out.push(Action::Keys(self.clear_keys()));
        self.looks = 0;
        Stage::Clearing { presses: 1, vain: 0, at: now, before: Some(input) }
    }

    /// Says whether the program shows a long text in one row, of which only the end is seen.
    fn is_sideways(&self, delivery: &Delivery, screen: &Screen, line: usize) -> bool {
        let columns = usize::from(self.profile.columns);
        let long = delivery.text.chars().count() + PROMPT_MAX >= columns;
        long && screen.cursor_line() == line
    }

    /// Says whether a text that was sent off is out of the input.
    fn has_left(&self, delivery: &Delivery, screen: &Screen, cursor: usize) -> bool {
        let moved = match self.profile.kind {
            Kind::Line => screen.cursor_line() != cursor,
            Kind::Box => true,
        };
        let input = screen.input(&self.profile, None);
        moved && !delivery.receipt.seen(&input, Sight::End, &self.profile)
    }

    pub(super) fn delivered(&mut self, delivery: &Delivery, cursor: usize, now: Duration) {
        let Some(turn) = &mut self.turn else { return };
        let id = turn.id;
        self.still_since = now;
        self.looks = 0;
        match &delivery.steer {
            None => {
                turn.from_line = Some(cursor + 1);
                turn.sent_at = now;
                self.tell(RuntimeEvent::Accepted { turn: id });
            }
            Some(uuid) => self.tell(RuntimeEvent::Steered { turn: id, uuid: uuid.clone() }),
        }
        self.next_steer(now);
    }

    /// The time is over. The text does not stay where the next one would be added to it.
    fn undelivered(&mut self, delivery: &Delivery, screen: &Screen) {
        if delivery.pasted() {
            let clear = self.clear_keys();
            self.out.push(Action::Keys(clear));
        }
        let Some(turn) = &self.turn else { return };
        let id = turn.id;
        let what = match delivery.stage {
            Stage::Sent { .. } => "it stayed in the program's input",
            Stage::Clearing { .. } if delivery.too_long(screen) => {
                "it is longer than a line that the program's terminal takes"
            }
            Stage::Clearing { .. } => "the program took no text",
            Stage::Pasted { .. } => "the program's screen did not show it",
        };
        let why = format!(
            "the message could not be seen to arrive within {} s: {what}; the last line of its \
             screen: {}",
            self.profile.deliver_within().as_secs(),
            short(screen.last_words())
        );
        if delivery.steer.is_some() {
            // The turn goes on without it; at its end it goes back to the queue.
            self.tell(RuntimeEvent::Notice { text: why });
        } else {
            self.fail(id, why);
        }
    }
}
