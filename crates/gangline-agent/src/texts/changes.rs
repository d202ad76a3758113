//! Texts about what managers ask for: for the room and for the command line.

use std::time::Duration;

use gangline_core::{ApprovalNumber, approval::Decision, shown};
use gangline_store::{ChangeRow, ChangeState};

/// Returns everything that is known of a change, a line each.
#[must_use]
pub fn card(row: &ChangeRow) -> Vec<String> {
    let mut lines = vec![
        format!("approval {} of {}: {}", row.number, row.agent, standing(row)),
        format!("asks for {}", shown::label(row.summary.as_str())),
    ];
    if !row.reason.as_str().is_empty() {
        lines.push(format!("why: {}", shown::label(row.reason.as_str())));
    }
    if let Some(message) = row.message {
        lines.push(format!("asked in the turn about {message}"));
    }
    lines.extend(shown::lines(row.detail.as_str()).lines().map(str::to_owned));
    lines
}

/// Returns where a change stands, to follow its number.
#[must_use]
pub fn standing(row: &ChangeRow) -> String {
    let by = row
        .decided_as
        .as_deref()
        .map_or_else(String::new, |by| format!(" by {}", shown::label(by)));
    let outcome = row.outcome.as_ref().map_or("", |outcome| outcome.as_str());
    let outcome = shown::label(outcome);
    match row.state {
        ChangeState::Requested => {
            format!("open; say `yes {0}` or `no {0} REASON`", row.number)
        }
        ChangeState::Approved => format!("allowed{by}; the hub applies it"),
        ChangeState::Applying => {
            format!("allowed{by}; applied, waiting for {} to be ready", row.subject)
        }
        ChangeState::RollingBack => format!("allowed{by}; it is being undone: {outcome}"),
        ChangeState::Applied | ChangeState::RolledBack | ChangeState::Failed => {
            format!("allowed{by}; {outcome}")
        }
        ChangeState::Denied => {
            let note = row.note.as_ref().map_or_else(String::new, |note| format!(": {note}"));
            format!("denied{by}{note}")
        }
    }
}

/// Tells owners of a change, in a room or in private.
pub(crate) fn asked(row: &ChangeRow, target: &str) -> String {
    let (number, agent) = (row.number, &row.agent);
    let to = if target.starts_with('#') { format!("@{agent} ") } else { String::new() };
    format!(
        "approval {number}: {agent} asks for {}. Say `{to}yes {number}` or `{to}no {number} REASON`; \
         `gangline approvals {number}` shows all of it",
        shown::label(row.summary.as_str())
    )
}

/// Tells them again while nobody has decided it.
pub(crate) fn waits(row: &ChangeRow, target: &str, waited: Duration) -> String {
    format!("{}; it has waited for {}", asked(row, target), super::span(waited))
}

/// Tells somebody who has decided what follows.
pub(crate) fn decided(row: &ChangeRow) -> String {
    let number = row.number;
    match row.state {
        ChangeState::Denied => format!("approval {number} is denied; {} is told", row.agent),
        ChangeState::Requested
        | ChangeState::Approved
        | ChangeState::Applying
        | ChangeState::RollingBack
        | ChangeState::Applied
        | ChangeState::RolledBack
        | ChangeState::Failed => {
            format!(
                "approval {number} is allowed: the hub applies it, and undoes it if {} is not up \
                     in time",
                row.subject
            )
        }
    }
}

/// Tells a person who decides too late how it stands.
pub(crate) fn closed(row: &ChangeRow) -> String {
    format!("approval {} was already {}", row.number, standing(row))
}

/// Tells somebody who decides it with the wrong agent to whom it belongs.
pub(crate) fn of_another(row: &ChangeRow, decision: Decision) -> String {
    let (number, agent) = (row.number, &row.agent);
    let word = match decision {
        Decision::Allow => "yes",
        Decision::Deny => "no",
    };
    format!("approval {number} is {agent}'s, not mine: say `@{agent} {word} {number}`")
}

/// No rule can stand for a change.
pub(crate) fn no_always(number: ApprovalNumber) -> String {
    format!(
        "approval {number} is about one change, so it cannot be allowed always: say `yes {number}`"
    )
}

/// A configuration is shown to owners alone.
pub(crate) fn only_owners(number: ApprovalNumber) -> String {
    format!("approval {number} shows the configuration: only owners see it, in private")
}
