//! The same tools for the agent's programs outside of its session: `gangline mcp --nick` with the
//! agent's token. While a turn is open, what they do belongs to it.

use gangline_api::event::{Event, Notice, ToolResult};
use gangline_os::CancellationToken;
use gangline_runtime::{ToolCall, toolserver::OUTSIDE};
use gangline_store::NewEvent;
use serde_json::{Value, json};
use tracing::warn;

use super::{AgentTools, recv::Wanted};
use crate::bus::Ending;

/// How much of a call and of its result is recorded, in characters.
const PREVIEW: usize = 300;

impl AgentTools {
    /// Runs one call, and records it before and after (R2-41). `None` if it was taken back before it
    /// had an effect.
    pub(crate) async fn call_outside(
        &self,
        mut call: ToolCall,
        withdrawn: &CancellationToken,
    ) -> Option<Result<String, String>> {
        let context = self.turn.borrow().clone();
        call.turn = context.as_ref().map_or(OUTSIDE, |context| context.turn);
        let text = format!(
            "a client of the agent calls {}: {}",
            call.name,
            preview(&call.input.to_string())
        );
        self.record(&call, Notice { code: "tool_call".to_owned(), text }.into()).await;
        let outcome = self.run(context.as_ref(), &call, withdrawn).await;
        let outcome = outcome.map(|outcome| outcome.map(|text| with_caller(&call.name, text)));
        let (is_error, text) = match &outcome {
            Some(Ok(text)) => (false, text.as_str()),
            Some(Err(text)) => (true, text.as_str()),
            None => (true, super::TAKEN_BACK),
        };
        let (id, name) = (call.id.clone(), call.name.clone());
        let result = ToolResult { id, name, is_error, preview: preview(text) };
        self.record(&call, result.into()).await;
        outcome
    }

    async fn record(&self, call: &ToolCall, event: Event) {
        let payload = event.encode().ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(payload) = payload else { return };
        let event = NewEvent {
            agent: self.speaker.agent.clone(),
            epoch: None,
            turn: Some(call.turn).filter(|turn| *turn != OUTSIDE),
            kind: event.kind().to_owned(),
            payload: self.speaker.redactor.redact(&payload),
        };
        match self.speaker.store.append(vec![event]).await {
            Ok(_) => self.speaker.committed.send_modify(|count| *count += 1),
            Err(error) => warn!(%error, tool = call.name, "a call is not recorded"),
        }
    }

    /// Lists what waits for the agent, once something does or the time is over. It takes nothing:
    /// without a turn nobody would answer it.
    pub(super) async fn list(
        &self,
        call: &ToolCall,
        withdrawn: &CancellationToken,
    ) -> Option<Result<String, String>> {
        let wanted = match Wanted::read(&call.input) {
            Ok(wanted) => wanted,
            Err(why) => return Some(Err(why)),
        };
        let until = self.clock.monotonic() + wanted.wait;
        let mut arrivals = self.showing.clone();
        loop {
            arrivals.mark_unchanged();
            let mut waiting = match self.waiting().await {
                Ok(waiting) => waiting,
                Err(why) => return Some(Err(why)),
            };
            if !waiting.is_empty() || self.clock.monotonic() >= until {
                let pending = waiting.len();
                waiting.truncate(wanted.max);
                let mut listed = Vec::new();
                for row in &waiting {
                    listed.push(self.shown(row).await);
                }
                return Some(Ok(json!({"messages": listed, "pending": pending}).to_string()));
            }
            tokio::select! {
                () = withdrawn.cancelled() => return None,
                () = self.clock.sleep_until(until) => {}
                changed = arrivals.changed() => if changed.is_err() {
                    return Some(Err(Ending.to_string()));
                }
            }
        }
    }
}

/// Adds to `whoami` who asks.
fn with_caller(tool: &str, text: String) -> String {
    if tool != "whoami" {
        return text;
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(mut me) => {
            me["caller"] = json!("agent");
            me.to_string()
        }
        Err(_) => text,
    }
}

fn preview(text: &str) -> String {
    text.chars().take(PREVIEW).collect()
}
