//! `gangline init` where a login, a key or every program is missing.

use std::fs;

use gangline_testkit::stage::free_port;

use super::{CLAUDE, config, machine};

/// What is missing is said, with the command: a login, or everything.
#[test]
fn what_is_missing_is_said_with_the_command_that_helps() {
    let world = machine(&[CLAUDE]);
    let out = world.run(&["init", "--server", "oak"]).ok();
    assert!(out.contains("NO LOGIN: "), "{out}");
    assert!(out.contains("log in by `claude`, then `/login`"), "{out}");
    assert!(out.contains("Still missing: a login for oak-claude"), "{out}");
    assert!(!world.path("config/gangline/.git").exists() && !out.contains("repository"), "{out}");
    let up = world.run(&["up", "-d", "--listen", &format!("127.0.0.1:{}", free_port())]);
    assert_eq!(up.code, 1, "{}", up.stderr);
    assert!(!up.stderr.contains("ready, process"), "it cannot answer: {}", up.stderr);
    let _ = world.run(&["down", "--now"]).ok();
    // A login, and nothing is missing.
    let _ = world.file(".claude/.credentials.json", "{}");
    let out = world.run(&["init", "--force"]).ok();
    assert!(!out.contains("missing") && !out.contains("NO LOGIN"), "{out}");

    // A key of this shell is used.
    let mut keyed = machine(&[CLAUDE]);
    keyed.set("ANTHROPIC_API_KEY", "k");
    let out = keyed.run(&["init"]).ok();
    assert!(out.contains("uses the key in ANTHROPIC_API_KEY"), "{out}");
    let text = fs::read_to_string(config(&keyed)).unwrap();
    assert!(text.contains("api_key_env: ANTHROPIC_API_KEY   #"), "{text}");

    let nothing = machine(&[]);
    let out = nothing.run(&["init"]).ok();
    for part in [
        "Still missing: a program or key, so that an agent can answer.",
        "npm install -g @anthropic-ai/claude-code",
        "a key in ANTHROPIC_API_KEY",
        "`gangline init --force` looks again",
        "`gangline demo` needs neither program nor key",
    ] {
        assert!(out.contains(part), "no `{part}` in {out}");
    }
    let next = "Next: install one of these, or set the key; then `gangline init --force`\n";
    assert!(out.ends_with(next), "an empty hub answers nobody: {out}");
    let mut native = machine(&[]);
    native.set("ANTHROPIC_API_KEY", "k");
    let json = native.run(&["init", "--server", "oak", "--json"]).json();
    assert_eq!(json["agents"], serde_json::json!(["oak-native"]));
    assert_eq!(json.get("repository"), None);
}
