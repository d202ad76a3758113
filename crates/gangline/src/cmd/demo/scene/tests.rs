use std::path::Path;

use gangline_config::{Backend, Permissions, parse};

use super::{super::ports::Ports, configuration, make_workspace};

#[test]
fn the_demos_configuration_is_one_that_can_be_used() {
    let odd = Path::new("/tmp/a \"b\": #c/workspace");
    let text = configuration(odd, Ports { irc: 7001, standin: 7002 }).unwrap();
    let config = parse(&text, "agents.yaml").unwrap();
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    assert_eq!(config.server.address(), "127.0.0.1:7001");
    let agent = &config.agents[0];
    assert_eq!(
        (agent.nick.as_str(), agent.agent.clone()),
        ("demo-guide", "native".parse::<Backend>().ok())
    );
    assert_eq!(agent.directory, odd);
    assert_eq!(agent.base_url.as_deref(), Some("http://127.0.0.1:7002"));
    assert_eq!(agent.permissions, Permissions::Ask);
}

#[test]
fn the_workspace_is_made_once_and_then_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("workspace");
    make_workspace(&workspace).unwrap();
    let readme = workspace.join("README.md");
    std::fs::write(&readme, "mine").unwrap();
    make_workspace(&workspace).unwrap();
    assert_eq!(std::fs::read_to_string(&readme).unwrap(), "mine");
    assert!(workspace.join("team/dogs.csv").is_file());
}
