//! Real agent programs call the tools of their daemon, their model being the stand-in: each tool once,
//! and what people and the model see of it.

use std::fs;

use gangline_testkit::{IrcPeer, Running, World, database, eventually, programs, stage};
use serde_json::{Value, json};

const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";
const ADA: &str = "lab-ada";
const ROOM: &str = "#general";

/// One hub with one agent, `lab-ada`, and what its model was asked.
struct Rig {
    world: World,
    irc: String,
    standin: Running,
    hub: Running,
}

impl Rig {
    /// `backend` is YAML that says which; `base` is what its address of the model ends with.
    fn up(backend: &str, base: &str) -> Self {
        let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
        world.set("LAB_KEY", "sk-ant-standin-0123456789abcdef");
        let listen = format!("127.0.0.1:{}", stage::free_port());
        let record = world.path("requests").display().to_string();
        let script = world.file("script.yaml", SCRIPT);
        let standin = world.start(&[
            "standin", "serve", "--listen", &listen, "--record", &record, "--script", &script,
        ]);
        let port = stage::free_port();
        let work = world.path("work");
        fs::create_dir_all(&work).unwrap();
        let yaml = format!(
            "server:\n  name: lab\n  host: 127.0.0.1\n  port: {port}\nagents:\n  - nick: {ADA}\n    \
             {backend}\n    directory: {}\n    base_url: http://{listen}{base}\n    \
             api_key_env: LAB_KEY\n    operator_pronouns: they/them\n    channels: [\"{ROOM}\"]\n",
            work.display(),
        );
        let config = world.file("agents.yaml", &yaml);
        let hub = world.start_ready(&["--config", &config, "up", "--restart-delay-max", "1"]);
        Self { world, irc: format!("127.0.0.1:{port}"), standin, hub }
    }

    fn member(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect_with(&self.irc, (nick, None), CAPS);
        peer.join(ROOM);
        peer
    }

    fn query(&self, sql: &'static str) -> Vec<String> {
        database::query(&self.world.state().join("gangline.db"), sql)
    }

    fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.push("--json");
        self.world.run(&all).json()
    }

    /// The texts of the newest request to the model that contains `part`, as the model reads them.
    fn request_with(&self, part: &str) -> String {
        let mut files: Vec<_> = fs::read_dir(self.world.path("requests")).unwrap().collect();
        files.sort_by_key(|file| file.as_ref().unwrap().file_name());
        let names = files.into_iter().rev().map(|file| file.unwrap().path());
        let bodies = names.filter(|path| path.extension().is_some_and(|it| it == "json"));
        let texts = bodies.map(|path| {
            let request: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            let mut texts = String::new();
            strings(&request["body"], &mut texts);
            texts
        });
        let mut texts = texts.filter(|text| text.contains(part));
        texts.next().unwrap_or_else(|| panic!("no request has `{part}` in it"))
    }

    /// Ends everything; nothing may be left.
    fn put_away(mut self) {
        assert_eq!(self.hub.terminate(), 0, "{}", self.hub.output());
        self.standin.kill();
        let left = self.world.processes();
        assert!(left.is_empty(), "processes are left: {left:?}");
    }
}

