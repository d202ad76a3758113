//! The task that owns the toy's process: lines and commands in, events out.

use std::time::Duration;

use gangline_core::{
    TurnId,
    permission::{self, Permissions, Policy},
};
use gangline_os::{
    lines,
    process::{Child, ChildStdin, ChildStdout, KillPolicy},
};
use gangline_runtime::{
    Answer, ApprovalAsk, ApprovalReply, AssistantMessage, Block, Command, FailureKind, Prompt,
    RuntimeEvent, SessionId, StartOptions, TurnResult, Usage, session::SessionPort,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

const KILL_POLICY: KillPolicy =
    KillPolicy { term_after: Duration::from_secs(2), kill_after: Duration::from_secs(2) };
const LINE_MAX: usize = 16 * 1024 * 1024;

/// What the program says.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum FromChild {
    Ready { session: String },
    Accepted,
    Said { model: String, thinking: String, text: String, calls: Vec<Call>, usage: Tokens },
    Ask { id: String, tool: String, input: Value },
    Result { id: String, name: String, output: String, failed: bool },
    Done,
    Interrupted,
    Failed { status: u16, code: String, why: String, retry_after: Option<u64> },
}

#[derive(Deserialize)]
struct Call {
    id: String,
    name: String,
    input: Value,
}

#[derive(Deserialize)]
struct Tokens {
    input: u64,
    output: u64,
}

pub(super) struct Worker {
    child: Child,
    lines: Option<lines::LineReader<ChildStdout>>,
    stdin: Option<ChildStdin>,
    port: SessionPort,
    policy: Policy,
    ready: bool,
    /// The open turn.
    turn: Option<TurnId>,
    /// A prompt that came before the program was ready.
    early: Option<Prompt>,
}

enum Step {
    Line(Option<lines::Line>),
    Command(Option<Command>),
}

impl Worker {
    pub(super) fn new(options: &StartOptions, mut child: Child, port: SessionPort) -> Self {
        let policy = match options.permissions {
            Permissions::Ask => Policy::new(Permissions::Ask),
            Permissions::Allowlist => {
                Policy::of_agent(Permissions::Allowlist, &options.allowed_tools, [])
            }
            Permissions::Bypass => Policy::new(Permissions::Bypass),
        };
        port.child(Some(child.pid()));
        let lines = child.take_stdout().map(|out| lines::LineReader::new(out, LINE_MAX));
        let stdin = child.take_stdin();
        let (ready, turn, early) = (false, None, None);
        Self { child, lines, stdin, port, policy, ready, turn, early }
    }

    /// Runs until the program is gone or its end is asked for; its exit is told last.
    pub(super) async fn run(mut self) {
        let code = loop {
            let step = tokio::select! {
                line = next(&mut self.lines) => Step::Line(line),
                command = self.port.next() => Step::Command(command),
            };
            match step {
                Step::Line(Some(lines::Line::Text(text))) => self.line(&text).await,
                Step::Line(Some(lines::Line::Oversize { .. })) => {}
                Step::Line(None) => {
                    let exit = self.child.wait().await.unwrap_or_default();
                    self.end().await;
                    break exit.code.unwrap_or(-1);
                }
                Step::Command(Some(Command::Stop(_)) | None) => {
                    self.end().await;
                    break 0;
                }
                Step::Command(Some(command)) => self.obey(command).await,
            }
        };
        self.port.tell(RuntimeEvent::Exited { code }).await;
    }

