//! Backends that hang, crash and refuse: what the agent and the people in the room hear of it, and
//! that the next message works. The far side is a script that speaks Claude Code's wire.

use std::{fs, time::Duration};

use gangline_testkit::eventually_seeing;
use serde_json::json;

use crate::rig::{ADA, ROOM, Rig, said};

const OUTCOMES: &str =
    "SELECT outcome FROM turns WHERE ended_at IS NOT NULL ORDER BY epoch, number";
const ALERTS: &str =
    "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'alert' ORDER BY seq";
/// How long a backend that has crashed is left alone.
const RESTART: Duration = Duration::from_secs(5);

const TIMED_OUT: &str = "no answer: the turn showed no activity and was stopped";
/// A turn that is interrupted ends within this, or its backend is ended.
const INTERRUPT_GRACE: Duration = Duration::from_secs(10);

const FINDINGS: &str = "SELECT kind || ' ' || state FROM findings ORDER BY number";

/// `turn_timeout_seconds: 0` is no limit. The turn is found to be silent and long, until it ends.
#[test]
fn without_a_limit_a_silent_turn_is_waited_for() {
    let rig =
        Rig::program("ready; prompt; gate late; words late; serve", "turn_timeout_seconds: 0");
    let late = rig.gate("late");
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    rig.at_work(&mut eve, "@lab-ada hello");
    rig.clock.forward(Duration::from_secs(30 * 86_400));
    // The program's last word may be heard only now, so it is silent for long once more. That an order is
    // carried out shows that the loop has gone on.
    let open = "SELECT kind FROM findings WHERE state = 'open' AND kind IN ('silent_turn', 'long_turn') \
                ORDER BY kind";
    let orders = [("pause", "1"), ("resume", "0")].into_iter().cycle().take(100);
    for (order, paused) in orders {
        daemon.owner(order);
        rig.sees("SELECT paused FROM agents", &[paused]);
        if rig.query(open) == ["long_turn", "silent_turn"] {
            break;
        }
        rig.clock.forward(Duration::from_secs(360));
    }
    assert_eq!(rig.query(open), ["long_turn", "silent_turn"]);
    assert_eq!(rig.query(OUTCOMES), [""; 0]);
    late.open();
    eve.hears(ADA, ROOM, "late");
    rig.sees(OUTCOMES, &["completed"]);
    rig.sees(open, &[]);
    assert_eq!(daemon.stop().code, 0);
}

/// Waits until it is known that the program has stopped so many times; its time to be left alone has
/// begun then.
fn has_stopped(rig: &Rig, times: &str) {
    rig.sees("SELECT count(*) FROM events WHERE kind = 'session_stop'", &[times]);
}

