//! The end: the backend is ended, what is left is written, and nobody waits for a loop that is gone.

use std::{fs, time::Duration};

use gangline_testkit::eventually;
use serde_json::json;

use crate::rig::{ROOM, Rig, SETTLE};

const OUTCOMES: &str =
    "SELECT outcome FROM turns WHERE ended_at IS NOT NULL ORDER BY epoch, number";
/// A turn that is interrupted ends within this, or its backend is ended.
const INTERRUPT_GRACE: Duration = Duration::from_secs(10);

/// While the backend takes its time to end, a request is answered, by what it asked for or by a
/// refusal: it does not wait for a loop that takes no more.
#[test]
fn a_late_request_is_answered_while_the_backend_ends() {
    let rig =
        Rig::program("ready; prompt; words plum; trap '' TERM; cat > /dev/null; gate end", "");
    let end = rig.gate("end");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada hello");
    ori.hears("lab-ada", ROOM, "plum");
    rig.sees("SELECT state FROM messages", &["answered"]);
    let token = daemon.token.clone();
    let (mut late, mut later) = (daemon.dial(), daemon.dial());
    daemon.owner("shutdown");
    rig.sees_phase("down");
    let _ = late.ask(json!({"type": "pause", "token": token}));
    let _ = later.ask(json!({"type": "irc_read", "channel": ROOM}));
    end.open();
    assert_eq!(daemon.ended().code, 0);
}

/// The agent reads what waits while its backend ends: the loop takes nothing any more, and it hears that
/// at once.
#[test]
fn a_late_tool_hears_that_the_daemon_ends() {
    let rig = Rig::program(
        "ready; prompt; echo \"$GANGLINE_TOKEN\" > token.new; mv token.new token; words plum; trap '' TERM; cat \
         > /dev/null; gate end",
        "",
    );
    let end = rig.gate("end");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada hello");
    ori.hears("lab-ada", ROOM, "plum");
    rig.sees("SELECT state FROM messages", &["answered"]);
    let token = rig.first_line("token");
    daemon.owner("pause");
    ori.say(ROOM, "@lab-ada and this");
    let mut late = daemon.dial();
    let look = json!({"type": "irc_read", "channel": ROOM, "peek": true});
    eventually("the line", || late.ok(look.clone()).to_string().contains("and this").then_some(()));
    daemon.owner("shutdown");
    rig.sees_phase("down");
    let why = late.error(json!({"type": "irc_read", "channel": ROOM, "token": token}));
    assert_eq!(why, "the daemon ends");
    end.open();
    assert_eq!(daemon.ended().code, 0);
    // It was not taken into a turn.
    assert_eq!(rig.query("SELECT state FROM messages ORDER BY id"), ["answered", "accepted"]);
}

/// A command that ignores its end outlasts its turn: what comes of it is not the next turn's.
#[test]
fn a_tool_call_that_ends_after_its_turn_is_not_the_next_turns() {
    const SCRIPT: &str = r#"
rules:
  - when: {user: 'run (.*)'}
    times: 1
    reply: [tool_use: {name: Bash, input: {command: "$1"}}]
  - reply: [text: "what?"]
"#;
    let rig = Rig::native(SCRIPT, "permissions: bypass");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let ignores =
        "trap '' TERM INT; echo $$ > own.new; mv own.new own; while :; do sleep 600; done";
    ori.say(ROOM, &format!("@lab-ada run {ignores}"));
    let pid = rig.first_line("own");
    daemon.owner("interrupt");
    // The loop has taken the one when it has taken the other.
    daemon.owner("pause");
    rig.sees("SELECT paused FROM agents", &["1"]);
    rig.clock.forward(INTERRUPT_GRACE);
    rig.sees(OUTCOMES, &["interrupted:operator"]);
    daemon.owner("resume");
    ori.say(ROOM, "@lab-ada and now");
    ori.hears("lab-ada", ROOM, "what?");
    rig.sees(OUTCOMES, &["interrupted:operator", "completed"]);
    let results =
        "SELECT DISTINCT turn_epoch || '.' || turn_number FROM events WHERE kind = 'tool_result'";
    assert_eq!(rig.query(results), ["1.1"]);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert_eq!(daemon.stop().code, 0);
}

