//! The real daemon at the other end: what an agent's shell does is seen in the room.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
};

use gangline_testkit::{IrcPeer, Ran, Running, World, eventually, irc};
use serde_json::{Value, json};

use super::BINARY;

const GUIDE: &str = "demo-guide";

/// The demo, and a shell that belongs to its agent.
struct Demo {
    world: World,
    hub: Running,
}

impl Demo {
    fn start() -> Self {
        let mut world = World::new(BINARY);
        let hub = world.start_ready(&["demo"]);
        world.set("CULTURE_NICK", GUIDE);
        Self { world, hub }
    }

    fn person(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect(&self.hub.field("irc"), nick, None);
        peer.join("#general");
        peer
    }

    fn owner(&self) -> IrcPeer {
        let password = format!("owner:{}", self.hub.field("token"));
        let mut peer = IrcPeer::connect(&self.hub.field("irc"), "boss", Some(&password));
        peer.join("#general");
        peer
    }

    fn channel(&self, words: &[&str]) -> Ran {
        self.world.run(&[&["channel"], words].concat())
    }

    /// Says what `channel` prints once it prints something with this part.
    fn until_read(&self, part: &str) -> String {
        eventually(part, || {
            let text = self.channel(&["read", "general"]).ok();
            text.contains(part).then_some(text)
        })
    }
}

/// R0-39, R0-60, R1-18: what the shell says stands in the room, in the agent's name; both
/// spellings and the older client's.
#[test]
fn what_the_shell_says_stands_in_the_room() {
    let demo = Demo::start();
    let mut alice = demo.person("alice");
    assert_eq!(demo.channel(&["message", "general", r"one\ntwo"]).ok(), "Sent to #general\n");
    alice.hears(GUIDE, "#general", "one");
    alice.hears(GUIDE, "#general", "two");
    assert_eq!(demo.channel(&["send", "#general", "three"]).ok(), "Sent to #general\n");
    alice.hears(GUIDE, "#general", "three");
    assert_eq!(demo.channel(&["send", "@alice", "psst"]).ok(), "Sent to alice\n");
    alice.hears(GUIDE, "alice", "psst");
    let frame = demo.world.run(&["irc-client", "send", "#general", "four", "words"]).json();
    assert_eq!((&frame["ok"], &frame["data"]), (&json!(true), &json!({})));
    alice.hears(GUIDE, "#general", "four words");
    let ran = demo.channel(&["message", "general", "@nobody-here look"]);
    assert_eq!(ran.stderr, "warning: Mentioned nick not found: nobody-here\n");
    assert_eq!(ran.ok(), "Sent to #general\n");
}

