//! Any program that speaks the Agent Client Protocol over its standard input and output.
//!
//! The protocol leaves much open, and programs differ where it does: what is particular about one
//! is its `recipe`, and nothing else here knows a program's name. Start at [`Acp`]'s `start`; what a
//! message means is decided in `acp/session.rs`, the process belongs to the task in
//! `program/worker.rs`, and how it is started is in `acp/launch.rs`.

mod calls;
mod fields;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod launch;
mod listing;
mod modes;
mod permit;
mod recipe;
mod session;
mod turn_result;
mod update;
mod wire;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use gangline_core::effort::EffortChange;
use gangline_os::task::TaskGroup;
use serde_json::Value;
use tokio::sync::watch;

use self::{
    fields::{Fields, Tools},
    recipe::{Counts, Recipe},
};
use crate::{
    Capabilities, Mode, Runtime, RuntimeError, Session, SessionFilter, SessionHandle, StartOptions,
};

/// A stopped program has ended, killed if need be, within this.
const STOP_WITHIN: Duration = Duration::from_secs(20);

/// The adapter; see the module.
pub struct Acp {
    recipe: &'static Recipe,
}

impl Acp {
    const fn of(recipe: &'static Recipe) -> Self {
        Self { recipe }
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
}

/// Returns what a program of this recipe can do.
fn can(recipe: &Recipe, extra: &BTreeMap<String, Value>) -> Result<Capabilities, String> {
    let fields = Fields::of(extra)?;
    let takes = recipe.takes;
    Ok(Capabilities {
        resume: true,
        steer: false,
        interrupt: true,
        approvals: true,
        usage: recipe.counts != Counts::None,
        compact: recipe.compact.is_some(),
        clear: true,
        set_model: true,
        default_model: None,
        fixed_model: false,
        effort: EffortChange::Never,
        efforts: &[],
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
        whispers: None,
    })
}

#[async_trait]
impl Runtime for Acp {
    fn capabilities(
        &self,
        command: Option<&[String]>,
        extra: &BTreeMap<String, Value>,
    ) -> Result<Capabilities, String> {
        can(self.recipe.for_command(command), extra)
    }

    async fn start(
        &self,
        options: StartOptions,
        tasks: &mut TaskGroup,
    ) -> Result<Session, RuntimeError> {
        let name = self.recipe.name;
        let fail = |why: String| RuntimeError::Start { runtime: name, why };
        match options.mode {
            Mode::Resident => {}
            Mode::PerTurn | Mode::Tmux => {
                return Err(fail("it runs as one process for the whole session only".to_owned()));
            }
        }
        let recipe = self.recipe.for_command(options.command.as_deref());
        let (turn, open_turn) = watch::channel(None);
        let mut launch = launch::prepare(recipe, &options, open_turn).map_err(fail)?;
        let can = can(recipe, &options.extra).map_err(fail)?;
        let (mut session, port) = crate::session::pair(name, &options, can);
        if let Some(kept) = options.resume.as_ref().filter(|kept| kept.is_session()) {
            launch.past = options.past.of(&kept.0).await;
        }
        let (worker, tools) = launch.start((name, recipe), &options, turn, port).map_err(fail)?;
        session.run_in(tasks, STOP_WITHIN, async move {
            let why = worker.run().await;
            drop(tools);
            why
        });
        Ok(session)
    }

    async fn list_sessions(
        &self,
        options: &StartOptions,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionHandle>, RuntimeError> {
        let runtime = self.recipe.name;
        if !self.recipe.lists {
            return Err(RuntimeError::Unsupported { runtime, what: "list its sessions" });
        }
        let fail = |why| RuntimeError::Start { runtime, why };
        let recipe = self.recipe.for_command(options.command.as_deref());
        listing::list(recipe, options, filter).await.map_err(fail)
    }
}
