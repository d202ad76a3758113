//! Who may use which tool, and what our own tools are called.

use gangline_core::permission::Permit;
use serde_json::Value;

use crate::{NamedFile, reading::Reading};

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
    reading: Reading,
    server: &'static str,
    host: Vec<&'static str>,
}

impl Gate {
    /// Takes the agent's rules, and the daemon's tools, which never need permission: the key of
    /// their server and their names.
    pub(super) fn new(reading: Reading, server: &'static str, host: Vec<&'static str>) -> Self {
        Self { reading, server, host }
    }

    /// Returns the key of the server of the daemon's tools.
    pub(super) fn server(&self) -> &'static str {
        self.server
    }

    /// Learns in which folder the program works by now: relative paths begin there, too.
    pub(super) fn works_in(&mut self, folder: &str) {
        self.reading.works_in(folder);
    }

    /// Returns what is to be done about a call, by the program's name of the tool.
    pub(super) fn permit(&self, tool: &str, input: &Value) -> Permit {
        if self.is_free(tool) { Permit::Allow } else { self.reading.permit(tool, input) }
    }

    /// Returns the arguments as people see them, and the files that the call names.
    pub(super) fn shown(&self, tool: &str, input: &Value) -> (Value, Vec<NamedFile>) {
        let files = self.reading.files(tool, input, &[]);
        (self.reading.without_folder(tool, input.clone()), files)
    }

    /// Returns whether a tool runs unasked: whatever it is called with, unless that is closed.
    pub(super) fn always_allows(&self, tool: &str) -> bool {
        let allowed = || self.reading.policy().permit(tool) == Permit::Allow;
        self.is_free(tool) || (allowed() && !self.reading.looks_at_arguments(tool))
    }

    fn is_free(&self, tool: &str) -> bool {
        self.host_tool(tool).is_some() || OWN_AFFAIRS.contains(&tool)
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