/// The open turn has its time, then the interrupt has, then the kill policy; the records of it are
/// written by then, and the successor gives the message again.
#[test]
fn a_backend_that_ignores_everything_is_killed_and_what_was_recorded_is_written() {
    let rig = Rig::program(
        "ready; [ $life = 1 ] && { trap '' TERM INT; prompt; call Bash; echo $$ > own.new; mv own.new own; \
         read -r interrupt; echo x > stopped; while :; do sleep 600; done; }; serve",
        "",
    );
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    rig.at_work(&mut ori, "@lab-ada hello");
    let pid = rig.first_line("own");
    daemon.owner("shutdown");
    rig.clock.is_waited_for(SETTLE);
    rig.clock.forward(SETTLE);
    rig.first_line("stopped");
    assert_eq!(rig.query(OUTCOMES), [""; 0], "it has its time");
    rig.clock.forward(INTERRUPT_GRACE);
    assert_eq!(daemon.ended().code, 0);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert_eq!(rig.query("SELECT state || ' ' || attempt FROM messages"), ["accepted 0"]);
    assert_eq!(rig.query(OUTCOMES), ["interrupted:drain"]);
    let last = "SELECT kind FROM events WHERE kind IN ('assistant', 'tool_result', 'turn_ended', \
                'session_stop') ORDER BY seq";
    assert_eq!(rig.query(last), ["assistant", "session_stop", "tool_result", "turn_ended"]);
    let daemon = rig.start();
    ori.hears("lab-ada", ROOM, "answer of life 2");
    assert_eq!(daemon.stop().code, 0);
}

/// Records that cannot be written hold up the end only for as long as they may.
#[test]
fn a_store_that_is_held_by_others_does_not_hold_up_the_end() {
    let rig = Rig::program("ready; serve", "");
    let daemon = rig.start();
    let others = rig.hold_store();
    let mut ipc = daemon.dial();
    daemon.owner("shutdown");
    ipc.sees("the drain", |status| status["phase"] == "down");
    // How long it may take is held by tests of the root's own.
    eventually("the end", || {
        rig.clock.forward(Duration::from_secs(1));
        daemon.is_over().then_some(())
    });
    let ended = daemon.ended();
    drop(others);
    assert_eq!(ended.code, 0);
}

/// A native tool says something while its turn is interrupted, and the store is stuck until the agent
/// is drained: the loop takes nothing any more, and the tool hears that at once.
#[test]
fn a_native_tool_that_sends_after_the_drain_hears_that_the_daemon_ends() {
    // The harness gives a tool 3 s once its turn is interrupted; on a busy machine they may be over.
    let heard = (0..5).map(|_| late_send()).find(|heard| !heard.contains("cancelled"));
    assert!(heard.as_ref().is_some_and(|it| it.contains("the daemon ends")), "{heard:?}");
}

/// Returns what a native tool hears whose line is stored after the drain.
fn late_send() -> String {
    const SCRIPT: &str = r##"
rules:
  - when: {user: 'tell (.*)'}
    times: 1
    reply: [tool_use: {name: send, input: {to: "#general", text: "$1"}}]
  - reply: [text: "what?"]
"##;
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada tell plum");
    let mut ipc = daemon.dial();
    let others = rig.hold_store();
    drop(model);
    ipc.sees("the tool", |status| status["tool"]["name"] == "send");
    daemon.owner("shutdown");
    rig.clock.is_waited_for(SETTLE);
    rig.clock.forward(SETTLE);
    ipc.sees("the interrupt", |status| status["phase"] == "interrupting");
    rig.clock.forward(INTERRUPT_GRACE);
    ipc.sees("the drain", |status| status["phase"] == "down");
    drop(others);
    assert_eq!(daemon.ended().code, 0);
    assert_eq!(rig.query(OUTCOMES), ["interrupted:drain"]);
    assert_eq!(rig.query("SELECT state FROM messages"), ["accepted"]);
    let files = fs::read_dir(rig.state("sessions")).unwrap().flatten();
    let session: String = files.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
    let result = session.lines().find(|line| line.contains("tool_result"));
    result.unwrap_or_else(|| panic!("no result in {session}")).to_owned()
}
