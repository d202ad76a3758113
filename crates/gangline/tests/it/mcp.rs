//! MCP from outside: `gangline mcp --connect`, and configured servers in a running fleet;
//! `gangline mcp --nick` is in `mcp/nick.rs`.

mod nick;

use std::{
    io::{BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, Stdio},
    sync::Arc,
};

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId};
use gangline_runtime::{McpPlace, ToolCall, ToolHost, ToolServer, ToolSpec};
use gangline_testkit::{World, eventually, mcp};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{claude::Rig, standin::world};

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");

/// A daemon with one tool that says what it was given, once it is let go.
struct Says(watch::Receiver<bool>);

#[async_trait]
impl ToolHost for Says {
    fn tools(&self) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "send",
            description: "says something",
            input_schema: json!({"type": "object"}),
            output_schema: None,
        }]
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let _ = self.0.clone().wait_for(|free| *free).await;
        Ok(format!("sent {}", call.input["text"].as_str().unwrap_or_default()))
    }
}

/// Serves tools in `folder`; returns the server, its socket, and what lets its calls go on.
fn serve(folder: &Path) -> (ToolServer, String, watch::Sender<bool>) {
    let (free, held) = watch::channel(true);
    let (_, turn) = watch::channel(Some(TurnId { epoch: Epoch(1), number: 1 }));
    let server = ToolServer::start(Arc::new(Says(held)), turn, folder).unwrap();
    let place = server.over_stdio(&["x".to_owned()]).unwrap().place;
    let McpPlace::Stdio { command, .. } = place else { panic!() };
    (server, command[1].clone(), free)
}

fn bridge(world: &World, socket: &str) -> Child {
    let mut command = world.command(&["mcp", "--connect", socket]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Options of every command may stand before it.
#[test]
fn it_serves_wherever_its_options_stand() {
    let world = world();
    for words in [&["mcp", "--nick", "oak-ada"][..], &["--json", "mcp", "--nick", "oak-ada"]] {
        assert_eq!(world.run(words).ok(), "", "a client that is gone at once");
    }
}

fn ask(child: &mut Child, lines: &mut impl std::io::BufRead, message: &Value) -> Value {
    writeln!(child.stdin.as_mut().unwrap(), "{message}").unwrap();
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn call(id: i64, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "send", "arguments": {"text": text}}})
}

/// R2-16: the binary is the tool server that a program starts: messages pass both ways, whatever
/// their size; the end of either side ends it, and no answer is lost.
#[tokio::test]
async fn the_bridge_joins_a_program_to_the_daemons_tools() {
    let world = world();
    let (server, socket, free) = serve(&world.path("t"));
    let story = tokio::task::spawn_blocking(move || {
        let mut child = bridge(&world, &socket);
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18"}});
        let answer = ask(&mut child, &mut lines, &hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        let long = "ä".repeat(300_000);
        let answer = ask(&mut child, &mut lines, &call(1, &long));
        assert_eq!(answer["result"]["content"][0]["text"], format!("sent {long}"));
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        // Its own: the image is shared with the daemons, and grows with every part of the program.
        let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        let kilobytes: u64 = own.trim().split(' ').next().unwrap().parse().unwrap();
        assert!(kilobytes < 6_000, "it needs {kilobytes} kB of its own");

        // The program says nothing more while a call is under way: it still gets the answer.
        free.send_replace(false);
        writeln!(child.stdin.as_mut().unwrap(), "{}", call(2, "late")).unwrap();
        drop(child.stdin.take());
        free.send_replace(true);
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("sent late"), "{rest}");
        assert_eq!(child.wait().unwrap().code(), Some(0));

        (bridge(&world, &socket), world)
    });
    // The daemon ends: so does the bridge, though its program still speaks.
    let (mut child, _world) = story.await.unwrap();
    let ended = tokio::task::spawn_blocking(move || {
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        assert_eq!(ask(&mut child, &mut lines, &ping)["result"], json!({}));
        (child, lines)
    });
    let (mut child, _lines) = ended.await.unwrap();
    drop(server);
    let code = tokio::task::spawn_blocking(move || {
        eventually("the bridge to end", || child.try_wait().unwrap()).code()
    });
    assert_eq!(code.await.unwrap(), Some(0));
}

