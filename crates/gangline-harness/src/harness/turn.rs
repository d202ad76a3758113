//! The loop of one prompt: request, blocks, tools, again (R4-10, R4-16 … R4-18).
//!
//! Between a step's results and the next request the conversation takes what people have said
//! meanwhile, and if it no longer fits the model it is shortened, once in a prompt (R2-08). Each block and result is in the log before the handler hears of it. A request is repeated only
//! while none of its blocks was completed, so that no handler sees a block that history lacks.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::time::Duration;

use futures::FutureExt as _;
use gangline_os::CancellationToken;

use super::steer::Waiting;
use super::{Finished, Harness, PromptError, StopReason, compact};
use crate::authorize::Authorization;
use crate::client::accumulate::{Completed, Step};
use crate::client::error::{ApiError, ApiErrorKind};
use crate::compaction::CompactError;
use crate::config::Overflow;
use crate::event::{EventHandler, Retry, Status};
use crate::history::{CONTINUE, History};
use crate::retry::Budget;
use crate::session::{Record, SessionError};
use crate::tool::{Tool, ToolCall, ToolContext, ToolError, ToolResult, shorten};
use crate::wire::{Block, Message, Response, Role, Usage, request};

/// Longest tool result that is sent to the model, in bytes.
const RESULT_LIMIT: usize = 256 << 10;

/// Runs one prompt.
pub(super) async fn run(
    harness: &Harness,
    history: &mut History,
    cancel: &CancellationToken,
    content: &str,
) -> Result<Finished, PromptError> {
    let handler = harness.parts.handler.as_ref();
    let mut turn = Turn {
        harness,
        handler,
        history,
        cancel,
        usage: Usage::default(),
        last: Response::default(),
        before_last: String::new(),
        begin: 0,
        continued: 0,
        compacted: false,
    };
    let outcome = turn.prompt(content).await;
    let closed = turn.history.close(&unfinished(&outcome));
    let finished = outcome?;
    closed?;
    Ok(finished)
}

struct Turn<'a> {
    harness: &'a Harness,
    handler: &'a dyn EventHandler,
    history: &'a mut History,
    cancel: &'a CancellationToken,
    usage: Usage,
    last: Response,
    /// Text of the responses that the last one continues.
    before_last: String,
    /// Number of the prompt's own message.
    begin: usize,
    /// How often a response was asked to go on.
    continued: u32,
    /// The conversation was shortened in this prompt.
    compacted: bool,
}

/// What is to be done after a response.
enum Next {
    /// The tools run, if any were called, and the model is asked again.
    Tools(Vec<Called>),
    /// The response was cut off: the model is asked to go on with it.
    Continue,
    /// The loop ends.
    End(StopReason),
}

/// A tool call of the response, and why its input could not be read.
struct Called {
    call: ToolCall,
    bad_input: Option<String>,
}

/// Why one request gave no whole response.
enum Failure {
    Cancelled,
    Api { error: ApiError, blocks: usize },
    Session(SessionError),
}

