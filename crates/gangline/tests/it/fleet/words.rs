//! Pause, resume and interrupt from the command line; and following what happens.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use gangline_testkit::eventually;
use nix::sys::signal::Signal;

use super::{Fleet, send};

/// R0-45: a running daemon takes the owner's word by its socket; what comes meanwhile is kept (C3).
#[test]
fn a_running_daemon_is_paused_and_goes_on() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    fleet.up();
    let ran = fleet.run(&["pause", "--all"]).ok();
    assert_eq!(ran, "oak-ada is paused: new messages wait\noak-bob is paused: new messages wait\n");
    fleet.becomes("oak-ada", "paused");
    let mut alice = fleet.person("alice");
    alice.say("#general", "@oak-ada say exactly kept");
    let waits = "SELECT count(*) FROM messages WHERE agent = 'oak-ada' AND state = 'accepted'";
    eventually("the message to wait", || (fleet.stage.query(waits) == ["1"]).then_some(()));
    assert_eq!(fleet.ps()["oak-ada"]["pending"], 1);
    // The pause outlives the daemon, and a paused one is ready as it is.
    let ran = fleet.run(&["restart", "oak-ada"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    fleet.becomes("oak-ada", "paused");
    assert_eq!(fleet.run(&["resume", "oak-ada"]).ok(), "oak-ada resumed\n");
    assert_eq!(
        fleet.run(&["resume", "oak-ada"]).ok(),
        "oak-ada is not paused, so nothing changes: `gangline status oak-ada` says what it does\n"
    );
    alice.hears("oak-ada", "#general", "kept");
    let ran = fleet.run(&["interrupt", "--cause", "1"]).ok();
    let nothing = "none of its turns runs and none of its messages waits; later messages of it \
         will be cancelled\n";
    assert_eq!(ran, format!("m1: {nothing}"));
    let ran = fleet.run(&["interrupt", "--cause", "1"]).ok();
    assert_eq!(ran, format!("m1: was ended before, and {nothing}"));
    assert_eq!(fleet.standing("oak-bob"), "paused");
}

/// R0-45, R1-35: without a daemon the word is a row, which the next one finds; `abort` ends an escalation
/// that is stored. `resume` says what it does not end.
#[test]
fn a_word_to_a_daemon_that_is_down_is_kept() {
    let fleet = Fleet::new(&["oak-ada"]);
    let ran = fleet.run(&["pause", "oak-ada"]).ok();
    assert_eq!(ran, "oak-ada is paused: new messages wait; its daemon is not running\n");
    let ran = fleet.run(&["interrupt", "oak-ada"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("is not running: there is no turn to end"), "{}", ran.stderr);
    let _ = fleet.stage.query(
        "INSERT INTO pauses (agent, reason, installation_id, holds, note, at) \
         SELECT agent, 'escalation', installation_id, 1, 'stuck', 1 FROM pauses",
    );
    let ran = fleet.run(&["abort", "oak-ada"]).ok();
    let told = "oak-ada is not escalated any more; its daemon is not running\n\
                oak-ada is still paused. `abort` does not end this: `resume` ends it\n";
    assert_eq!(ran, told);
    let _ = fleet.stage.query(
        "INSERT INTO pauses (agent, reason, installation_id, holds, note, at) \
         SELECT agent, 'fleet', installation_id, 1, 'half of the agents parked', 1 FROM pauses",
    );
    let still = "oak-ada is still held: the limit of the whole installation is reached: half of the agents \
                 parked. `resume` does not end this: `gangline budget release` ends it\n";
    assert_eq!(fleet.run(&["resume", "oak-ada"]).ok(), still);
    let ran = fleet.run(&["abort", "oak-ada"]);
    let hint = format!("hint: {}", still.replace("`resume`", "`abort`"));
    assert!(ran.code == 1 && ran.stderr.ends_with(&hint), "{}", ran.stderr);
    let _ = fleet.stage.query(
        "INSERT INTO findings (number, installation_id, agent, key, kind, severity, cause, evidence, choices, \
         affects, state, raised_at, changed_at) \
         SELECT 90, installation_id, agent, 'budget', 'budget', 'error', 'held', '', '[]', '', 'open', 1, 1 \
         FROM pauses WHERE reason = 'fleet'",
    );
    let ran = fleet.run(&["answer", "90", "resume"]);
    let refused = "error: `resume` is not a choice for finding 90 of oak-ada; choose dismiss\n";
    assert!(ran.stderr.starts_with(refused), "{}", ran.stderr);
    assert!(ran.code == 1 && ran.stderr.ends_with(&format!("hint: {still}")), "{}", ran.stderr);
    let _ = fleet.stage.query("DELETE FROM pauses WHERE reason = 'fleet'");
    let _ = fleet.run(&["pause", "oak-ada"]).ok();
    assert_eq!(fleet.stage.query("SELECT reason FROM pauses"), ["operator"]);
    fleet.up();
    assert_eq!(fleet.standing("oak-ada"), "paused");
    let _ = fleet.run(&["down"]).ok();
    let ran = fleet.run(&["resume", "oak-ada"]).ok();
    assert_eq!(ran, "oak-ada resumed; its daemon is not running\n");
    fleet.up();
    assert_eq!(fleet.standing("oak-ada"), "idle");
}

#[test]
fn an_interrupted_turn_ends_and_the_asker_is_told() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let ran = fleet.run(&["interrupt", "oak-ada"]);
    let told = "error: oak-ada: there is no turn to end\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (1, told));
    let mut alice = fleet.person("alice");
    alice.say("#general", "@oak-ada sleep 300");
    fleet.becomes("oak-ada", "working");
    assert_eq!(fleet.run(&["interrupt", "oak-ada"]).ok(), "oak-ada ends its turn\n");
    alice.hears("oak-ada", "#general", "a person stopped the turn");
    alice.say("#general", "@oak-ada say exactly alive");
    alice.hears("oak-ada", "#general", "alive");
}

#[test]
fn logs_are_followed_until_ctrl_c() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let log = fleet.world().path("follow.txt");
    let args = ["--config", &fleet.stage.config, "logs", "oak-ada", "-f", "-n", "1", "--json"];
    let mut command = fleet.world().command(&args);
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&log).unwrap());
    let mut follower = command.spawn().unwrap();
    let lines = || std::fs::read_to_string(&log).unwrap_or_default();
    // The agent's first ones may follow at once.
    eventually("the newest event", || (!lines().is_empty()).then_some(()));
    let mut ended = String::new();
    for turn in ["t1.1", "t1.2"] {
        let _ = fleet.run(&["prompt", "oak-ada", "say exactly followed", "--wait"]).ok();
        ended = eventually("the end of the turn", || {
            let text = lines();
            let end = |line: &str| line.contains("\"turn_ended\"") && line.contains(turn);
            text.lines().any(end).then_some(text)
        });
    }
    // The last line may be half written.
    let whole = ended.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let seqs: Vec<i64> = whole
        .lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            event["seq"].as_str().unwrap().trim_start_matches('e').parse().unwrap()
        })
        .collect();
    assert!(seqs.is_sorted_by(|one, next| one < next), "each event once, in order: {seqs:?}");
    send(i32::try_from(follower.id()).unwrap(), Signal::SIGINT);
    let status = eventually("the end of logs", || follower.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

/// `logs -f | head -1`: it ends with its reader, though nothing more happens.
#[test]
fn logs_that_are_followed_end_with_their_reader() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let _ = fleet.run(&["down"]).ok();
    let args = ["--config", &fleet.stage.config, "logs", "-f", "-n", "1", "--json"];
    let mut command = fleet.world().command(&args);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut follower = command.spawn().unwrap();
    let mut output = BufReader::new(follower.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.ends_with("}\n"), "{line}");
    drop(output);
    let status = eventually("the end of logs", || follower.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}
