//! Who may use which tool, and by which name the rest of the daemon knows it.
//!
//! The protocol names no tools: a call has a kind and a title, and the title may be the model's
//! own words. So a kind decides wherever there is one; a title is believed only for calls that the
//! program itself calls "other", which is what it does with tools of a server.

use gangline_core::permission::{self, Policy, Verdict};

use super::calls::Call;
use crate::StartOptions;

/// The kinds of the protocol and the names of tools that our lists know.
const KINDS: [(&str, &str); 9] = [
    ("execute", "Bash"),
    ("read", "Read"),
    ("edit", "Edit"),
    ("search", "Grep"),
    ("fetch", "WebFetch"),
    ("delete", "Delete"),
    ("move", "Move"),
    ("think", "Think"),
    ("switch_mode", "SwitchMode"),
];

/// What stands before the server's name in the names of some programs, and between it and the tool.
const BEFORE: [&str; 3] = ["mcp__", "mcp_", "mcp."];
const BETWEEN: [&str; 5] = ["__", "_", "-", ".", "/"];
/// The longest name of a tool that is passed on, in characters.
const NAME_MAX: usize = 80;

/// The rules of one session.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    policy: Policy,
    /// The key of the server with the daemon's tools.
    server: &'static str,
    /// The daemon's tools, which never need permission.
    host: Vec<&'static str>,
    /// Keys of the other servers that are offered.
    keys: Vec<String>,
}

impl Gate {
    /// Takes the agent's rules, the daemon's tools, and the servers that are offered.
    pub(super) fn new(options: &StartOptions) -> Self {
        Self {
            policy: options.policy(),
            server: options.tools.server_key(),
            host: options.tools.tools().iter().map(|tool| tool.name).collect(),
            keys: options.mcp_servers.iter().map(|server| server.key.clone()).collect(),
        }
    }

    /// Returns the key of the server with the daemon's tools.
    pub(super) fn server(&self) -> &'static str {
        self.server
    }

    /// Returns what is to be done about a call.
    pub(super) fn verdict(&self, call: &Call) -> Verdict {
        match self.origin(call) {
            Origin::Host(_) => Verdict::Allow,
            Origin::Named(name) => self.policy.verdict(&name),
        }
    }

    /// Returns the name by which the rest of the daemon knows the tool.
    pub(super) fn name(&self, call: &Call) -> String {
        match self.origin(call) {
            Origin::Host(name) => name.to_owned(),
            Origin::Named(name) => name,
        }
    }

    fn origin(&self, call: &Call) -> Origin {
        let kind = KINDS.iter().find(|(kind, _)| *kind == call.kind);
        if let Some((_, name)) = kind {
            return Origin::Named((*name).to_owned());
        }
        let title = word(&call.first_title);
        if let Some(tool) = of_server(self.server, title)
            && let Some(name) = self.host.iter().find(|name| **name == tool)
        {
            return Origin::Host(name);
        }
        let found = self
            .keys
            .iter()
            .find_map(|key| Some(Origin::Named(permission::mcp_tool(key, of_server(key, title)?))));
        // Small letters: no title may look like a name on our own lists.
        let own =
            || title.to_lowercase().chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
        found.unwrap_or_else(|| Origin::Named(own()))
    }
}

enum Origin {
    /// A tool of the daemon.
    Host(&'static str),
    /// A tool of the program, or of a server that was offered, by its name in our lists.
    Named(String),
}

/// Returns the tool's name in a title such as `key__tool: {"text": …}`.
fn word(title: &str) -> &str {
    title.split([':', ' ', '(', '\n']).next().unwrap_or_default()
}

/// Returns the plain name of a server's tool, if the name is of that server.
fn of_server<'a>(key: &str, name: &'a str) -> Option<&'a str> {
    let plain = BEFORE.iter().find_map(|before| name.strip_prefix(before)).unwrap_or(name);
    let rest = plain.strip_prefix(key)?;
    let tool = BETWEEN.iter().find_map(|between| rest.strip_prefix(between))?;
    (!tool.is_empty()).then_some(tool)
}

#[cfg(test)]
mod tests;
