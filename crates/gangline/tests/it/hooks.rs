//! Which hooks an agent has. What they are told is tested in `gangline-agent`.

use std::fs;

use gangline_testkit::{Stage, eventually};

/// An agent's own hooks replace those of the file.
#[test]
fn an_agents_own_hooks_come_first() {
    let file = "hooks: {command: [nowhere-to-be-found]}";
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], None, (file, ""));
    let text = fs::read_to_string(&stage.config).unwrap();
    let own = "    hooks: {command: [sh, -c, 'echo ran > own'], events: [SessionStart]}\n";
    fs::write(&stage.config, text + own).unwrap();
    let _hub = stage.up();
    eventually("the hook to run", || fs::read_to_string(stage.world.path("work/own")).ok());
    let told = "SELECT count(*) FROM events WHERE payload LIKE '%hook_failed%'";
    assert_eq!(stage.query(told), ["0"]);
}
