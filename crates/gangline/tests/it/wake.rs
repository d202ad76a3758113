//! `gangline wake` as people and scripts have it.

use std::{io::Write as _, process::Stdio};

use gangline_testkit::{Stage, eventually_seeing};
use serde_json::json;

const SCRIPT: &str = r##"
rules:
  - when: {user: 'wake yourself'}
    reply: [tool_use: {name: Bash, input: {command: "gangline wake --from cron --body tick; gangline wake oak-bob --from cron --body tick"}}]
  - when: {tool: Bash}
    reply: [text: "it is done"]
  - reply: [text: "done"]
"##;
const WAKES: &str = "SELECT agent || ' ' || principal || ' ' || tier || ' ' || state FROM messages \
                     WHERE origin = 'wake' ORDER BY id";

/// R2-30: by the daemon while it runs, as a row while it does not; a retry wakes once, in both.
#[test]
fn a_wake_is_stored_whether_its_daemon_runs_or_not() {
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], Some(SCRIPT), ("", ""));
    let run = |args: &[&str]| {
        let mut all = vec!["--config", stage.config.as_str()];
        all.extend(args);
        stage.world.run(&all)
    };
    let sees = |expect: &[&str]| {
        eventually_seeing(WAKES, || {
            let rows = stage.query(WAKES);
            if rows == expect { Ok(()) } else { Err(format!("{rows:?}")) }
        });
    };
    let mut hub = stage.up();
    let wake = ["wake", "ada", "--from", "ci", "--body", "the build is red", "--key", "b-1"];
    let woken = run(&wake);
    assert_eq!((woken.code, woken.stdout.as_str(), woken.stderr.as_str()), (0, "m1\n", ""));
    sees(&["oak-ada wake:ci owner answered"]);
    let again = run(&wake);
    assert_eq!(again.stdout, "m1\n");
    assert!(
        again.stderr.contains("m1 has this key already: nothing was added"),
        "{}",
        again.stderr
    );
    let trace = run(&["trace", "m1"]).ok();
    assert!(trace.contains("a wake by a program, from ci, with owner rights"), "{trace}");
    assert_eq!(run(&["down"]).code, 0);
    assert_eq!(hub.wait(), 0);
    let again = run(&wake);
    assert_eq!(again.stdout, "m1\n", "the same row, without a daemon");
    let mut command = stage.world.command(&[
        "--config",
        &stage.config,
        "--json",
        "wake",
        "oak-ada",
        "--from",
        "ci",
        "--body",
        "-",
    ]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("two\nlines\n".as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert!(stderr.contains("oak-ada is not running: the wake waits until it is"), "{stderr}");
    let printed: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(printed, json!({"message": "m2", "duplicate": false}));
    let status = run(&["status", "ada"]).ok();
    assert!(status.contains("ci: two"), "{status}");
    let _hub = stage.up();
    sees(&["oak-ada wake:ci owner answered", "oak-ada wake:ci owner answered"]);
}

/// R2-30: what is wrong is said with what is allowed, before anything is stored.
#[test]
fn a_wake_that_is_none_is_refused_with_what_to_do() {
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], None, ("", ""));
    let check = |args: &[&str], code: i32, why: &str| {
        let mut all = vec!["--config", stage.config.as_str(), "wake"];
        all.extend(args);
        let ran = stage.world.run(&all);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
    };
    check(&["ada", "--from", "owner", "--body", "x"], 1, "the label `owner` is reserved");
    check(&["ada", "--from", "a b", "--body", "x"], 1, "letters a-z, digits and . _ - / : +");
    check(&["ada", "--from", "ci", "--body", " "], 1, "the body is empty");
    let large = "x".repeat(64 * 1024 + 1);
    check(
        &["ada", "--from", "ci", "--body", &large],
        1,
        "the body has 65537 bytes, and may have 65536",
    );
    check(&["bob", "--from", "ci", "--body", "x"], 1, "bob");
    check(&["--from", "ci", "--body", "x"], 1, "no agent is named");
    check(&["ada", "--body", "x"], 64, "--from");
    for number in 0..10 {
        check(&["ada", "--from", "ci", "--body", &number.to_string()], 0, "the wake waits");
    }
    let why = "`ci` has woken oak-ada 10 times within 60 s: try again in ";
    check(&["ada", "--from", "ci", "--body", "x"], 1, why);
}

/// R2-30, C21: an agent's shell wakes that agent, with an agent's rights, and no other.
#[test]
fn an_agents_shell_wakes_that_agent_only() {
    let each = "permissions: bypass\n";
    let agents = ["oak-ada", "oak-bob"];
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &agents, Some(SCRIPT), ("", each));
    let _hub = stage.up();
    let args = ["--config", stage.config.as_str(), "prompt", "ada", "--wait", "wake yourself"];
    let said = stage.world.run(&args).ok();
    assert_eq!(said, "it is done\n");
    eventually_seeing(WAKES, || {
        let rows = stage.query(WAKES);
        if rows == ["oak-ada wake:cron agent answered"] { Ok(()) } else { Err(format!("{rows:?}")) }
    });
    let seen = stage.query("SELECT payload FROM events WHERE kind = 'tool_result'");
    let why = "oak-ada cannot wake oak-bob: an agent wakes itself only";
    assert!(seen.iter().any(|payload| payload.contains(why)), "{seen:?}");
}
