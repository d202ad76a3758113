//! Alerts as every surface shows them.

use gangline_core::name::AgentName;
use serde::{Deserialize, Serialize};

/// A telling of an alert to one target: an item of `gangline alerts --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Its number.
    pub delivery: i64,
    /// The number of its alert.
    pub alert: i64,
    /// Whom the alert is about.
    pub agent: AgentName,
    /// What has happened: a word of `webhooks.events`.
    pub event: String,
    /// The number of the question, approval or finding that waits for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<i64>,
    /// Where it goes: `irc`, `url` or a name of `webhooks.targets`.
    pub target: String,
    /// What is told.
    pub text: String,
    /// Where it stands: `waiting`, `claimed`, `delivered`, `failed`, `unknown`, `not_needed`.
    pub state: String,
    /// How often it was tried.
    pub attempts: u32,
    /// Why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// When it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<String>,
    /// When it was made.
    pub made_at: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

/// What a test of a webhook has shown: an item of `gangline alerts test --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// The target's name.
    pub target: String,
    /// The scheme and host of its address.
    pub address: String,
    /// Whether it took the test.
    pub delivered: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}
