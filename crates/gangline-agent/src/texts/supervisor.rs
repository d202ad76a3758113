//! What is said of the supervisor.

use gangline_core::{effort::EffortLevel, watch::Unreadable};

/// A tool that the supervisor's model calls.
pub(crate) const NO_TOOLS: &str = "a supervisor only replies: it has no tools";
pub(crate) const TOO_SLOW: &str = "it did not reply within two minutes";
pub(crate) const GONE: &str = "its backend ended before it replied";
pub(crate) const RATE_LIMITED: &str = "its provider's rate limit is reached";

/// Says that the model thinks harder for a task, or as before (R1-11).
pub(crate) fn effort(raised: Option<EffortLevel>) -> String {
    match raised {
        Some(level) => format!("the effort is {level} for this task: it was asked to think deeper"),
        None => "the effort is as before: the task is over".to_owned(),
    }
}

/// Says that an evaluation came to nothing, and what follows.
pub(crate) fn failed(agent: &str, why: &str) -> String {
    format!("the supervisor ({agent}) gave no verdict: {why}; rules go on watching")
}

/// Says that a reply was no verdict.
pub(crate) fn unreadable(agent: &str, why: &Unreadable) -> String {
    format!("the supervisor's reply ({agent}) is no verdict: {why}; it counts as OK")
}

/// Says that the model is asked no more.
pub(crate) fn given_up(agent: &str, failures: u32, why: &str) -> String {
    format!(
        "the supervisor ({agent}) failed {failures} times in a row and is off; rules go on \
         watching. The last time: {why}. Restart the agent to use it again"
    )
}

/// Says that the model cannot be asked at all.
pub(crate) fn unusable(agent: &str, why: &str) -> String {
    format!("the supervisor ({agent}) cannot be used: {why}; rules watch alone")
}

/// Says that steps were not seen.
pub(crate) fn skipped(count: u64) -> String {
    format!("{count} steps of the agent were not seen: there were too many at once")
}
