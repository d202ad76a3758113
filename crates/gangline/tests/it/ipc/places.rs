//! Channels on servers that are not ours.

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
        // No room but those of the test.
        let foreign =
            "network: {embedded: false, trust_nicks: true}\nwebhooks: {irc_channel: null}";
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
        // No room but those of the test.
        let foreign =
            "network: {embedded: false, trust_nicks: true}\nwebhooks: {irc_channel: null}";
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
