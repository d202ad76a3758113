//! `gangline mcp --nick`, by hand and by the official client for Rust.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdout, Stdio},
};

use gangline_testkit::{Running, Stage, eventually};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");
const ADA: &str = "oak-ada";

const SCRIPT: &str = r#"
rules:
  - when: {user: 'say exactly (.*)'}
    reply: [text: "$1"]
  - when: {user: 'token to (.*)'}
    reply: [tool_use: {name: Bash, input: {command: "printenv GANGLINE_TOKEN > $1; sleep 300"}}]
  - reply: [text: "what?"]
"#;

struct Scene {
    stage: Stage,
    _hub: Running,
}

impl Scene {
    fn open() -> Self {
        let stage = Stage::new(BINARY, &[ADA], Some(SCRIPT), ("", "permissions: bypass"));
        let hub = stage.up();
        Self { stage, _hub: hub }
    }

    /// Starts the server as an editor does, with more in its environment.
    fn serve(&self, env: &[(&str, &str)]) -> Served {
        let args = ["mcp", "--nick", "ada", "--config", &self.stage.config];
        let mut command = self.stage.world.command(&args);
        command.envs(env.iter().copied()).env("USER", "ori");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut served = Served { child, lines, next: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "editor", "version": "1"}});
        let begun = served.ask("initialize", &hello);
        assert_eq!(begun["result"]["protocolVersion"], "2025-06-18", "{begun}");
        served
    }
}

struct Served {
    child: Child,
    lines: BufReader<ChildStdout>,
    next: u64,
}

impl Served {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.next, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<String, String> {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        match &answer["result"]["isError"] {
            Value::Bool(false) => Ok(text),
            Value::Bool(true) => Err(text),
            _ => panic!("{answer}"),
        }
    }

    fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn close(mut self) {
        drop(self.child.stdin.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// R2-16, C21: without the agent's token one is the person: words are one's own, and reading moves
/// nothing of the agent's.
#[test]
fn a_person_reads_beside_the_agent_and_speaks_in_their_own_name() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let mut mcp = scene.serve(&[]);
    assert_eq!(mcp.tools(), crate::sdk::TOOLS);
    assert_eq!(
        mcp.call("channels", json!({})),
        Ok("Active channels:\n  #alerts\n  #general".to_owned())
    );
    let who = mcp.call("who", json!({"target": "#general"})).unwrap();
    assert!(who.contains("alice") && who.contains(ADA) && !who.contains("ori"), "{who}");

    assert_eq!(
        mcp.call("send", json!({"to": "#general", "text": "@oak-ada say exactly heard you"})),
        Ok("Sent to #general as ori".to_owned())
    );
    alice.hears("ori", "#general", "@oak-ada say exactly heard you");
    alice.hears(ADA, "#general", "heard you");
    alice.say("#general", "and I");
    let seen = eventually("what was said", || {
        let seen = mcp.call("read", json!({"from": "#general", "limit": 3})).unwrap();
        seen.ends_with("<alice> and I").then_some(seen)
    });
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines[..2], ["<ori> @oak-ada say exactly heard you", "<oak-ada> heard you"]);
    let again = mcp.call("read", json!({"from": "#general", "limit": 3})).unwrap();
    assert_eq!(again, seen, "nothing was moved");
    let unread = scene.stage.world.run(&["channel", "--agent", ADA, "read", "general"]).ok();
    assert_eq!(unread, "<alice> and I\n", "it was asked the other line");

    let sent = mcp.call("send", json!({"to": ADA, "text": "say exactly in private"}));
    assert_eq!(sent, Ok("Sent to oak-ada as ori".to_owned()));
    eventually("the private answer", || {
        let seen = mcp.call("read", json!({"from": ADA})).unwrap();
        (seen == "<ori> say exactly in private\n<oak-ada> in private").then_some(())
    });
    let topic = mcp.call("topic", json!({"channel": "#general", "text": "by hand"}));
    assert_eq!(topic, Ok("Topic set for #general as ori".to_owned()));
    let topic = mcp.call("topic", json!({"channel": "#general"}));
    assert_eq!(topic, Ok("Topic for #general: by hand".to_owned()));
    mcp.close();
}

/// What cannot be done is an error that says why, and the server goes on; also without a daemon.
#[test]
fn what_cannot_be_done_is_told_and_the_server_goes_on() {
    let scene = Scene::open();
    let mut mcp = scene.serve(&[]);
    for (tool, arguments, why) in [
        ("send", json!({"to": "ghost", "text": "x"}), "No such nick"),
        ("send", json!({"to": "#nowhere", "text": "x"}), "does not exist on the server"),
        ("send", json!({"to": "#general"}), "`body` is missing"),
        ("send", json!({"to": "#general", "text": "x", "in_reply_to": "m1"}), "for the agent"),
        ("read", json!({"from": "#nowhere"}), "Not joined to #nowhere"),
        ("read", json!({"from": "#general", "limit": "2"}), "`limit` must be a whole number"),
        ("topic", json!({"channel": "alice"}), "begins with #"),
        ("topic", json!({"channel": "#nowhere", "text": "x"}), "does not exist on the server"),
    ] {
        let told = mcp.call(tool, arguments.clone()).unwrap_err();
        assert!(told.contains(why), "{tool} {arguments}: {told}");
    }
    let unknown = mcp.ask("tools/call", &json!({"name": "no_reply", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "a session's tool: {unknown}");
    let _ = scene.stage.world.run(&["--config", &scene.stage.config, "stop", ADA]).ok();
    let told = eventually("no daemon", || mcp.call("channels", json!({})).err());
    assert!(told.contains("cannot reach agent daemon for oak-ada"), "{told}");
    let hold = "INSERT INTO pauses (agent, reason, installation_id, holds, at) \
                SELECT agent, 'fleet', installation_id, 1, 1 FROM agents";
    let _ = scene.stage.query(hold);
    let held = mcp.call("resume", json!({})).unwrap();
    assert!(held.starts_with("oak-ada is still held: the limit of the whole"), "{held}");
    let _ = scene.stage.world.run(&["--config", &scene.stage.config, "start", ADA]).ok();
    eventually("the next daemon", || mcp.call("channels", json!({})).ok());
    mcp.close();
}

/// C21: with the agent's token one is the agent: it speaks, and what it reads is read.
#[test]
fn with_the_agents_token_one_is_the_agent() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    let file = scene.stage.world.path("token");
    alice.say("#general", &format!("@oak-ada token to {}", file.display()));
    let token = eventually("the token", || {
        std::fs::read_to_string(&file).ok().filter(|token| token.ends_with('\n'))
    });
    let mut mcp = scene.serve(&[("GANGLINE_TOKEN", token.trim())]);
    alice.say("#general", "read me");
    eventually("the line once", || {
        let seen = mcp.call("read", json!({"from": "#general"})).unwrap();
        seen.ends_with("<alice> read me").then_some(())
    });
    let seen = mcp.call("read", json!({"from": "#general"}));
    assert_eq!(seen, Ok("No messages in #general".to_owned()));
    let sent = mcp.call("send", json!({"to": "#general", "text": "as myself"}));
    assert_eq!(sent, Ok("Sent to #general".to_owned()));
    alice.hears(ADA, "#general", "as myself");
    let told = mcp.call("send", json!({"to": "ghost", "text": "x"})).unwrap_err();
    assert!(told.contains("nobody is called ghost here"), "{told}");
    mcp.close();
}
