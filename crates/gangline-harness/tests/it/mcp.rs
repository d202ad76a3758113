//! Real MCP servers in processes of their own: what of them the model may use, and that they end.

pub(crate) mod probe;
mod unreadable;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gangline_harness::mcp::{McpNotice, McpServers, McpTarget};
use gangline_harness::{Harness, Tool, ToolContext, ToolError};
use gangline_os::CancellationToken;
use gangline_os::kill::Signal;
use gangline_os::mcp::{McpPlace, McpServer};
use gangline_os::process::{self, Child, Group, Output, Spawn, Stdin, base_env};
use gangline_os::run_id::{self, RUN_ID};
use serde_json::{Value, json};

use self::probe::{NOTES, ROLE, TOKEN, fact, facts};
use crate::cancel::{alive, dead};
use crate::fake::*;

/// A folder for a server's facts, and the ways to start one.
struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn notes(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    fn env(&self, role: &str) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        let mut env = base_env();
        env.push((ROLE.into(), role.into()));
        env.push((NOTES.into(), self.notes().into()));
        env.push(("GANGLINE_RUN".into(), "installation/agent/7".into()));
        env
    }

    fn program(&self, key: &str, role: &str) -> McpTarget {
        let exe = std::env::current_exe().unwrap();
        let command = [exe.to_str().unwrap(), "mcp::probe::entry", "--exact", "--nocapture"];
        let command = command.iter().map(|part| (*part).to_owned()).collect();
        let place = McpPlace::Stdio { command, env: BTreeMap::new() };
        McpTarget::new(server(key, place), self.env(role), self.folder.path().to_owned())
    }

    /// Starts a server over HTTP and returns it with its port.
    async fn http(&self, port: u16) -> (Child, u16) {
        let before = std::fs::read_to_string(self.notes()).unwrap_or_default();
        let known = before.lines().filter(|line| line.starts_with("port")).count();
        let child = process::spawn(Spawn {
            program: std::env::current_exe().unwrap(),
            args: ["mcp::probe::entry", "--exact", "--nocapture"].map(Into::into).to_vec(),
            cwd: self.folder.path().to_owned(),
            env: self.env(&format!("http {port}")),
            stdin: Stdin::Null,
            stdout: Output::Null,
            stderr: Output::Null,
            group: Group::New,
        });
        let port = facts(&self.notes(), "port", known + 1).await.pop().unwrap();
        (child.unwrap(), port.parse().unwrap())
    }
}

fn server(key: &str, place: McpPlace) -> McpServer {
    McpServer { key: key.to_owned(), place, allowed_tools: Vec::new() }
}

fn at(key: &str, url: &str, headers: BTreeMap<String, String>) -> McpTarget {
    let place = McpPlace::Http { url: url.to_owned(), headers };
    McpTarget::new(server(key, place), Vec::new(), "/".into())
}

fn address(key: &str, port: u16, token: &str) -> McpTarget {
    let headers = BTreeMap::from([("Authorization".to_owned(), token.to_owned())]);
    at(key, &format!("http://127.0.0.1:{port}/mcp"), headers)
}

fn command(key: &str, command: &[&str]) -> McpTarget {
    let command = command.iter().map(|part| (*part).to_owned()).collect();
    let place = McpPlace::Stdio { command, env: BTreeMap::new() };
    McpTarget::new(server(key, place), base_env(), "/".into())
}

/// Connects servers that are expected to be well.
async fn connect(servers: Vec<McpTarget>) -> McpServers {
    let (connected, notices) = within(McpServers::connect(servers)).await;
    assert_eq!(notices, []);
    connected
}

