//! What a session makes of the screens that it sees: starting, delivery, turns. Pure: a screen and
//! the time in, [`Action`]s out.
//!
//! Nothing is assumed: a text has arrived when the input shows it, it was sent off when the input
//! no longer does, and a turn is over when the program shows that it takes the next one. What a
//! program reports by its hooks is more certain, and comes first where there are any. Start at
//! [`Turns::see`]; delivery is in `turns/delivery.rs`, what is reported in `turns/told.rs`.

use std::{collections::VecDeque, time::Duration};

use gangline_core::TurnId;

use super::{
    profile::{Kind, Profile},
    screen::Screen,
    text::{self, Captured, Since},
};
use crate::{
    AssistantMessage, Block, FailureKind, Prompt, RuntimeEvent, SessionId, TurnResult,
    program::running::CALL_LIMIT,
};
use delivery::Delivery;

mod delivery;
mod hook_events;
#[cfg(test)]
mod tests;

/// Between two looks, at first and at most.
const LOOK_FIRST: Duration = Duration::from_millis(100);
const LOOK_MOST: Duration = Duration::from_secs(1);
/// Between two looks while something is about to be decided.
const LOOK_CLOSE: Duration = Duration::from_millis(60);
/// Between two signs of life of a turn.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// Between two presses of the keys for an interrupt, and how often they are pressed.
const INTERRUPT_AGAIN: Duration = Duration::from_secs(2);
const INTERRUPTS: u32 = 3;
/// A sign of work on a screen that stands still for so long is a text that looks like one.
const STALE: Duration = Duration::from_secs(60);
/// A program that shows when it works, and did not, has to stand still for so long.
const UNSEEN_WORK: Duration = Duration::from_secs(2);
/// A program that takes prompts again and has shown nothing for so long will not.
const NOTHING_WITHIN: Duration = Duration::from_secs(20);
/// A program that reports the end of a turn, and did not, has to stand still for so long.
const UNTOLD_END: Duration = Duration::from_secs(10);
/// After this time a notice says that the program is not ready, with the last line of its screen.
const SLOW_START: Duration = Duration::from_secs(10);
/// How often a question of the start is answered before that is seen to be no use.
const DIALOG_TRIES: u32 = 3;

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Tell the daemon.
    Report(RuntimeEvent),
    /// Press these keys.
    Keys(Vec<String>),
    /// Leave the mode in which somebody looks back.
    LeaveMode,
    /// Paste this text.
    Paste(String),
    /// Forget the history; the next screen has none.
    ForgetHistory,
    /// Read what is there from this line on, then [`Turns::read`].
    Read(usize),
    /// No turn is open any more.
    Free,
    /// The program cannot be used; end it.
    GiveUp,
}

/// A turn that is open.
#[derive(Debug)]
struct Turn {
    id: TurnId,
    /// What was typed.
    typed: String,
    /// Where its answer begins; known once it was sent off.
    from_line: Option<usize>,
    sent_at: Duration,
    worked: bool,
    /// The program reported that it has taken the prompt, so it will report the end too.
    taken: bool,
    /// How it ended, as the program reported. It may be made to go on.
    ended: Option<TurnResult>,
    asks: bool,
    /// When the program reported that it asks.
    asked_at: Option<Duration>,
    /// It stood at such a sign already when the text was pasted; for some it is the usual one.
    wanted_more: bool,
    /// At its end it wants the rest of what was typed.
    wants_more: bool,
    /// When the keys for an interrupt were pressed last, and how often.
    interrupted: Option<(Duration, u32)>,
    reading: bool,
}

/// The state of one session; see the module.
pub(super) struct Turns {
    profile: Profile,
    session: SessionId,
    begun: Duration,
    ready: bool,
    /// The notice that the start takes long was sent.
    slow: bool,
    /// No turn has ended yet.
    fresh: bool,
    dialogs: Vec<u32>,
    turn: Option<Turn>,
    /// What is on its way to the program.
    delivery: Option<Delivery>,
    /// A prompt from before the start was over.
    early: Option<Prompt>,
    steers: VecDeque<Prompt>,
    last: Option<Screen>,
    /// Since when the screen is as it is.
    still_since: Duration,
    /// The words that it shows, and since when. A spinner that turns, and a clock that goes, change none.
    words: (String, Duration),
    looks: u32,
    last_alive: Duration,
    /// Its hooks run, and report each text that is taken.
    reports: bool,
    out: Vec<Action>,
}

