//! A choice of the effort is kept.

use std::fs;

use super::*;

/// A choice is kept in a file of its backend until it is taken back.
#[test]
fn a_choice_is_kept_for_its_backend_until_it_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let paths = Paths {
        state: folder.path().to_owned(),
        config_file: folder.path().join("agents.yaml"),
        runtime: folder.path().to_owned(),
    };
    let agent: AgentName = "oak-ada".parse().unwrap();
    assert_eq!(chosen(&paths, &agent, "claude"), None);
    choose(&paths, &agent, "claude", None).unwrap();
    choose(&paths, &agent, "claude", Some(EffortLevel::XHigh)).unwrap();
    assert_eq!(chosen(&paths, &agent, "claude"), Some(EffortLevel::XHigh));
    assert_eq!(chosen(&paths, &agent, "codex"), None);
    fs::write(file(&paths, &agent, "claude"), "very hard\n").unwrap();
    assert_eq!(chosen(&paths, &agent, "claude"), None);
    choose(&paths, &agent, "claude", None).unwrap();
    assert!(!file(&paths, &agent, "claude").exists());
}
