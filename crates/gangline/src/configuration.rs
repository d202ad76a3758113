//! The configuration file: read with a limit, parsed, its paths made absolute.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use gangline_config::{
    AgentConfig, Config, ConfigError, Environment, MAX_CONFIG_BYTES, MentionWhenBusy, Process,
    PromptBy, Warning,
    nearest::{nearest, slips},
    resolve_path,
};
use gangline_core::AgentName;
use gangline_os::{
    fsio::{self, TooLarge},
    paths,
};
use gangline_runtime::{
    Capabilities, adapters,
    registry::{Found, Places, Registry},
};

use crate::failure::Failure;

use driven::Ordered;

pub(crate) mod access;
mod account;
pub(crate) mod alerts;
pub(crate) mod driven;
pub(crate) mod fitness;
pub(crate) mod retired;
pub(crate) mod servers;
mod system_prompt;
pub(crate) mod watched;

#[cfg(test)]
mod tests;

/// A configuration that can be used, and the file it is from.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) file: PathBuf,
    /// Which backends there are.
    pub(crate) registry: Registry,
    /// The agents whose file of MCP servers cannot be used: they cannot run.
    pub(crate) unread: BTreeSet<AgentName>,
    /// What tells an agent's part from another one: see [`Config::marks`].
    pub(crate) marks: BTreeMap<AgentName, String>,
}

/// Reads the files that say which backends there are, and which of them is usual.
pub(crate) fn registry() -> Registry {
    Registry::load(&Places::from_env(&|name| std::env::var_os(name)))
}

/// Reads a configuration.
pub(crate) fn load(file: &Path) -> Result<Loaded, Failure> {
    let mut source = Source::read(file);
    let text = std::mem::replace(&mut source.text, Ok(String::new()))?;
    let config = source.checked(&text)?;
    let marks = gangline_config::parse(&text, &source.name()).map(|plain| plain.marks());
    Ok(Loaded { marks: marks.unwrap_or_default(), ..source.loaded(config) })
}

/// Reads a configuration for what it may tell; none if there is no usable one. One that names a
/// backend that is gone still tells of the agents.
pub(crate) fn quiet(file: &Path) -> Option<Loaded> {
    Source::read(file).quiet()
}

/// A configuration file and those that say which backends there are, read once.
#[derive(Debug)]
pub(crate) struct Source {
    file: PathBuf,
    text: Result<String, Failure>,
    registry: Registry,
}

impl Source {
    /// Reads the files; a configuration that cannot be read is a [`Self::trouble`].
    pub(crate) fn read(file: &Path) -> Self {
        Self { file: file.to_owned(), text: read(file), registry: registry() }
    }

    /// Returns the configuration for what it may tell; see [`quiet`].
    pub(crate) fn quiet(&self) -> Option<Loaded> {
        let config = gangline_config::parse(self.text.as_ref().ok()?, &self.name()).ok()?;
        Some(self.loaded(config))
    }

    /// Returns why a configuration that is there cannot be used, on one line that begins with its
    /// place; `None` if it can.
    pub(crate) fn trouble(&self) -> Option<String> {
        let said = match &self.text {
            Err(_) if !self.file.exists() => return None,
            Err(failure) => failure.sentence(),
            Ok(text) => Failure::from(self.checked(text).err()?).sentence(),
        };
        Some(format!("the configuration is broken: {}", said.lines().next().unwrap_or_default()))
    }

    /// Reads the text with the backends that there are in each agent's folder.
    fn checked(&self, text: &str) -> Result<Config, ConfigError> {
        let here = RefCell::new(BTreeMap::new());
        let names = |directory: Option<&Path>| match directory {
            Some(directory) => {
                let folder = from_file(&self.file, directory);
                let names = |folder: &PathBuf| self.registry.at(folder).names();
                here.borrow_mut().entry(folder).or_insert_with_key(names).clone()
            }
            None => self.registry.names(),
        };
        let environment = Environment::read(|name| std::env::var(name).ok());
        gangline_config::parse_known(text, &self.name(), &names, &environment)
    }

    fn loaded(&self, config: Config) -> Loaded {
        let (file, registry) = (self.file.clone(), self.registry.clone());
        Loaded { config, file, registry, unread: BTreeSet::new(), marks: BTreeMap::new() }
            .resolved()
    }

    fn name(&self) -> String {
        self.file.display().to_string()
    }
}

/// Returns a path of the configuration with `~` and relative ones resolved.
fn from_file(file: &Path, path: &Path) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let base = file.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    resolve_path(path, home.as_deref(), &paths::absolute(&base))
}

