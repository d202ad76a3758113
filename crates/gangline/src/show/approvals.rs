//! Approvals as a list, and what came of a decision.

use gangline_api::approval::{Approval, ApprovalState};
use gangline_os::clock::{UnixMicros, parse_rfc3339};

use super::{
    table::{Cell, table},
    text::{Paint, age, cut, one_line},
};

#[cfg(test)]
mod tests;

/// How much of a summary is shown, in characters.
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
    table(["NO", "AGENT", "STATE", "AGE", "TOOL", "WHAT"], &rows)
}

fn state(approval: &Approval) -> Cell {
    let (word, paint) = match approval.state {
        ApprovalState::Open => ("open", Paint::Yellow),
        ApprovalState::Allowed => ("allowed", Paint::Green),
        ApprovalState::Denied => ("denied", Paint::Red),
        ApprovalState::Void => ("void", Paint::Dim),
        ApprovalState::Withdrawn => ("withdrawn", Paint::Dim),
        ApprovalState::Expired => ("expired", Paint::Dim),
    };
    Cell::painted(paint, word)
}

fn what(approval: &Approval) -> String {
    let mut text = cut(&one_line(&approval.summary), SUMMARY_MAX);
    if let Some(by) = &approval.decided_by {
        text.push_str(&format!("  (by {})", one_line(by)));
    }
    text
}
