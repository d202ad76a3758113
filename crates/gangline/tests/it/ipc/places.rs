//! Channels: entering, leaving, looking around.

use gangline_testkit::{
    Inspircd, IrcPeer, Ngircd, Stage, eventually, eventually_seeing, ircd, stage,
    world::stands_still,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use super::{ADA, BINARY, Ipc, SCRIPT, Scene};

/// Until so many are in each channel.
fn counts(ipc: &mut Ipc, members: Value) {
    let channels: Vec<String> = members.as_object().unwrap().keys().cloned().collect();
    let expect = json!({"channels": channels, "members": members});
    eventually_seeing(&format!("{expect}"), || {
        let told = ipc.ok(json!({"type": "irc_channels"}));
        if told == expect { Ok(()) } else { Err(told.to_string()) }
    });
}

/// As [`counts`], at once, while the chat server can answer nothing.
fn knows(ipc: &mut Ipc, server: i32, members: Value) {
    let process = Pid::from_raw(server);
    kill(process, Signal::SIGSTOP).unwrap();
    stands_still(server);
    let told = ipc.ok(json!({"type": "irc_channels"}));
    kill(process, Signal::SIGCONT).unwrap();
    assert_eq!(told["members"], members);
}

/// R0-42, R1-21, R1-22, R1-23, C34: where it is, who is there, what it is about.
#[test]
fn the_agent_joins_leaves_and_looks_around() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut ipc = scene.dial();
    assert_eq!(ipc.ok(json!({"type": "irc_join", "channel": "#lab"})), json!({}));
    assert_eq!(ipc.ok(json!({"type": "irc_join", "channel": "#LAB"})), json!({}), "it is there");
    alice.join("#lab");
    counts(&mut ipc, json!({"#general": 2, "#lab": 2}));
    knows(&mut ipc, scene.hub.pid(), json!({"#general": 2, "#lab": 2}));

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
    assert_eq!(users, ["alice H", "oak-ada HB"]);
    let by_nick = ipc.ok(json!({"type": "irc_who", "channel": "alice"}));
    assert_eq!(by_nick, json!({"users": [{"nick": "alice", "modes": "H"}]}));
    assert_eq!(ipc.ok(json!({"type": "irc_who", "target": "nobody"})), json!({"users": []}));

    let topic = |ipc: &mut Ipc| ipc.ok(json!({"type": "irc_topic", "channel": "#lab"}));
    // A room that never had one is given a hint.
    let hint = topic(&mut ipc);
    assert!(hint["topic"].as_str().unwrap().starts_with("Say `@NICK what you want`"), "{hint}");
    let set = json!({"type": "irc_topic", "channel": "#lab", "topic": "glass\r\nQUIT :bye"});
    assert_eq!(ipc.ok(set), json!({"topic": "glass  QUIT :bye"}));
    assert_eq!(topic(&mut ipc), json!({"topic": "glass  QUIT :bye"}));
    let set = json!({"type": "irc_topic", "channel": "#nowhere", "topic": "x"});
    assert_eq!(ipc.error(set), "No such channel");

    alice.say("#lab", "before");
    eventually("a line to read", || {
        (ipc.ok(json!({"type": "status"}))["unread"]["#lab"] == 1).then_some(())
    });
    let stage = &scene.stage;
    let listed = || stage.world.run(&["--config", &stage.config, "ps", "--json"]).json();
    assert_eq!(listed()[0]["channels"], json!(["#general", "#lab"]), "where it is");
    assert_eq!(ipc.ok(json!({"type": "irc_part", "channel": "#lab"})), json!({}));
    assert_eq!(listed()[0]["channels"], json!(["#general"]));
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
    eventually("a line to read", || {
        (ipc.ok(json!({"type": "status"}))["unread"]["#lab"] == 1).then_some(())
    });
    assert_eq!(ipc.read("#lab", 50), (vec!["<alice> after".to_owned()], 0));
}

/// F.2, F.1: a channel that nobody is in is refused on request, or made.
#[test]
fn a_channel_that_is_not_there_is_refused_or_made_on_request() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
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
    let mut alice = scene.stage.member("alice");
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
    let mut alice = scene.stage.member("alice");
    alice.join("#club");
    let mut ipc = scene.dial();
    ipc.ok(json!({"type": "irc_join", "channel": "#club"}));
    // It tries to come back by itself, and cannot before the test has looked.
    alice.send("MODE #club +i");
    alice.send("KICK #club oak-ada :out");
    let send = json!({"type": "irc_send", "channel": "#club", "message": "x"});
    eventually("the agent to be out", || {
        let response = ipc.ask(json!({"type": "irc_read", "channel": "#club"}));
        (response["warnings"][0] == "Not joined to #club").then_some(())
    });
    assert_eq!(ipc.error(send.clone()), "Not joined to #club");
    alice.wait("the agent to be out", |line| line.contains("KICK #club").then_some(()));
    alice.send("MODE #club -i");
    alice.wait("the agent to come back", |line| line.contains("JOIN #club").then_some(()));
    eventually("it to be in again", || (ipc.ask(send.clone())["ok"] == true).then_some(()));
    alice.hears(ADA, "#club", "x");
}

