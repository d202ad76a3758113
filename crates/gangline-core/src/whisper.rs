//! What an agent alone is told while it works: a whisper (R1-32, R1-33).
//!
//! The texts that the agent sees, the bounds, and in [`pool`] which whisper is on which way.

use crate::{
    redact::{Redacted, Redactor},
    shown, words,
};

pub mod pool;
#[cfg(test)]
mod tests;

/// The longest text of a whisper, in bytes.
pub const TEXT_MAX: usize = 2_000;
/// How many whispers of one agent may wait to be delivered; one more is refused.
pub const WAITING_MAX: u32 = 16;
/// Stands for what was cut off a text.
const CUT: &str = " …";

words! {
    /// What a whisper asks of the agent (R1-32), as every wire has it.
    WhisperKind, "whisper type" {
        /// To turn back to its task.
        Correction = "CORRECTION",
        /// To think more before it goes on.
        ThinkDeeper = "THINK_DEEPER",
        /// The last warning before people are told.
        Escalation = "ESCALATION",
    }
}

words! {
    /// Who whispers.
    WhisperSource, "source of a whisper" {
        /// The model that watches the agent's turns.
        Supervisor = "supervisor",
        /// A detector, which asks no model.
        Rules = "rules",
        /// A person.
        Operator = "operator",
    }
}

words! {
    /// How a whisper reached the agent.
    WhisperRoad, "road of a whisper" {
        /// In the context that a hook of the backend adds.
        Hook = "hook",
        /// Put into the running turn.
        Steer = "steer",
        /// In front of the result of a tool of the daemon's.
        Tool = "tool",
        /// By a frame on the daemon's socket, to a command that the agent ran.
        Socket = "socket",
        /// In front of a prompt.
        Prompt = "prompt",
    }
}

/// Returns a text, masked, as a whisper has it.
#[must_use]
pub fn text(redactor: &Redactor, text: &str) -> Redacted {
    Redacted::from_store(clean(redactor.redact(text).as_str()))
}

/// Returns a text as a whisper has it: on one line, without characters that show nothing, and not
/// longer than [`TEXT_MAX`]. So a text cannot look like a second whisper or like a frame of a prompt.
/// Masking comes before this.
#[must_use]
pub fn clean(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = shown::label(&words.join(" "));
    if line.len() > TEXT_MAX {
        let end = line.floor_char_boundary(TEXT_MAX - CUT.len());
        line.truncate(end);
        line.push_str(CUT);
    }
    line
}

/// Returns a whisper as it stands in front of a tool's result or a prompt (R1-17).
#[must_use]
pub fn line(kind: WhisperKind, text: &str) -> String {
    format!("[SUPERVISOR/{kind}] {text}")
}

/// Returns several whispers as lines, for a place of their own or in front of something.
#[must_use]
pub fn lines<'a>(whispers: impl IntoIterator<Item = (WhisperKind, &'a str)>) -> String {
    let lines: Vec<String> = whispers.into_iter().map(|(kind, text)| line(kind, text)).collect();
    lines.join("\n")
}

/// Returns a whisper as a command prints it on its standard error stream (R0-55).
#[must_use]
pub fn command_line(kind: &str, text: &str) -> String {
    format!("[whisper:{kind}] {text}")
}
