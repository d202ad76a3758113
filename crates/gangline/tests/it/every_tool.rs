//! A person's MCP clients of official SDKs use every tool: over the standard streams of `gangline mcp
//! --nick`, and over HTTP at the hub with the owner's token.

use std::collections::{BTreeMap, BTreeSet};

use gangline_testkit::{IrcPeer, Running, Stage, eventually, programs};
use serde_json::{Value, json};

use crate::{
    hub_http::{HTTP, address},
    sdk::{Script, TOOLS, printed, told},
};

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");

const SCRIPT: &str = r##"
rules:
  - when: {user: 'say exactly (.*)'}
    reply: [text: "$1"]
  - when: {user: 'tell the boss'}
    reply: [tool_use: {name: send, input: {to: operator, body: "the disk is full"}}]
  - when: {user: 'ask the boss'}
    reply: [tool_use: {name: ask, input: {question: "deploy where?", options: ["staging", "production"]}}]
  - reply: [text: "done"]
"##;
const WRONG_TYPE: &str = "`max` must be a whole number from 1 on";
const WAITS: &str =
    "SELECT (SELECT count(*) FROM letters) || ' ' || (SELECT count(*) FROM questions)";

/// Over what the client speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Stdio,
    Http,
}

/// A hub whose agent has written a letter and asked a question.
struct Scene {
    stage: Stage,
    token: String,
    _alice: IrcPeer,
    _hub: Running,
}

impl Scene {
    fn open() -> Self {
        let stage = Stage::new(BINARY, &["oak-ada"], Some(SCRIPT), (HTTP, "permissions: bypass"));
        let hub = stage.up();
        // A token for one agent opens only what reads and speaks.
        let token = stage.token();
        let mut alice = stage.member("alice");
        for line in ["tell the boss", "ask the boss"] {
            alice.say("#general", &format!("@oak-ada {line}"));
            alice.hears("oak-ada", "#general", "done");
        }
        eventually("a letter and a question", || (stage.query(WAITS) == ["1 1"]).then_some(()));
        Self { stage, token, _alice: alice, _hub: hub }
    }

    /// Returns the arguments that name the server to a script.
    fn server(&self, over: Over) -> Vec<String> {
        let words: Vec<&str> = match over {
            Over::Stdio => {
                vec!["stdio", BINARY, "mcp", "--nick", "oak-ada", "--config", &self.stage.config]
            }
            Over::Http => vec!["http"],
        };
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        if over == Over::Http {
            words.extend([format!("{}/mcp/oak-ada", address(&self.stage)), self.token.clone()]);
        }
        words
    }

    fn nick(over: Over) -> &'static str {
        if over == Over::Stdio { "ori" } else { "operator" }
    }
}

/// Every tool once: a name for the result, the tool, its arguments.
fn calls(stage: &Stage) -> Vec<(&'static str, &'static str, Value)> {
    let work = stage.world.path("work").display().to_string();
    vec![
        ("me", "whoami", json!({})),
        ("open", "get_loose_ends", json!({})),
        ("waits", "attention", json!({})),
        ("news", "recv", json!({"max": 5})),
        ("nothing", "recv", json!({})),
        ("wrong", "answer", json!({"id": 1, "answer": "5"})),
        ("answered", "answer", json!({"id": 1, "answer": "2"})),
        ("letter", "answer", json!({"kind": "letter", "id": 1, "answer": "buy one"})),
        ("again", "answer", json!({"kind": "letter", "id": 1, "answer": "buy one"})),
        ("asked", "ask", json!({"question": "say exactly kumquat"})),
        ("heard", "recv", json!({"wait_seconds": 60})),
        ("remind", "remind", json!({"message": "tea", "due": "in 2 hours"})),
        ("late", "remind", json!({"message": "tea", "due": "2001-01-01T00:00Z"})),
        ("cancel", "cancel_loose_end", json!({"kind": "reminder", "id": 1})),
        ("said", "send", json!({"to": "#general", "body": "from outside"})),
        ("read", "read", json!({"from": "#general", "limit": 500})),
        ("who", "who", json!({"target": "#general"})),
        ("join", "join", json!({"channel": "#side"})),
        ("channels", "channels", json!({})),
        ("part", "part", json!({"channel": "#side"})),
        ("topic", "topic", json!({"channel": "#general", "text": "by hand"})),
        ("folder", "set_directory", json!({"path": work})),
        ("nowhere", "set_directory", json!({"path": "/does/not/exist"})),
        ("types", "recv", json!({"max": "many"})),
        ("paused", "pause", json!({"for": "2h"})),
        ("both", "pause", json!({"for": "2h", "until": "9:00"})),
        ("resumed", "resume", json!({})),
        ("idle", "abort", json!({})),
        ("whispered", "whisper", json!({"text": "ask first", "type": "THINK_DEEPER"})),
        ("shouted", "whisper", json!({"text": "ask first", "type": "ESCALATION"})),
        ("compact", "compact", json!({})),
        ("clear", "clear", json!({})),
    ]
}

