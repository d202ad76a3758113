//! The native backend: Gangline's own model loop on a thread and runtime of its own.
//!
//! The daemon's death is its child's death, so there is nothing to sweep but what a shell tool
//! started, and MCP servers. Sessions lie as `<id>.jsonl` in the agent's session folder; they keep
//! their id when their context is shortened or emptied. Start at [`Native::start`]; the loop is in
//! `native/worker.rs`, what it is made of in `native/build.rs`.

mod build;
mod events;
mod host;
mod outcome;
mod permit;
mod sessions;
mod worker;

use std::time::Duration;

use async_trait::async_trait;
use gangline_os::{secret::Secret, task::TaskGroup};
use tokio::sync::{mpsc, oneshot};

use crate::{
    Capabilities, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter, SessionHandle,
    StartOptions, StopReason, Verdict,
    door::{self, Door, Wish},
    handle::HandleKeeper,
};

const NAME: &str = "native";
/// A stopped loop cancels its request and its tool and ends its MCP servers within this; then it is
/// left behind.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// The adapter; see the module.
pub struct Native {
    door: Door,
}

impl Default for Native {
    fn default() -> Self {
        Self { door: Door::closed(NAME) }
    }
}

#[async_trait]
impl Runtime for Native {
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
            account: false,
        }
    }

    async fn start(
        &mut self,
        options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        let mut options = with_key(options)?;
        let first = options.initial_prompt.take();
        let handle = HandleKeeper::begin(NAME, &options, None, None);
        let reader = handle.reader();
        let (outside, inside) = door::sides(events);
        let (started, session) = oneshot::channel::<Result<(), String>>();
        gangline_os::task::thread("native", move || {
            worker::run(worker::Start { options, inside, handle, started });
        })
        .map_err(|error| fail(error.to_string()))?;
        session.await.map_err(|_| fail("its thread ended at once".to_owned()))?.map_err(fail)?;
        // It is a thread: no task is to be ended with it.
        self.door.open(outside, reader, TaskGroup::new(NAME), first).await
    }

    fn session(&self) -> Option<SessionHandle> {
        self.door.session()
    }

    async fn list_sessions(
        &self,
        options: &StartOptions,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionHandle>, RuntimeError> {
        Ok(sessions::list(options, filter))
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
            tracing::error!("the native loop does not end; its thread is left behind");
        }
    }

    fn is_ready(&self) -> bool {
        self.door.is_ready()
    }
}

/// A key is needed for a server that is not on this machine.
fn with_key(mut options: StartOptions) -> Result<StartOptions, RuntimeError> {
    if options.api_key.is_none() {
        let local = options.base_url.as_deref().is_some_and(|url| {
            ["http://127.0.0.1", "http://localhost", "http://[::1]"]
                .iter()
                .any(|prefix| url.starts_with(prefix))
        });
        if !local {
            return Err(RuntimeError::Start {
                runtime: NAME,
                why: "no model key: set `api_key_env` to the name of the variable that holds it"
                    .to_owned(),
            });
        }
        options.api_key = Some(Secret::new("none"));
    }
    Ok(options)
}
