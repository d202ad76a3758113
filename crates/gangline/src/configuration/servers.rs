//! MCP servers of the agents (R2-34): files read and joined, variables put in.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use gangline_config::{
    AgentConfig, ConfigError, MAX_CONFIG_BYTES, McpPlaceConfig, McpServerConfig, Profile, Warning,
};
use gangline_core::KnownSecret;
use gangline_os::fsio::{self, TooLarge};
use gangline_runtime::{Capabilities, McpPlace, McpServer};

use crate::failure::Failure;

#[cfg(test)]
mod tests;

/// Where a container has the servers of its agent (R2-34).
const CONTAINERS: &str = "/etc/hyperhive/extra-mcp.json";

/// Returns the file of an agent's servers: the one that its configuration names, else under
/// `profile: container` the container's, if it is there.
fn file_of(agent: &AgentConfig, containers: &Path) -> Option<PathBuf> {
    let named = agent.mcp_servers_file.clone();
    let is_there = || agent.profile == Profile::Container && containers.is_file();
    named.or_else(|| is_there().then(|| containers.to_owned())).filter(|_| agent.enabled)
}

/// Adds the servers of the agent's file to its own, all or none; returns what is odd about the file.
pub(super) fn join(agent: &mut AgentConfig) -> Result<Vec<Warning>, Failure> {
    join_from(agent, Path::new(CONTAINERS))
}

fn join_from(agent: &mut AgentConfig, containers: &Path) -> Result<Vec<Warning>, Failure> {
    let Some(file) = file_of(agent, containers) else { return Ok(Vec::new()) };
    let (servers, warnings) =
        gangline_config::parse_servers(&read(&file, agent)?, &file.display().to_string()).map_err(
            |error| {
                Failure::from(error).doing(format!("cannot use the MCP servers of {}", agent.nick))
            },
        )?;
    if let Some(key) = servers.keys().find(|key| agent.mcp_servers.contains_key(*key)) {
        let text = format!(
            "the MCP server `{key}` of {} is in the configuration and in {}",
            agent.nick,
            file.display()
        );
        return Err(Failure::config(anyhow::anyhow!(text)).hint("remove one of the two"));
    }
    agent.mcp_servers.extend(servers);
    Ok(warnings)
}

fn read(file: &Path, agent: &AgentConfig) -> Result<String, Failure> {
    fsio::read_foreign_text(file, MAX_CONFIG_BYTES as u64).map_err(|error| {
        let size = error.get_ref().and_then(|inner| inner.downcast_ref::<TooLarge>());
        match size {
            Some(TooLarge { size, .. }) => {
                ConfigError::too_large(&file.display().to_string(), *size).into()
            }
            None => Failure::config(error)
                .doing(format!("cannot read the MCP servers of {}", agent.nick))
                .hint(match agent.mcp_servers_file {
                    Some(_) => "`mcp_servers_file` names the file: write it, or remove the key",
                    None => "`profile: container` reads this file: make it readable, or remove it",
                }),
        }
    })
}

/// Returns the variables that the agent's servers name.
pub(crate) fn variables(agent: &AgentConfig) -> BTreeSet<&str> {
    agent.mcp_servers.values().flat_map(McpServerConfig::variables).collect()
}

/// Returns the agent's servers as its backend gets them: with the values of their variables.
pub(crate) fn resolved(agent: &AgentConfig) -> Result<Vec<McpServer>, Failure> {
    let servers = agent.mcp_servers.iter().map(|(key, server)| {
        let McpServerConfig { place, allowed_tools } = server.resolved(look).map_err(|error| {
            Failure::config(error)
                .doing(format!("cannot offer the MCP server `{key}`"))
                .hint("its entry names this variable: set it where the hub is started")
        })?;
        let place = match place {
            McpPlaceConfig::Program { command, args, env } => {
                let command = std::iter::once(command).chain(args).collect();
                McpPlace::Stdio { command, env }
            }
            McpPlaceConfig::Address { url, headers } => McpPlace::Http { url, headers },
        };
        Ok(McpServer { key: key.clone(), place, allowed_tools })
    });
    servers.collect()
}

/// Returns the values that must be masked.
pub(crate) fn secrets(agent: &AgentConfig) -> Vec<KnownSecret> {
    agent.mcp_servers.values().flat_map(|server| server.secrets(look)).collect()
}

fn look(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the keys of the servers that a backend cannot be offered.
pub(super) fn unusable(agent: &AgentConfig, can: Capabilities) -> impl Iterator<Item = &String> {
    let usable = move |server: &McpServerConfig| match server.place {
        McpPlaceConfig::Program { .. } => can.mcp_stdio,
        McpPlaceConfig::Address { .. } => can.mcp_http,
    };
    let servers = agent.mcp_servers.iter();
    servers.filter(move |(_, server)| !usable(server)).map(|(key, _)| key)
}
