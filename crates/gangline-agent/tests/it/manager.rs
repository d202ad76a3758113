//! An agent with `role: manager` and its colleague: what it may order, see and take back.

use gangline_testkit::IrcPeer;

use crate::rig::{ADA, BOB, ROOM, Rig};

const SCRIPT: &str = r##"
rules:
  - when: {tool: kill}
    reply: [text: "did that"]
  - when: {tool: start}
    reply: [text: "did that"]
  - when: {tool: restart}
    reply: [text: "did that"]
  - when: {tool: update}
    reply: [text: "did that"]
  - when: {tool: get_logs}
    reply: [text: "did that"]
  - when: {tool: whoami}
    reply: [text: "did that"]
  - when: {tool: get_loose_ends}
    reply: [text: "did that"]
  - when: {tool: cancel_loose_end}
    reply: [text: "did that"]
  - when: {tool: ask}
    reply: [text: "I have asked"]
  - when: {tool: remind}
    reply: [text: "I will look"]
  - when: {user: 'kill myself truly'}
    reply: [tool_use: {name: kill, input: {name: hm1nd, myself: true}}]
  - when: {user: 'kill (\S+)'}
    reply: [tool_use: {name: kill, input: {name: "$1"}}]
  - when: {user: 'restart (\S+)'}
    reply: [tool_use: {name: restart, input: {name: "$1"}}]
  - when: {user: ' start (\S+)'}
    reply: [tool_use: {name: start, input: {name: "$1"}}]
  - when: {user: 'needs_update. (\S+):'}
    reply: [text: "noted"]
  - when: {user: 'update (\S+)'}
    reply: [tool_use: {name: update, input: {name: "$1"}}]
  - when: {user: 'logs of (\S+), (\d+)'}
    reply: [tool_use: {name: get_logs, input: {agent: "$1", lines: "$2"}}]
  - when: {user: 'who are you'}
    reply: [tool_use: {name: whoami, input: {}}]
  - when: {user: 'what is open'}
    reply: [tool_use: {name: get_loose_ends, input: {}}]
  - when: {user: 'withdraw (\w+) (\d+)'}
    reply: [tool_use: {name: cancel_loose_end, input: {kind: "$1", id: "$2"}}]
  - when: {user: 'ask the operator'}
    reply: [tool_use: {name: ask, input: {question: "merge?"}}]
  - when: {user: 'remind yourself'}
    reply: [tool_use: {name: remind, input: {message: "look at the build", due: "in 20 min"}}]
  - reply: [text: "done"]
"##;
const ORDERS: &str = "SELECT agent || ' ' || desired || ' ' || desired_by || ' ' || \
                      coalesce(restart_number, 0) || coalesce(restart_when, '') FROM orders \
                      ORDER BY agent";

/// Says something to an agent, waits for its answer, and returns the last result of a tool.
fn told(rig: &Rig, (peer, agent): (&mut IrcPeer, &str), text: &str, answer: &str) -> String {
    peer.say(ROOM, &format!("@{agent} please {text}"));
    peer.hears(agent, ROOM, answer);
    // What was done may wake others, whose models are asked at the same time.
    let model = format!("standin-{agent}");
    let result = |request: serde_json::Value| {
        let last = request["messages"].as_array().unwrap().last().unwrap().to_string();
        (request["model"] == model.as_str() && last.contains("tool_result")).then_some(last)
    };
    rig.requests().into_iter().rev().find_map(result).unwrap().replace('\\', "")
}

