//! Clients of official SDKs, as their users write them: MCP for TypeScript on `gangline mcp --nick`,
//! the model SDKs on the stand-in.

use std::{collections::BTreeMap, process::Command};

use gangline_testkit::{Stage, World, programs};
use serde_json::{Value, json};

use crate::standin::{address, world};

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");

/// Runs a script in the world's environment, with the SDKs at hand; returns what it told, by name.
fn told(world: &World, script: (&str, &str), args: &[&str]) -> BTreeMap<String, Value> {
    let mut node = Command::new("node");
    for (name, value) in world.command(&[]).get_envs() {
        node.env(name, value.unwrap_or_default());
    }
    node.arg(world.file(script.0, script.1)).args(args).env("SDK", programs::sdk());
    let ran = node.env("USER", "ori").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}\n{err}");
    let told = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    told.map(|it| (it["name"].as_str().unwrap().to_owned(), it["value"].clone())).collect()
}

/// R2-16: an editor's client lists and calls the tools; what fails is an error at once, also a
/// message that is too long, and the connection goes on.
#[test]
fn the_official_mcp_client_speaks_and_reads() {
    let stage = Stage::new(BINARY, &["oak-ada"], None, ("", "permissions: bypass"));
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    let args = [BINARY, "mcp", "--nick", "oak-ada", "--config", &stage.config];
    let told = told(&stage.world, ("mcp.mjs", include_str!("sdk/mcp.mjs")), &args);
    assert_eq!(told["tools"], json!(["send", "read", "who", "channels", "topic"]));
    let fine = |text: &str| json!({"text": text, "failed": false});
    assert_eq!(told["channels"], fine("Active channels:\n  #general"));
    assert_eq!(told["said"], fine("Sent to #general as ori"));
    alice.hears("ori", "#general", "from an editor");
    assert_eq!(told["ghost"]["failed"], true, "{told:?}");
    let long = told["long"]["thrown"].as_str().unwrap();
    assert!(long.contains("at most 1 MiB"), "{told:?}");
    assert_eq!(told["after"], fine("No users in ghost"));
    assert_eq!((&told["pings"], &told["odd"]), (&json!(20), &json!([])));
}

/// The loops that the SDKs run of their own accord end, whole and streamed.
#[test]
fn the_official_model_sdks_run_tools_on_the_stand_in() {
    let world = world();
    let standin = world.start(&["standin", "serve", "--listen", "127.0.0.1:0"]);
    let script = ("models.mjs", include_str!("sdk/models.mjs"));
    let told = told(&world, script, &[&address(&standin)]);
    let said = |what: &str| format!("`echo {what}` said:\necho {what} ran");
    assert_eq!(told["anthropic false"], json!([said("false")]));
    assert_eq!(told["anthropic true"], json!([said("true")]));
    assert_eq!(told["openai"], json!(said("openai")));
    assert_eq!(told["several"], "400 n");
    assert_eq!(told["ran"], json!(["echo false", "echo true", "echo openai"]));
}