fn read(file: &Path) -> Result<String, Failure> {
    fsio::read_foreign_text(file, MAX_CONFIG_BYTES as u64).map_err(|error| {
        let size = error.get_ref().and_then(|inner| inner.downcast_ref::<TooLarge>());
        if let Some(TooLarge { size, .. }) = size {
            return ConfigError::too_large(&file.display().to_string(), *size).into();
        }
        match error.kind() {
            io::ErrorKind::NotFound => missing(file),
            _ => Failure::config(error).doing("cannot read the configuration"),
        }
    })
}

/// Returns the failure of a command whose configuration is not there.
pub(crate) fn missing(file: &Path) -> Failure {
    Failure::config(anyhow::anyhow!("there is no configuration {}", file.display()))
        .hint("`gangline init` writes one; `--config FILE` names another")
        .hint("`gangline demo` needs none")
}

impl Loaded {
    /// Makes relative paths start at the file's folder, and `~` the home directory; reads the files
    /// of MCP servers.
    fn resolved(mut self) -> Self {
        let file = self.file.clone();
        let resolve = |path: PathBuf| from_file(&file, &path);
        for agent in &mut self.config.agents {
            agent.directory = resolve(std::mem::take(&mut agent.directory));
            agent.account_dir = agent.account_dir.take().map(resolve);
            agent.mcp_servers_file = agent.mcp_servers_file.take().map(resolve);
            agent.system_prompt_file = agent.system_prompt_file.take().map(resolve);
            match servers::join(agent).and_then(|it| system_prompt::read(agent).map(|()| it)) {
                Ok(warnings) => self.config.warnings.extend(warnings),
                // It concerns this agent only.
                Err(_) => drop(self.unread.insert(agent.nick.clone())),
            }
        }
        let hooks = &mut self.config.webhooks;
        hooks.secret_file = hooks.secret_file.take().map(resolve);
        for target in &mut hooks.targets {
            target.secret_file = target.secret_file.take().map(resolve);
        }
        self.config.state = self.config.state.take().map(resolve);
        self
    }

    /// Makes sure that the agent's files of MCP servers and of its system prompt could be read.
    pub(crate) fn has_servers(&self, agent: &AgentConfig) -> Result<(), Failure> {
        match self.unread.contains(&agent.nick) {
            true => {
                servers::join(&mut agent.clone())?;
                system_prompt::read(&mut agent.clone())
            }
            false => Ok(()),
        }
    }

    /// Returns the state folder that the file names.
    pub(crate) fn state(&self) -> Option<PathBuf> {
        self.config.state.clone()
    }

    /// Returns the agents that should run.
    pub(crate) fn enabled(&self) -> impl Iterator<Item = &AgentConfig> {
        self.config.agents.iter().filter(|agent| agent.enabled)
    }

    /// Returns one agent.
    pub(crate) fn agent(&self, name: &AgentName) -> Result<&AgentConfig, Failure> {
        self.config.agent(name).ok_or_else(|| {
            let known: Vec<_> = self.config.agents.iter().map(|agent| &agent.nick).collect();
            let file = self.file.display();
            let failure = Failure::config(anyhow::anyhow!("there is no agent {name} in {file}"));
            near(failure, name, &known).hint(known_agents(known.into_iter()))
        })
    }

    /// Returns the loopback address of the embedded IRC server.
    pub(crate) fn embedded_address(&self) -> Result<SocketAddr, Failure> {
        let server = &self.config.server;
        match loopback(&server.host) {
            Some(ip) => Ok(SocketAddr::new(ip, server.port)),
            None => Err(Failure::config(anyhow::anyhow!(
                "the embedded IRC server listens on loopback only, not on `{}`",
                server.host
            ))
            .hint("write `host: 127.0.0.1` under `server:`")
            .hint("or join a server elsewhere by `network: {embedded: false}`")),
        }
    }

    /// Returns why agents cannot run with the backend that was ordered for them. Other agents are
    /// not affected.
    pub(crate) fn ordered_in_vain(&self, ordered: &Ordered) -> Vec<Failure> {
        let each = self.enabled().filter_map(|agent| {
            let name = ordered.get(&agent.nick)?;
            let failure = self.driven(agent, Some(name)).and_then(|it| it.can_run()).err()?;
            let nick = &agent.nick;
            Some(failure.doing(format!("{nick}: --runtime")).hint(format!(
                "`gangline restart {nick} --runtime NAME` orders another than `{name}`"
            )))
        });
        each.collect()
    }

