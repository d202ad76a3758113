//! What people, agents and askers read about a question.

use std::time::Duration;

use super::{AnswerRule, Asked, Choose, Facts, OnTimeout, QuestionState};
use crate::{forged, id::QuestionNumber, mention::escape, name::AgentName, reminder::units, shown};

/// What is shown of a question or an answer on one line, in bytes.
const SHOWN_MAX: usize = 240;

/// Returns who is asked, for people: `the operator`, `#ops`, `ori`, `oak-ada and oak-bob`.
#[must_use]
pub fn recipient(asked: &Asked) -> String {
    match asked {
        Asked::Operator => "the owners".to_owned(),
        Asked::Room(room) => format!("people in {room}"),
        Asked::Person(nick) => nick.to_string(),
        Asked::Agents(agents) => {
            let names: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
            shown::listed(&names)
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

/// A question as people are asked it.
#[derive(Debug, Clone, Copy)]
pub struct Announcement<'a> {
    /// Who asks whom.
    pub question: Facts<'a>,
    /// What is asked.
    pub body: &'a str,
    /// What to choose from, and how many.
    pub choices: (&'a [String], Choose),
    /// How the agent is addressed there: `@oak-ada `, or nothing in private.
    pub to: &'a str,
    /// Where the agent was asked itself, where that is somewhere else: `in #general`.
    pub asked_in: Option<&'a str>,
    /// In what time it expires, if it does.
    pub expires_in: Option<Duration>,
}

impl Announcement<'_> {
    /// Returns the lines for a room, which say whom the question is for: of a long one the beginning.
    #[must_use]
    pub fn in_room(self) -> Vec<String> {
        let mut first = one_line(self.body);
        if self.is_cut() {
            first.push_str(&format!(" (`{}answer {}` shows all of it)", self.to, self.number()));
        }
        let whom = match self.question.asked {
            Asked::Room(_) => " to anybody here".to_owned(),
            asked @ (Asked::Operator | Asked::Person(_) | Asked::Agents(_)) => {
                format!(" to {}", recipient(asked))
            }
        };
        self.lines(&whom, vec![first])
    }

    /// Returns the lines for one person: all of it, as far as a message goes.
    #[must_use]
    pub fn whole(self) -> Vec<String> {
        // Each reader is asked, except for a question to agents.
        let whom = match self.question.asked {
            asked @ Asked::Agents(_) => format!(" to {}", recipient(asked)),
            Asked::Operator | Asked::Room(_) | Asked::Person(_) => String::new(),
        };
        self.lines(&whom, self.body_lines())
    }

    /// Returns the visible copy of a question to agents, which get it as a message of their own (C15): all of
    /// the question, without how to answer it.
    #[must_use]
    pub fn copy(self) -> Vec<String> {
        self.asked(&format!(" to {}", recipient(self.question.asked)), self.body_lines())
    }

    /// Returns whether a room is not shown all of the question.
    #[must_use]
    pub fn is_cut(self) -> bool {
        on_one_line(self.body).len() > SHOWN_MAX
    }

    fn number(self) -> QuestionNumber {
        self.question.number
    }

    fn body_lines(self) -> Vec<String> {
        let body = self.body.trim().split(['\n', '\r']).map(str::trim_end);
        let body = body.filter(|line| !line.is_empty()).map(shown::label);
        // The first follows our own words.
        let ours = |(at, line): (usize, String)| match at {
            0 => line,
            _ => forged::marked(&line).into_owned(),
        };
        body.enumerate().map(ours).collect()
    }

    /// Returns who asks whom what, and the options.
    fn asked(self, whom: &str, body: Vec<String>) -> Vec<String> {
        let (number, (choices, choose)) = (self.number(), self.choices);
        let place = self.asked_in.map(|place| format!(" ({})", shown::label(place)));
        let from = format!("{}{}", self.question.asker, place.unwrap_or_default());
        let mut body = body.into_iter();
        let first = body.next().unwrap_or_default();
        let mut lines = vec![format!("question {number} from {from}{whom}: {first}")];
        lines.extend(body);
        let listed = options(choices, choose);
        if !listed.is_empty() {
            lines.push(listed);
        }
        lines
    }

    fn lines(self, whom: &str, body: Vec<String>) -> Vec<String> {
        let (number, to) = (self.number(), self.to);
        let mut lines = self.asked(whom, body);
        let mut how = match self.choices.0 {
            [] => format!("Reply `{to}answer {number} TEXT`"),
            [..] => format!("Reply `{to}answer {number} 1`, or `{to}answer {number} TEXT`"),
        };
        if let Some(left) = self.expires_in {
            how.push_str(&format!("; it expires in {}", units(left)));
        }
        lines.push(how);
        lines
    }
}

/// Returns the line by which people learn, where they were asked, what became of a question.
#[must_use]
pub fn closed(number: QuestionNumber, state: QuestionState, answer: &str, by: &str) -> String {
    let by = shown::label(by);
    match state {
        QuestionState::Open => format!("question {number} is open"),
        QuestionState::Answered => {
            format!("question {number} was answered by {by}: {}", one_line(answer))
        }
        QuestionState::Expired => format!("question {number} has expired: nobody answered in time"),
        QuestionState::Cancelled => format!("question {number} was withdrawn by {by}"),
    }
}

/// Returns the same for a question that expires now, with what follows for its asker (R1-53).
#[must_use]
pub fn expired(number: QuestionNumber, then: OnTimeout) -> String {
    let follows = match then {
        OnTimeout::None => "",
        OnTimeout::Pause => "; the agent is paused until an owner says `resume`",
        OnTimeout::Deny => "; that counts as no",
        OnTimeout::Abort => "; the turn that asked is ended if it is still open",
    };
    format!("{}{follows}", closed(number, QuestionState::Expired, "", ""))
}

/// Returns the message by which an agent is asked (R2-22).
#[must_use]
pub fn asked(question: Facts<'_>, body: &str, (choices, choose): (&[String], Choose)) -> String {
    let number = question.number;
    let mut text = format!("[QUESTION {number}] <{}> {}", question.asker, escape(body));
    let choices: Vec<String> = choices.iter().map(|option| escape(option.trim())).collect();
    let listed = options(&choices, choose);
    if !listed.is_empty() {
        text.push_str(&format!("\noptions: {listed}, or a text of your own"));
    }
    let asker = question.asker;
    let how = match question.rule {
        AnswerRule::Humans => {
            format!(
                "People decide this: no agent's answer is taken. `send` {asker} what it should know."
            )
        }
        AnswerRule::Any
        | AnswerRule::First
        | AnswerRule::Vote
        | AnswerRule::Consensus
        | AnswerRule::Never => format!(
            "Answer it with the tool `answer` and the id {number}. If you must know more first, `ask` {asker}: \
             the question stays open until you have read what you asked for."
        ),
    };
    format!("{text}\n{how}")
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

/// Returns a text on one line, cut where it is long.
#[must_use]
pub fn one_line(text: &str) -> String {
    let text = on_one_line(text);
    if text.len() <= SHOWN_MAX {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(SHOWN_MAX)])
}

fn on_one_line(text: &str) -> String {
    shown::label(&text.trim().replace("\r\n", "\n").replace(['\n', '\r'], " ⏎ "))
}
