//! The native loop's thread: one harness, its commands and its events.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use gangline_core::TurnId;
use gangline_harness::{
    ApiErrorKind, Config, Finished, Harness, PromptError, Tool, ToolContext, ToolError, tools,
};
use gangline_os::secret::Secret;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{Command, events::Events, permit::Permits};
use crate::{
    FailureKind, RuntimeEvent, SessionId, StartOptions, ToolCall, ToolHost, ToolSpec, TurnResult,
};

/// Loop iterations of one turn; an agent in a room works longer than one at a prompt.
const MAX_TURNS: u32 = 200;

pub(super) struct Start {
    pub(super) options: StartOptions,
    pub(super) events: mpsc::Sender<RuntimeEvent>,
    pub(super) inbox: mpsc::Receiver<Command>,
    pub(super) busy: Arc<AtomicBool>,
    pub(super) started: oneshot::Sender<Result<SessionId, String>>,
}

/// Runs until it is stopped or the daemon is gone.
pub(super) fn run(start: Start) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = start.started.send(Err(error.to_string()));
            return;
        }
    };
    runtime.block_on(serve(start));
    // A name that is being resolved, or a file on a dead mount, must not hold up the end.
    runtime.shutdown_background();
}

async fn serve(start: Start) {
    let shared = Arc::new(Events::default());
    let permits = Arc::new(Permits::new(
        Arc::clone(&shared),
        start.options.permissions,
        start.options.allowed_tools.clone(),
    ));
    let (harness, session) = match build(&start.options, &shared, &permits) {
        Ok(built) => built,
        Err(why) => {
            let _ = start.started.send(Err(why));
            return;
        }
    };
    let _ = start.started.send(Ok(session.clone()));
    let mut worker =
        Worker { harness, shared, permits, events: start.events, busy: start.busy, running: None };
    worker.send(RuntimeEvent::Ready { session }).await;
    let inbox = worker.serve(start.inbox).await;
    worker.send(RuntimeEvent::Exited { code: 0 }).await;
    // Closed last: by it the adapter sees that everything was told.
    drop(inbox);
}

fn build(
    options: &StartOptions,
    shared: &Arc<Events>,
    permits: &Arc<Permits>,
) -> Result<(Harness, SessionId), String> {
    let key = options.api_key.clone().unwrap_or_else(|| Secret::new("none"));
    let mut config = Config::new(key);
    if let Some(model) = &options.model {
        config.model.clone_from(model);
    }
    if let Some(url) = &options.base_url {
        config.base_url = url.trim_end_matches('/').to_owned();
    }
    config.system_prompt.clone_from(&options.system_prompt);
    config.max_turns = MAX_TURNS;
    config.cwd.clone_from(&options.workdir);

    let mut all = tools::standard(options.env.iter().map(|(k, v)| (k.into(), v.into())).collect());
    for spec in options.tools.tools() {
        all.push(Arc::new(HostTool {
            spec,
            host: Arc::clone(&options.tools),
            shared: Arc::clone(shared),
            permits: Arc::clone(permits),
        }));
    }
    let session = options.resume.clone().unwrap_or_else(|| SessionId(Uuid::new_v4().to_string()));
    let path = options.session_dir.join(format!("{}.jsonl", session.0));
    let harness = Harness::new(config, all, Some(Arc::clone(shared) as Arc<_>))
        .map_err(|error| error.to_string())?
        .authorized_by(Arc::clone(permits) as Arc<_>)
        .resume(&path)
        .map_err(|error| error.to_string())?;
    Ok((harness, session))
}

type Running = Pin<Box<dyn Future<Output = Result<Finished, PromptError>> + Send>>;

struct Worker {
    harness: Harness,
    shared: Arc<Events>,
    permits: Arc<Permits>,
    events: mpsc::Sender<RuntimeEvent>,
    busy: Arc<AtomicBool>,
    running: Option<(TurnId, Running)>,
}

enum Step {
    Command(Option<Command>),
    Ended(Result<Finished, PromptError>),
    EventWaits,
}

