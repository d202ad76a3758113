use std::{collections::BTreeSet, path::PathBuf};

use gangline_os::{paths::Paths, process::Group};
use gangline_runtime::registry::Registry;

use super::{Keep, make_room};
use crate::configuration::Loaded;

/// R1-03.
#[test]
fn a_daemon_is_this_program_with_its_paths_and_a_session_of_its_own() {
    let paths =
        Paths { config_file: "/c/agents.yaml".into(), state: "/s".into(), runtime: "/r".into() };
    let text = "server: {name: oak}\nagents:\n  - {nick: oak-ada, agent: native, directory: /w}\n";
    let config = gangline_config::parse(text, "agents.yaml").unwrap();
    let loaded = Loaded {
        config,
        file: "/c/agents.yaml".into(),
        registry: <Registry as Default>::default(),
        marks: Default::default(),
        unread: BTreeSet::new(),
    };
    let kept = Keep::new(&paths).unwrap().daemon(&loaded.config.agents[0], &loaded, "127.0.0.1:7");
    let words: Vec<_> = kept.spawn.args.iter().map(|arg| arg.to_str().unwrap()).collect();
    assert_eq!(
        words,
        [
            "daemon",
            "oak-ada",
            "--state",
            "/s",
            "--config",
            "/c/agents.yaml",
            "--irc",
            "127.0.0.1:7"
        ]
    );
    assert_eq!(kept.spawn.group, Group::Session);
    assert_eq!(kept.lock, PathBuf::from("/s/agents/oak-ada/lock"));
    assert!(kept.spawn.env.iter().all(|(name, _)| name != "GANGLINE_RUN"), "{:?}", kept.spawn.env);
}

/// R0-61: whatever a daemon reads of the file when it starts differs in its settings, so that `up -d` names
/// the agents that run with earlier ones; what others read does not.
#[test]
fn the_settings_of_a_daemon_differ_with_all_that_it_reads() {
    let of = |agent: &str, rest: &str| {
        let text = format!("agents:\n  - {{nick: spark-ada, directory: /w{agent}}}\n{rest}\n");
        let config = gangline_config::parse(&text, "agents.yaml").unwrap();
        super::settings(&config.agents[0], &config, "127.0.0.1:7")
    };
    let before = of("", "");
    assert_eq!(of("", ""), before);
    assert_ne!(of(", model: x", ""), before);
    for changed in [
        "supervisor: {agent: rules, escalation_threshold: 2}",
        "budgets: {day: {usd: 5}}",
        "budgets: {agent: {usd: 5}}",
        "budgets: {rooms: {\"#general\": {usd: 5}}}",
        "prices: {m: {input: 1, output: 1}}",
        "hooks: {command: [notify]}",
        "sleep_start: \"23:00\"\nsleep_end: \"8:00\"",
        "watchdogs: {turn_minutes: 1}",
        "turns_per_cause: 2",
        "buffer_size: 2",
        "alerts: {as_agent: true}",
        "webhooks: {irc_channel: null}",
        "mcp: {server_key: hyperhive}",
    ] {
        assert_ne!(of("", changed), before, "{changed}");
    }
    for elsewhere in [
        "webhooks: {url: \"https://ntfy.sh/x\"}",
        "http: {enabled: true}",
        "budgets: {rooms: {\"#other\": {usd: 5}}}",
    ] {
        assert_eq!(of("", elsewhere), before, "{elsewhere}");
    }
    let own = ", sleep_start: \"1:00\", sleep_end: \"2:00\"";
    assert_eq!(of(own, ""), of(own, "sleep_start: \"23:00\"\nsleep_end: \"8:00\""));
}

#[test]
fn a_large_log_makes_room_and_a_small_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("daemon.log");
    make_room(&log).unwrap();
    std::fs::write(&log, "few words").unwrap();
    make_room(&log).unwrap();
    assert!(log.is_file());
    std::fs::File::create(&log).unwrap().set_len(super::LOG_MAX + 1).unwrap();
    make_room(&log).unwrap();
    assert!(!log.exists());
    assert!(folder.path().join("daemon.log.1").is_file());
}
