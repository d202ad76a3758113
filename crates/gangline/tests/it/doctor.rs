//! The doctor: looks for programs, and tries them.

use std::{fs, os::unix::fs::symlink};

use gangline_testkit::{World, eventually, programs};
use nix::sys::signal::Signal;

use crate::standin::world;

/// A world with Claude Code on the PATH, and no other backend.
fn with_claude() -> World {
    let mut world = world();
    let bin = world.path("bin");
    fs::create_dir(&bin).unwrap();
    symlink(programs::claude(), bin.join("claude")).unwrap();
    world.set("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    world
}

/// The folder in the state folder in which programs are tried.
fn labs(world: &World) -> usize {
    fs::read_dir(world.state().join("doctor")).map_or(0, Iterator::count)
}

/// The processes that have a home in such a folder.
fn tried(world: &World) -> usize {
    let home = format!("HOME={}", world.state().join("doctor").display());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let environ = |path: std::path::PathBuf| fs::read(path.join("environ")).unwrap_or_default();
    let texts = entries.map(|entry| String::from_utf8_lossy(&environ(entry.path())).into_owned());
    texts.filter(|text| text.contains(&home)).count()
}

/// R3-16: what is installed is found with its version; what is not is named with its remedy.
#[test]
fn programs_are_found_with_their_versions() {
    let world = with_claude();
    let told = world.run(&["runtime", "doctor"]).ok();
    assert!(told.contains("claude     2.1.330"), "{told}");
    let found = world.run(&["runtime", "doctor", "claude", "--json"]).json();
    assert_eq!((&found[0]["version"], &found[0]["advice"]), (&"2.1.330".into(), &().into()));
    let ran = world.run(&["runtime", "doctor", "nobody"]);
    assert!(ran.code == 1 && ran.stderr.contains("there is: native, claude"), "{}", ran.stderr);
}

/// R3-16, R0-02: every rule is tried with the installed program, and told with what it takes;
/// nothing of what stands around is passed on, and nothing is left behind.
#[test]
fn the_deep_look_tries_every_rule() {
    let mut world = with_claude();
    for (name, value) in [
        ("CLAUDECODE", "another's"),
        ("ANTHROPIC_API_KEY", "sk-ant-of-another"),
        ("GT_ROLE", "another/mayor"),
        ("NODE_OPTIONS", "--title=of-another"),
    ] {
        world.set(name, value);
    }
    let ran = world.run(&["runtime", "doctor", "--deep", "--times", "claude", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = |words: &str| assert!(ran.stderr.contains(words), "{}", ran.stderr);
    told("  trying      starts and takes prompts in time");
    told(" s  starts and takes prompts in time");
    told("  claude took ");
    let found = ran.json();
    let cells = found[0]["cells"].as_array().unwrap();
    let yes = cells.iter().filter(|cell| cell["verdict"] == "yes").count();
    assert!(yes > 40, "{cells:#?}");
    let leak = cells.iter().find(|cell| cell["id"] == "no_leak").unwrap();
    assert_eq!(leak["verdict"], "yes", "{leak}");
    assert_eq!((labs(&world), tried(&world)), (0, 0));
}

/// A rule that is broken makes the exit code 1, and is told with what was seen.
#[test]
fn a_program_that_does_not_work_fails() {
    let world = with_claude();
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 2.1.330; exit 0; }\nexit 7\n";
    let path = world.path("bin/claude");
    fs::remove_file(&path).unwrap();
    let _ = world.file("bin/claude", script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, mode).unwrap();
    let ran = world.run(&["runtime", "doctor", "--deep", "claude"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("NO: starts and takes prompts in time"), "{}", ran.stdout);
}

/// Ctrl-C ends it at once, and neither a process nor a file stays.
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let world = with_claude();
    let mut doctor = world.start(&["runtime", "doctor", "--deep", "claude"]);
    eventually("the first verdict", || doctor.output().contains("  yes  ").then_some(()));
    assert!(tried(&world) > 0, "{}", doctor.output());
    doctor.signal(Signal::SIGINT);
    assert_eq!(doctor.wait(), 130, "{}", doctor.output());
    assert_eq!((labs(&world), tried(&world)), (0, 0));
}
