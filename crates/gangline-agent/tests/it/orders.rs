//! An order that was confirmed holds, whenever the daemon dies: its row is there before the word.

use gangline_testkit::IrcPeer;
use serde_json::json;

use crate::rig::{ADA, Daemon, ROOM, Rig};

const SCRIPT: &str = r#"
rules:
  - when: {tool_result: '.*'}
    reply: [text: "went on"]
  - when: {user: 'toil away'}
    reply: [tool_use: {name: Bash, input: {command: "echo began >> began; until [ -e go ]; do sleep 0.05; done"}}]
  - when: {user: 'say exactly (\w+)'}
    reply: [text: "$1"]
  - reply: [text: "done"]
"#;
const BYPASS: &str = "permissions: bypass\n";
const ORDERS: &str = "SELECT kind || ' ' || coalesce(outcome, '-') FROM turn_orders ORDER BY id";
const STATES: &str = "SELECT state || ' ' || coalesce(reason, '') || ' ' || takes FROM messages \
                      WHERE origin <> 'system' ORDER BY id";

/// Ada runs a command for alice.
fn at_work(rig: &Rig, alice: &mut IrcPeer) {
    alice.say(ROOM, "@lab-ada toil away");
    rig.first_line("began");
}

/// Says the word, hears it confirmed, and looks at once for the row.
fn stopped_in_the_room(rig: &Rig, peer: &mut IrcPeer) {
    peer.say(ROOM, "@lab-ada stop");
    peer.hears(ADA, ROOM, "ending the turn");
    assert!(rig.query(ORDERS)[0].starts_with("end_turn "), "the row first");
}

/// R0-45, R1-45: whoever ends a turn, and wherever: a successor does not take its message again, and its
/// asker hears who ended it.
#[test]
fn an_ended_turn_stays_ended_over_the_death_of_the_daemon() {
    type Way = fn(&Rig, &Daemon, &mut IrcPeer, &mut IrcPeer);
    let ways: [Way; 3] = [
        |rig, daemon, _, _| {
            daemon.owner("interrupt");
            assert!(rig.query(ORDERS)[0].starts_with("end_turn "), "the row first");
        },
        |rig, _, _, boss| stopped_in_the_room(rig, boss),
        |rig, _, alice, _| stopped_in_the_room(rig, alice),
    ];
    for way in ways {
        let rig = Rig::native(SCRIPT, BYPASS);
        let daemon = rig.start();
        let (mut alice, mut boss) = (rig.member("alice"), rig.owner("boss"));
        at_work(&rig, &mut alice);
        way(&rig, &daemon, &mut alice, &mut boss);
        daemon.kill();
        let daemon = rig.start();
        alice.say(ROOM, "@lab-ada say exactly next");
        alice.hears(ADA, ROOM, "next");
        rig.sees(STATES, &["failed interrupted:operator 1", "answered  1"]);
        assert_eq!(rig.query(ORDERS), ["end_turn done"]);
        assert_eq!(rig.lines("began"), ["began"], "it was not begun again");
        let told = alice.history(ROOM);
        let told = told.iter().filter(|line| line.contains("alice: ") && line.contains("m1"));
        assert_eq!(told.count(), 1, "its asker is told once");
        assert_eq!(daemon.stop().code, 0);
    }
}

/// R0-45: a pause and its end, said in a room, are rows before they are confirmed.
#[test]
fn pause_and_resume_in_a_room_are_stored_before_they_are_confirmed() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut boss = rig.owner("boss");
    for (word, confirmed, expect) in
        [("pause", "paused: I store", vec!["operator"]), ("resume", "resumed", vec![])]
    {
        boss.say(ROOM, &format!("@lab-ada {word}"));
        boss.hears(ADA, ROOM, confirmed);
        assert_eq!(rig.query("SELECT reason FROM pauses"), expect, "{word}");
    }
    assert_eq!(daemon.stop().code, 0);
}

/// R0-43, R1-25: a new session that was ordered in a turn begins, also if the daemon dies before the turn's end;
/// a session that was to be made shorter is.
#[test]
fn an_order_about_the_session_holds_over_the_death_of_the_daemon() {
    for (verb, word) in [("clear", "new session"), ("compact", "compact")] {
        for in_room in [true, false] {
            let rig = Rig::native(SCRIPT, BYPASS);
            let daemon = rig.start();
            let (mut alice, mut boss) = (rig.member("alice"), rig.owner("boss"));
            alice.say(ROOM, "@lab-ada say exactly plum");
            alice.hears(ADA, ROOM, "plum");
            at_work(&rig, &mut alice);
            if in_room {
                boss.say(ROOM, &format!("@lab-ada {word}"));
                let said =
                    if verb == "clear" { "begins a new session" } else { "shorten my context" };
                boss.hears(ADA, ROOM, said);
            } else {
                daemon.owner(verb);
            }
            assert_eq!(rig.query(ORDERS), [format!("{verb} -")], "the row first");
            daemon.kill();
            std::fs::write(rig.work("go"), "").unwrap();
            let asked = rig.requests().len();
            let daemon = rig.start();
            alice.hears(ADA, ROOM, "went on");
            rig.sees(ORDERS, &[if verb == "clear" { "clear done" } else { "compact done" }]);
            let first = rig.requests()[asked].to_string();
            let remembers = first.contains("say exactly plum");
            assert_eq!(remembers, verb == "compact", "{verb}: {first}");
            assert_eq!(daemon.stop().code, 0);
        }
    }
}

