//! Compaction: one call of the model without tools gives a summary, and a record makes it the new
//! beginning of what is sent (C13, R2-08).
//!
//! The conversation is given to the model as one text, so the call is valid whatever the history
//! holds. Nothing changes before the record is durable.

use gangline_os::CancellationToken;

use super::Harness;
use super::transcript::transcript;
use crate::client::accumulate::Step;
use crate::client::error::{ApiError, ApiErrorKind};
use crate::compaction::{CompactError, Compacted, Compaction};
use crate::config::{Config, Level, Thinking};
use crate::event::{Retry, Status};
use crate::history::History;
use crate::models;
use crate::retry::Budget;
use crate::session::Record;
use crate::tool::shorten;
use crate::wire::{Block, Message, Response, Role, Usage, request};

const SYSTEM: &str = include_str!("../../data/summary-system.md");
const REQUEST: &str = include_str!("../../data/summary-request.md");
const RESUMED: &str = include_str!("../../data/resumed.md");
const INSTRUCTIONS: &str = include_str!("../../data/instructions.md");

/// What people are shown while a conversation is being shortened.
const SHORTENING: &str = "the conversation is being shortened";
/// Length of a summary, in tokens.
const SUMMARY_TOKENS: u32 = 8_192;
/// The context of a model that is not in the table, in tokens.
const UNKNOWN_WINDOW: u64 = 200_000;
/// How many bytes of a record are counted as one token: fewer than it has, so that the record fits.
const BYTES_PER_TOKEN: u64 = 2;
/// Longest record that is summed up, in bytes, however much the model could read.
const RECORD_LIMIT: u64 = 1 << 20;
/// How often the record is halved when the API still finds it too long.
const HALVINGS: u32 = 4;
/// How much of people's earlier instructions is kept word for word, in bytes; the newest comes first,
/// and is shortened in the middle only if it alone is longer.
const VERBATIM: usize = 48 << 10;

/// Shortens the conversation. What people have said from the message `at_hand` on is what is being
/// worked on: it is sent again as it was, after the summary.
pub(super) async fn compact(
    harness: &Harness,
    history: &mut History,
    cancel: &CancellationToken,
    at_hand: usize,
) -> Result<Compacted, CompactError> {
    history.close("interrupted: the prompt was given up")?;
    if history.view().len() < 2 {
        return Err(CompactError::Nothing);
    }
    let handler = harness.parts.handler.as_ref();
    handler.on_status(Status::Thinking, SHORTENING);
    handler.on_compaction(&Compaction::Begun);
    let call = Call { harness, cancel, usage: Usage::default() };
    let outcome = replace(call, history, at_hand).await;
    match &outcome {
        Ok(done) => handler.on_compaction(&Compaction::Done(done)),
        Err(error) => handler.on_compaction(&Compaction::Failed(error)),
    }
    outcome
}

async fn replace(
    call: Call<'_>,
    history: &mut History,
    at_hand: usize,
) -> Result<Compacted, CompactError> {
    let done = call.summary(history).await?;
    let before = verbatim(history.instructions().filter(|(message, _)| *message < at_hand));
    let at_hand = history.said_since(at_hand);
    let content = beginning(&done.summary, &before, &at_hand);
    let instructions = before.into_iter().chain(at_hand).collect();
    history.append(Record::Summary { content, instructions, usage: done.usage })?;
    Ok(done)
}

/// Returns the newest instructions that fit, oldest first.
fn verbatim<'a>(instructions: impl DoubleEndedIterator<Item = (usize, &'a str)>) -> Vec<String> {
    let mut room = VERBATIM;
    let mut kept: Vec<String> = Vec::new();
    for (_, text) in instructions.rev() {
        if text.len() > room && !kept.is_empty() {
            break;
        }
        let text = shorten(text.to_owned(), room);
        room = room.saturating_sub(text.len());
        kept.push(text);
    }
    kept.reverse();
    kept
}

