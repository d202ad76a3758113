//! The words of alerts (R1-42). The detail in them comes from the agent: the caller masks the whole.

use super::Telling;
use crate::{
    ApprovalNumber, FindingNumber, QuestionNumber, finding::Choice, hook::WebhookEvent,
    name::AgentName, privacy::Said, question::OnTimeout, shown,
};

/// The supervisor has given up: the agent repeats itself (R1-42).
#[must_use]
pub fn spiraling(agent: &AgentName, task: &str, retried: &str) -> String {
    let retried = sentence(retried);
    format!("[SPIRALING] {agent} stuck on task \"{task}\".{retried} Awaiting guidance.")
}

/// The agent waits for somebody (R1-42).
#[must_use]
pub fn question(agent: &AgentName, question: &str) -> String {
    format!("[QUESTION] {agent} needs input: \"{question}\"")
}

/// The backend has ended without having been asked (R1-42).
#[must_use]
pub fn crashed(agent: &AgentName, how: &str) -> String {
    format!("[ERROR] {agent} crashed: {how}")
}

/// Nothing waits any more (R1-42). `place` is a channel, a nick, or nothing: what was not said in a room is
/// not for the alert channel.
#[must_use]
pub fn complete(agent: &AgentName, (task, sender): (&str, &str), place: &str) -> String {
    match (Said::at(place), place) {
        (Said::InARoom, room) => {
            format!("[COMPLETE] {agent} finished task \"{task}\". Results in {room}.")
        }
        (Said::InPrivate, "") => format!("[COMPLETE] {agent} finished a task of {sender}."),
        (Said::InPrivate, nick) => {
            format!("[COMPLETE] {agent} finished a task of {nick}, who was answered in private.")
        }
    }
}

/// Nobody answered a question in time (R1-39), and what follows for the agent (R1-53).
#[must_use]
pub fn timeout(
    agent: &AgentName,
    number: QuestionNumber,
    question: &str,
    then: OnTimeout,
) -> String {
    let follows = match then {
        OnTimeout::None => String::new(),
        OnTimeout::Pause => format!(" It is paused: `@{agent} resume` lets it continue."),
        OnTimeout::Deny => " That counts as no.".to_owned(),
        OnTimeout::Abort => " The turn that asked is ended if it is still open.".to_owned(),
    };
    format!("[TIMEOUT] {agent} got no answer in time to question {number}: \"{question}\"{follows}")
}

/// A tool waits for a person's permission.
#[must_use]
pub fn approval(agent: &AgentName, number: ApprovalNumber, what: &str) -> String {
    format!(
        "[APPROVAL] {agent} asks to run {what}. Reply `@{agent} yes {number}` or `@{agent} no {number}`."
    )
}

/// Something was found that people should know of: what, and how to decide on it.
#[must_use]
pub fn found(
    event: WebhookEvent,
    (agent, cause): (&AgentName, &str),
    (number, choices): (FindingNumber, &[Choice]),
) -> String {
    let label = match event {
        WebhookEvent::AgentBudget => "BUDGET",
        WebhookEvent::AgentRateLimited => "RATE LIMIT",
        WebhookEvent::AgentError => "ERROR",
        WebhookEvent::AgentSpiraling => "SPIRALING",
        WebhookEvent::AgentQuestion
        | WebhookEvent::AgentTimeout
        | WebhookEvent::AgentComplete
        | WebhookEvent::AgentApproval
        | WebhookEvent::AgentStuck => "STUCK",
    };
    let words: Vec<&str> = choices.iter().map(|choice| choice.word.as_str()).collect();
    let answer = match words.as_slice() {
        [] => String::new(),
        words => format!(" Reply `@{agent} answer {number} {}`.", words.join("|")),
    };
    format!("[{label}] {agent}:{}{answer}", sentence(cause))
}

/// Returns an alert's text on one line, without what a terminal or a chat client could obey: nothing in
/// it begins another alert or hides one.
#[must_use]
pub fn one_line(text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n").replace(['\n', '\r'], " ⏎ ");
    shown::talk(&text.chars().filter(|c| !c.is_control()).collect::<String>())
}

/// Returns an alert's text in the form in which it is told. `text` is the newest of its group.
#[must_use]
pub fn told(text: &str, telling: Telling) -> String {
    match telling {
        Telling::First => text.to_owned(),
        Telling::More(1) => text.to_owned(),
        Telling::More(count) => {
            format!("{text} ({count} alerts like this in the last minutes; this is the newest)")
        }
        Telling::Again(minutes) => format!("{text} (still waits, for {})", span(minutes)),
    }
}

fn span(minutes: u64) -> String {
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} minutes"),
        (1, 0) => "1 hour".to_owned(),
        (hours, 0) => format!("{hours} hours"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

fn sentence(text: &str) -> String {
    match text.trim().trim_end_matches('.') {
        "" => String::new(),
        text => format!(" {text}."),
    }
}
