//! When the supervisor is asked, and what follows from what it or a detector says: whispers first, then
//! an escalation (C10). Start at [`Watch`].

use std::num::NonZeroU32;

use crate::{finding::FindingKind, redact::Redacted, whisper::WhisperKind};

use super::{Detection, Step, StepKind, Verdict, prompt, window::Window};

/// How an agent is watched. Zero is no value of any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many turns the supervisor is shown (R0-30).
    pub window_size: NonZeroU32,
    /// After how many turns it is asked again (R0-31).
    pub eval_interval: NonZeroU32,
    /// The correction, counted without an `OK` in between, that is an escalation (R0-32).
    pub escalation_threshold: NonZeroU32,
}

impl Default for Limits {
    fn default() -> Self {
        const fn of(number: u32) -> NonZeroU32 {
            match NonZeroU32::new(number) {
                Some(number) => number,
                None => NonZeroU32::MIN,
            }
        }
        Self { window_size: of(20), eval_interval: of(5), escalation_threshold: of(3) }
    }
}

/// The supervisor is to be asked. Answered by [`Watch::judged`] or [`Watch::not_judged`]; none is due in
/// between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Which evaluation it is.
    pub number: u64,
    /// What the supervisor is to read.
    pub prompt: Redacted,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Nothing.
    None,
    /// The agent is told something.
    Whisper {
        /// What it is asked to do.
        kind: WhisperKind,
        /// What it is told.
        text: Redacted,
        /// Whether it was told before and went on.
        firmer: bool,
    },
    /// People have to decide. Nothing is evaluated before [`Watch::rearm`].
    Escalate {
        /// What is wrong.
        kind: FindingKind,
        /// What was asked of the agent.
        task: Redacted,
        /// What the agent is told: the last whisper.
        text: Redacted,
        /// Why.
        cause: Redacted,
        /// What was seen.
        evidence: Redacted,
        /// How often the agent repeated one call in one turn, as counted by a rule since the last `OK`: the
        /// highest count; 0 if no rule has seen a repetition.
        retries: u32,
    },
}

#[derive(Debug)]
struct Asked {
    number: u64,
    /// A detector has corrected the agent in the turn that it was asked after.
    corrected: bool,
}

/// The watch over one agent: its latest turns, and the count of corrections.
#[derive(Debug)]
pub struct Watch {
    limits: Limits,
    window: Window,
    turns: u32,
    asked: Option<Asked>,
    evaluations: u64,
    corrections: u32,
    /// The most repetitions of one call that a rule has counted. Reset together with the corrections.
    retries: u32,
    corrected_in_turn: bool,
    corrected_since_asked: bool,
    paused: bool,
}

/// What is wrong, in what words, by what evidence.
struct Wrong {
    kind: FindingKind,
    whisper: WhisperKind,
    text: Redacted,
    evidence: Redacted,
}

