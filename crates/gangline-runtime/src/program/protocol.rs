//! What one program's protocol is to the task that owns the program: lines and commands go in,
//! [`Action`]s come out.
//!
//! An adapter implements [`Protocol`] for its state of a session, and nothing else of it touches a
//! process, a pipe or a clock.

use std::time::Duration;

use gangline_core::{TurnId, effort::Effort};

use crate::{ApprovalReply, Prompt, RuntimeEvent, ToolCall};

/// The time of a line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Now {
    /// Monotonic.
    pub(crate) mono: Duration,
    /// Seconds since 1970.
    pub(crate) unix: i64,
}

/// What is to be done, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action<C> {
    /// Tell the daemon.
    Report(RuntimeEvent),
    /// Write a line to the program.
    Write(String),
    /// Run a tool of the daemon; then write [`Protocol::answer`].
    Call { call: ToolCall, caller: C },
    /// Ask what the model is to be told beside what it does in this turn; then write
    /// [`Protocol::answer`] with that text, which may be empty.
    Aside { turn: TurnId, caller: C },
    /// This turn is open now, or none: for who serves the daemon's tools beside the pipe.
    Turn(Option<TurnId>),
    /// No turn is open any more.
    Free,
    /// A login is missing: look for one from now on.
    WatchLogin,
    /// End the program and start it again. Nothing is under way in it.
    Relaunch,
    /// The program cannot be used; end it.
    GiveUp,
}

/// What a session with that protocol wants done.
pub(crate) type Actions<P> = Vec<Action<<P as Protocol>::Caller>>;

/// Why a line says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Odd {
    /// It is no message of this protocol.
    #[error("a line that is not a message")]
    NoMessage,
    /// Its kind is known and its body is not what that kind has.
    #[error("a malformed `{kind}` line: {why}")]
    Broken { kind: String, why: String },
    /// A kind that this version does not know.
    #[error("a line of the unknown kind `{kind}`")]
    Unknown { kind: String },
}

/// For how long something is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    /// Until nothing has happened for so long.
    pub(crate) quiet: Duration,
    /// So long at most.
    pub(crate) most: Duration,
    /// What is done when the process ends meanwhile.
    pub(crate) at_end: AtEnd,
}

/// What becomes of what is held back when the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// It may have been caused by that end, and is lost with the process.
    Lost,
    /// It is done all the same.
    Done,
}

/// What is done about a line that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unread<C> {
    /// What the line was, and what is done about it, for people: behind the program's name.
    pub(crate) what: String,
    pub(crate) actions: Vec<Action<C>>,
}

/// One session in the words of one program; see the module. Pure.
pub(crate) trait Protocol: Send + 'static {
    /// What is kept of who calls a tool of the daemon, until it is answered.
    type Caller: Send + 'static;

    /// Tells the time of what follows, unless that is told with it.
    fn is_now(&mut self, _now: Now) {}

    /// Begins the talk with a process that was just started.
    fn hello(&mut self) -> Actions<Self>;

    /// Takes one line.
    ///
    /// # Errors
    /// [`Odd`] says why it means nothing; [`Protocol::sign_of_life`] follows.
    fn read(&mut self, line: &str, now: Now) -> Result<Actions<Self>, Odd>;

    /// Takes a sign of life that says nothing, such as a line that cannot be read.
    fn sign_of_life(&mut self, now: Now) -> Actions<Self>;

    /// Takes a line that cannot be read, or the beginning of one that is too long, and why. A
    /// request in it is refused with that reason, and a request of ours that it answers fails with
    /// it: else somebody would wait for ever. `None` if it is neither.
    fn unread(&mut self, _line: &str, _why: &str) -> Option<Unread<Self::Caller>> {
        None
    }

    /// Gives a prompt; the caller has made sure that no turn is open.
    fn prompt(&mut self, prompt: Prompt) -> Actions<Self>;

    /// Adds a text to the open turn. When that has just ended, nobody gets it.
    fn steer(&mut self, _prompt: Prompt) -> Actions<Self> {
        Vec::new()
    }

    /// Makes the turn that began unasked this one. Without such a turn it is over at once: whoever
    /// adopted it waits for an end.
    fn adopt(&mut self, _turn: TurnId) -> Actions<Self> {
        Vec::new()
    }

    /// Asks for the end of what is under way. A prompt that was not begun is taken back.
    fn interrupt(&mut self) -> Actions<Self>;

    /// Answers an approval; nothing happens when nobody waits for it.
    fn decide(&mut self, reply: &ApprovalReply) -> Actions<Self>;

    /// Changes the model from the next turn on.
    fn set_model(&mut self, model: &str) -> Actions<Self>;

    /// Has the model think harder, or as before, from the next prompt on.
    fn set_effort(&mut self, _effort: Effort) -> Actions<Self> {
        Vec::new()
    }

    /// Shortens the context once nothing is under way.
    fn compact(&mut self) -> Actions<Self>;

    /// Begins an empty context once nothing is under way.
    fn clear(&mut self) -> Actions<Self>;

    /// Asks the program whether somebody has logged in, where no file shows it.
    fn try_again(&mut self) -> Actions<Self> {
        Vec::new()
    }

    /// Says whether something is held back for what may come next, and for how long.
    fn holds_back(&self) -> Option<Hold> {
        None
    }

    /// Does what was held back.
    fn let_go(&mut self) -> Actions<Self> {
        Vec::new()
    }

    /// Returns the line that answers a call of a daemon's tool.
    fn answer(caller: &Self::Caller, outcome: &Result<String, String>) -> String;

    /// Says whether prompts go through to the program.
    fn is_ready(&self) -> bool;

    /// Says whether something is under way that an interrupt would end.
    fn busy(&self) -> bool;

    /// Says whether nothing is under way and nothing waits to be.
    fn is_done(&self) -> bool {
        !self.busy()
    }
}
