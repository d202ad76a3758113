//! Paths: where configuration, state, sockets and change notices are. One resolver for everybody (R0-48).
//!
//! Pure but for one look for `agents.yaml`: makes no folder. Start at [`Paths::resolve`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::change_notice;

#[cfg(test)]
mod tests;

/// Where an installation keeps its things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The configuration: `agents.yaml`. It need not exist.
    pub config_file: PathBuf,
    /// The state folder: database, agents' folders, locks, change notices.
    pub state: PathBuf,
    /// The folder of control sockets.
    pub runtime: PathBuf,
}

/// What the command line says about paths; it wins over the environment.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--state`.
    pub state: Option<PathBuf>,
    /// The folder in which `agents.yaml` is looked for before the user's own.
    pub folder: Option<PathBuf>,
}

/// Why paths cannot be found.
#[derive(Debug, Error)]
pub enum PathsError {
    /// Neither the variable nor `HOME` is set to an absolute path.
    #[error("cannot tell where to keep {what}: neither {variable} nor HOME is an absolute path")]
    NoHome {
        /// What was to be placed.
        what: &'static str,
        /// The variable that would tell.
        variable: &'static str,
    },
}

impl Paths {
    /// Finds the paths from an environment and the command line's overrides.
    ///
    /// * configuration: `--config`, `$GANGLINE_CONFIG`, `agents.yaml` in `overrides.folder` when it
    ///   is there, `$XDG_CONFIG_HOME/gangline/agents.yaml`, `~/.config/gangline/agents.yaml`
    /// * state: `--state`, `$GANGLINE_STATE`, `$XDG_STATE_HOME/gangline`,
    ///   `~/.local/state/gangline`
    /// * runtime (R0-46, R0-47): `$XDG_RUNTIME_DIR`, `~/.gangline/run`; never `/tmp` (C2)
    ///
    /// Empty variables count as unset, and so do `XDG_*` and `HOME` with a relative path.
    ///
    /// # Errors
    /// [`PathsError::NoHome`] when something needs a home and there is none.
    pub fn resolve(
        env: &dyn Fn(&str) -> Option<OsString>,
        overrides: Overrides,
    ) -> Result<Self, PathsError> {
        let given = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let absolute = |name: &str| given(name).filter(|path| path.is_absolute());
        let xdg = |what: &'static str, variable: &'static str, below_home: &str| {
            let home = || absolute("HOME").map(|home| home.join(below_home));
            absolute(variable).or_else(home).ok_or(PathsError::NoHome { what, variable })
        };
        let beside = overrides.folder.map(|folder| folder.join("agents.yaml"));
        let config = overrides.config.or_else(|| given("GANGLINE_CONFIG"));
        let config_file = match config.or_else(|| beside.filter(|path| path.is_file())) {
            Some(file) => file,
            None => {
                let folder = xdg("the configuration", "XDG_CONFIG_HOME", ".config")?;
                folder.join("gangline/agents.yaml")
            }
        };
        let state = match overrides.state.or_else(|| given("GANGLINE_STATE")) {
            Some(state) => state,
            None => xdg("the state", "XDG_STATE_HOME", ".local/state")?.join("gangline"),
        };
        let runtime = xdg("the sockets", "XDG_RUNTIME_DIR", OWN_RUN)?;
        Ok(Self { config_file, state, runtime })
    }

    /// Finds the paths from our own environment, looking for `agents.yaml` in the working folder.
    ///
    /// # Errors
    /// As [`Paths::resolve`].
    pub fn from_env() -> Result<Self, PathsError> {
        Self::from_env_with(Overrides::default())
    }

    /// As [`Paths::from_env`], with the command line's overrides.
    ///
    /// # Errors
    /// As [`Paths::resolve`].
    pub fn from_env_with(overrides: Overrides) -> Result<Self, PathsError> {
        let here = std::env::current_dir().ok();
        let overrides = Overrides { folder: overrides.folder.or(here), ..overrides };
        Self::resolve(&|name| std::env::var_os(name), overrides)
    }

    /// Returns the database's file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.state.join("gangline.db")
    }

    /// Returns the state folder of one agent (C32). Give the folded name: the file system does not
    /// fold.
    #[must_use]
    pub fn agent_dir(&self, nick: &str) -> PathBuf {
        self.state.join("agents").join(file_name(nick))
    }

    /// Returns the lock that the daemon of this agent holds.
    #[must_use]
    pub fn agent_lock(&self, nick: &str) -> PathBuf {
        self.agent_dir(nick).join("lock")
    }

    /// Returns the file with the process id of this agent's daemon, for other programs. Only
    /// [`Self::agent_lock`] says whether a daemon runs.
    #[must_use]
    pub fn agent_pid(&self, nick: &str) -> PathBuf {
        self.agent_dir(nick).join("pid")
    }

    /// Returns the lock that the hub holds.
    #[must_use]
    pub fn hub_lock(&self) -> PathBuf {
        self.state.join("hub.lock")
    }

    /// Returns the socket by which daemons reach this installation's own chat server.
    #[must_use]
    pub fn irc_socket(&self) -> PathBuf {
        irc_socket(&self.state)
    }

    /// Returns the socket for change notices of an agent's daemon, or of the `hub`. Never longer than a socket's address
    /// may be, as long as the state folder itself leaves 22 bytes.
    #[must_use]
    pub fn change_notice(&self, name: &str) -> PathBuf {
        change_notice::short(&self.state.join("bells").join(format!("{}.bell", file_name(name))))
    }

    /// Returns the control socket of an agent's daemon.
    #[must_use]
    pub fn control_socket(&self, nick: &str) -> PathBuf {
        self.runtime.join(format!("gangline-{}.sock", file_name(nick)))
    }

    /// Returns where culture's clients look for an agent's socket: `culture-<nick>.sock` in
    /// `$XDG_RUNTIME_DIR`, else in `~/.culture/run` (R0-46, R0-47, C2).
    #[must_use]
    pub fn culture_link(&self, nick: &str) -> PathBuf {
        let home = self.runtime.ancestors().nth(2).filter(|_| self.runtime.ends_with(OWN_RUN));
        let folder = home.map_or_else(|| self.runtime.clone(), |home| home.join(".culture/run"));
        folder.join(format!("culture-{}.sock", file_name(nick)))
    }

    /// Returns where S1's daemons listen (R1-12). Nothing of ours is ever bound there, and only a
    /// client that was asked to looks (C2).
    #[must_use]
    pub fn legacy_socket(nick: &str) -> PathBuf {
        // shared folder: only a client that was asked to looks there.
        Path::new("/tmp").join(format!("culture-{}.sock", file_name(nick)))
    }
}

/// Returns the path from the root of the file system: processes work in different folders.
#[must_use]
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the chat server's socket in a state folder: [`Paths::irc_socket`].
#[must_use]
pub fn irc_socket(state: &Path) -> PathBuf {
    state.join("irc.sock")
}

const OWN_RUN: &str = ".gangline/run";

/// Returns a name that stays in its folder: no separators, no NUL, no leading dot.
fn file_name(name: &str) -> String {
    let name = name.replace(['/', '\0'], "_");
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if Path::new(&name).file_name().is_none() => "_".to_owned(),
        None => name,
    }
}
