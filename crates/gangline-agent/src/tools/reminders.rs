//! The tool `remind` (R2-28).

use gangline_core::{
    act::ActKind,
    mention::escape,
    reminder::{self, Due, OPEN_MAX},
};
use gangline_os::clock;
use gangline_runtime::ToolCall;
use gangline_store::{NewReminder, ReminderState};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde_json::json;

use super::{AgentTools, fields, questions::request};
use crate::{
    acts::already, asking::myself, long_reminders, speech::Doing, speech::TurnContext, texts,
};

impl AgentTools {
    pub(super) async fn remind(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
    ) -> Result<String, String> {
        let message = fields::text(&call.input, "message")?;
        let due = fields::text(&call.input, "due")?;
        let Due { at, repeats } = self.due(due)?;
        if message.trim().is_empty() {
            return Err("`message` is empty".to_owned());
        }
        if message.len() > reminder::BODY_MAX {
            return Err(format!("`message` is longer than {} bytes", reminder::BODY_MAX));
        }
        let request = request(context, call);
        let doing = Doing {
            kind: ActKind::Reminder,
            // "in an hour" is another time in each attempt, and the same call.
            arguments: &[due.trim(), message],
            request: &request,
            in_reply_to: None,
        };
        let act = self.speaker.act(context, doing);
        let before = self.speaker.done_before(act.as_ref()).await;
        if let Some(before) = before.map_err(|error| format!("no reminder was made: {error}"))? {
            return self.reminded_already(before.number).await;
        }
        let body = long_reminders::stored(&self.about.reminders, &self.speaker.redactor, message);
        let body =
            body.map_err(|error| format!("no reminder was made: {}", texts::whole(&error)))?;
        let new = NewReminder {
            agent: self.speaker.agent.clone(),
            by: myself(&self.speaker.agent),
            turn: context.map(|context| context.turn),
            request,
            target: self.home(context).await?,
            body,
            due_at: clock::UnixMicros(at.0),
            repeats: repeats.as_ref().map(ToString::to_string),
            open_max: u32::try_from(OPEN_MAX).unwrap_or(u32::MAX),
        };
        let made = self.speaker.store.remind_once(new, act).await;
        let made = made.map_err(|error| format!("no reminder was made: {error}"))?;
        self.alarm.notify_one();
        let mut told = json!({"id": made.id, "due_at": clock::rfc3339(made.due_at)});
        if let Some(repeats) = repeats {
            told["repeats"] = json!(repeats.describe());
        }
        Ok(told.to_string())
    }

    /// Tells of a reminder that an earlier attempt has set.
    async fn reminded_already(&self, number: i64) -> Result<String, String> {
        let row = self.speaker.store.reminder(number).await.map_err(|error| error.to_string())?;
        let mut told = json!({"id": number, "note": already(&format!("set as reminder {number}"))});
        match row {
            Some(row) => {
                told["due_at"] = json!(clock::rfc3339(row.due_at));
                let waits = row.state == ReminderState::Waiting;
                told["state"] = json!(if waits { "waiting" } else { "fired" });
            }
            None => told["state"] = json!("deleted"),
        }
        Ok(told.to_string())
    }

    fn due(&self, text: &str) -> Result<Due, String> {
        let now = Timestamp::from_microsecond(self.clock.now().0).unwrap_or_default();
        let now = Zoned::new(now, TimeZone::system());
        let zones = |name: &str| TimeZone::get(name).ok();
        reminder::due(text, &now, &zones).map_err(|error| format!("`due`: {error}"))
    }
}

/// Returns what a reminder says when it fires (R2-28): which it is, its text, in which nothing looks like
/// a heading of ours, and what there is to say about it.
pub(crate) fn fired_text(number: i64, body: &str, notes: &[String]) -> String {
    let text = body.lines().map(escape).collect::<Vec<_>>().join("\n");
    let notes = notes.iter().map(|note| format!("[gangline] {note}"));
    let first = format!("[REMINDER {number}] {text}");
    std::iter::once(first).chain(notes).collect::<Vec<_>>().join("\n")
}
