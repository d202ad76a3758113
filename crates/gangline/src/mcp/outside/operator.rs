//! The operator's inbox as a person's client has it: letters and questions of the agent, and its
//! answers to what was asked here. The agent's own inbox is listed and never taken.

mod give;

use std::{collections::BTreeSet, time::Duration};

use gangline_config::Role;
use gangline_core::{
    AgentName, MessageId, MessageState, Origin, QuestionNumber, Redactor,
    privacy::{Reader, Said},
    question::{self, Asked, Choose, Standing, draft::check_text},
    reminder,
};
use gangline_mcp::table::{RECV_MAX, Tool, WAIT_MAX};
use gangline_os::{
    CancellationToken, change_notice,
    clock::{self, rfc3339},
    paths::Paths,
};
use gangline_runtime::ToolCall;
use gangline_store::{
    LetterFilter, LetterRow, NewAnswer, NewMessage, PAGE_MAX, QuestionFilter, Store, StoreError,
};
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{needed, number, text_of};
use crate::{configuration, owner};

#[cfg(test)]
mod tests;

/// The pronouns of an owner whose configuration cannot be read.
const PRONOUNS: &str = "they/them";
/// How often a call that waits looks.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What this client was given already, as far as no row says so. It is held while something is given,
/// so that two calls at once are not given the same.
#[derive(Debug, Default)]
struct Given {
    questions: BTreeSet<QuestionNumber>,
    /// What was asked here and has no answer yet.
    asked: Vec<MessageId>,
    /// The reminders that were made here.
    reminders: BTreeSet<i64>,
}

/// The operator's inbox.
#[derive(Debug, Default)]
pub(super) struct Inbox(Mutex<Given>);

/// Where a call is at work.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) paths: &'a Paths,
    pub(super) store: &'a Store,
    pub(super) agent: &'a AgentName,
    /// Who is shown what is there.
    pub(super) reader: Reader,
}

impl Inbox {
    /// Runs a call of the inbox. `None` if it was taken back before it had an effect.
    pub(super) async fn call(
        &self,
        site: Site<'_>,
        (tool, call): (Tool, &ToolCall),
        taken_back: &CancellationToken,
    ) -> Option<Result<String, String>> {
        Some(match tool {
            Tool::Recv => return self.recv(site, &call.input, taken_back).await,
            Tool::Ask => self.ask(site, call).await,
            Tool::Answer => site.answer(&call.input).await,
            Tool::LooseEnds => {
                let given = self.0.lock().await;
                site.open(&given).await.map_err(|error| failed(&error))
            }
            Tool::CancelLooseEnd => site.cancel(&call.input).await,
            Tool::Remind => self.remind(site, call).await,
            Tool::WhoAmI => Ok(site.whoami()),
            Tool::Send
            | Tool::NoReply
            | Tool::Read
            | Tool::Who
            | Tool::Channels
            | Tool::Topic
            | Tool::Join
            | Tool::Part
            | Tool::Compact
            | Tool::Clear
            | Tool::SetDirectory
            | Tool::Pause
            | Tool::Resume
            | Tool::Abort
            | Tool::Whisper
            | Tool::Attention
            | Tool::RequestSpawn
            | Tool::Kill
            | Tool::Start
            | Tool::Restart
            | Tool::Update
            | Tool::RequestApplyCommit
            | Tool::GetLogs => Err(format!("there is no tool `{}` here", call.name)),
        })
    }

