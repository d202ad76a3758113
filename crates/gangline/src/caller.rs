//! Who runs this program: an agent, by the marks that its daemon leaves on all that it starts or by being
//! started by that daemon, or a person. How what outlives an agent sheds the marks.

use std::{ffi::OsString, fmt, os::unix::process::CommandExt as _, sync::OnceLock};

use gangline_core::AgentName;
use gangline_hub::credentials::OWNER;
use gangline_os::{
    descent::{self, Installation},
    paths::{Overrides, Paths},
    run_id::{RUN_ID, RunId, STARTED_BY},
    secret::Secret,
};

use crate::{failure::Failure, program};

#[cfg(test)]
mod tests;

/// The variable with the agent's token.
pub(crate) const TOKEN: &str = "GANGLINE_TOKEN";
/// The variables that name an agent, ours first. A person sets them, too, to speak to its daemon: by
/// themselves they make nobody an agent.
pub(crate) const NICK: [&str; 2] = ["GANGLINE_NICK", "CULTURE_NICK"];
/// The variables that tell the name of a login, the first that has one.
const LOGIN: [&str; 2] = ["USER", "LOGNAME"];

/// Who runs this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// An agent's backend, its shells and hooks.
    Agent {
        /// Which; none if its marks do not say.
        name: Option<AgentName>,
        /// What tells.
        mark: Mark,
    },
    /// Anybody else.
    Person {
        /// The name of the login.
        user: Option<String>,
    },
}

/// What tells that an agent runs this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// This variable.
    Variable(&'static str),
    /// The agent's daemon is one of its ancestors.
    Descent,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "{name} is set"),
            Self::Descent => f.write_str("the agent's daemon is among its parents"),
        }
    }
}

/// Where the installation is whose daemons are looked for among our ancestors.
static PLACE: OnceLock<Overrides> = OnceLock::new();

/// Takes where the command line says that the installation is.
pub(crate) fn is_at(place: Overrides) {
    // It is said once, at the start.
    let _ = PLACE.set(place);
}

impl Caller {
    /// Returns whom an environment belongs to.
    pub(crate) fn find(env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| given(env, name).map(|it| it.to_string_lossy().into_owned());
        let named = || NICK.into_iter().find_map(text)?.parse().ok();
        if let Some(run_id) = text(RUN_ID) {
            let run_id = run_id.parse::<RunId>();
            let name = run_id.ok().and_then(|run_id| run_id.nick().parse().ok());
            return Self::Agent { name: name.or_else(named), mark: Mark::Variable(RUN_ID) };
        }
        if given(env, TOKEN).is_some() {
            return Self::Agent { name: named(), mark: Mark::Variable(TOKEN) };
        }
        if let Some(by) = text(STARTED_BY) {
            return Self::Agent { name: by.parse().ok(), mark: Mark::Variable(STARTED_BY) };
        }
        let login = LOGIN.into_iter().find_map(text);
        Self::Person { user: login.map(|user| user.trim().to_owned()).filter(|it| !it.is_empty()) }
    }

    /// Returns who runs this program.
    pub(crate) fn here() -> Self {
        Self::find(&|name| std::env::var_os(name)).or_by_descent()
    }

    /// Makes one an agent whose daemon is among our ancestors, though the environment does not tell.
    pub(crate) fn or_by_descent(self) -> Self {
        if let Self::Agent { .. } = self {
            return self;
        }
        let place = PLACE.get().cloned().unwrap_or_default();
        // Without a state folder there are no daemons.
        let Ok(Paths { state, .. }) = Paths::from_env_with(place) else { return self };
        match descent::owner(std::process::id(), &Installation { state, id: None }) {
            Some(owner) => Self::Agent { name: owner.nick.parse().ok(), mark: Mark::Descent },
            None => self,
        }
    }

    /// Refuses an agent that would speak, read or act as another one.
    pub(crate) fn may_be(&self, nick: &AgentName) -> Result<(), Failure> {
        match self {
            Self::Agent { name: Some(name), .. } if name != nick => Err(Failure::user(format!(
                "{name} cannot speak or act as {nick}"
            ))
            .hint(format!("`gangline channel send {nick} TEXT` sends it a message, from {name}"))),
            Self::Agent { .. } | Self::Person { .. } => Ok(()),
        }
    }

    /// Returns how others know who does something at the command line.
    pub(crate) fn known_as(&self) -> &str {
        match self {
            Self::Agent { name: Some(name), .. } => name.as_str(),
            Self::Agent { name: None, .. } => "an agent",
            Self::Person { user } => user.as_deref().unwrap_or(OWNER),
        }
    }

    /// Refuses what only a person may do to an agent.
    fn may(&self, what: &str) -> Result<(), Failure> {
        match self {
            Self::Person { .. } => Ok(()),
            Self::Agent { mark, .. } => Err(Failure::user(format!("an agent cannot {what}"))
                .hint(format!("this shell was started by an agent ({mark}): use your own shell"))),
        }
    }
}

/// Returns a variable that is set to something.
pub(crate) fn given(env: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<OsString> {
    env(name).filter(|value| !value.is_empty())
}

/// Refuses what only the owner may do to somebody whom an agent started.
pub(crate) fn refuse(what: &str) -> Result<(), Failure> {
    Caller::here().may(what)
}

/// Returns who orders something, for the record.
pub(crate) fn name() -> String {
    Caller::here().known_as().to_owned()
}

/// Returns whether this program may print the owner's password. Output to an agent goes into a model's context
/// and into logs.
pub(crate) fn may_read_password() -> bool {
    match Caller::here() {
        Caller::Person { .. } => true,
        Caller::Agent { .. } => false,
    }
}

/// Returns the owner's token for a line that programs read; `None` if an agent would read it.
pub(crate) fn readable(token: &Secret) -> Option<String> {
    may_read_password().then(|| token.expose().to_owned())
}

/// Restarts the program without the run id if an agent started it; else returns at once. [`STARTED_BY`] still
/// says so, and has the sweeps of that agent's daemons leave it alone. They read the environment that a process
/// was started with, so only a restart changes it.
#[allow(clippy::disallowed_methods, reason = "no child: this process goes on as the same program")]
pub(crate) fn shed_run_id() -> Result<(), Failure> {
    let by = match Caller::here() {
        Caller::Agent { mark: Mark::Variable(RUN_ID) | Mark::Descent, .. } => name(),
        Caller::Agent { .. } | Caller::Person { .. } => return Ok(()),
    };
    let failed = |error| Failure::environment(error).doing("cannot start again without the run id");
    let program = program::path()?;
    let mut again = std::process::Command::new(program);
    again.args(std::env::args_os().skip(1)).env_remove(RUN_ID).env(STARTED_BY, by);
    Err(failed(again.exec()))
}