fn names(servers: &McpServers) -> Vec<String> {
    servers.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

struct Caller {
    tool: Arc<dyn Tool>,
    ctx: ToolContext,
}

/// Returns a tool by its plain name, ready to be called.
fn tool(servers: &McpServers, name: &str) -> Caller {
    let wanted = format!("__{name}");
    let tool = servers.tools().into_iter().find(|tool| tool.name().ends_with(&wanted)).unwrap();
    Caller {
        tool,
        ctx: ToolContext {
            cwd: "/".into(),
            judged: None,
            closed: Vec::new(),
            cancel: CancellationToken::new(),
        },
    }
}

impl Caller {
    async fn call(&self, input: Value) -> Result<String, ToolError> {
        within(self.tool.execute(&self.ctx, input)).await
    }

    async fn ok(&self, text: &str) -> String {
        self.call(json!({"text": text})).await.unwrap()
    }

    async fn err(&self, text: &str) -> String {
        self.call(json!({"text": text})).await.unwrap_err().to_string()
    }
}

/// R2-34, R4-15: the tools of a server are offered under its key, with its instructions in
/// the system prompt, from the first request on and unchanged; the model calls one like any other.
#[tokio::test]
async fn the_model_calls_a_servers_tool_by_the_servers_key() {
    let room = Room::new();
    let servers = connect(vec![room.program("probe", "tools")]).await;
    let fake = Fake::start(vec![
        calls("a", "mcp__probe__echo", &json!({"text": "plum"})),
        says("It said plum."),
    ])
    .await;
    let (harness, told) = fake.harness(puppet());
    let harness = harness.extended(servers.tools(), &servers.instructions()).unwrap();
    within(harness.prompt("echo plum")).await.unwrap();
    assert_eq!(told.only(&["result", "error"]), ["result a plum"]);
    let requests = fake.requests();
    let first = &requests[0];
    assert_eq!(first["tools"][1]["name"], "mcp__probe__echo");
    assert_eq!(first["tools"][1]["description"], "Says it again.");
    assert_eq!(first["tools"][1]["input_schema"]["properties"]["text"]["type"], "string");
    assert_eq!(first["tools"].as_array().unwrap().len(), 9, "ours and both pages");
    assert_eq!(
        (&first["tools"], &first["system"]),
        (&requests[1]["tools"], &requests[1]["system"])
    );
    let system = first["system"][0]["text"].as_str().unwrap();
    assert!(system.ends_with("## probe\n\nEcho before you wait."), "{system}");
    assert!(system.starts_with("# MCP servers"), "{system}");
    assert_eq!(fact(&room.notes(), "client").await, "gangline");
    servers.stop().await;
}

/// R2-34: results of every kind, and errors as tool errors.
#[tokio::test]
async fn results_are_text_errors_are_errors_and_neither_is_endless() {
    let room = Room::new();
    let servers = connect(vec![room.program("probe", "tools")]).await;
    assert_eq!(tool(&servers, "echo").ok("Grüße\n\u{1f600}").await, "Grüße\n\u{1f600}");
    assert_eq!(tool(&servers, "fail").err("").await, "it broke");
    let image = tool(&servers, "image").ok("").await;
    assert_eq!(image, "[image, image/png, 5 bytes, cannot be shown]");
    let big = tool(&servers, "big").ok("").await;
    assert!(big.len() < 101_000 && big.contains("bytes left out"), "{}", big.len());
    let refused = tool(&servers, "echo").call(json!("no object")).await.unwrap_err();
    assert!(matches!(refused, ToolError::Input(_)));
    servers.stop().await;
}

/// A program has what it was given, the run id of its owner among it, and nothing of our own.
#[tokio::test]
async fn a_program_has_only_the_environment_that_it_was_given() {
    let room = Room::new();
    let mut server = room.program("probe", "tools");
    // A variable of its own comes before one of whoever starts it.
    server.env.push(("PROBE_KEY".into(), "ours".into()));
    if let McpPlace::Stdio { env, .. } = &mut server.server.place {
        env.insert("PROBE_KEY".to_owned(), "k".to_owned());
    }
    let servers = connect(vec![server]).await;
    let env = tool(&servers, "env");
    assert_eq!(env.ok("GANGLINE_RUN").await, "installation/agent/7");
    assert_eq!(env.ok("PROBE_KEY").await, "k");
    assert_eq!(env.ok("CARGO_PKG_NAME").await, "unset", "that is ours alone");
    servers.stop().await;
}

/// A call that takes too long is given up, and the server is told.
#[tokio::test]
async fn a_call_that_takes_too_long_is_an_error_and_cancelled_at_the_server() {
    let room = Room::new();
    let mut server = room.program("probe", "tools");
    // Long enough for the call that follows.
    server.call_timeout = Duration::from_secs(3);
    let servers = connect(vec![server]).await;
    let error = tool(&servers, "wait").err("").await;
    assert!(error.starts_with("the MCP server probe gave no result within 3s"), "{error}");
    fact(&room.notes(), "cancelled").await;
    assert_eq!(tool(&servers, "echo").ok("still here").await, "still here");
    assert_eq!(facts(&room.notes(), "started", 1).await.len(), 1);
    servers.stop().await;
}

/// R4-09: an interrupt ends the call here and there.
#[tokio::test]
async fn a_cancelled_prompt_cancels_the_call_at_the_server() {
    let room = Room::new();
    let servers = connect(vec![room.program("probe", "tools")]).await;
    let fake = Fake::start(vec![calls("a", "mcp__probe__wait", &json!({})), says("ok")]).await;
    let (harness, told) = fake.harness(vec![]);
    let harness = harness.extended(servers.tools(), "").unwrap();
    let cancel = async {
        fact(&room.notes(), "waiting").await;
        harness.cancel();
    };
    let (outcome, ()) = within(async { futures::join!(harness.prompt("wait"), cancel) }).await;
    assert!(outcome.is_err());
    fact(&room.notes(), "cancelled").await;
    assert_eq!(told.only(&["error"]), ["error a cancelled"]);
    // The tool itself does not wait to be dropped.
    let wait = tool(&servers, "wait");
    let cancel = async {
        facts(&room.notes(), "waiting", 2).await;
        wait.ctx.cancel.cancel();
    };
    let (outcome, ()) = within(async { futures::join!(wait.call(json!({})), cancel) }).await;
    assert!(matches!(outcome, Err(ToolError::Cancelled)));
    assert_eq!(tool(&servers, "echo").ok("x").await, "x");
    servers.stop().await;
}

/// A server that is killed in mid-call: the model hears that it is gone, and the next call starts
/// it anew.
#[tokio::test]
async fn a_server_killed_in_mid_call_is_told_and_started_again() {
    let room = Room::new();
    let servers = connect(vec![room.program("probe", "tools")]).await;
    let pid = fact(&room.notes(), "started").await;
    let wait = tool(&servers, "wait");
    let kill = async {
        fact(&room.notes(), "waiting").await;
        kill(&pid);
    };
    let (error, ()) = within(async { futures::join!(wait.err(""), kill) }).await;
    let begin = "the connection to the MCP server probe was lost during the call";
    assert!(error.starts_with(begin) && error.contains("ended by signal 9"), "{error}");
    assert_eq!(tool(&servers, "echo").ok("again").await, "again");
    let pids = facts(&room.notes(), "started", 2).await;
    assert_eq!(pids.len(), 2);
    assert!(!alive(&pids[0]) && alive(&pids[1]));
    servers.stop().await;
    dead(&pids[1]).await;
}

pub(crate) fn kill(pid: &str) {
    let pid: u32 = pid.parse().unwrap();
    let start = gangline_os::proc::start_time(pid).unwrap();
    let signal = Signal::Kill;
    assert!(gangline_os::proc::signal_exact(pid, start, signal).unwrap());
}

/// Waits until a process that was killed can be waited for: its first thread is dead before the
/// others are.
async fn ended(pid: &str) {
    dead(pid).await;
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    until(|| (threads() <= 1).then_some(())).await;
}

#[tokio::test]
async fn a_server_that_ends_itself_leaves_its_last_words() {
    let room = Room::new();
    let servers = connect(vec![room.program("probe", "tools")]).await;
    let error = tool(&servers, "die").err("").await;
    assert!(error.contains("ended with code 3; its last words: I cannot go on"), "{error}");
    assert_eq!(tool(&servers, "echo").ok("again").await, "again");
    servers.stop().await;
}

/// A server that died between two calls is not noticed by the model at all.
#[tokio::test]
async fn a_server_killed_between_two_calls_is_started_again_unseen() {
    let room = Room::new();
    let servers = connect(vec![room.program("probe", "tools")]).await;
    let pid = fact(&room.notes(), "started").await;
    kill(&pid);
    ended(&pid).await;
    assert_eq!(tool(&servers, "echo").ok("plum").await, "plum");
    assert_eq!(facts(&room.notes(), "started", 2).await.len(), 2);
    servers.stop().await;
}

/// No orphan: neither the server nor what it started outlives the session, however that ends.
#[tokio::test]
async fn servers_and_what_they_started_end_with_the_session() {
    for dropped in [false, true] {
        let room = Room::new();
        let servers = connect(vec![room.program("probe", "tools")]).await;
        let pid = fact(&room.notes(), "started").await;
        let spawned = tool(&servers, "spawn").ok("").await;
        let echo = tool(&servers, "echo");
        assert!(alive(&pid) && alive(&spawned));
        match dropped {
            true => {
                drop(echo);
                drop(servers);
            }
            false => {
                within(servers.stop()).await;
                let error = echo.err("x").await;
                assert!(error.contains("the session has ended"), "{error}");
            }
        }
        dead(&pid).await;
        dead(&spawned).await;
    }
}

/// R4-15: a server that is late, down or dying is told, its tools are absent, and the others are
/// there. Nothing of it is left.
#[tokio::test]
async fn a_server_that_is_late_or_down_is_told_and_the_others_are_there() {
    let (room, late, dying) = (Room::new(), Room::new(), Room::new());
    let mut mute = late.program("late", "mute");
    mute.start_timeout = Duration::from_millis(500);
    let installation = format!("late-{}", std::process::id());
    mute.env.retain(|(name, _)| name != RUN_ID);
    mute.env.push((RUN_ID.into(), format!("{installation}/agent/7").into()));
    let servers = vec![
        mute,
        command("missing", &["no-such-program"]),
        command("empty", &[]),
        dying.program("dying", "dies"),
        room.program("bad__key", "tools"),
        room.program("probe", "tools"),
        room.program("probe", "tools"),
    ];
    let (servers, notices) = within(McpServers::connect(servers)).await;
    let told: Vec<String> = notices.iter().map(McpNotice::to_string).collect();
    let expected = [
        "MCP server bad__key: its key must not begin or end with `_`",
        "MCP server probe: another server has the same key",
        "MCP server late: it is not ready after 500ms; its tools are absent",
        "MCP server missing: cannot start no-such-program: it is not on PATH",
        "MCP server empty: its command is empty",
        "MCP server dying: no connection; it ended with code 7; its last words: no licence found",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}");
    }
    assert_eq!(tool(&servers, "echo").ok("x").await, "x");
    // It may have ended before it could say a word.
    until(|| run_id::run_processes(&installation).is_empty().then_some(())).await;
    servers.stop().await;
}

