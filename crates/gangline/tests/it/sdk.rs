//! Clients of official SDKs, as their users write them: MCP's for TypeScript and Python and its
//! Inspector on `gangline mcp --nick`, the model SDKs on the stand-in.

use std::{collections::BTreeMap, path::Path, process::Command};

use gangline_testkit::{Stage, World, eventually, programs};
use serde_json::{Value, json};

use crate::standin::{address, world};

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");

/// What a person's client is offered.
pub(crate) const TOOLS: [&str; 22] = [
    "send",
    "recv",
    "ask",
    "answer",
    "get_loose_ends",
    "cancel_loose_end",
    "remind",
    "whoami",
    "read",
    "who",
    "channels",
    "topic",
    "join",
    "part",
    "compact",
    "clear",
    "set_directory",
    "pause",
    "resume",
    "abort",
    "whisper",
    "attention",
];

/// A script and the program that runs it.
#[derive(Clone, Copy)]
pub(crate) enum Script {
    Node(&'static str),
    Python(&'static str),
}

/// Runs a program in the world's environment as the login `ori`; returns what it printed.
pub(crate) fn printed(world: &World, program: &Path, args: &[&str]) -> String {
    let mut command = Command::new(program);
    for (name, value) in world.command(&[]).get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.args(args).env("SDK", programs::sdk()).env("USER", "ori");
    let ran = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    out.into_owned()
}

/// Runs a script with the SDKs at hand; returns what it told, by name.
pub(crate) fn told(world: &World, script: Script, args: &[&str]) -> BTreeMap<String, Value> {
    let (program, name, text) = match script {
        Script::Node(text) => ("node".into(), "script.mjs", text),
        Script::Python(text) => (programs::python(), "script.py", text),
    };
    let file = world.file(name, text);
    let out = printed(world, &program, &[&[file.as_str()], args].concat());
    let told = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    told.map(|it| (it["name"].as_str().unwrap().to_owned(), it["value"].clone())).collect()
}

fn fine(text: &str) -> Value {
    json!({"text": text, "failed": false})
}

fn speaks_and_reads(script: Script) -> BTreeMap<String, Value> {
    let stage = Stage::new(BINARY, &["oak-ada"], None, ("", "permissions: bypass"));
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    let args = [BINARY, "mcp", "--nick", "oak-ada", "--config", &stage.config];
    let told = told(&stage.world, script, &args);
    assert_eq!(told["tools"], json!(TOOLS));
    assert_eq!(told["channels"], fine("Active channels:\n  #alerts\n  #general"));
    assert_eq!(told["said"], fine("Sent to #general as ori"));
    alice.hears("ori", "#general", "from an editor");
    assert_eq!(told["ghost"]["failed"], true, "{told:?}");
    let long = told["long"]["thrown"].as_str().unwrap();
    assert!(long.contains("at most 1 MiB"), "{told:?}");
    assert_eq!(told["after"], fine("No users in ghost"));
    assert_eq!(told["topic set"], fine("Topic set for #general as ori"));
    assert_eq!(told["topic"], fine("Topic for #general: by hand"));
    assert!(told["who"]["text"].as_str().unwrap().contains("alice"), "{told:?}");
    assert_eq!(told["pings"], json!(20));
    told
}

/// R2-16: an editor's client lists and calls the tools; what fails is an error at once, also a
/// message that is too long, and the connection goes on. A call that is taken back in time is not
/// done.
#[test]
fn the_official_mcp_client_speaks_and_reads() {
    let told = speaks_and_reads(Script::Node(include_str!("sdk/mcp.mjs")));
    assert_eq!(told["odd"], json!([]), "no answer to what was taken back");
    assert_eq!((&told["kept"], &told["back"]), (&told["said"], &json!("taken back")));
    assert_eq!(told["read"], fine("<ori> from an editor\n<ori> kept"));
}

/// R2-16: the same by the client for Python, which asks for a newer protocol first.
#[test]
fn the_official_mcp_client_for_python_speaks_and_reads() {
    let told = speaks_and_reads(Script::Python(include_str!("sdk/mcp.py")));
    assert_eq!((&told["version"], &told["session"]), (&json!("2025-11-25"), &json!(TOOLS.len())));
    assert_eq!(told["read"], fine("<ori> from an editor"));
}

/// R2-16: MCP's Inspector, on its command line: a process and a session for each request.
#[test]
fn the_mcp_inspector_lists_and_calls_the_tools() {
    let stage = Stage::new(BINARY, &["oak-ada"], None, ("", "permissions: bypass"));
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    // The Inspector would take `--config` for its own.
    let script = format!("exec {BINARY} mcp --nick oak-ada --config '{}'\n", stage.config);
    let server = stage.world.file("server.sh", &script);
    let ask = |args: &[&str]| -> Value {
        let args = [&["--cli", "sh", &server], args].concat();
        serde_json::from_str(&printed(&stage.world, &programs::mcp_inspector(), &args)).unwrap()
    };
    let call = |tool: &str, given: &[&str]| -> (String, bool) {
        let mut args = vec!["--method", "tools/call", "--tool-name", tool];
        for one in given {
            args.extend(["--tool-arg", one]);
        }
        let answer = ask(&args);
        let text = answer["content"][0]["text"].as_str().unwrap().to_owned();
        (text, answer["isError"].as_bool().unwrap())
    };
    let listed = ask(&["--method", "tools/list"]);
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]);
    assert!(names.eq(TOOLS.iter()), "{listed}");
    let fine = |text: &str| (text.to_owned(), false);
    assert_eq!(call("channels", &[]), fine("Active channels:\n  #alerts\n  #general"));
    assert_eq!(call("send", &["to=#general", "text=looked at"]), fine("Sent to #general as ori"));
    alice.hears("ori", "#general", "looked at");
    eventually("the agent's daemon to have it", || {
        (call("read", &["from=#general", "limit=1"]) == fine("<ori> looked at")).then_some(())
    });
    assert!(call("who", &["target=#general"]).0.contains("alice"));
    let set = call("topic", &["channel=#general", "text=by hand"]);
    assert_eq!(set, fine("Topic set for #general as ori"));
    assert_eq!(call("topic", &["channel=#general"]), fine("Topic for #general: by hand"));
    let (why, failed) = call("send", &["to=ghost", "text=x"]);
    assert!(failed && why.contains("No such nick"), "{why}");
}

