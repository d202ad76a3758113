//! Texts about approvals.

use std::time::Duration;

use gangline_core::{
    AgentName, ApprovalNumber, Target,
    approval::{ApprovalState, Decision, Reach, Unclear},
    shown,
    split::LINE_BYTES,
};
use gangline_os::clock::local_minute;
use gangline_store::{AllowedBefore, ApprovalRow, Stored};

use super::span;

/// Returns the word that decides so.
fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "yes",
        Decision::Deny => "no",
    }
}

/// Tells somebody whose bare word decides nothing why, and the exact words that do. `said`: their
/// word, which may be another one for the same decision.
pub(crate) fn unclear(
    said: &str,
    open: &[ApprovalNumber],
    decision: Decision,
    why: Unclear,
) -> String {
    let (said, word) = (shown::label(said.trim()), word(decision));
    let [number] = open else {
        let words: Vec<String> = open.iter().map(|number| format!("`{word} {number}`")).collect();
        let (count, words) = (open.len(), words.join(" or "));
        return format!("{count} approvals are open, so `{said}` alone decides none: say {words}");
    };
    let why = match why {
        // There is one; it was several a moment ago.
        Unclear::Several => "say which".to_owned(),
        Unclear::Addressed => "your line names several agents".to_owned(),
        Unclear::Elsewhere => "it was not shown here".to_owned(),
        Unclear::Cut => "its line did not show it in full".to_owned(),
        Unclear::TooSoon => format!("it was shown less than a second before your `{said}`"),
        Unclear::Old => format!("I read your `{said}` late"),
    };
    format!("approval {number} is still open: {why}. {}", exact_words(*number))
}

/// Tells somebody who says `more` where nothing was begun.
pub(crate) fn no_page(open: &[ApprovalNumber]) -> String {
    match open {
        [] => "there is no next page, and no approval of mine is open".to_owned(),
        [number, ..] => {
            format!("there is no next page here; `show {number}` shows approval {number}")
        }
    }
}

/// Returns the line that asks for a decision; of a call that somebody allowed in an earlier attempt, which
/// was cut off, it says so, in a line of its own if there is no room.
pub(crate) fn asked(line: String, before: Option<&AllowedBefore>) -> Vec<String> {
    let Some(before) = before else { return vec![line] };
    let (_, minute) = local_minute(before.at);
    let note = format!("{} allowed this at {minute}; it may have run", shown::label(&before.by));
    match line.len() + note.len() + " ()".len() <= LINE_BYTES {
        true => vec![format!("{line} ({note})")],
        false => vec![line, note],
    }
}

fn exact_words(number: ApprovalNumber) -> String {
    format!("`show {number}` shows it; say `yes {number}` or `no {number} REASON`")
}

/// What was asked elsewhere is not shown in a room.
pub(crate) fn not_here(number: ApprovalNumber, agent: &AgentName) -> String {
    format!(
        "approval {number} was not asked in this room: say `show {number}` to me in private \
         (`/msg {agent} show {number}`)"
    )
}

/// Tells somebody who allows what was not announced where they are that nothing is decided yet.
pub(crate) fn not_shown(number: ApprovalNumber, reach: Reach, target: &Target) -> String {
    let always = match reach {
        Reach::Once => "",
        Reach::Always => " always",
    };
    let begin = format!("approval {number} was not announced here, so nothing is decided");
    match target {
        Target::Channel(_) => format!(
            "{begin}: I show it to you in private; say `yes {number}{always}` there if you allow it"
        ),
        Target::Nick(_) => {
            format!("{begin}: read it, then say `yes {number}{always}` again if you allow it")
        }
    }
}

/// What only owners are shown is not shown in a room.
pub(crate) fn owners_only(number: ApprovalNumber, agent: &AgentName) -> String {
    format!(
        "approval {number} is shown to owners in private alone: say `show {number}` to me there (`/msg \
         {agent} show {number}`)"
    )
}

