//! What the answers of several agents come to (R1-52). Start at [`tally`].

use super::{AnswerRule, text::one_line};
use crate::name::{AgentName, fold};

/// One agent's answer to a question that several were asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// Whose.
    pub by: AgentName,
    /// What it said.
    pub answer: String,
}

/// Begins the answer of an agent that was asked and ended its turn without one.
pub const NO_ANSWER: &str = "[no answer]";

impl Vote {
    /// Returns whether it says only that the agent has no answer.
    fn is_none(&self) -> bool {
        self.answer.starts_with(NO_ANSWER)
    }
}

/// What the answers of agents come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tally {
    /// More are waited for.
    Open,
    /// This stands.
    Decided(String),
}

/// Counts the agents' answers, each agent's last one. `Vote`: more than half of those asked decide at
/// once; when all have answered, the most do, and equal ones decide nothing. `Consensus`: all must
/// say the same. An agent that has no answer ([`NO_ANSWER`]) is not waited for; if none has one, that is the answer,
/// unless people decide.
#[must_use]
pub fn tally(rule: AnswerRule, asked: &[AgentName], votes: &[Vote]) -> Tally {
    let last = asked.iter().filter_map(|agent| votes.iter().rev().find(|vote| vote.by == *agent));
    let last: Vec<&Vote> = last.collect();
    let all = last.len() == asked.len();
    let silent = all && !last.is_empty() && last.iter().all(|vote| vote.is_none());
    match rule {
        AnswerRule::Humans | AnswerRule::Never => return Tally::Open,
        AnswerRule::Any | AnswerRule::First | AnswerRule::Vote | AnswerRule::Consensus
            if silent =>
        {
            return Tally::Decided(no_answer(&last));
        }
        AnswerRule::Any | AnswerRule::First => return Tally::Open,
        AnswerRule::Vote | AnswerRule::Consensus => {}
    }
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for vote in last.iter().filter(|vote| !vote.is_none()) {
        let said = vote.answer.trim();
        match counted.iter_mut().find(|(answer, _)| fold(answer) == fold(said)) {
            Some((_, count)) => *count += 1,
            None => counted.push((said, 1)),
        }
    }
    let most = counted.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let mut leading = counted.iter().filter(|(_, count)| *count == most);
    let first = leading.next().map(|(answer, _)| (*answer).to_owned());
    let enough = match rule {
        AnswerRule::Consensus => most == asked.len(),
        AnswerRule::Vote => most * 2 > asked.len() || (all && leading.next().is_none()),
        AnswerRule::Humans | AnswerRule::Any | AnswerRule::First | AnswerRule::Never => false,
    };
    match first {
        Some(answer) if enough => Tally::Decided(answer),
        Some(_) if all => Tally::Decided(no_agreement(rule, &last)),
        Some(_) | None => Tally::Open,
    }
}

/// Returns what agents have answered so far; `None` if they have not.
#[must_use]
pub fn so_far(votes: &[Vote]) -> Option<String> {
    (!votes.is_empty()).then(|| format!("answers so far: {}", each(votes.iter())))
}

fn each<'a>(votes: impl Iterator<Item = &'a Vote>) -> String {
    let each: Vec<String> =
        votes.map(|vote| format!("{}: {}", vote.by, one_line(&vote.answer))).collect();
    each.join("; ")
}

/// Returns the answer to a question that no agent has answered, with their reasons.
fn no_answer(votes: &[&Vote]) -> String {
    let why = |vote: &&Vote| one_line(vote.answer.trim_start_matches(NO_ANSWER).trim());
    let each: Vec<String> =
        votes.iter().map(|vote| format!("{}: {}", vote.by, why(vote))).collect();
    format!("{NO_ANSWER} {}", each.join("; "))
}

/// Returns the answer of agents that do not agree.
fn no_agreement(rule: AnswerRule, votes: &[&Vote]) -> String {
    let each = each(votes.iter().copied());
    let what = match rule {
        AnswerRule::Consensus => "no consensus",
        AnswerRule::Humans
        | AnswerRule::Any
        | AnswerRule::First
        | AnswerRule::Vote
        | AnswerRule::Never => "no majority",
    };
    format!("[{what}] {each}")
}
