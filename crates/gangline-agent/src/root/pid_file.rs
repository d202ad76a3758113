//! The PID file: tells other programs which process the agent's daemon is (R0-37).
//!
//! The lock says whether a daemon runs; Gangline never reads this file. A file that a killed daemon left does
//! no harm: the next start replaces it.

use std::{io, path::PathBuf};

use gangline_core::AgentName;
use gangline_os::{fsio, paths::Paths};
use tracing::{info, warn};

/// The file of a daemon that holds its agent's lock.
pub(super) struct PidFile {
    path: PathBuf,
}

impl PidFile {
    /// Writes this process's id over an older one. If that fails, the daemon runs without the file.
    pub(super) fn write(paths: &Paths, agent: &AgentName) -> Self {
        let path = paths.agent_pid(agent.as_str());
        let text = format!("{}\n", std::process::id());
        if let Err(error) = fsio::write_private(&path, text.as_bytes()) {
            warn!(%error, path = %path.display(), "cannot write the PID file");
        }
        Self { path }
    }

    /// Removes it. The caller must still hold the lock.
    pub(super) fn remove(self) {
        match std::fs::remove_file(&self.path) {
            Ok(()) => info!("PID file removed"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                warn!(%error, path = %self.path.display(), "cannot remove the PID file");
            }
        }
    }
}
