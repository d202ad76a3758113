//! Codex, as one `codex app-server` for the whole session, driven over its standard streams.
//!
//! One pipe carries prompts, approvals and the daemon's tools. Nothing of the vendor's format leaves
//! this module. Start at [`Codex::start`]; what a line means is decided in `codex/turns.rs`, the
//! process belongs to the task in `codex/worker.rs`, and how it is started, and with what a
//! conversation begins, is in `codex/launch.rs` and `codex/thread.rs`.

mod decode;
mod encode;
mod items;
mod launch;
mod list;
mod login;
mod permit;
mod thread;
mod turns;
mod verdict;
mod worker;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use gangline_os::task::TaskGroup;
use tokio::sync::{mpsc, watch};

use crate::{
    Capabilities, Mode, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter, SessionHandle,
    StartOptions, StopReason, Verdict, handle::Flags,
};

const NAME: &str = "codex";
/// The name under which the daemon's tools may be offered elsewhere as a tool server.
const SERVER: &str = "gangline";
/// The daemon sends at most a prompt, an interrupt, orders and decisions.
const COMMANDS: usize = 32;
/// A stopped program has gone through its ladder within this.
const STOP_WITHIN: Duration = Duration::from_secs(20);

enum Command {
    Prompt(Prompt),
    Steer(Prompt),
    Interrupt,
    Decide(Verdict),
    SetModel(String),
    Compact,
    Clear,
    Stop(StopReason),
}

/// The adapter; see the module.
#[derive(Default)]
pub struct Codex {
    open: Option<Open>,
}

struct Open {
    commands: mpsc::Sender<Command>,
    flags: Arc<Flags>,
    handle: watch::Receiver<SessionHandle>,
    _tasks: TaskGroup,
}

impl Codex {
    async fn tell(&self, command: Command) -> Result<(), RuntimeError> {
        let gone = || RuntimeError::NotRunning { runtime: NAME };
        let open = self.open.as_ref().ok_or_else(gone)?;
        open.commands.send(command).await.map_err(|_| gone())
    }
}

#[async_trait]
impl Runtime for Codex {
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
            begins_turns: false,
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
        match options.mode {
            Mode::Resident => {}
            Mode::PerTurn | Mode::Tmux => {
                return Err(fail("it runs as one process for the whole session only".to_owned()));
            }
        }
        let initial = options.initial_prompt.take();
        let launch = launch::prepare(&options).await.map_err(fail)?;
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let flags = Arc::new(Flags::default());
        let start = worker::Start { options, launch, events, inbox, flags: Arc::clone(&flags) };
        let worker = worker::Worker::start(start).map_err(fail)?;
        let handle = worker.handle();
        let mut tasks = TaskGroup::new(NAME);
        tasks.spawn("session", worker.run());
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
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        list::sessions(options, filter).await.map_err(fail)
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
            tracing::error!("codex does not end; it is killed");
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
