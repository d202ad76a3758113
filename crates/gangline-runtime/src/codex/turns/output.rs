//! What the model says and does, and how a turn ends.

use serde_json::json;

use super::{Order, Sent, Turn, Turns};
use crate::{
    AssistantMessage, Block, RuntimeEvent, TurnResult, Usage,
    codex::{
        decode::{Failure, Tokens, TurnDone},
        items::{Item, Tool},
        turn_result::{self, Signs},
        turns::Action,
    },
    program::protocol::Protocol,
};

/// What is said of a tool that was still running at the end of its turn.
const CUT_OFF: &str = "the turn ended before it did";

impl Turns {
    pub(super) fn item_started(&mut self, item: Item) {
        match item {
            Item::Tool(tool) => self.tool_begun(tool),
            Item::Compaction => self.compaction_begun(),
            // What is not complete may be dropped and said again.
            Item::User { .. } | Item::Text(_) | Item::Thinking(_) | Item::Other => {}
        }
    }

    pub(super) fn item_completed(&mut self, item: Item) {
        match item {
            Item::User { client } => self.reached_model(client.as_deref()),
            Item::Text(text) => {
                if !text.trim().is_empty() {
                    self.say(Block::Text { text });
                }
            }
            Item::Thinking(thinking) => {
                if !thinking.trim().is_empty() {
                    self.message(Block::Thinking { thinking });
                }
            }
            Item::Tool(tool) => self.tool_ended(tool),
            Item::Compaction => {
                self.compaction_begun();
                self.compacted(None);
            }
            Item::Other => {}
        }
    }

    /// A text of ours is in the conversation, just before the model is asked.
    fn reached_model(&mut self, client: Option<&str>) {
        let Some(turn) = &mut self.turn else { return };
        let Some(client) = client else { return };
        if client == turn.prompt.uuid {
            return self.accept();
        }
        let place = turn.added.iter().position(|added| added.prompt.uuid == client);
        if let Some(place) = place {
            let uuid = turn.added.remove(place).prompt.uuid;
            let turn = turn.id;
            self.accept();
            self.tell(RuntimeEvent::Steered { turn, uuid });
        }
    }

    fn accept(&mut self) {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.accepted) else { return };
        turn.accepted = true;
        let turn = turn.id;
        self.tell(RuntimeEvent::Accepted { turn });
    }

    /// The model has said or done something.
    fn say(&mut self, block: Block) {
        if let Some(turn) = &mut self.turn {
            turn.active = true;
        }
        self.message(block);
    }

    fn message(&mut self, block: Block) {
        self.accept();
        let Some(turn) = &self.turn else { return };
        let message = AssistantMessage { model: self.model.clone(), content: vec![block] };
        self.out.push(Action::Report(RuntimeEvent::Message { turn: turn.id, message }));
    }

    fn tool_begun(&mut self, tool: Tool) {
        let Some(turn) = &mut self.turn else { return };
        if turn.tools.iter().any(|open| open.id == tool.id) {
            return;
        }
        let Tool { id, name, input, .. } = tool.clone();
        self.running.begin(&id, self.now);
        turn.tools.push(tool);
        self.say(Block::ToolUse { id, name, input });
    }

    fn tool_ended(&mut self, tool: Tool) {
        let open = |turn: &Turn| turn.tools.iter().any(|open| open.id == tool.id);
        if !self.turn.as_ref().is_some_and(open) {
            self.tool_begun(tool.clone());
        }
        let Some(turn) = &mut self.turn else { return };
        turn.tools.retain(|open| open.id != tool.id);
        self.running.end(&tool.id);
        let Tool { id, name, is_error, output: content, .. } = tool;
        let turn = turn.id;
        self.tell(RuntimeEvent::ToolResult { turn, id, name, is_error, content });
    }

    fn compaction_begun(&mut self) {
        if !self.compacting {
            self.compacting = true;
            self.tell(RuntimeEvent::Compacting);
        }
    }

    fn compacted(&mut self, failed: Option<String>) {
        if self.compacting {
            self.compacting = false;
            self.tell(RuntimeEvent::Compacted { failed });
        }
    }

    pub(super) fn tokens(&mut self, tokens: &Tokens) {
        let last = tokens.last;
        let Some(turn) = &self.turn else { return };
        if last.total_tokens == 0 {
            return;
        }
        let cached = last.cached_input_tokens.saturating_add(last.cache_write_input_tokens);
        let usage = Usage {
            model: self.model.clone(),
            input_tokens: last.input_tokens.saturating_sub(cached),
            output_tokens: last.output_tokens,
            cache_read_tokens: last.cached_input_tokens,
            cache_write_tokens: last.cache_write_input_tokens,
            cost_micros: None,
            context_tokens: Some(last.total_tokens),
            context_window: tokens.model_context_window,
        };
        let turn = turn.id;
        self.tell(RuntimeEvent::Usage { turn, usage });
    }

    pub(super) fn retry(&mut self, error: &Failure) {
        if self.busy() {
            let why = turn_result::why(error);
            self.notice(format!("the model did not answer, it is asked again: {why}"));
        }
    }

    /// A turn of the program's is over.
    pub(super) fn completed(&mut self, done: &TurnDone) {
        let ours = self.turn.as_ref().is_some_and(|it| it.remote.as_ref() == Some(&done.id));
        if ours {
            return self.turn_completed(done);
        }
        let of_job = self.job.as_ref().is_some_and(|job| {
            job.order == Order::Compact && job.remote.as_ref().is_none_or(|it| *it == done.id)
        });
        if of_job {
            let failed = match (&*done.status, &done.error) {
                ("completed", _) => None,
                (_, Some(error)) => Some(turn_result::why(error)),
                (status, None) => Some(status.to_owned()),
            };
            self.job_done(failed);
        }
    }

    pub(super) fn job_done(&mut self, failed: Option<String>) {
        self.job = None;
        self.compacted(failed);
    }

    fn turn_completed(&mut self, done: &TurnDone) {
        let Some(turn) = &self.turn else { return };
        let signs =
            Signs { asked: turn.asked, active: turn.active, login: self.setup.login.clone() };
        let asked = turn.asked;
        let result = turn_result::of(done, &signs);
        if matches!(result, TurnResult::NeedsLogin { .. }) {
            self.login_needed();
        }
        if asked {
            // Its shells go on after an interrupt, as work behind its back.
            let params = json!({"threadId": self.thread});
            self.request(Sent::Aside, "thread/backgroundTerminals/clean", &params);
        }
        self.finish(result);
    }

    /// Closes the turn.
    pub(super) fn finish(&mut self, result: TurnResult) {
        let Some(turn) = self.turn.take() else { return };
        if self.job.is_none() {
            self.compacted(Some("its turn ended before".to_owned()));
        }
        for tool in turn.tools {
            self.tell(RuntimeEvent::ToolResult {
                turn: turn.id,
                id: tool.id,
                name: tool.name,
                is_error: true,
                content: CUT_OFF.to_owned(),
            });
        }
        self.asks.clear();
        self.running.clear();
        self.out.push(Action::Free);
        self.tell(RuntimeEvent::Finished { turn: turn.id, result });
    }
}
