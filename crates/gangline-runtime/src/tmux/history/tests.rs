use std::fs;

use serde_json::json;

use super::*;

/// R3-04, R3-15: the session is found by what was typed, the newest first, and told once.
#[test]
fn a_session_is_found_by_what_was_typed_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Profile::of(Path::new("codex"), None).unwrap();
    let home = folder.path().display().to_string();
    let env = |name: &str, folder: String| BTreeMap::from([(name.to_owned(), folder)]);
    let mut history = History::of(&profile, &env("CODEX_HOME", home.clone())).unwrap();
    assert_eq!(history.file, folder.path().join("history.jsonl"));
    let usual = History::of(&profile, &env("HOME", home)).unwrap();
    assert_eq!(usual.file, folder.path().join(".codex/history.jsonl"));
    let unknown = Profile::of(Path::new("claude"), None).unwrap();
    assert!(History::of(&unknown, &env("HOME", "/".to_owned())).is_none());

    let (one, two) = (SessionId("one".to_owned()), SessionId("two".to_owned()));
    history.typed("hello\nthere\n");
    assert!(!history.holds(&one), "there is no record yet");
    assert_eq!(history.session(), None);
    let line = |session: &str, text: &str| {
        json!({"session_id": session, "ts": 1, "text": text}).to_string() + "\n"
    };
    let text = line("one", "hello\nthere") + &line("two", "hello\nthere") + &line("three", "x");
    fs::write(&history.file, text + "{\"session_id\":").unwrap();
    assert_eq!(history.session(), None, "what was not found is not looked for for ever");
    history.typed("hello\nthere\n");
    assert_eq!(history.session(), Some(two));
    history.typed("x");
    assert_eq!(history.session(), None, "it is known");
    assert!(history.holds(&one) && !history.holds(&SessionId("on".to_owned())));
}
