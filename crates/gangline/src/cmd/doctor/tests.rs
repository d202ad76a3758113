use std::{fs, path::Path};

use gangline_os::{lock::FileLock, paths::Paths};

use super::{Choice, Level, Site, hub, installation};
use crate::cli::Global;

fn site(state: &Path, config: Option<&Path>) -> Site {
    let (state, config) = (Some(state.to_owned()), config.map(Path::to_owned));
    Site::of(&Global { state, config, json: false }).unwrap()
}

/// A state folder that was named is checked with the configuration inside of it, as a demo has one.
#[test]
fn a_state_folder_that_was_named_is_checked_with_its_own_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("agents.yaml");
    let of_usual = site(folder.path(), None);
    assert_eq!(of_usual.choice, Choice::UsualForState);
    fs::write(&inside, "agents: []\n").unwrap();
    let own = site(folder.path(), None);
    assert_eq!((own.choice, &own.paths.config_file), (Choice::Found, &inside));
    assert_eq!(own.paths.state, folder.path());
    let other = folder.path().join("other.yaml");
    fs::write(&other, "agents: []\n").unwrap();
    let named = site(folder.path(), Some(&other));
    assert_eq!((named.choice, &named.paths.config_file), (Choice::Named, &other));
}

/// A state folder without a configuration of its own is checked with the usual one, and that is said
/// with how to name another.
#[test]
fn the_usual_configuration_of_a_named_state_folder_is_a_guess() {
    let folder = tempfile::tempdir().unwrap();
    let usual = folder.path().join("usual.yaml");
    fs::write(&usual, "agents: []\n").unwrap();
    let paths =
        Paths { config_file: usual, state: folder.path().into(), runtime: folder.path().into() };
    let notes = |choice: Choice| {
        let checks = installation::configuration(&paths, choice);
        checks.into_iter().filter(|it| it.result == Level::Note).collect::<Vec<_>>()
    };
    let told = notes(Choice::UsualForState);
    let state = folder.path().display();
    assert_eq!(told[0].found, format!("this is the usual one: {state} has none of its own"));
    let remedy = "`--config FILE` names the one that belongs to this state folder";
    assert_eq!(told[0].remedies, [remedy]);
    assert_eq!(notes(Choice::Found), []);
    assert_eq!(notes(Choice::Named), []);
}

/// A hub that runs with another configuration than the one that is checked.
#[test]
fn a_hub_with_another_configuration_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let paths = |config: &str| Paths {
        config_file: at(config),
        state: folder.path().into(),
        runtime: folder.path().into(),
    };
    let about = serde_json::json!({
        "pid": std::process::id(), "version": "1", "program": "p", "config": at("team.yaml"),
        "irc": "i", "since": "2026-11-26T00:00:00Z", "keeps_agents": true, "leaves_agents": true,
        "supervised": false, "draining": false, "ready": true, "loads": 1, "refused": null,
        "options": [], "kept": {},
    });
    fs::write(at("hub.json"), about.to_string()).unwrap();
    let lock = FileLock::try_take(&at("hub.lock"), "hub").unwrap();
    assert_eq!(hub::look(&paths("team.yaml"), None).1.result, Level::Ok);
    let (_, other) = hub::look(&paths("mine.yaml"), None);
    assert_eq!(other.result, Level::Warn);
    let theirs = at("team.yaml");
    let says = format!("it runs with another configuration: {}", theirs.display());
    assert!(other.found.ends_with(&says), "{}", other.found);
    let check = format!("`gangline doctor --config {}` checks that one", theirs.display());
    assert_eq!(other.remedies[0], check);
    drop(lock);
}
