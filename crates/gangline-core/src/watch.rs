//! Watching an agent at work: its steps, the rules that find trouble without a model, and what follows
//! from the verdicts of the supervisor.
//!
//! Owns nothing outside itself: `now` is an argument, texts come in masked, and everything has a bound.
//! It never acts; what is to be done is returned. Start at [`Step`], [`Detectors`] and [`Watch`].

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::{
    redact::{Redacted, Redactor},
    time::Now,
};

mod detectors;
mod edit;
mod errors;
mod evaluation;
pub mod prompt;
mod verdict;
mod window;

pub use detectors::{
    CONTEXT_CLEAR_PERCENT, CONTEXT_PERCENT, Detection, Detectors, EPISODES_MOST, KEYS, Noticed,
    OPEN_CALLS_MOST, SILENT_AFTER, SILENT_CALL_AFTER, UNREAD_AFTER,
};
pub use edit::{EDITS_A_CALL, Edit};
pub use evaluation::{Act, Due, Limits, Watch};
pub use verdict::{MESSAGE_MOST, REPLY_MOST, Unreadable, Verdict, parse_verdict};
pub use window::{ENTRY_MOST, FIRST_ENTRIES, LAST_ENTRIES, TASK_MOST};

/// The longest text of one step that is kept, in bytes; of a longer one the beginning and the end.
pub const STEP_TEXT_MOST: usize = 1_000;

/// One step of the watched agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Now,
    /// What it did.
    pub what: StepKind,
}

/// What the watched agent did. Texts are masked; whoever makes a step cuts them to
/// [`STEP_TEXT_MOST`] bytes ([`StepKind::call`], [`StepKind::succeeded`] and [`StepKind::failed`] do).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepKind {
    /// A turn began. The prompt holds what was new in the inbox, so this is a look at it too.
    TurnStarted {
        /// What the agent was asked.
        task: Redacted,
    },
    /// The model said something.
    Text {
        /// What.
        text: Redacted,
    },
    /// The model thinks: a sign of life without a text.
    Thinking,
    /// A tool is called.
    Call {
        /// The backend's id of the call.
        id: String,
        /// The tool's name.
        tool: Redacted,
        /// Its arguments, cut.
        input: Redacted,
        /// The [`digest`] of its arguments, but for the description of a command.
        digest: u64,
        /// The changes of files that the call makes if it succeeds; at most [`EDITS_A_CALL`].
        edits: Vec<Edit>,
    },
    /// A tool returned.
    Result {
        /// The id of the call.
        id: String,
        /// The [`digest`] of all that it returned, or the [`error_digest`] of an error.
        digest: u64,
        /// What it returned, cut.
        text: Redacted,
        /// Whether it reported an error.
        failed: bool,
    },
    /// The agent waits for somebody: a permission, an answer. Silence is no sign of trouble then.
    WaitStarted,
    /// The wait is over. As many as of [`StepKind::WaitStarted`]; the end of the turn ends all.
    WaitEnded,
    /// How full the context is.
    Context {
        /// In percent of the model's window.
        percent: u8,
    },
    /// The agent looked at its inbox or at a channel. The call by which it did so is the open one, else the
    /// next one: it may be made again and again.
    LookedAtInbox,
    /// The turn is over.
    TurnEnded,
}

impl StepKind {
    /// Returns the step of a call: from the arguments as the backend gave them, and as people see them,
    /// with what is to be hidden hidden.
    #[must_use]
    pub fn call(
        id: &str,
        tool: &str,
        (input, shown): (&Value, &Value),
        redactor: &Redactor,
    ) -> Self {
        let all = input.to_string();
        Self::Call {
            id: id.to_owned(),
            tool: redactor.redact(tool),
            input: ends(&redactor.sourced(&shown.to_string()), STEP_TEXT_MOST),
            digest: of_arguments(input, &all),
            edits: Edit::read(input, redactor),
        }
    }

    /// Returns the step of a result without an error.
    #[must_use]
    pub fn succeeded(id: &str, content: &Redacted) -> Self {
        Self::Result {
            id: id.to_owned(),
            digest: digest(content.as_str()),
            text: ends(content, STEP_TEXT_MOST),
            failed: false,
        }
    }

    /// Returns the step of a result that is an error.
    #[must_use]
    pub fn failed(id: &str, content: &Redacted) -> Self {
        Self::Result {
            id: id.to_owned(),
            digest: error_digest(content.as_str()),
            text: ends(content, STEP_TEXT_MOST),
            failed: true,
        }
    }
}

/// Returns the [`digest`] of a call's arguments, of which `all` is the text. What a model says of a command
/// beside it makes it no other call: Claude Code's and OpenCode's models describe the same one anew each time.
fn of_arguments(input: &Value, all: &str) -> u64 {
    const BESIDE: &str = "description";
    match input.as_object() {
        Some(fields) if fields.contains_key("command") && fields.contains_key(BESIDE) => {
            let mut fields = fields.clone();
            fields.remove(BESIDE);
            digest(&Value::Object(fields).to_string())
        }
        _ => digest(all),
    }
}

/// Returns a short name for a text, to compare it with others while the program runs. It is not stored:
/// another version of the program may return another.
#[must_use]
pub fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns the [`digest`] of an error without what differs from run to run: times, durations, addresses,
/// temporary files. Counts and line numbers stay: an error with another count is progress.
#[must_use]
pub fn error_digest(text: &str) -> u64 {
    digest(&errors::without_noise(text))
}

/// Returns a text of at most `most` bytes: the beginning and the end, with a mark between them.
fn ends(text: &Redacted, most: usize) -> Redacted {
    const MARK: &str = " […] ";
    let whole = text.as_str();
    if whole.len() <= most {
        return text.clone();
    }
    let half = most.saturating_sub(MARK.len()) / 2;
    let head = whole.floor_char_boundary(half);
    let tail = whole.ceil_char_boundary(whole.len() - half);
    Redacted::derived(format!("{}{MARK}{}", &whole[..head], &whole[tail..]))
}

#[cfg(test)]
mod tests;
