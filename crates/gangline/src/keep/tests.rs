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
