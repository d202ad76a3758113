//! One turn: its prompt, what comes of it, and its end.

use gangline_core::usage::TOKENS_MAX;
use serde_json::{Value, json};

use super::{
    Action, Session, late,
    state::{Counted, Sent, Turn, Words},
};
use crate::{
    AssistantMessage, Block, FailureKind, Prompt, RuntimeEvent, TurnResult, Usage,
    acp::{
        calls::{self, News},
        recipe::{Counts, Introduction, Refused, Withdrawn},
        turn_result::{self, Signs},
        update::Patch,
        wire::Refusal,
    },
};

/// A text grows to this and is then told; a program that writes without end needs no more memory.
const WORDS_MAX: usize = 1024 * 1024;
/// The reason of a turn that was ended from outside.
const CANCELLED: &str = "cancelled";
/// How often the model is told of a refusal in one turn; then the turn is over.
const TOLD_MAX: u32 = 8;

impl Session {
    pub(super) fn begin_turn(&mut self, prompt: Prompt) {
        self.outside.prompted(&prompt.text);
        self.turn = Some(Turn::new(prompt.turn));
        self.calls.clear();
        self.running.clear();
        self.out.push(Action::Turn(Some(prompt.turn)));
        let first = std::mem::take(&mut self.introduce);
        let recipe = self.setup.recipe;
        let text = match recipe.introduction {
            Introduction::FirstPrompt if first && !self.setup.introduction.is_empty() => {
                format!("{}\n\n{}", self.setup.introduction, prompt.text)
            }
            Introduction::FirstPrompt | Introduction::Recipe => prompt.text,
        };
        self.send_prompt(&text);
    }

    pub(super) fn send_prompt(&mut self, text: &str) {
        let params = json!({"sessionId": self.id, "prompt": [{"type": "text", "text": text}]});
        self.request(Sent::Prompt, "session/prompt", &params);
    }

    /// Says whether a text is the program's own, and no word of the model.
    pub(super) fn is_remark(&self, text: &str) -> bool {
        let recipe = self.setup.recipe;
        begins(text, recipe.remarks) || begins(text, recipe.errors)
    }

    pub(super) fn said(&mut self, message: Option<String>, text: String) {
        let recipe = self.setup.recipe;
        let begins = |marks: &[&str]| begins(&text, marks);
        if self.turn.is_none() {
            return match self.order {
                Some(_) => self.said_in_order(message, text),
                None => self.said_outside(&text),
            };
        }
        if begins(recipe.remarks) {
            self.flush();
            return self.notice(format!("{}: {}", recipe.name, turn_result::one_line(&text)));
        }
        if begins(recipe.errors) {
            self.flush();
            if let Some(turn) = &mut self.turn {
                turn.error = Some(text);
            }
            return;
        }
        self.accepted();
        // The model goes on, so it was no error, or one that was overcome.
        if let Some(error) = self.turn.as_mut().and_then(|turn| turn.error.take()) {
            self.notice(format!("{}: {}", recipe.name, turn_result::one_line(&error)));
        }
        let same = match self.turn.as_ref().map(|turn| &turn.words) {
            Some(Words::Text { message: known, text }) => {
                *known == message && text.len() < WORDS_MAX
            }
            _ => false,
        };
        if !same {
            self.flush();
        }
        let Some(turn) = &mut self.turn else { return };
        let text = turn.joiner.join(text, self.edges);
        match &mut turn.words {
            Words::Text { text: known, .. } => known.push_str(&text),
            words => *words = Words::Text { message, text },
        }
    }

    /// What is said while the context is shortened.
    fn said_in_order(&mut self, message: Option<String>, text: String) {
        match &mut self.order_words {
            Words::Text { text: known, .. } if known.len() < WORDS_MAX => known.push_str(&text),
            Words::Text { .. } => {}
            words => *words = Words::Text { message, text },
        }
    }

    pub(super) fn thought(&mut self, text: String) {
        if self.turn.is_none() {
            return;
        }
        self.accepted();
        let same = matches!(
            self.turn.as_ref().map(|turn| &turn.words),
            Some(Words::Thought(known)) if known.len() < WORDS_MAX
        );
        if !same {
            self.flush();
        }
        let Some(turn) = &mut self.turn else { return };
        let text = turn.joiner.join(text, self.edges);
        match &mut turn.words {
            Words::Thought(known) => known.push_str(&text),
            words => *words = Words::Thought(text),
        }
    }