/// Returns the user message that a shortened conversation begins with.
fn beginning(summary: &str, before: &[String], at_hand: &[String]) -> Vec<Block> {
    let mut blocks = vec![Block::text(&RESUMED.replace("{summary}", summary))];
    if !before.is_empty() {
        let each = |text: &String| format!("<instruction>\n{text}\n</instruction>");
        let all: Vec<String> = before.iter().map(each).collect();
        blocks.push(Block::text(&INSTRUCTIONS.replace("{instructions}", &all.join("\n"))));
    }
    blocks.extend(at_hand.iter().map(|text| Block::text(text)));
    blocks
}

/// The call that makes a summary, with its repetitions.
struct Call<'a> {
    harness: &'a Harness,
    cancel: &'a CancellationToken,
    usage: Usage,
}

impl Call<'_> {
    async fn summary(mut self, history: &History) -> Result<Compacted, CompactError> {
        let config = config(self.harness);
        let window = models::find(&config.model).map_or(UNKNOWN_WINDOW, |it| it.context_window);
        let limit = window.saturating_mul(BYTES_PER_TOKEN).min(RECORD_LIMIT);
        let mut limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut halvings = 0;
        let response = loop {
            match self.respond(&config, transcript(&history.view(), limit)).await {
                Err(CompactError::Api(error))
                    if error.kind == ApiErrorKind::ContextOverflow && halvings < HALVINGS =>
                {
                    halvings += 1;
                    limit /= 2;
                }
                other => break other?,
            }
        };
        let mut summary = response.text().trim().to_owned();
        if summary.is_empty() || response.stop_reason.as_deref() == Some("refusal") {
            return Err(CompactError::NoSummary);
        }
        if response.stop_reason.as_deref() == Some("max_tokens") {
            summary.push_str("\n[the notes were cut off here]");
        }
        Ok(Compacted { summary, usage: self.usage })
    }

    /// Gets one response, repeating the request as the policy allows.
    async fn respond(&mut self, config: &Config, record: String) -> Result<Response, CompactError> {
        let content = vec![Block::text(&record), Block::text(REQUEST)];
        let body = request(config, &[], &[Message { role: Role::User, content }]);
        let mut budget = Budget::new(config.retry);
        loop {
            let answered = self.cancel.run_until_cancelled(self.attempt(&body)).await;
            let (response, outcome) = answered.ok_or(CompactError::Cancelled)?;
            self.usage.add(&response.usage);
            let Err(error) = outcome else { return Ok(response) };
            let Some((attempt, wait)) = budget.next(&error) else {
                return Err(CompactError::Api(error));
            };
            tracing::warn!(attempt, ?wait, kind = ?error.kind, "the request is repeated");
            let retry = Retry { attempt, error: &error, wait };
            self.harness.parts.handler.on_retry(&retry);
            let waited = self.cancel.run_until_cancelled(tokio::time::sleep(wait)).await;
            waited.ok_or(CompactError::Cancelled)?;
        }
    }

    /// Sends the request once. The response is told as far as it came, also on failure.
    async fn attempt(&self, body: &serde_json::Value) -> (Response, Result<(), ApiError>) {
        let mut stream = match self.harness.parts.client.open(body).await {
            Ok(stream) => stream,
            Err(error) => return (Response::default(), Err(error)),
        };
        let mut blocks = Vec::new();
        loop {
            match stream.next().await {
                Ok(Step::Block(completed)) => blocks.push(completed.block),
                Ok(Step::End(about)) => {
                    stream.drain().await;
                    return (Response { blocks, ..about }, Ok(()));
                }
                Err(error) => return (stream.so_far(), Err(error)),
            }
        }
    }
}

/// Returns the configuration of the call: the same model, no thoughts, room for the summary.
fn config(harness: &Harness) -> Config {
    let config = harness.request_config();
    let thinking = match config.thinking {
        Thinking::Level(_) => Thinking::Level(Level::Off),
        Thinking::Off | Thinking::Adaptive | Thinking::Budget(_) => Thinking::Off,
    };
    let max_tokens = match models::find(&config.model) {
        Some(model) => config.max_tokens.max(SUMMARY_TOKENS).min(model.max_output),
        None => config.max_tokens,
    };
    Config { system_prompt: SYSTEM.to_owned(), thinking, max_tokens, ..config }
}
