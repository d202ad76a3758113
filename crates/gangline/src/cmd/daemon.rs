//! `gangline daemon`: the process of one agent.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangline_agent::{
    Causes, Ended, IrcSettings, Opened, Settings, SpendingSettings, container::Container,
    watching::Watcher,
};
use gangline_config::{AgentConfig, Profile, PromptBy};
use gangline_core::{AgentName, KnownSecret};
use gangline_hub::credentials;
use gangline_irc::client::Address;
use gangline_os::{
    clock, fsio,
    paths::Paths,
    process::{self, base_env, detach_session, find_on_path},
    secret::Secret,
};
use gangline_relay::Upstream;
use gangline_runtime::{adapters, registry::Found};

use crate::{
    cli::Global,
    configuration::{self, Loaded, driven::Driven, servers, watched::Rim},
    failure::Failure,
    fleet::cause::unset,
    keep::MODEL_FILE,
    names, output, place, program,
    who::Who,
};

#[cfg(test)]
mod tests;

/// A token file is one short line.
const TOKEN_MAX: u64 = 4096;
/// What stands for the key of the supervisor's model where somebody decides.
const SUPERVISORS_KEY: &str = "key of the supervisor";
/// The program's name in a shell.
const PROGRAM: &str = "gangline";

/// Run the process of one agent; `up` starts it for you
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    pub(crate) agent: Who,
    /// The address of a foreign IRC server, instead of the configured one; Gangline's own server is
    /// reached through its socket
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) irc: Option<String>,
    /// Use this backend instead of the configured one; `gangline runtime list` names them. For this
    /// process only [default: the one given to `up`, `start` or `restart`]
    #[arg(long, value_name = "NAME")]
    pub(crate) runtime: Option<String>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let mut paths = place::plain(&global.place())?;
    let loaded = configuration::load(&paths.config_file)?;
    if let (None, Some(state)) = (&global.state, loaded.state()) {
        paths.state = state;
    }
    let nick = named(&loaded, &args.agent)?.nick.clone();
    let opened = match Opened::new(&paths, &nick, &clock::system()).await {
        Ok(opened) => opened,
        Err(ended) => return Ok(outcome(&ended)),
    };
    let runtime = match &args.runtime {
        Some(runtime) => Some(runtime.clone()),
        None => match opened.runtime(&nick).await {
            Ok(runtime) => runtime,
            Err(ended) => return Ok(outcome(&ended)),
        },
    };
    let settings = settings((paths, &loaded), (&nick, &args), runtime.as_deref())?;
    if let Err(error) = detach_session() {
        // Started by hand from a shell: the terminal stays.
        tracing::debug!(%error, "stays in its session");
    }
    if let Err(error) = process::become_subreaper() {
        tracing::warn!(%error, "what its programs leave is not adopted, and not ended with them");
    }
    // What the file says of other agents is nothing that this one needs for life.
    drop(loaded);
    let ended = Box::pin(gangline_agent::run(opened, settings)).await;
    Ok(outcome(&ended))
}

/// Says how the daemon ended; returns its exit code.
fn outcome(ended: &Ended) -> u8 {
    match ended.code {
        0 => tracing::info!(why = ended.why, "ended"),
        _ => output::note(&format!("error: {}", ended.why)),
    }
    ended.code
}

/// Returns the agent that is meant. No restart makes a name another one.
fn named<'a>(loaded: &'a Loaded, who: &Who) -> Result<&'a AgentConfig, Failure> {
    let known: Vec<AgentName> =
        loaded.config.agents.iter().map(|agent| agent.nick.clone()).collect();
    loaded.agent(&names::meant(who, &known).map_err(Failure::for_good)?)
}

fn causes(loaded: &Loaded, agent: &AgentConfig) -> Causes {
    let released = loaded.config.turns_per_cause;
    let limit = agent.turns_per_cause.unwrap_or(released);
    Causes { limit: limit.into(), released: released.into() }
}

/// Returns what an agent may spend, and where its relay leads.
fn spending(
    loaded: &Loaded,
    agent: &AgentConfig,
    found: &Found,
) -> Result<SpendingSettings, Failure> {
    let config = &loaded.config;
    let relayed = config.relays(agent);
    let can = || configuration::can(agent, found).unwrap_or_default();
    let fault = |why: String| {
        let text = format!("the relay of {}: {why}", agent.nick);
        Failure::config(anyhow::anyhow!(text))
            .hint("leave `relay` out, and `action: stop` of its budgets")
    };
    let named = || agent.base_url.clone().or_else(|| found.entry.api.map(str::to_owned));
    let relay_to = match named() {
        _ if !relayed => None,
        _ if !can().base_url => {
            return Err(fault(format!("the backend {} takes no address of a model", found.name)));
        }
        None => {
            let text = format!("nobody knows where {} has its model: write `base_url`", found.name);
            return Err(fault(text));
        }
        Some(address) => match Upstream::parse(&address) {
            Ok(_) => Some(address),
            Err(error) => return Err(fault(error.to_string())),
        },
    };
    Ok(SpendingSettings {
        budgets: config.budgets_of(agent),
        prices: config.price_list(),
        relay_to,
        account: loaded.account((agent, found)),
    })
}

