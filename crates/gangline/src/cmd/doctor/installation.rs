//! The installation: configuration, state folder, stores, sockets, room on the disk.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use gangline_hub::ircd::{history, opening};
use gangline_os::{
    clock,
    dial::own_uid,
    fsio, lock,
    paths::{self, Paths},
};
use gangline_store::{OpenError, OpenOptions, Store};

use super::{
    Choice,
    report::{Check, Level},
};
use crate::{
    configuration::{self, Loaded},
    failure::Failure,
};

/// With less room than this nothing that is accepted could be kept for long.
const TOO_FULL: u64 = 64 << 20;
/// Some programs unpack more than 200 MB of themselves at their first start.
const NEARLY_FULL: u64 = 1 << 30;
/// The longest path of a socket, in bytes.
const SOCKET_MAX: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Looks at the configuration.
pub(super) fn configuration(paths: &Paths, choice: Choice) -> Vec<Check> {
    const NAME: &str = "configuration";
    let file = paths.config_file.as_path();
    let shown = file.display();
    if choice != Choice::Named && !file.exists() {
        let check = Check::warn(NAME, format!("there is none: {shown}"));
        return vec![
            check
                .remedy("`gangline init` writes a first one")
                .remedy("or try `gangline demo`, which needs none"),
        ];
    }
    match configuration::load(file) {
        Err(failure) => vec![faults(file, &failure)],
        Ok(loaded) => {
            let agents = match loaded.config.agents.len() {
                0 => "no agent",
                1 => "1 agent",
                _ => "",
            };
            let many = format!("{} agents", loaded.config.agents.len());
            let agents = if agents.is_empty() { many.as_str() } else { agents };
            let good = match loaded.config.agents.is_empty() {
                true => Check::warn(NAME, format!("{shown}: {agents}"))
                    .remedy("add one below `agents:`"),
                false => Check::ok(NAME, format!("{shown}: {agents}")),
            };
            let guess = (choice == Choice::UsualForState).then(|| {
                let state = paths.state.display();
                Check::note(NAME, format!("this is the usual one: {state} has none of its own"))
                    .remedy("`--config FILE` names the one that belongs to this state folder")
            });
            std::iter::once(good).chain(guess).chain(warnings(&loaded)).collect()
        }
    }
}

fn faults(file: &Path, failure: &Failure) -> Check {
    let check = Check::failed("configuration", failure);
    match check.found.contains('\n') {
        false => check,
        true => {
            let detail = check.found.clone();
            Check { found: format!("{} cannot be used", file.display()), ..check }
                .detail(detail)
                .remedy("correct the file, then run `gangline config check`")
        }
    }
}

/// What the configuration warns of; the files of the registry are told by themselves.
fn warnings(loaded: &Loaded) -> Vec<Check> {
    let told = loaded.odd().into_iter().map(|text| match text.contains('\n') {
        false => Check::warn("configuration", text),
        true => Check::warn("configuration", "it has warnings").detail(text),
    });
    told.collect()
}

/// Looks at the files that add backends.
pub(super) fn registry(problems: &[String]) -> Vec<Check> {
    let told = problems.iter().map(|problem| {
        Check::fail("runtimes", problem)
            .remedy("correct the file: until then this entry is ignored")
    });
    told.collect()
}

/// Looks at the state folder.
pub(super) fn state(paths: &Paths) -> Check {
    const NAME: &str = "state";
    folder(NAME, &paths.state, "the state folder", "choose another one with --state")
}

/// Looks at the folder of the sockets, and whether their paths are short enough.
pub(super) fn sockets(paths: &Paths, loaded: Option<&Loaded>) -> Check {
    const NAME: &str = "sockets";
    let nicks = loaded.into_iter().flat_map(|loaded| &loaded.config.agents);
    let of = |nick: &str| paths.control_socket(nick);
    let longest = nicks.map(|agent| of(agent.nick.folded())).max_by_key(|it| it.as_os_str().len());
    if let Some(path) = longest.filter(|path| path.as_os_str().len() > SOCKET_MAX) {
        return Check::fail(
            NAME,
            format!("{} is too long for a socket: at most {SOCKET_MAX} bytes", path.display()),
        )
        .remedy("set XDG_RUNTIME_DIR to a folder with a shorter path, where the hub is started");
    }
    let found = folder(
        NAME,
        &paths.runtime,
        "the folder of the sockets",
        "set XDG_RUNTIME_DIR to another folder",
    );
    let nicks = loaded.into_iter().flat_map(|loaded| &loaded.config.agents);
    let lost: Vec<&str> = nicks
        .map(|agent| agent.nick.folded())
        .filter(|nick| lock::probe(&paths.agent_lock(nick)).is_ok_and(|holder| holder.is_some()))
        .filter(|nick| !of(nick).exists())
        .collect();
    match (found.result, lost.as_slice()) {
        (Level::Ok | Level::Note | Level::Warn, [_, ..]) => {
            let names = lost.join(", ");
            Check::fail(NAME, format!("{names}: the daemon runs, but its socket is missing"))
                .remedy(
                    "the daemon makes it again within 30 s; if not, run `gangline restart \
                     NICK`",
                )
        }
        (_, []) | (Level::Fail, _) => found,
    }
}

