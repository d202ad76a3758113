//! An agent and the backend that it really has: the configured one, or the one that `--runtime` puts
//! in its place (R3-17).
//!
//! What the configuration says for the one is nothing to the other: a command, a login, a model, an
//! address and its key are left out when another program runs. Start at [`Loaded::driven`].

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use gangline_agent::{
    InsteadOf,
    container::{self, Container},
};
use gangline_config::{
    AgentConfig, Process, Profile,
    nearest::{nearest, slips},
};
use gangline_core::AgentName;
use gangline_os::process::find_on_path;
use gangline_runtime::{
    adapters,
    registry::{Found, Places, Registry, UnknownRuntime},
};

use super::{Loaded, fault, role};
use crate::failure::Failure;

#[cfg(test)]
mod tests;

/// The built-in backend that S2 knows.
const CLAUDE: &str = "claude";

/// The backends that were ordered by `--runtime`, by agent.
pub(crate) type Ordered = BTreeMap<AgentName, String>;

/// An agent with its backend.
#[derive(Debug)]
pub(crate) struct Driven {
    /// What is configured, as far as it is for this backend, and what the backend's entry adds.
    pub(crate) agent: AgentConfig,
    pub(crate) found: Found,
    /// The configured backend, if that is another.
    pub(crate) instead_of: Option<InsteadOf>,
}

impl Loaded {
    /// Returns the agent with this backend; `None`, and the name of the configured one, are the
    /// configured one.
    pub(crate) fn driven(
        &self,
        agent: &AgentConfig,
        runtime: Option<&str>,
    ) -> Result<Driven, Failure> {
        let configured = self.backend_name(agent);
        let Some(name) = runtime.filter(|name| *name != configured) else {
            let found = self.backend(agent)?;
            return Ok(Driven { agent: completed(agent.clone(), &found), found, instead_of: None });
        };
        let here = self.registry.at(&agent.directory);
        let found = here.find(name).map_err(|error| unknown(&here, &error))?;
        let same = here.find(&configured).is_ok_and(|it| it.owner() == found.owner());
        let mut left = agent.clone();
        let left_out = if same { for_program(&mut left, &found) } else { for_backend(&mut left) };
        let found = match left.process {
            Process::Tmux => found.in_terminal(),
            Process::Resident | Process::PerTurn => found,
        };
        // One that is gone has left what it is called.
        let owner = self.backend(agent).map_or_else(|_| configured.clone(), |it| it.owner());
        Ok(Driven {
            agent: completed(left, &found),
            found,
            instead_of: Some(InsteadOf { name: configured, owner, left_out }),
        })
    }
}

/// Another entry for the same program: only what names the program is nothing to it.
fn for_program(agent: &mut AgentConfig, found: &Found) -> Vec<String> {
    match found.command {
        Some(_) if agent.command.take().is_some() => vec!["command".to_owned()],
        Some(_) | None => Vec::new(),
    }
}

/// Takes away what is for another program; returns the keys.
fn for_backend(agent: &mut AgentConfig) -> Vec<String> {
    let usual = AgentConfig::new(agent.nick.clone(), PathBuf::new());
    let process = std::mem::replace(&mut agent.process, usual.process);
    let said = [
        ("command", agent.command.take().is_some()),
        ("account_dir", agent.account_dir.take().is_some()),
        ("model", agent.model.take().is_some()),
        ("base_url", agent.base_url.take().is_some()),
        ("api_key_env", agent.api_key_env.take().is_some()),
        ("process", process != usual.process),
    ];
    let said = said.into_iter().filter(|(_, said)| *said).map(|(key, _)| key.to_owned());
    said.chain(std::mem::take(&mut agent.extra).into_keys()).collect()
}

/// Puts the agent into its container: it works in the folder that is mounted there, and a Claude Code
/// has a model (R2-04, R2-12, C32, C39).
fn contain(agent: &mut AgentConfig, found: &Found, container: &Container) {
    if let Some(state) = container.mounted() {
        agent.directory = state.to_owned();
    }
    if found.entry.name == CLAUDE {
        agent.model.get_or_insert_with(|| container::MODEL.to_owned());
    }
}

/// Adds what the backend's entry says of its model, and what it is told first in Gas Town; the
/// agent's own wins.
fn completed(mut agent: AgentConfig, found: &Found) -> AgentConfig {
    agent.base_url = agent.base_url.or_else(|| found.base_url.clone());
    agent.api_key_env = agent.api_key_env.or_else(|| found.api_key_env.clone());
    if agent.profile == Profile::Container {
        contain(&mut agent, found, &Container::default());
    }
    if agent.initial_prompt.is_none() && role(&agent).is_some() {
        agent.initial_prompt = found.bootstrap().map(str::to_owned);
    }
    agent
}

/// Returns whether the backend runs a program: with one that does not, `command` has no effect.
pub(crate) fn runs_a_program(found: &Found) -> bool {
    found.entry.program.is_some() || found.entry.runs_any()
}

/// Returns where a person's own backends are written.
fn own_file() -> String {
    let file = Places::from_env(&|name| std::env::var_os(name)).ours;
    file.map_or_else(|| "runtimes.json".to_owned(), |file| file.display().to_string())
}

