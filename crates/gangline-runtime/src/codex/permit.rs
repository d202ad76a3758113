//! Who may use which tool, by the names that the rest of the daemon knows.

use std::path::Path;

use gangline_core::permission::{self, Permissions, Permit};

use crate::{
    NamedFile, StartOptions,
    reading::{Reading, Searches},
};

/// A command in a shell.
pub(super) const SHELL: &str = "Bash";
/// A patch that changes files.
pub(super) const EDIT: &str = "Edit";
/// A patch that only makes new files.
pub(super) const WRITE: &str = "Write";
/// A search on the web, which the model's provider runs.
pub(super) const SEARCH: &str = "WebSearch";
/// A look at an image.
pub(super) const LOOK: &str = "Read";
/// Other agents of the program's own.
pub(super) const AGENTS: &str = "Task";
/// Wider permissions for what follows.
pub(super) const PERMISSIONS: &str = "Permissions";

/// Told to the model of a patch whose files the program does not name.
const UNNAMED: &str = "refused: Codex did not say which files the patch changes, so nobody can allow \
                       it; try the patch again";

/// Returns the name of a tool of a server.
pub(super) fn of_server(server: &str, tool: &str) -> String {
    permission::mcp_tool(server, tool)
}

/// The rules of one session.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    reading: Reading,
}

impl Gate {
    /// Takes the agent's rules (C5, R2-34).
    pub(super) fn of(options: &StartOptions) -> Self {
        Self { reading: Reading::of(options, Searches::ReadAll) }
    }

    /// Returns what is to be done about a call.
    pub(super) fn permit(&self, tool: &str) -> Permit {
        self.reading.policy().permit(tool)
    }

    /// Returns what is to be done about a patch: one that would change a closed file is refused in
    /// every mode, and so is one of which nobody knows what it would change.
    pub(super) fn permit_of_patch(&self, tool: &str, files: &[&str]) -> Permit {
        if files.is_empty() {
            return Permit::Deny(UNNAMED.to_owned());
        }
        self.reading.permit_of_paths(tool, files)
    }

    /// Returns where the files of a patch lead.
    pub(super) fn files(&self, paths: &[&str]) -> Vec<NamedFile> {
        self.reading.named_files(paths.iter().map(Path::new))
    }

    /// Returns whether a tool may run unasked: one that cannot be asked about is offered only then.
    pub(super) fn allows(&self, tool: &str) -> bool {
        self.permit(tool) == Permit::Allow
    }

    /// Returns whether everything may run.
    pub(super) fn allows_all(&self) -> bool {
        self.reading.policy().mode() == Permissions::Bypass
    }
}

#[cfg(test)]
mod tests {
    //! Rules.

    use gangline_core::permission::Permit;

    use super::{EDIT, Gate, SHELL};
    use crate::{Permissions, codex::thread::tests::options};

    /// R2-42: an empty list allows nothing, as with every other backend.
    #[test]
    fn an_empty_list_allows_nothing() {
        let mut options = options(std::path::Path::new("/w"));
        options.permissions = Permissions::Allowlist;
        options.allowed_tools = Vec::new();
        let gate = Gate::of(&options);
        for tool in [SHELL, EDIT] {
            assert!(matches!(gate.permit(tool), Permit::Deny(_)), "{tool}");
        }
    }
}
