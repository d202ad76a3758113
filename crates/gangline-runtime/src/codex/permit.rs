//! Who may use which tool, by the names that the rest of the daemon knows.

use gangline_core::permission::{self, Permissions, Policy, Verdict};

use crate::{PermissionMode, StartOptions};

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

/// Returns the name of a tool of a server.
pub(super) fn of_server(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// The rules of one session.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    policy: Policy,
}

impl Gate {
    /// Takes the mode, the list of the configuration (empty = the mode's own), and what the servers
    /// may do unasked (R2-34).
    pub(super) fn of(options: &StartOptions) -> Self {
        let of_servers = options.mcp_servers.iter().flat_map(|server| {
            server.allowed_tools.iter().map(|tool| of_server(&server.key, tool))
        });
        let own = options.allowed_tools.iter().cloned();
        let usual = |tools: &[&str]| tools.iter().map(|tool| (*tool).to_owned()).collect();
        let (mode, list): (_, Vec<String>) = match options.permissions {
            // Under `ask` what only looks runs by itself; the list belongs to `allowlist`, but for
            // tools of servers, which are on it only if somebody put them there.
            PermissionMode::Ask => {
                let mut list: Vec<String> = usual(permission::READ_ONLY);
                list.extend(own.filter(|entry| entry.starts_with("mcp__")));
                (Permissions::Ask, list)
            }
            PermissionMode::Allowlist if options.allowed_tools.is_empty() => {
                (Permissions::Allowlist, usual(permission::BUILT_INS))
            }
            PermissionMode::Allowlist => (Permissions::Allowlist, own.collect()),
            PermissionMode::Bypass => (Permissions::Bypass, Vec::new()),
        };
        let list = list.into_iter().chain(of_servers).collect();
        Self { policy: Policy::with_list(mode, list) }
    }

    /// Returns what is to be done about a call.
    pub(super) fn verdict(&self, tool: &str) -> Verdict {
        self.policy.verdict(tool)
    }

    /// Returns whether a tool may run unasked: one that cannot be asked about is offered only then.
    pub(super) fn allows(&self, tool: &str) -> bool {
        self.verdict(tool) == Verdict::Allow
    }

    /// Returns whether everything may run.
    pub(super) fn allows_all(&self) -> bool {
        self.policy.mode() == Permissions::Bypass
    }
}