/// The calls that are refused.
const FAILS: [&str; 8] = ["wrong", "again", "late", "nowhere", "types", "both", "idle", "shouted"];

fn text<'a>(told: &'a BTreeMap<String, Value>, name: &str) -> &'a str {
    told[name]["text"].as_str().unwrap_or_else(|| panic!("{told:#?}"))
}

/// What a client is told of what waits for the person, and what comes of it when that is answered.
fn check_what_waits(told: &BTreeMap<String, Value>) {
    for (name, result) in told.iter().filter(|(_, result)| result.get("failed").is_some()) {
        assert_eq!(result["failed"], FAILS.contains(&name.as_str()), "{name}: {told:#?}");
    }
    let me = &told["me"]["data"];
    assert_eq!((&me["name"], &me["caller"]), (&json!("oak-ada"), &json!("operator")));
    let open = told["open"]["data"]["loose_ends"].as_array().unwrap();
    let kinds: Vec<&str> = open.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["asked", "letter"], "{open:?}");
    let news = &told["news"]["data"];
    assert_eq!(news["messages"][0]["question"]["options"], json!(["staging", "production"]));
    assert_eq!(news["messages"][1]["body"], "the disk is full", "{news}");
    assert_eq!(told["nothing"]["data"], json!({"messages": [], "pending": 0}));
    let wrong = "there is no option 5: give 1 to 2, or a text of your own";
    assert_eq!(text(told, "wrong"), wrong);
    assert_eq!(told["answered"]["data"]["answer"], "production");
    assert_eq!(told["heard"]["data"]["messages"][0]["body"], "kumquat", "{told:#?}");
    assert_eq!(text(told, "both"), "give one of `for` and `until`");
}