    /// Gives what is new, once something is or the time is over.
    async fn recv(
        &self,
        site: Site<'_>,
        input: &Value,
        taken_back: &CancellationToken,
    ) -> Option<Result<String, String>> {
        let wanted = || -> Result<(u64, usize), String> {
            let wait = number(input, "wait_seconds", 0, Some(0))?.min(WAIT_MAX);
            let max = number(input, "max", 1, Some(1))?.min(RECV_MAX);
            Ok((wait, usize::try_from(max).unwrap_or(1)))
        };
        let (wait, max) = match wanted() {
            Ok(wanted) => wanted,
            Err(why) => return Some(Err(why)),
        };
        let clock = clock::system();
        let until = clock.monotonic() + Duration::from_secs(wait);
        loop {
            let mut given = self.0.lock().await;
            if taken_back.is_cancelled() {
                return None;
            }
            let news = match give::news(site, &given).await {
                Ok(news) => news,
                Err(error) => return Some(Err(failed(&error))),
            };
            if !news.is_empty() || clock.monotonic() >= until {
                return Some(
                    give::give(site, &mut given, (news, max)).await.map_err(|it| failed(&it)),
                );
            }
            drop(given);
            tokio::select! {
                () = taken_back.cancelled() => return None,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Asks the agent in the owner's name; its answer comes by `recv`.
    async fn ask(&self, site: Site<'_>, call: &ToolCall) -> Result<String, String> {
        let (question, options) = (needed(&call.input, "question")?, options(&call.input)?);
        check_text(question, (&options, Choose::One)).map_err(|error| error.to_string())?;
        let body = owner::asking(question, &options, Choose::One);
        let new = NewMessage {
            agent: site.agent.clone(),
            network_id: "local".to_owned(),
            intake_key: Some(format!("mcp/{}", call.id)),
            origin: Origin::Cli,
            principal: owner::principal(),
            sender: owner::principal().account,
            target: String::new(),
            body: Redactor::new([]).redact(&body),
            in_reply_to: None,
            cause_root: None,
            hops: 0,
            state: MessageState::Accepted,
            cursor: None,
            not_before: None,
            msgid: None,
        };
        // Before the row, so that no answer can come in between.
        let mut given = self.0.lock().await;
        let id = site.store.accept(new).await.map_err(|error| failed(&error))?.id;
        if !given.asked.contains(&id) {
            given.asked.push(id);
        }
        site.notify();
        Ok(json!({"id": id.to_string(), "to": site.agent}).to_string())
    }

    async fn remind(&self, site: Site<'_>, call: &ToolCall) -> Result<String, String> {
        let message = needed(&call.input, "message")?;
        let zones = |name: &str| TimeZone::get(name).ok();
        let due = reminder::due(needed(&call.input, "due")?, &owner::now(), &zones);
        let due = due.map_err(|error| format!("`due`: {error}"))?;
        let loaded = configuration::quiet(&site.paths.config_file);
        let body = owner::reminder_text((site.paths, loaded.as_ref()), site.agent, message);
        let body = body.map_err(|error| format!("`message`: {}", failed(&error)))?;
        let new = owner::reminder(site.agent, format!("mcp/{}", call.id), (&due, body));
        let made = site.store.remind(new).await.map_err(|error| failed(&error))?;
        site.notify();
        self.0.lock().await.reminders.insert(made.id);
        let mut told = json!({"id": made.id, "due_at": rfc3339(made.due_at)});
        if let Some(repeats) = due.repeats {
            told["repeats"] = json!(repeats.describe());
        }
        Ok(told.to_string())
    }
}

impl Site<'_> {
    fn notify(&self) {
        change_notice::notify(&self.paths.change_notice(self.agent.folded()));
    }

    /// Returns whether the reader is shown what was said there.
    fn sees(&self, said: Said) -> bool {
        self.reader.sees(said)
    }

    /// Returns the agent's open questions to the operator that the reader is shown.
    async fn questions(&self) -> Result<Vec<gangline_store::QuestionRow>, StoreError> {
        let filter =
            QuestionFilter { asker: Some(self.agent.clone()), ..QuestionFilter::default() };
        let mut rows = self.store.questions(filter, PAGE_MAX).await?;
        rows.retain(|row| {
            row.asked == Asked::Operator
                && self.sees(Said::of_question(&row.asked, &row.reply_target))
        });
        rows.reverse();
        Ok(rows)
    }

    /// Returns the agent's letters to the operator, which are nobody else's.
    async fn letters(&self, unread: bool) -> Result<Vec<LetterRow>, StoreError> {
        if !self.sees(Said::InPrivate) {
            return Ok(Vec::new());
        }
        let agent = Some(self.agent.clone());
        self.store
            .letters(LetterFilter { agent, unread, ..LetterFilter::default() }, PAGE_MAX)
            .await
    }

    async fn answer(&self, input: &Value) -> Result<String, String> {
        let id = i64::try_from(number(input, "id", 1, None)?).unwrap_or(i64::MAX);
        let said = needed(input, "answer")?;
        match text_of(input, "kind")?.unwrap_or("question") {
            "question" => self.answer_question(QuestionNumber(id), said).await,
            "letter" => self.answer_letter(id, said).await,
            other => Err(format!("`kind` must be `question` or `letter`, not `{other}`")),
        }
    }

    async fn answer_question(&self, number: QuestionNumber, said: &str) -> Result<String, String> {
        let row = self.store.question(number).await.map_err(|error| failed(&error))?;
        let row = row.filter(|row| row.agent == *self.agent);
        let row = row.ok_or_else(|| format!("{} has asked no question {number}", self.agent))?;
        if row.asked != Asked::Operator {
            let asked = question::text::recipient(&row.asked);
            return Err(format!("question {number} is for {asked}, not for the owners"));
        }
        let answer = question::resolve(&row.options, row.choose, said);
        let answer = answer.map_err(|error| error.to_string())?;
        let new = NewAnswer {
            by: owner::principal(),
            known_as: owner::principal().account,
            standing: Standing::Decides,
            text: Redactor::new([]).redact(&answer),
        };
        let closed = self.store.answer_question(number, new).await;
        let closed = closed.map_err(|error| failed(&error))?;
        self.notify();
        let state = closed.row.state.as_str();
        Ok(json!({"id": number, "state": state, "answer": answer}).to_string())
    }

    async fn answer_letter(&self, id: i64, said: &str) -> Result<String, String> {
        let letter = self.store.letter(id).await.map_err(|error| failed(&error))?;
        let letter = letter.filter(|letter| letter.agent == *self.agent);
        let letter = letter.ok_or_else(|| format!("{} has sent no letter {id}", self.agent))?;
        let answer = owner::answer_to(&letter, (&owner::principal().account, said));
        let settled = self.store.settle_letter(id, owner::principal().account, Some(answer)).await;
        settled.map_err(|error| failed(&error))?;
        self.notify();
        Ok(json!({"id": id, "state": "answered", "answer": said}).to_string())
    }

    /// Lists what is open between the operator and the agent, and what waits for the agent.
    async fn open(&self, given: &Given) -> Result<String, StoreError> {
        let agent = self.agent;
        let mut rows: Vec<Value> = Vec::new();
        for row in self.questions().await? {
            let expires = row.expires_at.map(rfc3339);
            let mut row = json!({"kind": "asked", "id": row.number, "agent": agent,
                "text": row.body.as_str()});
            if let Some(at) = expires {
                row["expires_at"] = at.into();
            }
            rows.push(row);
        }
        for letter in self.letters(false).await? {
            rows.push(json!({"kind": "letter", "id": letter.id, "agent": agent,
                "text": letter.body.as_str()}));
        }
        for row in self.store.pending(agent, clock::system().now(), PAGE_MAX).await? {
            if !self.sees(Said::at(&row.target)) && !given.asked.contains(&row.id) {
                continue;
            }
            rows.push(json!({"kind": "message", "id": row.id.0, "agent": agent,
                "with": row.sender, "text": row.body.as_str()}));
        }
        for row in self.store.reminders(Some(agent), PAGE_MAX).await? {
            if !self.sees(Said::at(&row.target)) && !given.reminders.contains(&row.id) {
                continue;
            }
            rows.push(json!({"kind": "reminder", "id": row.id, "agent": agent,
                "text": row.body.as_str(), "due_at": rfc3339(row.due_at)}));
        }
        Ok(json!({"loose_ends": rows}).to_string())
    }

    async fn cancel(&self, input: &Value) -> Result<String, String> {
        let id = i64::try_from(number(input, "id", 1, None)?).unwrap_or(i64::MAX);
        match needed(input, "kind")? {
            "question" => {
                let number = QuestionNumber(id);
                let row = self.store.question(number).await.map_err(|error| failed(&error))?;
                if row.is_none_or(|row| row.agent != *self.agent) {
                    return Err(format!("{} has asked no question {number}", self.agent));
                }
                let closed = self.store.cancel_question(number, owner::principal()).await;
                let closed = closed.map_err(|error| failed(&error))?;
                for agent in std::iter::once(self.agent).chain(closed.row.asked.agents()) {
                    change_notice::notify(&self.paths.change_notice(agent.folded()));
                }
                Ok(format!("question {number} is withdrawn"))
            }
            "reminder" => {
                let row = self.store.reminder(id).await.map_err(|error| failed(&error))?;
                if row.is_none_or(|row| row.agent != *self.agent) {
                    return Err(format!("{} has no reminder {id}", self.agent));
                }
                match self.store.remove_reminder(id).await.map_err(|error| failed(&error))? {
                    Some(_) => Ok(format!("reminder {id} is deleted")),
                    None => Err(format!("reminder {id} has fired already")),
                }
            }
            other => Err(format!("`kind` must be `question` or `reminder`, not `{other}`")),
        }
    }

    fn whoami(&self) -> String {
        let loaded = configuration::quiet(&self.paths.config_file);
        let configured = loaded.as_ref().and_then(|loaded| loaded.config.agent(self.agent));
        let pronouns = configured.map_or(PRONOUNS, |agent| agent.operator_pronouns.as_str());
        json!({
            "name": self.agent,
            "role": configured.map_or(Role::Agent, |agent| agent.role).as_str(),
            "pronouns": pronouns,
            "gangline_rev": env!("CARGO_PKG_VERSION"),
            // The seed's own name for the same.
            "hyperhive_rev": env!("CARGO_PKG_VERSION"),
            "caller": "operator",
        })
        .to_string()
    }
}

fn options(input: &Value) -> Result<Vec<String>, String> {
    let wanted = || "`options` must be a list of strings".to_owned();
    let items = match input.get("options") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(items) => items.as_array().ok_or_else(wanted)?,
    };
    items.iter().map(|it| it.as_str().map(str::to_owned).ok_or_else(wanted)).collect()
}

/// Returns an error with its causes, for a model.
fn failed(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        text.push_str(&format!(": {below}"));
        cause = below.source();
    }
    text
}
