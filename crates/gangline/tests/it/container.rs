//! The container profile as whole processes, under bubblewrap with `/state` and `/run/hive` bound.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    path::Path,
    process::Command,
};

use gangline_testkit::{Stage, eventually_seeing, stage};
use serde_json::json;

const SCRIPT: &str = r##"
rules:
  - when: {user: 'run: (.+)'}
    reply: [tool_use: {name: Bash, input: {command: "$1"}}]
  - when: {tool: Bash}
    reply: [text: "the shell is done"]
  - reply: [text: "I am awake"]
"##;

/// Everything as it is, read-only, but `/tmp`; and the two places of the container.
const BUBBLE: &str = r#"#!/bin/sh
set -- "BINARY" "$@"
for part in /*; do
  case "$part" in /dev|/proc|/run|/state|/sys|/tmp) ;; *) set -- --ro-bind "$part" "$part" "$@" ;; esac
done
# What stands last comes first.
exec bwrap --die-with-parent --dev-bind /dev /dev --proc /proc --bind /tmp /tmp --bind "PLACES/state" /state \
  --bind "PLACES/hive" /run/hive "$@"
"#;

/// Returns a program that runs the binary in a bubble.
fn bubble(places: &Path) -> String {
    for place in ["state", "hive"] {
        fs::create_dir(places.join(place)).unwrap();
    }
    let text = BUBBLE
        .replace("BINARY", env!("CARGO_BIN_EXE_gangline"))
        .replace("PLACES", &places.display().to_string());
    let program = places.join("bubble");
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program.display().to_string()
}

/// Returns why there are no bubbles here.
#[allow(clippy::disallowed_methods, reason = "the far side of a test")]
fn no_bubbles() -> Option<String> {
    let tried = Command::new("bwrap").args(["--ro-bind", "/", "/", "true"]).output();
    match tried {
        Ok(tried) if tried.status.success() => None,
        Ok(tried) => Some(String::from_utf8_lossy(&tried.stderr).into_owned()),
        Err(error) => Some(format!("bwrap: {error}")),
    }
}

/// R2-12, R2-14, R2-30 … R2-33, C21, C30, C32: the agent works in `/state`, its start wakes it, and what
/// reaches `/run/hive/mcp.sock` speaks for it, from within and by the seed's own line.
#[test]
fn a_contained_agent_has_the_places_of_its_container() {
    if let Some(why) = no_bubbles() {
        return stage::skip("container::a_contained_agent_has_the_places_of_its_container", &why);
    }
    let places = tempfile::Builder::new().prefix("hive-").tempdir().unwrap();
    let each = "profile: container\npermissions: bypass\n";
    let stage = Stage::new(&bubble(places.path()), &["oak-ada"], Some(SCRIPT), ("", each));
    let mut hub = stage.up();
    let run = |args: &[&str]| {
        let mut all = vec!["--config", stage.config.as_str()];
        all.extend(args);
        stage.world.run(&all)
    };
    let sees = |sql: &'static str, expect: &[&str]| {
        eventually_seeing(sql, || {
            let rows = stage.query(sql);
            if rows == expect { Ok(()) } else { Err(format!("{rows:?}")) }
        });
    };
    let told = "SELECT state || ' ' || body FROM messages WHERE origin = 'system'";
    sees(
        told,
        &[
            "answered [gangline] you were just (re)started; check /state/notes for your notes; your \
           session is new, and your files are in /state as you left them",
        ],
    );
    let said =
        run(&["prompt", "ada", "--wait", "run: pwd > here; echo $GANGLINE_STATE_DIR >> here"]);
    assert_eq!(said.ok(), "the shell is done\n");
    let here = fs::read_to_string(places.path().join("state/here")).unwrap();
    assert_eq!(here, "/state\n/state\n");
    // Nobody names an agent: it is the container's.
    let woken = run(&["wake", "--from", "matrix", "--body", "new dm from @alice", "--json"]).json();
    assert_eq!(woken, json!({"message": "m3", "duplicate": false}));
    let mut socket = UnixStream::connect(places.path().join("hive/mcp.sock")).unwrap();
    socket.write_all(b"{\"cmd\":\"wake\",\"from\":\"mail\",\"body\":\"two\"}\n").unwrap();
    let mut answer = String::new();
    BufReader::new(&socket).read_line(&mut answer).unwrap();
    assert_eq!(answer, "{\"ok\":true}\n");
    let wakes = "SELECT principal || ' ' || tier || ' ' || state FROM messages \
                 WHERE origin = 'wake' ORDER BY id";
    sees(wakes, &["wake:matrix agent answered", "wake:mail agent answered"]);
    // A signal would reach the bubble alone.
    assert_eq!(run(&["down"]).code, 0);
    assert_eq!(hub.wait(), 0);
    let long = fs::read_to_string(&stage.config).unwrap().replace("oak-ada", "oak-tenletters");
    let long = stage.world.file("long.yaml", &long);
    let refused = stage.world.run(&["--config", &long, "config", "check"]);
    let why = "`tenletters` has 10 characters; under `profile: container` a name has at most 9";
    assert!(refused.code != 0 && refused.stderr.contains(why), "{}", refused.stderr);
}
