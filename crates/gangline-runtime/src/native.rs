//! The native backend: Gangline's own model loop on a thread and runtime of its own.
//!
//! The daemon's death is its child's death, so there is nothing to sweep but what a shell tool
//! started, and MCP servers. Sessions lie as `<id>.jsonl` in the agent's session folder; they keep
//! their id when their context is shortened or emptied. Start at [`Native`]'s `start`; the loop is in
//! `native/worker.rs`, what it is made of in `native/build.rs`.

mod build;
mod effort;
mod events;
mod host;
mod outcome;
mod permit;
mod sessions;
mod worker;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use gangline_core::effort::EffortChange;
use gangline_os::{secret::Secret, task::TaskGroup};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    Capabilities, Runtime, RuntimeError, Session, SessionFilter, SessionHandle, StartOptions,
    session,
};

const NAME: &str = "native";
/// A stopped loop cancels its request and its tool and ends its MCP servers within this; then it is
/// left behind.
const STOP_WITHIN: Duration = Duration::from_secs(10);

const CAN: Capabilities = Capabilities {
    resume: true,
    steer: true,
    interrupt: true,
    approvals: true,
    usage: true,
    compact: true,
    clear: true,
    set_model: true,
    effort: EffortChange::AtOnce,
    efforts: &effort::WORDS,
    host_tools: true,
    mcp_stdio: true,
    mcp_http: true,
    list_sessions: true,
    structured: true,
    calls: true,
    failures: true,
    base_url: true,
    api_key: true,
    whispers: Some(gangline_core::whisper::WhisperRoad::Steer),
    ..Capabilities::NONE
};

/// The adapter; see the module.
#[derive(Debug, Default)]
pub struct Native;

#[async_trait]
impl Runtime for Native {
    fn capabilities(
        &self,
        _command: Option<&[String]>,
        _extra: &BTreeMap<String, Value>,
    ) -> Result<Capabilities, String> {
        Ok(CAN)
    }

    async fn start(
        &self,
        options: StartOptions,
        tasks: &mut TaskGroup,
    ) -> Result<Session, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        let options = with_key(options)?;
        let (mut opened, port) = session::pair(NAME, &options, CAN);
        let (started, begun) = oneshot::channel::<Result<(), String>>();
        let (tell, ended) = oneshot::channel();
        gangline_os::task::thread("native", move || {
            // Nobody may listen any more.
            let _ = tell.send(worker::run(worker::Start { options, port, started }));
        })
        .map_err(|error| fail(error.to_string()))?;
        begun.await.map_err(|_| fail("its thread ended at once".to_owned()))?.map_err(fail)?;
        // A thread cannot be ended: one that hangs is left behind.
        opened.run_in(tasks, STOP_WITHIN, async move { ended.await.unwrap_or(worker::Why::Died) });
        Ok(opened)
    }

    async fn list_sessions(
        &self,
        options: &StartOptions,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionHandle>, RuntimeError> {
        Ok(sessions::list(options, filter))
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
