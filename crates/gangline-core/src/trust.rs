//! Trust: who may do what to an agent (design: Trust).

use crate::message::{Principal, Tier};

/// The account of an installation's owner, on its own server and in its store.
pub const OWNER: &str = "owner";

/// What somebody wants of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Start a turn.
    Prompt,
    /// Answer a question of the agent.
    Answer,
    /// Decide an approval.
    Approve,
    /// Pause, resume, interrupt, shut down.
    Operate,
}

impl Action {
    /// Every action.
    pub const ALL: &'static [Self] = &[Self::Prompt, Self::Answer, Self::Approve, Self::Operate];

    fn as_phrase(self) -> &'static str {
        match self {
            Self::Prompt => "prompt this agent",
            Self::Answer => "answer this agent's questions",
            Self::Approve => "decide approvals",
            Self::Operate => "operate this agent",
        }
    }
}

/// The lowest tier of people that may; agents are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum People {
    /// Members and owners.
    Members,
    /// Owners only.
    Owners,
}

/// Whether other agents may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agents {
    /// They may, within the hop limit.
    WithinHops,
    /// They may not.
    Never,
}

/// One agent's policy. A stranger never may anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Which people may prompt.
    pub prompt: People,
    /// Whether agents may prompt.
    pub agents: Agents,
    /// Which people may answer its questions.
    pub answer: People,
    /// Which people decide approvals.
    pub approve: People,
    /// Which people operate it.
    pub operate: People,
    /// The most hops from agent to agent after a person's message.
    pub max_hops: i64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            prompt: People::Members,
            agents: Agents::WithinHops,
            answer: People::Members,
            approve: People::Owners,
            operate: People::Owners,
            max_hops: 8,
        }
    }
}

/// Why somebody may not; one line for a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// Nobody known.
    #[error("{account} is not known here: strangers may not {}", .action.as_phrase())]
    Stranger {
        /// Who.
        account: String,
        /// What.
        action: Action,
    },
    /// Known, but not trusted that far.
    #[error("only {needs} may {}; you are {}", .action.as_phrase(), person(.account, *.tier))]
    Tier {
        /// Who.
        account: String,
        /// How far trusted.
        tier: Tier,
        /// What.
        action: Action,
        /// Who may.
        needs: &'static str,
    },
    /// Too many agents between the person and this one.
    #[error("{hops} hops from agent to agent, more than the limit of {limit}")]
    Hops {
        /// How many there were.
        hops: i64,
        /// How many there may be.
        limit: i64,
    },
}

/// Says who somebody is, to that person.
fn person(account: &str, tier: Tier) -> String {
    match (account.strip_prefix('~'), tier) {
        (Some(nick), Tier::Member) => format!("{nick}, without a password"),
        (Some(nick), Tier::Owner | Tier::Agent | Tier::Stranger) => nick.to_owned(),
        (None, Tier::Agent) => format!("{account}, an agent"),
        (None, Tier::Owner | Tier::Member | Tier::Stranger) => format!("{account}, a member"),
    }
}

/// Returns whether a turn that works on messages of these people is all this person's: then its
/// author may end it.
#[must_use]
pub fn owns_turn<'a>(who: &Principal, authors: impl IntoIterator<Item = &'a Principal>) -> bool {
    let mut authors = authors.into_iter().peekable();
    authors.peek().is_some() && authors.all(|author| author == who)
}

impl Policy {
    /// Returns whether somebody may do this to the agent; `hops` counts the agents that the
    /// message went through (0: straight from a person).
    ///
    /// # Errors
    /// Says why not.
    pub fn may(&self, who: &Principal, action: Action, hops: i64) -> Result<(), Refusal> {
        let account = || who.account.chars().filter(|c| !c.is_control()).take(64).collect();
        let people = match action {
            Action::Prompt => self.prompt,
            Action::Answer => self.answer,
            Action::Approve => self.approve,
            Action::Operate => self.operate,
        };
        let needs = match people {
            People::Members => "a member or an owner",
            People::Owners => "an owner",
        };
        let refuse = || Err(Refusal::Tier { account: account(), tier: who.tier, action, needs });
        match (who.tier, people) {
            (Tier::Stranger, _) => Err(Refusal::Stranger { account: account(), action }),
            (Tier::Agent, _) => match (action, self.agents) {
                (Action::Prompt, Agents::WithinHops) if hops > self.max_hops => {
                    Err(Refusal::Hops { hops, limit: self.max_hops })
                }
                (Action::Prompt, Agents::WithinHops) => Ok(()),
                (Action::Prompt, Agents::Never)
                | (Action::Answer | Action::Approve | Action::Operate, _) => refuse(),
            },
            (Tier::Member, People::Owners) => refuse(),
            (Tier::Member, People::Members) | (Tier::Owner, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