impl Watch {
    /// Returns a watch that has seen nothing.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            window: Window::default(),
            turns: 0,
            asked: None,
            evaluations: 0,
            corrections: 0,
            retries: 0,
            corrected_in_turn: false,
            corrected_since_asked: false,
            paused: false,
        }
    }

    /// Takes a step, and returns whether the supervisor is to be asked now: after every
    /// [`Limits::eval_interval`] completed turns, unless it is being asked or the watch is paused.
    #[must_use]
    pub fn observe(&mut self, step: &Step) -> Option<Due> {
        if matches!(step.what, StepKind::TurnStarted { .. }) {
            self.corrected_in_turn = false;
        }
        let most = usize::try_from(self.limits.window_size.get()).unwrap_or(usize::MAX);
        if !self.window.observe(&step.what, most) || self.paused {
            return None;
        }
        self.turns = self.turns.saturating_add(1);
        if self.turns < self.limits.eval_interval.get() || self.asked.is_some() {
            return None;
        }
        self.turns = 0;
        self.evaluations += 1;
        self.asked = Some(Asked { number: self.evaluations, corrected: self.corrected_in_turn });
        Some(Due { number: self.evaluations, prompt: self.prompt() })
    }

    /// Returns the text about the task and the latest turns.
    #[must_use]
    pub fn prompt(&self) -> Redacted {
        prompt::of(&self.window)
    }

    /// Takes what a detector has found, and returns what follows.
    ///
    /// A finding counts as a verdict that is not `OK`: once in a turn, and once more each time that it has
    /// gone on for as long again ([`Detection::nth`]). Advice is whispered and does not count.
    pub fn detected(&mut self, detection: &Detection) -> Act {
        self.window.add(Redacted::constant("a rule has found"), &detection.evidence);
        if self.paused {
            return Act::None;
        }
        self.retries = self.retries.max(detection.retries);
        let wrong = Wrong {
            kind: cause_of(detection.kind),
            whisper: detection.whisper,
            text: detection.text.clone(),
            evidence: detection.evidence.clone(),
        };
        if !detection.counts || (self.corrected_in_turn && detection.nth <= 1) {
            return self.whisper(wrong, false);
        }
        self.corrected_in_turn = true;
        self.corrected_since_asked = true;
        self.correct(wrong)
    }

    /// Takes the supervisor's verdict of an evaluation, and returns what follows. A verdict of an evaluation
    /// that is over, as after [`Watch::rearm`], changes nothing.
    pub fn judged(&mut self, number: u64, verdict: Verdict, message: &Redacted) -> Act {
        let Some(asked) = self.asked.take_if(|asked| asked.number == number) else {
            return Act::None;
        };
        self.corrected_since_asked = false;
        let wrong = |whisper| Wrong {
            kind: kind_of(whisper, message.as_str()),
            whisper,
            text: message.clone(),
            evidence: message.clone(),
        };
        match verdict {
            Verdict::Ok => {
                self.is_fine();
                Act::None
            }
            // The supervisor was shown what the detector had just whispered about.
            Verdict::Correction if asked.corrected => {
                self.whisper(wrong(WhisperKind::Correction), false)
            }
            Verdict::ThinkDeeper if asked.corrected => {
                self.whisper(wrong(WhisperKind::ThinkDeeper), false)
            }
            Verdict::Correction => self.correct(wrong(WhisperKind::Correction)),
            Verdict::ThinkDeeper => self.correct(wrong(WhisperKind::ThinkDeeper)),
            Verdict::Escalation => {
                self.corrections = self.corrections.saturating_add(1);
                self.escalate(wrong(WhisperKind::Escalation))
            }
        }
    }

    /// Takes note that an evaluation had no readable verdict: nothing follows, and no correction is
    /// forgotten.
    pub fn not_judged(&mut self, number: u64) {
        self.asked.take_if(|asked| asked.number == number);
    }

    /// Judges an evaluation without a model: it is `OK` unless a detector has corrected the agent since
    /// the one before.
    pub fn judged_by_rules(&mut self, number: u64) {
        if self.asked.take_if(|asked| asked.number == number).is_none() {
            return;
        }
        if !std::mem::take(&mut self.corrected_since_asked) {
            self.is_fine();
        }
    }

    /// Returns whether nothing is evaluated, since people have to decide.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Begins anew, as after a person's word that the agent is to go on (R1-35).
    pub fn rearm(&mut self) {
        // The numbers go on, so that a late verdict is known as one.
        *self = Self { evaluations: self.evaluations, ..Self::new(self.limits) };
    }

    /// What was counted is forgotten.
    fn is_fine(&mut self) {
        (self.corrections, self.retries) = (0, 0);
    }

    fn correct(&mut self, wrong: Wrong) -> Act {
        self.corrections = self.corrections.saturating_add(1);
        if self.corrections >= self.limits.escalation_threshold.get() {
            return self.escalate(wrong);
        }
        let firmer = self.corrections > 1;
        self.whisper(wrong, firmer)
    }

    fn whisper(&mut self, wrong: Wrong, firmer: bool) -> Act {
        let text = if firmer { self.firmer(&wrong.text) } else { wrong.text };
        self.window.add(Redacted::constant("was told"), &text);
        Act::Whisper { kind: wrong.whisper, text, firmer }
    }

    fn firmer(&self, text: &Redacted) -> Redacted {
        let last = self.corrections + 1 >= self.limits.escalation_threshold.get();
        let next = if last { " If nothing changes now, people are alerted." } else { "" };
        let warning = self.corrections;
        let stop = if text.as_str().ends_with(['.', '!', '?']) { "" } else { "." };
        Redacted::derived(format!("Warning {warning}, and the trouble goes on. {text}{stop}{next}"))
    }

    fn escalate(&mut self, wrong: Wrong) -> Act {
        self.paused = true;
        self.asked = None;
        let text = format!("Still no progress: people are alerted. {}", wrong.text);
        let text = Redacted::derived(text);
        self.window.add(Redacted::constant("was told"), &text);
        Act::Escalate {
            kind: wrong.kind,
            task: self.window.turns.back().map(|turn| turn.task.clone()).unwrap_or_default(),
            text,
            cause: wrong.text,
            evidence: wrong.evidence,
            retries: self.retries,
        }
    }
}

/// Returns what an escalation is called that a detector's finding ends in.
fn cause_of(kind: FindingKind) -> FindingKind {
    match kind {
        FindingKind::RepeatedCall | FindingKind::RepeatedError | FindingKind::UndoneEdits => {
            FindingKind::Spiraling
        }
        FindingKind::SilentTurn => FindingKind::Stalling,
        FindingKind::Spiraling
        | FindingKind::Drift
        | FindingKind::Stalling
        | FindingKind::Shallow
        | FindingKind::UnreadInbox
        | FindingKind::ContextFilling
        | FindingKind::LongTurn
        | FindingKind::WaitingInbox
        | FindingKind::NoHeartbeat
        | FindingKind::NotRunning
        | FindingKind::HeldMessages
        | FindingKind::BreakerOpen
        | FindingKind::UnansweredApproval
        | FindingKind::Escalation
        | FindingKind::Budget
        | FindingKind::RateLimit
        | FindingKind::SharedLimit
        | FindingKind::DeadLetter
        | FindingKind::UntrustedFolder => kind,
    }
}

/// Returns what a verdict has found: the word of the prompt that its message has, else what its kind says.
fn kind_of(whisper: WhisperKind, message: &str) -> FindingKind {
    const WORDS: &[(&str, FindingKind)] = &[
        ("SPIRAL", FindingKind::Spiraling),
        ("DRIFT", FindingKind::Drift),
        ("STALL", FindingKind::Stalling),
        ("SHALLOW", FindingKind::Shallow),
    ];
    let message = message.to_uppercase();
    let named = WORDS
        .iter()
        .filter_map(|(word, kind)| Some((message.find(word)?, *kind)))
        .min_by_key(|it| it.0);
    match (named, whisper) {
        (Some((_, kind)), _) => kind,
        (None, WhisperKind::ThinkDeeper) => FindingKind::Shallow,
        (None, WhisperKind::Correction | WhisperKind::Escalation) => FindingKind::Spiraling,
    }
}
