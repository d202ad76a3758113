use std::collections::{BTreeMap, BTreeSet};

use gangline_runtime::registry::{Places, Registry};

use super::*;

/// Each agent's account, with the others that have it.
fn accounts(agents: &[&str]) -> Vec<String> {
    let agents: Vec<String> = agents
        .iter()
        .enumerate()
        .map(|(at, keys)| format!("  - {{nick: oak-a{at}, directory: /, {keys}}}\n"))
        .collect();
    let text = format!("agents:\n{}", agents.concat());
    let loaded = Loaded {
        config: gangline_config::parse(&text, "agents.yaml").unwrap(),
        file: "/agents.yaml".into(),
        registry: Registry::load(&Places::from_env(&|_| None)),
        unread: BTreeSet::new(),
        marks: BTreeMap::new(),
    };
    let account = |agent: &AgentConfig| {
        let driven = loaded.driven(agent, None).unwrap();
        let account = loaded.account((&driven.agent, &driven.found));
        let others: Vec<&str> = account.others.iter().map(|it| it.as_str()).collect();
        format!("{}: {}", account.name, others.join(" "))
    };
    loaded.config.agents.iter().map(account).collect()
}

#[test]
fn agents_with_one_login_or_one_key_share_an_account() {
    let found = accounts(&[
        "agent: claude",
        "agent: claude",
        "agent: claude, account_dir: /b",
        "agent: codex",
        "agent: claude, api_key_env: K",
        "agent: claude, api_key_env: K, model: opus",
        "agent: claude, enabled: false",
        "agent: claude, env: {CLAUDE_CONFIG_DIR: /c}",
    ]);
    let expected = [
        "claude with its own login: oak-a1",
        "claude with its own login: oak-a0",
        "claude with the login in /b: ",
        "codex with its own login: ",
        "claude with the key in `K`: oak-a5",
        "claude with the key in `K`: oak-a4",
        "claude with its own login: oak-a0 oak-a1",
        "claude with its own login: ",
    ];
    assert_eq!(found, expected);
}