impl Worker {
    async fn serve(&mut self, mut inbox: mpsc::Receiver<Command>) -> mpsc::Receiver<Command> {
        loop {
            match self.step(&mut inbox).await {
                Step::EventWaits => self.pass_on().await,
                Step::Ended(result) => self.finish(result).await,
                Step::Command(Some(Command::Prompt(prompt))) => {
                    self.open(prompt.turn, prompt.text);
                }
                Step::Command(Some(Command::Interrupt)) => self.harness.cancel(),
                Step::Command(Some(Command::Decide(verdict))) => self.permits.decide(verdict),
                Step::Command(Some(Command::SetModel(model))) => self.harness.set_model(&model),
                Step::Command(Some(Command::Stop) | None) => {
                    self.wind_up().await;
                    return inbox;
                }
            }
        }
    }

    async fn step(&mut self, inbox: &mut mpsc::Receiver<Command>) -> Step {
        let running = async {
            match &mut self.running {
                Some((_, running)) => running.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.shared.waiting() => Step::EventWaits,
            command = inbox.recv() => Step::Command(command),
            result = running => Step::Ended(result),
        }
    }

    fn open(&mut self, turn: TurnId, text: String) {
        self.shared.open(turn);
        let reserved = self.harness.reserve();
        let running: Running = Box::pin(async move { reserved?.run(&text).await });
        self.running = Some((turn, running));
    }

    async fn pass_on(&self) {
        // The place is taken before the event, so that none is lost in between.
        let place = self.events.reserve().await;
        // Without a daemon the event has no reader; it must still not wait for ever.
        if let (Some(event), Ok(place)) = (self.shared.pop(), place) {
            place.send(event);
        }
    }

    async fn finish(&mut self, result: Result<Finished, PromptError>) {
        while let Some(event) = self.shared.pop() {
            self.send(event).await;
        }
        self.shared.close();
        let Some((turn, _)) = self.running.take() else { return };
        self.busy.store(false, Ordering::SeqCst);
        self.send(RuntimeEvent::Finished { turn, result: turn_result(result) }).await;
    }

    /// Ends what runs and tells its end.
    async fn wind_up(&mut self) {
        if self.running.is_none() {
            return;
        }
        self.harness.cancel();
        loop {
            let Some((_, running)) = &mut self.running else { return };
            tokio::select! {
                biased;
                () = self.shared.waiting() => {}
                result = running => return self.finish(result).await,
            }
            self.pass_on().await;
            if self.events.is_closed() {
                return;
            }
        }
    }

    async fn send(&self, event: RuntimeEvent) {
        // A daemon that is gone needs no events.
        let _ = self.events.send(event).await;
    }
}

fn turn_result(result: Result<Finished, PromptError>) -> TurnResult {
    let error = match result {
        Ok(_) => return TurnResult::Completed,
        Err(error) => error,
    };
    let kind = match &error {
        PromptError::Cancelled => return TurnResult::Interrupted,
        PromptError::Busy | PromptError::Empty | PromptError::Session(_) => FailureKind::Other,
        PromptError::Api(api) => match api.kind {
            ApiErrorKind::RateLimited { .. } => {
                let retry_after = api.kind.retry_after().map(|wait| wait.as_secs());
                return TurnResult::RateLimited { retry_after };
            }
            ApiErrorKind::Auth => FailureKind::Auth,
            ApiErrorKind::ContextOverflow => FailureKind::ContextOverflow,
            ApiErrorKind::ModelNotFound | ApiErrorKind::Invalid => FailureKind::Request,
            ApiErrorKind::Overloaded { .. }
            | ApiErrorKind::Server { .. }
            | ApiErrorKind::Connect
            | ApiErrorKind::Dropped
            | ApiErrorKind::Malformed
            | ApiErrorKind::TooLarge => FailureKind::Provider,
        },
    };
    TurnResult::Failed { kind, why: with_causes(&error) }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        text.push_str(": ");
        text.push_str(&below.to_string());
        cause = below.source();
    }
    text
}

/// One tool of the daemon, as the harness sees it.
struct HostTool {
    spec: ToolSpec,
    host: Arc<dyn ToolHost>,
    shared: Arc<Events>,
    permits: Arc<Permits>,
}

#[async_trait]
impl Tool for HostTool {
    fn name(&self) -> &str {
        self.spec.name
    }

    fn description(&self) -> &str {
        self.spec.description
    }

    fn input_schema(&self) -> Value {
        self.spec.input_schema.clone()
    }

    async fn execute(&self, _ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let turn = self.shared.turn().ok_or(ToolError::Cancelled)?;
        let call =
            ToolCall { turn, id: self.permits.current(), name: self.spec.name.to_owned(), input };
        self.host.call(call).await.map_err(ToolError::Failed)
    }
}
