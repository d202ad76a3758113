//! Attempts at a message that die, and the next one that makes the same calls: each is done once.

use gangline_core::MessageId;
use gangline_testkit::irc;
use serde_json::{Value, json};

use crate::rig::{ADA, ROOM, Rig, said};

const STATES: &str = "SELECT state FROM messages WHERE origin <> 'system' ORDER BY id";
const OUTCOMES: &str = "SELECT outcome FROM turns ORDER BY epoch, number";
/// What calls have done, and how often they were made again.
const ACTS: &str = "SELECT kind || ' ' || number || (SELECT ' ' || count(*) FROM acts b \
                    WHERE b.repeats = a.id) FROM acts a WHERE repeats IS NULL ORDER BY id";
const LINES: &str = "SELECT target || ' ' || body FROM outbox WHERE body IN ('plum', 'quince') \
                     ORDER BY id";

/// Does everything that others notice, and hangs until it is killed, twice.
const EVERYTHING: &str = r##"
rules:
  - when: {user: 'do it all'}
    reply:
      - tool_use: {name: send, input: {to: "#general", body: "plum"}}
      - tool_use: {name: send, input: {to: "eve", body: "quince"}}
      - tool_use: {name: send, input: {to: "#general", body: "plum"}}
      - tool_use: {name: send, input: {to: "operator", body: "the build is red"}}
      - tool_use: {name: remind, input: {message: "look", due: "in 20 min"}}
      - tool_use: {name: ask, input: {question: "merge?", to: "eve"}}
  - when: {tool: ask}
    times: 2
    reply: [delay_ms: 600000, text: "never"]
  - when: {tool: ask}
    reply:
      - tool_use: {name: send, input: {to: "#general", body: "plum"}}
  - when: {tool: send}
    reply: [text: "done"]
  - reply: [text: "what?"]
"##;

/// A line, a line that is said twice on purpose, a private one, a letter, a reminder and a question of
/// attempts that die are not made again; what the last attempt says beyond them is.
#[test]
fn what_attempts_did_that_died_is_done_once() {
    let rig = Rig::native(EVERYTHING, "");
    let mut daemon = rig.start();
    let (mut ori, _eve) = (rig.member("ori"), rig.member("eve"));
    let done = ["send 1", "send 2", "send 3", "letter 1", "reminder 1", "question 1"];
    ori.say(ADA, "do it all");
    for times in 0..2 {
        let done = done.map(|act| format!("{act} {times}"));
        rig.sees(ACTS, &done.each_ref().map(String::as_str));
        rig.was_asked(2 * (times + 1));
        daemon.kill();
        daemon = rig.start();
    }
    ori.wait("the end", |line| {
        let said = irc::said(line)?;
        (said.from == ADA && said.target != ROOM && said.text == "done").then_some(())
    });
    rig.sees(STATES, &["answered"]);
    assert_eq!(rig.query(OUTCOMES), ["lost", "lost", "completed"]);
    let asked = rig.query("SELECT id FROM messages WHERE origin = 'direct'").remove(0);
    rig.outside(async |store| {
        let id = MessageId(asked.parse().unwrap());
        let again = store.trace(id).await.unwrap().unwrap().again;
        let made = again.iter().filter(|again| again.turn > again.act.turn);
        assert_eq!(made.count(), 2 * done.len(), "the trace has them all: {again:?}");
    });
    let mut acts: Vec<String> = done.iter().map(|act| format!("{act} 2")).collect();
    let last = rig.query("SELECT 'send ' || max(number) || ' 0' FROM acts");
    acts.extend(last);
    assert_eq!(rig.query(ACTS), acts);
    let lines = rig.query(LINES);
    assert_eq!(lines, ["#general plum", "eve quince", "#general plum", "#general plum"]);
    for (rows, expect) in [
        ("SELECT body FROM letters", "the build is red"),
        ("SELECT body FROM reminders", "look"),
        ("SELECT body FROM questions", "merge?"),
    ] {
        assert_eq!(rig.query(rows), [expect]);
    }
    let told = rig.requests().pop().unwrap_or(Value::Null)["messages"].to_string();
    for part in [
        "already sent to #general as o1 by an earlier attempt at this message",
        "already sent to eve as o2 ",
        "already sent to #general as o3 ",
        "already sent to the owners' inbox as letter 1 ",
        "already set as reminder 1 ",
        "already asked as question 1 ",
    ] {
        assert_eq!(told.matches(part).count(), 2, "{part}: {told}");
    }
    assert_eq!(daemon.stop().code, 0);
    let texts: Vec<String> = said(&mut ori);
    assert_eq!(texts.iter().filter(|text| *text == "plum").count(), 3, "{texts:?}");
}

