//! Reminders that people set for the agent: `remind in 20 min look at the build`.

use gangline_core::{
    Principal, Redacted, Tier,
    reminder::{self, Due, DueError, OPEN_MAX},
    trust::Action,
};
use gangline_irc::client::Line;
use gangline_os::clock::{self, UnixMicros};
use gangline_store::{NewReminder, StoreError};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use tracing::{info, warn};

use super::{Chat, answer::place_of, decide::Handled, taken::intake_key};
use crate::{long_reminders, texts};

impl Chat {
    /// Takes the line as a reminder for the agent, if it is one. `text` is without the mention. A line
    /// that names no time is a prompt: "remind me of the milk".
    pub(super) async fn reminded(&self, line: &Line, who: &Principal, text: &str) -> Handled {
        // An agent reminds itself by its tool.
        let Some(said) = reminder::said_in(text).filter(|_| who.tier != Tier::Agent) else {
            return Handled::No;
        };
        if self.deps.policy.may(who, Action::Prompt, 0).is_err() {
            return Handled::No;
        }
        let now = Timestamp::from_microsecond(self.said_at(line).0).unwrap_or_default();
        let now = Zoned::new(now, TimeZone::system());
        let zones = |name: &str| TimeZone::get(name).ok();
        let (due, body) = match reminder::due_and_text(said, &now, &zones) {
            Ok((due, body)) => (due, body),
            Err(DueError::NotUnderstood(_) | DueError::Empty) => return Handled::No,
            Err(error) => return self.not_reminded(line, &error.to_string()).await,
        };
        if body.is_empty() {
            return self.not_reminded(line, "say after the time what I am reminded of").await;
        }
        match long_reminders::stored(&self.deps.reminders, &self.deps.redactor, body) {
            Ok(body) => self.remind(line, who, (&due, body)).await,
            Err(error) => self.not_reminded(line, &texts::whole(&error)).await,
        }
    }

    async fn remind(&self, line: &Line, who: &Principal, (due, body): (&Due, Redacted)) -> Handled {
        let deps = &self.deps;
        let new = NewReminder {
            agent: deps.agent.clone(),
            by: who.clone(),
            turn: None,
            request: format!("line/{}", intake_key(line)),
            target: place_of(line),
            body,
            due_at: UnixMicros(due.at.0),
            repeats: due.repeats.as_ref().map(ToString::to_string),
            open_max: u32::try_from(OPEN_MAX).unwrap_or(u32::MAX),
        };
        match deps.store.remind(new).await {
            Ok(made) => {
                info!(reminder = made.id, by = who.account, "a person set a reminder");
                deps.alarm.notify_one();
                let made = reminder::made(made.id, due, &TimeZone::system());
                self.answer(line, &made).await;
                Handled::Yes
            }
            Err(StoreError::Invalid(why)) => self.not_reminded(line, why).await,
            Err(error) => {
                warn!(%error, "cannot store a reminder");
                Handled::NotNow
            }
        }
    }

    async fn not_reminded(&self, line: &Line, why: &str) -> Handled {
        self.answer(line, &format!("no reminder is set: {why}")).await;
        Handled::Yes
    }

    /// Returns when the line was said: `in 20 min` counts from then, however late it is read.
    pub(super) fn said_at(&self, line: &Line) -> UnixMicros {
        let now = self.deps.clock.now();
        let told = line.server_time.as_deref().and_then(clock::parse_rfc3339);
        told.filter(|at| line.from_history && *at <= now).unwrap_or(now)
    }
}
