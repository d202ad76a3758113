//! Channels: entering, leaving, looking around.

use std::time::Duration;

use gangline_testkit::{eventually, eventually_seeing};
use serde_json::{Value, json};

use super::Scene;
use crate::rig::{ADA, Ipc};

/// Within this the agent tries again to enter a room that it was thrown out of.
const AGAIN_WITHIN: Duration = Duration::from_secs(60);

/// Until so many are in each channel.
fn counts(ipc: &mut Ipc, members: Value) {
    let channels: Vec<String> = members.as_object().unwrap().keys().cloned().collect();
    let expect = json!({"channels": channels, "members": members});
    eventually_seeing(&format!("{expect}"), || {
        let told = ipc.ok(json!({"type": "irc_channels"}));
        if told == expect { Ok(()) } else { Err(told.to_string()) }
    });
}

/// R0-42, R1-21, R1-22, R1-23, C34: where it is, who is there, what it is about.
#[test]
fn the_agent_joins_leaves_and_looks_around() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    assert_eq!(ipc.ok(json!({"type": "irc_join", "channel": "#lab"})), json!({}));
    assert_eq!(ipc.ok(json!({"type": "irc_join", "channel": "#LAB"})), json!({}), "it is there");
    alice.join("#lab");
    counts(&mut ipc, json!({"#general": 2, "#lab": 2}));
    // At once, while the chat server can answer nothing.
    let server = scene.rig.hold_server();
    let told = ipc.ok(json!({"type": "irc_channels"}));
    drop(server);
    assert_eq!(told["members"], json!({"#general": 2, "#lab": 2}));

    let who = ipc.ok(json!({"type": "irc_who", "target": "#lab"}));
    let mut users: Vec<String> = who["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| {
            format!("{} {}", user["nick"].as_str().unwrap(), user["modes"].as_str().unwrap())
        })
        .collect();
    users.sort();
    assert_eq!(users, ["alice H", "lab-ada HB"]);
    let by_nick = ipc.ok(json!({"type": "irc_who", "channel": "alice"}));
    assert_eq!(by_nick, json!({"users": [{"nick": "alice", "modes": "H"}]}));
    assert_eq!(ipc.ok(json!({"type": "irc_who", "target": "nobody"})), json!({"users": []}));

    let topic = |ipc: &mut Ipc| ipc.ok(json!({"type": "irc_topic", "channel": "#lab"}));
    // A server without a configuration gives no room a first one.
    assert_eq!(topic(&mut ipc), json!({"topic": null}));
    let set = json!({"type": "irc_topic", "channel": "#lab", "topic": "glass\r\nQUIT :bye"});
    assert_eq!(ipc.ok(set), json!({"topic": "glass  QUIT :bye"}));
    assert_eq!(topic(&mut ipc), json!({"topic": "glass  QUIT :bye"}));
    let set = json!({"type": "irc_topic", "channel": "#nowhere", "topic": "x"});
    assert_eq!(ipc.error(set), "No such channel");

    alice.say("#lab", "before");
    ipc.has_unread("#lab", 1);
    assert_eq!(ipc.status()["channels"], json!(["#general", "#lab"]), "where it is");
    assert_eq!(ipc.ok(json!({"type": "irc_part", "channel": "#lab"})), json!({}));
    assert_eq!(ipc.status()["channels"], json!(["#general"]));
    alice.wait("the agent to leave", |line| line.contains("PART #lab").then_some(()));
    alice.say("#lab", "nobody listens");
    alice.hears("alice", "#lab", "nobody listens");
    let error = "Not joined to #lab";
    assert_eq!(ipc.error(json!({"type": "irc_part", "channel": "#lab"})), error);
    let read = ipc.ask(json!({"type": "irc_read", "channel": "#lab"}));
    assert_eq!((&read["data"]["messages"], &read["warnings"]), (&json!([]), &json!([error])));
    let send = json!({"type": "irc_send", "channel": "#lab", "message": "x"});
    assert_eq!(ipc.error(send), error);
    ipc.ok(json!({"type": "irc_join", "channel": "#lab"}));
    alice.wait("the agent to come back", |line| line.contains("JOIN #lab").then_some(()));
    alice.say("#lab", "after");
    ipc.has_unread("#lab", 1);
    assert_eq!(ipc.read("#lab", 50), (vec!["<alice> after".to_owned()], 0));
}

/// F.2, F.1: a channel that nobody is in is refused on request, or made.
#[test]
fn a_channel_that_is_not_there_is_refused_or_made_on_request() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    let send = |channel: &str, create: bool| json!({"type": "irc_send", "channel": channel, "message": "x", "create": create});
    let error = "channel '#opps' does not exist on the server";
    assert_eq!(ipc.error(send("#opps", false)), error);
    alice.join("#ops");
    assert_eq!(ipc.error(send("#ops", false)), "Not joined to #ops");
    assert_eq!(ipc.ok(send("#ops", true)), json!({}));
    assert_eq!(alice.hears(ADA, "#ops", "x"), "x");
}

/// A channel that cannot be had is refused in the server's words, and not tried again.
#[test]
fn a_channel_that_is_closed_is_refused_in_the_servers_words() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    alice.join("#club");
    alice.send("MODE #club +i");
    alice.wait("the mode", |line| line.contains("MODE #club").then_some(()));
    let mut ipc = scene.dial();
    let join = json!({"type": "irc_join", "channel": "#club"});
    assert_eq!(ipc.error(join), "Cannot join channel (+i)");
    let send = json!({"type": "irc_send", "channel": "#club", "message": "x"});
    assert_eq!(ipc.error(send), "Not joined to #club");
}

/// Thrown out, it is not there until it is back; what is said meanwhile is refused and not kept for
/// ever.
#[test]
fn a_channel_that_it_was_thrown_out_of_is_none_of_its_own() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    alice.join("#club");
    let mut ipc = scene.dial();
    ipc.ok(json!({"type": "irc_join", "channel": "#club"}));
    // It tries to come back by itself, and cannot before the test has looked.
    alice.send("MODE #club +i");
    alice.send("KICK #club lab-ada :out");
    let send = json!({"type": "irc_send", "channel": "#club", "message": "x"});
    eventually("the agent to be out", || {
        let response = ipc.ask(json!({"type": "irc_read", "channel": "#club"}));
        (response["warnings"][0] == "Not joined to #club").then_some(())
    });
    assert_eq!(ipc.error(send.clone()), "Not joined to #club");
    alice.wait("the agent to be out", |line| line.contains("KICK #club").then_some(()));
    alice.send("MODE #club -i");
    alice.wait("the mode", |line| line.contains("MODE #club -i").then_some(()));
    // Its pause before it tries again is over; a line makes it look.
    scene.rig.clock.forward(AGAIN_WITHIN);
    alice.say("#general", "it is open again");
    alice.wait("the agent to come back", |line| line.contains("JOIN #club").then_some(()));
    eventually("it to be in again", || (ipc.ask(send.clone())["ok"] == true).then_some(()));
    alice.hears(ADA, "#club", "x");
}
