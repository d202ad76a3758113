//! `irc_ask`: held open until somebody answers.

use std::time::Duration;

use serde_json::{Value, json};

use super::Scene;
use crate::rig::{ADA, Ipc, ROOM};

const QUESTIONS: &str = "SELECT id || ' ' || state || ' ' || coalesce(answer, '') || ' ' || \
                         coalesce(answered_by, '') FROM questions ORDER BY id";
const MESSAGES: &str =
    "SELECT origin || ' ' || body FROM messages WHERE origin <> 'system' ORDER BY id";
const ALERTS: &str = "SELECT json_extract(payload, '$.event') || ' ' || \
                      json_extract(payload, '$.text') FROM events WHERE kind = 'alert' ORDER BY seq";

fn ask(ipc: &mut Ipc, text: &str, timeout: u32) {
    ipc.send(json!({"type": "irc_ask", "channel": ROOM, "question": text, "timeout": timeout}));
}

/// Returns the data of the next response.
fn answered(ipc: &mut Ipc) -> Value {
    let response = ipc.frame().expect("a response");
    assert_eq!(response["ok"], true, "{response}");
    response["data"].clone()
}

fn is(answer: &Value, number: i64, nick: &str, text: &str) {
    assert_eq!((&answer["asked"], &answer["question"]), (&json!(true), &json!(number)), "{answer}");
    let answer = &answer["answer"];
    assert_eq!((&answer["nick"], &answer["text"]), (&json!(nick), &json!(text)), "{answer}");
    assert!(answer["timestamp"].as_f64().unwrap() > 1.7e9, "{answer}");
}

/// R1-16, R1-20, R0-41, C8: the request is held open; a mention of the agent in that room answers it,
/// in either name of the field, and is no prompt as well. A human is alerted.
#[test]
fn a_mention_answers_a_request_that_is_held_open_and_is_no_prompt() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    for (number, field) in [(1, "message"), (2, "question")] {
        let mut ask = json!({"type": "irc_ask", "channel": ROOM});
        ask[field] = format!("which {field}?").into();
        ipc.send(ask);
        alice.hears(
            ADA,
            ROOM,
            &format!("question {number} from lab-ada to anybody here: which {field}?"),
        );
        let how = format!("Reply `@lab-ada answer {number} TEXT`; it expires in 5 min");
        alice.hears(ADA, ROOM, &how);
        // Not to the agent.
        alice.say(ROOM, "no idea");
        alice.say(ROOM, &format!("@lab-ada the {field} one"));
        is(&answered(&mut ipc), number, "alice", &format!("the {field} one"));
        alice.hears(
            ADA,
            ROOM,
            &format!("question {number} was answered by alice: the {field} one"),
        );
    }
    scene.rig.sees("SELECT count(*) FROM questions WHERE waits IS NOT NULL", &["0"]);
    assert_eq!(scene.rig.query(MESSAGES), [""; 0]);
    let told = r#"agent_question [QUESTION] lab-ada needs input: "which message?""#;
    scene.rig.sees(ALERTS, &[told, &told.replace("message", "question")]);
    alice.say(ROOM, "@lab-ada say exactly nobody asks");
    alice.hears(ADA, ROOM, "nobody asks");
    let zero = json!({"type": "irc_ask", "channel": ROOM, "message": "x", "timeout": 0});
    assert_eq!(ipc.error(zero), "'timeout' must be a number of seconds above 0");
    let nowhere = json!({"type": "irc_ask", "channel": "#x", "message": "x"});
    assert_eq!(ipc.error(nowhere), "Not joined to #x");
}

/// R1-16, R1-20, R1-53, C8: at the time-out the answer is null, the event `agent_timeout` is recorded,
/// and the question has expired.
#[test]
fn a_request_that_nobody_answers_is_null_at_its_time_out() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    ask(&mut ipc, "anybody?", 30);
    alice.hears(ADA, ROOM, "it expires in 30 s");
    scene.rig.clock.forward(Duration::from_secs(31));
    let data = answered(&mut ipc);
    assert_eq!(data, json!({"asked": true, "question": 1, "answer": null}));
    alice.hears(ADA, ROOM, "question 1 has expired: nobody answered in time");
    scene.rig.sees(QUESTIONS, &["1 expired [expired] ttl-watchdog"]);
    let asked = r#"agent_question [QUESTION] lab-ada needs input: "anybody?""#;
    let late = r#"agent_timeout [TIMEOUT] lab-ada got no answer in time to question 1: "anybody?""#;
    scene.rig.sees(ALERTS, &[asked, late]);
    assert_eq!(scene.rig.query(MESSAGES), [""; 0], "who waited has heard it");
}