/// R2-17: a manager has the daemon and the turns of every agent. R2-36: its four orders need nobody's
/// word, and repeated they change nothing. R2-38, R2-39.
#[test]
fn a_manager_stops_starts_restarts_and_reads_its_colleague() {
    let rig = Rig::manager(SCRIPT);
    let (_hub, ada, bob) = (rig.hub_lock(), rig.start(), rig.start_bob());
    let mut ori = rig.member("ori");
    let mut does = |text: &str, expect: &str| {
        let result = told(&rig, (&mut ori, ADA), text, "did that");
        assert!(result.contains(expect), "{text}: {result}");
    };
    does("kill bob", r#""agent":"lab-bob","changed":true,"state":"stopping""#);
    rig.sees(ORDERS, &["lab-bob down lab-ada 0"]);
    does("kill lab-bob", r#""changed":false,"state":"stopping""#);
    does(" start bob", r#""changed":true,"state":"starting""#);
    rig.sees(ORDERS, &["lab-bob up lab-ada 0"]);
    does(" start bob", r#""changed":false,"state":"running""#);
    does("restart bob", r#""changed":true,"state":"restarting""#);
    rig.sees(ORDERS, &["lab-bob up lab-ada 1immediately"]);
    does("kill oak-bob", "there is no agent `oak-bob` here, only lab-ada, lab-bob");
    does("kill hm1nd", "that is yourself");
    does("kill ada", "that is yourself");
    does("restart hm1nd", "restarting once this turn is over");
    rig.sees(ORDERS, &["lab-ada up lab-ada 2when_idle", "lab-bob up lab-ada 1immediately"]);
    does("who are you", r#""role":"manager""#);
    does("logs of bob, 9999", "native takes prompts");
    does("logs of bob, 1", r#""lines":[""#);
    does("kill myself truly", r#""agent":"lab-ada","changed":true"#);
    assert_eq!(bob.stop().code, 0);
    assert_eq!(ada.stop().code, 0);
}

/// R2-36: `update` does nothing until the configuration has changed, and the manager hears of that once.
#[test]
fn a_changed_configuration_is_told_to_the_manager_and_applied_by_update() {
    let mut rig = Rig::manager(SCRIPT);
    let (_hub, ada, bob) = (rig.hub_lock(), rig.start(), rig.start_bob());
    let mut ori = rig.member("ori");
    let mut does = |rig: &Rig, (agent, text): (&str, &str), expect: &str| {
        let result = told(rig, (&mut ori, agent), text, "did that");
        assert!(result.contains(expect), "{text}: {result}");
    };
    does(&rig, (ADA, "update bob"), r#""changed":false,"state":"up to date""#);
    rig.sees(ORDERS, &[]);
    rig.reconfigure(BOB, "tags: [quick]");
    rig.tick();
    let news = "SELECT sender || ' ' || origin || ' ' || body FROM messages \
                WHERE origin = 'system' AND agent = 'lab-ada'";
    let body = "system system [needs_update] lab-bob: its part of the configuration has changed \
                since it was started; the tool `update` restarts it with that";
    rig.sees(news, &[body]);
    // A daemon whose loop has not taken a tick when the next one comes counts as stuck.
    does(&rig, (BOB, "what is open"), "[]");
    rig.tick();
    does(&rig, (ADA, "update bob"), r#""changed":true,"state":"restarting with the present"#);
    rig.sees(ORDERS, &["lab-bob up lab-ada 1immediately"]);
    does(&rig, (ADA, "update bob"), r#""changed":false,"state":"restarting""#);
    rig.sees(ORDERS, &["lab-bob up lab-ada 1immediately"]);
    assert_eq!(bob.stop().code, 0);
    let bob = rig.start_bob_again();
    does(&rig, (ADA, "update bob"), r#""changed":false,"state":"up to date""#);
    assert_eq!(rig.query(news).len(), 1, "it is told once");
    assert_eq!(bob.stop().code, 0);
    assert_eq!(ada.stop().code, 0);
}

/// R2-26, R2-27: a manager sees what is open of everybody, and takes any of it back; another agent
/// only its own. R2-39: who is no manager has none of its tools.
#[test]
fn only_a_manager_sees_and_withdraws_what_is_open_of_others() {
    let rig = Rig::manager(SCRIPT);
    let (_hub, ada, bob) = (rig.hub_lock(), rig.start(), rig.start_bob());
    let mut ori = rig.member("ori");
    let mut does =
        |agent: &str, text: &str, answer: &str| told(&rig, (&mut ori, agent), text, answer);
    does(BOB, "ask the operator", "I have asked");
    does(BOB, "remind yourself", "I will look");
    does(ADA, "ask the operator", "I have asked");
    let seen = does(ADA, "what is open", "did that");
    assert!(seen.contains(r#""agent":"lab-bob","id":1,"kind":"question""#), "{seen}");
    assert!(seen.contains(r#""kind":"reminder""#) && seen.contains(r#""id":2"#), "{seen}");
    let seen = does(BOB, "what is open", "did that");
    assert!(!seen.contains(ADA), "{seen}");
    let refused = does(BOB, "withdraw question 2", "did that");
    assert!(refused.contains("question 2 is lab-ada's: only it may withdraw it"), "{refused}");
    let done = does(ADA, "withdraw question 1", "did that");
    assert!(done.contains("[cancelled by lab-ada]"), "{done}");
    let done = does(ADA, "withdraw reminder 1", "did that");
    assert!(done.contains("reminder 1 is deleted"), "{done}");
    let answer = "SELECT count(*) FROM messages WHERE agent = 'lab-bob' AND origin = 'answer'";
    rig.sees(answer, &["1"]);
    let refused = does(BOB, "kill ada", "did that");
    assert!(!refused.contains("changed"), "{refused}");
    rig.sees(ORDERS, &[]);
    let offered = |agent: &str| {
        let model = format!("standin-{agent}");
        let of = rig.requests().into_iter().rfind(|it| it["model"] == model.as_str()).unwrap();
        of["tools"].to_string().contains(r#""get_logs""#)
    };
    assert!(offered(ADA) && !offered(BOB));
    assert_eq!(bob.stop().code, 0);
    assert_eq!(ada.stop().code, 0);
}
