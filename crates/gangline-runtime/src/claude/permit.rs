//! Who may use which tool, and what our own tools are called.

use gangline_core::permission::{Policy, Verdict};

/// Tools of the program that touch nothing but its own lists and tasks: allowed wherever the rest
/// is asked about or listed.
const OWN_AFFAIRS: [&str; 9] = [
    "BashOutput",
    "KillShell",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "ToolSearch",
];

/// The rules of one session.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    policy: Policy,
    server: &'static str,
    host: Vec<&'static str>,
}

impl Gate {
    /// Takes the agent's rules, and the daemon's tools, which never need permission: the key of
    /// their server and their names.
    pub(super) fn new(policy: Policy, server: &'static str, host: Vec<&'static str>) -> Self {
        Self { policy, server, host }
    }

    /// Returns the key of the server of the daemon's tools.
    pub(super) fn server(&self) -> &'static str {
        self.server
    }

    /// Returns what is to be done about a call, by the program's name of the tool.
    pub(super) fn verdict(&self, tool: &str) -> Verdict {
        if self.host_tool(tool).is_some() || OWN_AFFAIRS.contains(&tool) {
            return Verdict::Allow;
        }
        self.policy.verdict(tool)
    }

    /// Returns the name by which the rest of the daemon knows the tool.
    pub(super) fn name<'a>(&self, tool: &'a str) -> &'a str {
        self.host_tool(tool).unwrap_or(tool)
    }

    fn host_tool<'a>(&self, tool: &'a str) -> Option<&'a str> {
        let plain = tool.strip_prefix("mcp__")?.strip_prefix(self.server)?.strip_prefix("__")?;
        self.host.contains(&plain).then_some(plain)
    }
}