impl Turns {
    pub(super) fn new(profile: Profile, session: SessionId, now: Duration) -> Self {
        let dialogs = vec![0; profile.dialogs.len()];
        Self {
            profile,
            session,
            begun: now,
            ready: false,
            slow: false,
            fresh: true,
            dialogs,
            turn: None,
            delivery: None,
            early: None,
            steers: VecDeque::new(),
            last: None,
            still_since: now,
            words: (String::new(), now),
            looks: 0,
            last_alive: now,
            reports: false,
            out: Vec::new(),
        }
    }

    /// Says whether a turn is open.
    pub(super) fn busy(&self) -> bool {
        self.turn.is_some() || self.early.is_some()
    }

    pub(super) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns how long until the next look; `None` when there is nothing to look for.
    pub(super) fn next_look(&self) -> Option<Duration> {
        if !self.ready || self.delivery.is_some() {
            let slower = LOOK_CLOSE * (1 + self.looks / 8);
            return Some(slower.min(LOOK_FIRST * 3));
        }
        self.turn.as_ref()?;
        let grown = LOOK_FIRST * (1 + self.looks / 4);
        Some(grown.min(LOOK_MOST))
    }

    /// Gives a prompt; the caller has made sure that no turn is open.
    pub(super) fn prompt(&mut self, prompt: Prompt, now: Duration) -> Vec<Action> {
        if self.ready {
            self.open(prompt, now);
        } else {
            self.early = Some(prompt);
        }
        self.done()
    }

    fn open(&mut self, prompt: Prompt, now: Duration) {
        let typed = text::typed(&prompt.text, self.profile.paste);
        self.turn = Some(Turn {
            id: prompt.turn,
            typed: typed.clone(),
            from_line: None,
            sent_at: now,
            worked: false,
            taken: false,
            ended: None,
            asks: false,
            asked_at: None,
            wanted_more: false,
            wants_more: false,
            interrupted: None,
            reading: false,
        });
        self.delivery = Some(Delivery::new(typed, None, now));
        self.looks = 0;
    }

    /// Adds a text to the open turn. When that has just ended, nobody gets it.
    pub(super) fn steer(&mut self, prompt: Prompt, now: Duration) -> Vec<Action> {
        if self.turn.as_ref().is_some_and(|turn| !turn.reading && turn.interrupted.is_none()) {
            self.steers.push_back(prompt);
            self.next_steer(now);
        }
        self.done()
    }

    fn next_steer(&mut self, now: Duration) {
        let sent = self.turn.as_ref().is_some_and(|turn| turn.from_line.is_some());
        if !sent || self.delivery.is_some() {
            return;
        }
        if let Some(prompt) = self.steers.pop_front() {
            let typed = text::typed(&prompt.text, self.profile.paste);
            self.delivery = Some(Delivery::new(typed, Some(prompt.uuid), now));
            self.looks = 0;
        }
    }

    /// Asks for the end of the open turn.
    pub(super) fn interrupt(&mut self, now: Duration) -> Vec<Action> {
        if let Some(prompt) = self.early.take() {
            self.finish(prompt.turn, TurnResult::Interrupted);
            return self.done();
        }
        self.steers.clear();
        let Some(turn) = &mut self.turn else { return self.done() };
        if turn.from_line.is_none() {
            // Once it was sent off the program may have it, seen or not.
            turn.from_line = self.delivery.as_ref().and_then(Delivery::sent_from);
        }
        if turn.from_line.is_none() {
            // Not sent off: it is taken out of the input again.
            let id = turn.id;
            let pasted = self.delivery.take().is_some_and(|it| it.pasted());
            if pasted {
                let clear = self.clear_keys();
                self.out.push(Action::Keys(clear));
            }
            self.finish(id, TurnResult::Interrupted);
        } else if turn.interrupted.is_none() {
            turn.interrupted = Some((now, 1));
            self.delivery = None;
            self.still_since = now;
            self.looks = 0;
            self.out.push(Action::Keys(self.profile.interrupt.clone()));
        }
        self.done()
    }

