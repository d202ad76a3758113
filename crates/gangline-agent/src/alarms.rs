//! The task that looks at the time for the agent: reminders fire, questions expire (R2-24, R2-28).
//!
//! It owns nothing: what is due stands in the store, and each firing is one commit there, with the
//! message that it brings. Start at [`Alarms::run`].

use std::{sync::Arc, time::Duration};

use gangline_core::{
    alert::text::timeout,
    hook::WebhookEvent,
    pause::PauseReason,
    privacy::Said,
    question::{OnTimeout, text},
    reminder::{self, repeat::Repeat},
    time::WallMicros,
};
use gangline_os::{CancellationToken, clock::UnixMicros};
use gangline_store::{Firing, QuestionClosed, ReminderRow, Store, StoreError};
use jiff::tz::TimeZone;
use tokio::sync::{Notify, mpsc, watch};
use tracing::{info, warn};

use crate::{
    alerts::{Raised, alert},
    bus::Incoming,
    identity::Identity,
    place,
    tools::fired_text,
};

#[cfg(test)]
mod tests;

/// After a look that failed.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// How many reminders one look reads.
const READ: u32 = 100;

/// Why the task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlarmsEnd {
    /// The daemon takes nothing in any more.
    Closed,
}

/// See the module.
pub(crate) struct Alarms {
    /// Told when an alert was raised.
    pub(crate) alerts: Raised,
    pub(crate) me: Arc<Identity>,
    pub(crate) store: Store,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    /// The loop looks for messages.
    pub(crate) rescan: Arc<Notify>,
    /// There are new lines to be said.
    pub(crate) outbox: Arc<Notify>,
    /// Something with a time was made.
    pub(crate) made: Arc<Notify>,
    /// Counts what this daemon has committed, for those who read along.
    pub(crate) committed: watch::Sender<u64>,
}

impl Alarms {
    /// Looks at the time until `closed`: when something is due or was made, and at each tick, since the
    /// machine's clock may be set and other processes make reminders too. Cancel-safe: no.
    pub(crate) async fn run(
        self,
        mut ticks: watch::Receiver<u64>,
        closed: CancellationToken,
    ) -> AlarmsEnd {
        loop {
            let wait = match self.look().await {
                Ok(wait) => wait,
                Err(StoreError::Fenced { .. }) => {
                    // The successor looks at the time.
                    closed.cancelled().await;
                    return AlarmsEnd::Closed;
                }
                Err(error) => {
                    warn!(%error, "cannot look for reminders and questions that are due");
                    Some(LOOK_AGAIN)
                }
            };
            let due = async {
                match wait {
                    Some(wait) => self.me.clock.sleep_until(self.me.clock.monotonic() + wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = closed.cancelled() => return AlarmsEnd::Closed,
                () = self.made.notified() => {}
                Ok(()) = ticks.changed() => {}
                () = due => {}
            }
        }
    }

    /// Does what is due; returns how long to wait for what comes next. Writes nothing if nothing is.
    async fn look(&self) -> Result<Option<Duration>, StoreError> {
        let now = self.me.clock.now();
        if self.store.next_expiry(&self.me.agent).await?.is_some_and(|at| at <= now) {
            for closed in self.store.expire_questions(&self.me.agent, now).await? {
                self.expired(&closed).await;
            }
        }
        let blocked = self.fire(now).await?;
        let first = self.store.reminders(Some(&self.me.agent), 1).await?;
        let reminder = first.first().map(|row| row.due_at).max(blocked);
        let question = self.store.next_expiry(&self.me.agent).await?;
        let next = reminder.into_iter().chain(question).min();
        Ok(next.map(|at| at.since(self.me.clock.now())))
    }

    /// What follows for the agent comes before its next turn. The pause is recorded already.
    async fn expired(&self, closed: &QuestionClosed) {
        let row = &closed.row;
        info!(question = %row.number, action = %row.on_timeout, "a question has expired");
        let follows = match row.on_timeout {
            OnTimeout::None | OnTimeout::Deny => None,
            OnTimeout::Pause => {
                let (reason, until, note) = (PauseReason::Question, None, None);
                Some(Incoming::Pause { reason, until, note })
            }
            OnTimeout::Abort => row.turn.map(|turn| Incoming::EndTurn { turn }),
        };
        if let Some(follows) = follows {
            let _ = self.agent_loop.send(follows).await;
        }
        // What is asked in private is not for the alert channel.
        let question = match Said::of_question(&row.asked, &row.reply_target) {
            Said::InPrivate => place::IN_PRIVATE.to_owned(),
            Said::InARoom => text::one_line(row.body.as_str()),
        };
        let number = row.number;
        self.alert(timeout(&self.me.agent, number, &question, row.on_timeout)).await;
        self.committed.send_modify(|count| *count += 1);
        self.rescan.notify_one();
        self.outbox.notify_one();
    }

    /// Records that a human may want to know that nobody answered (R1-39).
    async fn alert(&self, text: String) {
        let event = WebhookEvent::AgentTimeout;
        if let Err(error) = self.store.alert(alert(&self.me, event, &text)).await {
            warn!(%error, %event, "cannot record an alert");
        }
        self.alerts.tell();
    }

    /// Fires what is due. Returns when the next one may fire, if too many have fired lately.
    async fn fire(&self, now: UnixMicros) -> Result<Option<UnixMicros>, StoreError> {
        loop {
            let due = self.store.reminders(Some(&self.me.agent), READ).await?;
            let mut due = due.into_iter().filter(|row| row.due_at <= now).peekable();
            if due.peek().is_none() {
                return Ok(None);
            }
            for row in due {
                if let Err(at) = self.may_fire().await? {
                    return Ok(Some(at));
                }
                let id = row.id;
                let firing = self.firing(row, now);
                if self.store.fire_reminder(&self.me.agent, firing).await?.is_some() {
                    info!(reminder = id, "a reminder fires");
                    self.committed.send_modify(|count| *count += 1);
                    self.rescan.notify_one();
                }
            }
        }
    }

    async fn may_fire(&self) -> Result<Result<(), UnixMicros>, StoreError> {
        // Later than the firings of this look, which count too.
        let now = self.me.clock.now();
        let within = i64::try_from(reminder::FIRINGS_WITHIN.as_micros()).unwrap_or(i64::MAX);
        let since = UnixMicros(now.0.saturating_sub(within));
        let fired = self.store.fired_since(&self.me.agent, since).await?;
        let fired: Vec<WallMicros> = fired.into_iter().map(|at| WallMicros(at.0)).collect();
        let may = reminder::may_fire_at(&fired, WallMicros(now.0));
        Ok(may.map_err(|at| UnixMicros(at.0)))
    }

    /// What was missed while nobody looked fires once; the next time is after now.
    fn firing(&self, row: ReminderRow, now: UnixMicros) -> Firing {
        let (due, now) = (WallMicros(row.due_at.0), WallMicros(now.0));
        let repeats: Option<Repeat> = row.repeats.as_deref().and_then(|text| text.parse().ok());
        let zones = |name: &str| TimeZone::get(name).ok();
        let next = repeats.and_then(|repeats| repeats.next_after(now, &zones));
        let ends = (row.repeats.is_some() && next.is_none())
            .then(|| "this reminder does not repeat any more: no time fits its rule".to_owned());
        let notes: Vec<String> = reminder::late_note(due, now).into_iter().chain(ends).collect();
        let text = fired_text(row.id, row.body.as_str(), &notes);
        Firing {
            id: row.id,
            due_at: row.due_at,
            body: self.me.redactor.redact(&text),
            next: next.map(|at| UnixMicros(at.0)),
        }
    }
}
