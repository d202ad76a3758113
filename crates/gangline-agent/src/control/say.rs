//! `irc_send` and `irc_ask`: the agent speaks through its shell, in the same way as through its
//! tools.

use gangline_api::ipc::{self, ChatLine, IfAbsent, RequestId};
use gangline_core::{
    MessageId, QuestionNumber,
    name::{ChannelName, Target},
    question::{Asked, Choose, OnTimeout, QuestionState},
};
use gangline_os::CancellationToken;
use gangline_store::QuestionRow;
use serde_json::json;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::{
    mentions,
    requests::{Draft, Reply, Requests, Then},
};
use crate::{
    acts::already,
    asking::{Asking, Goes},
    bus::Ending,
    calls::Call,
    chat::inquiries::{Answer, Question},
    speech::{Said, Saying, TurnContext},
    texts,
    tokens::Who,
};

impl Requests {
    pub(super) async fn send(
        &self,
        by: (Who, Option<&RequestId>),
        draft: Draft<'_>,
        absent: IfAbsent,
    ) -> Result<Reply, String> {
        let (who, id) = by;
        let context = self.context_of(who);
        if let Some(message) = draft.in_reply_to {
            self.may_answer(context.as_ref(), message).await?;
        }
        let Draft { to, text, in_reply_to } = draft;
        let call = call(id, to, text);
        let saying = Saying { to, text, in_reply_to, call: &call };
        let before = self.speaker.said_before(context.as_ref(), saying).await;
        if let Some(said) = before.map_err(|error| texts::whole(&error))? {
            let told = match said {
                Said::Before(row) => Some(already(&format!("sent to {to} as {row}"))),
                Said::Sent | Said::Held => None,
            };
            return Ok(Reply::nothing()?.warning(told));
        }
        self.may_speak_in(to, absent).await?;
        self.must_be_somebody(draft).await?;
        let said = self.speaker.say(context.as_ref(), saying).await;
        said.map(drop).map_err(|error| texts::whole(&error))?;
        let warnings = self.unknown_mentions(to, text).await;
        Ok(Reply::nothing()?.warning(warnings))
    }

    /// Asks, and is held open until somebody answers or the time is over (R1-16, R1-20). Dropped
    /// before, the answer comes to the inbox.
    pub(super) async fn ask(
        &self,
        by: (Who, Option<&RequestId>),
        draft: Draft<'_>,
        (timeout, on_timeout, gone): (u32, OnTimeout, CancellationToken),
    ) -> Result<Reply, String> {
        let (who, id) = by;
        let context = self.context_of(who);
        let asked = match draft.to {
            Target::Channel(channel) => Asked::Room(channel.clone()),
            Target::Nick(nick) => self.asker.asked(nick.as_str()).await?,
        };
        let asking = Asking {
            question: draft.text.to_owned(),
            options: Vec::new(),
            choose: Choose::One,
            ttl_seconds: Some(u64::from(timeout)),
            rule: None,
            asked,
            on_timeout,
            goes: Goes::ToCall,
        };
        let request = call(id, draft.to, draft.text);
        let (answered, call) = oneshot::channel();
        let held = Call { request: request.clone(), answered: call };
        self.calls.send(held).await.map_err(|_| Ending.to_string())?;
        let before = self.asker.asked_before(context.as_ref(), &asking, &request).await?;
        let (number, warnings) = match before {
            Some(row) => (row.number, vec![already(&format!("asked as question {}", row.number))]),
            None => {
                self.must_be_in(draft.to)?;
                self.must_be_somebody(draft).await?;
                let number = self.asker.ask(context.as_ref(), asking, request).await?;
                (number, self.unknown_mentions(draft.to, draft.text).await)
            }
        };
        let row = self.closed(number, gone).await?;
        let told = json!({"asked": true, "question": number, "answer": answer(&row)});
        Ok(Reply::new(&told)?.warning(warnings).then(Then::Answered(answered)))
    }

    /// Waits until a question is not open any more, or nobody waits for its answer.
    async fn closed(
        &self,
        number: QuestionNumber,
        gone: CancellationToken,
    ) -> Result<QuestionRow, String> {
        let mut committed = self.committed.clone();
        loop {
            committed.mark_unchanged();
            let row = self.speaker.store.question(number).await;
            let row = row.map_err(|error| texts::whole(&error))?;
            let row = row.ok_or_else(|| format!("question {number} is gone"))?;
            if row.state != QuestionState::Open {
                return Ok(row);
            }
            tokio::select! {
                () = gone.cancelled() => return Err(format!("nobody waits for question {number}")),
                changed = committed.changed() => changed.map_err(|_| Ending.to_string())?,
            }
        }
    }

