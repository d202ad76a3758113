//! The agent's settings.

use std::time::Duration;

use crate::{answer::Rules, id::Epoch};

use super::{ColdReset, Watermark};

/// When the runtime is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StartMode {
    /// When a message waits.
    #[default]
    WhenNeeded,
    /// As soon as it may.
    Eager,
}

/// What a message does that comes while a turn is open (C3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WhenBusy {
    /// It waits for the turn's end and gets a separate turn.
    #[default]
    Queue,
    /// It wakes nobody while it is the only thing that waits: the agent may read it by tool, in
    /// this turn or in the next that something else wakes. What is not read within
    /// [`AgentOptions::buffer_wait`] after the turn gets a turn like any other (R1-29).
    Buffer,
    /// It is given to the runtime in mid-turn and takes part in the turn. Only for a runtime that
    /// can be steered.
    Steer,
}

/// With which session the runtime comes back after it died (C7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnCrash {
    /// The last one.
    #[default]
    Resume,
    /// A new one.
    Fresh,
}

/// The agent's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentOptions {
    /// The daemon's epoch; turns are counted within it.
    pub epoch: Epoch,
    /// How turns are settled.
    pub rules: Rules,
    /// When the runtime is started.
    pub start: StartMode,
    /// With which session it comes back.
    pub on_crash: OnCrash,
    /// What a message does that comes while a turn is open.
    pub when_busy: WhenBusy,
    /// How long what was buffered in a turn may wait after it to be read (60 s).
    pub buffer_wait: Duration,
    /// Time for the runtime to get ready (60 s).
    pub start_timeout: Duration,
    /// How long a turn may show no activity before it is ended (10 min). Stops while an approval is
    /// open.
    pub turn_output: Duration,
    /// Time for an interrupt to have effect before the runtime is killed (10 s).
    pub interrupt_grace: Duration,
    /// Wait before a restart after a death (5 s).
    pub restart_delay: Duration,
    /// So many deaths within the window park the agent (3; R0-22).
    pub breaker_deaths: usize,
    /// The window (300 s).
    pub breaker_window: Duration,
    /// A clean end sooner than this after a start counts as a death, unless a message was done
    /// (60 s): else a program that ends at once would be started for ever.
    pub short_generation: Duration,
    /// After this many failed resumes in a row a new session begins (2; C7).
    pub max_failed_resumes: u32,
    /// How full the context may become before the agent is asked for its notes, after which it is
    /// shortened (R2-09). None: it is not.
    pub watermark: Option<Watermark>,
    /// When a new session is cheaper than going on with the old one. None: never.
    pub cold_reset: Option<ColdReset>,
    /// Whether a conversation that no longer fits its model is made shorter, and its prompt given
    /// once more (R2-08, C13).
    pub compacts: bool,
    /// Whether an empty session gets a first prompt (R0-07).
    pub first_words: bool,
    /// How long nothing is fed after a rate limit that names no time (30 s).
    pub rate_limit_pause: Duration,
    /// Messages that one turn takes (1).
    pub messages_per_turn: usize,
    /// Messages held in memory (256); more stay in the store until these are done.
    pub queue_max: usize,
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self {
            epoch: Epoch(1),
            rules: Rules::default(),
            start: StartMode::default(),
            on_crash: OnCrash::default(),
            when_busy: WhenBusy::default(),
            buffer_wait: Duration::from_secs(60),
            start_timeout: Duration::from_secs(60),
            turn_output: Duration::from_secs(600),
            interrupt_grace: Duration::from_secs(10),
            restart_delay: Duration::from_secs(5),
            breaker_deaths: 3,
            breaker_window: Duration::from_secs(300),
            short_generation: Duration::from_secs(60),
            max_failed_resumes: 2,
            watermark: None,
            cold_reset: None,
            compacts: true,
            first_words: false,
            rate_limit_pause: Duration::from_secs(30),
            messages_per_turn: 1,
            queue_max: 256,
        }
    }
}

impl AgentOptions {
    /// Returns the default options for this epoch, with these rules.
    #[must_use]
    pub fn new(epoch: Epoch, rules: Rules) -> Self {
        Self { epoch, rules, ..Self::default() }
    }
}
