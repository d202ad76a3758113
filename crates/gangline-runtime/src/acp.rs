//! Any program that speaks the Agent Client Protocol over its standard input and output.
//!
//! The protocol leaves much open, and programs differ where it does: what is particular about one
//! is its `recipe`, and nothing else here knows a program's name. Start at [`Acp::start`]; what a
//! message means is decided in `acp/session.rs`, the process belongs to the task in
//! `program/worker.rs`, and how it is started is in `acp/launch.rs`.

mod calls;
mod fields;
mod launch;
mod listing;
mod modes;
mod permit;
mod recipe;
mod session;
mod update;
mod verdict;
mod wire;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use gangline_os::task::TaskGroup;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use self::{
    fields::{Fields, Tools},
    recipe::{Counts, Recipe},
};
use crate::{
    Capabilities, Mode, Prompt, Runtime, RuntimeError, RuntimeEvent, SessionFilter, SessionHandle,
    StartOptions, StopReason, Verdict,
    door::{self, Door, Wish},
};

/// A stopped program has gone through its ladder within this.
const STOP_WITHIN: Duration = Duration::from_secs(20);

/// The adapter; see the module.
pub struct Acp {
    recipe: &'static Recipe,
    /// The recipe of the program that was started: of any program, it is known then.
    driven: &'static Recipe,
    door: Door,
}

impl Acp {
    fn of(recipe: &'static Recipe) -> Self {
        Self { recipe, driven: recipe, door: Door::closed(recipe.name) }
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

    fn unsupported(&self, what: &'static str) -> RuntimeError {
        RuntimeError::Unsupported { runtime: self.recipe.name, what }
    }
}

/// Returns what a program of this recipe can do.
fn can(recipe: &Recipe, extra: &BTreeMap<String, Value>) -> Capabilities {
    let fields = Fields::of(extra).unwrap_or_default();
    let takes = recipe.takes;
    Capabilities {
        resume: true,
        steer: false,
        interrupt: true,
        approvals: true,
        usage: recipe.counts != Counts::None,
        compact: recipe.compact.is_some(),
        clear: true,
        set_model: true,
        fixed_model: false,
        begins_turns: false,
        host_tools: fields.tools != Tools::None,
        mcp_stdio: recipe.servers.stdio,
        mcp_http: recipe.servers.http,
        list_sessions: recipe.lists,
        bare: false,
        structured: true,
        calls: true,
        failures: true,
        base_url: takes.base_url || fields.model_env.base_url.is_some(),
        api_key: takes.key || fields.model_env.key.is_some(),
        account: false,
    }
}

#[async_trait]
impl Runtime for Acp {
    fn capabilities(&self) -> Capabilities {
        can(self.driven, &BTreeMap::new())
    }

    fn capabilities_of(
        &self,
        command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Capabilities {
        can(self.recipe.for_command(command), extra)
    }

    fn fault_of(
        &self,
        _command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Option<String> {
        Fields::of(extra).err()
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
        let first = options.initial_prompt.take();
        let recipe = self.recipe.for_command(options.command.as_deref());
        self.driven = recipe;
        let (turn, open_turn) = watch::channel(None);
        let launch = launch::prepare(recipe, &options, open_turn).map_err(fail)?;
        let (outside, inside) = door::sides(events);
        let (worker, tools) = launch.start((name, recipe), &options, turn, inside).map_err(fail)?;
        let handle = worker.handle();
        let mut tasks = TaskGroup::new(name);
        tasks.spawn("session", async move {
            worker.run().await;
            drop(tools);
        });
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
        if !self.recipe.lists {
            return Err(self.unsupported("list its sessions"));
        }
        let fail = |why| RuntimeError::Start { runtime: self.recipe.name, why };
        let recipe = self.recipe.for_command(options.command.as_deref());
        listing::list(recipe, options, filter).await.map_err(fail)
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<(), RuntimeError> {
        self.door.prompt(prompt).await
    }

    async fn steer(&mut self, _prompt: Prompt) -> Result<(), RuntimeError> {
        Err(self.unsupported("take a text in a turn"))
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
        if self.driven.compact.is_none() {
            return Err(self.unsupported("shorten its context"));
        }
        self.door.tell(Wish::Compact).await
    }

    async fn clear(&mut self) -> Result<(), RuntimeError> {
        self.door.tell(Wish::Clear).await
    }

    async fn stop(&mut self, reason: StopReason) {
        if !self.door.stop(reason, STOP_WITHIN).await {
            tracing::error!(name = self.recipe.name, "a program does not end; it is killed");
        }
    }

    fn is_ready(&self) -> bool {
        self.door.is_ready()
    }
}
