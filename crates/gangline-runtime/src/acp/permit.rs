//! Who may use which tool, and by which name the rest of the daemon knows it.
//!
//! The protocol names no tools: a call has a kind and a title, and the title may be the model's
//! own words. So a kind decides wherever there is one; a title is believed only for calls that the
//! program itself calls "other", which is what it does with tools of a server.

use gangline_core::permission::{self, Permissions, Permit};
use serde_json::Value;

use super::calls::Call;
use crate::{
    NamedFile, StartOptions,
    reading::{Reading, Searches},
};

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

/// By what names the shells of these programs take the folder in which a command runs.
const FOLDERS: [(&str, &[&str]); 3] =
    [("opencode", &["workdir"]), ("gemini", &["dir_path", "directory"]), ("qwen", &["directory"])];

/// The kinds of calls that change something.
const CHANGING: [&str; 4] = ["execute", "edit", "delete", "move"];

/// What stands before the server's name in the names of some programs, and between it and the tool.
const BEFORE: [&str; 3] = ["mcp__", "mcp_", "mcp."];
const BETWEEN: [&str; 5] = ["__", "_", "-", ".", "/"];
/// Told to the model where a list decides and the question names no call.
const NOT_NAMED: &str = "the program asked for permission without naming the call, so the list of \
                         allowed tools cannot decide; use a tool whose call it names";
/// The longest name of a tool that is passed on, in characters.
const NAME_MAX: usize = 80;

/// The rules of one session.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    reading: Reading,
    /// The key of the server with the daemon's tools.
    server: &'static str,
    /// The daemon's tools, which never need permission.
    host: Vec<&'static str>,
    /// Keys of the other servers that are offered, the longest first.
    keys: Vec<String>,
}

impl Gate {
    /// Takes the agent's rules, the daemon's tools, and the servers that are offered.
    pub(super) fn new(options: &StartOptions) -> Self {
        let mut keys: Vec<String> =
            options.mcp_servers.iter().map(|server| server.key.clone()).collect();
        keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
        Self {
            reading: Reading::of(options, Searches::ReadAll),
            server: options.tools.server_key(),
            host: options.tools.tools().iter().map(|tool| tool.name).collect(),
            keys,
        }
    }

    /// Returns the key of the server with the daemon's tools.
    pub(super) fn server(&self) -> &'static str {
        self.server
    }

    /// Returns whether the program's own questions decide anything: under `bypass` all may run.
    pub(super) fn asks(&self) -> bool {
        match self.mode_of() {
            Permissions::Ask | Permissions::Allowlist => true,
            Permissions::Bypass => false,
        }
    }

    fn mode_of(&self) -> Permissions {
        self.reading.policy().mode()
    }

    /// Returns the mode's word in the configuration.
    pub(super) fn mode(&self) -> &'static str {
        self.mode_of().as_str()
    }

    /// Returns what is to be done about a call.
    pub(super) fn permit(&self, call: &Call) -> Permit {
        let permit = match self.origin(call) {
            Origin::Host(_) => Permit::Allow,
            Origin::Named(name) => {
                self.reading.permit_of_unknown(&name, (&call.input, &call.places))
            }
        };
        match (permit, self.mode_of()) {
            // Nobody knows that the question is about the call for which it stands.
            (Permit::Allow, Permissions::Ask) if call.presumed => Permit::Ask,
            (Permit::Allow, Permissions::Allowlist) if call.presumed => {
                Permit::Deny(NOT_NAMED.to_owned())
            }
            (permit, _) => permit,
        }
    }

    /// Returns the arguments of a call as people see them, and the files that it names.
    pub(super) fn shown(&self, program: &str, call: &Call) -> (Value, Vec<NamedFile>) {
        let folders = FOLDERS.iter().find(|(name, _)| *name == program);
        let folders = folders.map_or(&[][..], |(_, folders)| *folders);
        let name = self.name(call);
        let input = super::calls::input(call);
        let files = self.reading.files(&name, &input, &call.places);
        (self.reading.with_folder(&name, input, folders), files)
    }

    /// Returns whether a program that runs the call without a question breaks the agent's rules:
    /// it changes something, and our rules do not let it run.
    pub(super) fn asks_about(&self, call: &Call) -> bool {
        self.asks() && CHANGING.contains(&call.kind.as_str()) && self.permit(call) != Permit::Allow
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
        let tool_of_host = |tool| self.host.iter().find(|name| **name == tool).copied();
        let host = of_server(self.server, title).filter_map(tool_of_host).map(Origin::Host);
        let of_key =
            |key| of_server(key, title).map(|tool| Origin::Named(permission::mcp_tool(key, tool)));
        // `docs-in_find` may be of `docs` or of `docs-in`: the reading that permits least counts.
        host.chain(self.keys.iter().flat_map(|key| of_key(key)))
            .min_by_key(|origin| self.freedom(origin))
            .unwrap_or_else(|| Origin::Named(unknown(title)))
    }

    /// Returns how much is permitted, as a rank.
    fn freedom(&self, origin: &Origin) -> u8 {
        match self.of(origin) {
            Permit::Deny(_) => 0,
            Permit::Ask => 1,
            Permit::Allow => 2,
        }
    }

    fn of(&self, origin: &Origin) -> Permit {
        match origin {
            Origin::Host(_) => Permit::Allow,
            Origin::Named(name) => self.reading.policy().permit(name),
        }
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

/// Returns the name of a tool that is of no server: in small letters, and none of the daemon's own,
/// since no title may look like a name on our lists.
fn unknown(title: &str) -> String {
    let name: String =
        title.to_lowercase().chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
    if permission::is_own(&name) { format!("other_{name}") } else { name }
}

/// Returns the plain names that the tool has if the name is of that server.
fn of_server<'a>(key: &str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let stripped = BEFORE.iter().find_map(|before| name.strip_prefix(before));
    [Some(name), stripped].into_iter().flatten().filter_map(move |plain| {
        let rest = plain.strip_prefix(key)?;
        let tool = BETWEEN.iter().find_map(|between| rest.strip_prefix(between))?;
        (!tool.is_empty()).then_some(tool)
    })
}

#[cfg(test)]
mod tests;
