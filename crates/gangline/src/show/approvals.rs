//! Approvals as a list, and the first line of one.

use gangline_api::approval::{Approval, ApprovalState};
use gangline_core::{AgentName, ApprovalNumber, approval::view::middle_out};
use gangline_os::clock::{UnixMicros, parse_rfc3339};

use super::{
    table::{Cell, table},
    text::{Paint, age, one_line},
};

#[cfg(test)]
mod tests;

/// How much of a summary is shown, in bytes.
const SUMMARY_MAX: usize = 100;

/// Returns the list of `approvals`.
pub(crate) fn list(approvals: &[Approval], now: UnixMicros) -> String {
    if approvals.is_empty() {
        return "no approval waits\n".to_owned();
    }
    let rows: Vec<_> = approvals
        .iter()
        .map(|approval| {
            let asked = parse_rfc3339(&approval.asked_at);
            [
                Cell::from(approval.number.to_string()),
                Cell::from(approval.agent.as_str()),
                state(approval),
                Cell::from(asked.map_or_else(|| "-".to_owned(), |at| age(now.since(at)))),
                Cell::from(one_line(&approval.tool)),
                Cell::from(what(approval)),
            ]
        })
        .collect();
    let rest = "\n`gangline approvals NO` shows all of one\n";
    table(["NO", "AGENT", "STATE", "AGE", "TOOL", "WHAT"], &rows) + rest
}

/// Returns the first line of the view of one.
pub(crate) fn title(approval: &Approval, now: UnixMicros) -> String {
    let asked = parse_rfc3339(&approval.asked_at);
    let asked = asked.map_or_else(String::new, |at| format!(", asked {} ago", age(now.since(at))));
    let by = by(approval).map_or_else(String::new, |by| format!(" by {by}"));
    let note =
        approval.note.as_ref().map_or_else(String::new, |note| format!(": {}", one_line(note)));
    let word = approval.state.as_str();
    format!("approval {} of {}: {word}{by}{note}{asked}", approval.number, approval.agent)
}

/// Returns where the whole of an approval stands, and how it is decided.
pub(crate) fn how(agent: &AgentName, number: ApprovalNumber) -> String {
    format!("`gangline approvals {number}` shows all of it\n{}", decide(agent, number))
}

/// Returns how an approval is decided.
pub(crate) fn decide(agent: &AgentName, number: ApprovalNumber) -> String {
    format!(
        "decide: `gangline approve {number}` or \
         `gangline deny {number} --reason TEXT`, or in the room: `@{agent} yes {number}` or `no \
         {number} REASON`"
    )
}

/// Returns who decided: how others know the person, and the account.
fn by(approval: &Approval) -> Option<String> {
    let account = approval.decided_by.as_deref();
    let known_as = approval.decided_as.as_deref().or(account)?;
    match account {
        Some(account) if !known_as.contains(account) => {
            Some(format!("{} ({})", one_line(known_as), one_line(account)))
        }
        Some(_) | None => Some(one_line(known_as)),
    }
}

fn state(approval: &Approval) -> Cell {
    let paint = match approval.state {
        ApprovalState::Open => Paint::Yellow,
        ApprovalState::Allowed => Paint::Green,
        ApprovalState::Denied => Paint::Red,
        ApprovalState::Void | ApprovalState::Withdrawn => Paint::Dim,
    };
    Cell::painted(paint, approval.state.as_str())
}

fn what(approval: &Approval) -> String {
    let mut text = middle_out(&one_line(&approval.summary), SUMMARY_MAX).0;
    if let Some(by) = by(approval) {
        text.push_str(&format!("  (by {by})"));
    }
    text
}
