//! Which daemon is used, where it listens, and what proves who the caller is.

use std::{
    ffi::OsString,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use gangline_api::ipc::Token;
use gangline_core::AgentName;
use gangline_os::{
    dial::own_uid,
    paths::{Overrides, Paths},
};

use crate::{
    caller::{NICK, TOKEN, given},
    failure::Failure,
    names, output, place,
    who::Who,
};

#[cfg(test)]
mod tests;

/// The variable with the path of the daemon's socket.
const SOCKET: &str = "GANGLINE_SOCKET";

/// Whether a socket in `/tmp` may be looked for (C2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LegacyTmp {
    Yes,
    No,
}

/// How a daemon is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Whose daemon it is.
    pub(crate) nick: AgentName,
    /// Where it may listen, the likeliest first.
    pub(crate) sockets: Vec<PathBuf>,
    /// What proves that the agent itself speaks.
    pub(crate) token: Option<Token>,
}

impl Reach {
    /// Finds the daemon of the agent that was `asked` for, else of the one that the environment
    /// names; none if neither names one.
    ///
    /// The environment's socket and token belong to the environment's agent: another one is
    /// spoken to without them.
    pub(crate) fn find(
        env: &dyn Fn(&str) -> Option<OsString>,
        asked: Option<&AgentName>,
        tmp: LegacyTmp,
    ) -> Result<Option<Self>, Failure> {
        let given = |name: &str| given(env, name);
        let ours = NICK.into_iter().find_map(|name| Some((name, given(name)?)));
        let ours = match (ours, asked) {
            (None, _) => None,
            (Some((_, nick)), Some(_)) => nick.to_str().and_then(|nick| nick.parse().ok()),
            (Some((name, nick)), None) => Some(valid(name, &nick)?),
        };
        let Some(nick) = asked.cloned().or_else(|| ours.clone()) else { return Ok(None) };
        let own = ours.as_ref() == Some(&nick);
        let mut sockets: Vec<PathBuf> =
            given(SOCKET).filter(|_| own).map(PathBuf::from).into_iter().collect();
        let paths = Paths::resolve(env, Overrides::default());
        match paths {
            Ok(paths) => {
                sockets.push(paths.control_socket(nick.folded()));
                sockets.push(paths.culture_link(nick.folded()));
            }
            Err(_) if !sockets.is_empty() => {}
            Err(error) => return Err(Failure::environment(error)),
        }
        let legacy = Paths::legacy_socket(nick.folded());
        if tmp == LegacyTmp::Yes && may_be_dialled(&legacy) {
            sockets.push(legacy);
        }
        sockets.dedup();
        let token = given(TOKEN).filter(|_| own).and_then(|token| token.into_string().ok());
        let token = token.map(Token::new).transpose();
        let token = token.map_err(|error| Failure::user(format!("{TOKEN}: {error}")))?;
        Ok(Some(Self { nick, sockets, token }))
    }
}

/// Returns the agent that is meant by what was typed; the whole nick of one whose daemon listens needs
/// no configuration.
pub(crate) fn named(place: &Overrides, who: &Who) -> Result<AgentName, Failure> {
    let Ok(whole) = who.word().parse::<AgentName>() else {
        return names::agent(&place::existing(place)?, who);
    };
    let env = |name: &str| std::env::var_os(name);
    let listens = |reach: Reach| reach.sockets.iter().any(|socket| socket.exists());
    if Reach::find(&env, Some(&whole), LegacyTmp::No)?.is_some_and(listens) {
        return Ok(whole);
    }
    // `a-b` may be short for `vm-a-b`.
    let configured = place::plain(place).ok().and_then(|paths| names::configured(&paths, who));
    Ok(configured.unwrap_or(whole))
}

fn valid(name: &str, nick: &OsString) -> Result<AgentName, Failure> {
    nick.to_str().and_then(|nick| nick.parse().ok()).ok_or_else(|| {
        Failure::user(format!("{name} must be set to a valid <server>-<agent> nick"))
            .hint(format!("set it and retry, e.g. export {name}=spark-claude"))
    })
}

/// Returns whether a path in a folder of everybody's is a socket of this user alone; says why not.
fn may_be_dialled(path: &Path) -> bool {
    let refused = match path.symlink_metadata() {
        Err(_) => return false,
        Ok(meta) if !meta.file_type().is_socket() => "it is no socket",
        Ok(meta) if meta.uid() != own_uid() => "it is another user's",
        Ok(meta) if meta.mode() & 0o7777 != 0o600 => "its mode is not 0600",
        Ok(_) => return true,
    };
    output::note(&format!("warning: {} is not used: {refused}", path.display()));
    false
}
