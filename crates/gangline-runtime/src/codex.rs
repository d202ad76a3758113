//! Codex, as one `codex app-server` for the whole session, driven over its standard streams.
//!
//! One pipe carries prompts, approvals and the daemon's tools. Nothing of the vendor's format leaves
//! this module. Start at [`Codex::start`]; what a line means is decided in `codex/turns.rs`, the
//! process belongs to the task in `program/worker.rs`, and how it is started, and with what a
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

use std::time::Duration;

use async_trait::async_trait;
use gangline_os::task::TaskGroup;
use tokio::sync::mpsc;

use crate::{
    Capabilities, Mode, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter, SessionHandle,
    StartOptions, StopReason, Verdict,
    door::{self, Door, Wish},
};

const NAME: &str = "codex";
/// The name under which the daemon's tools may be offered elsewhere as a tool server.
const SERVER: &str = "gangline";
/// A stopped program has gone through its ladder within this.
const STOP_WITHIN: Duration = Duration::from_secs(20);

/// The adapter; see the module.
pub struct Codex {
    door: Door,
}

impl Default for Codex {
    fn default() -> Self {
        Self { door: Door::closed(NAME) }
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
            fixed_model: false,
            begins_turns: false,
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
        match options.mode {
            Mode::Resident => {}
            Mode::PerTurn | Mode::Tmux => {
                return Err(fail("it runs as one process for the whole session only".to_owned()));
            }
        }
        let first = options.initial_prompt.take();
        let launch = launch::prepare(&options).await.map_err(fail)?;
        let (outside, inside) = door::sides(events);
        let worker = launch.start(&options, inside).map_err(fail)?;
        let handle = worker.handle();
        let mut tasks = TaskGroup::new(NAME);
        tasks.spawn("session", worker.run());
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
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        list::sessions(options, filter).await.map_err(fail)
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        self.door.prompt(prompt).await
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

    async fn compact(&mut self) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Compact).await
    }

    async fn clear(&mut self) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Clear).await
    }

    async fn stop(&mut self, reason: StopReason) {
        if !self.door.stop(reason, STOP_WITHIN).await {
            tracing::error!("codex does not end; it is killed");
        }
    }

    fn is_ready(&self) -> bool {
        self.door.is_ready()
    }
}
