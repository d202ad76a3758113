//! From the loop's synchronous callbacks to the daemon's bounded channel, in order.
//!
//! The loop must not block in a callback, so events wait here. What can wait is bounded by one
//! response of the model: before each tool runs, the worker has emptied this queue.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use gangline_core::TurnId;
use gangline_harness::{
    Block as HarnessBlock, EventHandler, Response, Retry, ToolCall, ToolResult, Usage,
};
use tokio::sync::Notify;

use crate::{AssistantMessage, Block, RuntimeEvent, Usage as RuntimeUsage};

/// What the callbacks and the worker share; each lock is held for a push or a pop.
#[derive(Default)]
pub(super) struct Events {
    inner: Mutex<Inner>,
    pushed: Notify,
    taken: Notify,
}

#[derive(Default)]
struct Inner {
    turn: Option<TurnId>,
    queue: VecDeque<RuntimeEvent>,
    names: HashMap<String, String>,
    accepted: bool,
}

impl Events {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(&self, turn: TurnId) {
        let mut inner = self.lock();
        inner.turn = Some(turn);
        inner.accepted = false;
        inner.names.clear();
    }

    pub(super) fn close(&self) {
        self.lock().turn = None;
    }

    pub(super) fn turn(&self) -> Option<TurnId> {
        self.lock().turn
    }

    pub(super) fn push(&self, make: impl FnOnce(TurnId) -> RuntimeEvent) {
        let mut inner = self.lock();
        if let Some(turn) = inner.turn {
            inner.queue.push_back(make(turn));
            drop(inner);
            self.pushed.notify_one();
        }
    }

    pub(super) fn pop(&self) -> Option<RuntimeEvent> {
        let event = self.lock().queue.pop_front();
        if event.is_some() {
            self.taken.notify_waiters();
        }
        event
    }

    /// Returns once something waits. Cancel-safe: takes nothing.
    pub(super) async fn waiting(&self) {
        loop {
            let pushed = self.pushed.notified();
            if !self.lock().queue.is_empty() {
                return;
            }
            pushed.await;
        }
    }

    /// Returns once nothing waits. Cancel-safe: changes nothing.
    pub(super) async fn emptied(&self) {
        loop {
            let taken = self.taken.notified();
            if self.lock().queue.is_empty() {
                return;
            }
            taken.await;
        }
    }

    fn first_sign(&self) {
        let mut inner = self.lock();
        if !inner.accepted
            && let Some(turn) = inner.turn
        {
            inner.accepted = true;
            inner.queue.push_back(RuntimeEvent::Accepted { turn });
            drop(inner);
            self.pushed.notify_one();
        }
    }
}

impl EventHandler for Events {
    fn on_user(&self, _content: &str) {
        self.first_sign();
    }

    fn on_tool_call(&self, call: &ToolCall) {
        self.lock().names.insert(call.id.clone(), call.name.clone());
    }

    fn on_tool_result(&self, result: &ToolResult) {
        let name = self.lock().names.get(&result.id).cloned().unwrap_or_default();
        self.push(|turn| RuntimeEvent::ToolResult {
            turn,
            id: result.id.clone(),
            name,
            is_error: result.is_error,
            content: result.content.clone(),
        });
    }

    fn on_usage(&self, usage: &Usage) {
        self.push(|turn| RuntimeEvent::Usage {
            turn,
            usage: RuntimeUsage {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cache_read_tokens: usage.cache_read_input_tokens,
                cache_write_tokens: usage.cache_creation_input_tokens,
                context_tokens: Some(usage.context_tokens()),
                ..RuntimeUsage::default()
            },
        });
    }

    fn on_assistant_message(&self, response: &Response) {
        let content: Vec<Block> = response.blocks.iter().filter_map(normalised).collect();
        self.push(|turn| RuntimeEvent::Message {
            turn,
            message: AssistantMessage { model: response.model.clone(), content },
        });
    }

    fn on_retry(&self, retry: &Retry<'_>) {
        let text = format!(
            "the model did not answer ({}); try {} in {:?}",
            retry.error, retry.attempt, retry.wait
        );
        self.push(|_| RuntimeEvent::Notice { text });
    }
}

/// Returns the block in R0-18's shape; what has no such shape stays in the session only.
fn normalised(block: &HarnessBlock) -> Option<Block> {
    let value = serde_json::to_value(block).ok()?;
    serde_json::from_value(value).ok()
}