fn settings(
    (paths, loaded): (Paths, &Loaded),
    (nick, args): (&AgentName, &Args),
    runtime: Option<&str>,
) -> Result<Settings, Failure> {
    let driven = loaded.driven(loaded.agent(nick)?, runtime).map_err(|failure| {
        // No restart makes it another name.
        match runtime {
            Some(name) => failure.for_good().hint(format!(
                "`gangline restart {} --runtime NAME` orders another than `{name}`",
                nick
            )),
            None => failure,
        }
    })?;
    match driven.instead_of {
        Some(_) => driven.available()?,
        None => driven.can_run()?,
    }
    driven.has_folder()?;
    loaded.has_servers(&driven.agent)?;
    let Driven { mut agent, found, instead_of } = driven;
    agent.agent = Some(found.name.parse().map_err(Failure::config)?);
    let make = adapters::maker(&found).map_err(Failure::config)?;
    let irc = irc(loaded, &agent, &paths, args.irc.as_deref())?;
    let api_key = agent.api_key_env.as_deref().map(from_environment).transpose()?;
    let mut secrets = secrets((&agent, &found), &paths, irc.login.as_ref(), api_key.as_ref());
    let rooms = loaded.config.server.rooms.iter();
    let keys = rooms.filter_map(|(room, it)| Some((room, it.key.as_ref()?)));
    secrets
        .extend(keys.map(|(room, key)| KnownSecret::new(format!("key of {room}"), key.expose())));
    let owners_only = owners_only(loaded, &agent, &found);
    let watching = loaded.watching((&agent, &found), RIM);
    secrets.extend(of_the_watcher(&watching.by));
    Ok(Settings {
        container: (agent.profile == Profile::Container).then(Container::default),
        mark: loaded.marks.get(nick).cloned().unwrap_or_default(),
        owners_only,
        everybody: loaded.config.agents.iter().map(|agent| agent.nick.clone()).collect(),
        irc,
        child_env: child_env(&agent, &found),
        server_key: loaded.config.mcp.server_key,
        mcp_servers: servers::resolved(&agent)?,
        tool_bridge: tool_bridge()?,
        hooks: agent.hooks.clone().or_else(|| loaded.config.hooks.clone()),
        buffer_size: loaded.config.buffer_size,
        sleep: loaded.config.sleep_of(&agent),
        on_escalation: loaded.config.supervisor.on_escalation,
        watchdogs: loaded.config.watchdogs.limits(),
        causes: causes(loaded, &agent),
        spending: spending(loaded, &agent, &found)?,
        watching,
        trusted: None,
        api_key,
        secrets,
        model_file: std::env::var_os(MODEL_FILE).filter(|path| !path.is_empty()).map(PathBuf::from),
        alerts: Arc::new(crate::configuration::alerts::plan(loaded)),
        clock: clock::system(),
        make_runtime: Arc::new(make),
        backend: found,
        instead_of,
        paths,
        agent,
    })
}

/// Returns the secrets of the supervisor's own backend.
fn of_the_watcher(by: &Watcher) -> Vec<KnownSecret> {
    let Watcher::Model(judge) = by else { return Vec::new() };
    let key = judge.api_key.as_ref().map(|key| KnownSecret::new(SUPERVISORS_KEY, key.expose()));
    let env = judge.env.iter().filter(|(name, _)| is_secret(name));
    key.into_iter().chain(env.map(|(name, value)| KnownSecret::new(name, value))).collect()
}

fn irc(
    loaded: &Loaded,
    agent: &AgentConfig,
    paths: &Paths,
    given: Option<&str>,
) -> Result<IrcSettings, Failure> {
    let network = &loaded.config.network;
    let server = match given {
        // Whoever listens on the port is believed by no daemon.
        _ if network.embedded => Address::Own(paths.irc_socket()),
        Some(address) => Address::Tcp(address.to_owned()),
        None => Address::Tcp(loaded.config.server.address()),
    };
    let login = match (&network.sasl, network.embedded) {
        (_, true) => {
            let file = credentials::agent_secret_file(paths, &agent.nick);
            let secret = credentials::load_or_make(&file).map_err(Failure::environment)?;
            Some((agent.nick.to_string(), secret))
        }
        (Some(sasl), false) => {
            let account = sasl.account.clone().unwrap_or_else(|| agent.nick.to_string());
            Some((account, from_environment(&sasl.password_env)?))
        }
        (None, false) => None,
    };
    Ok(IrcSettings { server, login, trust_nicks: network.trust_nicks })
}

