//! Alerts and their deliveries.

use gangline_core::{
    AgentName,
    alert::{DeliveryState, Standing},
    finding::Severity,
    hook::WebhookEvent,
    redact::Redacted,
    word::Stored,
};
use gangline_os::clock::UnixMicros;

/// An alert to be told (R1-39).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAlert {
    /// Whom it is about.
    pub agent: AgentName,
    /// What has happened.
    pub event: WebhookEvent,
    /// Which alerts of the same event are told as one when they come quickly after each other; empty:
    /// those about the same number.
    pub group: &'static str,
    /// The number of the question, approval or finding that a person is asked for. While it is open,
    /// and nobody has seen it, the alert is told again.
    pub about: Option<i64>,
    /// How grave it is.
    pub severity: Severity,
    /// What is told.
    pub text: Redacted,
    /// What is told in the channel on IRC, if that is something else (R1-35 beside R1-42).
    pub room_text: Option<Redacted>,
}

impl NewAlert {
    /// Returns an alert that nobody needs to answer.
    #[must_use]
    pub fn new(agent: AgentName, event: WebhookEvent, text: Redacted) -> Self {
        let severity = event.severity();
        Self { agent, event, group: "", about: None, severity, text, room_text: None }
    }

    /// Told as one with others of this group only.
    #[must_use]
    pub fn group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// About the question, approval or finding of this number: told again while that is open.
    #[must_use]
    pub fn about(self, number: i64) -> Self {
        Self { about: Some(number), ..self }
    }
}

/// One alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRow {
    /// Its number, in a sequence of its own.
    pub id: i64,
    /// Whom it is about.
    pub agent: AgentName,
    /// What has happened.
    pub event: Stored<WebhookEvent>,
    /// The number of what a person is asked for.
    pub about: Option<i64>,
    /// How grave it is.
    pub severity: Severity,
    /// The newest text of its group.
    pub text: Redacted,
    /// See [`NewAlert::room_text`].
    pub room_text: Option<Redacted>,
    /// When it was raised, how often it was told, and what has gathered.
    pub standing: Standing,
}

/// A telling of an alert to one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The target's name.
    pub target: String,
    /// What is told.
    pub text: Redacted,
    /// When.
    pub at: UnixMicros,
    /// It says nothing new: left out while an earlier one of the same alert waits for the target.
    pub repeats: bool,
}

/// One delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Its number, in a sequence of its own.
    pub id: i64,
    /// Its alert.
    pub alert: i64,
    /// Whom the alert is about.
    pub agent: AgentName,
    /// What has happened.
    pub event: Stored<WebhookEvent>,
    /// How grave it is.
    pub severity: Severity,
    /// The number of what a person is asked for, and whether that is closed.
    pub about: Option<(i64, bool)>,
    /// The target's name.
    pub target: String,
    /// What is told.
    pub text: Redacted,
    /// Where it stands.
    pub state: DeliveryState,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is sent; when a claim lapses.
    pub next_at: Option<UnixMicros>,
    /// Who sends it, or tried last.
    pub claimed_by: Option<String>,
    /// Why the last attempt failed.
    pub trouble: Option<Redacted>,
    /// When it was made.
    pub made_at: UnixMicros,
    /// When it ended.
    pub ended_at: Option<UnixMicros>,
}

/// What became of an attempt at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryEnd {
    /// It is over: delivered, failed, unknown, not needed. With the reason, if there is one.
    Over(DeliveryState, Option<Redacted>),
    /// It is tried again.
    Again {
        /// When.
        at: UnixMicros,
        /// Why the attempt failed.
        trouble: Redacted,
    },
}