    /// Returns what is configured and has no effect in this build, one text each.
    fn idle_keys(&self) -> Vec<String> {
        let (mut idle, mut elsewhere) = (Vec::new(), Vec::new());
        for agent in &self.config.agents {
            let can = self.backend(agent).ok().and_then(|it| can(agent, &it)).unwrap_or_default();
            if agent.mention_when_busy == MentionWhenBusy::Steer && !can.steer {
                idle.push(format!("mention_when_busy: steer of {}", agent.nick));
            }
            let address = "; the program takes it by `env`, or by variables that `model_env` names";
            for (key, said, taken) in [
                ("base_url", agent.base_url.is_some(), can.base_url),
                ("api_key_env", agent.api_key_env.is_some(), can.api_key),
            ] {
                if said && !taken {
                    elsewhere.push(format!("`{key} of {}` has no effect{address}", agent.nick));
                }
            }
            if agent.account_dir.is_some() && !can.account {
                idle.push(format!("account_dir of {}", agent.nick));
            }
            if agent.model.is_some() && can.fixed_model {
                idle.push(format!("model of {}", agent.nick));
            }
            let unusable = servers::unusable(agent, can);
            idle.extend(unusable.map(|key| format!("mcp_servers.{key} of {}", agent.nick)));
        }
        let file = self.file.display();
        let idle = idle.iter().map(|key| format!("`{key}` has no effect in this version"));
        idle.chain(elsewhere).map(|text| format!("{file}: {text}")).collect()
    }

    /// Returns the parser's warnings, and what this build cannot do, one text each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        // One that is off has been warned of with its place.
        let absent = self.enabled().filter_map(|agent| {
            let here = self.registry.at(&agent.directory);
            let error = match here.find(&self.backend_name(agent)) {
                Ok(found) => adapters::maker(&found).err()?.to_string(),
                Err(error) => error.to_string(),
            };
            Some(format!("{}: {}: {error}", self.file.display(), agent.nick))
        });
        let parsed = self.config.warnings.iter().map(Warning::to_string);
        parsed
            .chain(absent)
            .chain(self.files())
            .chain(self.idle_keys())
            .chain(alerts::troubles(self))
            .chain(self.retired())
            .collect()
    }

    /// Returns a text for each agent whose model was retired.
    fn retired(&self) -> impl Iterator<Item = String> {
        let file = self.file.display();
        self.enabled().filter_map(move |agent| {
            let advice = retired::advice(agent.model.as_deref()?)?;
            Some(format!("{file}: the model of {}: {advice}", agent.nick))
        })
    }

    /// Returns which agents work in a terminal, where nothing asks before it runs, and who may prompt
    /// them: one text each.
    pub(crate) fn shells(&self) -> Vec<String> {
        let shell = |agent: &AgentConfig| {
            let found = self.backend(agent).ok().filter(Found::is_in_terminal)?;
            let who = match prompt_by(agent, &found) {
                PromptBy::Owners => "its owner may prompt it and can run anything in its shell",
                PromptBy::Members => "every member may prompt it and can run anything in its shell",
            };
            Some(format!("{}: works in a terminal, without approvals; {who}", agent.nick))
        };
        self.enabled().filter_map(shell).collect()
    }

    /// Returns the parser's warnings, and what has no effect, one text each.
    pub(crate) fn odd(&self) -> Vec<String> {
        self.config.warnings.iter().map(Warning::to_string).chain(self.idle_keys()).collect()
    }

    /// Returns what is wrong with the files of the registry, one text each.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        let places = self.config.agents.iter().map(|agent| self.registry.at(&agent.directory));
        for registry in std::iter::once(self.registry.clone()).chain(places) {
            for problem in registry.problems() {
                let text = problem.to_string();
                if !said.contains(&text) {
                    said.push(text);
                }
            }
        }
        said
    }

    /// Returns the name of the agent's backend: the one that it names, else the usual one of its
    /// folder.
    pub(crate) fn backend_name(&self, agent: &AgentConfig) -> String {
        let usual = || self.registry.at(&agent.directory).default(role(agent)).name;
        agent.agent.as_ref().map_or_else(usual, |named| named.as_str().to_owned())
    }

    /// Returns the agent's backend.
    pub(crate) fn backend(&self, agent: &AgentConfig) -> Result<Found, Failure> {
        let here = self.registry.at(&agent.directory);
        let found = here.find(&self.backend_name(agent)).map_err(|error| {
            let by = match &agent.agent {
                Some(_) => String::new(),
                None => format!(", the default backend by {}", here.default(role(agent)).source),
            };
            Failure::config(error)
                .doing(format!("cannot run {}{by}", agent.nick))
                .hint("`gangline runtime list` shows the backends and what is wrong with the files")
        })?;
        Ok(match agent.process {
            Process::Tmux => found.in_terminal(),
            Process::Resident | Process::PerTurn => found,
        })
    }
}