/// The next attempt speaks where it was asked, which the first has done already.
const ANSWERS: &str = r##"
rules:
  - when: {user: 'tell'}
    reply: [tool_use: {name: send, input: {to: "#general", body: "plum"}}]
  - when: {tool: send}
    times: 1
    reply: [tool_use: {name: whoami, input: {}}]
  - when: {tool: whoami}
    reply: [delay_ms: 600000, text: "never"]
  - when: {tool: send}
    times: HANGS
    reply: [delay_ms: 600000, text: "never"]
  - when: {tool: send}
    reply: [text: "I have told them"]
  - reply: [text: "what?"]
"##;

/// The line stands in the room already: it is the answer of the attempt that makes its call again, and
/// the text behind it is not said in addition.
#[test]
fn a_line_that_was_said_before_is_the_answer_of_the_next_attempt() {
    let rig = Rig::native(&ANSWERS.replace("times: HANGS", "times: 0"), "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada tell them");
    ori.hears(ADA, ROOM, "plum");
    rig.was_asked(3);
    daemon.kill();
    let daemon = rig.start();
    rig.sees(STATES, &["answered"]);
    assert_eq!(rig.query(OUTCOMES), ["lost", "completed"]);
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(said(&mut ori), ["plum"]);
}

/// The same if that attempt dies, too: the recovery knows of the call.
#[test]
fn a_line_that_was_said_before_counts_when_the_next_attempt_dies() {
    let rig = Rig::native(&ANSWERS.replace("times: HANGS", "times: 1"), "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada tell them");
    ori.hears(ADA, ROOM, "plum");
    rig.was_asked(3);
    daemon.kill();
    let daemon = rig.start();
    rig.sees(ACTS, &["send 1 1"]);
    rig.was_asked(5);
    daemon.kill();
    let daemon = rig.start();
    rig.sees(STATES, &["answered"]);
    // It is not given a third time.
    assert_eq!(rig.query("SELECT takes FROM messages WHERE origin = 'mention'"), ["2"]);
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(said(&mut ori).iter().filter(|text| *text == "plum").count(), 1);
}

/// A program that says nothing and ends its turn when it is told to.
const WAITS: &str = "ready; prompt; echo \"$GANGLINE_TOKEN\" > token.new; mv token.new token; gate \
                     done; words 'done'; serve";

fn new_token(rig: &Rig, old: &str) -> String {
    gangline_testkit::eventually("another token", || {
        Some(rig.first_line("token")).filter(|token| token != old)
    })
}

/// The agent's shell counts: `gangline channel send`, which tells of it, and `ask`, which gets the same
/// question's answer. Who speaks outside of a turn is not the next attempt.
#[test]
fn what_the_agents_shell_did_is_done_once() {
    let rig = Rig::program(WAITS, "");
    let done = rig.gate("done");
    let daemon = rig.start();
    let (mut eve, mut ori) = (rig.member("eve"), rig.member("ori"));
    rig.at_work(&mut ori, "@lab-ada begin");
    let first = rig.first_line("token");
    let send = |token: &str| json!({"type": "irc_send", "channel": "eve", "message": "plum", "token": token});
    let ask = |token: &str| json!({"type": "irc_ask", "channel": "eve", "question": "merge?", "timeout": 600, "token": token});
    assert_eq!(daemon.dial().ask(send(&first))["warnings"], Value::Null);
    let mut asking = daemon.dial();
    asking.send(ask(&first));
    rig.sees("SELECT id || ' ' || state FROM questions", &["1 open"]);
    daemon.kill();
    drop(asking);
    let daemon = rig.start();
    let second = new_token(&rig, &first);
    let again = daemon.dial().ask(send(&second));
    let told = again["warnings"][0].as_str().unwrap_or_default();
    assert!(told.contains("already sent to eve as o1 "), "{again}");
    // The owner speaks for himself.
    let own = daemon.signed(json!({"type": "irc_send", "channel": "eve", "message": "plum"}));
    assert_eq!(daemon.dial().ask(own)["warnings"], Value::Null);
    assert_eq!(daemon.dial().ask(send(&second))["warnings"], Value::Null);
    let mut asking = daemon.dial();
    asking.send(ask(&second));
    rig.sees("SELECT count(*) FROM acts WHERE kind = 'question' AND repeats > 0", &["1"]);
    eve.say(ADA, "answer 1 yes");
    let answered = asking.frame().unwrap_or(Value::Null);
    assert_eq!(answered["data"]["question"], 1, "{answered}");
    assert_eq!(answered["data"]["answer"]["text"], "yes", "{answered}");
    rig.sees("SELECT id || ' ' || state FROM questions", &["1 answered"]);
    done.open();
    rig.sees("SELECT state FROM messages WHERE origin = 'mention' ORDER BY id", &["answered"]);
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(rig.query(LINES), ["eve plum"; 3]);
}