fn check(scene: &Scene, over: Over, told: &BTreeMap<String, Value>) {
    check_what_waits(told);
    let text = |name: &str| text(told, name);
    assert!(calls(&scene.stage).iter().all(|(name, _, _)| told[*name]["failed"].is_boolean()));
    assert_eq!(text("again"), "letter 1 is answered already");
    assert_eq!(told["remind"]["data"]["id"], 1);
    assert_eq!(text("cancel"), "reminder 1 is deleted");
    let nick = Scene::nick(over);
    assert_eq!(text("said"), format!("Sent to #general as {nick}"));
    assert!(text("read").contains("<alice> @oak-ada tell the boss"), "{told:#?}");
    assert!(text("who").contains("alice") && text("channels").contains("#side"), "{told:#?}");
    assert_eq!((text("join"), text("part")), ("Joined #side", "Left #side"));
    assert!(text("nowhere").contains("cannot look at /does/not/exist"), "{told:#?}");
    assert_eq!(text("types"), WRONG_TYPE);
    let waits = &told["waits"]["data"]["items"][0];
    assert_eq!((&waits["kind"], &waits["number"]), (&json!("question"), &json!(1)), "{told:#?}");
    let paused = text("paused");
    let until = paused.strip_prefix("oak-ada is paused until ").expect(paused);
    assert!(until.ends_with(": new messages wait"), "{paused}");
    assert_eq!(text("resumed"), "oak-ada resumed");
    assert_eq!(text("idle"), "oak-ada: there is no turn to end");
    assert_eq!(text("whispered"), "whisper 1 for oak-ada is stored");
    assert_eq!(text("shouted"), "`type` must be CORRECTION or THINK_DEEPER");
    // Each call is recorded, before and after.
    let recorded = scene.stage.query("SELECT kind || ' ' || payload FROM events").join("\n");
    assert!(recorded.contains("a client of the owner calls answer: "), "{recorded}");
    assert!(recorded.contains(r#""name":"answer","is_error":true"#), "{recorded}");
}

fn every_tool(script: Script, over: Over) {
    let scene = Scene::open();
    let list = json!(calls(&scene.stage)).to_string();
    let mut args = vec![scene.stage.world.file("calls.json", &list)];
    args.extend(scene.server(over));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let told = told(&scene.stage.world, script, &args);
    assert_eq!(told["tools"], json!(TOOLS));
    // Over stdio the client for TypeScript does not tell.
    let version = &told["version"];
    assert!(version.is_null() || version == "2025-11-25", "{version}");
    check(&scene, over, &told);
}

const NODE: Script = Script::Node(include_str!("sdk/every.mjs"));
const PYTHON: Script = Script::Python(include_str!("sdk/every.py"));

/// R2-16, R2-19 … R2-29, R2-41: the client for TypeScript, whose SDK checks each structured result
/// against its schema.
#[test]
fn the_client_for_typescript_uses_every_tool_over_stdio() {
    every_tool(NODE, Over::Stdio);
}

/// R2-16, R2-19 … R2-29, R2-41: the same at the hub.
#[test]
fn the_client_for_typescript_uses_every_tool_over_http() {
    every_tool(NODE, Over::Http);
}

/// R2-16, R2-19 … R2-29, R2-41: the client for Python.
#[test]
fn the_client_for_python_uses_every_tool_over_stdio() {
    every_tool(PYTHON, Over::Stdio);
}

/// R2-16, R2-19 … R2-29, R2-41: the same at the hub.
#[test]
fn the_client_for_python_uses_every_tool_over_http() {
    every_tool(PYTHON, Over::Http);
}

/// What the Inspector is asked to call: what one session is given must be known to the next one, what
/// it passes as text must become a number, and a refusal must reach it as one. The other tools are the
/// clients' above, over the same HTTP: each of these calls is a program of its own.
const OF_THE_INSPECTOR: [&str; 9] =
    ["me", "open", "news", "nothing", "wrong", "answered", "asked", "heard", "both"];

/// R2-16: the Inspector's command line, which makes a process and a session for each call.
#[test]
fn the_inspector_goes_on_in_each_session_where_the_last_one_ended() {
    let scene = Scene::open();
    let bearer = format!("Authorization: Bearer {}", scene.token);
    let url = format!("{}/mcp/oak-ada", address(&scene.stage));
    let begin = ["--cli", &url, "--transport", "http", "--header", &bearer];
    let mut told = BTreeMap::new();
    let its_own = |(name, _, _): &(&str, &str, Value)| OF_THE_INSPECTOR.contains(name);
    for (name, tool, input) in calls(&scene.stage).into_iter().filter(its_own) {
        let mut args = begin.to_vec();
        args.extend(["--method", "tools/call", "--tool-name", tool]);
        let given = input.as_object().unwrap().iter();
        let given: Vec<String> = given.map(|(key, value)| format!("{key}={value}")).collect();
        for one in &given {
            args.extend(["--tool-arg", one]);
        }
        let out = printed(&scene.stage.world, &programs::mcp_inspector(), &args);
        let answer: Value = serde_json::from_str(&out).unwrap();
        let (text, data) = (&answer["content"][0]["text"], &answer["structuredContent"]);
        let failed = answer["isError"].as_bool().unwrap_or_default();
        told.insert(name.to_owned(), json!({"text": text, "failed": failed, "data": data}));
    }
    assert!(told.keys().map(String::as_str).eq(BTreeSet::from(OF_THE_INSPECTOR)), "{told:#?}");
    check_what_waits(&told);
}