/// Collects every string in a value.
fn strings(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The model: one turn that calls the tools one after the other, and what it says when it is woken.
const SCRIPT: &str = r##"
rules:
  - when: {system: 'title generator'}
    reply: [text: "a title"]
  - when: {user: '\[ANSWER (\d+)\] <([^>]+)> (\S+)'}
    reply: [text: "going on with $3 of $2"]
  - when: {user: '\[REMINDER 2\] check the build again'}
    reply: [text: "the build is green"]
  - when: {user: 'begin with your tools'}
    reply: [tool_use: {name: whoami, input: {}}]
  - when: {tool: whoami}
    reply: [tool_use: {name: send, input: {to: operator, body: "the disk is full"}}]
  - when: {tool: send, tool_result: 'letter 1'}
    reply: [tool_use: {name: ask, input: {question: "deploy where?", options: ["staging", "production"]}}]
  - when: {tool: ask}
    reply: [tool_use: {name: remind, input: {message: "look at the logs", due: "in 2 h"}}]
  - when: {tool: remind, tool_result: 'id\\?":\s*1\b'}
    reply: [tool_use: {name: get_loose_ends, input: {}}]
  - when: {tool: get_loose_ends}
    reply: [tool_use: {name: cancel_loose_end, input: {kind: reminder, id: 1}}]
  - when: {tool: cancel_loose_end}
    reply: [tool_use: {name: remind, input: {message: "check the build again", due: "in 1 s"}}]
  - when: {tool: remind}
    reply: [tool_use: {name: recv, input: {wait_seconds: 180, max: 4}}]
  - when: {tool: recv}
    reply: [tool_use: {name: send, input: {to: "#general", body: "tomorrow, bob", in_reply_to: "m2"}}]
  - when: {tool: send}
    reply: [text: "that was all, ori"]
  - reply: [text: "what?"]
"##;

/// One turn of the program calls every tool; the answer and the reminder wake it after that.
fn story(rig: Rig) {
    let (mut ori, mut bob) = (rig.member("ori"), rig.member("bob"));
    ori.say(ROOM, "@lab-ada begin with your tools");
    ori.hears(ADA, ROOM, "question 1 from lab-ada to the owners: deploy where?");
    ori.hears(ADA, ROOM, "1) staging  2) production");
    // This comes while the turn is open: `recv` takes it.
    bob.say(ROOM, "@lab-ada and when?");
    ori.hears(ADA, ROOM, "tomorrow, bob");
    ori.hears(ADA, ROOM, "that was all, ori");
    // The reminder's turn speaks where it was made.
    ori.hears(ADA, ROOM, "the build is green");
    let questions = rig.json(&["questions"]);
    let shown = (&questions[0]["to"], &questions[0]["question"], &questions[0]["state"]);
    assert_eq!(shown, (&json!("operator"), &json!("deploy where?"), &json!("open")));
    let (listed, shown) = (rig.world.run(&["ps"]).ok(), rig.world.run(&["status", ADA]).ok());
    assert!(listed.contains("answer 1"), "{listed}");
    assert!(shown.contains("question 1: deploy where?; asked "), "{shown}");
    let _ = rig.world.run(&["answer", "1", "2"]).ok();
    ori.hears(ADA, ROOM, "going on with production of ");
    let letters = rig.json(&["inbox"]);
    let shown = (&letters[0]["agent"], &letters[0]["body"], &letters[0]["state"]);
    assert_eq!(shown, (&json!(ADA), &json!("the disk is full"), &json!("new")));
    let rows = "SELECT origin || ' ' || state || ' ' || attempt FROM messages ORDER BY id";
    let settled = |origin: &str| format!("{origin} answered 1");
    let all = ["mention", "mention", "reminder", "answer"].map(settled);
    eventually("every message to be settled", || (rig.query(rows) == all).then_some(()));
    assert_eq!(
        rig.query("SELECT id || ' ' || state || ' ' || fired FROM reminders"),
        ["2 fired 1"]
    );
    // What the model was given, in the order of its calls.
    let given = rig.request_with("tomorrow, bob");
    let mut rest = given.as_str();
    for part in [
        "they/them",
        "owners' inbox as letter 1",
        "the owners",
        "due_at",
        "look at the logs",
        "reminder 1 is deleted",
        "and when?",
        "sent to #general",
    ] {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("`{part}` is not there, or not in order: {given}"));
        rest = &rest[at..];
    }
    rig.put_away();
}

/// R2-19 … R2-29: the real Claude Code.
#[test]
fn claude_calls_the_tools_of_its_daemon() {
    let claude = programs::claude();
    story(Rig::up(&format!("agent: claude\n    command: [\"{}\"]", claude.display()), ""));
}

/// R2-19 … R2-29: the real Codex.
#[test]
fn codex_calls_the_tools_of_its_daemon() {
    let codex = programs::codex();
    let backend =
        format!("agent: codex\n    model: gpt-5.5\n    command: [\"{}\"]", codex.display());
    story(Rig::up(&backend, "/v1"));
}

/// R2-19 … R2-29: the real OpenCode.
#[test]
fn opencode_calls_the_tools_of_its_daemon() {
    let opencode = programs::opencode();
    let nowhere = "http://127.0.0.1:9";
    let backend = format!(
        "agent: acp\n    acp_command: [\"{}\", acp]\n    model: lab/first\n    env: {{HTTPS_PROXY: \
         \"{nowhere}\", HTTP_PROXY: \"{nowhere}\", NO_PROXY: \"127.0.0.1\"}}",
        opencode.display()
    );
    story(Rig::up(&backend, "/v1"));
}