/// R1-53: what follows when nobody answers in time can be chosen, under either name: silence means no, and
/// the call is told so; the agent is paused.
#[test]
fn what_follows_a_time_out_is_chosen_with_the_request() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    let expires = |ipc: &mut Ipc,
                   alice: &mut gangline_testkit::IrcPeer,
                   (field, word): (&str, &str)| {
        let mut ask = json!({"type": "irc_ask", "channel": ROOM, "message": "now?", "timeout": 30});
        ask[field] = word.into();
        ipc.send(scene.daemon.signed(ask));
        alice.hears(ADA, ROOM, "it expires in 30 s");
        scene.rig.clock.forward(Duration::from_secs(31));
        answered(ipc)
    };
    let denied = expires(&mut ipc, &mut alice, ("timeout_action", "deny"));
    is(&denied, 1, "ttl-watchdog", "[denied]");
    scene.rig.sees("SELECT paused FROM agents", &["0"]);
    let paused = expires(&mut ipc, &mut alice, ("on_timeout", "pause"));
    assert_eq!(paused["answer"], Value::Null);
    scene.rig.sees("SELECT paused FROM agents", &["1"]);
    let wrong =
        |word| json!({"type": "irc_ask", "channel": ROOM, "message": "x", "timeout_action": word});
    for word in ["pause", "abort"] {
        assert_eq!(ipc.error(wrong(word)), "this needs the agent's token");
    }
    let wrong = wrong("wait");
    assert_eq!(ipc.error(wrong), "'timeout_action' must be none, pause, deny or abort");
}

/// C8: of two in one room a mention answers the older one, a number the one that it names; other
/// requests of the same connection are not held up. A direct message answers what alone is open.
#[test]
fn of_two_requests_a_mention_answers_the_older_one() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let (mut one, mut two, mut three) = (scene.dial(), scene.dial(), scene.dial());
    for (at, ipc) in [(1, &mut one), (2, &mut two), (3, &mut three)] {
        ask(ipc, "which?", 300);
        alice.hears(ADA, ROOM, &format!("question {at} from lab-ada"));
    }
    one.send(json!({"type": "irc_send", "channel": ROOM, "message": "meanwhile"}));
    alice.hears(ADA, ROOM, "meanwhile");
    assert_eq!(answered(&mut one), json!({}));
    alice.say(ROOM, "@lab-ada answer 2 by number");
    is(&answered(&mut two), 2, "alice", "by number");
    alice.say(ROOM, "@lab-ada the older");
    is(&answered(&mut one), 1, "alice", "the older");
    alice.say(ADA, "in private");
    is(&answered(&mut three), 3, "alice", "in private");
    assert_eq!(scene.rig.query(MESSAGES), [""; 0]);
}

/// C8: the question outlives its caller, and the daemon; the answer then comes to the inbox.
#[test]
fn a_question_whose_caller_is_gone_is_answered_into_the_inbox() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    for text in ["one?", "two?"] {
        let mut ipc = scene.dial();
        ask(&mut ipc, text, 300);
        alice.hears(ADA, ROOM, text);
    }
    scene.rig.sees("SELECT count(*) FROM questions WHERE waits IS NOT NULL", &["0"]);
    // Nobody waits any more: this is a prompt.
    alice.say(ROOM, "@lab-ada say exactly a prompt");
    alice.hears(ADA, ROOM, "a prompt");
    alice.say(ROOM, "@lab-ada answer 1 first");
    let first = "answer [ANSWER 1] <alice> first\nYou asked: one?";
    let prompt = "mention @lab-ada say exactly a prompt";
    scene.rig.sees(MESSAGES, &[prompt, first]);
    let mut ipc = scene.dial();
    ask(&mut ipc, "three?", 300);
    alice.hears(ADA, ROOM, "question 3");
    let scene = scene.dies(|| {});
    alice.say(ROOM, "@lab-ada answer 3 third");
    let third = "answer [ANSWER 3] <alice> third\nYou asked: three?";
    scene.rig.sees(MESSAGES, &[prompt, first, third]);
    scene.rig.sees(QUESTIONS, &["1 answered first alice", "2 open  ", "3 answered third alice"]);
}
