//! Questions that an agent asks: whom, who may answer, and when an answer stands.
//!
//! A question is open until an answer stands, its asker or an owner withdraws it, or its time to live
//! is over. Pure: what was answered and by whom are arguments. Start at [`may_answer`] and [`tally`];
//! the texts are in [`text`].

use std::{fmt, str::FromStr};

use self::draft::AskError;
use crate::{
    id::QuestionNumber,
    message::{Principal, Tier},
    name::{AgentName, ChannelName, Nick, fold},
    trust::{Action, Policy, Refusal},
    words,
};

pub use votes::{NO_ANSWER, Tally, Vote, so_far, tally};

pub mod draft;
pub mod line;
pub mod sight;
pub mod text;
mod votes;

#[cfg(test)]
mod tests;

/// The answer of a question whose time is over (R2-24).
pub const EXPIRED: &str = "[expired]";
/// Who gives that answer (R2-24).
pub const TTL_WATCHDOG: &str = "ttl-watchdog";
/// The answer of a question that an owner withdraws (R2-24).
pub const CANCELLED: &str = "[cancelled]";
/// The answer of a question that expired where silence means no (R1-53).
pub const DENIED: &str = "[denied]";
/// The name of the owners, where a recipient is wanted (R2-19).
pub const OPERATOR: &str = "operator";

/// The most options of a question.
pub const OPTIONS_MAX: usize = 20;
/// The longest option, in bytes.
pub const OPTION_MAX: usize = 200;
/// The longest question, in bytes.
pub const QUESTION_MAX: usize = 4 * 1024;
/// The longest answer, in bytes.
pub const ANSWER_MAX: usize = 16 * 1024;
/// The most agents that are asked one question.
pub const ASKED_MAX: usize = 16;
/// The longest time to live: 30 days, in seconds.
pub const TTL_MAX: u64 = 30 * 24 * 60 * 60;
/// The most questions that an agent may have open.
pub const OPEN_MAX: usize = 100;

words! {
    /// Where a question stands.
    QuestionState, "question state" {
        /// It waits for an answer.
        Open = "open",
        /// Its answer stands.
        Answered = "answered",
        /// Nobody answered in time.
        Expired = "expired",
        /// It was withdrawn.
        Cancelled = "cancelled",
    }
}

words! {
    /// Whose answer counts (R1-52). An owner's always does, at once.
    AnswerRule, "answer rule" {
        /// A person's only.
        Humans = "humans",
        /// The first of anybody who was asked.
        Any = "any",
        /// The first of the agents that were asked, or that are in the room.
        First = "first",
        /// The one that most of the agents give.
        Vote = "vote",
        /// The one that all of the agents give.
        Consensus = "consensus",
        /// No agent's: what they say is recorded, and an owner decides.
        Never = "never",
    }
}

impl AnswerRule {
    /// Returns the one of two rules that gives agents less say.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        if other.strictness() > self.strictness() { other } else { self }
    }

    /// Returns whether only people decide. People are then told of the question even if agents are asked.
    #[must_use]
    pub fn is_for_people(self) -> bool {
        match self {
            Self::Humans | Self::Never => true,
            Self::Any | Self::First | Self::Vote | Self::Consensus => false,
        }
    }

    fn strictness(self) -> u8 {
        match self {
            Self::Any | Self::First => 0,
            Self::Vote => 1,
            Self::Consensus => 2,
            Self::Never => 3,
            Self::Humans => 4,
        }
    }
}

words! {
    /// What happens to the asker when its question expires (R1-53).
    OnTimeout, "timeout action" {
        /// It is told, and decides.
        None = "none",
        /// It is paused until a person resumes it.
        Pause = "pause",
        /// It is told that the answer is no.
        Deny = "deny",
        /// The turn that asked is ended, if it is still open.
        Abort = "abort",
    }
}

/// Who is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Asked {
    /// The owners.
    Operator,
    /// Any person in a room.
    Room(ChannelName),
    /// A person, privately.
    Person(Nick),
    /// Other agents, at least one.
    Agents(Vec<AgentName>),
}

