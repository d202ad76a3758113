//! The tools `ask` and `answer` (R2-21 … R2-25, R1-51, R1-52).

use gangline_core::{
    MessageId, QuestionNumber,
    question::{self, Choose, Facts, OnTimeout, QuestionState, Where, may_answer, text},
    trust::Policy,
};
use gangline_os::change_notice;
use gangline_runtime::ToolCall;
use gangline_store::{NewAnswer, QuestionRow};
use serde_json::{Value, json};

use super::{AgentTools, fields};
use crate::{
    asking::{Asking, Goes, myself},
    bus::{Incoming, taken},
    speech::TurnContext,
};

impl AgentTools {
    pub(super) async fn ask(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
    ) -> Result<String, String> {
        let asking = self.asking(&call.input).await?;
        let to = text::recipient(&asking.asked);
        let asked = self.asker.ask(context, asking, request(context, call)).await?;
        Ok(json!({"id": asked, "to": to}).to_string())
    }

    async fn asking(&self, input: &Value) -> Result<Asking, String> {
        let asked = self.asker.asked(fields::maybe_text(input, "to")?.unwrap_or_default()).await?;
        let rule = fields::word(input, "rule")?.unwrap_or_else(|| asked.usual_rule());
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
            rule,
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
        let standing = may_answer(facts, &me, Where::Direct, &Policy::default());
        let standing = standing.map_err(|error| error.to_string())?;
        let answer = question::resolve(&row.options, row.choose, said);
        let answer = answer.map_err(|error| error.to_string())?;
        let new = NewAnswer {
            known_as: me.account.clone(),
            by: me,
            standing,
            text: self.speaker.redactor.redact(&answer),
        };
        let closed = store.answer_question(number, new).await;
        let closed = closed.map_err(|error| error.to_string())?;
        self.speaker.committed.send_modify(|count| *count += 1);
        if let Some(context) = context {
            self.answered_in(context, &row).await?;
        }
        if closed.message.is_some() {
            change_notice::notify(&self.speaker.paths.change_notice(row.agent.as_str()));
        }
        let state = closed.row.state;
        let counted = if state == QuestionState::Open { "counted" } else { state.as_str() };
        Ok(json!({"id": number, "state": counted, "answer": answer}).to_string())
    }

    /// The message that asked has its answer: nothing more is said to it.
    async fn answered_in(&self, context: &TurnContext, row: &QuestionRow) -> Result<(), String> {
        let mut asked: Option<MessageId> = None;
        for message in &context.messages {
            let of = self.speaker.store.question_of(*message).await;
            let of = of.map_err(|error| error.to_string())?;
            if of.is_some_and(|of| of.number == row.number) {
                asked = Some(*message);
            }
        }
        if asked.is_some() {
            let (turn, to) = (context.turn, row.agent.to_string());
            let sent = |heard| Incoming::Sent { turn, to, in_reply_to: asked, heard };
            taken(&self.speaker.agent_loop, sent).await.map_err(|ending| ending.to_string())?;
        }
        Ok(())
    }
}

/// Returns what makes a repeated call the same question or reminder.
pub(super) fn request(context: Option<&TurnContext>, call: &ToolCall) -> String {
    match context {
        Some(context) => format!("{}/{}", context.turn, call.id),
        None => format!("outside/{}", call.id),
    }
}
