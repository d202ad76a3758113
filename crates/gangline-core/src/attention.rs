//! The attention list: what waits for a human, in the order in which it should be dealt with.
//!
//! An item is a question, an approval or a finding; all have numbers of one sequence. Start at [`rank`].

use std::{cmp::Reverse, time::Duration};

use crate::{
    AgentName, FindingNumber, Redacted,
    finding::{ChoiceWord, Severity},
    privacy::{Reader, Said},
    time::WallMicros,
    words,
};

/// After this an approval that nobody decides is grave: work has stood still for an hour.
pub const APPROVAL_GRAVE_AFTER: Duration = Duration::from_secs(60 * 60);
/// After this a question that nobody answers is more than good to know.
pub const QUESTION_PRESSES_AFTER: Duration = Duration::from_secs(10 * 60);

words! {
    /// What kind of thing waits.
    ItemKind, "kind of item" {
        /// An agent has asked people.
        Question = "question",
        /// An agent may not go on without permission, or a manager asks for a change.
        Approval = "approval",
        /// A watchdog, a detector, the supervisor or a limit has found something.
        Finding = "finding",
    }
}

words! {
    /// What has become of an item since the list was last looked at.
    ItemChange, "change of an item" {
        /// It is new in the list.
        Added = "added",
        /// Its severity, its state, its cause or its options are others.
        Changed = "changed",
        /// It waits no more.
        Removed = "removed",
    }
}

words! {
    /// Whether somebody has looked at an item.
    ItemState, "state of an item" {
        /// Nobody has.
        Open = "open",
        /// Somebody has, and it still waits.
        Seen = "seen",
        /// It waits no more.
        Resolved = "resolved",
    }
}

/// One thing that a person may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What to answer.
    pub word: String,
    /// What it does; empty where the word says all.
    pub what: String,
}

/// What an item affects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Affects {
    /// In words; empty if it is the agent alone.
    pub text: Redacted,
    /// The room that it is about.
    pub room: Option<String>,
    /// How many messages wait for the agent.
    pub waiting: u64,
    /// How many of them are from people.
    pub people: u64,
}

/// One thing that waits for a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The number by which it is answered.
    pub number: i64,
    /// What kind of thing it is.
    pub kind: ItemKind,
    /// More precisely: the finding's kind, the approval's tool, or who is asked.
    pub what: String,
    /// The agent that it is about.
    pub agent: AgentName,
    /// How grave it is.
    pub severity: Severity,
    /// Whether somebody has looked at it.
    pub state: ItemState,
    /// Who has.
    pub seen_by: Option<String>,
    /// Why it waits, in one sentence.
    pub cause: Redacted,
    /// What shows it; empty for nothing.
    pub evidence: Redacted,
    /// What may be answered; a question without options takes any text.
    pub options: Vec<Offer>,
    /// The answer that is recommended.
    pub recommended: Option<String>,
    /// What it affects.
    pub affects: Affects,
    /// Since when it waits.
    pub since: WallMicros,
    /// Where what it tells was said.
    pub said: Said,
}

/// The cause of an item for those who may not read its own.
const NOT_IN_A_ROOM: &str = "(not said in a room: the owner's token shows it)";

impl Item {
    /// Returns the item as this reader is shown it: that something waits is no secret, and neither is what
    /// Gangline itself says of it.
    #[must_use]
    pub fn shown_to(self, reader: Reader) -> Self {
        if reader.sees(self.said) {
            return self;
        }
        let options = match self.kind {
            // In the agent's own words.
            ItemKind::Question => Vec::new(),
            ItemKind::Approval | ItemKind::Finding => self.options,
        };
        Self {
            cause: Redacted::constant(NOT_IN_A_ROOM),
            evidence: Redacted::default(),
            options,
            affects: Affects { text: Redacted::default(), ..self.affects },
            ..self
        }
    }
}

/// Returns how grave it is that an approval waits.
#[must_use]
pub fn approval_severity(waited: Duration) -> Severity {
    if waited >= APPROVAL_GRAVE_AFTER { Severity::Error } else { Severity::Warning }
}

/// Returns how grave it is that a question waits. `held`: a call is held open for the answer.
#[must_use]
pub fn question_severity(waited: Duration, held: Held) -> Severity {
    match held {
        Held::Call => Severity::Warning,
        Held::Nothing if waited >= QUESTION_PRESSES_AFTER => Severity::Warning,
        Held::Nothing => Severity::Info,
    }
}

/// What a question holds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Held {
    /// A call of the agent, and with it its turn.
    Call,
    /// Nothing: the agent goes on.
    Nothing,
}

/// Puts the items into order: the gravest first; of these, what nobody has seen; then what people wait
/// behind, then what agents wait behind; then the oldest.
pub fn rank(items: &mut [Item]) {
    items.sort_by_key(|item| {
        (Reverse(item.severity), item.state, blocked(&item.affects), item.since, item.number)
    });
}

words! {
    /// Who waits behind an item.
    Blocked, "who is blocked" {
        /// People.
        People = "people",
        /// Agents only.
        Agents = "agents",
        /// Nobody.
        Nobody = "nobody",
    }
}

/// Returns who waits behind an item.
#[must_use]
pub fn blocked(affects: &Affects) -> Blocked {
    match (affects.people, affects.waiting) {
        (0, 0) => Blocked::Nobody,
        (0, _) => Blocked::Agents,
        (_, _) => Blocked::People,
    }
}

/// Reads a line as the answer to a finding: `12 resume`, `resume 12`, `answer 12 resume`. Only the words
/// of [`ChoiceWord`] are choices; anything else is no such line.
#[must_use]
pub fn parse_answer(text: &str) -> Option<(FindingNumber, ChoiceWord)> {
    let text = text.trim().trim_end_matches(['.', '!']);
    let mut parts: Vec<&str> = text.split_whitespace().collect();
    if parts.len() == 3 && parts[0].eq_ignore_ascii_case("answer") {
        parts.remove(0);
    }
    let [first, second] = parts.as_slice() else { return None };
    let number = |text: &str| {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok().map(FindingNumber))?
    };
    let word = |text: &str| text.to_ascii_lowercase().parse::<ChoiceWord>().ok();
    number(first).zip(word(second)).or_else(|| number(second).zip(word(first)))
}

/// Returns the reply to a choice that only the agent that the finding is about can carry out, where it was
/// said to somebody else: the exact line to send.
#[must_use]
pub fn say_to(agent: &AgentName, number: FindingNumber, choice: ChoiceWord) -> String {
    format!(
        "finding {number} is about {agent}, not me: say `@{agent} {number} {choice}` in a room that it is \
         in, or `/msg {agent} {number} {choice}`, or run `gangline answer {number} {choice}`"
    )
}

#[cfg(test)]
mod tests;