    pub(super) fn tool(&mut self, patch: Patch) {
        if self.turn.is_none() {
            return;
        }
        self.accepted();
        self.flush();
        let news = self.calls.update(patch);
        self.report_calls(news);
    }

    pub(super) fn report_calls(&mut self, news: Vec<News>) {
        let Some(turn) = &mut self.turn else { return };
        let turn = turn.id;
        for news in news {
            match news {
                News::Wanted(call) => {
                    let block = Block::ToolUse {
                        name: self.setup.gate.name(&call),
                        input: calls::input(&call),
                        id: call.id,
                    };
                    self.report_block(block);
                }
                News::Over { call, is_error, content, unasked } => {
                    let name = self.setup.gate.name(&call);
                    if let Some(input) = unasked.filter(|_| self.setup.gate.asks_about(&call)) {
                        self.ran_unasked(&name, calls::as_input(&input));
                    }
                    let id = call.id;
                    self.tell(RuntimeEvent::ToolResult { turn, id, name, is_error, content });
                }
            }
        }
    }

    /// A tool that should have been asked about ran without a question: the first one is told.
    fn ran_unasked(&mut self, tool: &str, input: Value) {
        let Some(turn) = self.turn.as_ref().map(|turn| turn.id) else { return };
        if !std::mem::replace(&mut self.unasked, true) {
            self.tell(RuntimeEvent::Unasked { turn, tool: tool.to_owned(), input });
        }
    }

    fn report_block(&mut self, block: Block) {
        let Some(turn) = &mut self.turn else { return };
        turn.busy = true;
        turn.spoke = matches!(block, Block::Text { .. });
        let turn = turn.id;
        let message = AssistantMessage { model: self.model.clone(), content: vec![block] };
        self.tell(RuntimeEvent::Message { turn, message });
    }

    /// Tells the words that have come so far, as one block.
    pub(super) fn flush(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if let (Some(half), Words::Text { text, .. } | Words::Thought(text)) =
            (turn.joiner.end(), &mut turn.words)
        {
            text.push(half);
        }
        match std::mem::take(&mut turn.words) {
            Words::Text { text, .. } if !text.trim().is_empty() => {
                self.report_block(Block::Text { text });
            }
            Words::Thought(thinking) if !thinking.trim().is_empty() => {
                let (busy, spoke) = (turn.busy, turn.spoke);
                self.report_block(Block::Thinking { thinking });
                // A thought alone is no answer.
                if let Some(turn) = &mut self.turn {
                    (turn.busy, turn.spoke) = (busy, spoke);
                }
            }
            Words::None | Words::Text { .. } | Words::Thought(_) => {}
        }
    }

    pub(super) fn accepted(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if !std::mem::replace(&mut turn.accepted, true) {
            let turn = turn.id;
            self.tell(RuntimeEvent::Accepted { turn });
        }
    }

    /// Takes the answer to a prompt. An end that nobody asked for may come from a process that is
    /// being killed: the process behind it says "cancelled" with its last breath.
    pub(super) fn prompt_done(&mut self, outcome: Result<Value, Refusal>) {
        let unasked = self.turn.as_ref().is_some_and(|turn| !turn.asked);
        match outcome {
            Ok(end) if unasked && end["stopReason"] == CANCELLED => {
                self.held = Some(late::HeldEnd { end, hold: late::CANCELLED });
            }
            Ok(end) if unasked => match self.outside.grace(self.setup.late) {
                Some(hold) => self.held = Some(late::HeldEnd { end, hold }),
                None => self.end_turn(Ok(end)),
            },
            outcome => self.end_turn(outcome),
        }
    }