#[tokio::test]
async fn a_start_that_is_given_up_leaves_no_process() {
    let room = Room::new();
    let (server, notes) = (room.program("late", "mute"), room.notes());
    let pid = tokio::select! {
        _ = McpServers::connect(vec![server]) => panic!("it never answers"),
        pid = fact(&notes, "started") => pid,
    };
    dead(&pid).await;
}

/// What the API would refuse is made fit or left out, and said.
#[tokio::test]
async fn odd_tools_are_made_fit_or_left_out() {
    let room = Room::new();
    let (servers, notices) = within(McpServers::connect(vec![room.program("o", "odd")])).await;
    assert_eq!(names(&servers), ["mcp__o__a_b", "mcp__o__fine"]);
    assert_eq!(servers.tools()[0].input_schema(), json!({"type": "object"}));
    assert_eq!(servers.tools()[0].description(), "The tool a.b of the MCP server o.");
    let told: Vec<&str> = notices.iter().map(|notice| notice.why.as_str()).collect();
    assert_eq!(told[0], "another of its tools is called mcp__o__a_b too");
    assert!(
        told[1].starts_with("its tool \"ttt") && told[1].ends_with("its name is empty or too long")
    );
    assert_eq!(told[2], "its tool \"\" is not offered: its name is empty or too long");
    assert_eq!(told[3], "its tool \"vast\" is not offered: its schema is too long");
    servers.stop().await;
}