    /// Takes a look at the screen.
    pub(super) fn see(&mut self, screen: Screen, now: Duration) -> Vec<Action> {
        let moved = self.last.as_ref() != Some(&screen);
        if moved {
            self.still_since = now;
            let words = screen.words(&self.profile);
            if words != self.words.0 {
                self.words = (words, now);
            }
        }
        self.looks = if moved && self.delivery.is_none() { self.looks / 2 } else { self.looks + 1 };
        if screen.in_mode {
            self.out.push(Action::LeaveMode);
        } else if !self.ready {
            self.starting(&screen, now);
        } else if self.late_dialog(&screen, now) {
            self.looks = 0;
        } else if self.delivery.is_some() {
            self.deliver(&screen, now);
        } else {
            self.working(&screen, now);
        }
        self.alive(moved, now);
        self.last = Some(screen);
        self.done()
    }

    fn still(&self, now: Duration) -> Duration {
        now.saturating_sub(self.still_since)
    }

    /// Answers a dialog of the start, once the screen is still. Returns whether one is open that is
    /// not given up yet.
    fn dialog(&mut self, screen: &Screen, now: Duration) -> bool {
        let dialog = self.profile.dialogs.iter().position(|it| screen.has(&it.seen));
        let Some(at) = dialog.filter(|at| self.dialogs[*at] < DIALOG_TRIES) else { return false };
        if self.still(now) >= self.profile.settle() {
            self.dialogs[at] += 1;
            self.still_since = now;
            // One key after the other: each may change what the next one means.
            for key in self.profile.dialogs[at].keys.clone() {
                self.out.push(Action::Keys(vec![key]));
            }
        }
        true
    }

    /// The same for a dialog that comes after the input was shown for the first time. Until the
    /// first turn has ended, and never where the program takes a prompt: an answer may have the
    /// same words.
    fn late_dialog(&mut self, screen: &Screen, now: Duration) -> bool {
        self.fresh && !screen.takes_prompts(&self.profile) && self.dialog(screen, now)
    }

    fn starting(&mut self, screen: &Screen, now: Duration) {
        // Also if the screen never stops changing.
        if !self.slow && now.saturating_sub(self.begun) >= SLOW_START {
            self.slow = true;
            let last = short(screen.last_words());
            let text = format!("not ready for prompts yet; its screen ends with: {last}");
            self.tell(RuntimeEvent::Notice { text });
        }
        if self.still(now) < self.profile.settle() || self.dialog(screen, now) {
            return;
        }
        let known = !self.profile.ready.is_empty();
        let since = now.saturating_sub(self.begun);
        let warm = since >= self.profile.warm_up();
        let shown = screen.ready(&self.profile)
            && !screen.asks(&self.profile)
            // A box that is half drawn has its cursor somewhere else.
            && (self.profile.kind == Kind::Line || screen.input(&self.profile, None).is_empty());
        if if known { shown } else { warm } {
            self.ready = true;
            self.tell(RuntimeEvent::Ready { session: self.session.clone() });
            if let Some(prompt) = self.early.take() {
                self.open(prompt, now);
            }
        } else if since >= self.profile.start_within() {
            let text = format!(
                "the program did not show that it takes prompts within {} s; the last line of its \
                 screen: {}",
                self.profile.start_within().as_secs(),
                short(screen.last_words())
            );
            self.tell(RuntimeEvent::Notice { text });
            self.out.push(Action::GiveUp);
        }
    }