impl Turn<'_> {
    async fn prompt(&mut self, content: &str) -> Result<Finished, PromptError> {
        self.history.close("interrupted: the prompt was given up")?;
        self.begin = self.history.messages().len();
        self.history.append(Record::User { content: vec![Block::text(content)] })?;
        self.handler.on_user(content);
        for _ in 0..self.harness.parts.config.max_turns {
            self.take_steers()?;
            self.handler.on_status(Status::Thinking, "");
            match self.step().await? {
                Next::Tools(calls) => {
                    self.before_last.clear();
                    self.run_calls(calls).await?;
                }
                Next::Continue => {
                    self.before_last.push_str(&self.last.text());
                    self.history.append(Record::User { content: vec![Block::text(CONTINUE)] })?;
                }
                Next::End(stop) => return Ok(self.finished(stop)),
            }
        }
        Ok(self.finished(StopReason::MaxTurns))
    }

    /// Puts what people have said meanwhile into the conversation, unless the last word is the
    /// model's, who then has to go on with it first.
    fn take_steers(&mut self) -> Result<(), SessionError> {
        let ends_with_user = |message: &Message| message.role == Role::User;
        if !self.history.messages().last().is_some_and(ends_with_user) {
            return Ok(());
        }
        while let Some(waiting) = self.next_steer() {
            let content = vec![Block::text(&waiting.text)];
            self.history.append(Record::User { content })?;
            self.handler.on_user(&waiting.text);
            waiting.confirm();
        }
        Ok(())
    }

    fn next_steer(&self) -> Option<Waiting> {
        self.harness.current().as_mut().and_then(|running| running.steers.pop())
    }

    fn finished(&self, stop: StopReason) -> Finished {
        Finished {
            stop,
            usage: self.usage,
            context_tokens: self.last.usage.context_tokens(),
            final_text: format!("{}{}", self.before_last, self.last.text()),
        }
    }

    /// Gets a response and judges it. If the conversation does not fit the model, it is shortened
    /// and the request made once more.
    async fn step(&mut self) -> Result<Next, PromptError> {
        loop {
            let next = match self.respond().await {
                Ok(calls) => self.judge(calls),
                Err(error) => Err(error),
            };
            match next {
                Err(PromptError::Api(error)) if error.kind == ApiErrorKind::ContextOverflow => {
                    self.shorten(error).await?;
                    self.handler.on_status(Status::Thinking, "");
                }
                other => return other,
            }
        }
    }

    /// Shortens the conversation because of this error; the error itself if that is not possible.
    async fn shorten(&mut self, overflow: ApiError) -> Result<(), PromptError> {
        let asked = self.harness.parts.config.overflow;
        if std::mem::replace(&mut self.compacted, true) || asked == Overflow::Fail {
            return Err(PromptError::Api(overflow));
        }
        self.history.close("not executed: the response reached the end of the context window")?;
        match compact::compact(self.harness, self.history, self.cancel, self.begin).await {
            Ok(done) => {
                self.usage.add(&done.usage);
                Ok(())
            }
            Err(CompactError::Cancelled) => Err(PromptError::Cancelled),
            Err(CompactError::Session(error)) => Err(error.into()),
            Err(
                CompactError::Busy
                | CompactError::Nothing
                | CompactError::Api(_)
                | CompactError::NoSummary,
            ) => Err(PromptError::Api(overflow)),
        }
    }

    /// Returns what follows from the last response, of which these are the calls.
    fn judge(&mut self, calls: Vec<Called>) -> Result<Next, PromptError> {
        let stop = match self.last.stop_reason.as_deref().unwrap_or_default() {
            "refusal" => {
                // What was refused once is refused in every request that holds it.
                self.history.close("not executed: the model declined")?;
                self.history.append(Record::Refused { from: self.begin })?;
                StopReason::Refusal
            }
            "model_context_window_exceeded" => {
                let text = "the response reached the end of the context window";
                let error = ApiError::new(ApiErrorKind::ContextOverflow, text);
                return Err(PromptError::Api(error));
            }
            "pause_turn" => return Ok(Next::Tools(calls)),
            _ if !calls.is_empty() => return Ok(Next::Tools(calls)),
            "max_tokens" if self.continued < self.harness.parts.config.continuations => {
                self.continued += 1;
                return Ok(Next::Continue);
            }
            "max_tokens" => StopReason::MaxTokens,
            "end_turn" | "stop_sequence" | "tool_use" => StopReason::EndTurn,
            other => StopReason::Other(other.to_owned()),
        };
        Ok(Next::End(stop))
    }

    /// Gets one response, repeating the request as the policy allows.
    async fn respond(&mut self) -> Result<Vec<Called>, PromptError> {
        let mut budget = Budget::new(self.harness.parts.config.retry);
        loop {
            let error = match self.attempt().await {
                Ok(calls) => return Ok(calls),
                Err(Failure::Cancelled) => return Err(PromptError::Cancelled),
                Err(Failure::Session(error)) => return Err(error.into()),
                Err(Failure::Api { error, blocks: 0 })
                    if error.kind == ApiErrorKind::StaleThoughts
                        && self.history.sends_thoughts() =>
                {
                    tracing::warn!(%error, "earlier thoughts are left out from now on");
                    self.history.append(Record::ThoughtsDropped)?;
                    continue;
                }
                Err(Failure::Api { error, blocks: 0 }) => error,
                Err(Failure::Api { error, .. }) => return Err(PromptError::Api(error)),
            };
            let Some((attempt, wait)) = budget.next(&error) else {
                return Err(PromptError::Api(error));
            };
            tracing::warn!(attempt, ?wait, kind = ?error.kind, "the request is repeated");
            self.handler.on_retry(&Retry { attempt, error: &error, wait });
            if self.sleep(wait).await.is_none() {
                return Err(PromptError::Cancelled);
            }
        }
    }

    async fn sleep(&self, wait: Duration) -> Option<()> {
        self.cancel.run_until_cancelled(tokio::time::sleep(wait)).await
    }

    async fn attempt(&mut self) -> Result<Vec<Called>, Failure> {
        let parts = &self.harness.parts;
        let config = self.harness.request_config();
        let view = self.history.view();
        let body = request(&config, parts.declared(), view.iter().map(AsRef::as_ref));
        drop(view);
        let opened = self.cancel.run_until_cancelled(parts.client.open(&body)).await;
        let mut stream = match opened {
            None => return Err(Failure::Cancelled),
            Some(Err(error)) => return Err(Failure::Api { error, blocks: 0 }),
            Some(Ok(stream)) => stream,
        };
        let mut blocks = Vec::new();
        let mut calls = Vec::new();
        let failure = loop {
            match self.cancel.run_until_cancelled(stream.next()).await {
                None => break Failure::Cancelled,
                Some(Err(error)) => break Failure::Api { error, blocks: blocks.len() },
                Some(Ok(Step::Block(completed))) => {
                    blocks.push(completed.block.clone());
                    calls.extend(self.take_block(completed)?);
                }
                Some(Ok(Step::End(about))) => {
                    self.end_response(Response { blocks, ..about })?;
                    stream.drain().await;
                    return Ok(calls);
                }
            }
        };
        let cut = Response { blocks, ..stream.so_far() };
        if cut.blocks.is_empty() {
            self.count(&cut.usage);
        } else {
            self.end_response(cut)?;
        }
        Err(failure)
    }

    /// Records a complete block and tells the handler of it.
    fn take_block(&mut self, completed: Completed) -> Result<Option<Called>, SessionError> {
        let Completed { block, bad_input } = completed;
        self.history.append(Record::Block { block: block.clone() })?;
        if let Some(text) = block.as_text() {
            self.handler.on_text(text);
        } else if let Some(thought) = block.as_thinking() {
            self.handler.on_reasoning(thought);
        } else if let Some(call) = block.as_tool_call() {
            self.handler.on_tool_call(&call);
            return Ok(Some(Called { call, bad_input }));
        }
        Ok(None)
    }

    fn end_response(&mut self, response: Response) -> Result<(), SessionError> {
        let (stop_reason, usage) = (response.stop_reason.clone(), response.usage);
        self.history.append(Record::End { stop_reason, usage })?;
        self.count(&response.usage);
        self.handler.on_assistant_message(&response);
        self.last = response;
        Ok(())
    }

    fn count(&mut self, usage: &Usage) {
        if *usage != Usage::default() {
            self.usage.add(usage);
            self.handler.on_usage(usage);
        }
    }

    /// Runs the calls in order; the first error ends the row (R4-17, C26).
    async fn run_calls(&mut self, calls: Vec<Called>) -> Result<(), PromptError> {
        for called in calls {
            if self.cancel.is_cancelled() {
                return Err(PromptError::Cancelled);
            }
            self.handler.on_status(Status::RunningTool, &called.call.name);
            let result = match self.run_call(&called).await {
                Ok(text) => (shorten(text, RESULT_LIMIT), false),
                Err(error) => (shorten(error.to_string(), RESULT_LIMIT), true),
            };
            let (content, is_error) = result;
            let result = ToolResult { id: called.call.id, content, is_error };
            self.history.append(Record::Result { block: Block::tool_result(&result) })?;
            self.handler.on_tool_result(&result);
            if is_error && !self.cancel.is_cancelled() {
                self.history.close("not executed: earlier tool failed")?;
                break;
            }
        }
        match self.cancel.is_cancelled() {
            true => Err(PromptError::Cancelled),
            false => Ok(()),
        }
    }

    async fn run_call(&self, called: &Called) -> Result<String, ToolError> {
        let Called { call, bad_input } = called;
        let tools = &self.harness.parts.tools;
        let Some(tool) = tools.iter().find(|tool| tool.name() == call.name) else {
            return Err(ToolError::failed(format!("there is no tool named `{}`", call.name)));
        };
        if let Some(reason) = bad_input {
            return Err(ToolError::Input(reason.clone()));
        }
        let mut judged = None;
        if let Some(authorizer) = &self.harness.authorizer {
            let asked = self.cancel.run_until_cancelled(authorizer.authorize(call)).await;
            match asked {
                None => return Err(ToolError::Cancelled),
                Some(Authorization::Deny { reason }) => return Err(ToolError::Failed(reason)),
                Some(Authorization::Allow) => {}
                Some(Authorization::AllowAt(path)) => judged = Some(path),
            }
        }
        self.execute(tool.as_ref(), call, judged).await
    }

    /// Runs a tool. On cancel it has a grace to end by itself, then its future is dropped.
    async fn execute(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        judged: Option<PathBuf>,
    ) -> Result<String, ToolError> {
        let config = &self.harness.parts.config;
        let ctx = ToolContext {
            cwd: config.cwd.clone(),
            judged,
            closed: config.closed.clone(),
            cancel: self.cancel.clone(),
        };
        let running = AssertUnwindSafe(tool.execute(&ctx, call.input.clone())).catch_unwind();
        let mut running = std::pin::pin!(running);
        let ended = match self.cancel.run_until_cancelled(&mut running).await {
            Some(ended) => ended,
            None => match tokio::time::timeout(config.limits.tool_grace, running).await {
                Ok(ended) => ended,
                Err(_elapsed) => return Err(ToolError::Cancelled),
            },
        };
        ended.unwrap_or_else(|_| Err(ToolError::failed("the tool panicked")))
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

/// Returns what is told to the model about calls that were left open.
fn unfinished(outcome: &Result<Finished, PromptError>) -> String {
    match outcome {
        Ok(_) => "not executed: the response ended".to_owned(),
        Err(PromptError::Cancelled) => "not executed: cancelled".to_owned(),
        Err(error) => format!("not executed: {error}"),
    }
}

/// Returns what is shown to people when the prompt has ended.
pub(super) fn idle_message(harness: &Harness, outcome: &Result<Finished, PromptError>) -> String {
    match outcome {
        Ok(finished) => match &finished.stop {
            StopReason::EndTurn => String::new(),
            StopReason::MaxTurns => {
                format!("max turns ({}) reached", harness.parts.config.max_turns)
            }
            StopReason::MaxTokens => "the response reached max_tokens".to_owned(),
            StopReason::Refusal => "the model declined".to_owned(),
            StopReason::Other(reason) => format!("the model stopped: {reason}"),
        },
        Err(PromptError::Api(error)) => error.to_string(),
        Err(error) => error.to_string(),
    }
}
