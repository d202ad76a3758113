//! Any terminal program, in a tmux server of its own: the last resort (C29).
//!
//! A program is typed to and its screen is read; what it shows is believed, and nothing else. What
//! is known of a program is data (`tmux/profiles.json`, `tmux/profile.rs`). Start at
//! [`Tmux::start`]; what a screen means is decided in `tmux/turns.rs`, the terminal belongs to the
//! task in `tmux/worker.rs`. [`attach`] shows it to a human.

pub mod attach;
mod launch;
mod profile;
mod screen;
mod server;
mod text;
mod turns;
mod worker;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use gangline_os::task::TaskGroup;
use tokio::sync::{mpsc, watch};

use crate::{
    Capabilities, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionHandle, StartOptions,
    StopReason, Verdict, handle::Flags,
};

const NAME: &str = "tmux";
/// The daemon sends at most a prompt, an interrupt and additions.
const COMMANDS: usize = 32;
/// A stopped program has gone through its ladder within this.
const STOP_WITHIN: Duration = Duration::from_secs(25);

enum Command {
    Prompt(Prompt),
    Steer(Prompt),
    Interrupt,
    Stop(StopReason),
}

/// The adapter; see the module.
#[derive(Default)]
pub struct Tmux {
    /// The program where the configuration names none.
    usual: Option<&'static str>,
    open: Option<Open>,
}

struct Open {
    commands: mpsc::Sender<Command>,
    flags: Arc<Flags>,
    handle: watch::Receiver<SessionHandle>,
    steers: bool,
    _tasks: TaskGroup,
}

/// Returns why this tmux cannot be used; `told` is what `tmux -V` says.
#[must_use]
pub fn refused(told: &str) -> Option<String> {
    server::refused(told)
}

impl Tmux {
    /// Returns an adapter for a program that has a backend of its own too (R3-14): the program's
    /// usual name is its `command`, and its profile follows from it.
    #[must_use]
    pub fn of(program: &'static str) -> Self {
        Self { usual: Some(program), open: None }
    }

    async fn tell(&self, command: Command) -> Result<(), RuntimeError> {
        let gone = || RuntimeError::NotRunning { runtime: NAME };
        let open = self.open.as_ref().ok_or_else(gone)?;
        open.commands.send(command).await.map_err(|_| gone())
    }
}

fn cannot(what: &'static str) -> RuntimeError {
    RuntimeError::Unsupported { runtime: NAME, what }
}

#[async_trait]
impl Runtime for Tmux {
    /// What the program's profile may take away again: `resume`, `steer`.
    fn capabilities(&self) -> Capabilities {
        Capabilities { resume: true, steer: true, interrupt: true, ..Capabilities::default() }
    }

    async fn start(
        &mut self,
        mut options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        let initial = options.initial_prompt.take();
        let launch = launch::prepare(&options, self.usual).map_err(fail)?;
        let steers = launch.profile.steer;
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let flags = Arc::new(Flags::default());
        let start = worker::Start { options, launch, events, inbox, flags: Arc::clone(&flags) };
        let worker = worker::Worker::start(start).await.map_err(fail)?;
        let handle = worker.handle();
        let mut tasks = TaskGroup::new(NAME);
        tasks.spawn("session", worker.run());
        let begun = handle.borrow().clone();
        self.open = Some(Open { commands, flags, handle, steers, _tasks: tasks });
        if let Some(prompt) = initial {
            self.prompt(prompt).await?;
        }
        Ok(begun)
    }

    fn session(&self) -> Option<SessionHandle> {
        self.open.as_ref().map(|open| open.handle.borrow().clone())
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
        match &self.open {
            Some(open) if !open.steers => Err(cannot("type while the program works")),
            Some(_) | None => self.tell(Command::Steer(prompt)).await,
        }
    }

    async fn interrupt(&mut self) -> Result<(), RuntimeError> {
        self.tell(Command::Interrupt).await
    }

    async fn decide(&mut self, _verdict: Verdict) -> Result<(), RuntimeError> {
        // Nothing was asked.
        match &self.open {
            Some(_) => Ok(()),
            None => Err(RuntimeError::NotRunning { runtime: NAME }),
        }
    }

    async fn set_model(&mut self, _model: &str) -> Result<(), RuntimeError> {
        Err(cannot("change its model"))
    }

    async fn compact(&mut self) -> Result<(), RuntimeError> {
        Err(cannot("shorten its context"))
    }

    async fn clear(&mut self) -> Result<(), RuntimeError> {
        Err(cannot("empty its context"))
    }

    async fn stop(&mut self, reason: StopReason) {
        let Some(open) = self.open.take() else { return };
        // A task that is gone has said its exit already.
        let ended = async {
            let _ = open.commands.send(Command::Stop(reason)).await;
            open.commands.closed().await;
        };
        if tokio::time::timeout(STOP_WITHIN, ended).await.is_err() {
            tracing::error!("the terminal does not end; it is killed");
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
