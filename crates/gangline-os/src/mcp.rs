//! Where an MCP server is: a program to be started, or an address.
//!
//! Only the place, shared by all that hand a server on or connect to it; the protocol is not known
//! here.

use std::{collections::BTreeMap, fmt};

#[cfg(test)]
mod tests;

/// One MCP server to be offered to a model (R2-34).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its key in a backend's configuration.
    pub key: String,
    /// How it is reached.
    pub place: McpPlace,
    /// Its tools that run unasked, by their own names; `*` = all of them.
    pub allowed_tools: Vec<String>,
}

/// How an MCP server is reached. `Debug` shows neither the values of variables nor of headers: keys
/// are among them.
#[derive(Clone, PartialEq, Eq)]
pub enum McpPlace {
    /// A program that is started, and spoken to over its standard streams.
    Stdio {
        /// The program and its arguments.
        command: Vec<String>,
        /// What its environment has beyond that of whoever starts it.
        env: BTreeMap<String, String>,
    },
    /// It is served over streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of each request, for instance a bearer token.
        headers: BTreeMap<String, String>,
    },
}

impl fmt::Debug for McpPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, env } => {
                let names: Vec<&String> = env.keys().collect();
                f.debug_struct("Stdio").field("command", command).field("env", &names).finish()
            }
            Self::Http { url, headers } => {
                let names: Vec<&String> = headers.keys().collect();
                f.debug_struct("Http").field("url", url).field("headers", &names).finish()
            }
        }
    }
}