    pub(super) fn end_turn(&mut self, outcome: Result<Value, Refusal>) {
        self.answered_all(outcome.as_ref().is_ok_and(|end| end["stopReason"] != CANCELLED));
        self.flush();
        self.withdraw_asks();
        let Some(turn) = &mut self.turn else { return };
        let id = turn.id;
        let signs = Signs {
            asked: turn.asked,
            busy: turn.busy,
            spoke: turn.spoke,
            error: turn.error.take(),
            login: self.login.clone(),
        };
        let refused = std::mem::take(&mut turn.refused);
        let reason = outcome.as_ref().map(|it| it["stopReason"].as_str().unwrap_or_default());
        let result = turn_result::of(self.setup.recipe, reason, &signs);
        if let Ok(answer) = &outcome {
            self.count(id, answer);
            if answer["stopReason"] == "end_turn" && self.asks_once_more(&signs) {
                return;
            }
        }
        if result == TurnResult::Completed && self.report_refusals(&refused, signs.spoke) {
            return;
        }
        self.spoilt |= self.is_spoilt_by(&result);
        if result == TurnResult::Completed {
            self.accepted();
        }
        self.turn = None;
        self.calls.clear();
        self.running.clear();
        self.out.extend([Action::Turn(None), Action::Free]);
        self.tell(RuntimeEvent::Finished { turn: id, result });
        if std::mem::take(&mut self.spoilt) {
            let name = self.setup.recipe.name;
            self.notice(format!(
                "{name} cannot continue this conversation: a call in it has no result. A new one \
                 begins, which remembers nothing of it"
            ));
            return self.begin_anew();
        }
        self.go_on();
    }

    /// Says whether the provider refuses the conversation for a call without a result.
    fn is_spoilt_by(&self, result: &TurnResult) -> bool {
        match (self.setup.recipe.withdrawn, result) {
            (
                Withdrawn::SpoilsTheSession,
                TurnResult::Failed { kind: FailureKind::Request, why },
            ) => why.to_lowercase().contains("function response"),
            (Withdrawn::SpoilsTheSession | Withdrawn::IsForgotten, _) => false,
        }
    }

    /// Where a refused call ends the prompt, the model is told by another one. So it is where the
    /// program is not known to do so, and the model said nothing after a refusal. Says whether it
    /// is told.
    fn report_refusals(&mut self, refused: &[String], spoke: bool) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let ends = match self.setup.recipe.refused {
            Refused::PromptEnds => true,
            Refused::ModelIsTold => !spoke,
        };
        if !ends || refused.is_empty() || turn.told == TOLD_MAX || turn.asked {
            return false;
        }
        turn.told += 1;
        let why = turn_result::one_line(&refused.join("; "));
        self.send_prompt(&format!(
            "The tool call was refused: {why}. Do not try it again; continue without it, and say so \
             where it matters."
        ));
        true
    }

    /// Tells the tokens of a prompt, as far as the program tells them.
    fn count(&mut self, turn: gangline_core::TurnId, answer: &Value) {
        let (usage, input, output) = match self.setup.recipe.counts {
            Counts::InTheQuota => {
                (&answer["_meta"]["quota"]["token_count"], "input_tokens", "output_tokens")
            }
            Counts::None | Counts::OfThePrompt | Counts::OfTheProcess => {
                (&answer["usage"], "inputTokens", "outputTokens")
            }
        };
        // They are added up here, so what nobody can have used is cut off first.
        let number = |name: &str| usage[name].as_u64().unwrap_or_default().min(TOKENS_MAX);
        let all = Counted {
            input: number(input),
            output: number(output),
            read: number("cachedReadTokens"),
            written: number("cachedWriteTokens"),
            cost_micros: self.context.cost_micros.unwrap_or(self.counted.cost_micros),
        };
        let cost = all.cost_micros.saturating_sub(self.counted.cost_micros);
        let of = match self.setup.recipe.counts {
            Counts::None | Counts::OfThePrompt | Counts::InTheQuota => all,
            Counts::OfTheProcess => Counted {
                input: all.input.saturating_sub(self.counted.input),
                output: all.output.saturating_sub(self.counted.output),
                read: all.read.saturating_sub(self.counted.read),
                written: all.written.saturating_sub(self.counted.written),
                ..all
            },
        };
        if usage.is_object() {
            self.counted = all;
        }
        self.counted.cost_micros = all.cost_micros;
        // Where input and output are the whole, what came from the cache is within the input.
        let whole = usage["totalTokens"].as_u64() == Some(all.input + all.output);
        let cached = if whole { of.read + of.written } else { 0 };
        let told = Usage {
            model: self.model.clone(),
            input_tokens: of.input.saturating_sub(cached),
            output_tokens: of.output,
            cache_read_tokens: of.read,
            cache_write_tokens: of.written,
            cost_micros: self.context.cost_micros.map(|_| cost),
            context_tokens: self.context.used,
            context_window: self.context.size.filter(|size| *size > 0),
        };
        if usage.is_object() || self.context.used.is_some() {
            self.tell(RuntimeEvent::Usage { turn, usage: told });
        }
    }
}

fn begins(text: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| text.starts_with(mark))
}
