//! A model watches Ada: when it is asked, what it is shown, what follows from its verdict, and that she
//! never waits for it (R0-23 … R0-34).

use std::time::Duration;

use gangline_testkit::{IrcPeer, eventually};
use serde_json::Value;

use crate::rig::{ADA, ROOM, Rig};

const VERDICTS: &str = "SELECT json_extract(payload, '$.verdict') || ' ' || json_extract(payload, \
                        '$.message') FROM events WHERE kind = 'verdict' ORDER BY seq";
const NOTICES: &str = "SELECT json_extract(payload, '$.code') FROM events WHERE kind = 'notice' AND \
                       payload LIKE '%\"supervisor%' ORDER BY seq";

const WHISPERS: &str = "SELECT kind || ' ' || source || ' ' || text FROM whispers ORDER BY rowid";

/// Ada is asked by `fine`; the model `watcher` follows these rules.
fn rig(rules: &str, keys: &str) -> Rig {
    let script = format!("rules:\n{rules}\n  - reply: [text: \"fine: turn ${{turn}}\"]\n");
    let more = format!("supervisor: {{agent: native, model: watcher, {keys}}}");
    Rig::native_with(&script, &more, "")
}

fn ask(peer: &mut IrcPeer, text: &str) {
    peer.say(ROOM, &format!("@lab-ada {text}"));
    peer.hears(ADA, ROOM, "fine: ");
}

/// What the supervisor's model was asked.
fn watched(rig: &Rig) -> Vec<Value> {
    let mut all = rig.requests();
    all.retain(|body| body["model"] == "watcher");
    all
}

/// R0-24 … R0-27, R0-31, R0-33, R0-34, R1-31, R1-36, R1-37: the supervisor is asked after every second turn, in a
/// session of its own, without tools, with the seed's prompt and the turns; a reply that is no verdict
/// counts as `OK` and is told. What it used is counted apart.
#[test]
fn a_model_is_asked_after_some_turns_and_its_verdict_is_read_strictly() {
    let rules = r#"
  - when: {model: watcher}
    times: 1
    reply: [text: "OK"]
  - when: {model: watcher}
    times: 1
    reply: [text: "CORRECTION Read the task again."]
  - when: {model: watcher}
    reply: [text: "All goes well, I would say OK."]"#;
    let rig = rig(rules, "eval_interval: 2");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ask(&mut ori, "remember plum");
    ask(&mut ori, "remember quince");
    rig.sees(VERDICTS, &["OK "]);
    let first = watched(&rig).pop().unwrap();
    let text = first.to_string();
    assert!(text.contains("You are a supervisor monitoring an AI agent"), "{text}");
    assert!(text.contains("plum") && text.contains("quince") && text.contains("fine: "), "{text}");
    assert!(first["tools"].as_array().is_none_or(Vec::is_empty), "{text}");
    assert_eq!(first["messages"].as_array().unwrap().len(), 1);

    ask(&mut ori, "three");
    ask(&mut ori, "four");
    rig.sees(VERDICTS, &["OK ", "CORRECTION Read the task again."]);
    let second = watched(&rig).pop().unwrap();
    assert_eq!(second["messages"].as_array().unwrap().len(), 1, "nothing of the one before");
    rig.sees(WHISPERS, &["CORRECTION supervisor Read the task again."]);
    daemon.dial().sees("the whisper", |it| it["whispers"] == 1);
    ask(&mut ori, "five");
    let five = rig.requests().pop().unwrap().to_string();
    assert!(five.contains("[SUPERVISOR/CORRECTION] Read the task again."), "{five}");
    ask(&mut ori, "six");
    rig.sees(NOTICES, &["supervisor_unreadable"]);
    assert_eq!(watched(&rig).len(), 3);

    let spent = "SELECT spender || ' ' || count(*) FROM usage GROUP BY spender ORDER BY 1";
    rig.sees(spent, &["agent 6", "supervisor 3"]);
    let status = daemon.dial().sees("two verdicts", |it| it["supervisor"]["evaluations"] == 2);
    assert_eq!(status["supervisor"]["agent"], "native");
    assert_eq!(status["supervisor"]["verdict"], "CORRECTION");
    assert!(status["supervisor"]["input_tokens"].as_u64().unwrap() > 0, "{status}");
    assert_eq!(daemon.stop().code, 0);
}

/// R0-28, R1-34, R1-35, C1: after an escalation nothing is evaluated and nothing new begins; what came
/// meanwhile is kept. `resume` arms everything again. The agent is never stopped.
#[test]
fn an_escalation_pauses_the_evaluation_until_somebody_resumes() {
    let rules = r#"
  - when: {model: watcher}
    times: 1
    reply: [text: "ESCALATION SPIRALING: the same build again and again."]
  - when: {model: watcher}
    reply: [text: "OK"]"#;
    let rig = rig(rules, "eval_interval: 1");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ask(&mut ori, "one");
    let status = daemon.dial().sees("the escalation", |it| it["supervisor"]["paused"] == true);
    assert_eq!(status["running"], true, "{status}");
    daemon.dial().sees("intake to be held", |it| it["paused"] == true);
    let alerts = "SELECT json_extract(payload, '$.event') FROM events WHERE kind = 'alert' AND \
                  payload LIKE '%spiraling%'";
    rig.sees(alerts, &["agent_spiraling"]);
    ori.say(ROOM, "@lab-ada two");
    rig.sees(
        "SELECT count(*) FROM messages WHERE state = 'accepted' AND body LIKE '%two%'",
        &["1"],
    );
    assert_eq!(watched(&rig).len(), 1);
    // Whoever kills the daemon lets nothing go on.
    daemon.kill();
    let daemon = rig.start();
    daemon.dial().sees("the escalation of the last daemon", |it| {
        it["paused"] == true && it["supervisor"]["paused"] == true && it["escalated"] != false
    });
    assert_eq!(rig.query("SELECT count(*) FROM turns"), ["1"]);
    daemon.owner("resume");
    ori.hears(ADA, ROOM, "fine: ");
    daemon.dial().sees("it to watch again", |it| it["supervisor"]["paused"] == false);
    rig.sees(VERDICTS, &["ESCALATION SPIRALING: the same build again and again.", "OK "]);
    assert_eq!(daemon.stop().code, 0);
}

