use std::{fs, path::Path};

use gangline_os::{lock::FileLock, paths::Overrides};

use super::{choose, existing, plain};

fn check(with_database: &[&str], expect: &str) {
    let has = |state: &Path| with_database.iter().any(|with| Path::new(with) == state);
    assert_eq!(choose(Path::new("/s"), &has), Path::new(expect), "{with_database:?}");
}

#[test]
fn the_demos_state_is_taken_only_when_the_usual_one_has_no_database() {
    check(&[], "/s");
    check(&["/s"], "/s");
    check(&["/s/demo"], "/s/demo");
    check(&["/s", "/s/demo"], "/s");
}

/// The configuration that a running hub reads counts before the one inside of its state folder, and
/// both before the usual one.
#[test]
fn a_state_folder_has_the_configuration_of_its_hub_else_the_one_inside() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::create_dir(&state).unwrap();
    let named = Overrides { state: Some(state.clone()), ..Overrides::default() };
    let config = || existing(&named).unwrap().paths.config_file;
    let usual = plain(&named).unwrap().config_file;
    assert_eq!(config(), usual, "the folder does not say it");
    let inside = state.join("agents.yaml");
    fs::write(&inside, "agents: []\n").unwrap();
    assert_eq!(config(), inside);
    let read = folder.path().join("team.yaml");
    fs::write(&read, "agents: []\n").unwrap();
    let about = serde_json::json!({
        "pid": std::process::id(), "version": "1", "program": "p", "config": read, "irc": "i",
        "since": "2026-11-26T00:00:00Z", "keeps_agents": true, "leaves_agents": true,
        "supervised": false, "draining": false, "ready": true, "loads": 1, "refused": null,
        "options": [], "kept": {},
    });
    fs::write(state.join("hub.json"), about.to_string()).unwrap();
    assert_eq!(config(), inside, "no hub runs: this is what an earlier one said");
    let hub = FileLock::try_take(&state.join("hub.lock"), "hub").unwrap();
    assert_eq!(config(), read);
    let other = folder.path().join("other.yaml");
    fs::write(&other, "agents: []\n").unwrap();
    let both = Overrides { config: Some(other.clone()), ..named.clone() };
    assert_eq!(existing(&both).unwrap().paths.config_file, other, "it was named");
    fs::remove_file(&read).unwrap();
    assert_eq!(config(), inside, "it is gone");
    drop(hub);
}