/// One that is killed has no code: the next attempt hears of the signal, as the owner does.
#[test]
fn an_attempt_after_a_kill_is_told_of_the_signal() {
    let rig = Rig::program("ready; [ $life = 1 ] && { prompt; kill -9 $$; }; serve", "");
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada build it");
    has_stopped(&rig, "1");
    rig.clock.forward(RESTART);
    eve.hears(ADA, ROOM, "answer of life 2");
    let prompts = rig.lines("told");
    assert!(prompts[1].contains("was cut off (claude ended with signal 9);"), "{}", prompts[1]);
    let alert = "[ERROR] lab-ada crashed: claude ended with signal 9; it said: nothing";
    assert_eq!(rig.query(ALERTS)[0], alert);
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
    has_stopped(&rig, "1");
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
        "[COMPLETE] lab-ada finished task \"build it\". Results in #general.",
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

/// R0-22, R0-53, R1-46: three crashes in 300 s park the agent; the operator and who waits are told,
/// nothing is lost, and `resume` lets it try again. It stays in its room with an open circuit, which
/// waits for a person under a number, and is answered by it.
#[test]
fn three_crashes_park_the_agent_until_somebody_resumes_it() {
    let rig =
        Rig::program("ready; [ $life -le 3 ] && { prompt; exit 7; }; serve", "max_attempts: 9");
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada hello");
    for life in ["1", "2"] {
        has_stopped(&rig, life);
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
    // The crashes are one alert; that it is parked is another, which waits for somebody.
    let told = "SELECT text || ' ' || more || ' ' || ifnull(about, '-') FROM alerts ORDER BY id";
    rig.sees(told, &[&format!("{crashed} 2 -"), &format!("{parked} 0 1")]);
    let status = daemon.dial().ok(json!({"type": "status"}));
    assert_eq!(status["circuit_open"], true);
    assert!(status["waiting_for"].to_string().contains("claude ended with code 7"), "{status}");
    let open =
        "SELECT count(*) FROM events WHERE kind = 'notice' AND payload LIKE '%circuit_open%'";
    assert_eq!(rig.query(open), ["1"]);
    assert_eq!(rig.lines("lives").len(), 3, "it is not started again");
    rig.sees(FINDINGS, &["breaker_open open"]);
    let mut otto = rig.owner("otto");
    otto.say(ROOM, "@lab-ada status");
    otto.hears(ADA, ROOM, "waits for a person: 1 the backend kept failing");
    eve.say(ROOM, "@lab-ada 1 resume");
    eve.hears(ADA, ROOM, "eve: ");
    rig.sees(FINDINGS, &["breaker_open open"]);
    otto.say(ROOM, "@lab-ada 1 resume");
    otto.hears(ADA, ROOM, "finding 1: resume: I continue");
    rig.sees(FINDINGS, &["breaker_open resolved"]);
    rig.sees("SELECT state FROM messages ORDER BY id", &["answered", "answered"]);
    assert_eq!(rig.query("SELECT count(*) FROM outbox WHERE idem_key LIKE 'k-%'"), ["2"]);
    let prompts = rig.lines("told");
    assert!(prompts[3].contains("attempt 4"), "{prompts:?}");
    assert_eq!(daemon.stop().code, 0);
    let answers = said(&mut eve).iter().filter(|text| text.starts_with("answer of")).count();
    assert_eq!(answers, 2);
}

/// A turn without a sign of life is interrupted; who asked is told, and the session goes on. The
/// time may have a fraction of a second (C36).
#[test]
fn a_silent_turn_is_interrupted_and_its_asker_told() {
    let rig =
        Rig::program("ready; prompt; says hm; interrupted; serve", "turn_timeout_seconds: 99.5");
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    rig.at_work(&mut eve, "@lab-ada hello");
    // Its last sign of life is known.
    rig.sees("SELECT count(*) FROM events WHERE kind = 'assistant'", &["1"]);
    rig.clock.forward(Duration::from_secs(60));
    // It has looked at the new time.
    daemon.owner("pause");
    rig.sees("SELECT paused FROM agents", &["1"]);
    assert_eq!(rig.query(OUTCOMES), [""; 0]);
    daemon.owner("resume");
    rig.clock.forward(Duration::from_millis(39_500));
    eve.hears(ADA, ROOM, TIMED_OUT);
    eve.say(ROOM, "@lab-ada again");
    eve.hears(ADA, ROOM, "answer of life 1");
    rig.sees(OUTCOMES, &["timed_out", "completed"]);
    assert_eq!(daemon.stop().code, 0);
}

/// The time of a turn stands still while people are asked, and runs again when the program takes its
/// question back; nobody can decide it then.
#[test]
fn a_question_that_is_taken_back_lets_the_time_run_again() {
    let rig = Rig::program(
        "ready; prompt; asks Bash; gate back; takes_back; interrupted; serve",
        "turn_timeout_seconds: 100",
    );
    let back = rig.gate("back");
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada hello");
    eve.hears(ADA, ROOM, "lab-ada wants to run (for eve");
    rig.clock.forward(Duration::from_secs(1000));
    // It has looked at the new time.
    daemon.owner("pause");
    rig.sees("SELECT paused FROM agents", &["1"]);
    daemon.owner("resume");
    assert_eq!(rig.query(OUTCOMES), [""; 0]);
    assert_eq!(rig.query("SELECT state FROM approvals"), ["open"]);
    back.open();
    eve.hears(ADA, ROOM, "approval 1 is closed: my program withdrew its request");
    rig.sees("SELECT state FROM approvals", &["withdrawn"]);
    rig.clock.forward(Duration::from_secs(100));
    eve.hears(ADA, ROOM, TIMED_OUT);
    eve.say(ROOM, "@lab-ada again");
    eve.hears(ADA, ROOM, "answer of life 1");
    rig.sees(OUTCOMES, &["timed_out", "completed"]);
    assert_eq!(daemon.stop().code, 0);
}

/// Whether the process is still there whose number stands in this file.
fn lives(rig: &Rig, file: &str) -> bool {
    let pid = rig.first_line(file);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !(stat.is_empty() || stat.contains(") Z "))
}

/// One that does not react to the interrupt is ended by the kill policy, with all that it started.
#[test]
fn a_turn_that_ignores_its_interrupt_is_ended_and_the_next_message_works() {
    let rig = Rig::program(
        "ready; [ $life = 1 ] && { trap '' TERM INT; prompt; setsid sh -c 'echo $$ > child.new; mv \
         child.new child; exec sleep 600' & echo $$ > own.new; mv own.new own; \
         read -r interrupt; echo x > stopped; while :; do sleep 600; done; }; serve",
        "turn_timeout_seconds: 100",
    );
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    rig.at_work(&mut eve, "@lab-ada hello");
    assert!(lives(&rig, "own") && lives(&rig, "child"));
    rig.clock.forward(Duration::from_secs(100));
    rig.first_line("stopped");
    assert_eq!(rig.query(OUTCOMES), [""; 0], "it has its time");
    rig.clock.forward(INTERRUPT_GRACE);
    eve.hears(ADA, ROOM, TIMED_OUT);
    eve.say(ROOM, "@lab-ada again");
    eve.hears(ADA, ROOM, "answer of life 2");
    rig.sees(OUTCOMES, &["timed_out", "completed"]);
    let codes = "SELECT json_extract(payload, '$.code') FROM events WHERE kind = 'notice' AND \
                 json_extract(payload, '$.code') LIKE '%timeout' ORDER BY seq";
    assert_eq!(rig.query(codes), ["turn_timeout", "interrupt_timeout"]);
    assert!(!lives(&rig, "own") && !lives(&rig, "child"));
    // What we ended has not crashed.
    let alerts = rig.query(ALERTS);
    assert!(alerts.iter().all(|text| !text.contains("[ERROR]")), "{alerts:?}");
    assert_eq!(daemon.stop().code, 0);
}

/// R3-10: a hook that runs while the backend ends runs on: only what the backend left is ended.
#[test]
fn a_hook_outlives_the_backend() {
    let rig = Rig::program(
        "ready; [ $life = 1 ] && { prompt; (setsid sh -c 'echo $$ > left.new; mv left.new left; exec \
         sleep 301' &) ; exit 7; }; serve",
        "hooks: {command: [sh, -c, 'until [ -e go ]; do sleep 0.05; done; echo ran >> hooked'], \
         events: [OnMessage], timeout_seconds: 600}",
    );
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    eve.say(ROOM, "@lab-ada hello");
    has_stopped(&rig, "1");
    rig.clock.forward(RESTART);
    eve.hears(ADA, ROOM, "answer of life 2");
    fs::write(rig.work("go"), "").unwrap();
    eventually_seeing("both hooks to run", || {
        let ran = rig.lines("hooked");
        if ran.len() == 2 { Ok(()) } else { Err(format!("{ran:?}")) }
    });
    let failed = "SELECT count(*) FROM events WHERE payload LIKE '%hook_failed%'";
    assert_eq!(rig.query(failed), ["0"]);
    assert!(!lives(&rig, "left"));
    assert_eq!(daemon.stop().code, 0);
}