/// A folder that is ours alone, or that can be made.
fn folder(name: &str, path: &Path, what: &str, other: &str) -> Check {
    let shown = path.display();
    let data = match fs::metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return absent(name, path, what, other);
        }
        Err(error) => {
            return Check::fail(name, format!("cannot look at {shown}: {error}")).remedy(other);
        }
    };
    if !data.is_dir() {
        return Check::fail(name, format!("{shown} is no folder"))
            .remedy(format!("move it away, or {other}"));
    }
    let mode = data.mode();
    if data.uid() != own_uid() && own_uid() != 0 {
        return Check::fail(name, format!("{shown} belongs to user {}", data.uid())).remedy(other);
    }
    if mode & 0o1000 != 0 {
        return Check::fail(name, format!("{shown} is shared by all users")).remedy(other);
    }
    if mode & 0o700 != 0o700 {
        return Check::fail(
            name,
            format!("{shown} cannot be written: its mode is {:04o}", mode & 0o7777),
        )
        .remedy(format!("`chmod 700 {shown}`"));
    }
    if mode & 0o077 != 0 {
        return Check::warn(
            name,
            format!("{shown} can be read by others: its mode is {:04o}", mode & 0o7777),
        )
        .remedy(format!("`chmod 700 {shown}`, or start Gangline, which does it too"));
    }
    Check::ok(name, shown.to_string())
}

/// Checks a missing folder: the first process that needs it makes it, if it can.
fn absent(name: &str, path: &Path, what: &str, other: &str) -> Check {
    let shown = path.display();
    let above = path.ancestors().skip(1).find(|it| it.exists());
    let can = above.is_some_and(|above| {
        let data = fs::metadata(above);
        data.is_ok_and(|data| {
            let bit = if data.uid() == own_uid() { 0o200 } else { 0o002 };
            data.is_dir() && (own_uid() == 0 || data.permissions().mode() & bit != 0)
        })
    });
    match (can, above) {
        (true, _) => {
            Check::note(name, format!("{shown} is not there yet; the first start makes it"))
        }
        (false, Some(above)) => Check::fail(
            name,
            format!("{what} cannot be made: {} cannot be written", above.display()),
        )
        .remedy(other),
        (false, None) => Check::fail(name, format!("{what} {shown} cannot be made")).remedy(other),
    }
}

/// Looks at the store, without changing it.
pub(super) async fn store(paths: &Paths) -> Check {
    let database = paths.database();
    if !database.exists() {
        return Check::note("store", "there is none yet; the first start makes it");
    }
    let options = OpenOptions { path: database.clone(), clock: clock::system() };
    let remedy = match Store::look(options) {
        Ok(_) => return Check::ok("store", database.display().to_string()),
        Err(error) => (store_remedy(&error), Failure::from(error)),
    };
    Check::failed("store", &remedy.1).remedy(remedy.0)
}

fn store_remedy(error: &OpenError) -> &'static str {
    match error {
        OpenError::NewerSchema { .. } => "use the program that it names, or a newer one",
        OpenError::Corrupt { .. } | OpenError::NotADatabase { .. } => {
            "run `gangline down`, move the file away with its `-wal` and `-shm`, then restore a \
             backup or start without one"
        }
        OpenError::TooOldSqlite { .. } => "install a Gangline that was built with a newer SQLite",
        OpenError::Busy { .. } => "try again in a moment",
        OpenError::Io { .. } => "check the permissions of the file and of its folder",
    }
}

/// Checks the chat server's history without changing it. Returns nothing if there is no history.
pub(super) fn history(paths: &Paths) -> Option<Check> {
    const NAME: &str = "history";
    let path = paths.state.join("irc.db");
    if !path.exists() {
        return None;
    }
    let Err(error) = history::look(&path) else {
        return Some(Check::ok(NAME, path.display().to_string()));
    };
    let remedy = match &error {
        opening::OpenError::Damaged { .. } => {
            "run `gangline down`, move the file away with its `-wal` and `-shm`, then restore a \
             backup or start without one"
        }
        opening::OpenError::NewerSchema { .. } => {
            "install that version of Gangline, or a newer one"
        }
        opening::OpenError::Lock(_)
        | opening::OpenError::Sqlite { .. }
        | opening::OpenError::Thread(_) => "check the permissions of the file and of its folder",
    };
    let check = Check::fail(NAME, error.to_string()).remedy(remedy);
    Some(match std::error::Error::source(&error) {
        Some(why) => check.detail(why.to_string()),
        None => check,
    })
}

/// Looks at the room on the disk of the state folder.
pub(super) fn disk(paths: &Paths) -> Check {
    const NAME: &str = "disk";
    let there = paths
        .state
        .ancestors()
        .find(|it| it.exists())
        .map_or_else(|| PathBuf::from("/"), Path::to_owned);
    match fsio::free_bytes(&there) {
        Err(error) => Check::note(NAME, format!("unknown: {error}")),
        Ok(free) => {
            let text = format!("{} free at {}", size(free), there.display());
            let level = match free {
                ..TOO_FULL => Level::Fail,
                TOO_FULL..NEARLY_FULL => Level::Warn,
                _ => return Check::ok(NAME, text),
            };
            Check::new(level, NAME, text)
                .remedy("free some space, or choose a state folder on another disk with --state")
        }
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        ..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}

/// Returns the state folder that commands use with this configuration.
pub(super) fn with_state_of(paths: Paths, loaded: Option<&Loaded>, named: bool) -> Paths {
    match loaded.and_then(Loaded::state).filter(|_| !named) {
        Some(state) => Paths { state: paths::absolute(&state), ..paths },
        None => paths,
    }
}
