//! The container profile: where hyperhive's agents have their things (R2-12, R2-33, C21, C32).

use std::path::{Path, PathBuf};

/// The folder that an agent's container keeps.
pub const STATE: &str = "/state";
/// The socket at which every program of the container speaks for its agent.
pub const SOCKET: &str = "/run/hive/mcp.sock";
/// The model of a Claude Code for which nobody has named one.
pub const MODEL: &str = "haiku";

/// The places of an agent in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// The agent works here, and its notes are here, if the container has this folder.
    pub state: PathBuf,
    /// Beside the ordinary socket. No token is looked at here.
    pub socket: PathBuf,
}

impl Default for Container {
    fn default() -> Self {
        Self { state: STATE.into(), socket: SOCKET.into() }
    }
}

impl Container {
    /// Returns the folder that the agent works in, if it is there.
    #[must_use]
    pub fn mounted(&self) -> Option<&Path> {
        self.state.is_dir().then_some(self.state.as_path())
    }
}
