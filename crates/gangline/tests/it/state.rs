//! What a hub leaves; commands that look at it, and those that write to it, without a hub.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use gangline_testkit::World;

use crate::{claude::Rig, standin::world};

fn configured() -> World {
    let world = world();
    let _ = world.file(
        "agents.yaml",
        "server: {name: oak}\nagents:\n  - {nick: oak-ada, agent: native, directory: .}\n",
    );
    world
}

#[test]
fn reading_commands_make_no_database() {
    let world = world();
    let commands: [&[&str]; 6] = [
        &["ps"],
        &["status"],
        &["logs"],
        &["trace", "m1"],
        &["approvals"],
        &["status", "oak-ada", "--json"],
    ];
    for command in commands {
        let ran = world.run(command);
        assert_eq!(ran.code, 1, "{command:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: Gangline is not set up here: "), "{}", ran.stderr);
        let hint = "hint: `gangline init` writes one; `gangline demo` needs none";
        assert!(ran.stderr.contains(hint), "{}", ran.stderr);
        assert!(!world.state().exists(), "{command:?} made something");
    }
}

#[test]
fn a_prompt_to_an_unknown_agent_names_the_known_ones_and_leaves_nothing() {
    let world = configured();
    let _ = world.run(&["prompt", "oak-ada", "hello"]).ok();
    let ran = world.run(&["prompt", "oak-bob", "hello"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stderr, "error: there is no agent oak-bob\nhint: known are oak-ada\n");
    let messages = gangline_testkit::database::query(
        &world.state().join("gangline.db"),
        "SELECT agent FROM messages",
    );
    assert_eq!(messages, ["oak-ada"]);
}

#[test]
fn a_prompt_without_any_state_says_how_to_begin() {
    let ran = world().run(&["prompt", "oak-ada", "hello"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("`gangline init` writes one"), "{}", ran.stderr);
    let ran = world().run(&["prompt", "claude", "hello"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("`gangline init` writes one"), "{}", ran.stderr);
    // Somebody has been here, and nothing has run yet.
    let world = configured();
    let ran = world.run(&["ps"]);
    assert!(ran.stderr.contains("hint: `gangline up -d` starts the agents of "), "{}", ran.stderr);
}

/// R0-13: giving a prompt returns once it is stored; it waits for a daemon that is down.
#[test]
fn a_prompt_is_kept_while_the_daemon_is_down() {
    let world = configured();
    let ran =
        world.run(&["prompt", "oak-ada", "hello sk-ant-api03-CanaryCanaryCanaryCanaryCanary12"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "m1\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the daemon of oak-ada is not running"), "{}", ran.stderr);
    let status = world.run(&["status", "oak-ada", "--json"]).json();
    assert_eq!(status["pending"], 1);
    assert_eq!(status["phase"], "down");
    let trace = world.run(&["trace", "m1"]).ok();
    assert!(trace.contains("hello [masked]") && trace.contains("not settled yet"), "{trace}");
    let json = world.run(&["trace", "m1", "--json"]).json();
    assert_eq!(json["message"]["principal"]["tier"], "owner");
    let ps = world.run(&["ps"]).ok();
    assert!(ps.contains("oak-ada  down    -     -    1 "), "{ps}");

    let waited = world.run(&["prompt", "oak-ada", "again", "--wait", "--timeout", "0"]);
    assert_eq!(waited.code, 1);
    assert!(
        waited.stderr.contains("m2 has no answer after 0 s; it stays queued"),
        "{}",
        waited.stderr
    );
}

#[test]
fn an_empty_prompt_and_an_unknown_message_are_errors() {
    let world = configured();
    let ran = world.run(&["prompt", "oak-ada", "  "]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "error: the prompt is empty\n"));
    let _ = world.run(&["prompt", "oak-ada", "hello"]).ok();
    let ran = world.run(&["trace", "m99"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("there is no message m99"), "{}", ran.stderr);
}

/// A shell that an agent started speaks neither for the owner nor decides.
#[test]
fn an_agents_shell_has_no_owners_verbs() {
    let mut world = configured();
    let _ = world.run(&["prompt", "oak-ada", "hello"]).ok();
    world.set("GANGLINE_RUN", "x/oak-ada/1");
    for command in [
        &["approve", "1"][..],
        &["approve", "1", "--always"],
        &["policy", "remove", "1"],
        &["deny", "1"],
        &["prompt", "oak-ada", "hello"],
    ] {
        let ran = world.run(command);
        assert_eq!(ran.code, 1, "{command:?}");
        assert!(ran.stderr.contains("GANGLINE_RUN"), "{command:?}: {}", ran.stderr);
    }
    let _ = world.run(&["status", "oak-ada"]).ok();
}

#[test]
fn deciding_what_is_not_there_points_to_the_list() {
    let world = configured();
    let _ = world.run(&["prompt", "oak-ada", "hello"]).ok();
    let ran = world.run(&["approve", "7"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stderr,
        "error: there is no approval 7\nhint: `gangline approvals` lists the open ones\n"
    );
    assert_eq!(world.run(&["approvals"]).ok(), "no approval waits\n");
}

#[test]
fn the_demos_state_is_found_when_there_is_no_other() {
    let world = world();
    let state = world.state().join("demo").display().to_string();
    let _ = world.file(
        "state/gangline/demo/agents.yaml",
        "server: {name: demo}\nagents:\n  - {nick: demo-guide, agent: native, directory: .}\n",
    );
    let _ = world.run(&["--state", &state, "prompt", "demo-guide", "hello"]).ok();
    let ran = world.run(&["ps"]);
    assert!(ran.stderr.contains("note: looking at the demo's state"), "{}", ran.stderr);
    assert!(ran.ok().contains("demo-guide"));
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    let world = world();
    let file = world.file("state/gangline/gangline.db", "a diary, not a database, of some length");
    let ran = world.run(&["ps"]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("is not a database"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "a diary, not a database, of some length");
}

/// What people and agents said is nobody else's: every file and folder of the state is private.
#[test]
fn what_a_hub_leaves_is_private() {
    fn open_to_others(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            // Files that are there for a moment may be gone.
            let Ok(about) = fs::symlink_metadata(entry.path()) else { continue };
            if about.permissions().mode() & 0o077 != 0 && !about.is_symlink() {
                found.push(entry.path().display().to_string());
            }
            if about.is_dir() {
                open_to_others(&entry.path(), found);
            }
        }
    }
    let rig = Rig::new(&["lab-ada"], None, "");
    let yaml = fs::read_to_string(&rig.config).unwrap();
    fs::write(&rig.config, yaml.replace("agent: claude", "agent: native")).unwrap();
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-ada say exactly here");
    ori.hears("lab-ada", "#general", "here");
    let mut found = Vec::new();
    open_to_others(&rig.world.state(), &mut found);
    assert_eq!(found, [""; 0]);
    rig.put_away(hub);
}