/// Tells somebody who decides an approval of another agent to whom it belongs.
pub(crate) fn of_another(row: &ApprovalRow, decision: Option<Decision>) -> String {
    let (number, agent) = (row.number, &row.agent);
    let word = decision.map_or("show", word);
    match row.state {
        ApprovalState::Open | ApprovalState::Void => format!(
            "approval {number} is {agent}'s, not mine: say `@{agent} {word} {number}` in its room, or \
             `/msg {agent} {word} {number}`"
        ),
        ApprovalState::Allowed | ApprovalState::Denied | ApprovalState::Withdrawn => {
            format!("approval {number} was {agent}'s, not mine, and is {}", standing(row))
        }
    }
}

pub(crate) fn unknown(number: ApprovalNumber) -> String {
    format!("I have no open approval {number}; `status` shows what I wait for")
}

/// Tells a person who decides a question that it wants an answer.
pub(crate) fn is_question(number: ApprovalNumber) -> String {
    format!("{number} is a question, not an approval: `answer {number} TEXT` answers it")
}

/// Tells a person who decides too late how the approval was closed.
pub(crate) fn closed(row: &ApprovalRow) -> String {
    let number = row.number;
    match row.state {
        ApprovalState::Open | ApprovalState::Void => unknown(number),
        ApprovalState::Allowed | ApprovalState::Denied => {
            format!("approval {number} was already {}", standing(row))
        }
        ApprovalState::Withdrawn => format!("approval {number} is {}", standing(row)),
    }
}

/// Tells somebody whose bare word finds nothing open what became of the approval that may be meant,
/// so long ago.
pub(crate) fn ended(row: &ApprovalRow, ago: Duration) -> String {
    let (number, ago) = (row.number, span(ago));
    match row.state {
        ApprovalState::Allowed | ApprovalState::Denied => format!("{}, {ago} ago", closed(row)),
        ApprovalState::Withdrawn => {
            format!("approval {number} was {}, {ago} ago", standing(row))
        }
        // It can be decided by its number, or is on its way to be asked again.
        ApprovalState::Void | ApprovalState::Open => {
            format!("approval {number} will be asked again, because its turn was lost {ago} ago")
        }
    }
}

/// Returns an approval's state, to follow its number.
pub(crate) fn standing(row: &ApprovalRow) -> String {
    let by = row.decided_as.as_deref().or(row.decided_by.as_ref().map(|by| by.account.as_str()));
    let by = by.map_or_else(String::new, |by| format!(" by {}", shown::label(by)));
    match row.state {
        ApprovalState::Open => format!("open; say `yes {0}` or `no {0} REASON`", row.number),
        ApprovalState::Void => "its turn was lost; the next attempt asks again".to_owned(),
        ApprovalState::Allowed => format!("allowed{by}"),
        ApprovalState::Denied => format!("denied{by}"),
        ApprovalState::Withdrawn => {
            let why = row.note.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            format!("closed without a decision{why}")
        }
    }
}

/// What came of `yes N always`: the exact rules and how to undo them.
pub(crate) fn always(number: ApprovalNumber, stored: &Stored) -> String {
    let rules = match stored {
        Stored::Nothing(why) => {
            return format!(
                "approval {number} is allowed this once, and I will ask again: no rule is \
                 stored, because {why}"
            );
        }
        Stored::Rules(rules) => rules,
    };
    let each: Vec<String> =
        rules.iter().map(|row| format!("rule {}: {}", row.rule.number, row.rule)).collect();
    let numbers: Vec<String> = rules.iter().map(|row| row.rule.number.to_string()).collect();
    let (each, numbers) = (each.join("; "), numbers.join(" "));
    format!("from now on I do not ask for {each}. To undo it: `gangline policy remove {numbers}`")
}

/// The turn that asked is gone; the next attempt at its message asks the same again.
pub(crate) fn for_next_attempt(said: &str) -> String {
    format!("{said}. The turn that asked is gone; the decision applies to the next attempt")
}

#[cfg(test)]
mod tests;
