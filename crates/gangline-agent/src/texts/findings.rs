//! Texts of the watchdogs' findings: what holds, what shows it, and what a person may do.

use std::time::Duration;

use gangline_api::status::RunningTool;
use gangline_core::{
    MessageId,
    finding::{Choice, ChoiceWord, FindingKind},
    shown::one_line,
    watchdog::Found,
};

#[cfg(test)]
mod tests;

/// What is known of the agent when a watchdog barks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Told<'a> {
    /// What the open turn is about.
    pub(crate) task: Option<&'a str>,
    /// The tool that runs.
    pub(crate) tool: Option<&'a RunningTool>,
    /// The message that waits longest.
    pub(crate) oldest: Option<Oldest<'a>>,
    /// How many messages wait.
    pub(crate) waiting: usize,
    /// What somebody has to do so that the backend has a login.
    pub(crate) needs_login: Option<&'a str>,
    /// How the backend ended the last time.
    pub(crate) death: Option<&'a str>,
    /// Whether a turn is open.
    pub(crate) in_turn: bool,
}

/// A message that waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Oldest<'a> {
    pub(crate) id: MessageId,
    pub(crate) sender: &'a str,
}

/// The parts of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) cause: String,
    pub(crate) evidence: String,
    pub(crate) choices: Vec<Choice>,
    pub(crate) recommended: Option<ChoiceWord>,
}

/// Returns what a watchdog says.
pub(crate) fn watchdog(found: Found, told: Told<'_>) -> Finding {
    let after = minutes(found.after);
    let (cause, evidence) = (cause(found.kind, &after, told), evidence(found.kind, told));
    let (choices, recommended) = choices(found.kind, told);
    Finding { cause, evidence, choices, recommended }
}

fn cause(kind: FindingKind, after: &str, told: Told<'_>) -> String {
    match kind {
        FindingKind::SilentTurn => format!("the turn has shown no output for {after}"),
        FindingKind::LongTurn => format!("the turn has taken {after}"),
        FindingKind::WaitingInbox => {
            let (id, sender) = told.oldest.map_or_else(
                || ("a message".to_owned(), String::new()),
                |it| (it.id.to_string(), format!(" from {}", one_line(it.sender))),
            );
            let others = match told.waiting.saturating_sub(1) {
                0 => String::new(),
                1 => ", and 1 more behind it".to_owned(),
                more => format!(", and {more} more behind it"),
            };
            format!("{id}{sender} has waited {after} for its turn{others}")
        }
        FindingKind::UnansweredApproval => {
            format!("an approval has waited {after}, and its turn stands still")
        }
        FindingKind::BreakerOpen => {
            "the backend kept failing and is not started any more; messages are stored".to_owned()
        }
        other => format!("{other} for {after}"),
    }
}

fn evidence(kind: FindingKind, told: Told<'_>) -> String {
    let task = || told.task.map(|task| format!("works on: {}", one_line(task)));
    let tool = || {
        let tool = told.tool?;
        let what = match one_line(&tool.what) {
            none if none.is_empty() => String::new(),
            what => format!(": {what}"),
        };
        Some(format!("the tool {} runs{what}", one_line(&tool.name)))
    };
    let parts: Vec<String> = match kind {
        FindingKind::BreakerOpen => told.death.map(one_line).into_iter().collect(),
        FindingKind::WaitingInbox => {
            let login = told.needs_login.map(|hint| format!("needs a login: {}", one_line(hint)));
            login.into_iter().chain(task().filter(|_| told.in_turn)).collect()
        }
        _ => tool().into_iter().chain(task()).collect(),
    };
    parts.join("; ")
}

fn choices(kind: FindingKind, told: Told<'_>) -> (Vec<Choice>, Option<ChoiceWord>) {
    let abort = Choice::new(ChoiceWord::Abort, "ends the turn; its message counts as failed");
    let dismiss = Choice::new(ChoiceWord::Dismiss, "lets it go on");
    let restart = Choice::new(ChoiceWord::Restart, "restarts the agent's daemon");
    match kind {
        FindingKind::SilentTurn => (vec![abort, dismiss], Some(ChoiceWord::Abort)),
        FindingKind::LongTurn => (vec![abort, dismiss], None),
        FindingKind::WaitingInbox if told.in_turn => (vec![abort, dismiss], None),
        FindingKind::WaitingInbox => {
            let resume = Choice::new(ChoiceWord::Resume, "tries the backend again");
            (vec![resume, restart, dismiss], Some(ChoiceWord::Resume))
        }
        FindingKind::BreakerOpen => {
            let resume = Choice::new(ChoiceWord::Resume, "starts the backend again");
            (vec![resume, restart, dismiss], Some(ChoiceWord::Resume))
        }
        // The approval itself waits in the attention list.
        _ => (Vec::new(), None),
    }
}

fn minutes(time: Duration) -> String {
    match time.as_secs() / 60 {
        1 => "1 minute".to_owned(),
        count => format!("{count} minutes"),
    }
}