/// A socket that nobody serves, and words that mean nothing, are told; the help is short.
#[test]
fn a_bridge_without_a_daemon_says_so() {
    let world = world();
    let ran = world.run(&["mcp", "--connect", "nowhere.sock"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: cannot reach the agent's daemon\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("nowhere.sock") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    for wrong in [&["mcp"][..], &["mcp", "--connect"], &["mcp", "x"]] {
        assert_eq!(world.run(wrong).code, 64, "{wrong:?}");
    }
    let help = world.run(&["mcp", "--help"]).ok();
    for part in ["gangline mcp", "--nick <NICK>", "--connect <SOCKET>", "\"--nick\", \"NICK\""] {
        assert!(help.contains(part), "{part}: {help}");
    }
    let both = world.run(&["mcp", "--nick", "oak-ada", "--connect", "x"]);
    assert_eq!(both.code, 64, "{}", both.stderr);
}

const CALLS: &str = r#"
rules:
  - when: {tool_result: '(?s).*'}
    reply: [text: "it said: ${tool_result}"]
  - when: {user: 'echo by (\S+)'}
    reply: [tool_use: {name: mcp__$1__echo, input: {text: hello}}]
  - when: {user: 'env by (\S+)'}
    reply: [tool_use: {name: mcp__$1__env, input: {name: PROBE}}]
  - when: {user: 'post by (\S+)'}
    reply: [tool_use: {name: mcp__$1__send, input: {text: "hi"}}]
  - reply: [text: "you said ${user}"]
"#;

/// R2-34: servers of `agents.yaml` and of a file of hyperhive's form are called from the room, with
/// variables of the hub's environment, which are never said; a tool that no entry lists is asked
/// for; servers end with the fleet.
#[test]
fn configured_servers_are_called_from_the_room() {
    let folder = tempfile::tempdir().unwrap();
    let command = mcp::stdio(folder.path());
    let web = mcp::http();
    let each = format!(
        "mcp_servers:\n  pipe:\n    command: {}\n    args: {}\n    env: {{PROBE: \"x${{PIPE_KEY}}x\"}}\n    \
         allowed_tools: [env]\nmcp_servers_file: more.json",
        command[0],
        json!(command[1..]),
    );
    let mut rig = Rig::new(&["lab-ada"], Some(CALLS), &each);
    let more = json!({"web": {"url": web.url, "allowedTools": ["*"],
        "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}}});
    let _ = rig.world.file("more.json", &more.to_string());
    rig.world.set("PIPE_KEY", "sesame-one-123");
    rig.world.set("WEB_TOKEN", "sesame-two-456");
    let checked = rig.world.run(&["config", "check", &rig.config]);
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{}", checked.stderr);
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));

    ori.say("#general", "@lab-ada echo by web");
    ori.hears("lab-ada", "#general", "it said: echo: hello");
    let record = web.record();
    assert!(
        record.iter().all(|it| it["headers"]["authorization"] == "Bearer sesame-two-456"),
        "{record:?}"
    );
    ori.say("#general", "@lab-ada env by pipe");
    let said = ori.hears("lab-ada", "#general", "it said: x");
    assert!(!said.contains("sesame"), "{said}");
    let record = mcp::record(folder.path());
    assert!(!record.is_empty());
    let server = record[0]["pid"].as_i64().unwrap();

    ori.say("#general", "@lab-ada echo by pipe");
    let asked = owner.hears("lab-ada", "#general", "lab-ada wants to ");
    assert!(asked.contains("mcp__pipe__echo"), "{asked}");
    owner.say("#general", "@lab-ada yes 1");
    ori.hears("lab-ada", "#general", "it said: echo: hello");
    let called = mcp::calls(folder.path());
    let names: Vec<_> = called.iter().map(|call| call["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["env", "echo"]);
    rig.put_away(hub);
    eventually("the end of the server", || {
        (!Path::new(&format!("/proc/{server}")).exists()).then_some(())
    });
}

/// R2-16: a real program in a running fleet starts the binary as its tool server, which reaches a
/// daemon's tools.
#[tokio::test]
async fn a_real_program_calls_the_daemons_tools_over_the_bridge() {
    let folder = tempfile::Builder::new().prefix("gl-").tempdir().unwrap();
    let (_server, socket, _free) = serve(&folder.path().join("t"));
    let each = format!(
        "mcp_servers:\n  outside:\n    command: {BINARY}\n    args: [mcp, --connect, {socket}]\n    \
         allowed_tools: [\"*\"]"
    );
    let story = tokio::task::spawn_blocking(move || {
        let rig = Rig::new(&["lab-ada"], Some(CALLS), &each);
        let hub = rig.up();
        let mut ori = rig.member("ori");
        ori.say("#general", "@lab-ada post by outside");
        ori.hears("lab-ada", "#general", "it said: sent hi");
        rig.put_away(hub);
    });
    story.await.unwrap();
}

/// R2-34: what cannot be had is told before anything starts, and where.
#[test]
fn servers_that_cannot_be_had_are_told() {
    let world = world();
    let check = |more: &str| {
        let text =
            format!("server: {{name: oak}}\nagents:\n  - nick: oak-ada\n    directory: .\n{more}");
        let file = world.file("agents.yaml", &text);
        (world.run(&["config", "check", &file]), file)
    };
    let (ran, _) = check("    mcp_servers_file: none.json\n");
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot read the MCP servers of oak-ada"), "{}", ran.stderr);
    let _ = world.file("some.json", "{\n  \"git\": {\"comand\": \"x\"}\n}\n");
    let (ran, _) = check("    mcp_servers_file: some.json\n");
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("some.json:2:11: unknown key `comand`"), "{}", ran.stderr);
    let _ = world.file("some.json", "{\"git\": {\"command\": \"x\"}}");
    let twice = "    mcp_servers: {git: {command: z}}\n    mcp_servers_file: some.json\n";
    let (ran, _) = check(twice);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("the MCP server `git` of oak-ada is in"), "{}", ran.stderr);
    let (ran, _) = check("    enabled: false\n    mcp_servers_file: none.json\n");
    assert_eq!(ran.code, 0, "an agent that does not run needs no file: {}", ran.stderr);

    let (ran, file) = check("    mcp_servers: {git: {command: x, env: {A: \"${NOT_SET}\"}}}\n");
    assert_eq!(ran.code, 0, "variables belong to the hub: {}", ran.stderr);
    let warning = "oak-ada: cannot offer the MCP server `git`: ";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    let ran = world.run(&["--config", &file, "daemon", "ada"]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot offer the MCP server `git`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the variable NOT_SET is not set"), "{}", ran.stderr);
}
