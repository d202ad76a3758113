//! Orders: what an operator wants of an agent's daemon, kept until it wants something else.

use gangline_core::{AgentName, Epoch};
use gangline_os::clock::UnixMicros;

gangline_core::words! {
    /// Whether an agent's daemon shall run.
    Desired, "wanted state" {
        /// It shall run.
        Up = "up",
        /// It shall not; one that runs may settle its turn first.
        Down = "down",
        /// It shall not; an open turn is interrupted.
        DownNow = "down_now",
    }
}

gangline_core::words! {
    /// When a daemon is ended so that it starts anew.
    RestartWhen, "time of a restart" {
        /// At once; an open turn may settle as with any end.
        Immediately = "immediately",
        /// Once it has nothing to do.
        WhenIdle = "when_idle",
    }
}

/// The order for one agent. An agent without one shall run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Whose daemon.
    pub agent: AgentName,
    /// Whether it shall run.
    pub desired: Desired,
    /// Who said so.
    pub by: String,
    /// When.
    pub at: UnixMicros,
    /// The backend that it shall have in place of the configured one (R3-17).
    pub runtime: Option<String>,
    /// The latest restart that was asked for, carried out or not.
    pub restart: Option<Restart>,
}

impl Order {
    /// Returns when it was given or a restart was added to it, whichever is later.
    #[must_use]
    pub fn given_at(&self) -> UnixMicros {
        self.restart.as_ref().map_or(self.at, |restart| self.at.max(restart.at))
    }

    /// Returns whether the daemon shall run.
    #[must_use]
    pub fn is_up(&self) -> bool {
        match self.desired {
            Desired::Up => true,
            Desired::Down | Desired::DownNow => false,
        }
    }
}

/// A restart that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// Rises with every restart asked of any agent: the order in which a fleet is rolled.
    pub number: i64,
    /// When it may be done.
    pub when: RestartWhen,
    /// The epoch that shall end; the restart is done once the agent has a later one.
    pub ends: Epoch,
    /// Who asked.
    pub by: String,
    /// When it was asked.
    pub at: UnixMicros,
}
