//! Rules of alerts: when one is told, told again, held back, tried again, and in which words.
//!
//! An alert is one row of the store. Alerts of one agent and group that come within [`GROUP_WINDOW`]
//! are one row with a count. Telling it makes one delivery for each target. Start at [`next`] for the
//! row and [`after_failure`] for a delivery.

use std::time::Duration;

use crate::{
    finding::{FindingKind, Severity},
    hook::WebhookEvent,
    time::WallMicros,
    words,
};

pub mod quiet;
pub mod text;

#[cfg(test)]
mod tests;

/// Alerts of one agent and group within this time after the first are counted, and told together at
/// its end.
pub const GROUP_WINDOW: Duration = Duration::from_mins(5);
/// When an alert is told again while a person is waited for, counted from the first.
pub const AGAIN_AFTER: [Duration; 2] = [Duration::from_mins(10), Duration::from_mins(30)];
/// Later it is told again at this distance.
pub const AGAIN_EVERY: Duration = Duration::from_hours(1);
/// An alert that could not be told for so long, and that nobody needs to answer, is not told any more:
/// nothing ran meanwhile that could tell it.
pub const STALE_AFTER: Duration = Duration::from_hours(24);
/// The wait before the second attempt at a delivery; each further one waits three times as long.
pub const RETRY_FIRST: Duration = Duration::from_secs(5);
/// The longest wait between two attempts.
pub const RETRY_MOST: Duration = Duration::from_mins(15);
/// The most retries that can be configured.
pub const RETRIES_MAX: u32 = 20;
/// The longest that a receiver's `Retry-After` is followed.
pub const RETRY_AFTER_MOST: Duration = Duration::from_hours(1);
/// How long a sender may have a claimed delivery. It is longer than any attempt takes, so the sender of
/// a claim that is older has died.
pub const CLAIM: Duration = Duration::from_mins(1);

words! {
    /// The state of the delivery of an alert to one target.
    DeliveryState, "delivery state" {
        /// It is sent when its time comes.
        Waiting = "waiting",
        /// A process sends it now.
        Claimed = "claimed",
        /// The target has taken it.
        Delivered = "delivered",
        /// The target refused it, or no attempt is left.
        Failed = "failed",
        /// The process that sent it died: the target may have it.
        Unknown = "unknown",
        /// It was held back, and what it was about was settled meanwhile.
        NotNeeded = "not_needed",
    }
}

/// Whether a person is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// The alert is about nothing that is answered.
    Nobody,
    /// What it is about is open.
    Open,
    /// What it is about is closed.
    Closed,
}

/// One alert as it stands in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// When it was raised.
    pub raised_at: WallMicros,
    /// How often it was told.
    pub told: u32,
    /// How many more of its group came since it was told.
    pub more: u32,
    /// When these are told.
    pub until: WallMicros,
    /// Whether a person is waited for.
    pub waits: Waits,
}

/// In which form an alert is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// For the first time.
    First,
    /// So many more of its group have come.
    More(u32),
    /// A person is still waited for, since so many minutes.
    Again(u64),
}

/// What is done with an alert now, and when it is looked at next; `None` = never again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// How it is told now.
    pub tell: Option<Telling>,
    /// When it is looked at next.
    pub due: Option<WallMicros>,
}

/// Returns what is done with an alert at `now`.
#[must_use]
pub fn next(alert: &Standing, now: WallMicros) -> Next {
    let again = match alert.waits {
        Waits::Open => Some(again_after(alert.raised_at, now)),
        Waits::Nobody | Waits::Closed => None,
    };
    let gathered = (alert.more > 0).then_some(alert.until.max(now));
    let due = earliest(again, gathered);
    let late = since(alert.raised_at, now);
    let is_stale = match alert.waits {
        Waits::Nobody => late > STALE_AFTER,
        // Whoever was to answer has done so.
        Waits::Closed => late > CLAIM,
        Waits::Open => false,
    };
    if alert.told == 0 && is_stale {
        return Next { tell: None, due: None };
    }
    if alert.told == 0 {
        return Next { tell: Some(Telling::First), due };
    }
    if alert.more > 0 && now >= alert.until {
        return Next { tell: Some(Telling::More(alert.more)), due: again };
    }
    let since = since(alert.raised_at, now);
    let is_again = alert.waits == Waits::Open && since >= AGAIN_AFTER[0];
    Next { tell: is_again.then_some(Telling::Again(since.as_secs() / 60)), due }
}

