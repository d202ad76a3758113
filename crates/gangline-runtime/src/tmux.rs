//! Any terminal program, in a tmux server of its own: the last resort (C29).
//!
//! A program is typed to and its screen is read; what it shows is believed, and nothing else. What
//! is known of a program is data (`tmux/profiles.json`, `tmux/profile.rs`). Start at
//! [`Tmux`]'s `start`; what a screen means is decided in `tmux/turns.rs`, the terminal belongs to the
//! task in `tmux/worker.rs`. [`attach`] shows it to a human.

pub mod attach;
mod folder;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod history;
mod hook_listener;
mod hooks;
mod launch;
mod offer;
mod profile;
mod screen;
mod server;
mod text;
mod turns;
mod worker;

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use gangline_core::TurnId;
use gangline_os::task::TaskGroup;
use serde_json::Value;
use tokio::sync::watch;

use self::{hook_listener::HookListener, hooks::Hooks, launch::Takes, profile::Profile};
use crate::{Capabilities, Runtime, RuntimeError, Session, StartOptions, ToolServer, session};

const NAME: &str = "tmux";
/// A stopped program has ended, killed if need be, within this.
const STOP_WITHIN: Duration = Duration::from_secs(25);

/// The adapter; see the module.
#[derive(Debug, Default)]
pub struct Tmux {
    /// The program where the configuration names none.
    usual: Option<&'static str>,
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
        Self { usual: Some(program) }
    }
}

/// Serves the daemon's tools, if it has any. Without them the agent still answers.
fn serve_tools(
    options: &StartOptions,
    turn: watch::Receiver<Option<TurnId>>,
) -> (Option<ToolServer>, Option<String>) {
    if options.tools.tools().is_empty() {
        return (None, None);
    }
    let folder = options.tmp_dir.join("tools");
    match ToolServer::start(Arc::clone(&options.tools), turn, &folder) {
        Ok(server) => (Some(server), None),
        Err(error) => (None, Some(format!("the daemon's tools cannot be served: {error}"))),
    }
}

/// Listens to the program's hooks. Without them it is believed by its screen alone.
fn hear(options: &StartOptions) -> (Option<HookListener>, Option<String>) {
    match HookListener::open(&options.tmp_dir) {
        Ok(listener) => (Some(listener), None),
        Err(error) => (None, Some(format!("the program's hooks cannot be heard: {error}"))),
    }
}

/// Returns whether sessions of this program, by the name of its file, have in a terminal the ids by
/// which the program itself knows them.
pub(crate) fn names_sessions(program: &str) -> bool {
    let profile = profile::Profile::of(std::path::Path::new(program), None);
    profile.is_ok_and(|it| !it.new_session.is_empty() && !it.resume.is_empty())
}

/// Returns what can be done with a program of this profile: it may take away `steer`, and add the
/// daemon's tools, tool servers, and what its hooks tell.
fn can(profile: &Profile) -> Capabilities {
    let tools = profile.tools.is_some();
    let hooks = profile.hooks.as_ref();
    Capabilities {
        resume: true,
        interrupt: true,
        steer: profile.steer,
        bare: profile.bare,
        fixed_model: profile.model.is_empty(),
        host_tools: tools,
        mcp_stdio: tools,
        mcp_http: tools,
        calls: hooks.is_some_and(Hooks::calls),
        failures: hooks.is_some_and(Hooks::failures),
        base_url: profile.url_variable.is_some(),
        api_key: profile.key_variable.is_some(),
        account: profile.account_variable.is_some(),
        ..Capabilities::default()
    }
}

#[async_trait]
impl Runtime for Tmux {
    fn capabilities(
        &self,
        command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Result<Capabilities, String> {
        let named = command.and_then(|words| words.first()).map(String::as_str);
        let program = Path::new(named.or(self.usual).unwrap_or_default());
        Profile::of(program, extra.get("screen")).map(|profile| can(&profile))
    }

    async fn start(
        &self,
        options: StartOptions,
        tasks: &mut TaskGroup,
    ) -> Result<Session, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        let (turn, of_turn) = watch::channel(None);
        let takes = Takes::of(&options, self.usual);
        let (tools, unserved) =
            if takes.tools { serve_tools(&options, of_turn) } else { (None, None) };
        let (listener, unheard) = if takes.hooks { hear(&options) } else { (None, None) };
        let ours = (tools.as_ref(), listener.as_ref());
        let mut launch = launch::prepare(&options, self.usual, ours).map_err(fail)?;
        launch.notices.extend(unserved.into_iter().chain(unheard));
        let (mut session, port) = session::pair(NAME, &options, can(&launch.profile));
        let worker =
            worker::Worker::start(launch, port, (tools, turn, listener)).await.map_err(fail)?;
        session.run_in(tasks, STOP_WITHIN, worker.run());
        Ok(session)
    }
}
