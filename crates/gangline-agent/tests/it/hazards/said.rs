//! What a tool has said is known to the loop before the turn's end is, whoever is faster.

use gangline_testkit::{IrcPeer, eventually_seeing};
use serde_json::json;

use crate::rig::{ADA, ROOM, Rig, said};

/// The model speaks by a tool, and then says to whoever listens that it has.
const SCRIPT: &str = r##"
rules:
  - when: {user: 'tell (.*)'}
    reply: [tool_use: {name: send, input: {to: "#general", text: "$1"}}]
  - when: {tool: send}
    reply: [text: "I have told them"]
  - when: {user: 'never mind'}
    reply: [tool_use: {name: no_reply, input: {}}]
  - when: {tool: no_reply}
    reply: [text: "I have kept quiet"]
  - reply: [text: "what?"]
"##;
const STATES: &str = "SELECT state FROM messages WHERE origin <> 'system' ORDER BY id";
const SENT: &str = "SELECT count(*) FROM outbox WHERE idem_key LIKE 't%'";

/// Lets everybody but the daemon go on for a while: so many lines go to the chat server and back.
fn others_go_on(peer: &mut IrcPeer) {
    for round in 0..30 {
        peer.send(&format!("PING round-{round}"));
        peer.wait("the PONG", |line| line.contains(&format!("round-{round}")).then_some(()));
    }
}

/// The native loop calls the tool on its own thread: the line is committed, and the turn may be over,
/// before the daemon's thread has looked at either.
#[test]
fn an_answer_by_tool_is_not_said_again_when_the_loop_was_held_up() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada tell plum");
    let held = daemon.hold();
    drop(model);
    rig.sees(SENT, &["1"]);
    others_go_on(&mut ori);
    drop(held);
    rig.sees(STATES, &["answered"]);
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(said(&mut ori), ["plum"]);
}

#[test]
fn a_decision_not_to_reply_holds_when_the_loop_was_held_up() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada never mind");
    let held = daemon.hold();
    drop(model);
    rig.was_asked(1);
    others_go_on(&mut ori);
    drop(held);
    rig.sees(STATES, &["no_reply"]);
    assert_eq!(daemon.stop().code, 0);
    assert!(said(&mut ori).is_empty());
}

#[test]
fn an_answer_by_tool_is_not_said_again_while_the_daemon_ends() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada tell plum");
    daemon.owner("shutdown");
    rig.clock.is_waited_for(crate::rig::SETTLE);
    let held = daemon.hold();
    drop(model);
    rig.sees(SENT, &["1"]);
    others_go_on(&mut ori);
    drop(held);
    assert_eq!(daemon.ended().code, 0);
    assert_eq!(rig.query(STATES), ["answered"]);
    let daemon = rig.start();
    ori.say(ROOM, "@lab-ada anything else");
    ori.hears(ADA, ROOM, "what?");
    assert_eq!(said(&mut ori), ["plum", "what?"]);
    assert_eq!(daemon.stop().code, 0);
}

/// The line stands in the store, and the daemon dies before its loop has heard of it.
#[test]
fn an_answer_by_tool_is_not_said_again_after_a_death() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada tell plum");
    let held = daemon.hold();
    drop(model);
    rig.sees(SENT, &["1"]);
    daemon.kill_held(held);
    let daemon = rig.start();
    ori.hears(ADA, ROOM, "plum");
    rig.sees(STATES, &["answered"]);
    assert_eq!(daemon.stop().code, 0);
    let heard = said(&mut ori);
    assert_eq!(heard.iter().filter(|text| *text == "plum").count(), 1, "{heard:?}");
    assert!(!heard.iter().any(|text| text.contains("I have told")), "{heard:?}");
}

/// The same by the socket, from the shell of a program: it ends its turn as soon as it hears `ok`.
#[test]
fn an_answer_by_the_socket_is_not_said_again() {
    let rig = Rig::program(
        "ready; prompt; echo \"$GANGLINE_TOKEN\" > token.new; mv token.new token; gate told; words 'I have \
         told them'; serve",
        "",
    );
    let told = rig.gate("told");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    rig.at_work(&mut ori, "@lab-ada tell them plum");
    let token = rig.first_line("token");
    let mut ipc = daemon.dial();
    ipc.ok(json!({"type": "irc_send", "channel": ROOM, "message": "plum", "token": token}));
    told.open();
    rig.sees(STATES, &["answered"]);
    ori.hears(ADA, ROOM, "plum");
    assert_eq!(daemon.stop().code, 0);
    assert_eq!(said(&mut ori), ["plum"]);
}

/// A message that the agent reads by the socket belongs to the turn from then on: it is not given as
/// a prompt too.
#[test]
fn a_message_that_was_read_is_not_given_again() {
    let rig = Rig::program(
        "ready; prompt; echo \"$GANGLINE_TOKEN\" > token.new; mv token.new token; gate told; words 'done'; \
         serve",
        "",
    );
    let told = rig.gate("told");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    rig.at_work(&mut ori, "@lab-ada begin");
    let token = rig.first_line("token");
    ori.say(ROOM, "@lab-ada and this");
    let mut ipc = daemon.dial();
    // The room's lines have it a moment after the store.
    eventually_seeing("the message to be read", || {
        let read = ipc.ok(json!({"type": "irc_read", "channel": ROOM, "token": token}));
        let read = read.to_string();
        if read.contains("and this") { Ok(()) } else { Err(read) }
    });
    told.open();
    ori.hears(ADA, ROOM, "done");
    rig.sees("SELECT outcome FROM turns WHERE number = 1", &["completed"]);
    // Read and unanswered, it goes back once; it was in the first turn.
    let how = "SELECT number || ' ' || how FROM turn_messages WHERE message = 2 ORDER BY number";
    assert_eq!(rig.query(how)[0], "1 read");
    assert_eq!(daemon.stop().code, 0);
}
