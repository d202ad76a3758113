//! The tools `get_loose_ends`, `cancel_loose_end` and `whoami` (R2-26, R2-27, R2-29).

use gangline_config::Role;
use gangline_core::{AgentName, QuestionNumber, question::text, reminder::repeat::Repeat};
use gangline_os::{change_notice, clock};
use gangline_runtime::ToolCall;
use gangline_store::{QuestionFilter, QuestionRow, ReminderRow};
use serde_json::{Value, json};

use super::{AgentTools, fields};
use crate::asking::myself;

/// The most rows of a kind that are listed.
const LISTED: u32 = 200;

impl AgentTools {
    pub(super) async fn loose_ends(&self) -> Result<String, String> {
        let (store, me) = (&self.speaker.store, &self.speaker.agent);
        let all = self.about.role == Role::Manager;
        // A manager's list is of the whole installation (R2-26).
        let asker = (!all).then(|| me.clone());
        let mine = QuestionFilter { asker: asker.clone(), ..QuestionFilter::default() };
        let asked = QuestionFilter { asked: Some(me.clone()), ..QuestionFilter::default() };
        let failed = |error: gangline_store::StoreError| error.to_string();
        let mut rows: Vec<Value> = Vec::new();
        let mut questions = store.questions(mine, LISTED).await.map_err(failed)?;
        questions.reverse();
        rows.extend(
            questions.iter().map(|row| shown(row, "question", text::recipient(&row.asked))),
        );
        let mut questions = store.questions(asked, LISTED).await.map_err(failed)?;
        questions.reverse();
        rows.extend(questions.iter().map(|row| shown(row, "asked", row.agent.to_string())));
        let reminders = store.reminders(asker.as_ref(), LISTED).await.map_err(failed)?;
        rows.extend(reminders.iter().map(reminder));
        Ok(json!({"loose_ends": rows}).to_string())
    }

    pub(super) async fn cancel_loose_end(&self, call: &ToolCall) -> Result<String, String> {
        let kind = fields::text(&call.input, "kind")?;
        let id = fields::number(&call.input, "id", 1..=u64::from(u32::MAX))?;
        let id = i64::try_from(id.ok_or("`id` is missing")?).unwrap_or(i64::MAX);
        let (store, me) = (&self.speaker.store, &self.speaker.agent);
        match kind {
            "question" => {
                let number = QuestionNumber(id);
                let row = store.question(number).await.map_err(|error| error.to_string())?;
                let row = row.ok_or_else(|| format!("there is no question {number}"))?;
                if !self.may_withdraw(&row.agent) {
                    return Err(format!(
                        "question {number} is {}'s: only it may withdraw it",
                        row.agent
                    ));
                }
                let closed = store.cancel_question(number, myself(me)).await;
                let closed = closed.map_err(|error| error.to_string())?;
                self.speaker.outbox.notify_one();
                let asker = Some(&row.agent).filter(|asker| *asker != me);
                for agent in row.asked.agents().iter().chain(asker) {
                    change_notice::notify(&self.speaker.paths.change_notice(agent.as_str()));
                }
                let said = closed.row.answer.map(|it| it.to_string()).unwrap_or_default();
                Ok(format!("question {number} is withdrawn: {said}"))
            }
            "reminder" => {
                let row = store.reminder(id).await.map_err(|error| error.to_string())?;
                let row = row.ok_or_else(|| format!("there is no reminder {id}"))?;
                if !self.may_withdraw(&row.agent) {
                    return Err(format!("reminder {id} is {}'s: only it may delete it", row.agent));
                }
                let removed = store.remove_reminder(id).await.map_err(|error| error.to_string())?;
                match removed {
                    Some(_) => Ok(format!("reminder {id} is deleted")),
                    None => Err(format!("reminder {id} has fired already")),
                }
            }
            other => Err(format!("`kind` must be `question` or `reminder`, not `{other}`")),
        }
    }

    /// An agent withdraws its own, a manager anybody's (R2-27).
    fn may_withdraw(&self, owner: &AgentName) -> bool {
        *owner == self.speaker.agent || self.about.role == Role::Manager
    }

    pub(super) fn whoami(&self) -> String {
        let about = &self.about;
        json!({
            "name": self.speaker.agent,
            "role": about.role.as_str(),
            "pronouns": about.pronouns,
            "gangline_rev": env!("CARGO_PKG_VERSION"),
            // The seed's own name for the same.
            "hyperhive_rev": env!("CARGO_PKG_VERSION"),
        })
        .to_string()
    }
}

fn shown(row: &QuestionRow, kind: &str, with: String) -> Value {
    let mut shown = json!({
        "kind": kind,
        "id": row.number,
        "agent": row.agent,
        "with": with,
        "text": text::one_line(row.body.as_str()),
    });
    if let Some(at) = row.expires_at {
        shown["expires_at"] = json!(clock::rfc3339(at));
    }
    shown
}

fn reminder(row: &ReminderRow) -> Value {
    let mut shown = json!({
        "kind": "reminder",
        "id": row.id,
        "agent": row.agent,
        "text": text::one_line(row.body.as_str()),
        "due_at": clock::rfc3339(row.due_at),
    });
    if let Some(repeats) = &row.repeats {
        let repeat: Option<Repeat> = repeats.parse().ok();
        shown["repeats"] = json!(repeat.map_or_else(|| repeats.clone(), |it| it.describe()));
    }
    shown
}
