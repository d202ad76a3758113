//! What an agent is told of a restart of its backend: one line of its next prompt (R2-14).

/// Which session there was, and what is to be told of the one that there is.
#[derive(Debug, Default)]
pub(super) struct Restart {
    session: Option<String>,
    directory: String,
    untold: Option<Untold>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Untold {
    /// It goes on with the session that it had.
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
            (Some(_), Some(Untold::New)) => Some(Untold::New),
            (Some(before), _) if before == session => Some(Untold::GoesOn),
            (Some(_), _) => Some(Untold::New),
        };
    }

    /// The session has another id: nothing was restarted.
    pub(super) fn session(&mut self, session: &str) {
        self.session = Some(session.to_owned());
    }

    /// Returns the line for the next prompt, once.
    pub(super) fn told(&mut self) -> Option<String> {
        let session = match self.untold.take()? {
            Untold::GoesOn => "your session continues",
            Untold::New => "your session is new",
        };
        Some(format!(
            "\n[gangline] you were restarted; {session}, and your files are in {} as you left them",
            self.directory
        ))
    }
}

#[cfg(test)]
mod tests;
