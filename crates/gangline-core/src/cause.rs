//! The budget of one request: how many turns may follow from a root cause, and the notice at its
//! limit.
//!
//! A root cause is a message that no agent caused. All turns that follow from it, of all agents,
//! are counted in one row of the store; this module judges that row and words what people read of
//! it. Pure: the store counts, the daemons hold. Begin with [`Ledger::admits`].

use std::time::Duration;

use crate::{id::MessageId, name::AgentName};

/// The turns that one root cause may have, if the configuration says nothing else.
pub const TURNS_PER_CAUSE: i64 = 30;

/// What is counted for a root cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Ledger {
    /// The turns so far, over all agents. Another attempt after a loss is not counted.
    pub turns: i64,
    /// Up to how many turns a release has raised the limit; 0 before the first release.
    pub allowed: i64,
}

impl Ledger {
    /// Returns whether one more turn may begin, for an agent with this limit.
    #[must_use]
    pub fn admits(self, limit: i64) -> bool {
        self.turns < self.limit(limit)
    }

    /// Returns the limit that holds for an agent with this one.
    #[must_use]
    pub fn limit(self, limit: i64) -> i64 {
        self.allowed.max(limit)
    }

    /// Returns whether a release has left turns: then hops are not limited either, since the turns
    /// bound them.
    #[must_use]
    pub fn is_released(self) -> bool {
        self.turns < self.allowed
    }
}

/// Why messages are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The turns of the cause are used up.
    Turns(i64),
    /// A message has passed through this many agents, which is too many.
    Hops(i64),
}

impl Limit {
    /// Returns why one message is held, for its row.
    #[must_use]
    pub fn reason(self, root: MessageId) -> String {
        match self {
            Self::Turns(limit) => format!("the {} of {root} are used up", turns(limit)),
            Self::Hops(hops) => too_far(hops),
        }
    }
}

/// Returns why a message is held that too many agents have passed on, for its row.
#[must_use]
pub fn too_far(hops: i64) -> String {
    format!("{hops} hops from agent to agent, more than the limit")
}

/// Returns why a message is cancelled whose cause somebody has ended, for its row.
#[must_use]
pub fn ended(root: MessageId, by: &str) -> String {
    format!("{root} was ended by {by}")
}

/// What a root cause has used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// The turns, over all agents.
    pub turns: i64,
    /// How many agents had them.
    pub agents: i64,
    /// The time since the root message.
    pub lasted: Duration,
    /// Their tokens, in and out; 0 if no backend told any.
    pub tokens: i64,
}

impl Used {
    /// Returns it in words: `30 turns of 5 agents in 2 min, 48210 tokens`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let agents = if self.agents == 1 { "agent" } else { "agents" };
        let lasted = lasted(self.lasted);
        let mut text = format!("{} of {} {agents} in {lasted}", turns(self.turns), self.agents);
        if self.tokens > 0 {
            text.push_str(&format!(", {} tokens", self.tokens));
        }
        text
    }
}

/// Returns the line that tells of a limit, once, in the place where it began. It fits into one
/// line of IRC for every sender that has a nick.
#[must_use]
pub fn announcement(
    (root, sender): (MessageId, &str),
    teller: &AgentName,
    limit: Limit,
    used: &Used,
) -> String {
    let sender: String = sender.chars().filter(|c| !c.is_control()).take(SENDER_MAX).collect();
    let why = match limit {
        Limit::Turns(limit) => format!("{root} has used its {}", turns(limit)),
        Limit::Hops(hops) => format!("{root} was passed on {hops} times from agent to agent"),
    };
    format!(
        "{sender}: {why} ({}): what follows from it is held. Owner: `@{teller} go on {root}` or \
         `gangline release {root}` lets it continue, `gangline interrupt --cause {root}` ends it",
        used.in_words()
    )
}

/// A sender's name is shown up to this many characters.
const SENDER_MAX: usize = 32;

fn turns(count: i64) -> String {
    if count == 1 { "1 turn".to_owned() } else { format!("{count} turns") }
}

fn lasted(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Returns the message that the line names, if its whole text is `go on m12`.
#[must_use]
pub fn parse_go_on(text: &str) -> Option<MessageId> {
    let text = text.trim().trim_end_matches(['.', ',', '!', '?']).to_ascii_lowercase();
    let mut words = text.split_whitespace();
    let said = [words.next()?, words.next()?, words.next()?];
    match (said, words.next()) {
        (["go", "on", id], None) => id.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
