//! What tells an agent of a restart (R2-14): of its daemon's start a message, which was stored before the
//! loop began; of its backend's a line of the next prompt.

use gangline_core::agent::Needs;

/// What tells the agent of its daemon's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum StartTold {
    /// The line, if there was a session before.
    #[default]
    ByLine,
    /// A message.
    ByMessage {
        /// Whether it starts a turn.
        needs: Needs,
        /// Whether the message says that the session continues.
        resumes: bool,
    },
    /// Nothing.
    Never,
}

/// Which session there was, and what is to be told of the one that there is.
#[derive(Debug, Default)]
pub(super) struct Restart {
    session: Option<String>,
    directory: String,
    start: StartTold,
    /// The backend has started since.
    begun: bool,
    untold: Option<Unreported>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unreported {
    /// It continues its session.
    GoesOn,
    /// It remembers nothing.
    New,
}

impl Restart {
    /// `session` is the one that was kept from an earlier daemon, if there was one.
    pub(super) fn new(session: Option<String>, directory: String, start: StartTold) -> Self {
        Self { session, directory, start, ..Self::default() }
    }

    /// Returns whether the message that tells of the daemon's start has a turn of its own.
    pub(super) fn needs(&self) -> Needs {
        match self.start {
            StartTold::ByMessage { needs, .. } => needs,
            StartTold::ByLine | StartTold::Never => Needs::OtherMessage,
        }
    }

    /// Returns whether the agent has had a session.
    pub(super) fn had_session(&self) -> bool {
        self.session.is_some()
    }

    /// The backend has started with this session. Does not report the very first start, nor what the
    /// message has reported already.
    pub(super) fn ready(&mut self, session: &str) {
        let before = self.session.replace(session.to_owned());
        let first = !std::mem::replace(&mut self.begun, true);
        let untold = match (before, self.untold) {
            (None, untold) => untold,
            (Some(_), Some(Unreported::New)) => Some(Unreported::New),
            (Some(before), _) if before == session => Some(Unreported::GoesOn),
            (Some(_), _) => Some(Unreported::New),
        };
        self.untold = untold.filter(|untold| !(first && self.is_told(*untold)));
    }

    /// Returns whether something other than the prompt's line reports the daemon's start.
    fn is_told(&self, untold: Unreported) -> bool {
        match (self.start, untold) {
            (StartTold::ByLine, _) => false,
            (StartTold::Never, _) => true,
            (StartTold::ByMessage { resumes, .. }, Unreported::GoesOn) => resumes,
            (StartTold::ByMessage { resumes, .. }, Unreported::New) => !resumes,
        }
    }

    /// The session has another id: nothing was restarted.
    pub(super) fn session(&mut self, session: &str) {
        self.session = Some(session.to_owned());
    }

    /// Returns the line for the next prompt, once.
    pub(super) fn take_report(&mut self) -> Option<String> {
        let session = match self.untold.take()? {
            Unreported::GoesOn => "your session continues",
            Unreported::New => "your session is new",
        };
        Some(format!(
            "\n[gangline] you were restarted; {session}, and your files are in {} as you left them",
            self.directory
        ))
    }
}

#[cfg(test)]
mod tests;