fn unknown(here: &Registry, error: &UnknownRuntime) -> Failure {
    let names = here.names();
    let names = names.iter().map(String::as_str);
    let failure = Failure::user(error.to_string());
    let failure = match nearest(&error.name, names, slips(&error.name)) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure,
    };
    failure.hint("`gangline runtime list` shows them; an entry in runtimes.json adds one")
}

impl Driven {
    /// Makes sure that this build can run it, as far as that can be told beforehand.
    pub(crate) fn can_run(&self) -> Result<(), Failure> {
        self.available()?;
        self.has_key()?;
        self.has_program()?;
        self.has_sound_fields()
    }

    /// With a field that its backend cannot use, every start would fail.
    pub(crate) fn has_sound_fields(&self) -> Result<(), Failure> {
        let Some(fault) = fault(&self.agent, &self.found) else { return Ok(()) };
        Err(self.refused(fault).hint("correct that key where it is written, or remove it"))
    }

    /// Makes sure that this build has the adapter.
    pub(crate) fn available(&self) -> Result<(), Failure> {
        adapters::maker(&self.found).map(drop).map_err(|error| {
            let failure = self.refused(error.to_string());
            match self.instead_of {
                Some(_) => failure.hint("`gangline runtime list` shows what there is"),
                None => failure
                    .hint("set another `agent`, or switch this agent off with `enabled: false`"),
            }
        })
    }

    /// A backend that speaks to a model itself wants a key for one that is not on this machine.
    pub(crate) fn has_key(&self) -> Result<(), Failure> {
        let near = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        let url = self.agent.base_url.as_deref();
        let local = url.is_some_and(|url| near.iter().any(|near| url.starts_with(near)));
        if !self.found.entry.needs_key || local || self.agent.api_key_env.is_some() {
            return Ok(());
        }
        let failure = self.refused("its model needs a key");
        Err(match self.instead_of {
            Some(_) => failure.hint(format!(
                "write {{\"runtimes\": {{\"{}\": {{\"api_key_env\": \"NAME\"}}}}}} into {}: NAME is the \
                 environment variable that holds the key; or `base_url` for a model on this machine",
                self.found.name,
                own_file()
            )),
            None => failure
                .hint("write `api_key_env: NAME`, the environment variable that holds it")
                .hint("or `base_url: http://127.0.0.1:PORT` for a model on this machine"),
        })
    }

    /// An agent has to have its folder.
    pub(crate) fn has_folder(&self) -> Result<(), Failure> {
        let folder = &self.agent.directory;
        if folder.is_dir() {
            return Ok(());
        }
        let (nick, folder) = (&self.agent.nick, folder.display());
        let text = format!("cannot run {nick}: its directory {folder} is not there");
        Err(Failure::config(anyhow::anyhow!(text)).hint("make it, or set another `directory`"))
    }

    /// A backend that runs any program has to be told which.
    fn has_program(&self) -> Result<(), Failure> {
        let named = self.found.command.is_some() || self.agent.command.is_some();
        if !self.found.entry.needs_command || named {
            return Ok(());
        }
        let name = &self.found.name;
        let failure = self.refused(format!("`{name}` needs the name of a program"));
        Err(match self.instead_of {
            Some(_) => failure.hint(
                "name an entry of runtimes.json that has a program, such as `aider` with `bin`",
            ),
            None => failure.hint("write `command: [PROGRAM, …]`, its words in a list"),
        })
    }

    /// What the user typed is wrong, or what the configuration says.
    fn refused(&self, why: impl Into<String>) -> Failure {
        let nick = &self.agent.nick;
        match &self.instead_of {
            Some(_) => Failure::user(format!(
                "cannot run {nick} with `{}`: {}",
                self.found.name,
                why.into()
            )),
            None => Failure::config(anyhow::anyhow!("cannot run {nick}: {}", why.into())),
        }
    }

    /// Returns the program that it runs, if that is not found from here. Whoever starts the daemon
    /// may have another search path, so this is no reason to refuse.
    pub(crate) fn missing(&self) -> Option<&str> {
        if !runs_a_program(&self.found) {
            return None;
        }
        let command = self.agent.command.as_ref().and_then(|words| words.first());
        let program = command.map(String::as_str).or_else(|| self.found.program())?;
        let variable = |env: &BTreeMap<String, String>| env.get("PATH").map(OsString::from);
        let path = variable(&self.agent.env).or_else(|| variable(&self.found.env));
        let path = path.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
        let here = find_on_path(program.as_ref(), &path);
        here.is_none().then_some(program)
    }

    /// Returns what a person should know of a backend that is not the configured one.
    pub(crate) fn notice(&self) -> Option<String> {
        let instead_of = self.instead_of.as_ref()?;
        let (nick, name) = (&self.agent.nick, &self.found.name);
        let mut text = format!("{nick} gets {name} instead of {}", instead_of.name);
        if !instead_of.left_out.is_empty() {
            let keys = instead_of.left_out.join(", ");
            text.push_str(&format!("; these of its keys have no effect now: {keys}"));
        }
        Some(text)
    }
}
