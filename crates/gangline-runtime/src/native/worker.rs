//! The native loop's thread: one harness, its MCP servers, its commands and its events.

use std::{future::Future, pin::Pin, sync::Arc};

use gangline_core::{TurnId, effort::Effort};
use gangline_harness::{
    CompactError, Compacted, Finished, Harness, PromptError,
    mcp::{McpNotice, McpServers, McpTarget},
};
use gangline_os::run_id::{RUN_ID, RunId};
use tokio::sync::oneshot;

use super::{
    NAME,
    build::{self, Built},
    effort::Ground,
    events::{Events, with_causes},
    outcome,
    permit::Permits,
};
use crate::{
    Command, Prompt, RuntimeEvent, SessionId, StartOptions, TurnResult,
    program::sweep,
    reading::{Reading, Searches},
    session::SessionPort,
};

pub(super) struct Start {
    pub(super) options: StartOptions,
    pub(super) port: SessionPort,
    pub(super) started: oneshot::Sender<Result<(), String>>,
}

/// What its async runtime takes of the kernel at once, and keeps room for.
const EVENTS: usize = 128;

/// Why the thread ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// It was asked for, or its owner is gone.
    Stopped,
    /// It was asked for, or its owner was gone, before the MCP servers were connected.
    StoppedEarly,
    /// It could not begin; whoever started it was told why.
    NotBegun,
    /// It died without a word.
    Died,
}

/// Runs until it is stopped or the daemon is gone.
pub(super) fn run(start: Start) -> Why {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_io_events_per_tick(EVENTS)
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = start.started.send(Err(error.to_string()));
            return Why::NotBegun;
        }
    };
    let why = runtime.block_on(serve(start));
    // A name that is being resolved, or a file on a dead mount, must not hold up the end.
    runtime.shutdown_background();
    why
}

async fn serve(start: Start) -> Why {
    let Start { options, port, started } = start;
    let shared = Arc::new(Events::default());
    let permits =
        Arc::new(Permits::new(Arc::clone(&shared), Reading::of(&options, Searches::LeaveOut)));
    let Built { harness, session, mut notices } = match build::build(&options, &shared, &permits) {
        Ok(built) => built,
        Err(why) => {
            let _ = started.send(Err(why));
            return Why::NotBegun;
        }
    };
    let run_id = options.env.iter().find(|(name, _)| name == RUN_ID);
    let run_id: Option<RunId> = run_id.and_then(|(_, run_id)| run_id.parse().ok());
    port.begins_as(Some(session.clone()));
    let _ = started.send(Ok(()));
    let ground = Ground(harness.thinking());
    let mut worker =
        Worker { harness, shared, permits, port, ground, work: None, next: None, care: None };
    let (wanted, more) = build::servers(&options);
    notices.extend(more);
    let why = match worker.connect(wanted).await {
        Some((servers, more)) => {
            notices.extend(more.iter().map(McpNotice::to_string));
            notices.extend(worker.offer(&servers));
            worker.ready(session, notices).await;
            worker.serve().await;
            servers.stop().await;
            Why::Stopped
        }
        None => Why::StoppedEarly,
    };
    sweep(NAME, run_id.as_ref()).await;
    worker.port.tell(RuntimeEvent::Exited { code: 0 }).await;
    why
}

type Job<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// What runs; there is one at a time.
enum Work {
    Turn(TurnId, Job<Finished, PromptError>),
    Compaction(Job<Compacted, CompactError>),
}

/// What has ended.
enum Ended {
    Turn(TurnId, Result<Finished, PromptError>),
    Compaction(Result<Compacted, CompactError>),
}

/// What is done about the context once nothing runs.
#[derive(Clone, Copy)]
enum Care {
    Compact,
    Clear,
}

struct Worker {
    harness: Harness,
    shared: Arc<Events>,
    permits: Arc<Permits>,
    port: SessionPort,
    /// How hard the model thinks by the configuration.
    ground: Ground,
    work: Option<Work>,
    /// A prompt that came while the context is being shortened.
    next: Option<Prompt>,
    care: Option<Care>,
}

enum Step {
    Command(Option<Command>),
    Ended(Ended),
    EventWaits,
}

impl Worker {
    /// Connects the MCP servers, which may take half a minute. Nothing if the session is stopped
    /// meanwhile; what was started is gone then.
    async fn connect(&mut self, servers: Vec<McpTarget>) -> Option<(McpServers, Vec<McpNotice>)> {
        let mut connecting = std::pin::pin!(McpServers::connect(servers));
        loop {
            let command = tokio::select! {
                biased;
                connected = &mut connecting => return Some(connected),
                command = self.port.next() => command,
            };
            match command? {
                Command::Stop(_) => return None,
                command => self.obey(command).await,
            }
        }
    }

    /// Offers the servers' tools to the model; returns why not.
    fn offer(&mut self, servers: &McpServers) -> Option<String> {
        let tools = servers.tools();
        let extended = build::with_servers(self.harness.clone(), tools, &servers.instructions());
        self.harness = extended.0;
        extended.1
    }

    async fn ready(&mut self, session: SessionId, notices: Vec<String>) {
        self.port.tell(RuntimeEvent::Ready { session }).await;
        for text in notices {
            self.port.tell(RuntimeEvent::Notice { text }).await;
        }
    }