/// A name with a mistake in it makes no channel; `--create` does.
#[test]
fn a_channel_that_is_not_there_is_refused_or_made() {
    let demo = Demo::start();
    let mut alice = demo.person("alice");
    let ran = demo.channel(&["message", "generl", "hi"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let error = "error: channel '#generl' does not exist on the server\nhint: ";
    assert!(ran.stderr.starts_with(error), "{}", ran.stderr);
    alice.join("#ops");
    let ran = demo.channel(&["message", "ops", "hi"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("message #ops failed: Not joined to #ops"), "{}", ran.stderr);
    assert_eq!(demo.channel(&["message", "ops", "hi", "--create"]).ok(), "Sent to #ops\n");
    alice.hears(GUIDE, "#ops", "hi");
}

/// R0-40, R1-19, C19: unread lines come oldest first and once; what was not given stays unread.
#[test]
fn what_was_said_is_read_once_and_in_order() {
    let demo = Demo::start();
    let mut alice = demo.person("alice");
    for text in ["one", "two", "three"] {
        alice.say("#general", text);
    }
    alice.say("#general", "\u{2}four\u{2}");
    let nowhere = demo.channel(&["read", "nowhere"]);
    assert!(nowhere.stderr.contains("Not joined to #nowhere"), "{}", nowhere.stderr);
    let one = eventually("the first line", || {
        let frame = demo.channel(&["read", "general", "1", "--json"]).json();
        let messages = frame["data"]["messages"].as_array().unwrap().clone();
        (!messages.is_empty()).then_some(messages)
    });
    assert_eq!(one.len(), 1);
    assert_eq!((&one[0]["nick"], &one[0]["text"]), (&json!("alice"), &json!("one")));
    assert!(one[0]["timestamp"].as_f64().unwrap() > 1.7e9, "{one:?}");
    let rest = eventually("the rest", || {
        let ran = demo.channel(&["read", "general", "-n", "2"]);
        if ran.stdout.starts_with("No messages") {
            return None;
        }
        Some(ran)
    });
    assert!(rest.stdout.starts_with("<alice> two\n"), "{}", rest.stdout);
    let mut all = rest.stdout;
    eventually("four", || {
        let text = demo.channel(&["read", "general"]).ok();
        if !text.starts_with("No messages") {
            all.push_str(&text);
        }
        all.contains("four").then_some(())
    });
    assert_eq!(all, "<alice> two\n<alice> three\n<alice> <U+0002>four<U+0002>\n");
    assert_eq!(demo.channel(&["read", "general"]).ok(), "No messages in #general\n");
}

/// R0-42, R1-21, R1-22, R1-23, R1-56, C34.
#[test]
fn rooms_members_and_topics_are_told() {
    let demo = Demo::start();
    let mut alice = demo.person("alice");
    assert_eq!(demo.channel(&["list"]).ok(), "Active channels:\n  #alerts\n  #general\n");
    assert_eq!(demo.channel(&["join", "ops"]).ok(), "Joined #ops\n");
    assert_eq!(
        demo.channel(&["channels"]).ok(),
        "Active channels:\n  #alerts\n  #general\n  #ops\n"
    );
    eventually("how many are where", || {
        let frame = demo.channel(&["channels", "--json"]).json();
        (frame["data"]["members"] == json!({"#alerts": 2, "#general": 2, "#ops": 1})).then_some(())
    });
    let who = demo.channel(&["who", "#general"]).ok();
    let mut lines: Vec<&str> = who.lines().collect();
    assert_eq!(lines.remove(0), "Users in #general:");
    lines.sort_unstable();
    assert_eq!(lines, ["  alice", "  demo-guide"]);
    let frame = demo.channel(&["who", "alice", "--json"]).json();
    assert_eq!(frame["data"]["users"], json!([{"nick": "alice", "modes": "H"}]));
    // Only a room of the configuration begins with a hint.
    let topic = demo.channel(&["topic", "general"]).ok();
    assert!(topic.starts_with("Topic for #general: Say `@NICK what you want`"), "{topic}");
    assert_eq!(demo.channel(&["topic", "ops"]).ok(), "No topic set for #ops\n");
    assert_eq!(demo.channel(&["topic", "ops", "release", "day"]).ok(), "Topic set for #ops\n");
    assert_eq!(demo.channel(&["topic", "ops"]).ok(), "Topic for #ops: release day\n");
    alice.join("#ops");
    let lines = alice.lines();
    let of_ops = |line: &&String| irc::command(line) == "332" && line.contains(" #ops :");
    let topic = lines.iter().find(of_ops).unwrap();
    assert!(topic.ends_with("#ops :release day"), "{topic}");
    assert_eq!(demo.channel(&["part", "ops"]).ok(), "Left #ops\n");
    let again = demo.channel(&["part", "ops"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.starts_with("error: part #ops failed: Not joined to #ops\n"));
}

/// R0-43, R1-25, R1-56: the room knows nothing of it.
#[test]
fn the_context_is_shortened_and_cleared_from_the_shell() {
    let demo = Demo::start();
    let mut alice = demo.person("alice");
    assert_eq!(demo.channel(&["compact"]).ok(), "Context window compacted\n");
    assert_eq!(demo.channel(&["clear"]).ok(), "Context window cleared\n");
    alice.say("#general", "@demo-guide say exactly still here");
    alice.hears(GUIDE, "#general", "still here");
    assert_eq!(demo.channel(&["list"]).ok(), "Active channels:\n  #alerts\n  #general\n");
}

/// R0-46, R0-49, R0-50, R0-54, R1-13: a client of culture's, by culture's name of the socket, in
/// culture's bytes; requests may overlap.
#[test]
fn a_client_of_cultures_is_served_as_it_is() {
    let demo = Demo::start();
    let path = demo.world.path("run/culture-demo-guide.sock");
    let stream = UnixStream::connect(path).unwrap();
    let mut out = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut ask = |line: &str| -> Value {
        out.write_all(line.as_bytes()).unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    let id = "0b6e2f4c-6a2e-4a9b-8f5e-2d1c9a7b3e10";
    let request = format!("{{\"type\":\"irc_channels\",\"id\":\"{id}\"}}\n");
    let response = ask(&request);
    assert_eq!(response["type"], "response");
    assert_eq!(response["id"], id);
    assert_eq!(response["ok"], true);
    assert_eq!(response["data"]["channels"], json!(["#alerts", "#general"]));
    let cases = [
        (r#"{"type": "irc_send", "id": "1", "message": "x"}"#, "Missing 'channel'"),
        (r##"{"type": "irc_send", "id": "1", "channel": "#general"}"##, "Missing 'message'"),
        (
            r#"{"type": "irc_join", "id": "1", "channel": "ops"}"#,
            "Channel name must start with '#'",
        ),
        (r##"{"type": "irc_part", "id": "1", "channel": "#ops"}"##, "Not joined to #ops"),
        (r#"{"type": "dance", "id": "1"}"#, "Unknown message type: 'dance'"),
        (r##"{"type": "irc_threads", "id": "1", "channel": "#a"}"##, "threads are not supported"),
        (r#"{"type": "pause", "id": "1"}"#, "this needs the owner's token"),
        (r#"{"type": "status", "id": "1", "token": "x"}"#, "wrong or outdated token"),
    ];
    for (request, error) in cases {
        let response = ask(&format!("{request}\n"));
        let expected = json!({"type": "response", "id": "1", "ok": false, "error": error});
        assert_eq!(response, expected, "{request}");
    }
    let status = ask("{\"type\":\"status\",\"id\":\"2\"}\n");
    let data = status["data"].as_object().unwrap();
    for field in [
        "running",
        "paused",
        "circuit_open",
        "turn_count",
        "last_activation",
        "activity",
        "description",
    ] {
        assert!(data.contains_key(field), "{field}: {status}");
    }
}

/// R0-59: the agent's own shell knows whose it is: nothing has to be set.
#[test]
fn the_agents_own_shell_speaks_as_the_agent() {
    let demo = Demo::start();
    let mut alice = demo.person("alice");
    let mut boss = demo.owner();
    let run = format!("@demo-guide run {BINARY} channel send general from-its-own-shell");
    alice.say("#general", &run);
    boss.hears(GUIDE, "#general", "wants to run (for alice");
    boss.say("#general", "@demo-guide yes 1");
    alice.wait("the line itself", |line| {
        let said = irc::said(line)?;
        (said.from == GUIDE && said.text == "from-its-own-shell").then_some(())
    });
}

/// `attach` shows a turn as it happens, and goes on when the daemon was killed.
#[test]
fn attach_follows_an_agent_over_its_daemons_death() {
    let demo = Demo::start();
    let mut alice = demo.person("alice");
    let mut view = demo.world.start(&["attach", GUIDE]);
    let mut shows = |part: &str| view.says(part);
    shows("demo-guide idle: ");
    let long = format!("say exactly {}end", "word ".repeat(50));
    alice.say("#general", &format!("@demo-guide {long}"));
    shows("turn        started for m1, attempt 1");
    shows("word word end\n");
    shows("phase       working → idle");
    for pid in demo.world.processes_like(&format!("daemon {GUIDE}")) {
        use nix::{
            sys::signal::{Signal, kill},
            unistd::Pid,
        };
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    shows("waiting for its daemon");
    shows("-- demo-guide is back");
    alice.say("#general", "@demo-guide say exactly kumquat 7");
    let output = shows("text        kumquat 7\n");
    assert_eq!(output.matches("started for m1,").count(), 1, "nothing twice: {output}");
    // Its backend may not have begun yet.
    let (_, again) = output.split_once("-- demo-guide is back\n").unwrap();
    assert!(again.starts_with("demo-guide "), "how it stands, again: {output}");
}

/// The chat is asked itself while the agent's daemon is down.
#[test]
fn a_shell_is_helped_by_the_chat_server_while_the_daemon_is_down() {
    let demo = Demo::start();
    let mut alice = demo.person("alice");
    alice.say("#general", "before");
    demo.until_read("<alice> before\n");
    let config = format!("{}/agents.yaml", demo.hub.field("state"));
    let args =
        ["--config", &config, "channel", "message", "general", "hello", "--agent", "demo-gone"];
    let ran = demo.world.run(&args);
    assert!(ran.stderr.starts_with("warning: the daemon of demo-gone cannot be reached"));
    assert_eq!(ran.ok(), "Sent to #general\n");
    let from = alice.wait("the line", |line| {
        let said = irc::said(line)?;
        (said.text == "hello").then(|| said.from.to_owned())
    });
    assert!(from.starts_with("demo-gone__peek"), "{from}");
}
