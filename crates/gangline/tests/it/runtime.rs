//! `gangline runtime list` and `set default`, and the files that add backends.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
};

use gangline_testkit::{Ran, World};
use serde_json::{Value, json};

const OURS: &str = "config/gangline/runtimes.json";

/// An empty home with these programs on its path.
fn world(programs: &[(&str, &str)]) -> World {
    let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let bin = world.path("bin");
    fs::create_dir(&bin).unwrap();
    for (name, script) in programs {
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", bin.display());
    world.set("PATH", &path);
    world.set("GANGLINE_VERSION_SECONDS", "5");
    world
}

fn write(world: &World, path: &str, text: &str) -> String {
    world.file(path, text)
}

fn rows(world: &World) -> Vec<Value> {
    let list = world.run(&["runtime", "list", "--json"]).json();
    list["runtimes"].as_array().unwrap().clone()
}

fn named<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

/// R3-16: what is built in, where its program is, its version; all of it without a file.
#[test]
fn an_empty_home_has_the_built_in_backends() {
    let world = world(&[
        ("claude", "echo '2.1.330 (Claude Code)'"),
        ("codex", "sleep 1000"),
        ("opencode", "printf '\\033[31m1.2\\n'"),
    ]);
    let rows = rows(&world);
    let claude = named(&rows, "claude");
    let path = world.path("bin/claude");
    assert_eq!(claude["version"], "2.1.330 (Claude Code)");
    assert_eq!(claude["path"], path.to_str().unwrap());
    assert_eq!((&claude["default"], &claude["source"]), (&json!(true), &json!("built in")));
    assert_eq!(named(&rows, "codex")["version"], Value::Null);
    assert_eq!(named(&rows, "codex")["version_unknown"], "took longer than 5 s");
    assert_eq!(named(&rows, "opencode")["version"], "[31m1.2");
    assert_eq!(named(&rows, "kiro")["path"], Value::Null);
    assert_eq!(world.processes(), [], "all that was started is gone");
    let text = world.run(&["runtime", "list"]).ok();
    assert!(text.contains("* is the default: claude (built in)"), "{text}");
    assert!(text.contains("unknown (took longer than 5 s)"), "{text}");
    assert!(text.contains("kiro-cli: not found") && text.contains("part of Gangline"), "{text}");
}

/// A first start may unpack a hundred megabytes: it is waited for, and said so.
#[test]
fn a_program_that_is_slow_the_first_time_is_waited_for() {
    let slow = "until [ -e ~/go ]; do sleep 0.05; done; echo 1.0.102";
    let mut world = world(&[("copilot", slow), ("claude", "echo 2.1.330")]);
    world.set("GANGLINE_VERSION_SECONDS", "");
    let mut command = world.command(&["runtime", "list", "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut listing = command.spawn().unwrap();
    let mut told = BufReader::new(listing.stderr.take().unwrap()).lines();
    // On a slow machine others are waited for too.
    let copilot = "still asking copilot for its version …";
    assert!(told.any(|line| line.unwrap() == copilot), "it is not told");
    let _ = world.file("go", "");
    let list = Ran::from(listing.wait_with_output().unwrap()).json();
    let rows = list["runtimes"].as_array().unwrap();
    assert_eq!(named(rows, "copilot")["version"], "1.0.102");
}

/// R3-12, R3-13, C22: entries of files, who uses them, and what is wrong with the files.
#[test]
fn files_add_backends_and_their_faults_are_told_loudly() {
    let world = world(&[("aider", "echo aider 0.9")]);
    let file = write(
        &world,
        OURS,
        "{\"default\": \"pair\",\n\"runtimes\": {\n  \"pair\": {\"bin\": \"aider\", \
         \"delivery\": \"tmux\", \"env\": {\"KEY\": \"hunter22\"}, \"colour\": 1},\n  \
         \"bad\": {\"bin\": 3}}}",
    );
    let _ = write(
        &world,
        "gt/settings/agents.json",
        r#"{"version": 1, "agents": {"amp": {"command": "amp"}}}"#,
    );
    let _ = write(&world, "w/b/.gangline/runtime.json", r#"{"runtime": "amp"}"#);
    let _ = write(
        &world,
        "agents.yaml",
        "agents:\n  - {nick: spark-a, directory: .}\n  - {nick: spark-b, directory: w/b}\n  \
         - {nick: spark-c, directory: ., agent: native, base_url: \"http://127.0.0.1:9\"}\n",
    );
    let ran = world.run(&["runtime", "list", "--json"]);
    assert!(!ran.stdout.contains("hunter22"), "{}", ran.stdout);
    let list = ran.json();
    let rows = list["runtimes"].as_array().unwrap().clone();
    let pair = named(&rows, "pair");
    assert_eq!(pair["adapter"], "tmux");
    assert_eq!((&pair["env"], &pair["agents"]), (&json!(["KEY"]), &json!(["spark-a"])));
    assert_eq!(
        (&pair["source"], &pair["key"]),
        (&json!(format!("{file}:3")), &json!("runtimes.pair"))
    );
    assert_eq!((&pair["version"], &pair["default"]), (&json!("aider 0.9"), &json!(true)));
    assert_eq!(named(&rows, "amp")["agents"], json!(["spark-b"]));
    assert_eq!(named(&rows, "native")["agents"], json!(["spark-c"]));
    let problem = format!("{file}:4: `runtimes.bad.bin` must be text, not a number");
    assert_eq!(list["problems"], json!([problem]));
    assert_eq!(
        list["ignored"],
        json!([format!("{file}:3: `runtimes.pair.colour` is not used by Gangline")])
    );
    let text = world.run(&["runtime", "list"]);
    assert!(text.stderr.contains(&format!("error: {problem}")), "{}", text.stderr);
    assert!(text.stdout.contains("1 fields of the files are ignored"), "{}", text.stdout);
    let verbose = world.run(&["runtime", "list", "--verbose"]).ok();
    assert!(verbose.contains("ignored: ") && verbose.contains("runtimes.pair.colour"), "{verbose}");
    let check = world.run(&["config", "check"]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    assert!(check.stderr.contains(&problem), "{}", check.stderr);
    let doctor = world.run(&["runtime", "doctor"]);
    assert!(doctor.code == 1 && doctor.stdout.contains(&problem), "{}", doctor.stdout);
}

/// R3-16: another usual backend; the rest of the file stays as it is, and a slip is refused.
#[test]
fn another_default_is_written_and_a_slip_is_refused() {
    let world = world(&[]);
    let refused = world.run(&["runtime", "set", "default", "opncode"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("did you mean opencode?"), "{}", refused.stderr);
    assert!(!world.path(OURS).exists());
    let _ = world.run(&["runtime", "set", "default", "codex"]).ok();
    assert_eq!(fs::read_to_string(world.path(OURS)).unwrap(), "{\n  \"default\": \"codex\"\n}\n");
    let text = "{\"zebra\" : [1],  \"default\":\"codex\",\n\t\"runtimes\": {}}";
    let _ = write(&world, OURS, text);
    let _ = world.run(&["runtime", "set", "default", "kiro"]).ok();
    let now = fs::read_to_string(world.path(OURS)).unwrap();
    assert_eq!(now, text.replace("\"codex\"", "\"kiro\""));
    assert_eq!(named(&rows(&world), "kiro")["default"], true);
    let _ = write(&world, OURS, "{\"default\": ");
    let refused = world.run(&["runtime", "set", "default", "codex"]);
    assert!(refused.stderr.contains("runtimes.json:1: this is no JSON"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(world.path(OURS)).unwrap(), "{\"default\": ");
}

/// R0-66: a name that nobody knows is refused at its place, with the nearest; a usual backend that
/// is not there names who wants it.
#[test]
fn a_backend_that_is_not_there_is_refused_with_its_place() {
    let world = world(&[]);
    let _ = write(
        &world,
        "agents.yaml",
        "agents:\n  - nick: spark-a\n    directory: .\n    agent: clade\n",
    );
    let refused = world.run(&["config", "check"]);
    assert_eq!(refused.code, 78);
    assert!(
        refused
            .stderr
            .contains("agents.yaml:4:12: unknown backend `clade`: did you mean `claude`?"),
        "{}",
        refused.stderr
    );
    let _ = write(&world, OURS, r#"{"runtimes": {"clade": {"bin": "x", "adapter": "codex"}}}"#);
    let _ = world.run(&["config", "check"]).ok();
    let _ = write(&world, "agents.yaml", "agents:\n  - {nick: spark-a, directory: .}\n");
    let file = write(&world, OURS, r#"{"default": "gone"}"#);
    let refused = world.run(&["up"]);
    assert_eq!(refused.code, 78);
    assert!(refused.stderr.contains("there is no backend `gone`"), "{}", refused.stderr);
    assert!(
        refused.stderr.contains(&format!("the default backend by {file}:1")),
        "{}",
        refused.stderr
    );
}