    async fn serve(&mut self) {
        loop {
            self.begin_next().await;
            match self.step().await {
                Step::EventWaits => self.pass_on().await,
                Step::Ended(ended) => self.finish(ended).await,
                Step::Command(None | Some(Command::Stop(_))) => return self.wind_up().await,
                Step::Command(Some(command)) => self.obey(command).await,
            }
        }
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Prompt(prompt) => self.next = Some(prompt),
            Command::Interrupt => match self.next.take() {
                Some(prompt) => self.end_turn(prompt.turn, TurnResult::Interrupted).await,
                None if matches!(self.work, Some(Work::Turn(..))) => self.harness.cancel(),
                None => {}
            },
            Command::Steer(prompt) => self.steer(prompt),
            Command::Decide(reply) => self.permits.decide(reply),
            Command::SetModel(model) => {
                self.harness.set_model(&model);
                self.shared.model_is(&model);
            }
            Command::SetEffort(effort) => self.set_effort(effort).await,
            Command::Compact => self.care = Some(Care::Compact),
            Command::Clear => self.care = Some(Care::Clear),
            // No turn begins unasked, so adopting is refused; a stop ends the loop.
            Command::Adopt(_) | Command::Stop(_) => {}
        }
    }

    async fn set_effort(&mut self, effort: Effort) {
        let runs = self.work.is_some();
        let (thinking, raised) = match effort {
            Effort::Ground => (self.ground.0, None),
            Effort::Raised => match self.ground.above(&self.harness.model(), runs) {
                Some((thinking, level)) => (thinking, Some(level)),
                None => return,
            },
        };
        if self.harness.set_thinking(thinking) {
            self.port.tell(RuntimeEvent::Effort { raised }).await;
        }
    }

    /// Adds a text to the open turn. What cannot be added is not told: the daemon gives it again.
    fn steer(&self, prompt: Prompt) {
        let open = matches!(&self.work, Some(Work::Turn(turn, _)) if *turn == prompt.turn);
        if open && self.harness.steer(&prompt.text).is_ok() {
            self.shared.steered(prompt.uuid);
        }
    }

    /// Begins what waits, if nothing runs: the care of the context first.
    async fn begin_next(&mut self) {
        if self.work.is_some() {
            return;
        }
        match self.care.take() {
            Some(Care::Compact) => {
                let harness = self.harness.clone();
                self.work =
                    Some(Work::Compaction(Box::pin(async move { harness.compact().await })));
                return;
            }
            Some(Care::Clear) => {
                let text = match self.harness.clear() {
                    Ok(()) => {
                        if let Some(session) = self.port.session() {
                            self.port.tell(RuntimeEvent::Session { session }).await;
                        }
                        "the context was emptied".to_owned()
                    }
                    Err(error) => format!("the context stays as it is: {}", with_causes(&error)),
                };
                self.port.tell(RuntimeEvent::Notice { text }).await;
            }
            None => {}
        }
        if let Some(Prompt { turn, text, .. }) = self.next.take() {
            self.shared.open(turn);
            let reserved = self.harness.reserve();
            let job = Box::pin(async move { reserved?.run(&text).await });
            self.work = Some(Work::Turn(turn, job));
        }
    }

    async fn step(&mut self) -> Step {
        tokio::select! {
            biased;
            () = self.shared.waiting() => Step::EventWaits,
            command = self.port.next() => Step::Command(command),
            ended = ended(&mut self.work) => Step::Ended(ended),
        }
    }

    async fn pass_on(&self) {
        self.port.report_next(|| self.shared.pop()).await;
    }

    async fn finish(&mut self, ended: Ended) {
        self.work = None;
        while let Some(event) = self.shared.pop() {
            self.port.tell(event).await;
        }
        match ended {
            Ended::Turn(turn, result) => {
                self.shared.close();
                let (result, notice) = outcome::of(result);
                if let Some(text) = notice {
                    self.port.tell(RuntimeEvent::Notice { text }).await;
                }
                self.end_turn(turn, result).await;
            }
            // Everything else was told by the loop itself.
            Ended::Compaction(Err(error @ (CompactError::Busy | CompactError::Nothing))) => {
                self.port.tell(RuntimeEvent::Compacting).await;
                let failed = Some(error.to_string());
                self.port.tell(RuntimeEvent::Compacted { failed }).await;
            }
            Ended::Compaction(_) => {}
        }
    }

    async fn end_turn(&mut self, turn: TurnId, result: TurnResult) {
        self.port.free();
        self.port.tell(RuntimeEvent::Finished { turn, result }).await;
    }

    /// Ends what runs and tells its end.
    async fn wind_up(&mut self) {
        if let Some(prompt) = self.next.take() {
            self.end_turn(prompt.turn, TurnResult::Interrupted).await;
        }
        self.harness.cancel();
        while self.work.is_some() && !self.port.is_abandoned() {
            let step = tokio::select! {
                biased;
                () = self.shared.waiting() => Step::EventWaits,
                ended = ended(&mut self.work) => Step::Ended(ended),
            };
            match step {
                Step::Ended(ended) => self.finish(ended).await,
                Step::EventWaits | Step::Command(_) => self.pass_on().await,
            }
        }
    }
}

/// Waits for the end of what runs, for ever if nothing does. Cancel-safe: the work stays.
async fn ended(work: &mut Option<Work>) -> Ended {
    match work {
        Some(Work::Turn(turn, job)) => Ended::Turn(*turn, job.await),
        Some(Work::Compaction(job)) => Ended::Compaction(job.await),
        None => std::future::pending().await,
    }
}
