//! Files that are open to the agent's tools, and files that stay closed even if somebody allows
//! them.

use std::path::{Path, PathBuf};

use gangline_core::reading::Bounds;
use gangline_os::fsio;

use super::read;
use crate::{folder::COPIES, settings::Settings};

/// Logins and keys, below a person's home folder: programs' logins, keys for other machines, and
/// what holds passwords by its purpose.
pub(super) const CREDENTIALS: &[&str] = &[
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
    ".cline/data/secrets.json",
    ".codex/auth.json",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".config/github-copilot",
    ".copilot/config.json",
    ".docker/config.json",
    ".gemini/oauth_creds.json",
    ".git-credentials",
    ".gnupg",
    ".kube/config",
    ".local/share/keyrings",
    ".local/share/opencode/auth.json",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
];
/// A program's login in a separate account folder.
const LOGINS: [&str; 2] = [".credentials.json", "auth.json"];

/// Returns the bounds of the agent's tools beside its working folder.
///
/// The state folder is closed as a whole; what is named in it is named for programs whose own rules
/// cannot have something open below what they deny.
pub(super) fn bounds(settings: &Settings) -> Bounds {
    let (paths, agent) = (&settings.paths, &settings.agent);
    let own = paths.agent_dir(agent.nick.as_str());
    let others = settings.everybody.iter().filter(|nick| **nick != agent.nick);
    let in_state = ["owner.token", "gangline.db", "gangline.db-wal", "irc.db", "irc.db-wal"];
    let homes = [settings.child_env.get("HOME").map(PathBuf::from)];
    let homes = homes.iter().flatten().filter(|home| home.is_absolute());
    let logins = agent.account_dir.iter().flat_map(|dir| LOGINS.map(|name| dir.join(name)));
    let closed = [paths.state.clone(), own.join("irc.secret"), own.join("sessions")]
        .into_iter()
        .chain(in_state.map(|name| paths.state.join(name)))
        .chain(others.map(|nick| paths.agent_dir(nick.as_str())))
        .chain(homes.flat_map(|home| credentials(home)))
        .chain(logins);
    Bounds {
        open: vec![read::notes(settings), read::reminders(settings), own.join(COPIES)],
        closed: closed.collect(),
    }
}

/// The same with links resolved.
pub(super) fn resolved(settings: &Settings) -> Bounds {
    let Bounds { open, closed } = bounds(settings);
    let all = |paths: Vec<PathBuf>| paths.iter().map(|path| fsio::resolved(path)).collect();
    Bounds { open: all(open), closed: all(closed) }
}

fn credentials(home: &Path) -> impl Iterator<Item = PathBuf> {
    CREDENTIALS.iter().map(|name| home.join(name))
}
