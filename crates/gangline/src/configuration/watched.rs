//! How an agent is watched, from the `supervisor` section: which backend, with what program, login and
//! key (R0-33, R0-34).
//!
//! A supervisor that cannot be used does not keep an agent from running: rules watch alone, and people
//! are told why.

use std::{collections::BTreeMap, num::NonZeroU32, path::Path, sync::Arc};

use gangline_agent::watching::{Judge, Watcher, Watching};
use gangline_config::{AgentConfig, Supervisor};
use gangline_core::watch::Limits;
use gangline_os::secret::Secret;
use gangline_runtime::{
    adapters,
    registry::{Found, Registry, known},
};

use super::{Loaded, driven::runs_a_program};

#[cfg(test)]
mod tests;

/// The variables of a child.
type Env = BTreeMap<String, String>;

/// What is asked of the machine.
#[derive(Clone, Copy)]
pub(crate) struct Rim<'a> {
    /// Returns the value of a variable; `None` if it is not set.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the environment of an agent's backend.
    pub(crate) child_env: &'a dyn Fn(&AgentConfig, &Found) -> Env,
    /// Returns whether a program is there, for a child with this environment in this folder.
    pub(crate) finds: &'a dyn Fn(&str, &Env, &Path) -> bool,
}

impl Loaded {
    /// Returns how an agent with this backend is watched.
    pub(crate) fn watching(
        &self,
        (agent, found): (&AgentConfig, &Found),
        rim: Rim<'_>,
    ) -> Watching {
        let supervisor = &self.config.supervisor;
        let by = match &supervisor.agent {
            gangline_config::Watcher::Off => Watcher::Off,
            gangline_config::Watcher::Rules => Watcher::Rules,
            gangline_config::Watcher::Model(backend) => {
                let here = self.registry.at(&agent.directory);
                match judge(&here, supervisor, (agent, found), rim) {
                    Ok(judge) => Watcher::Model(Box::new(judge)),
                    Err(why) => Watcher::Unusable { agent: backend.to_string(), why },
                }
            }
        };
        Watching { limits: limits(supervisor), by }
    }
}

fn limits(supervisor: &Supervisor) -> Limits {
    // The configuration has no zero in it.
    let of = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    Limits {
        window_size: of(supervisor.window_size),
        eval_interval: of(supervisor.eval_interval),
        escalation_threshold: of(supervisor.escalation_threshold),
    }
}

/// Returns the backend of the supervisor. What the agent's configuration says of its own program is for
/// the supervisor too where both are the same, and is nothing to it elsewhere.
fn judge(
    here: &Registry,
    supervisor: &Supervisor,
    (agent, agents): (&AgentConfig, &Found),
    rim: Rim<'_>,
) -> Result<Judge, String> {
    let backend = here.find(supervisor.agent.as_str()).map_err(|error| error.to_string())?;
    let make = adapters::maker(&backend).map_err(|error| error.to_string())?;
    let usual = AgentConfig::new(agent.nick.clone(), agent.directory.clone());
    let same = backend.owner() == agents.owner();
    let like = if same { agent } else { &usual };
    let acp = || backend.takes_acp_command().then(|| like.acp_command.clone());
    let said = supervisor.command.clone().or_else(|| like.command.clone());
    let command = said.map(|words| backend.completed(words)).or_else(acp);
    let mut env = (rim.child_env)(like, &backend);
    env.extend(supervisor.env.clone());
    has_program(&backend, command.as_deref(), |program| {
        (rim.finds)(program, &env, &agent.directory)
    })?;
    let extra = backend.extra.clone();
    let can = make().capabilities(command.as_deref().or(backend.command.as_deref()), &extra)?;
    if let Some(why) = Judge::unfit(can) {
        return Err(why.to_owned());
    }
    let either = |own: &Option<String>, theirs: &Option<String>, usual: &Option<String>| {
        own.clone().or_else(|| theirs.clone()).or_else(|| usual.clone())
    };
    let key = either(&supervisor.api_key_env, &like.api_key_env, &backend.api_key_env);
    let api_key = match key {
        Some(name) => match (rim.variable)(&name) {
            Some(value) => Some(Secret::new(value)),
            None => return Err(format!("the environment variable {name} is not set")),
        },
        None => None,
    };
    let base_url = either(&supervisor.base_url, &like.base_url, &backend.base_url);
    if backend.entry.needs_key && api_key.is_none() && base_url.is_none() {
        return Err(
            "its model needs a key: write `api_key_env: NAME` under `supervisor`".to_owned()
        );
    }
    Ok(Judge {
        command,
        account_dir: like.account_dir.clone(),
        base_url,
        api_key,
        env,
        model: supervisor.model().map(str::to_owned),
        thinking: supervisor.thinking.clone(),
        prompt: supervisor.prompt.clone(),
        make_runtime: Arc::new(make),
        backend,
    })
}

/// Makes sure that the program is there: otherwise nobody would hear of it before the third evaluation.
fn has_program(
    backend: &Found,
    command: Option<&[String]>,
    finds: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let first = |words: &[String]| words.first().cloned();
    let named = command.and_then(first).or_else(|| backend.command.as_deref().and_then(first));
    let program = named.or_else(|| backend.program().map(str::to_owned));
    let Some(program) = program.filter(|it| runs_a_program(backend) && !finds(it)) else {
        return Ok(());
    };
    let how = match known::known(backend.entry, &program).install {
        "" => "install it".to_owned(),
        install => format!("`{install}`"),
    };
    Err(format!(
        "its program `{program}` cannot be found: {how}, or write its path as `command` under `supervisor`"
    ))
}