/// Whole, streamed, and in the loops that run tools; what the stand-in cannot do is refused.
fn talks_to_the_stand_in(script: Script) {
    let world = world();
    let standin = world.start(&["standin", "serve", "--listen", "127.0.0.1:0"]);
    let told = told(&world, script, &[&address(&standin)]);
    for wire in ["messages", "chat", "responses", "google"] {
        for name in [wire.to_owned(), format!("{wire}, streamed")] {
            assert_eq!(told[&name], "kumquat", "{name}");
        }
    }
    let said = |what: &str| format!("`echo {what}` said:\necho {what} ran");
    assert_eq!(told["anthropic false"], json!([said("false")]));
    assert_eq!(told["anthropic true"], json!([said("true")]));
    assert_eq!(told["openai"], json!(said("openai")));
    assert_eq!(told["responses, tools"], json!(said("responses")));
    assert_eq!(told["google, tools"], json!(said("google")));
    assert_eq!(told["google, counted"], true);
    let refused = (&told["several"], &told["unknown"], &told["google, unknown"]);
    assert_eq!(refused, (&json!("400 n"), &json!("400 frobnicate"), &json!("400")));
    let ran = ["false", "true", "openai", "responses", "google"];
    assert_eq!(told["ran"], json!(ran.map(|what| format!("echo {what}"))));
}

#[test]
fn the_official_model_sdks_for_typescript_run_tools_on_the_stand_in() {
    talks_to_the_stand_in(Script::Node(include_str!("sdk/models.mjs")));
}

#[test]
fn the_official_model_sdks_for_python_run_tools_on_the_stand_in() {
    talks_to_the_stand_in(Script::Python(include_str!("sdk/models.py")));
}
