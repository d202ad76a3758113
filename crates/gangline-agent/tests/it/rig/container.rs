//! A rig whose agent is in a container.

use std::{fs, path::PathBuf};

use gangline_agent::container::Container;

use super::{Ipc, Rig};

impl Rig {
    /// Ada is in a container, with a socket and, if it is mounted, a folder `mount`.
    pub(crate) fn contained(mut self, mounted: bool) -> Self {
        let state = self.folder.path().join("mount");
        if mounted {
            fs::create_dir(&state).unwrap();
        }
        let socket = self.folder.path().join("hive/mcp.sock");
        self.container = Some(Container { state, socket });
        self
    }

    /// Returns the path of a file in the container's folder.
    pub(crate) fn mount(&self, file: &str) -> PathBuf {
        self.folder.path().join("mount").join(file)
    }

    /// A client of the container's socket.
    pub(crate) fn dial_container(&self) -> Ipc {
        Ipc::dial(&self.container.as_ref().unwrap().socket)
    }
}
