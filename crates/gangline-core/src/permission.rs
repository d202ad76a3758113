//! Permission for one tool call: clear cases are decided here, the rest by a human.

use crate::words;

words! {
    /// How an agent's tool calls are permitted (C5).
    #[derive(Default)]
    Permissions, "permission mode" {
        /// What is on the list is allowed, the rest asks a human.
        #[default]
        Ask = "ask",
        /// What is on the list is allowed, the rest is denied (R2-42).
        Allowlist = "allowlist",
        /// Everything is allowed (R1-04).
        Bypass = "bypass",
    }
}

/// R2-42: the built-in tools that `allowlist` allows.
pub const BUILT_INS: &[&str] = &["Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "Write"];

/// Tools that only look: allowed under `ask` without asking, the demo's too.
pub const READ_ONLY: &[&str] = &["Read", "Glob", "Grep", "TodoWrite", "Skill"];

/// Our own tools; the agent may always speak, and be silent. Those of a manager stand at the end:
/// others are not offered them, and are refused when they call one (R2-39).
pub const OWN: &[&str] = &[
    "send",
    "no_reply",
    "recv",
    "ask",
    "answer",
    "get_loose_ends",
    "cancel_loose_end",
    "remind",
    "whoami",
    "request_spawn",
    "kill",
    "start",
    "restart",
    "update",
    "request_apply_commit",
    "get_logs",
];

/// The MCP server under which our own tools may appear (C35).
const OWN_SERVERS: &[&str] = &["gangline", "hyperhive"];

/// What is to be done about a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Permit {
    /// Let it run.
    Allow,
    /// Ask a human.
    Ask,
    /// Refuse it; one line for the model.
    Deny(String),
}

/// An agent's permissions: the mode and its list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Policy {
    mode: Permissions,
    list: Vec<String>,
}

impl Policy {
    /// Returns the policy with the mode's own list: [`READ_ONLY`] for `ask`, [`BUILT_INS`] for
    /// `allowlist`, none for `bypass`, which needs none.
    #[must_use]
    pub fn new(mode: Permissions) -> Self {
        let list = match mode {
            Permissions::Ask => READ_ONLY,
            Permissions::Allowlist => BUILT_INS,
            Permissions::Bypass => &[],
        };
        Self { mode, list: list.iter().map(|tool| (*tool).to_owned()).collect() }
    }

    /// Returns the policy of a configured agent, the same for every backend. `listed` are the
    /// agent's allowed tools: all of them under `allowlist`, where an empty list means none; under
    /// `ask`, where what only looks runs unasked, those of MCP servers, which are on it only if
    /// somebody put them there. `servers` are the agent's MCP servers, each with its key and its
    /// own tools that run unasked: their names, or `<begin>*` (R2-34). An entry of the
    /// list is a tool's exact name, compared with case, or `mcp__<key>__<begin>*` for the tools of one
    /// MCP server whose names begin so.
    #[must_use]
    pub fn of_agent<'a>(
        mode: Permissions,
        listed: &[String],
        servers: impl IntoIterator<Item = (&'a str, &'a [String])>,
    ) -> Self {
        let mut list: Vec<String> = match mode {
            Permissions::Ask => {
                let of_servers = listed.iter().filter(|entry| entry.starts_with("mcp__"));
                let looking = READ_ONLY.iter().map(|tool| (*tool).to_owned());
                looking.chain(of_servers.cloned()).collect()
            }
            Permissions::Allowlist => listed.to_vec(),
            Permissions::Bypass => Vec::new(),
        };
        for (key, tools) in servers {
            list.extend(tools.iter().map(|tool| mcp_tool(key, tool)));
        }
        Self { mode, list }
    }

    /// Returns the mode.
    #[must_use]
    pub fn mode(&self) -> Permissions {
        self.mode
    }

    /// Returns what is to be done about a call of this tool.
    #[must_use]
    pub fn permit(&self, tool: &str) -> Permit {
        if is_own(tool) || self.list.iter().any(|allowed| covers(allowed, tool)) {
            return Permit::Allow;
        }
        match self.mode {
            Permissions::Bypass => Permit::Allow,
            Permissions::Ask => Permit::Ask,
            Permissions::Allowlist => {
                let tool: String = tool.chars().filter(|c| !c.is_control()).take(80).collect();
                Permit::Deny(format!("{tool} is not on this agent's list of allowed tools"))
            }
        }
    }
}

/// Returns the name by which rules know a tool of an MCP server, however its backend calls it.
#[must_use]
pub fn mcp_tool(key: &str, tool: &str) -> String {
    format!("mcp__{key}__{tool}")
}

/// Returns whether an entry of a list means this tool.
fn covers(entry: &str, tool: &str) -> bool {
    let plain = |name: &str| -> Option<usize> {
        let (key, plain) = name.strip_prefix("mcp__")?.split_once("__")?;
        (!key.is_empty()).then_some(plain.len())
    };
    match entry.strip_suffix('*') {
        Some(begin) if plain(begin).is_some() => {
            tool.starts_with(begin) && plain(tool).is_some_and(|length| length > 0)
        }
        Some(_) | None => entry == tool,
    }
}

/// Returns whether the tool is one of ours, by its plain or its MCP name. Only our own server keys
/// count: any other server may call a tool `send`.
#[must_use]
pub fn is_own(tool: &str) -> bool {
    let plain = tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"))
        .filter(|(server, _)| OWN_SERVERS.contains(server))
        .map_or(tool, |(_, name)| name);
    OWN.contains(&plain)
}

#[cfg(test)]
mod tests;
