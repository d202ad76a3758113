//! The line of the next prompt that tells an agent of its backend's restart (R2-14).

/// Which session there was, and what is to be told of the one that there is.
#[derive(Debug, Default)]
pub(super) struct Restart {
    session: Option<String>,
    directory: String,
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
    pub(super) fn new(session: Option<String>, directory: String) -> Self {
        Self { session, directory, untold: None }
    }

    /// Returns whether the agent has had a session.
    pub(super) fn had_session(&self) -> bool {
        self.session.is_some()
    }

    /// The backend has started, with this session. The very first start is none that is told.
    pub(super) fn ready(&mut self, session: &str) {
        let before = self.session.replace(session.to_owned());
        self.untold = match (before, self.untold) {
            (None, untold) => untold,
            (Some(_), Some(Unreported::New)) => Some(Unreported::New),
            (Some(before), _) if before == session => Some(Unreported::GoesOn),
            (Some(_), _) => Some(Unreported::New),
        };
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