    async fn end(&mut self) {
        self.stdin = None;
        self.child.end(&KILL_POLICY).await;
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Prompt(prompt) if !self.ready => self.early = Some(prompt),
            Command::Prompt(prompt) => self.prompt(prompt).await,
            Command::Interrupt if self.early.is_some() => {
                let prompt = self.early.take();
                self.turn = prompt.map(|prompt| prompt.turn);
                self.finish(TurnResult::Interrupted).await;
            }
            Command::Interrupt if self.turn.is_some() => {
                self.write(json!({"interrupt": true})).await
            }
            Command::Decide(ApprovalReply { answer: Answer::Allow, .. }) => {
                self.answer(true, "").await
            }
            Command::Decide(ApprovalReply { answer: Answer::Deny { reason }, .. }) => {
                self.answer(false, &reason).await;
            }
            // What the toy cannot do is refused before it gets here.
            Command::Interrupt
            | Command::Adopt(_)
            | Command::Steer(_)
            | Command::SetModel(_)
            | Command::SetEffort(_)
            | Command::Compact
            | Command::Clear
            | Command::Stop(_) => {}
        }
    }

    async fn prompt(&mut self, prompt: Prompt) {
        self.turn = Some(prompt.turn);
        self.write(json!({ "prompt": prompt.text })).await;
    }

    async fn answer(&mut self, allow: bool, why: &str) {
        self.write(json!({ "decide": { "allow": allow, "why": why } })).await;
    }

    async fn line(&mut self, text: &str) {
        let Ok(said) = serde_json::from_str::<FromChild>(text) else {
            tracing::debug!("the toy said something that nobody knows");
            return;
        };
        match (said, self.turn) {
            (FromChild::Ready { session }, _) => self.ready(SessionId(session)).await,
            (FromChild::Accepted, Some(turn)) => {
                self.port.tell(RuntimeEvent::Accepted { turn }).await
            }
            (FromChild::Said { model, thinking, text, calls, usage }, Some(turn)) => {
                let message = AssistantMessage { model, content: blocks(thinking, text, calls) };
                let usage = Usage {
                    input_tokens: usage.input,
                    output_tokens: usage.output,
                    ..Usage::default()
                };
                self.port.tell(RuntimeEvent::Message { turn, message }).await;
                self.port.tell(RuntimeEvent::Usage { turn, usage }).await;
            }
            (FromChild::Ask { id, tool, input }, Some(turn)) => match self.policy.permit(&tool) {
                permission::Permit::Allow => self.answer(true, "").await,
                permission::Permit::Deny(why) => self.answer(false, &why).await,
                permission::Permit::Ask => {
                    let ask = ApprovalAsk {
                        request: id,
                        tool,
                        input,
                        presumed: false,
                        files: Vec::new(),
                    };
                    self.port.tell(RuntimeEvent::ApprovalAsked { turn, ask }).await;
                }
            },
            (FromChild::Result { id, name, output, failed }, Some(turn)) => {
                let (is_error, content) = (failed, output);
                self.port
                    .tell(RuntimeEvent::ToolResult { turn, id, name, is_error, content })
                    .await;
            }
            (FromChild::Done, Some(_)) => self.finish(TurnResult::Completed).await,
            (FromChild::Interrupted, Some(_)) => self.finish(TurnResult::Interrupted).await,
            (FromChild::Failed { status, code, why, retry_after }, Some(_)) => {
                self.finish(failure(status, &code, why, retry_after)).await;
            }
            (_, None) => tracing::debug!("the toy said something without a turn"),
        }
    }

    async fn ready(&mut self, session: SessionId) {
        self.ready = true;
        self.port.tell(RuntimeEvent::Ready { session }).await;
        if let Some(prompt) = self.early.take() {
            self.prompt(prompt).await;
        }
    }

    async fn finish(&mut self, result: TurnResult) {
        let Some(turn) = self.turn.take() else { return };
        self.port.free();
        self.port.tell(RuntimeEvent::Finished { turn, result }).await;
    }

    async fn write(&mut self, line: Value) {
        if let Some(stdin) = &mut self.stdin {
            // A program that is gone shows it by its exit.
            let _ = stdin.write_all(format!("{line}\n").as_bytes()).await;
        }
    }
}

/// Returns the next line; `None` when the output is closed. Cancel-safe: yes.
async fn next(lines: &mut Option<lines::LineReader<ChildStdout>>) -> Option<lines::Line> {
    lines.as_mut()?.next().await.ok().flatten()
}

fn blocks(thinking: String, text: String, calls: Vec<Call>) -> Vec<Block> {
    let thinking = (!thinking.is_empty()).then_some(Block::Thinking { thinking });
    let text = (!text.is_empty()).then_some(Block::Text { text });
    let calls =
        calls.into_iter().map(|Call { id, name, input }| Block::ToolUse { id, name, input });
    thinking.into_iter().chain(text).chain(calls).collect()
}

fn failure(status: u16, code: &str, why: String, retry_after: Option<u64>) -> TurnResult {
    let kind = match status {
        401 | 403 => FailureKind::Auth,
        429 => return TurnResult::RateLimited { retry_after },
        _ if code == "context_length_exceeded" => FailureKind::ContextOverflow,
        400..=499 => FailureKind::Request,
        500..=599 => FailureKind::Provider,
        _ => FailureKind::Other,
    };
    TurnResult::Failed { kind, why }
}