impl Asked {
    /// Reads whom a question is for: `operator`, a channel, a nick, or the nicks of agents with commas
    /// between them. `is_agent` says which nicks are agents'.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn parse(
        text: &str,
        is_agent: &dyn Fn(&str) -> Option<AgentName>,
    ) -> Result<Self, AskError> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case(OPERATOR) {
            return Ok(Self::Operator);
        }
        if text.starts_with('#') {
            return text.parse().map(Self::Room).map_err(|_| AskError::Nobody(text.to_owned()));
        }
        let names: Vec<&str> =
            text.split(',').map(|it| it.trim().trim_start_matches('@')).collect();
        let agents: Vec<Option<AgentName>> = names.iter().map(|name| is_agent(name)).collect();
        match (names.as_slice(), agents.as_slice()) {
            ([name], [None]) => {
                name.parse().map(Self::Person).map_err(|_| AskError::Nobody((*name).to_owned()))
            }
            _ => {
                let unknown = names.iter().zip(&agents).find(|(_, agent)| agent.is_none());
                if let Some((name, _)) = unknown {
                    return Err(AskError::NotAnAgent((*name).to_owned()));
                }
                let mut agents: Vec<AgentName> = agents.into_iter().flatten().collect();
                agents.sort();
                agents.dedup();
                if agents.len() > ASKED_MAX {
                    return Err(AskError::TooMany("agents", ASKED_MAX));
                }
                Ok(Self::Agents(agents))
            }
        }
    }

    /// Returns the agents that are asked.
    #[must_use]
    pub fn agents(&self) -> &[AgentName] {
        match self {
            Self::Agents(agents) => agents,
            Self::Operator | Self::Room(_) | Self::Person(_) => &[],
        }
    }

    /// Returns whose answer counts if neither the asker nor its configuration says so.
    #[must_use]
    pub fn usual_rule(&self) -> AnswerRule {
        match self {
            Self::Operator | Self::Room(_) | Self::Person(_) => AnswerRule::Humans,
            Self::Agents(_) => AnswerRule::First,
        }
    }

    /// Returns whose answer counts (R1-52): the asker's choice, but no laxer than its configuration; without
    /// a choice, the configuration's rule. Agents in a room cannot be counted, so for rules that count agents
    /// people decide there.
    #[must_use]
    pub fn rule(&self, wanted: Option<AnswerRule>, configured: Option<AnswerRule>) -> AnswerRule {
        let usual = self.usual_rule();
        let configured = match (self, configured) {
            (Self::Operator | Self::Person(_), _) => None,
            (Self::Room(_), Some(AnswerRule::Vote | AnswerRule::Consensus)) => {
                Some(AnswerRule::Humans)
            }
            (Self::Room(_) | Self::Agents(_), configured) => configured,
        };
        let rule = wanted.or(configured).unwrap_or(usual);
        configured.map_or(rule, |at_most| rule.stricter(at_most))
    }
}

/// The stored form: a kind, a colon, and who.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str(OPERATOR),
            Self::Room(room) => write!(f, "room:{room}"),
            Self::Person(nick) => write!(f, "person:{nick}"),
            Self::Agents(agents) => {
                let names: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
                write!(f, "agents:{}", names.join(","))
            }
        }
    }
}

impl FromStr for Asked {
    type Err = AskError;

    fn from_str(text: &str) -> Result<Self, AskError> {
        let bad = || AskError::Nobody(text.to_owned());
        if text == OPERATOR {
            return Ok(Self::Operator);
        }
        let (kind, who) = text.split_once(':').ok_or_else(bad)?;
        match kind {
            "room" => who.parse().map(Self::Room).map_err(|_| bad()),
            "person" => who.parse().map(Self::Person).map_err(|_| bad()),
            "agents" => {
                let agents: Result<Vec<AgentName>, _> = who.split(',').map(str::parse).collect();
                agents.map(Self::Agents).map_err(|_| bad())
            }
            _ => Err(bad()),
        }
    }
}

/// How many of the options may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Choose {
    /// One.
    #[default]
    One,
    /// One or several.
    Several,
}

/// Where an answer is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where<'a> {
    /// By the command line or a tool: nobody reads along, and no nick is involved.
    Direct,
    /// In a room.
    Room(&'a ChannelName),
    /// In a private conversation.
    Private,
}

/// What an answer counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It stands.
    Decides,
    /// It is one of several, see [`tally`].
    Counts,
    /// It is recorded for whoever decides.
    Advises,
}

/// Why somebody's answer does not count; one line for them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotYours {
    /// It was asked of the owners.
    #[error("question {0} is for the owners: only an owner may answer it")]
    Owners(QuestionNumber),
    /// It was asked of somebody else.
    #[error("question {0} is for {1}: only they or an owner may answer it")]
    Other(QuestionNumber, String),
    /// An agent answers its own question.
    #[error("question {0} is your own: `cancel_loose_end` withdraws it")]
    Own(QuestionNumber),
    /// Only people's answers count.
    #[error("question {0} is for people: an agent's answer does not count")]
    People(QuestionNumber),
    /// Not trusted that far.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A question, as far as the rules look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Its number.
    pub number: QuestionNumber,
    /// Who asks.
    pub asker: &'a AgentName,
    /// Who is asked.
    pub asked: &'a Asked,
    /// Whose answer counts.
    pub rule: AnswerRule,
}

