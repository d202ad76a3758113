//! What people, agents and askers read about a question.

use super::{AnswerRule, Asked, Choose, Facts, OPERATOR, Vote};
use crate::{id::QuestionNumber, mention::escape, name::AgentName, shown};

/// What is shown of a question or an answer on one line, in bytes.
const SHOWN_MAX: usize = 240;

/// Returns who is asked, for people: `the operator`, `#ops`, `ori`, `oak-ada and oak-bob`.
#[must_use]
pub fn recipient(asked: &Asked) -> String {
    match asked {
        Asked::Operator => format!("the {OPERATOR}"),
        Asked::Room(room) => format!("people in {room}"),
        Asked::Person(nick) => nick.to_string(),
        Asked::Agents(agents) => {
            let names: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
            match names.split_last() {
                Some((last, [])) => (*last).to_owned(),
                Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
                None => String::new(),
            }
        }
    }
}

/// Returns the options with their numbers, in one line; empty without options.
#[must_use]
pub fn options(options: &[String], choose: Choose) -> String {
    if options.is_empty() {
        return String::new();
    }
    let each = options.iter().enumerate();
    let each: Vec<String> =
        each.map(|(at, option)| format!("{}) {}", at + 1, shown::label(option.trim()))).collect();
    let several = match choose {
        Choose::One => "",
        Choose::Several => " (several: such as 1,3)",
    };
    format!("{}{several}", each.join("  "))
}

/// Returns the lines by which people are asked. `to`: how the agent is addressed there: `@oak-ada `,
/// or nothing in private.
#[must_use]
pub fn announce(
    question: Facts<'_>,
    body: &str,
    (choices, choose): (&[String], Choose),
    to: &str,
) -> Vec<String> {
    let number = question.number;
    let mut lines = vec![format!("question {number} from {}: {}", question.asker, one_line(body))];
    let listed = options(choices, choose);
    if !listed.is_empty() {
        lines.push(listed);
    }
    let how = match choices {
        [] => format!("Reply `{to}answer {number} TEXT`"),
        [..] => format!("Reply `{to}answer {number} 1`, or `{to}answer {number} TEXT`"),
    };
    lines.push(how);
    lines
}

/// Returns the message by which an agent is asked (R2-22).
#[must_use]
pub fn asked(question: Facts<'_>, body: &str, (choices, choose): (&[String], Choose)) -> String {
    let number = question.number;
    let mut text = format!("[QUESTION {number}] <{}> {}", question.asker, escape(body));
    let listed = options(choices, choose);
    if !listed.is_empty() {
        text.push_str(&format!("\noptions: {listed}, or a text of your own"));
    }
    text.push_str(&format!("\nAnswer it with the tool `answer` and the id {number}."));
    text
}

/// Returns the message by which the asker hears of an answer (R1-51, R2-22).
#[must_use]
pub fn answered(number: QuestionNumber, body: &str, answer: &str, answerer: &str) -> String {
    format!(
        "[ANSWER {number}] <{}> {}\nYou asked: {}",
        shown::label(answerer),
        escape(answer),
        escape(body)
    )
}

/// Returns the answer of a question that its asker withdraws (R2-27).
#[must_use]
pub fn cancelled_by(who: &str) -> String {
    format!("[cancelled by {who}]")
}

/// Returns the answer of agents that do not agree.
pub(super) fn no_agreement(rule: AnswerRule, votes: &[&Vote]) -> String {
    let each: Vec<String> =
        votes.iter().map(|vote| format!("{}: {}", vote.by, one_line(&vote.answer))).collect();
    let what = match rule {
        AnswerRule::Consensus => "no consensus",
        AnswerRule::Humans
        | AnswerRule::Any
        | AnswerRule::First
        | AnswerRule::Vote
        | AnswerRule::Never => "no majority",
    };
    format!("[{what}] {}", each.join("; "))
}

/// Returns a text on one line, cut where it is long.
#[must_use]
pub fn one_line(text: &str) -> String {
    let text = shown::label(&text.trim().replace("\r\n", "\n").replace(['\n', '\r'], " ⏎ "));
    if text.len() <= SHOWN_MAX {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(SHOWN_MAX)])
}
