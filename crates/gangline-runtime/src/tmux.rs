//! Any terminal program, in a tmux server of its own: the last resort (C29).
//!
//! A program is typed to and its screen is read; what it shows is believed, and nothing else. What
//! is known of a program is data (`tmux/profiles.json`, `tmux/profile.rs`). Start at
//! [`Tmux::start`]; what a screen means is decided in `tmux/turns.rs`, the terminal belongs to the
//! task in `tmux/worker.rs`. [`attach`] shows it to a human.

pub mod attach;
mod ear;
mod history;
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
use tokio::sync::{mpsc, watch};

use self::{ear::Ear, hooks::Hooks, launch::Takes, profile::Profile};
use crate::{
    Capabilities, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionHandle, StartOptions,
    StopReason, ToolServer, Verdict,
    door::{self, Door, Wish},
};

const NAME: &str = "tmux";
/// A stopped program has gone through its ladder within this.
const STOP_WITHIN: Duration = Duration::from_secs(25);

/// The adapter; see the module.
pub struct Tmux {
    /// The program where the configuration names none.
    usual: Option<&'static str>,
    /// The program takes texts while it works.
    steers: bool,
    door: Door,
}

impl Default for Tmux {
    fn default() -> Self {
        Self { usual: None, steers: false, door: Door::closed(NAME) }
    }
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
        Self { usual: Some(program), ..Self::default() }
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
fn hear(options: &StartOptions) -> (Option<Ear>, Option<String>) {
    match Ear::open(&options.tmp_dir) {
        Ok(ear) => (Some(ear), None),
        Err(error) => (None, Some(format!("the program's hooks cannot be heard: {error}"))),
    }
}

fn cannot(what: &'static str) -> RuntimeError {
    RuntimeError::Unsupported { runtime: NAME, what }
}

/// Returns whether sessions of this program, by the name of its file, have in a terminal the ids by
/// which the program itself knows them.
pub(crate) fn names_sessions(program: &str) -> bool {
    let profile = profile::Profile::of(std::path::Path::new(program), None);
    profile.is_ok_and(|it| !it.new_session.is_empty() && !it.resume.is_empty())
}

#[async_trait]
impl Runtime for Tmux {
    /// What the program's profile may take away again: `resume`, `steer`; and what it may add: the
    /// daemon's tools and tool servers, and what its hooks tell.
    fn capabilities(&self) -> Capabilities {
        Capabilities { resume: true, steer: true, interrupt: true, ..Capabilities::default() }
    }

    fn capabilities_of(
        &self,
        command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Capabilities {
        let named = command.and_then(|words| words.first()).map(String::as_str);
        let program = Path::new(named.or(self.usual).unwrap_or_default());
        // A start says what is wrong with the fields.
        let Ok(profile) = Profile::of(program, extra.get("screen")) else {
            return self.capabilities();
        };
        let tools = profile.tools.is_some();
        let hooks = profile.hooks.as_ref();
        Capabilities {
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
            ..self.capabilities()
        }
    }

    fn fault_of(
        &self,
        command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Option<String> {
        let named = command.and_then(|words| words.first()).map(String::as_str);
        let program = Path::new(named.or(self.usual).unwrap_or_default());
        Profile::of(program, extra.get("screen")).err()
    }

    async fn start(
        &mut self,
        mut options: StartOptions,
        events: mpsc::Sender<RuntimeEvent>,
    ) -> Result<SessionHandle, RuntimeError> {
        let fail = |why: String| RuntimeError::Start { runtime: NAME, why };
        let first = options.initial_prompt.take();
        let (turn, of_turn) = watch::channel(None);
        let takes = Takes::of(&options, self.usual);
        let (tools, unserved) =
            if takes.tools { serve_tools(&options, of_turn) } else { (None, None) };
        let (ear, unheard) = if takes.hooks { hear(&options) } else { (None, None) };
        let ours = (tools.as_ref(), ear.as_ref());
        let mut launch = launch::prepare(&options, self.usual, ours).map_err(fail)?;
        launch.notices.extend(unserved.into_iter().chain(unheard));
        self.steers = launch.profile.steer;
        let (outside, inside) = door::sides(events);
        let worker = worker::Worker::start(&options, launch, inside, (tools, turn, ear))
            .await
            .map_err(fail)?;
        let handle = worker.handle();
        let mut tasks = TaskGroup::new(NAME);
        tasks.spawn("session", worker.run());
        self.door.open(outside, handle, tasks, first).await
    }

    fn session(&self) -> Option<SessionHandle> {
        self.door.session()
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        self.door.prompt(prompt).await
    }

    async fn steer(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        self.door.ensure_open()?;
        if !self.steers {
            return Err(cannot("type while the program works"));
        }
        self.door.tell(Wish::Steer(prompt)).await
    }

    async fn interrupt(&mut self) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Interrupt).await
    }

    async fn decide(&mut self, _verdict: Verdict) -> Result<(), RuntimeError> {
        // Nothing was asked.
        self.door.ensure_open()
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
        if !self.door.stop(reason, STOP_WITHIN).await {
            tracing::error!("the terminal does not end; it is killed");
        }
    }

    fn is_ready(&self) -> bool {
        self.door.is_ready()
    }
}