/// Says what an answer of this principal counts for (R2-25): only those who were asked, or an owner,
/// may answer.
///
/// # Errors
/// Says why it does not count.
pub fn may_answer(
    question: Facts<'_>,
    who: &Principal,
    place: Where<'_>,
    policy: &Policy,
) -> Result<Standing, NotYours> {
    let Facts { number, asker, asked, rule } = question;
    let other = || match asked {
        Asked::Operator => NotYours::Owners(number),
        Asked::Room(_) | Asked::Person(_) | Asked::Agents(_) => {
            NotYours::Other(number, text::recipient(asked))
        }
    };
    match who.tier {
        Tier::Owner => return Ok(Standing::Decides),
        Tier::Agent => {
            if fold(&who.account) == asker.folded() {
                return Err(NotYours::Own(number));
            }
            let is_there =
                matches!((asked, place), (Asked::Room(room), Where::Room(here)) if room == here);
            let named = asked.agents().iter().any(|agent| agent.folded() == fold(&who.account));
            if !named && !is_there {
                return Err(other());
            }
            return match rule {
                AnswerRule::Humans => Err(NotYours::People(number)),
                AnswerRule::Any | AnswerRule::First => Ok(Standing::Decides),
                AnswerRule::Vote | AnswerRule::Consensus => Ok(Standing::Counts),
                AnswerRule::Never => Ok(Standing::Advises),
            };
        }
        Tier::Member | Tier::Stranger => policy.may(who, Action::Answer, 0)?,
    }
    let was_asked = match (asked, place) {
        (Asked::Room(room), Where::Room(here)) => room == here,
        (Asked::Person(nick), Where::Room(_) | Where::Private | Where::Direct) => {
            is_account_of(nick, who)
        }
        (Asked::Room(_), Where::Direct | Where::Private)
        | (Asked::Operator | Asked::Agents(_), _) => false,
    };
    if was_asked { Ok(Standing::Decides) } else { Err(other()) }
}

/// Returns whether a question is open to this person: it was asked of them, not only of others for
/// whom an owner may answer.
#[must_use]
pub fn is_asked(asked: &Asked, who: &Principal, policy: &Policy) -> bool {
    let is_person = match who.tier {
        Tier::Owner => true,
        Tier::Member | Tier::Stranger => policy.may(who, Action::Answer, 0).is_ok(),
        Tier::Agent => false,
    };
    let is_theirs = match asked {
        Asked::Operator => who.tier == Tier::Owner,
        Asked::Room(_) => true,
        Asked::Person(nick) => is_account_of(nick, who),
        Asked::Agents(_) => false,
    };
    is_person && is_theirs
}

/// A nick proves nothing: whoever takes it later is somebody else.
fn is_account_of(nick: &Nick, who: &Principal) -> bool {
    fold(who.account.trim_start_matches('~')) == nick.folded()
}

/// Why an answer cannot be taken; for who gives it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAnswer {
    /// Nothing is said.
    #[error("the answer is empty")]
    Empty,
    /// It is too long.
    #[error("the answer is longer than {ANSWER_MAX} bytes")]
    TooLong,
    /// The number is no option's.
    #[error("there is no option {0}: give 1 to {1}, or a text of your own")]
    NoOption(usize, usize),
    /// Several options, where one is wanted.
    #[error("only one option may be chosen: give its number, or a text of your own")]
    OnlyOne,
}

/// Returns the answer that is meant: the options by their numbers or words, or the text as it is
/// (R2-23).
///
/// # Errors
/// Says what is wrong with it.
pub fn resolve(options: &[String], choose: Choose, said: &str) -> Result<String, BadAnswer> {
    let said = said.trim();
    if said.is_empty() {
        return Err(BadAnswer::Empty);
    }
    if said.len() > ANSWER_MAX {
        return Err(BadAnswer::TooLong);
    }
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words = said.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
    let numbers: Vec<&str> = words.collect();
    if options.is_empty() || numbers.is_empty() || !numbers.iter().all(is_number) {
        let same = options.iter().find(|option| fold(option.trim()) == fold(said));
        return Ok(same.map_or_else(|| said.to_owned(), |option| option.trim().to_owned()));
    }
    if numbers.len() > 1 && choose == Choose::One {
        return Err(BadAnswer::OnlyOne);
    }
    let mut chosen: Vec<&str> = Vec::new();
    for number in numbers {
        let number: usize = number.parse().unwrap_or(usize::MAX);
        let option = number.checked_sub(1).and_then(|at| options.get(at));
        let option = option.ok_or(BadAnswer::NoOption(number, options.len()))?;
        if !chosen.contains(&option.trim()) {
            chosen.push(option.trim());
        }
    }
    Ok(chosen.join(", "))
}