/// The agent's own MCP client, which shows its token, counts as its session does: the n-th equal call of the
/// next attempt is the n-th of the lost one, whichever of its roads either took.
#[test]
fn what_the_agents_own_client_did_is_done_once() {
    let rig = Rig::program(WAITS, "");
    let done = rig.gate("done");
    let daemon = rig.start();
    let (mut eve, mut ori) = (rig.member("eve"), rig.member("ori"));
    rig.at_work(&mut ori, "@lab-ada begin");
    let first = rig.first_line("token");
    let tool =
        |daemon: &crate::rig::Daemon, token: &str, id: &str, (name, input): (&str, Value)| {
            let call =
                json!({"type": "tool", "call": id, "name": name, "input": input, "token": token});
            let answer = daemon.dial().ask(call);
            answer["data"]["result"].as_str().unwrap_or(&answer.to_string()).to_owned()
        };
    let plum = || ("send", json!({"to": "eve", "body": "plum"}));
    let letter = || ("send", json!({"to": "operator", "body": "the build is red"}));
    let remind = || ("remind", json!({"message": "look", "due": "in 20 min"}));
    let ask = || ("ask", json!({"question": "merge?", "to": "eve"}));
    for (at, call) in [plum(), letter(), plum(), remind(), ask()].into_iter().enumerate() {
        let told = tool(&daemon, &first, &format!("a{at}"), call);
        assert!(!told.contains("already"), "{told}");
    }
    // The same call again, as a client sends it that has lost its connection, is the same.
    let _ = tool(&daemon, &first, "a0", plum());
    let shell = json!({"type": "irc_send", "channel": "eve", "message": "quince", "token": first});
    assert_eq!(daemon.dial().ask(shell)["warnings"], Value::Null);
    rig.sees("SELECT count(*) FROM acts", &["6"]);
    daemon.kill();
    let daemon = rig.start();
    let second = new_token(&rig, &first);
    for (id, call, expect) in [
        ("b0", plum(), "already sent to eve as o1 "),
        ("b1", letter(), "already sent to the owners' inbox as letter 1 "),
        // Sent again by the client, it takes no second one.
        ("b0", plum(), "already sent to eve as o1 "),
        ("b2", plum(), "already sent to eve as o2 "),
        ("b3", remind(), "already set as reminder 1 "),
        ("b4", ask(), "already asked as question 1 "),
        ("b5", ("send", json!({"to": "eve", "body": "quince"})), "already sent to eve as o"),
    ] {
        let told = tool(&daemon, &second, id, call);
        assert!(told.contains(expect), "{id}: {told}");
    }
    for (id, call) in [("c0", plum()), ("c1", letter()), ("c2", remind())] {
        let told = tool(&daemon, &second, id, call);
        assert!(!told.contains("already"), "{id}: {told}");
    }
    eve.say(ADA, "answer 1 yes");
    rig.sees("SELECT id || ' ' || state FROM questions", &["1 answered"]);
    done.open();
    rig.sees("SELECT state FROM messages WHERE origin = 'mention'", &["answered"]);
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(rig.query(LINES), ["eve plum", "eve plum", "eve quince", "eve plum"]);
    assert_eq!(rig.query("SELECT count(*) FROM letters"), ["2"]);
    assert_eq!(rig.query("SELECT count(*) FROM reminders"), ["2"]);
}

/// A manager restarts its colleague, and asks for nothing more: an order that was followed is not given
/// again by the next attempt, even if a person has ordered something else since.
#[test]
fn an_order_of_a_manager_is_given_once() {
    let script = r##"
rules:
  - when: {user: 'renew'}
    reply:
      - tool_use: {name: restart, input: {name: bob}}
      - tool_use: {name: kill, input: {name: bob}}
  - when: {tool: kill}
    times: 1
    reply: [delay_ms: 600000, text: "never"]
  - when: {tool: kill}
    reply: [text: "did that"]
  - reply: [text: "done"]
"##;
    let orders = "SELECT desired || ' ' || desired_by || ' ' || restart_number FROM orders";
    let rig = Rig::manager(script);
    let (_hub, ada, bob) = (rig.hub_lock(), rig.start(), rig.start_bob());
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada please renew bob");
    rig.sees(orders, &["down lab-ada 1"]);
    rig.was_asked(2);
    ada.kill();
    rig.outside(async |store| {
        let bob = crate::rig::BOB.parse().unwrap();
        store.order(&bob, gangline_store::Desired::Up, "otto").await.unwrap();
    });
    let ada = rig.begin(crate::rig::Threads::One);
    ori.hears(ADA, ROOM, "did that");
    rig.sees(orders, &["up otto 1"]);
    let told = rig.requests().pop().unwrap_or(Value::Null)["messages"].to_string();
    assert_eq!(told.matches("already ordered by an earlier attempt").count(), 2, "{told}");
    assert_eq!(ada.stop().code, 0);
    assert_eq!(bob.stop().code, 0);
}