/// R1-22: how many are in a channel is known without asking, from what real servers show anyway.
#[test]
fn members_are_counted_by_what_foreign_servers_show() {
    for (program, modules) in
        [("ngircd", &[] as &[_]), ("inspircd", &[]), ("inspircd", ircd::IRCV3)]
    {
        if !ircd::is_there(program) {
            let why = format!("{program} is not installed (Debian package `{program}`)");
            stage::skip("ipc::places::members_are_counted_by_what_foreign_servers_show", &why);
            continue;
        }
        let foreign = "network: {embedded: false, trust_nicks: true}";
        let stage = Stage::new(BINARY, &[ADA], Some(SCRIPT), (foreign, "permissions: bypass"));
        let mut server = match program {
            "ngircd" => Ngircd::default().start(&stage.world, &stage.irc),
            _ => Inspircd { modules, ..Inspircd::default() }.start(&stage.world, &stage.irc),
        };
        let address = stage.irc.clone();
        let person = |nick: &str| {
            let mut peer = IrcPeer::connect_with(&address, (nick, None), "multi-prefix");
            peer.join("#general");
            peer
        };
        let mut alice = person("alice");
        let hub = stage.up();
        let scene = Scene { stage, hub };
        let mut ipc = scene.dial();
        let general = |count: u32| json!({"#general": count});
        counts(&mut ipc, general(2));
        let (mut bob, mut carol) = (person("bob"), person("carol"));
        counts(&mut ipc, general(4));
        knows(&mut ipc, server.pid(), general(4));
        carol.send("PART #general :for now");
        counts(&mut ipc, general(3));
        carol.send("JOIN #general");
        bob.send("NICK robert");
        bob.wait("another nick", |line| line.contains("NICK").then_some(()));
        counts(&mut ipc, general(4));
        bob.send("QUIT :bye");
        counts(&mut ipc, general(3));
        alice.send("KICK #general carol :out");
        counts(&mut ipc, general(2));
        knows(&mut ipc, server.pid(), general(2));
        alice.send(&format!("MODE #general +o {ADA}"));
        alice.wait("the rank", |line| line.contains("MODE #general").then_some(()));
        counts(&mut ipc, general(2));
        alice.send(&format!("KICK #general {ADA} :out"));
        alice.wait("the agent to be out", |line| line.contains("KICK").then_some(()));
        let _dave = person("dave");
        counts(&mut ipc, general(3));
        knows(&mut ipc, server.pid(), general(3));
        server.kill();
        eventually("the agent to be off", || {
            (ipc.ok(json!({"type": "irc_channels"}))["channels"] == json!([])).then_some(())
        });
        server.run();
        counts(&mut ipc, general(1));
        let _erin = person("erin");
        counts(&mut ipc, general(2));
        knows(&mut ipc, server.pid(), general(2));
    }
}

/// Servers that are not ours are asked in the same words: real ngIRCd and InspIRCd processes.
#[test]
fn foreign_servers_answer_the_same_questions() {
    for program in ["ngircd", "inspircd"] {
        if !ircd::is_there(program) {
            let why = format!("{program} is not installed (Debian package `{program}`)");
            stage::skip("ipc::places::foreign_servers_answer_the_same_questions", &why);
            continue;
        }
        let foreign = "network: {embedded: false, trust_nicks: true}";
        let stage = Stage::new(BINARY, &[ADA], Some(SCRIPT), (foreign, "permissions: bypass"));
        let _server = match program {
            "ngircd" => Ngircd::default().start(&stage.world, &stage.irc),
            _ => Inspircd::default().start(&stage.world, &stage.irc),
        };
        let mut alice = IrcPeer::connect_with(&stage.irc, ("alice", None), "multi-prefix");
        alice.join("#general");
        let hub = stage.up();
        let scene = Scene { stage, hub };
        let mut ipc = scene.dial();
        ipc.ok(json!({"type": "irc_join", "channel": "#lab"}));
        alice.join("#lab");
        counts(&mut ipc, json!({"#general": 2, "#lab": 2}));
        let who = ipc.ok(json!({"type": "irc_who", "target": "#lab"}));
        let users = who["users"].as_array().unwrap();
        let mine = users.iter().find(|user| user["nick"] == ADA).unwrap();
        assert!(mine["modes"].as_str().unwrap().contains('@'), "{program}: {who}");
        let who = ipc.ok(json!({"type": "irc_who", "target": "alice"}));
        assert_eq!(who["users"][0]["nick"], "alice", "{program}");
        let nobody = ipc.ask(json!({"type": "irc_who", "target": "nobody"}));
        assert!(
            nobody["data"]["users"] == json!([]) || nobody["ok"] == false,
            "{program}: {nobody}"
        );

        let topic = |ipc: &mut Ipc| ipc.ok(json!({"type": "irc_topic", "channel": "#lab"}));
        assert_eq!(topic(&mut ipc), json!({"topic": null}), "{program}");
        for _ in 0..2 {
            let set = json!({"type": "irc_topic", "channel": "#lab", "topic": "glass"});
            assert_eq!(
                ipc.ok(set),
                json!({"topic": "glass"}),
                "{program}: set again, it is repeated"
            );
        }
        let refused = json!({"type": "irc_topic", "channel": "#nowhere"});
        assert!(!ipc.error(refused).is_empty(), "{program}");
        let send = json!({"type": "irc_send", "channel": "#lab", "message": "hi @alice @nobody"});
        let sent = ipc.ask(send);
        assert_eq!(sent["warnings"], json!(["Mentioned nick not found: nobody"]), "{program}");
        alice.hears(ADA, "#lab", "hi @alice");
        alice.say("#lab", "to be read");
        eventually("a line to read", || {
            (ipc.read("#lab", 9) == (vec!["<alice> to be read".to_owned()], 0)).then_some(())
        });
        alice.send("MODE #general +t");
        let closed = json!({"type": "irc_topic", "channel": "#general", "topic": "mine now"});
        eventually("the topic to be the operator's", || {
            (ipc.ask(closed.clone())["ok"] == false).then_some(())
        });
        ipc.ok(json!({"type": "irc_part", "channel": "#lab"}));
        alice.wait("the agent to leave", |line| line.contains("PART").then_some(()));
    }
}
