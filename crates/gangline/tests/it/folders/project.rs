//! `trust: project`: what lies in the folder at the agent's first start counts as allowed. A later change
//! does not.

use std::fs;

use gangline_testkit::eventually;

use super::{
    Lab, claude,
    codex::{codex, for_codex},
    for_claude,
    others::{for_opencode, opencode, refusal},
};

/// What of the three folders leaves a trace when it runs.
const ALL: &[&str] = &[
    "claude-start",
    "claude-local",
    "claude-prompt",
    "claude-stop",
    "claude-server",
    "codex-server",
    "open-server",
    "open-plugin",
];

/// Changes what lies in the folders, so that something else would run.
fn pull(lab: &Lab) {
    let evil = format!("touch {}", lab.trace("pulled").display());
    let hooks = serde_json::json!({"hooks": {"SessionStart": [
        {"hooks": [{"type": "command", "command": evil}]}]}});
    lab.write("lab-claude", ".claude/settings.json", &hooks.to_string());
    let server = format!("[mcp_servers.evil]\ncommand = \"sh\"\nargs = [\"-c\", \"{evil}\"]\n");
    lab.write("lab-codex", ".codex/config.toml", &server);
    let server =
        serde_json::json!({"mcp": {"evil": {"type": "local", "command": ["sh", "-c", evil]}}});
    lab.write("lab-open", "opencode.json", &server.to_string());
}

/// Nothing is asked and all of it runs, whether a program has a switch or not. After a pull Claude Code has
/// what it had, Codex loads nothing, OpenCode does not start, and each is told; what was revoked is not
/// allowed by the configuration again.
#[test]
fn a_project_that_the_configuration_trusts_is_loaded_until_it_changes() {
    let agents = [
        ("lab-claude", claude("trust: project")),
        ("lab-codex", codex("trust: project\npermissions: bypass")),
        ("lab-open", opencode("trust: project")),
    ];
    let fill = |lab: &Lab, nick: &str| match nick {
        "lab-claude" => for_claude(lab, nick),
        "lab-codex" => for_codex(lab, nick),
        _ => for_opencode(lab, nick),
    };
    let lab = Lab::new(&agents, &fill);
    // OpenCode waits until a registry has answered, or not, as often as npm wants it.
    let _ = lab.world.file(".npmrc", "fetch-retries=0\n");
    let before = lab.world.run(&["--config", &lab.config, "doctor"]).stdout;
    assert!(!before.contains("trust allow"), "{before}");
    let hub = lab.up();
    let mut ori = lab.member();
    for (nick, _) in &agents {
        lab.answers(&mut ori, nick, "first");
    }
    for name in ALL {
        let path = lab.trace(&format!("lab-{name}"));
        eventually(name, || path.exists().then_some(()));
    }
    assert!(!hub.output().contains("trust allow"), "{}", hub.output());
    assert_eq!(lab.query("SELECT agent FROM findings"), [""; 0]);
    let shown = lab.run(&["trust", "show", "lab-codex"]);
    assert!(shown.contains("allowed by the configuration (trust: project)"), "{shown}");

    pull(&lab);
    lab.traces().iter().for_each(|name| fs::remove_file(lab.trace(name)).unwrap());
    for nick in ["lab-claude", "lab-codex"] {
        lab.run(&["restart", nick]);
        lab.answers(&mut ori, nick, "second");
    }
    let _ = lab.world.run(&["--config", &lab.config, "restart", "lab-open"]);
    eventually("a start that says why it fails", || refusal(&lab, "lab-open"));
    let left: Vec<String> = lab.traces().into_iter().filter(|it| !it.contains("claude")).collect();
    assert_eq!(left, [""; 0], "it has changed");
    assert!(lab.trace("lab-claude-start").exists(), "the old hook");
    let found = "SELECT agent FROM findings WHERE kind = 'untrusted_folder' AND state = 'open' \
                 ORDER BY agent";
    assert_eq!(lab.query(found), ["lab-claude", "lab-codex", "lab-open"]);
    let doctor = lab.world.run(&["--config", &lab.config, "doctor"]).stdout;
    for (nick, _) in &agents {
        assert!(doctor.contains(&format!("gangline trust allow {nick} ")), "{nick}: {doctor}");
    }

    // The configuration speaks once.
    lab.run(&["trust", "revoke", "lab-claude"]);
    lab.run(&["restart", "lab-claude"]);
    lab.traces().iter().for_each(|name| fs::remove_file(lab.trace(name)).unwrap());
    lab.answers(&mut ori, "lab-claude", "third");
    assert_eq!(lab.traces(), [""; 0], "it was revoked");
    lab.put_away(hub);
}
