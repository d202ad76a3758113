//! The attention list on the wire.

use std::collections::BTreeMap;

use gangline_core::{
    attention::{Item, ItemChange, ItemKind, ItemState},
    finding::Severity,
    name::AgentName,
    word::Stored,
};
use serde::{Deserialize, Serialize};

/// One thing that waits for a human: an item of `gangline attention --json` and of
/// `GET /api/v1/attention`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionItem {
    /// The number by which it is answered; of one sequence with those of approvals and questions.
    pub number: i64,
    /// `question`, `approval` or `finding`.
    pub kind: Stored<ItemKind>,
    /// More precisely: the finding's kind, the approval's tool, or who is asked.
    pub what: String,
    /// The agent that it is about.
    pub agent: AgentName,
    /// `info`, `warning` or `error`.
    pub severity: Stored<Severity>,
    /// `open`, `seen` or `resolved`.
    pub state: Stored<ItemState>,
    /// Who has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_by: Option<String>,
    /// Why it waits, in one sentence, redacted.
    pub cause: String,
    /// What shows it, redacted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// What may be answered; a question without options takes any text.
    pub options: Vec<AttentionOption>,
    /// The answer that is recommended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<String>,
    /// What it affects.
    pub affects: AttentionAffects,
    /// Since when it waits, RFC 3339.
    pub raised_at: String,
}

/// One thing that may be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionOption {
    /// The word, or the number of an option of a question.
    pub word: String,
    /// What it does, or the option's text.
    pub what: String,
}

/// What an item affects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionAffects {
    /// In words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The room that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// How many messages wait for the agent.
    pub waiting: u64,
    /// How many of them are from people.
    pub people: u64,
}

/// One change of the list: a line of `gangline attention --watch --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionChange {
    /// `added`, `changed` or `removed`.
    pub change: Stored<ItemChange>,
    /// The item; a removed one as it was last.
    pub item: AttentionItem,
}

impl AttentionChange {
    /// Returns what has changed from one list to the next: what is gone first, then in the order of the
    /// new list. That another message waits behind an item is no change.
    #[must_use]
    pub fn between(before: &[AttentionItem], after: &[AttentionItem]) -> Vec<Self> {
        fn by_number(items: &[AttentionItem]) -> BTreeMap<i64, &AttentionItem> {
            items.iter().map(|item| (item.number, item)).collect()
        }
        let (was, is) = (by_number(before), by_number(after));
        let gone = before.iter().filter(|item| !is.contains_key(&item.number));
        let here = after.iter().filter_map(|item| match was.get(&item.number) {
            None => Some((ItemChange::Added, item)),
            Some(old) if old.differs(item) => Some((ItemChange::Changed, item)),
            Some(_) => None,
        });
        let gone = gone.map(|item| (ItemChange::Removed, item));
        gone.chain(here)
            .map(|(change, item)| Self { change: change.into(), item: item.clone() })
            .collect()
    }
}

impl AttentionItem {
    fn differs(&self, new: &Self) -> bool {
        (&self.severity, &self.state, &self.cause, &self.options)
            != (&new.severity, &new.state, &new.cause, &new.options)
    }

    /// Returns the wire form of an item; `raised_at` is its time, RFC 3339.
    #[must_use]
    pub fn of(item: &Item, raised_at: String) -> Self {
        let options = item.options.iter();
        Self {
            number: item.number,
            kind: item.kind.into(),
            what: item.what.clone(),
            agent: item.agent.clone(),
            severity: item.severity.into(),
            state: item.state.into(),
            seen_by: item.seen_by.clone(),
            cause: item.cause.to_string(),
            evidence: item.evidence.to_string(),
            options: options
                .map(|it| AttentionOption { word: it.word.clone(), what: it.what.clone() })
                .collect(),
            recommended: item.recommended.clone(),
            affects: AttentionAffects {
                text: item.affects.text.to_string(),
                room: item.affects.room.clone(),
                waiting: item.affects.waiting,
                people: item.affects.people,
            },
            raised_at,
        }
    }
}

#[cfg(test)]
mod tests;
