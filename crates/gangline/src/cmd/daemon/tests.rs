use std::fs;

use gangline_config::AgentConfig;
use gangline_os::{paths::Paths, secret::Secret};
use gangline_runtime::registry::{self, Found};

use super::{child_env, is_secret, secrets};

fn agent() -> AgentConfig {
    let mut agent = AgentConfig::new("oak-ada".parse().unwrap(), "/w".into());
    agent.env.insert("DEPLOY_TOKEN".into(), "tok-123456".into());
    agent.env.insert("MODE".into(), "fast".into());
    agent
}

fn backend() -> Found {
    let mut found = Found::built_in(registry::built_in("native").unwrap());
    found.env.insert("MODE".into(), "slow".into());
    found.env.insert("MODEL_KEY".into(), "of-the-entry".into());
    found
}

#[test]
fn variables_with_a_telling_name_are_masked() {
    for name in ["GITHUB_TOKEN", "api_key", "DB_PASSWORD", "NPM_AUTH"] {
        assert!(is_secret(name), "{name}");
    }
    for name in ["MODE", "PATH", "LANG"] {
        assert!(!is_secret(name), "{name}");
    }
}

#[test]
fn everything_that_must_not_leave_is_known_to_the_daemon() {
    let state = tempfile::tempdir().unwrap();
    fs::write(state.path().join("owner.token"), "owner-token\n").unwrap();
    let other = state.path().join("agents/oak-bob");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("irc.secret"), "of-oak-bob\n").unwrap();
    let paths =
        Paths { config_file: "/c".into(), state: state.path().into(), runtime: "/r".into() };
    let login = ("oak-ada".to_owned(), Secret::new("irc-secret"));
    let found =
        secrets((&agent(), &backend()), &paths, Some(&login), Some(&Secret::new("model-key")));
    let sources: Vec<_> = found.iter().map(|it| it.source.as_str()).collect();
    assert_eq!(sources[2..4], ["owner token", "IRC password of oak-bob"]);
    let found: Vec<_> = found.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(
        found,
        ["irc-secret", "model-key", "owner-token", "of-oak-bob", "of-the-entry", "tok-123456"]
    );
}

#[test]
fn a_backend_gets_what_is_configured_and_never_our_mark() {
    let env = child_env(&agent(), &backend());
    assert_eq!((env["MODE"].as_str(), env["MODEL_KEY"].as_str()), ("fast", "of-the-entry"));
    assert!(env.contains_key("PATH"));
    assert!(!env.contains_key("GANGLINE_RUN"));
}