    fn working(&mut self, screen: &Screen, now: Duration) {
        let still = self.still(now);
        let busy = screen.lent || (screen.busy(&self.profile) && still < STALE);
        let ready = screen.ready(&self.profile);
        let asks = screen.asks(&self.profile) && !busy;
        let Some(turn) = &mut self.turn else { return };
        if turn.reading {
            return;
        }
        turn.worked |= busy;
        if asks && !turn.asks && !turn.asked_lately(now) {
            self.out.push(Action::Report(hook_events::asks()));
        }
        turn.asks = asks;
        let settle = match (&turn.interrupted, self.profile.ready.is_empty()) {
            (None, _) if turn.ended.is_some() => self.profile.settle(),
            (None, _) if turn.taken => UNTOLD_END,
            (_, true) => self.profile.quiet(),
            (Some(_), false) => self.profile.settle(),
            (None, false) if self.profile.busy.is_empty() || turn.worked => self.profile.settle(),
            (None, false) => self.profile.settle().max(UNSEEN_WORK),
        };
        let shown = ready || self.profile.ready.is_empty();
        if !busy && !asks && shown && still >= settle {
            if let (Some(result), None) = (turn.ended.take(), turn.interrupted) {
                let id = turn.id;
                self.finish(id, result);
            } else if let (Some(from), false) = (turn.from_line, turn.reading) {
                turn.reading = true;
                let more = screen.wants_more(&self.profile).is_some();
                turn.wants_more = more && !turn.wanted_more;
                self.out.push(Action::Read(from));
            }
            return;
        }
        if let Some((at, times)) = &mut turn.interrupted
            && *times < INTERRUPTS
            && !ready
            && now.saturating_sub(*at) >= INTERRUPT_AGAIN
        {
            (*at, *times) = (now, *times + 1);
            self.out.push(Action::Keys(self.profile.interrupt.clone()));
        }
    }

    /// Takes what was asked for by [`Action::Read`]: the lines since the prompt.
    pub(super) fn read(&mut self, captured: &Captured, now: Duration) -> Vec<Action> {
        let Some(turn) = &mut self.turn else { return self.done() };
        turn.reading = false;
        let (id, interrupted) = (turn.id, turn.interrupted.is_some());
        let wants_more = turn.wants_more;
        let answer = Since { captured, prompt: &turn.typed }.answer(&self.profile);
        if interrupted {
            self.finish(id, TurnResult::Interrupted);
        } else if wants_more {
            // Else the next message would be taken for the rest of this one.
            self.out.push(Action::Keys(self.profile.interrupt.clone()));
            let why = "the program wants the rest of what was typed, such as the end of a \
                       quotation; it was taken back";
            self.fail(id, why.to_owned());
        } else if !answer.is_empty() {
            let content = vec![Block::Text { text: answer }];
            let message = AssistantMessage { model: String::new(), content };
            self.tell(RuntimeEvent::Message { turn: id, message });
            self.finish(id, TurnResult::Completed);
        } else if self.profile.bare {
            // Most commands say nothing when they succeed.
            self.finish(id, TurnResult::Completed);
        } else if self.nothing_more_comes(now) {
            let why = "the program took the message and takes the next one, and has shown nothing";
            self.fail(id, why.to_owned());
        }
        self.done()
    }

    /// A prompt behind the last line is an end; a box that is always there is not.
    fn nothing_more_comes(&self, now: Duration) -> bool {
        let line = self.profile.kind == Kind::Line && !self.profile.ready.is_empty();
        let since = self.turn.as_ref().map_or(now, |turn| turn.sent_at);
        line || now.saturating_sub(since) >= NOTHING_WITHIN
    }

    fn alive(&mut self, moved: bool, now: Duration) {
        let Some(turn) = &self.turn else { return };
        let since = turn.sent_at.max(self.words.1);
        // What only turns shows that the program lives, and that may be a tool that takes long.
        if moved
            && now.saturating_sub(since) < CALL_LIMIT
            && turn.from_line.is_some()
            && now.saturating_sub(self.last_alive) >= ALIVE_EVERY
            && self.out.is_empty()
        {
            self.last_alive = now;
            let event = RuntimeEvent::Alive { turn: turn.id };
            self.tell(event);
        }
    }

    fn clear_keys(&self) -> Vec<String> {
        self.profile.clear.clone()
    }

    fn fail(&mut self, id: TurnId, why: String) {
        self.finish(id, TurnResult::Failed { kind: FailureKind::Other, why });
    }

    fn finish(&mut self, turn: TurnId, result: TurnResult) {
        self.turn = None;
        self.fresh = false;
        self.delivery = None;
        self.steers.clear();
        self.out.push(Action::Free);
        self.tell(RuntimeEvent::Finished { turn, result });
    }

    fn tell(&mut self, event: RuntimeEvent) {
        self.out.push(Action::Report(event));
    }

    fn done(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.out)
    }
}

/// One line for people.
fn short(text: &str) -> String {
    let text: String = text.chars().take(200).collect();
    if text.is_empty() { "(empty)".to_owned() } else { text }
}
