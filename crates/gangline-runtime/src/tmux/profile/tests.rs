//! The built-in profiles, and what the configuration changes in them.

use serde_json::json;

use super::*;

#[test]
fn every_built_in_profile_can_be_used() {
    for name in built_in().unwrap().keys() {
        let profile = Profile::of(Path::new("x"), Some(&json!({"like": name}))).unwrap();
        assert!(!profile.about.is_empty(), "{name}");
    }
}

#[test]
fn a_profile_follows_from_the_programs_name_or_from_like() {
    let of = |program: &str, screen| Profile::of(Path::new(program), screen).unwrap();
    assert_eq!(of("/opt/claude.exe", None).kind, Kind::Box);
    assert_eq!(of("/usr/bin/python3", None).kind, Kind::Line);
    assert!(of("frobnicate", None).ready.is_empty());
    let screen = json!({"like": "codex", "ready": ["> "], "settle_ms": 7});
    let changed = of("claude", Some(&screen));
    assert_eq!(changed.ready, ["> "]);
    assert_eq!(changed.answer, ["• "]);
    assert_eq!(changed.settle(), Duration::from_millis(7));
}

#[test]
fn what_is_wrong_is_named() {
    for (screen, expect) in [
        (json!({"kind": "circle"}), "unknown variant `circle`"),
        (json!({"columns": 7}), "`columns` must be 40 to 500"),
        (json!({"like": 3}), "`screen.like` must be a word"),
        (json!({"busy": [""]}), "a text to look for is empty"),
    ] {
        let why = Profile::of(Path::new("bash"), Some(&screen)).unwrap_err();
        assert!(why.contains(expect), "{expect} in {why}");
    }
}