/// R0-28, R1-35: an escalation that is answered is over, also if the daemon dies at once.
#[test]
fn an_answered_escalation_holds_nobody_over_the_death_of_the_daemon() {
    let script = r#"
rules:
  - when: {user: 'say exactly (\w+)'}
    reply: [text: "$1"]
  - times: 4
    reply: [tool_use: {name: Bash, input: {command: "exit 3"}}]
  - times: 1
    reply: [delay_ms: 600000, text: "too late"]
  - reply: [text: "done"]
"#;
    let findings = "SELECT state || ' ' || coalesce(choice, '') FROM findings \
                    WHERE kind = 'escalation' ORDER BY number";
    let one = "supervisor: {agent: rules, escalation_threshold: 1}";
    let rig = Rig::native_with(script, one, BYPASS);
    let daemon = rig.start();
    let (mut alice, mut boss) = (rig.member("alice"), rig.owner("boss"));
    alice.say(ROOM, "@lab-ada build it");
    rig.sees(findings, &["open "]);
    let number = rig.query("SELECT number FROM findings WHERE kind = 'escalation'").remove(0);
    boss.say(ROOM, &format!("@lab-ada {number} abort"));
    boss.hears(ADA, ROOM, "abort: ending the turn");
    assert_eq!(rig.query(findings), ["resolved abort"]);
    assert_eq!(rig.query("SELECT reason FROM pauses"), [] as [&str; 0]);
    daemon.kill();
    let daemon = rig.start();
    alice.say(ROOM, "@lab-ada say exactly plum");
    alice.hears(ADA, ROOM, "plum");
    rig.sees(STATES, &["failed interrupted:operator 1", "answered  1"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R1-34: an escalation that holds an agent is one that people see: a finding that is missing is raised, and
/// one that a person has answered ends it.
#[test]
fn an_escalation_without_a_finding_is_shown_or_over_at_the_next_start() {
    let rig = Rig::native(SCRIPT, "");
    rig.start().kill();
    let held = "INSERT INTO pauses (agent, reason, installation_id, holds, note, at) \
                VALUES ('lab-ada', 'escalation', 'i', 1, 'it builds in circles', 1)";
    let _ = rig.query(held);
    let daemon = rig.start();
    let findings = "SELECT state || ': ' || cause FROM findings ORDER BY number";
    rig.sees(findings, &["open: it builds in circles"]);
    daemon.kill();
    // As a daemon of an older program left it: answered, and held on.
    let _ = rig.query("UPDATE findings SET state = 'resolved', choice = 'abort', resolved_at = 2");
    let daemon = rig.start();
    rig.sees("SELECT reason FROM pauses", &[]);
    let mut alice = rig.member("alice");
    alice.say(ROOM, "@lab-ada say exactly plum");
    alice.hears(ADA, ROOM, "plum");
    assert_eq!(rig.query(findings).len(), 1);
    assert_eq!(daemon.stop().code, 0);
}

/// R1-04, C5: a backend hears a decision once it is on disk that it does. An attempt that died behind that
/// may have run the command: it is asked again, with the time of the first yes.
#[test]
fn a_command_that_may_have_run_is_asked_again_and_the_owner_is_told() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut alice, mut boss) = (rig.member("alice"), rig.owner("boss"));
    alice.say(ROOM, "@lab-ada toil away");
    boss.hears(ADA, ROOM, "wants to run");
    let number = rig.query("SELECT number FROM approvals").remove(0);
    boss.say(ROOM, &format!("@lab-ada yes {number}"));
    rig.first_line("began");
    assert_eq!(rig.query("SELECT state || ' ' || delivered FROM approvals"), ["allowed 1"]);
    daemon.kill();
    std::fs::write(rig.work("go"), "").unwrap();
    let daemon = rig.start();
    let told = boss.hears(ADA, ROOM, "it may have run");
    assert!(
        told.contains("wants to run") && told.contains("boss (owner) allowed this at "),
        "{told}"
    );
    assert_eq!(rig.lines("began"), ["began"], "one yes, once");
    let number = rig.query("SELECT number FROM approvals WHERE state = 'open'").remove(0);
    boss.say(ROOM, &format!("@lab-ada show {number}"));
    let shown = boss.hears(ADA, ROOM, "before: ");
    assert!(
        shown.contains("boss (owner) allowed this at ") && shown.contains("may have run"),
        "{shown}"
    );
    let again = rig.query("SELECT number FROM approvals WHERE state = 'open'").remove(0);
    boss.say(ROOM, &format!("@lab-ada yes {again}"));
    alice.hears(ADA, ROOM, "went on");
    assert_eq!(rig.lines("began").len(), 2);
    assert_eq!(daemon.stop().code, 0);
}

/// What cannot be stored is not said to be done, and changes nothing.
#[test]
fn an_order_that_cannot_be_stored_is_refused() {
    let rig = Rig::native(SCRIPT, BYPASS);
    let daemon = rig.start();
    let mut alice = rig.member("alice");
    at_work(&rig, &mut alice);
    let mut ipc = daemon.dial();
    {
        let _held = rig.hold_store();
        for verb in ["clear", "compact", "interrupt"] {
            let error = ipc.error(daemon.signed(json!({"type": verb})));
            assert!(error.contains("so nothing has changed"), "{verb}: {error}");
        }
    }
    std::fs::write(rig.work("go"), "").unwrap();
    alice.hears(ADA, ROOM, "went on");
    assert_eq!(rig.query(ORDERS), [] as [&str; 0]);
    assert_eq!(daemon.stop().code, 0);
}
