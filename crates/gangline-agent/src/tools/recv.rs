//! The tool `recv`: the agent takes messages from its inbox in the open turn (R2-20, R2-32).
//!
//! A call that waits holds nothing: the message that comes stays in the store until the call takes
//! it into the turn.

use std::time::Duration;

use gangline_core::{MessageId, Origin, Target, mention::escape, question::Choose};
use gangline_mcp::table::{RECV_MAX, WAIT_MAX};
use gangline_os::CancellationToken;
use gangline_runtime::ToolCall;
use gangline_store::{MessageRow, PAGE_MAX, QuestionRow};
use serde_json::{Value, json};

use super::{AgentTools, fields};
use crate::{
    bus::{Ending, Incoming, taken},
    prompt::is_ours,
    speech::TurnContext,
};

/// How much a call wants.
pub(super) struct Wanted {
    pub(super) wait: Duration,
    pub(super) max: usize,
}

impl Wanted {
    pub(super) fn read(input: &Value) -> Result<Self, String> {
        let wait = fields::number(input, "wait_seconds", 0..=u64::MAX)?.unwrap_or(0).min(WAIT_MAX);
        let max = fields::number(input, "max", 1..=u64::MAX)?.unwrap_or(1).min(RECV_MAX);
        Ok(Self { wait: Duration::from_secs(wait), max: usize::try_from(max).unwrap_or(1) })
    }
}

impl AgentTools {
    /// Takes what waits, once something does or the time is over. `None`: the call was withdrawn
    /// before it took anything.
    pub(super) async fn recv(
        &self,
        call: &ToolCall,
        withdrawn: &CancellationToken,
    ) -> Option<Result<String, String>> {
        let wanted = match Wanted::read(&call.input) {
            Ok(wanted) => wanted,
            Err(why) => return Some(Err(why)),
        };
        let until = self.clock.monotonic() + wanted.wait;
        let (mut arrivals, mut turn) = (self.showing.clone(), self.turn.clone());
        loop {
            arrivals.mark_unchanged();
            // What came later belongs to the next turn, whose model does not hear of this call.
            let open = turn.borrow_and_update().as_ref().map(|context| context.turn);
            if open != Some(call.turn) {
                return Some(Err("this turn is over: nothing was taken".to_owned()));
            }
            let waiting = match self.waiting().await {
                Ok(waiting) => waiting,
                Err(why) => return Some(Err(why)),
            };
            if withdrawn.is_cancelled() {
                return None;
            }
            if !waiting.is_empty() || self.clock.monotonic() >= until {
                return Some(self.receive(waiting, wanted.max).await);
            }
            tokio::select! {
                () = withdrawn.cancelled() => return None,
                () = self.clock.sleep_until(until) => {}
                Ok(()) = turn.changed() => {}
                // A daemon that ends shows nothing more.
                changed = arrivals.changed() => if changed.is_err() {
                    return Some(Err(Ending.to_string()));
                }
            }
        }
    }

    /// Returns what waits for the agent and is not in its open turn.
    pub(super) async fn waiting(&self) -> Result<Vec<MessageRow>, String> {
        let (store, agent) = (&self.speaker.store, &self.speaker.agent);
        let rows = store.pending(agent, self.clock.now(), PAGE_MAX).await;
        let mut rows = rows.map_err(|error| format!("cannot read the inbox: {error}"))?;
        let context: Option<TurnContext> = self.turn.borrow().clone();
        if let Some(context) = context {
            rows.retain(|row| !context.messages.contains(&row.id));
        }
        Ok(rows)
    }

    async fn receive(&self, mut waiting: Vec<MessageRow>, max: usize) -> Result<String, String> {
        let pending = waiting.len().saturating_sub(max);
        waiting.truncate(max);
        let messages: Vec<MessageId> = waiting.iter().map(|row| row.id).collect();
        if !messages.is_empty() {
            let rows = waiting.clone();
            let read = |heard| Incoming::Read { messages, rows, heard };
            taken(&self.speaker.agent_loop, read).await.map_err(|ending| ending.to_string())?;
        } else {
            // Somebody may watch whether it does; a loop with a full queue needs no such news.
            let _ = self.speaker.agent_loop.try_send(Incoming::Looked);
        }
        let mut given = Vec::new();
        for row in &waiting {
            given.push(self.shown(row).await);
        }
        Ok(json!({"messages": given, "pending": pending}).to_string())
    }

    /// Returns a message as the model gets it; with its question, if it asks one or brings the answer
    /// to one (R2-22).
    pub(super) async fn shown(&self, row: &MessageRow) -> Value {
        let body = row.body.as_str();
        // What others say cannot look like a heading of ours, here as in a prompt.
        let lines = || body.lines().map(escape).collect::<Vec<_>>().join("\n");
        let mut shown = json!({
            "id": row.id.to_string(),
            "from": row.sender,
            "to": to(row),
            "body": if is_ours(row) { body.to_owned() } else { lines() },
            "origin": row.origin.as_str(),
        });
        if let Ok(Some(question)) = self.speaker.store.question_of(row.id).await {
            shown["question"] = told(row, &question);
        }
        shown
    }
}

/// Returns what a message tells of its question: that it is asked, or its answer (R2-22).
fn told(row: &MessageRow, question: &QuestionRow) -> Value {
    let (id, body) = (question.number, question.body.as_str());
    if row.origin == Origin::Answer {
        let answer = question.answer.as_ref().map(|it| it.as_str());
        return json!({"event": "QuestionAnswered", "id": id, "question": body, "answer": answer,
            "answerer": question.answered_by});
    }
    json!({"event": "QuestionAsked", "id": id, "asker": question.agent, "question": body,
        "options": question.options, "multi": question.choose == Choose::Several})
}

/// Returns where a message came to: the room, which is where its answer goes, or the agent alone.
fn to(row: &MessageRow) -> String {
    match row.target.parse() {
        Ok(Target::Channel(room)) => room.to_string(),
        Ok(Target::Nick(_)) | Err(_) => row.agent.to_string(),
    }
}