/// Returns who prompts the agent: in a terminal nothing is asked before it runs, so there its owner
/// only unless the configuration says otherwise.
pub(crate) fn prompt_by(agent: &AgentConfig, found: &Found) -> PromptBy {
    let usual = if found.is_in_terminal() { PromptBy::Owners } else { PromptBy::Members };
    agent.prompt.unwrap_or(usual)
}

/// Returns the agent's role in Gas Town.
fn role(agent: &AgentConfig) -> Option<&str> {
    agent.gastown.role.as_deref().or(agent.env.get("GT_ROLE").map(String::as_str))
}

/// Returns what the agent's backend can do; nothing in a build without its adapter, or with fields
/// that it cannot read.
pub(crate) fn can(agent: &AgentConfig, found: &Found) -> Option<Capabilities> {
    let (command, extra) = for_adapter(agent, found);
    adapters::maker(found).ok()?().capabilities(command.as_deref(), &extra).ok()
}

/// Returns what is wrong with the fields that only the agent's backend reads.
fn fault(agent: &AgentConfig, found: &Found) -> Option<String> {
    let (command, extra) = for_adapter(agent, found);
    adapters::maker(found).ok()?().capabilities(command.as_deref(), &extra).err()
}

/// Returns the command and the fields that the adapter is given.
fn for_adapter(
    agent: &AgentConfig,
    found: &Found,
) -> (Option<Vec<String>>, BTreeMap<String, serde_json::Value>) {
    let acp = || found.takes_acp_command().then(|| agent.acp_command.clone());
    let command = agent.command.clone().or_else(acp).or_else(|| found.command.clone());
    let mut extra = found.extra.clone();
    extra.extend(agent.extra.clone());
    (command, extra)
}

/// Returns the failure for a name that no agent has, with the nearest and all that there are.
pub(crate) fn unknown<'a>(name: &AgentName, known: impl Iterator<Item = &'a AgentName>) -> Failure {
    let known: Vec<_> = known.collect();
    near(Failure::user(format!("there is no agent {name}")), name, &known)
        .hint(known_agents(known.into_iter()))
}

/// Returns the same failure for a word that is no nick.
pub(crate) fn unknown_word<'a>(word: &str, known: impl Iterator<Item = &'a AgentName>) -> Failure {
    let known: Vec<_> = known.collect();
    let failure = Failure::user(format!("there is no agent `{word}`"));
    let short: Vec<_> = known.iter().map(|known| known.short()).collect();
    let near = nearest(word, short, slips(word));
    let meant = near.and_then(|near| known.iter().find(|known| known.short() == near));
    let failure = match meant {
        Some(meant) => failure.hint(format!("did you mean {meant}?")),
        None => failure,
    };
    failure.hint(known_agents(known.into_iter()))
}

/// Adds the name that was probably meant: one with a few other letters, or the same behind another
/// server's name.
fn near(failure: Failure, name: &AgentName, known: &[&AgentName]) -> Failure {
    let word = name.folded();
    let slip = nearest(word, known.iter().map(|known| known.folded()), slips(word));
    let tail = |name: &str| name.split_once('-').map(|(_, tail)| tail.to_owned());
    let same_tail = || {
        let of = |known: &&&AgentName| tail(known.folded()) == tail(word);
        known.iter().find(of).map(|known| known.as_str())
    };
    match slip.or_else(same_tail) {
        Some(meant) => failure.hint(format!("did you mean {meant}?")),
        None => failure,
    }
}

/// Returns one line that names the agents there are.
pub(crate) fn known_agents<'a>(known: impl Iterator<Item = &'a AgentName>) -> String {
    let mut text = String::new();
    for name in known {
        let _ = write!(text, "{}{name}", if text.is_empty() { "known are " } else { ", " });
    }
    if text.is_empty() { "no agent is known yet".to_owned() } else { text }
}

/// Returns the address that a host of this machine means; none of another.
pub(crate) fn loopback(host: &str) -> Option<IpAddr> {
    if host.eq_ignore_ascii_case("localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().ok().filter(IpAddr::is_loopback)
}
