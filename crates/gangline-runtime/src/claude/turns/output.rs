//! What the model says and does, as events of the run's owner.

use super::{
    Action, Turns,
    state::{Out, Owner, Run},
};
use crate::{
    AssistantMessage, Block, RuntimeEvent, Usage,
    claude::{
        decode::{Assistant, Limits, Outcome, Retry, SYNTHETIC, Status, Tokens, User},
        turn_result,
    },
};

/// A dollar in millionths.
const MICROS: f64 = 1_000_000.0;

impl Turns {
    pub(super) fn assistant(&mut self, said: Assistant) {
        for block in &said.blocks {
            if let Block::ToolUse { id, .. } = block {
                self.running.begin(id, self.now);
            }
        }
        if said.parent.is_some() {
            // A subagent speaks to the model that called it, not to us.
            return;
        }
        let by_model = said.model != SYNTHETIC;
        if self.run.is_none() {
            if !by_model {
                return;
            }
            self.begin_unasked();
        }
        let Some(run) = &mut self.run else { return };
        if let Some(text) = said.blocks.iter().rev().find_map(text_of) {
            // Of what is kept no more is ever shown.
            run.said = turn_result::one_line(text);
        }
        if !by_model {
            run.error = said.error.or(run.error.take());
            return;
        }
        run.context = Some(context(&said.usage));
        run.model.clone_from(&said.model);
        let content: Vec<Block> = said.blocks.into_iter().map(|block| self.named(block)).collect();
        if !content.is_empty() {
            let message = AssistantMessage { model: said.model, content };
            self.give(Out::Message(message));
        }
    }

    /// Gives tools of the daemon their plain names, and remembers the name of each call.
    fn named(&mut self, block: Block) -> Block {
        match block {
            Block::ToolUse { id, name, input } => {
                let name = self.setup.gate.name(&name).to_owned();
                self.names.insert(id.clone(), name.clone());
                Block::ToolUse { id, name, input }
            }
            Block::Text { .. } | Block::Thinking { .. } => block,
        }
    }

    pub(super) fn user(&mut self, user: User) {
        user.results.iter().for_each(|done| self.running.end(&done.id));
        if user.parent.is_some() {
            return;
        }
        for done in user.results {
            let name = self.names.get(&done.id).cloned().unwrap_or_default();
            self.give(Out::ToolResult {
                id: done.id,
                name,
                is_error: done.is_error,
                content: done.content,
            });
        }
    }

    pub(super) fn usage(&mut self, outcome: &Outcome, run: &Run) {
        let window = outcome.models.get(&run.model).and_then(|it| it.context_window);
        let usage = Usage {
            model: run.model.clone(),
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
            cache_read_tokens: outcome.usage.cache_read_input_tokens,
            cache_write_tokens: outcome.usage.cache_creation_input_tokens,
            cost_micros: self.spent(outcome),
            context_tokens: run.context,
            context_window: window,
        };
        // A run that ended before the model was reached cost nothing and says nothing.
        if run.context.is_some() {
            self.give_to(&run.owner, Out::Usage(usage));
        }
    }

    /// Returns what this run cost. The total is the session's, and of an earlier process's too.
    fn spent(&mut self, outcome: &Outcome) -> Option<u64> {
        let before = self.cost;
        self.cost = outcome.total_cost_usd;
        let since = outcome
            .model_usage_since_last_result
            .as_ref()
            .map(|models| models.values().map(|model| model.cost_usd).sum::<f64>());
        let dollars = since.or_else(|| Some(outcome.total_cost_usd? - before?))?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * MICROS).round() as u64)
    }

    pub(super) fn status(&mut self, status: Status) {
        if status.status.as_deref() == Some("compacting") && !self.compacting {
            self.compacting = true;
            self.tell(RuntimeEvent::Compacting);
        }
        match status.compact_result.as_deref() {
            None => {}
            Some("success") => self.compacted(None),
            Some(other) => {
                let why = status.compact_error.unwrap_or_else(|| other.to_owned());
                self.compacted(Some(turn_result::one_line(&why)));
            }
        }
    }

    /// Tells the end of a compaction, and its begin if the program did not.
    pub(super) fn compacted(&mut self, failed: Option<String>) {
        if !self.compacting {
            self.tell(RuntimeEvent::Compacting);
        }
        self.compacting = false;
        self.tell(RuntimeEvent::Compacted { failed });
        if let Some(Run { owner: Owner::Job(uuid), .. }) = &self.run
            && let Some(job) = self.jobs.iter_mut().find(|job| job.uuid == *uuid)
        {
            job.told = true;
        }
    }

    pub(super) fn retry(&mut self, retry: &Retry) {
        if let Some(run) = &mut self.run {
            run.retry_after = Some(retry.retry_delay_ms.div_ceil(1_000));
        }
        let status = retry.error_status.map_or_else(String::new, |status| format!("{status} "));
        self.notice(format!(
            "the model did not answer ({status}{}); try {} of {} in {} ms",
            turn_result::one_line(&retry.error),
            retry.attempt,
            retry.max_retries,
            retry.retry_delay_ms
        ));
    }

    pub(super) fn limits(&mut self, limits: &Limits) {
        if limits.status != "rejected" {
            return;
        }
        self.limited_until = limits.resets_at;
        let which = limits.rate_limit_type.as_deref().unwrap_or("usage");
        self.out.push(Action::Report(RuntimeEvent::Notice {
            text: format!("the provider's {} limit is reached", turn_result::one_line(which)),
        }));
    }
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text } => Some(text),
        Block::ToolUse { .. } | Block::Thinking { .. } => None,
    }
}

/// How many tokens the call was given: what the conversation held.
fn context(usage: &Tokens) -> u64 {
    usage
        .input_tokens
        .saturating_add(usage.cache_creation_input_tokens)
        .saturating_add(usage.cache_read_input_tokens)
}
