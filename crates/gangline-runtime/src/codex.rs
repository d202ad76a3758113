//! Codex, as one `codex app-server` for the whole session, driven over its standard streams.
//!
//! One pipe carries prompts, approvals and the daemon's tools. Nothing of the vendor's format leaves
//! this module. Start at [`Codex`]'s `start`; what a line means is decided in `codex/turns.rs`, the
//! process belongs to the task in `program/worker.rs`, and how it is started, and with what a
//! conversation begins, is in `codex/launch.rs` and `codex/thread.rs`.

mod decode;
mod effort;
mod encode;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod items;
mod launch;
mod list;
mod login;
mod permit;
mod thread;
mod turn_result;
mod turns;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use gangline_core::effort::EffortChange;
use gangline_os::task::TaskGroup;
use serde_json::Value;

use crate::{
    Capabilities, Mode, Runtime, RuntimeError, Session, SessionFilter, SessionHandle, StartOptions,
    session,
};

const NAME: &str = "codex";
/// The name under which the daemon's tools may be offered elsewhere as a tool server.
const SERVER: &str = "gangline";
/// A stopped program has ended, killed if need be, within this.
const STOP_WITHIN: Duration = Duration::from_secs(20);

const CAN: Capabilities = Capabilities {
    resume: true,
    steer: true,
    interrupt: true,
    approvals: true,
    usage: true,
    compact: true,
    clear: true,
    set_model: true,
    effort: EffortChange::NextTurn,
    efforts: &effort::LEVELS,
    host_tools: true,
    mcp_stdio: true,
    mcp_http: true,
    list_sessions: true,
    structured: true,
    calls: true,
    failures: true,
    base_url: true,
    api_key: true,
    account: true,
    whispers: Some(gangline_core::whisper::WhisperRoad::Steer),
    ..Capabilities::NONE
};

/// The adapter; see the module.
#[derive(Debug, Default)]
pub struct Codex;

#[async_trait]
impl Runtime for Codex {
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
        match options.mode {
            Mode::Resident => {}
            Mode::PerTurn | Mode::Tmux => {
                return Err(fail("it runs as one process for the whole session only".to_owned()));
            }
        }
        let launch = launch::prepare(&options).await.map_err(fail)?;
        let (mut session, port) = session::pair(NAME, &options, CAN);
        let worker = launch.start(&options, port).map_err(fail)?;
        session.run_in(tasks, STOP_WITHIN, worker.run());
        Ok(session)
    }

    async fn list_sessions(
        &self,
        options: &StartOptions,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionHandle>, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        list::sessions(options, filter).await.map_err(fail)
    }
}
