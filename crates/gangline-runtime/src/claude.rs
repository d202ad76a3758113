//! Claude Code, driven over its standard input and output: one process for the whole session, or
//! one for each turn.
//!
//! One pipe carries prompts, approvals, hooks and the daemon's tools. Nothing of the vendor's
//! format leaves this module. Start at [`Claude::start`]; who owns which output is decided in
//! `claude/turns.rs`, the process belongs to the task in `program/worker.rs`, those of a session with
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

use std::time::Duration;

use async_trait::async_trait;
use gangline_core::TurnId;
use gangline_os::task::TaskGroup;
use tokio::sync::mpsc;

use crate::{
    Capabilities, Mode, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter, SessionHandle,
    StartOptions, StopReason, Verdict,
    door::{self, Door, Wish},
};

const NAME: &str = "claude";
/// A stopped program has gone through its ladder within this.
const STOP_WITHIN: Duration = Duration::from_secs(20);

/// The adapter; see the module.
pub struct Claude {
    door: Door,
}

impl Default for Claude {
    fn default() -> Self {
        Self { door: Door::closed(NAME) }
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
            fixed_model: false,
            begins_turns: true,
            host_tools: true,
            mcp_stdio: true,
            mcp_http: true,
            list_sessions: true,
            bare: false,
            structured: true,
            calls: true,
            failures: true,
            base_url: true,
            api_key: true,
            account: true,
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
        let first = options.initial_prompt.take();
        let launch = launch::prepare(&options).await.map_err(fail)?;
        let (outside, inside) = door::sides(events);
        let mut tasks = TaskGroup::new(NAME);
        let handle = if options.mode == Mode::PerTurn {
            let session = per_turn::PerTurn::new(options, launch, inside);
            let handle = session.handle();
            tasks.spawn("session", session.run());
            handle
        } else {
            let worker = launch.start(&options, inside).map_err(fail)?;
            let handle = worker.handle();
            tasks.spawn("session", worker.run());
            handle
        };
        self.door.open(outside, handle, tasks, first).await
    }

    fn session(&self) -> Option<SessionHandle> {
        self.door.session()
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
        self.door.prompt(prompt).await
    }

    async fn adopt(&mut self, turn: TurnId) -> Result<(), RuntimeError> {
        self.door.adopt(turn).await
    }

    async fn steer(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Steer(prompt)).await
    }

    async fn interrupt(&mut self) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Interrupt).await
    }

    async fn decide(&mut self, verdict: Verdict) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Decide(verdict)).await
    }

    async fn set_model(&mut self, model: &str) -> Result<(), RuntimeError> {
        self.door.tell(Wish::SetModel(model.to_owned())).await
    }

    /// A session that is resumed keeps the model that it had last, so leaving the name out does
    /// not bring it back.
    fn default_model(&self) -> Option<&'static str> {
        Some("default")
    }

    async fn compact(&mut self) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Compact).await
    }

    async fn clear(&mut self) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Clear).await
    }

    async fn stop(&mut self, reason: StopReason) {
        if !self.door.stop(reason, STOP_WITHIN).await {
            tracing::error!("claude does not end; it is killed");
        }
    }

    fn is_ready(&self) -> bool {
        self.door.is_ready()
    }
}
