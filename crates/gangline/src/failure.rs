//! The one error of the edge: what went wrong, why, what to do about it, and the exit code.

use std::{error::Error, fmt::Write as _, io};

use gangline_agent::attention::NotChosen;
use gangline_config::ConfigError;
use gangline_hub::hub::HubError;
use gangline_store::{AnswerError, DecideError, FindingError, LetterError, OpenError, StoreError};

#[cfg(test)]
mod tests;

/// Whose turn it is to do something about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The input or the state forbids it.
    User,
    /// Disk, port or program failed.
    Environment,
    /// The command line is wrong.
    Usage,
    /// No restart will fix it.
    Config,
}

impl Exit {
    /// Returns the exit code, as the help has it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::User => 1,
            Self::Environment => 2,
            Self::Usage => 64,
            Self::Config => 78,
        }
    }
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    error: anyhow::Error,
    hints: Vec<String>,
}

impl Failure {
    /// Returns a failure that the user's input or the state is the reason of.
    pub(crate) fn user(message: impl Into<String>) -> Self {
        Self::new(Exit::User, anyhow::Error::msg(message.into()))
    }

    /// Returns a failure of the environment.
    pub(crate) fn environment(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Environment, error.into())
    }

    /// Returns a failure that no restart fixes.
    pub(crate) fn config(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Config, error.into())
    }

    fn new(exit: Exit, error: anyhow::Error) -> Self {
        Self { exit, error, hints: Vec::new() }
    }

    /// Marks it as a failure that no restart fixes.
    pub(crate) fn for_good(self) -> Self {
        Self { exit: Exit::Config, ..self }
    }

    /// Puts before the error what was tried.
    pub(crate) fn doing(mut self, what: impl Into<String>) -> Self {
        self.error = self.error.context(what.into());
        self
    }

    /// Adds what the reason was.
    pub(crate) fn because(mut self, cause: impl Into<anyhow::Error>) -> Self {
        let message = self.error.to_string();
        self.error = cause.into().context(message);
        self
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns the exit code's meaning.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Returns the lines for people: `error:`, `caused by:`, `hint:`.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("error: {}\n", self.error);
        let mut last = self.error.to_string();
        for cause in self.error.chain().skip(1) {
            let cause = cause.to_string();
            // A transparent error says the same twice.
            if cause != last {
                let _ = writeln!(text, "caused by: {cause}");
            }
            last = cause;
        }
        for hint in self.remedies() {
            let _ = writeln!(text, "hint: {hint}");
        }
        text
    }

    /// Returns what went wrong and why, as one sentence.
    pub(crate) fn sentence(&self) -> String {
        let mut parts: Vec<String> = self.error.chain().map(ToString::to_string).collect();
        // A transparent error says the same twice.
        parts.dedup();
        parts.join(": ")
    }

    /// Returns what to do about it, one text each.
    pub(crate) fn remedies(&self) -> Vec<String> {
        let known = self.error.chain().find_map(known_hint).map(str::to_owned);
        self.hints.iter().cloned().chain(known).collect()
    }

    /// Prints itself on standard error.
    pub(crate) fn report(&self) {
        let _ = io::Write::write_all(&mut anstream::stderr(), self.text().as_bytes());
    }
}

const DISK_FULL: &str =
    "the disk is full: free some space and try again; nothing that was accepted is lost";

/// What SQLite says on a full disk: of a file, and of the memory that its processes share.
const SQLITE_FULL: [&str; 2] = ["Error code 13:", "Error code 4874:"];

/// Causes that always have the same remedy, wherever they come up.
fn known_hint(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    let Some(error) = cause.downcast_ref::<io::Error>() else {
        let text = cause.to_string();
        return SQLITE_FULL.iter().any(|code| text.contains(code)).then_some(DISK_FULL);
    };
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            Some("another program already listens there: stop it, or choose another port")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(DISK_FULL),
        _ => None,
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::config(error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = open_exit(&error);
        Self::new(exit, error.into())
    }
}

fn open_exit(error: &OpenError) -> Exit {
    match error {
        OpenError::NewerSchema { .. }
        | OpenError::Corrupt { .. }
        | OpenError::NotADatabase { .. }
        | OpenError::TooOldSqlite { .. } => Exit::Config,
        OpenError::Busy { .. } | OpenError::Io { .. } => Exit::Environment,
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::Corrupt { .. } => Exit::Config,
            StoreError::UnknownMessage(_) | StoreError::Invalid(_) => Exit::User,
            StoreError::Fenced { .. }
            | StoreError::TurnNotOpen { .. }
            | StoreError::Busy { .. }
            | StoreError::Degraded { .. }
            | StoreError::Engine { .. }
            | StoreError::Closed => Exit::Environment,
        };
        Self::new(exit, error.into())
    }
}

impl From<DecideError> for Failure {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Store(error) => Self::from(error).doing("cannot decide"),
            DecideError::Unknown(_) | DecideError::Closed { .. } => {
                Self::new(Exit::User, error.into())
            }
        }
    }
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Store(error) => Self::from(error).doing("cannot answer"),
            AnswerError::Unknown(_) | AnswerError::Closed(_) => Self::new(Exit::User, error.into()),
        }
    }
}

impl From<LetterError> for Failure {
    fn from(error: LetterError) -> Self {
        match error {
            LetterError::Store(error) => Self::from(error).doing("cannot settle the letter"),
            LetterError::Unknown(_) | LetterError::Settled { .. } => {
                Self::new(Exit::User, error.into())
            }
        }
    }
}

impl From<FindingError> for Failure {
    fn from(error: FindingError) -> Self {
        match error {
            FindingError::Store(error) => Self::from(error).doing("cannot answer the finding"),
            FindingError::Unknown(_)
            | FindingError::Resolved { .. }
            | FindingError::NoSuchChoice { .. } => Self::new(Exit::User, error.into()),
        }
    }
}

impl From<NotChosen> for Failure {
    fn from(error: NotChosen) -> Self {
        match error {
            NotChosen::Finding(error) => error.into(),
            NotChosen::NoSuchWord { .. } => Self::new(Exit::User, error.into()),
        }
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        let exit = match &error {
            HubError::Taken { .. } => Exit::User,
            HubError::Store(error) => open_exit(error),
            HubError::Plan(_) | HubError::History(_) => Exit::Config,
            HubError::State { .. } | HubError::Irc(_) => Exit::Environment,
        };
        Self::new(exit, error.into())
    }
}
