//! Backends that hang, crash and refuse: what the agent and the people in the room hear of it, and
//! that the next message works. The far side is a script that speaks Claude Code's wire.

use std::time::Duration;

use gangline_testkit::eventually_seeing;
use serde_json::json;

use crate::rig::{ADA, ROOM, Rig, said};

const OUTCOMES: &str =
    "SELECT outcome FROM turns WHERE ended_at IS NOT NULL ORDER BY epoch, number";
const ALERTS: &str =
    "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'alert' ORDER BY seq";
/// How long a backend that has crashed is left alone.
const RESTART: Duration = Duration::from_secs(5);

/// `turn_timeout_seconds: 0` is no limit.
#[test]
fn without_a_limit_a_silent_turn_is_waited_for() {
    let rig =
        Rig::program("ready; prompt; gate late; words late; serve", "turn_timeout_seconds: 0");
    let late = rig.gate("late");
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    rig.at_work(&mut eve, "@lab-ada hello");
    rig.clock.forward(Duration::from_secs(30 * 86_400));
    // It has looked at the new time.
    daemon.owner("pause");
    rig.sees("SELECT paused FROM agents", &["1"]);
    assert_eq!(rig.query(OUTCOMES), [""; 0]);
    late.open();
    eve.hears(ADA, ROOM, "late");
    rig.sees(OUTCOMES, &["completed"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R0-20, R0-21, R1-39, R1-42, R1-46, C7: a crash in mid-turn is told as an alert; after 5 s the
/// program is back, with its session or, if configured so, with a new one, and is told that this
/// is the second attempt and what became of the first.
fn crashes_once(each: &str) -> Rig {
    let rig = Rig::program("ready; [ $life = 1 ] && { prompt; exit 1; }; serve", each);
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada build it");
    rig.clock.is_waited_for(RESTART);
    assert_eq!(rig.lines("lives").len(), 1, "it is left alone");
    rig.clock.forward(RESTART);
    eve.hears(ADA, ROOM, "answer of life 2");
    let prompts = rig.lines("told");
    assert_eq!(prompts.len(), 2);
    assert!(!prompts[0].contains("attempt"), "{}", prompts[0]);
    assert!(prompts[1].contains("[gangline] attempt 2: an earlier attempt at this message"));
    assert!(prompts[1].contains("was cut off (process exited with code 1)"), "{}", prompts[1]);
    let alerts = [
        "[ERROR] lab-ada crashed: process exited with code 1",
        "[COMPLETE] lab-ada finished task \"@lab-ada build it\". Results in #general.",
    ];
    rig.sees(ALERTS, &alerts);
    let grave = "SELECT json_extract(payload, '$.severity') || ' ' || json_extract(payload, \
                 '$.event') FROM events WHERE kind = 'alert' ORDER BY seq";
    assert_eq!(rig.query(grave), ["error agent_error", "info agent_complete"]);
    let hooks = "SELECT kind FROM events WHERE kind LIKE 'on_%' OR kind LIKE 'session_%' ORDER BY \
                 seq";
    assert_eq!(
        rig.query(hooks),
        ["session_start", "on_message", "on_error", "session_stop", "session_start", "on_message"]
    );
    assert_eq!(said(&mut eve), ["answer of life 2"], "once");
    assert_eq!(daemon.stop().code, 0);
    rig
}

/// R0-21, C7.
#[test]
fn after_a_crash_the_session_goes_on() {
    let rig = crashes_once("on_crash: resume");
    let ids = rig.lines("ids");
    assert_eq!(ids[0], ids[1]);
}

/// R1-46, C7.
#[test]
fn after_a_crash_a_new_session_begins_if_configured_so() {
    let rig = crashes_once("on_crash: fresh");
    let ids = rig.lines("ids");
    assert_ne!(ids[0], ids[1]);
    assert_eq!(rig.lines("arguments"), ["--session-id", "--session-id"]);
}

/// C7: a session that is refused twice in a row is given up for a new one, and that is said; the
/// crash before does not make the refusals park the agent.
#[test]
fn a_session_that_is_refused_twice_is_given_up() {
    let rig = Rig::program(
        "case $life in 1) ready; prompt; exit 1;; 2|3) echo 'No conversation found' >&2; exit 1;; *) ready; \
         serve;; esac",
        "on_crash: resume",
    );
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada hello");
    for life in 1..=3 {
        eventually_seeing("the end of a life", || {
            let lives = rig.lines("lives").len();
            if lives == life { Ok(()) } else { Err(lives.to_string()) }
        });
        rig.clock.is_waited_for(RESTART);
        rig.clock.forward(RESTART);
    }
    eve.hears(ADA, ROOM, "answer of life 4");
    let ids = rig.lines("ids");
    assert_eq!((&ids[0], &ids[1]), (&ids[1], &ids[2]));
    assert_ne!(ids[2], ids[3]);
    let said = "SELECT count(*) FROM events WHERE kind = 'notice' AND json_extract(payload, \
                '$.code') = 'fresh_session'";
    assert_eq!(rig.query(said), ["1"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R0-18: a call that is still open at the turn's end is told as over, and hides no answer.
#[test]
fn a_call_that_never_came_back_is_closed_with_its_turn() {
    let rig = Rig::program("ready; prompt; call Bash; words 'all well'; serve", "");
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada hello");
    eve.hears(ADA, ROOM, "all well");
    let results = "SELECT json_extract(payload, '$.id') || ' ' || json_extract(payload, \
                   '$.is_error') || ' ' || json_extract(payload, '$.preview') FROM events WHERE \
                   kind = 'tool_result'";
    assert_eq!(rig.query(results), ["call-1 1 (the turn ended before it came back)"]);
    eve.say(ROOM, "@lab-ada again");
    eve.hears(ADA, ROOM, "answer of life 1");
    assert_eq!(rig.query(results).len(), 1);
    assert_eq!(daemon.stop().code, 0);
}

/// R0-22, R1-46: three crashes in 300 s park the agent; the operator and who waits are told, nothing
/// is lost, and `resume` lets it try again.
#[test]
fn three_crashes_park_the_agent_until_somebody_resumes_it() {
    let rig =
        Rig::program("ready; [ $life -le 3 ] && { prompt; exit 7; }; serve", "max_attempts: 9");
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada hello");
    for life in 1..=2 {
        eventually_seeing("the end of a life", || {
            let lives = rig.lines("lives").len();
            if lives == life { Ok(()) } else { Err(lives.to_string()) }
        });
        rig.clock.is_waited_for(RESTART);
        rig.clock.forward(RESTART);
    }
    // Who waits is told, once each.
    let waits = |number| {
        format!("is stored and waits until my owner has fixed it and says `resume` (m{number})")
    };
    eve.hears(ADA, ROOM, &waits(1));
    eve.say(ROOM, "@lab-ada and this");
    eve.hears(ADA, ROOM, &waits(2));
    let crashed = "[ERROR] lab-ada crashed: process exited with code 7";
    let parked = "[ERROR] lab-ada crashed 3 times and is parked: say `resume` to try again; the last \
                  time: claude ended with code 7; it said: nothing. Each time it worked on m1: if \
                  that is the cause, say `cancel m1` before `resume`";
    rig.sees(ALERTS, &[crashed, crashed, crashed, parked]);
    let status = daemon.dial().ok(json!({"type": "status"}));
    assert_eq!(status["circuit_open"], true);
    assert!(status["waiting_for"].to_string().contains("claude ended with code 7"), "{status}");
    let open =
        "SELECT count(*) FROM events WHERE kind = 'notice' AND payload LIKE '%circuit_open%'";
    assert_eq!(rig.query(open), ["1"]);
    assert_eq!(rig.lines("lives").len(), 3, "it is not started again");
    daemon.owner("resume");
    rig.sees("SELECT state FROM messages ORDER BY id", &["answered", "answered"]);
    assert_eq!(rig.query("SELECT count(*) FROM outbox WHERE idem_key LIKE 'k-%'"), ["2"]);
    let prompts = rig.lines("told");
    assert!(prompts[3].contains("attempt 4"), "{prompts:?}");
    assert_eq!(daemon.stop().code, 0);
    let answers = said(&mut eve).iter().filter(|text| text.starts_with("answer of")).count();
    assert_eq!(answers, 2);
}
