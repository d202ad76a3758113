//! A question before it is asked: what it may be, and why it cannot be asked.

use super::{AnswerRule, Asked, Choose, OPTION_MAX, OPTIONS_MAX, QUESTION_MAX, TTL_MAX};
use crate::name::{AgentName, fold};

/// Why a question cannot be asked; for the model or person that asks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The question is empty.
    #[error("the question is empty")]
    Empty,
    /// A part is too long.
    #[error("{0} is longer than {1} bytes")]
    TooLong(&'static str, usize),
    /// There is too much of something.
    #[error("too many {0}: at most {1}")]
    TooMany(&'static str, usize),
    /// An option is empty or stands twice.
    #[error("option {0} is empty or stands twice")]
    BadOption(usize),
    /// Several may be chosen of nothing.
    #[error("`multi` needs `options`")]
    MultiWithoutOptions,
    /// The time to live is zero or too long.
    #[error("`ttl_seconds` must be between 1 and {TTL_MAX}")]
    BadTtl,
    /// The name is no recipient.
    #[error("`{0}` is nobody who can be asked: give operator, #channel, a nick or agents' nicks")]
    Nobody(String),
    /// One of several names is no agent's.
    #[error("{0} is not an agent of this installation: only agents can be asked together")]
    NotAnAgent(String),
    /// It asks itself.
    #[error("you cannot ask yourself")]
    Oneself,
    /// The rule needs agents.
    #[error("the rule `{0}` needs agents to be asked: name them in `to`")]
    RuleWithoutAgents(AnswerRule),
}

/// A question as it is about to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft<'a> {
    /// What is asked.
    pub question: &'a str,
    /// What to choose from; may be none.
    pub options: &'a [String],
    /// Whether several options may be chosen.
    pub choose: Choose,
    /// How long an answer is waited for, in seconds.
    pub ttl_seconds: Option<u64>,
    /// Who is asked.
    pub asked: &'a Asked,
    /// Whose answer counts.
    pub rule: AnswerRule,
}

/// Checks what is asked and what there is to choose from, whoever asks whom.
///
/// # Errors
/// Says the first thing that is wrong.
pub fn check_text(question: &str, (options, choose): (&[String], Choose)) -> Result<(), AskError> {
    if question.trim().is_empty() {
        return Err(AskError::Empty);
    }
    if question.len() > QUESTION_MAX {
        return Err(AskError::TooLong("the question", QUESTION_MAX));
    }
    if options.len() > OPTIONS_MAX {
        return Err(AskError::TooMany("options", OPTIONS_MAX));
    }
    if choose == Choose::Several && options.is_empty() {
        return Err(AskError::MultiWithoutOptions);
    }
    for (at, option) in options.iter().enumerate() {
        let same = |other: &String| fold(other.trim()) == fold(option.trim());
        if option.trim().is_empty() || options[..at].iter().any(same) {
            return Err(AskError::BadOption(at + 1));
        }
        if option.len() > OPTION_MAX {
            return Err(AskError::TooLong("an option", OPTION_MAX));
        }
    }
    Ok(())
}

impl Draft<'_> {
    /// Checks the question that `asker` asks.
    ///
    /// # Errors
    /// Says the first thing that is wrong.
    pub fn check(&self, asker: &AgentName) -> Result<(), AskError> {
        check_text(self.question, (self.options, self.choose))?;
        if self.ttl_seconds.is_some_and(|ttl| ttl == 0 || ttl > TTL_MAX) {
            return Err(AskError::BadTtl);
        }
        if self.asked.agents().contains(asker) {
            return Err(AskError::Oneself);
        }
        match self.rule {
            AnswerRule::Vote | AnswerRule::Consensus if self.asked.agents().is_empty() => {
                Err(AskError::RuleWithoutAgents(self.rule))
            }
            // Agents may be in a room.
            AnswerRule::First | AnswerRule::Never
                if matches!(self.asked, Asked::Operator | Asked::Person(_)) =>
            {
                Err(AskError::RuleWithoutAgents(self.rule))
            }
            AnswerRule::First
            | AnswerRule::Vote
            | AnswerRule::Consensus
            | AnswerRule::Never
            | AnswerRule::Humans
            | AnswerRule::Any => Ok(()),
        }
    }
}