#[tokio::test]
async fn a_list_of_tools_without_an_end_is_cut_off() {
    let room = Room::new();
    let (servers, notices) = within(McpServers::connect(vec![room.program("e", "endless")])).await;
    assert_eq!(names(&servers).len(), 256);
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].why, "only its first 256 tools are offered");
    servers.stop().await;
}

/// A server that only knows the newer way to begin is reached too.
#[tokio::test]
async fn a_server_of_the_newer_protocol_is_reached() {
    let room = Room::new();
    let servers = connect(vec![room.program("n", "newer")]).await;
    assert_eq!(tool(&servers, "echo").ok("x").await, "x");
    servers.stop().await;
}

/// R2-34: the same over HTTP, with headers; a refusal is told without the key.
#[tokio::test]
async fn a_server_over_http_is_reached_with_its_headers() {
    let room = Room::new();
    let (mut child, port) = room.http(0).await;
    let servers = connect(vec![address("web", port, TOKEN)]).await;
    assert_eq!(names(&servers)[0], "mcp__web__echo");
    assert_eq!(tool(&servers, "echo").ok("plum").await, "plum");
    assert_eq!(tool(&servers, "fail").err("").await, "it broke");
    assert!(servers.instructions().contains("Echo before you wait."));

    let wrong = vec![
        address("wrong", port, "Bearer mellon"),
        at("ftp", "ftp://x/", BTreeMap::new()),
        address("head", port, "two\nlines"),
        at("asked", "HTTP://127.0.0.1:9/mcp?key=mellon too", BTreeMap::new()),
    ];
    let (refused, notices) = within(McpServers::connect(wrong)).await;
    assert_eq!(refused.tools().len(), 0);
    let told: Vec<&str> = notices.iter().map(|notice| notice.why.as_str()).collect();
    assert_eq!(told[0], "no connection: unexpected server response: HTTP 401 Unauthorized: ");
    assert_eq!(told[1], "its address is not one of http or https");
    assert_eq!(told[2], "the header \"Authorization\" cannot be sent");
    assert!(told[3].contains("its address") && !told[3].contains("mellon"), "{}", told[3]);
    servers.stop().await;
    child
        .end(&process::KillPolicy { term_after: Duration::ZERO, kill_after: Duration::ZERO })
        .await;
}

