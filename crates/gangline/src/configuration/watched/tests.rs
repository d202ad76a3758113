//! Which supervisor an agent gets.

use std::{collections::BTreeSet, path::Path};

use gangline_agent::watching::Watcher;
use gangline_runtime::registry::Places;

use super::{super::*, Rim};

/// Returns who watches the only agent of a configuration, in words.
fn watcher(text: &str) -> String {
    let text = format!(
        "{text}\nagents:\n  - {{nick: oak-ada, directory: /, agent: claude, command: \
                        [/opt/claude], model: opus, account_dir: /login, env: {{A: b}}}}\n"
    );
    let config = gangline_config::parse(&text, "agents.yaml").unwrap();
    let registry = Registry::load(&Places::from_env(&|_| None));
    let loaded = Loaded {
        config,
        file: "/agents.yaml".into(),
        registry,
        unread: BTreeSet::new(),
        marks: BTreeMap::new(),
    };
    let agent = &loaded.config.agents[0];
    let found = loaded.backend(agent).unwrap();
    let env = |agent: &AgentConfig, _: &Found| agent.env.clone();
    let variables = |name: &str| (name == "SET").then(|| "sesame".to_owned());
    let finds = |program: &str, _: &BTreeMap<String, String>, _: &Path| program != "opencode";
    let rim = Rim { variable: &variables, child_env: &env, finds: &finds };
    match loaded.watching((agent, &found), rim).by {
        Watcher::Off => "off".to_owned(),
        Watcher::Rules => "rules".to_owned(),
        Watcher::Unusable { agent, why } => format!("{agent} unusable: {why}"),
        Watcher::Model(judge) => format!(
            "{} {:?} {:?} {} {} {}",
            judge.backend.name,
            judge.command.unwrap_or_default(),
            judge.account_dir.as_deref().unwrap_or(Path::new("-")),
            judge.model.as_deref().unwrap_or("-"),
            judge.base_url.as_deref().unwrap_or("-"),
            if judge.env.contains_key("A") { "its variables" } else { "none of its variables" },
        ),
    }
}

/// R0-33, R0-34: a supervisor of the agent's own backend has the agent's program and login, one of
/// another backend has neither; nobody's model is the agent's.
#[test]
fn a_supervisor_has_what_the_configuration_says_of_its_own_backend() {
    let check = |text: &str, expected: &str| assert_eq!(watcher(text), expected, "{text}");
    check("", "rules");
    check("supervisor: {agent: off}", "off");
    check("supervisor: {}", r#"claude ["/opt/claude"] "/login" claude-sonnet-4-6 - its variables"#);
    check("supervisor: {agent: codex}", r#"codex [] "-" - - none of its variables"#);
    check(
        "supervisor: {agent: native, base_url: \"http://127.0.0.1:9\", api_key_env: SET}",
        r#"native [] "-" - http://127.0.0.1:9 none of its variables"#,
    );
    check(
        "supervisor: {agent: native, api_key_env: UNSET}",
        "native unusable: the environment variable UNSET is not set",
    );
    check(
        "supervisor: {agent: native, model: m}",
        "native unusable: its model needs a key: write `api_key_env: NAME` under `supervisor`",
    );
    check(
        "supervisor: {agent: opencode}",
        "opencode unusable: its program `opencode` cannot be found: `npm install -g \
         opencode-ai@1.18.33`, or write its path as `command` under `supervisor`",
    );
    check(
        "supervisor: {agent: opencode, command: [/opt/oc]}",
        r#"opencode ["/opt/oc"] "-" - - none of its variables"#,
    );
    let terminal = watcher("supervisor: {agent: tmux, command: [cat]}");
    assert!(terminal.starts_with("tmux unusable: "), "{terminal}");
}
