//! Opening the store for a command, and what every command asks it.

use std::collections::BTreeMap;

use gangline_agent::status::Around;
use gangline_api::status::StatusNote;
use gangline_core::{AgentName, MessageState};
use gangline_os::{clock, fsio, paths::Paths};
use gangline_store::{AgentRow, FolderTrustRow, MessageFilter, OpenError, OpenOptions, Store};

use crate::{
    configuration::{self, Loaded, driven::Ordered},
    failure::Failure,
    view::Facts,
};

/// Opens the store of a state folder that has one; never makes it.
pub(crate) async fn existing(paths: &Paths) -> Result<Store, Failure> {
    if !paths.database().is_file() {
        return Err(nothing_here(paths));
    }
    open(paths).await
}

/// Returns the failure of a command that needs an installation where there is none: what to do
/// depends on how far its setting up has come.
pub(crate) fn nothing_here(paths: &Paths) -> Failure {
    let (state, config) = (paths.state.display(), paths.config_file.display());
    if paths.config_file.is_file() && paths.database().is_file() {
        return Failure::user("no agent is known yet")
            .hint(format!("add one below `agents:` in {config}, then run `gangline up -d`"))
            .hint("`gangline init --force` looks for programs and keys, and writes a new file");
    }
    if paths.config_file.is_file() {
        return Failure::user(format!("nothing has run yet: there is no database in {state}"))
            .hint(format!("`gangline up -d` starts the agents of {config}"))
            .hint("for another installation, give its folder with --state DIR");
    }
    Failure::user(format!("Gangline is not set up here: there is no configuration {config}"))
        .hint("`gangline init` writes one; `gangline demo` needs none")
        .hint(format!("there is no database in {state} either: --state DIR names another folder"))
}

/// Opens the store for a message to an agent of the configuration, making it if it is missing.
pub(crate) async fn for_message(paths: &Paths, to: &AgentName) -> Result<Store, Failure> {
    if paths.database().is_file() {
        return open(paths).await;
    }
    let configured = configuration::quiet(&paths.config_file);
    if configured.is_none_or(|loaded| loaded.config.agent(to).is_none()) {
        return Err(nothing_here(paths));
    }
    fsio::private_dir(&paths.state).map_err(Failure::environment)?;
    open(paths).await
}

/// Opens the store, making it if it is missing and there is a configuration to make it for.
pub(crate) async fn configured(paths: &Paths, loaded: Option<&Loaded>) -> Result<Store, Failure> {
    if loaded.is_none() {
        return existing(paths).await;
    }
    fsio::private_dir(&paths.state).map_err(Failure::environment)?;
    open(paths).await
}

/// Returns the backends that `--runtime` has put in the place of the configured ones, by agent;
/// changes nothing, and takes a store that cannot be read for an empty one.
pub(crate) fn ordered(paths: &Paths) -> Ordered {
    let path = paths.database();
    if !path.is_file() {
        return Ordered::new();
    }
    match Store::look_at_orders(OpenOptions { path, clock: clock::system() }) {
        Ok(orders) => orders.into_iter().filter_map(|it| Some((it.agent, it.runtime?))).collect(),
        Err(error) => {
            // Whoever opens the store says so.
            tracing::debug!(%error, "cannot look at the orders");
            Ordered::new()
        }
    }
}

/// Returns the agents' rows with what their daemons told of themselves; changes nothing, and takes a
/// store that cannot be read for an empty one.
pub(crate) fn statuses(paths: &Paths) -> BTreeMap<AgentName, (AgentRow, StatusNote)> {
    let path = paths.database();
    if !path.is_file() {
        return BTreeMap::new();
    }
    let rows = Store::look_at_agents(OpenOptions { path, clock: clock::system() });
    let told = |row: AgentRow| {
        let note = row.status_json.as_deref().and_then(|text| serde_json::from_str(text).ok());
        (row.agent.clone(), (row, note.unwrap_or_default()))
    };
    rows.unwrap_or_default().into_iter().map(told).collect()
}

/// Returns the words that hold about agents' folders; changes nothing, and takes a store that cannot be
/// read for an empty one.
pub(crate) fn folder_trust(paths: &Paths) -> Vec<FolderTrustRow> {
    let path = paths.database();
    if !path.is_file() {
        return Vec::new();
    }
    let rows = Store::look_at_folders(OpenOptions { path, clock: clock::system() });
    rows.unwrap_or_else(|error| {
        tracing::debug!(%error, "cannot look at what was said of folders");
        Vec::new()
    })
}

/// Makes sure that a database that is there is not damaged, before anything starts on it. What else
/// is wrong with it is told by those who open it.
pub(crate) fn sound(paths: &Paths) -> Result<(), Failure> {
    let path = paths.database();
    if !path.exists() {
        return Ok(());
    }
    match Store::look(OpenOptions { path, clock: clock::system() }) {
        Err(error @ (OpenError::Corrupt { .. } | OpenError::NotADatabase { .. })) => {
            Err(error.into())
        }
        Ok(_)
        | Err(
            OpenError::NewerSchema { .. }
            | OpenError::TooOldSqlite { .. }
            | OpenError::Busy { .. }
            | OpenError::Io { .. },
        ) => Ok(()),
    }
}

async fn open(paths: &Paths) -> Result<Store, Failure> {
    let options = OpenOptions { path: paths.database(), clock: clock::system() };
    Ok(Store::open(options).await?)
}

/// With less room than this nothing can be begun, in bytes.
const NO_ROOM: u64 = 1 << 20;

/// Returns that the disk of the state folder is full, if it is, and what to do.
pub(crate) fn full(paths: &Paths) -> Option<Failure> {
    let state = paths.state.display();
    let free = fsio::free_bytes(&paths.state).ok().filter(|free| *free < NO_ROOM)?;
    let text = format!("the disk that holds {state} is full: {} kB are free", free / 1000);
    Some(
        Failure::environment(anyhow::anyhow!(text))
            .hint("free some space there and try again: nothing that was accepted is lost")
            .hint("or choose a state folder on another disk with --state"),
    )
}

/// Returns the names of all agents that the store or the configuration knows, in order.
pub(crate) fn names(rows: &[AgentRow], loaded: Option<&Loaded>) -> Vec<AgentName> {
    let configured = loaded.into_iter().flat_map(|loaded| &loaded.config.agents);
    let mut names: Vec<AgentName> = configured.map(|agent| agent.nick.clone()).collect();
    names.extend(rows.iter().map(|row| row.agent.clone()));
    names.sort();
    names.dedup();
    names
}

/// Makes sure that an agent is known; the failure names those that are.
pub(crate) async fn known(store: &Store, paths: &Paths, agent: &AgentName) -> Result<(), Failure> {
    let rows = store.agents().await?;
    let names = names(&rows, configuration::quiet(&paths.config_file).as_ref());
    if names.contains(agent) {
        return Ok(());
    }
    Err(configuration::unknown(agent, names.iter()))
}

/// Adds to what was seen of an agent what else the store knows of it.
pub(crate) async fn facts(store: &Store, seen: Facts) -> Result<Facts, Failure> {
    let (agent, states) = (Some(seen.nick.clone()), vec![MessageState::InTurn]);
    let working = store.messages(MessageFilter { agent, states, before: None }, 0).await?;
    let around = Around::read(store, &seen.nick, clock::system().now()).await?;
    let working = working.into_iter().rev().map(|row| row.id).collect();
    Ok(Facts { working, around, ..seen })
}