/// A server over HTTP that is killed in mid-call, and one that is back under its address.
#[tokio::test]
async fn a_server_over_http_that_was_killed_is_reached_again() {
    let room = Room::new();
    // Keeps the port from others while the server is down.
    let held = probe::bound(0);
    let (mut child, port) = room.http(held.local_addr().unwrap().port()).await;
    let servers = connect(vec![address("web", port, TOKEN)]).await;
    let wait = tool(&servers, "wait");
    let kill = async {
        fact(&room.notes(), "waiting").await;
        child.signal_group(Signal::Kill).unwrap();
        child.wait().await.unwrap();
    };
    let (error, ()) = within(async { futures::join!(wait.err(""), kill) }).await;
    assert!(error.contains("lost during the call"), "{error}");
    let error = tool(&servers, "echo").err("x").await;
    assert!(error.contains("not running and cannot be started"), "{error}");
    let (mut again, _) = room.http(port).await;
    assert_eq!(tool(&servers, "echo").ok("back").await, "back");
    servers.stop().await;
    again
        .end(&process::KillPolicy { term_after: Duration::ZERO, kill_after: Duration::ZERO })
        .await;
}

#[tokio::test]
async fn tools_of_the_same_name_are_refused() {
    let room = Room::new();
    let servers = connect(vec![room.program("probe", "tools")]).await;
    let fake = Fake::start(vec![]).await;
    let harness = Harness::new(fake.config(), servers.tools(), None).unwrap();
    assert!(harness.extended(servers.tools(), "").is_err());
    servers.stop().await;
}
