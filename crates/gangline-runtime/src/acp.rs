//! Any program that speaks the Agent Client Protocol over its standard input and output.
//!
//! The protocol leaves much open, and programs differ where it does: what is particular about one
//! is its `recipe`, and nothing else here knows a program's name. Start at [`Acp::start`]; what a
//! message means is decided in `acp/session.rs`, the process belongs to the task in
//! `acp/worker.rs`, and how it is started is in `acp/launch.rs`.

mod calls;
mod launch;
mod listing;
mod permit;
mod recipe;
mod session;
mod update;
mod verdict;
mod wire;
mod worker;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use gangline_os::task::TaskGroup;
use tokio::sync::{mpsc, watch};

use self::recipe::{Counts, Recipe};
use crate::{
    Capabilities, Mode, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter, SessionHandle,
    StartOptions, StopReason, Verdict, handle::Flags,
};

/// The daemon sends at most a prompt, an interrupt, orders and decisions.
const COMMANDS: usize = 32;
/// A stopped program has gone through its ladder within this.
const STOP_WITHIN: Duration = Duration::from_secs(20);

enum Command {
    Prompt(Prompt),
    Interrupt,
    Decide(Verdict),
    SetModel(String),
    Compact,
    Clear,
    Stop(StopReason),
}

/// The adapter; see the module.
pub struct Acp {
    recipe: &'static Recipe,
    open: Option<Open>,
}

struct Open {
    commands: mpsc::Sender<Command>,
    flags: Arc<Flags>,
    handle: watch::Receiver<SessionHandle>,
    _tasks: TaskGroup,
}

impl Acp {
    fn of(recipe: &'static Recipe) -> Self {
        Self { recipe, open: None }
    }

    /// Returns an adapter for any program, started by the command of the configuration (R0-63).
    #[must_use]
    pub fn plain() -> Self {
        Self::of(&recipe::PLAIN)
    }

    /// Returns an adapter for OpenCode.
    #[must_use]
    pub fn opencode() -> Self {
        Self::of(&recipe::OPENCODE)
    }

    /// Returns an adapter for Cline.
    #[must_use]
    pub fn cline() -> Self {
        Self::of(&recipe::CLINE)
    }

    /// Returns an adapter for GitHub Copilot.
    #[must_use]
    pub fn copilot() -> Self {
        Self::of(&recipe::COPILOT)
    }

    /// Returns an adapter for Gemini CLI.
    #[must_use]
    pub fn gemini() -> Self {
        Self::of(&recipe::GEMINI)
    }

    /// Returns an adapter for Kiro.
    #[must_use]
    pub fn kiro() -> Self {
        Self::of(&recipe::KIRO)
    }

    async fn tell(&self, command: Command) -> Result<(), RuntimeError> {
        let gone = || RuntimeError::NotRunning { runtime: self.recipe.name };
        let open = self.open.as_ref().ok_or_else(gone)?;
        open.commands.send(command).await.map_err(|_| gone())
    }

    fn unsupported(&self, what: &'static str) -> RuntimeError {
        RuntimeError::Unsupported { runtime: self.recipe.name, what }
    }
}

#[async_trait]
impl Runtime for Acp {
    fn capabilities(&self) -> Capabilities {
        let recipe = self.recipe;
        Capabilities {
            resume: true,
            steer: false,
            interrupt: true,
            approvals: true,
            usage: recipe.counts != Counts::None,
            compact: recipe.compact.is_some(),
            clear: true,
            set_model: true,
            begins_turns: false,
            host_tools: true,
            mcp_stdio: recipe.servers.stdio,
            mcp_http: recipe.servers.http,
            list_sessions: recipe.lists,
            structured: true,
        }
    }

    async fn start(
        &mut self,
        mut options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        let name = self.recipe.name;
        let fail = |why: String| RuntimeError::Start { runtime: name, why };
        match options.mode {
            Mode::Resident => {}
            Mode::PerTurn | Mode::Tmux => {
                return Err(fail("it runs as one process for the whole session only".to_owned()));
            }
        }
        let initial = options.initial_prompt.take();
        let recipe = self.recipe.for_command(options.command.as_deref());
        let (turn, open_turn) = watch::channel(None);
        let launch = launch::prepare(recipe, &options, open_turn).map_err(fail)?;
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let flags = Arc::new(Flags::default());
        let flag = Arc::clone(&flags);
        let start =
            worker::Start { name, recipe, options, launch, turn, events, inbox, flags: flag };
        let worker = worker::Worker::start(start).map_err(fail)?;
        let handle = worker.handle();
        let mut tasks = TaskGroup::new(name);
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
        if !self.recipe.lists {
            return Err(self.unsupported("list its sessions"));
        }
        let fail = |why| RuntimeError::Start { runtime: self.recipe.name, why };
        let recipe = self.recipe.for_command(options.command.as_deref());
        listing::list(recipe, options, filter).await.map_err(fail)
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        let runtime = self.recipe.name;
        let Some(open) = &self.open else { return Err(RuntimeError::NotRunning { runtime }) };
        if open.flags.busy.swap(true, Ordering::SeqCst) {
            return Err(RuntimeError::Busy { runtime });
        }
        self.tell(Command::Prompt(prompt)).await
    }

    async fn steer(&mut self, _prompt: Prompt) -> Result<(), RuntimeError> {
        Err(self.unsupported("take a text in a turn"))
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
        if self.recipe.compact.is_none() {
            return Err(self.unsupported("shorten its context"));
        }
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
            tracing::error!(name = self.recipe.name, "a program does not end; it is killed");
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
