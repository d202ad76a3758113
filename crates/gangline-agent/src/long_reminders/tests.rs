//! Where a long reminder is, and which is one.

use std::fs;

use super::*;

fn text(bytes: usize) -> String {
    "m".repeat(bytes)
}

fn stored(folder: &Path, text: &str) -> Result<String, TooLong> {
    super::stored(folder, &Redactor::default(), text).map(Redacted::into_string)
}

/// R2-28: up to 4 KiB it is the message; above that a file of the agent's own, up to 1 MiB.
#[test]
fn a_text_above_four_kib_is_a_file() {
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().join("state/reminders");
    assert_eq!(stored(&folder, &text(SPILL_ABOVE)).unwrap(), text(SPILL_ABOVE));
    assert!(!folder.exists(), "nothing is written");
    let told = stored(&folder, &text(SPILL_ABOVE + 1)).unwrap();
    assert_eq!(stored(&folder, &text(SPILL_ABOVE + 1)).unwrap(), told, "the same file");
    let path = told.strip_prefix("The reminder is in the file ").unwrap();
    let path = path.strip_suffix(" (4097 bytes).").unwrap();
    assert!(path.starts_with(&folder.display().to_string()), "{path}");
    assert_eq!(fs::read_to_string(path).unwrap(), text(SPILL_ABOVE + 1));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert!(stored(&folder, &text(BODY_MAX)).is_ok());
    assert!(matches!(stored(&folder, &text(BODY_MAX + 1)), Err(TooLong::Refused)));
    let file = base.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = stored(&file.join("below"), &text(SPILL_ABOVE + 1));
    assert!(matches!(refused, Err(TooLong::Write(_))), "{refused:?}");
}

/// R2-28, C32: `state/reminders/` of the agent's own folder; in a container `/state/reminders/`, if that
/// is there.
#[test]
fn the_folder_is_state_reminders_of_the_agent() {
    let base = tempfile::tempdir().unwrap();
    let at = |name: &str| base.path().join(name);
    let paths = Paths { config_file: at("c"), state: at("all"), runtime: at("run") };
    let ada: AgentName = "oak-ada".parse().unwrap();
    let own = at("all/agents/oak-ada/state/reminders");
    assert_eq!(folder(&paths, &ada, None), own);
    let container = Container { state: at("mounted"), socket: at("socket") };
    assert_eq!(folder(&paths, &ada, Some(&container)), own, "no such folder");
    fs::create_dir(at("mounted")).unwrap();
    assert_eq!(folder(&paths, &ada, Some(&container)), at("mounted/reminders"));
}