/// Returns the first time after `now` at which an alert is told again.
#[must_use]
pub fn again_after(raised_at: WallMicros, now: WallMicros) -> WallMicros {
    let since = since(raised_at, now);
    let early = AGAIN_AFTER.into_iter().find(|wait| *wait > since);
    let wait = early.unwrap_or_else(|| {
        let last = AGAIN_AFTER[AGAIN_AFTER.len() - 1];
        let hours = since.saturating_sub(last).as_secs() / AGAIN_EVERY.as_secs() + 1;
        let hours = u32::try_from(hours).unwrap_or(u32::MAX);
        last.saturating_add(AGAIN_EVERY.saturating_mul(hours))
    });
    later(raised_at, wait)
}

/// What becomes of a delivery after an attempt that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// It is tried again after this time.
    Again(Duration),
    /// It is given up.
    GiveUp,
}

/// Why an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The target could not be reached, took too long, or is in trouble (a status of 5xx, 408, 425).
    Passing,
    /// The target asks for patience (429), for so long if it says.
    Slower(Option<Duration>),
    /// The target refuses it and always will, or the address is not allowed.
    Refused,
}

/// Returns what becomes of a delivery after its `attempts`-th attempt has failed (C17: with no retries,
/// the first failure is the last).
#[must_use]
pub fn after_failure(attempts: u32, retries: u32, failure: Failure) -> AfterFailure {
    if attempts > retries.min(RETRIES_MAX) {
        return AfterFailure::GiveUp;
    }
    let power = 3_u32.saturating_pow(attempts.saturating_sub(1));
    let usual = RETRY_FIRST.saturating_mul(power).min(RETRY_MOST);
    match failure {
        Failure::Refused => AfterFailure::GiveUp,
        Failure::Passing | Failure::Slower(None) => AfterFailure::Again(usual),
        Failure::Slower(Some(asked)) => AfterFailure::Again(usual.max(asked.min(RETRY_AFTER_MOST))),
    }
}

/// Returns the state of a delivery whose sender died: it is tried again only if a retry is left, else
/// nobody knows whether the target has it.
#[must_use]
pub fn after_death(attempts: u32, retries: u32) -> DeliveryState {
    match attempts > retries.min(RETRIES_MAX) {
        true => DeliveryState::Unknown,
        false => DeliveryState::Waiting,
    }
}

/// Returns the alert by which people hear of a finding of this kind; `None` if they hear of it
/// otherwise, or need not (R1-39).
#[must_use]
pub fn of_finding(kind: FindingKind) -> Option<WebhookEvent> {
    match kind {
        FindingKind::SilentTurn
        | FindingKind::LongTurn
        | FindingKind::WaitingInbox
        | FindingKind::HeldMessages
        | FindingKind::DeadLetter
        | FindingKind::NoHeartbeat
        | FindingKind::NotRunning => Some(WebhookEvent::AgentStuck),
        FindingKind::UntrustedFolder => Some(WebhookEvent::AgentApproval),
        FindingKind::BreakerOpen => Some(WebhookEvent::AgentError),
        FindingKind::Escalation => Some(WebhookEvent::AgentSpiraling),
        FindingKind::Budget => Some(WebhookEvent::AgentBudget),
        FindingKind::RateLimit => Some(WebhookEvent::AgentRateLimited),
        // The approval and the agent that met the limit have alerts of their own; the rest is whispered to
        // the agent.
        FindingKind::UnansweredApproval
        | FindingKind::SharedLimit
        | FindingKind::Spiraling
        | FindingKind::Drift
        | FindingKind::Stalling
        | FindingKind::Shallow
        | FindingKind::RepeatedCall
        | FindingKind::RepeatedError
        | FindingKind::UndoneEdits
        | FindingKind::UnreadInbox
        | FindingKind::ContextFilling => None,
    }
}

/// Returns whether quiet hours hold back an alert. Errors always go out.
#[must_use]
pub fn is_held_back(severity: Severity) -> bool {
    match severity {
        Severity::Info | Severity::Warning => true,
        Severity::Error => false,
    }
}

fn since(earlier: WallMicros, now: WallMicros) -> Duration {
    Duration::from_micros(u64::try_from(now.0.saturating_sub(earlier.0)).unwrap_or(0))
}

/// Returns the time that is so much later.
#[must_use]
pub fn later(at: WallMicros, wait: Duration) -> WallMicros {
    let wait = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
    WallMicros(at.0.saturating_add(wait))
}

fn earliest(one: Option<WallMicros>, other: Option<WallMicros>) -> Option<WallMicros> {
    one.into_iter().chain(other).min()
}