/// Design §4: a supervisor that fails is tried again twice, then it is off and people are told; Ada
/// answers all the while, and rules go on.
#[test]
fn a_supervisor_that_fails_three_times_is_off_and_nobody_waits_for_it() {
    let rules = r#"
  - when: {model: watcher}
    reply: [http_error: {status: 401}]"#;
    let rig = rig(rules, "eval_interval: 1");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ask(&mut ori, "one");
    rig.sees(NOTICES, &["supervisor_failed"]);
    ask(&mut ori, "two");
    rig.sees(NOTICES, &["supervisor_failed", "supervisor_failed"]);
    ask(&mut ori, "three");
    rig.sees(NOTICES, &["supervisor_failed", "supervisor_failed", "supervisor_off"]);
    let status = daemon.dial().sees("it to be off", |it| it["supervisor"]["off"].is_string());
    assert!(status["supervisor"]["off"].as_str().unwrap().contains("refused"), "{status}");
    ask(&mut ori, "four");
    assert_eq!(watched(&rig).len(), 3);
    assert_eq!(daemon.stop().code, 0);
}

/// R0-23, R0-24: while the supervisor thinks, turns go on and it is not asked again; after two minutes it
/// is given up. A daemon that ends does not wait for it.
#[test]
fn a_slow_supervisor_delays_nothing_and_is_given_up() {
    let rules = r#"
  - when: {model: watcher}
    reply: [delay_ms: 600000, text: "OK"]"#;
    let rig = rig(rules, "eval_interval: 1");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ask(&mut ori, "one");
    eventually("the supervisor to be asked", || (watched(&rig).len() == 1).then_some(()));
    ask(&mut ori, "two");
    ask(&mut ori, "three");
    assert_eq!(watched(&rig).len(), 1);
    rig.clock.forward(Duration::from_secs(121));
    rig.sees(NOTICES, &["supervisor_failed"]);
    ask(&mut ori, "four");
    eventually("the supervisor to be asked again", || (watched(&rig).len() == 2).then_some(()));
    let text = watched(&rig).pop().unwrap().to_string();
    assert!(text.contains("two") && text.contains("three"), "{text}");
    assert_eq!(daemon.stop().code, 0);
}

/// One that talks at length, or calls tools, is no harm: its reply is refused for its length, and it has
/// no tool to call (R1-37).
#[test]
fn a_talkative_supervisor_is_cut_off_and_one_that_acts_cannot() {
    let rules = format!(
        r#"
  - when: {{model: watcher, tool: Bash}}
    reply: [text: "OK"]
  - when: {{model: watcher}}
    times: 1
    reply: [text: "{}"]
  - when: {{model: watcher}}
    times: 1
    reply: [tool_use: {{name: Bash, input: {{command: "touch acted"}}}}]"#,
        "words and words\\n".repeat(6_000)
    );
    let rig = rig(&rules, "eval_interval: 1");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ask(&mut ori, "one");
    rig.sees(NOTICES, &["supervisor_unreadable"]);
    ask(&mut ori, "two");
    rig.sees(VERDICTS, &["OK "]);
    assert!(!rig.work("acted").exists() && !rig.state("supervisor/work/acted").exists());
    assert_eq!(daemon.stop().code, 0);
}

/// R0-33, R1-37: a file without a `supervisor` section asks no second model; `off` has no watcher at all.
#[test]
fn without_a_section_no_second_model_is_asked() {
    let check = |more: &str, agent: &str| {
        let script = "rules:\n  - reply: [text: \"fine: turn ${turn}\"]\n";
        let rig = Rig::native_with(script, more, "");
        let daemon = rig.start();
        let mut ori = rig.member("ori");
        for text in ["one", "two", "three", "four", "five", "six"] {
            ask(&mut ori, text);
        }
        assert_eq!(rig.requests().len(), 6);
        let steps = "SELECT json_extract(payload, '$.state') FROM events WHERE kind = 'start_step' \
                     AND payload LIKE '%supervisor%'";
        rig.sees(steps, &[if agent == "rules" { "done" } else { "absent" }]);
        let status = daemon.dial().status();
        assert_eq!(status["supervisor"]["agent"].as_str().unwrap_or("nobody"), agent);
        assert_eq!(daemon.stop().code, 0);
    };
    check("", "rules");
    check("supervisor: {agent: off}", "nobody");
}
