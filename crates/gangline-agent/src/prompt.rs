//! The prompt for a backend (R0-36, C33), and the text before all prompts.

use std::path::Path;

use gangline_config::AgentConfig;
use gangline_core::{
    checkpoint,
    mention::{Frame, Place, prompt_text, strip},
    message::Origin,
    name::Target,
};
use gangline_store::MessageRow;

use crate::looks::Waiting;

/// The default system prompt (R1-57): data, with the agent's own facts filled in.
const SYSTEM_PROMPT: &str = include_str!("../data/system_prompt.md");

/// Returns the whole prompt for a message.
pub(crate) fn text(waiting: &Waiting) -> String {
    waking(waiting, Around::default(), None)
}

/// What waits beside a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Around {
    /// How many more messages wait in the inbox.
    pub(crate) pending: u64,
    /// How many other lines of its place were not read.
    pub(crate) unread: usize,
}

/// Returns the whole prompt for a message that wakes the agent, with hints at what else waits (R2-13),
/// and how the last attempt at it was cut off (R0-21).
pub(crate) fn waking(waiting: &Waiting, around: Around, cut_off: Option<&str>) -> String {
    let row = &waiting.row;
    let target = row.target.parse::<Target>().ok();
    let place = match (row.origin, &target) {
        (_, _) if is_ours(row) => Place::Ours,
        (Origin::Mention, Some(Target::Channel(channel))) => Place::Channel(channel),
        (Origin::Direct | Origin::Agent, _) => Place::Direct,
        (Origin::Wake, _) => Place::Wake,
        _ => Place::Plain,
    };
    prompt_text(&Frame {
        place,
        sender: &row.sender,
        body: row.body.as_str(),
        pending: around.pending,
        unread: around.unread,
        // A drain gives an attempt back, but what it said was said.
        attempt: row.attempt.max(row.takes),
        cut_off,
        already_sent: &waiting.said,
    })
}

/// Returns whether the message's text is ours, with what others said in it escaped: a question or its
/// answer, a reminder, news of the harness.
pub(crate) fn is_ours(row: &MessageRow) -> bool {
    row.question.is_some() || matches!(row.origin, Origin::Reminder | Origin::System)
}

/// Returns what was said and nothing else, for a program that takes commands: without the agent's
/// name at its start or end.
pub(crate) fn bare(row: &MessageRow) -> String {
    let stripped = match row.origin {
        Origin::Mention | Origin::Direct => strip(row.body.as_str(), &[&row.agent]),
        _ => String::new(),
    };
    if stripped.is_empty() { row.body.as_str().to_owned() } else { stripped }
}

/// Returns the text put before the conversation, with the rules that always hold at its end. In the
/// default text and in a file that replaces it the agent's own facts are filled in. Of a text of the
/// configuration only what S2 fills in is (R2-15): other braces are its own.
pub(crate) fn system(agent: &AgentConfig, notes: &Path) -> String {
    let whole = |text: &str| {
        text.replace("{nick}", agent.nick.as_str())
            .replace("{directory}", &agent.directory.display().to_string())
            .replace("{notes}", &notes.display().to_string())
    };
    let own = match (&agent.system_prompt, &agent.system_prompt_file) {
        (Some(text), Some(_)) => whole(text),
        (Some(text), None) => text.clone(),
        (None, _) => whole(SYSTEM_PROMPT),
    };
    let own = own
        .replace("{label}", agent.nick.as_str())
        .replace("{operator_pronouns}", &agent.operator_pronouns);
    match checkpoint::pinned(&agent.pinned) {
        pinned if pinned.is_empty() => own,
        pinned => format!("{}\n{}", own.trim_end(), pinned),
    }
}

#[cfg(test)]
mod tests;
