//! The task that owns the toy's process: lines in, orders in, events out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gangline_core::{
    TurnId,
    permission::{self, Permissions, Policy},
};
use gangline_os::{
    clock, lines,
    process::{Child, ChildStdin, ChildStdout, Ladder},
};
use gangline_runtime::{
    Answer, ApprovalAsk, AssistantMessage, Block, FailureKind, Prompt, RuntimeEvent, SessionHandle,
    SessionId, StartOptions, TurnResult, Usage, Verdict,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt,
    sync::{mpsc, watch},
};

use super::NAME;

const LADDER: Ladder =
    Ladder { term_after: Duration::from_secs(2), kill_after: Duration::from_secs(2) };
const LINE_MAX: usize = 16 * 1024 * 1024;

/// What the adapter wants of its task.
pub(super) enum Order {
    Prompt(Prompt),
    Interrupt,
    Decide(Verdict),
    Stop,
}

/// What the program says.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Told {
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
    inbox: mpsc::Receiver<Order>,
    events: mpsc::Sender<RuntimeEvent>,
    busy: Arc<AtomicBool>,
    policy: Policy,
    handle: watch::Sender<SessionHandle>,
    /// The open turn.
    turn: Option<TurnId>,
    /// A prompt that came before the program was ready.
    early: Option<Prompt>,
}

enum Step {
    Line(Option<lines::Line>),
    Order(Option<Order>),
}

impl Worker {
    pub(super) fn new(
        options: StartOptions,
        mut child: Child,
        inbox: mpsc::Receiver<Order>,
        events: mpsc::Sender<RuntimeEvent>,
        busy: Arc<AtomicBool>,
    ) -> Self {
        let policy = match options.permissions {
            Permissions::Ask => Policy::new(Permissions::Ask),
            Permissions::Allowlist => {
                Policy::with_list(Permissions::Allowlist, options.allowed_tools)
            }
            Permissions::Bypass => Policy::new(Permissions::Bypass),
        };
        let pid = child.pid();
        let handle = watch::Sender::new(SessionHandle {
            runtime: NAME,
            session: None,
            workdir: options.workdir,
            pid: Some(pid),
            pid_start: gangline_os::proc::start_time(pid),
            started_at: clock::system().now(),
            ready_at: None,
        });
        let lines = child.take_stdout().map(|out| lines::LineReader::new(out, LINE_MAX));
        let stdin = child.take_stdin();
        Self { child, lines, stdin, inbox, events, busy, policy, handle, turn: None, early: None }
    }

    pub(super) fn handle(&self) -> watch::Receiver<SessionHandle> {
        self.handle.subscribe()
    }

    /// Runs until the program or the daemon's wish for it is gone; its exit is told last.
    pub(super) async fn run(mut self) {
        let code = loop {
            let step = tokio::select! {
                line = next(&mut self.lines) => Step::Line(line),
                order = self.inbox.recv() => Step::Order(order),
            };
            match step {
                Step::Line(Some(lines::Line::Text(text))) => self.line(&text).await,
                Step::Line(Some(lines::Line::Oversize { .. })) => {}
                Step::Line(None) => {
                    let exit = self.child.wait().await.unwrap_or_default();
                    self.end().await;
                    break exit.code.unwrap_or(-1);
                }
                Step::Order(Some(Order::Stop) | None) => {
                    self.end().await;
                    break 0;
                }
                Step::Order(Some(order)) => self.obey(order).await,
            }
        };
        self.tell(RuntimeEvent::Exited { code }).await;
        // Closed last: by it the adapter sees that everything was told.
        drop(self.inbox);
    }

    async fn end(&mut self) {
        self.stdin = None;
        self.child.end(&LADDER).await;
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Prompt(prompt) if self.handle.borrow().ready_at.is_none() => {
                self.early = Some(prompt);
            }
            Order::Prompt(prompt) => self.prompt(prompt).await,
            Order::Interrupt if self.early.is_some() => {
                let prompt = self.early.take();
                self.turn = prompt.map(|prompt| prompt.turn);
                self.finish(TurnResult::Interrupted).await;
            }
            Order::Interrupt if self.turn.is_some() => self.write(json!({"interrupt": true})).await,
            Order::Decide(Verdict { answer: Answer::Allow, .. }) => self.answer(true, "").await,
            Order::Decide(Verdict { answer: Answer::Deny { reason }, .. }) => {
                self.answer(false, &reason).await;
            }
            Order::Interrupt | Order::Stop => {}
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
        let Ok(said) = serde_json::from_str::<Told>(text) else {
            tracing::debug!("the toy said something that nobody knows");
            return;
        };
        match (said, self.turn) {
            (Told::Ready { session }, _) => self.ready(SessionId(session)).await,
            (Told::Accepted, Some(turn)) => self.tell(RuntimeEvent::Accepted { turn }).await,
            (Told::Said { model, thinking, text, calls, usage }, Some(turn)) => {
                let message = AssistantMessage { model, content: blocks(thinking, text, calls) };
                let usage = Usage {
                    input_tokens: usage.input,
                    output_tokens: usage.output,
                    ..Usage::default()
                };
                self.tell(RuntimeEvent::Message { turn, message }).await;
                self.tell(RuntimeEvent::Usage { turn, usage }).await;
            }
            (Told::Ask { id, tool, input }, Some(turn)) => match self.policy.verdict(&tool) {
                permission::Verdict::Allow => self.answer(true, "").await,
                permission::Verdict::Deny(why) => self.answer(false, &why).await,
                permission::Verdict::Ask => {
                    let ask = ApprovalAsk { request: id, tool, input, presumed: false };
                    self.tell(RuntimeEvent::ApprovalAsked { turn, ask }).await;
                }
            },
            (Told::Result { id, name, output, failed }, Some(turn)) => {
                let (is_error, content) = (failed, output);
                self.tell(RuntimeEvent::ToolResult { turn, id, name, is_error, content }).await;
            }
            (Told::Done, Some(_)) => self.finish(TurnResult::Completed).await,
            (Told::Interrupted, Some(_)) => self.finish(TurnResult::Interrupted).await,
            (Told::Failed { status, code, why, retry_after }, Some(_)) => {
                self.finish(failure(status, &code, why, retry_after)).await;
            }
            (_, None) => tracing::debug!("the toy said something without a turn"),
        }
    }

    async fn ready(&mut self, session: SessionId) {
        self.handle.send_modify(|handle| {
            handle.session = Some(session.clone());
            handle.ready_at = Some(clock::system().now());
        });
        self.tell(RuntimeEvent::Ready { session }).await;
        if let Some(prompt) = self.early.take() {
            self.prompt(prompt).await;
        }
    }

    async fn finish(&mut self, result: TurnResult) {
        let Some(turn) = self.turn.take() else { return };
        self.busy.store(false, Ordering::SeqCst);
        self.tell(RuntimeEvent::Finished { turn, result }).await;
    }

    async fn tell(&self, event: RuntimeEvent) {
        // A daemon that is gone needs no events.
        let _ = self.events.send(event).await;
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
