//! The tools `ask` and `answer` (R2-21 … R2-25, R1-51, R1-52).

use gangline_core::{
    MessageId, QuestionNumber,
    question::{self, Asked, Choose, Facts, OnTimeout, QuestionState, Where, may_answer, text},
    trust::Policy,
};
use gangline_os::change_notice;
use gangline_runtime::ToolCall;
use gangline_store::{AnswerError, NewAnswer, QuestionRow};
use serde_json::{Value, json};

use super::{AgentTools, fields};
use crate::{
    acts::already,
    asking::{Asking, Goes, myself},
    bus::{Incoming, taken},
    speech::{Speaker, TurnContext},
};

impl AgentTools {
    pub(super) async fn ask(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
    ) -> Result<String, String> {
        let asking = self.asking(&call.input).await?;
        let (to, request) = (text::recipient(&asking.asked), request(context, call));
        if let Some(row) = self.asker.asked_before(context, &asking, &request).await? {
            return Ok(asked_already(&row, &to).to_string());
        }
        if let Some(context) = context {
            self.must_not_wait(context, &asking.asked).await?;
        }
        let asked = self.asker.ask(context, asking, request).await?;
        Ok(json!({"id": asked, "to": to}).to_string())
    }

    async fn asking(&self, input: &Value) -> Result<Asking, String> {
        let asked = self.asker.asked(&fields::names(input, "to")?).await?;
        let on_timeout = match fields::word(input, "on_timeout")? {
            // The seed's own name for it (R1-53).
            None => fields::word(input, "timeout_action")?,
            some => some,
        };
        Ok(Asking {
            question: fields::text(input, "question")?.to_owned(),
            options: fields::texts(input, "options")?,
            choose: if fields::flag(input, "multi")? { Choose::Several } else { Choose::One },
            ttl_seconds: fields::number(input, "ttl_seconds", 1..=question::TTL_MAX)?,
            asked,
            rule: fields::word(input, "rule")?,
            on_timeout: on_timeout.unwrap_or(OnTimeout::None),
            goes: Goes::ToInbox,
        })
    }

    /// Returns where the turn's conversation is; nothing outside of a turn.
    pub(super) async fn home(&self, context: Option<&TurnContext>) -> Result<String, String> {
        Ok(self.asker.home(context).await?.map(|home| home.target).unwrap_or_default())
    }

    pub(super) async fn answer(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
    ) -> Result<String, String> {
        let number = fields::number(&call.input, "id", 1..=u64::from(u32::MAX))?;
        let number = number.ok_or("`id` is missing")?;
        let number = QuestionNumber(i64::try_from(number).unwrap_or(i64::MAX));
        let said = fields::text(&call.input, "answer")?;
        let store = &self.speaker.store;
        let row = store.question(number).await.map_err(|error| error.to_string())?;
        let row = row.ok_or_else(|| format!("there is no question {number}"))?;
        let me = myself(&self.speaker.agent);
        let facts = Facts { number, asker: &row.agent, asked: &row.asked, rule: row.rule };
        let place = match &row.asked {
            Asked::Room(room) if self.whereabouts.is_in(room) => Where::Room(room),
            Asked::Operator | Asked::Room(_) | Asked::Person(_) | Asked::Agents(_) => Where::Direct,
        };
        let standing = may_answer(facts, &me, place, &Policy::default());
        let standing = standing.map_err(|error| error.to_string())?;
        let answer = question::resolve(&row.options, row.choose, said);
        let answer = answer.map_err(|error| error.to_string())?;
        let new = NewAnswer {
            known_as: me.account.clone(),
            by: me,
            standing,
            text: self.speaker.redactor.redact(&answer),
        };
        let row = match store.answer_question(number, new.clone()).await {
            Ok(closed) => closed.row,
            // An attempt that died has given this answer.
            Err(AnswerError::Closed(closed)) if gave(&closed, &new) => *closed,
            Err(error) => return Err(error.to_string()),
        };
        self.speaker.committed.send_modify(|count| *count += 1);
        if let Some(context) = context {
            self.answered_in(context, &row).await?;
        }
        // Whether it is a message, or a call waits for it.
        change_notice::notify(&self.speaker.paths.change_notice(row.agent.as_str()));
        let state = row.state;
        let counted = if state == QuestionState::Open { "counted" } else { state.as_str() };
        Ok(json!({"id": number, "state": counted, "answer": answer}).to_string())
    }

    /// Marks the messages of this turn that the answer settles, including the reply to a question back: nothing more
    /// is said to them.
    async fn answered_in(&self, context: &TurnContext, row: &QuestionRow) -> Result<(), String> {
        for message in &context.messages {
            if self.about(*message).await?.iter().all(|of| of.number != row.number) {
                continue;
            }
            let (turn, to, in_reply_to) = (context.turn, row.agent.to_string(), Some(*message));
            let sent = |heard| Incoming::Sent { turn, to, in_reply_to, heard };
            taken(&self.speaker.agent_loop, sent).await.map_err(|ending| ending.to_string())?;
        }
        Ok(())
    }

    /// Refuses to ask back if the asker cannot answer, because its call is held open until it has this agent's
    /// answer (R1-52).
    async fn must_not_wait(&self, context: &TurnContext, asked: &Asked) -> Result<(), String> {
        for message in &context.messages {
            for row in self.about(*message).await? {
                let waits = row.state == QuestionState::Open && row.waits.is_some();
                if waits && asked.agents().contains(&row.agent) {
                    let (agent, number) = (&row.agent, row.number);
                    return Err(format!(
                        "not asked: {agent} waits in a call for your answer to question {number} and \
                         cannot reply until it has that; answer it as well as you can"
                    ));
                }
            }
        }
        Ok(())
    }

    async fn about(&self, message: MessageId) -> Result<Vec<QuestionRow>, String> {
        let Speaker { store, agent, .. } = &self.speaker;
        store.questions_about(agent, message).await.map_err(|error| error.to_string())
    }
}

/// Returns whether a question was closed by this very answer.
fn gave(closed: &QuestionRow, answer: &NewAnswer) -> bool {
    closed.state == QuestionState::Answered
        && closed.answered_by.as_deref() == Some(&*answer.known_as)
        && closed.answer.as_ref() == Some(&answer.text)
}

/// Returns what the call of a question is told that an earlier attempt has asked.
fn asked_already(row: &QuestionRow, to: &str) -> Value {
    let done = already(&format!("asked as question {}", row.number));
    let mut told = json!({"id": row.number, "to": to, "state": row.state.as_str(), "note": done});
    if let Some(answer) = &row.answer {
        told["answer"] = json!(answer.as_str());
        told["answered_by"] = json!(row.answered_by);
    }
    told
}

/// Returns what makes a repeated call the same question or reminder.
pub(super) fn request(context: Option<&TurnContext>, call: &ToolCall) -> String {
    match context {
        Some(context) => format!("{}/{}", context.turn, call.id),
        None => format!("outside/{}", call.id),
    }
}