    /// What the agent says while a turn is open is that turn's; others speak for themselves.
    fn context_of(&self, who: Who) -> Option<TurnContext> {
        match who {
            Who::Agent => self.context.borrow().clone(),
            Who::Owner | Who::Somebody => None,
        }
    }

    /// Only the turn's own messages can be answered in it; outside of one any of this agent's.
    async fn may_answer(
        &self,
        context: Option<&TurnContext>,
        message: MessageId,
    ) -> Result<(), String> {
        let Some(context) = context else {
            let row =
                self.speaker.store.message(message).await.map_err(|error| texts::whole(&error))?;
            let ours = row.is_some_and(|row| row.agent == self.me.agent);
            return ours.then_some(()).ok_or_else(|| format!("{message} is not this agent's"));
        };
        if context.messages.contains(&message) {
            return Ok(());
        }
        let known: Vec<String> = context.messages.iter().map(ToString::to_string).collect();
        Err(format!("{message} does not belong to this turn, which is about {}", known.join(", ")))
    }

    async fn must_be_somebody(&self, draft: Draft<'_>) -> Result<(), String> {
        let answers = draft.in_reply_to;
        let somebody = self.whereabouts.must_be_somebody(&self.speaker, draft.to, answers);
        somebody.await.map_err(|nobody| nobody.to_string())
    }

    async fn may_speak_in(&self, to: &Target, absent: IfAbsent) -> Result<(), String> {
        let Target::Channel(channel) = to else { return Ok(()) };
        if self.is_in(channel) {
            return Ok(());
        }
        match absent {
            IfAbsent::Send => Err(ipc::not_joined(channel)),
            IfAbsent::Refuse => match self.names(channel).await {
                Ok(names) if names.is_empty() => Err(ipc::no_such_channel(channel)),
                Ok(_) | Err(_) => Err(ipc::not_joined(channel)),
            },
            IfAbsent::Create => self.inquire(Question::Join(channel.clone())).await.map(drop),
        }
    }

    pub(super) async fn names(&self, channel: &ChannelName) -> Result<Vec<String>, String> {
        match self.inquire(Question::Names(channel.clone())).await? {
            Answer::Names(names) => Ok(names),
            Answer::Users(_) | Answer::Accounts(_) | Answer::Topic(_) | Answer::Done => {
                Ok(Vec::new())
            }
        }
    }

    /// Returns a warning for each `@nick` that is nobody, as far as that can be told.
    async fn unknown_mentions(&self, to: &Target, text: &str) -> Vec<String> {
        let Target::Channel(channel) = to else { return Vec::new() };
        let words = mentions::unknown(text, |word| {
            self.everybody.iter().any(|agent| mentions::is(word, agent.as_str(), agent.short()))
        });
        if words.is_empty() {
            return Vec::new();
        }
        // Nobody is nobody only if the room's members are known.
        let Ok(names) = self.names(channel).await else { return Vec::new() };
        let present = |word: &String| names.iter().any(|name| mentions::is(word, name, name));
        let absent = words.into_iter().filter(|word| !present(word));
        absent.map(|word| format!("Mentioned nick not found: {word}")).collect()
    }
}

/// Returns the answer as a line of chat; `None` if there is none.
fn answer(row: &QuestionRow) -> Option<ChatLine> {
    match (row.state, row.on_timeout) {
        // Where silence means no, that is the answer (R1-53).
        (QuestionState::Answered, _) | (QuestionState::Expired, OnTimeout::Deny) => {}
        (QuestionState::Open | QuestionState::Expired | QuestionState::Cancelled, _) => {
            return None;
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "the wire has seconds as a float")]
    let timestamp = row.answered_at?.0 as f64 / 1e6;
    let nick = row.answered_by.clone().unwrap_or_default();
    Some(ChatLine { nick, text: row.answer.as_ref()?.to_string(), timestamp, tier: None })
}

/// Returns what makes a repeated request the same request. Ids are UUIDs (R0-54): then a client that
/// asks again after a lost connection says nothing twice. Another id may be any client's constant.
fn call(id: Option<&RequestId>, to: &Target, text: &str) -> String {
    let unique = id.and_then(RequestId::as_str).filter(|id| Uuid::parse_str(id).is_ok());
    match unique {
        Some(id) => format!("ipc/{id}/{}/{text}", to.folded()),
        None => format!("ipc/{}", Uuid::new_v4()),
    }
}
