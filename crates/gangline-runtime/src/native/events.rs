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
    Block as HarnessBlock, Compaction, EventHandler, Response, Retry, ToolCall, ToolResult, Usage,
    models,
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
    /// The turn that was open last: what is spent between two turns is spent for it.
    last: Option<TurnId>,
    queue: VecDeque<RuntimeEvent>,
    names: HashMap<String, String>,
    accepted: bool,
    /// Ids of the prompts that were added to the turn and have not reached the model, in order.
    steers: VecDeque<String>,
    /// The model in force, an id or an alias.
    model: String,
}

impl Events {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(&self, turn: TurnId) {
        let mut inner = self.lock();
        inner.turn = Some(turn);
        inner.last = Some(turn);
        inner.accepted = false;
        inner.names.clear();
        inner.steers.clear();
    }

    pub(super) fn close(&self) {
        self.lock().turn = None;
    }

    pub(super) fn turn(&self) -> Option<TurnId> {
        self.lock().turn
    }

    /// Says which model is asked from now on.
    pub(super) fn model_is(&self, model: &str) {
        model.clone_into(&mut self.lock().model);
    }

    /// A prompt was added to the turn; told as steered once the model has it.
    pub(super) fn steered(&self, uuid: String) {
        self.lock().steers.push_back(uuid);
    }

    /// Takes an event that belongs to no turn.
    pub(super) fn push_plain(&self, event: RuntimeEvent) {
        self.lock().queue.push_back(event);
        self.pushed.notify_one();
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

    /// A text of the user is in the conversation: the prompt first, then what was added to it.
    fn heard(&self) {
        let mut inner = self.lock();
        let Some(turn) = inner.turn else { return };
        let event = match std::mem::replace(&mut inner.accepted, true) {
            false => RuntimeEvent::Accepted { turn },
            true => match inner.steers.pop_front() {
                Some(uuid) => RuntimeEvent::Steered { turn, uuid },
                None => return,
            },
        };
        inner.queue.push_back(event);
        drop(inner);
        self.pushed.notify_one();
    }

    /// Returns tokens in the daemon's form.
    fn usage(&self, usage: &Usage, context_tokens: Option<u64>) -> RuntimeUsage {
        let model = self.lock().model.clone();
        RuntimeUsage {
            context_window: models::find(&model).map(|model| model.context_window),
            model: models::resolve(&model).to_owned(),
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_input_tokens,
            cache_write_tokens: usage.cache_creation_input_tokens,
            cost_micros: None,
            context_tokens,
        }
    }
}

impl EventHandler for Events {
    fn on_user(&self, _content: &str) {
        self.heard();
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
        // The answer is a part of the conversation from now on.
        let context = usage.context_tokens().saturating_add(usage.output_tokens);
        let usage = self.usage(usage, Some(context));
        self.push(|turn| RuntimeEvent::Usage { turn, usage });
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
        self.push_plain(RuntimeEvent::Notice { text });
    }

    fn on_compaction(&self, step: &Compaction<'_>) {
        match step {
            Compaction::Begun => self.push_plain(RuntimeEvent::Compacting),
            Compaction::Done(done) => {
                let usage = self.usage(&done.usage, None);
                let last = self.lock().last;
                if let Some(turn) = last {
                    self.push_plain(RuntimeEvent::Usage { turn, usage });
                }
                self.push_plain(RuntimeEvent::Compacted { failed: None });
            }
            Compaction::Failed(error) => {
                let failed = Some(with_causes(error));
                self.push_plain(RuntimeEvent::Compacted { failed });
            }
        }
    }
}

/// Returns an error and its causes as one line.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        text.push_str(": ");
        text.push_str(&below.to_string());
        cause = below.source();
    }
    text
}

/// Returns the block in R0-18's shape; what has no such shape stays in the session only.
fn normalised(block: &HarnessBlock) -> Option<Block> {
    let value = serde_json::to_value(block).ok()?;
    serde_json::from_value(value).ok()
}
