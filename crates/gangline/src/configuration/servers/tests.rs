//! Which file an agent's further MCP servers are read from.

use std::fs;

use super::*;

fn agent(keys: &str) -> AgentConfig {
    let yaml =
        format!("server: {{name: oak}}\nagents:\n  - nick: oak-ada\n    directory: /w\n{keys}");
    let config = gangline_config::parse(&yaml, "agents.yaml").unwrap();
    config.agents.into_iter().next().unwrap()
}

/// R2-34, C40: under `profile: container` the seed's file is read if it is there; a file that the
/// configuration names is read instead, and without the profile nothing is read unasked.
#[test]
fn a_container_has_its_servers_in_the_seeds_file() {
    assert_eq!(CONTAINERS, "/etc/hyperhive/extra-mcp.json");
    let folder = tempfile::tempdir().unwrap();
    let (theirs, ours) = (folder.path().join("extra-mcp.json"), folder.path().join("ours.json"));
    let keys = |agent: &AgentConfig| agent.mcp_servers.keys().cloned().collect::<Vec<_>>();
    let container = "    profile: container\n";
    let mut absent = agent(container);
    assert!(join_from(&mut absent, &theirs).unwrap().is_empty());
    assert_eq!(keys(&absent), [""; 0]);
    let text =
        r#"{"matrix": {"command": "mx", "args": [], "env": {}, "allowedTools": ["send_*"]}}"#;
    fs::write(&theirs, text).unwrap();
    fs::write(&ours, r#"{"git": {"command": "gx"}}"#).unwrap();
    let mut contained = agent(container);
    join_from(&mut contained, &theirs).unwrap();
    assert_eq!(keys(&contained), ["matrix"]);
    assert_eq!(contained.mcp_servers["matrix"].allowed_tools, ["send_*"]);
    let mut named = agent(&format!("{container}    mcp_servers_file: {}\n", ours.display()));
    join_from(&mut named, &theirs).unwrap();
    assert_eq!(keys(&named), ["git"]);
    let mut host = agent("");
    join_from(&mut host, &theirs).unwrap();
    assert_eq!(keys(&host), [""; 0]);
    fs::write(&theirs, "{").unwrap();
    let Err(failure) = join_from(&mut agent(container), &theirs) else { panic!() };
    assert!(failure.text().contains("cannot use the MCP servers of oak-ada"), "{}", failure.text());
}
