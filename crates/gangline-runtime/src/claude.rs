//! Claude Code, driven over its standard input and output: one process for the whole session, or
//! one for each turn.
//!
//! One pipe carries prompts, approvals, hooks and the daemon's tools. Nothing of the vendor's
//! format leaves this module. Start at [`Claude::start`]; who owns which output is decided in
//! `claude/turns.rs`, the process belongs to the task in `claude/worker.rs`, those of a session with
//! one for each turn to `claude/per_turn.rs`, and how it is started is in `claude/launch.rs`.

mod decode;
mod encode;
mod launch;
mod login;
mod mcp;
mod per_turn;
mod permit;
mod sessions;
mod turns;
mod verdict;
mod worker;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use gangline_core::TurnId;
use gangline_os::task::TaskGroup;
use tokio::sync::{mpsc, watch};

use crate::{
    Capabilities, Mode, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter, SessionHandle,
    StartOptions, StopReason, Verdict, handle::Flags,
};

const NAME: &str = "claude";
/// The daemon sends at most a prompt, an interrupt, orders and decisions.
const COMMANDS: usize = 32;
/// A stopped program has gone through its ladder within this.
const STOP_WITHIN: Duration = Duration::from_secs(20);

enum Command {
    Prompt(Prompt),
    Steer(Prompt),
    Adopt(TurnId),
    Interrupt,
    Decide(Verdict),
    SetModel(String),
    Compact,
    Clear,
    Stop(StopReason),
}

/// The adapter; see the module.
#[derive(Default)]
pub struct Claude {
    open: Option<Open>,
}

struct Open {
    commands: mpsc::Sender<Command>,
    flags: Arc<Flags>,
    handle: watch::Receiver<SessionHandle>,
    _tasks: TaskGroup,
}

impl Claude {
    async fn tell(&self, command: Command) -> Result<(), RuntimeError> {
        let gone = || RuntimeError::NotRunning { runtime: NAME };
        let open = self.open.as_ref().ok_or_else(gone)?;
        open.commands.send(command).await.map_err(|_| gone())
    }
}

#[async_trait]
impl Runtime for Claude {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: true,
            steer: true,
            interrupt: true,
            approvals: true,
            usage: true,
            compact: true,
            clear: true,
            set_model: true,
            begins_turns: true,
            host_tools: true,
            mcp_stdio: true,
            mcp_http: true,
            list_sessions: true,
            structured: true,
        }
    }

    async fn start(
        &mut self,
        mut options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        if options.mode == Mode::Tmux {
            return Err(fail("it is driven by its own protocol, not in a terminal".to_owned()));
        }
        let initial = options.initial_prompt.take();
        let launch = launch::prepare(&options).await.map_err(fail)?;
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let flags = Arc::new(Flags::default());
        let per_turn = options.mode == Mode::PerTurn;
        let start = worker::Start { options, launch, events, inbox, flags: Arc::clone(&flags) };
        let mut tasks = TaskGroup::new(NAME);
        let handle = if per_turn {
            let session = per_turn::PerTurn::new(start);
            let handle = session.handle();
            tasks.spawn("session", session.run());
            handle
        } else {
            let worker = worker::Worker::start(start).map_err(fail)?;
            let handle = worker.handle();
            tasks.spawn("session", worker.run());
            handle
        };
        let begun = handle.borrow().clone();
        self.open = Some(Open { commands, flags, handle, _tasks: tasks });
        if let Some(prompt) = initial {
            self.prompt(prompt).await?;
        }
        Ok(begun)
    }

    fn session(&self) -> Option<SessionHandle> {
        self.open.as_ref().map(|open| open.handle.borrow().clone())
    }

    async fn list_sessions(
        &self,
        options: &StartOptions,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionHandle>, RuntimeError> {
        let login = launch::login(options);
        let filter = filter.clone();
        let listed = tokio::task::spawn_blocking(move || sessions::list(&login, &filter)).await;
        listed.map_err(|error| RuntimeError::Start { runtime: NAME, why: error.to_string() })
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        let Some(open) = &self.open else {
            return Err(RuntimeError::NotRunning { runtime: NAME });
        };
        if open.flags.busy.swap(true, Ordering::SeqCst) {
            return Err(RuntimeError::Busy { runtime: NAME });
        }
        self.tell(Command::Prompt(prompt)).await
    }

    async fn adopt(&mut self, turn: TurnId) -> Result<(), RuntimeError> {
        let Some(open) = &self.open else {
            return Err(RuntimeError::NotRunning { runtime: NAME });
        };
        open.flags.busy.store(true, Ordering::SeqCst);
        self.tell(Command::Adopt(turn)).await
    }

    async fn steer(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        self.tell(Command::Steer(prompt)).await
    }

    async fn interrupt(&mut self) -> Result<(), RuntimeError> {
        self.tell(Command::Interrupt).await
    }

    async fn decide(&mut self, verdict: Verdict) -> Result<(), RuntimeError> {
        self.tell(Command::Decide(verdict)).await
    }

    async fn set_model(&mut self, model: &str) -> Result<(), RuntimeError> {
        self.tell(Command::SetModel(model.to_owned())).await
    }

    /// A session that is resumed keeps the model that it had last, so leaving the name out does
    /// not bring it back.
    fn default_model(&self) -> Option<&'static str> {
        Some("default")
    }

    async fn compact(&mut self) -> Result<(), RuntimeError> {
        self.tell(Command::Compact).await
    }

    async fn clear(&mut self) -> Result<(), RuntimeError> {
        self.tell(Command::Clear).await
    }

    async fn stop(&mut self, reason: StopReason) {
        let Some(open) = self.open.take() else { return };
        // A task that is gone has said its exit already.
        let ended = async {
            let _ = open.commands.send(Command::Stop(reason)).await;
            open.commands.closed().await;
        };
        if tokio::time::timeout(STOP_WITHIN, ended).await.is_err() {
            tracing::error!("claude does not end; it is killed");
        }
    }

    fn is_ready(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            !open.commands.is_closed()
                && open.flags.ready.load(Ordering::SeqCst)
                && !open.flags.busy.load(Ordering::SeqCst)
        })
    }
}