/// Returns the agents that only owners prompt; of this one by the backend that it really has.
fn owners_only(loaded: &Loaded, this: &AgentConfig, found: &Found) -> Vec<AgentName> {
    let by = |agent: &&AgentConfig| match agent.nick == this.nick {
        true => configuration::prompt_by(agent, found),
        false => match loaded.backend(agent) {
            Ok(found) => configuration::prompt_by(agent, &found),
            // It does not run.
            Err(_) => agent.prompt.unwrap_or(PromptBy::Owners),
        },
    };
    let owners = loaded.config.agents.iter().filter(|agent| by(agent) == PromptBy::Owners);
    owners.map(|agent| agent.nick.clone()).collect()
}

/// Returns the value of a variable, if it has one.
fn set_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// What a supervisor's settings ask of this machine.
pub(super) const RIM: Rim<'static> =
    Rim { variable: &set_variable, child_env: &child_env, finds: &finds };

/// Returns whether a child with this environment finds the program.
fn finds(program: &str, env: &BTreeMap<String, String>, folder: &Path) -> bool {
    if program.contains('/') {
        return folder.join(program).is_file();
    }
    let path = env.get("PATH").map_or("", String::as_str);
    find_on_path(program.as_ref(), path.as_ref()).is_some()
}

/// Returns the value of a variable that the configuration names.
fn from_environment(name: &str) -> Result<Secret, Failure> {
    match std::env::var(name) {
        Ok(value) if !value.trim().is_empty() => Ok(Secret::new(value.trim())),
        Ok(_) | Err(_) => Err(Failure::config(anyhow::anyhow!(unset(name)))
            .hint("the configuration names it: set it where the hub is started")),
    }
}

/// Returns the environment of the backend: what every child may have, and what is configured. Its
/// shell finds `gangline`, so that the agent can speak and read by it.
pub(crate) fn child_env(agent: &AgentConfig, found: &Found) -> BTreeMap<String, String> {
    let base = base_env().into_iter();
    let text = base
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut env: BTreeMap<String, String> =
        text.chain(found.env.clone()).chain(agent.env.clone()).collect();
    let own = std::env::current_exe().ok();
    if let Some(folder) = own.as_deref().and_then(Path::parent) {
        let path = env.remove("PATH").unwrap_or_default();
        env.insert("PATH".to_owned(), with_program(path, folder));
    }
    env
}

/// Returns the command that joins a tool server's streams to the socket that is named behind it.
/// A path that is no text has none: then tools are offered over HTTP alone.
pub(super) fn tool_bridge() -> Result<Vec<String>, Failure> {
    let program = program::path()?.into_os_string().into_string();
    let words = |program| vec![program, "mcp".to_owned(), "--connect".to_owned()];
    Ok(program.map(words).unwrap_or_default())
}

/// Returns the search path with our own program's folder behind it, unless the program is found.
fn with_program(path: String, folder: &Path) -> String {
    let found = find_on_path(Path::new(PROGRAM), path.as_ref()).is_some();
    match folder.to_str() {
        Some(folder) if !found && !path.is_empty() => format!("{path}:{folder}"),
        Some(folder) if !found => folder.to_owned(),
        Some(_) | None => path,
    }
}

/// Returns the IRC passwords of the installation's agents: those that there are by now. The hub makes
/// them before it starts the first daemon.
fn of_agents(paths: &Paths) -> Vec<KnownSecret> {
    let folders = std::fs::read_dir(paths.state.join("agents")).into_iter().flatten().flatten();
    let read = |folder: std::fs::DirEntry| {
        let file = folder.path().join(credentials::AGENT_SECRET);
        let text = fsio::read_text_capped(&file, TOKEN_MAX).ok()?;
        let nick = folder.file_name();
        Some(KnownSecret::new(irc_password(&nick.to_string_lossy()), text.trim()))
    };
    folders.filter_map(read).collect()
}

fn irc_password(nick: &str) -> String {
    format!("IRC password of {nick}")
}

/// Returns every value that must be masked, with its source.
fn secrets(
    (agent, found): (&AgentConfig, &Found),
    paths: &Paths,
    login: Option<&(String, Secret)>,
    api_key: Option<&Secret>,
) -> Vec<KnownSecret> {
    let configured = found.env.iter().chain(&agent.env).filter(|(name, _)| is_secret(name));
    let owner = fsio::read_text_capped(&credentials::owner_token_file(paths), TOKEN_MAX).ok();
    let variable = agent.api_key_env.as_deref().unwrap_or("key for the model");
    login
        .map(|(account, password)| KnownSecret::new(irc_password(account), password.expose()))
        .into_iter()
        .chain(api_key.map(|key| KnownSecret::new(variable, key.expose())))
        .chain(owner.map(|token| KnownSecret::new("owner token", token.trim())))
        .chain(of_agents(paths))
        .chain(configured.map(|(name, value)| KnownSecret::new(name, value)))
        .chain(servers::secrets(agent))
        .collect()
}

/// Returns whether a variable of this name holds what must not be shown.
fn is_secret(name: &str) -> bool {
    const SIGNS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"];
    let name = name.to_ascii_uppercase();
    SIGNS.iter().any(|sign| name.contains(sign))
}
