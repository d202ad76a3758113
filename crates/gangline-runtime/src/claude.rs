//! Claude Code, driven over its standard input and output: one process for the whole session, or
//! one for each turn.
//!
//! One pipe carries prompts, approvals, hooks and the daemon's tools. Nothing of the vendor's
//! format leaves this module. Start at [`Claude`]'s `start`; who owns which output is decided in
//! `claude/turns.rs`, the process belongs to the task in `program/worker.rs`, those of a session with
//! one for each turn to `claude/per_turn.rs`, and how it is started is in `claude/launch.rs`.

mod decode;
mod effort;
mod encode;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod launch;
mod login;
mod mcp;
mod per_turn;
mod permit;
mod sessions;
mod turn_result;
mod turns;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use gangline_core::effort::EffortChange;
use gangline_os::task::TaskGroup;
use serde_json::Value;

use self::per_turn::PerTurn;
use crate::{
    Capabilities, Mode, Runtime, RuntimeError, Session, SessionFilter, SessionHandle, StartOptions,
    session,
};

const NAME: &str = "claude";
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
    // A session that is resumed keeps the model that it had last, so leaving the name out does not
    // bring it back.
    default_model: Some("default"),
    // The newest one takes it with the next prompt, older ones with the next request.
    effort: EffortChange::NextTurn,
    efforts: &effort::LEVELS,
    begins_turns: true,
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
    whispers: Some(gangline_core::whisper::WhisperRoad::Hook),
    ..Capabilities::NONE
};

/// The adapter; see the module.
#[derive(Debug, Default)]
pub struct Claude;

#[async_trait]
impl Runtime for Claude {
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
        if options.mode == Mode::Tmux {
            return Err(fail("it is driven by its own protocol, not in a terminal".to_owned()));
        }
        let launch = launch::prepare(&options).await.map_err(fail)?;
        let (mut session, port) = session::pair(NAME, &options, CAN);
        if options.mode == Mode::PerTurn {
            let per_turn = PerTurn::new(options, launch, port);
            session.run_in(tasks, STOP_WITHIN, per_turn.run());
        } else {
            let worker = launch.start(&options, port).map_err(fail)?;
            session.run_in(tasks, STOP_WITHIN, worker.run());
        }
        Ok(session)
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
}
