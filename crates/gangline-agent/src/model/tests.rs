use std::os::unix::fs::PermissionsExt;

use super::*;

/// R2-04: a choice is kept in a file that nobody else reads, until it is taken back.
#[test]
fn a_choice_is_kept_until_it_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agents/x/model");
    assert_eq!(read(&file), None);
    let paths = Paths {
        state: folder.path().to_owned(),
        config_file: folder.path().join("agents.yaml"),
        runtime: folder.path().to_owned(),
    };
    let agent: AgentName = "oak-ada".parse().unwrap();
    choose(&paths, &agent, None).unwrap();
    let haiku: ModelName = "haiku".parse().unwrap();
    choose(&paths, &agent, Some(&haiku)).unwrap();
    assert_eq!(chosen(&paths, &agent), Some(haiku));
    let mode = fs::metadata(super::file(&paths, &agent)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::write(super::file(&paths, &agent), "two words\n").unwrap();
    assert_eq!(chosen(&paths, &agent), None);
    choose(&paths, &agent, None).unwrap();
    assert!(!super::file(&paths, &agent).exists());
}
