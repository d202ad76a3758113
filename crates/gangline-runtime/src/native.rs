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

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use gangline_os::secret::Secret;
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    Capabilities, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter, SessionHandle,
    StartOptions, StopReason, Verdict,
    handle::{Flags, HandleKeeper},
};

const NAME: &str = "native";
/// The daemon sends at most a prompt, what is added to it, an interrupt and decisions.
const COMMANDS: usize = 16;
/// A stopped loop cancels its request and its tool and ends its MCP servers within this; then it is
/// left behind.
const STOP_WITHIN: Duration = Duration::from_secs(10);

enum Command {
    Prompt(Prompt),
    Interrupt,
    Decide(Verdict),
    SetModel(String),
    Steer(Prompt),
    Compact,
    Clear,
    Stop,
}

/// The adapter; see the module.
#[derive(Default)]
pub struct Native {
    open: Option<Open>,
}

struct Open {
    commands: mpsc::Sender<Command>,
    flags: Arc<Flags>,
    handle: watch::Receiver<SessionHandle>,
}

impl Native {
    async fn tell(&self, command: Command) -> Result<(), RuntimeError> {
        let gone = || RuntimeError::NotRunning { runtime: NAME };
        let open = self.open.as_ref().ok_or_else(gone)?;
        open.commands.send(command).await.map_err(|_| gone())
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
        options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        let mut options = with_key(options)?;
        let initial = options.initial_prompt.take();
        let handle = HandleKeeper::begin(NAME, &options, None, None);
        let reader = handle.reader();
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let flags = Arc::new(Flags::default());
        let (started, session) = oneshot::channel::<Result<(), String>>();
        let shared = Arc::clone(&flags);
        gangline_os::task::thread("native", move || {
            worker::run(worker::Start { options, events, inbox, flags: shared, handle, started });
        })
        .map_err(|error| fail(error.to_string()))?;
        session.await.map_err(|_| fail("its thread ended at once".to_owned()))?.map_err(fail)?;
        let begun = reader.borrow().clone();
        self.open = Some(Open { commands, flags, handle: reader });
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
        Ok(sessions::list(options, filter))
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

    async fn stop(&mut self, _reason: StopReason) {
        let Some(open) = self.open.take() else { return };
        // A worker that is gone has said its exit already.
        let ended = async {
            let _ = open.commands.send(Command::Stop).await;
            open.commands.closed().await;
        };
        if tokio::time::timeout(STOP_WITHIN, ended).await.is_err() {
            tracing::error!("the native loop does not end; its thread is left behind");
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
