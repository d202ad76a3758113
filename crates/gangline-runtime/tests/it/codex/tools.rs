//! The real program: who decides about tools, the daemon's own tools, and what its shells see.

use std::collections::BTreeMap;

use gangline_runtime::{
    Answer, ApprovalAsk, ApprovalReply, Block, McpPlace, McpServer, Permissions, RuntimeEvent,
    TurnResult,
};

use super::rig::{Done, KEY, Rig, turn};

/// Each request is one call of a tool, named with its arguments.
const TOOLS: &str = r#"
rules:
  - when: {tool_result: '(?s).*'}
    reply: [text: "it said: ${tool_result}"]
  - when: {user: '^run (.+)'}
    reply: [tool_use: {name: exec_command, input: {cmd: "$1"}}]
  - when: {user: '^escalate (.+)'}
    reply: [tool_use: {name: exec_command, input: {cmd: "$1", sandbox_permissions: require_escalated, justification: "it must"}}]
  - when: {user: '^terminal true'}
    reply: [tool_use: {name: exec_command, input: {cmd: "cat", tty: true, yield_time_ms: 300}}]
  - when: {user: '^terminal'}
    reply: [tool_use: {name: exec_command, input: {cmd: "cat", yield_time_ms: 30000}}]
  - when: {user: '^patch (\S+)'}
    reply: [tool_use: {name: apply_patch, input: "*** Begin Patch\n*** Add File: $1\n+written\n*** End Patch"}]
  - when: {user: '^move (\S+) (\S+)'}
    reply: [tool_use: {name: apply_patch, input: "*** Begin Patch\n*** Update File: $1\n*** Move to: $2\n@@\n-written\n+moved\n*** End Patch"}]
  - when: {user: '^post (.+)'}
    reply: [text: "posting", tool_use: {name: send, input: {text: "$1"}}]
  - when: {user: '^server (\S+) (\S+)'}
    reply: [tool_use: {name: "mcp__$1__echo", input: {text: "$2"}}]
  - when: {user: 'was not run: (.+)'}
    reply: [text: "I hear: $1"]
  - reply: [text: "you said ${user}"]
"#;

async fn asked(rig: &mut Rig, number: i64, text: &str) -> ApprovalAsk {
    rig.say(number, text).await;
    let seen = rig
        .until(|event| {
            matches!(event, RuntimeEvent::ApprovalAsked { .. } | RuntimeEvent::Finished { .. })
        })
        .await;
    match seen.last() {
        Some(RuntimeEvent::ApprovalAsked { turn: of, ask }) if *of == turn(number) => ask.clone(),
        _ => panic!("not asked but {seen:?}"),
    }
}

async fn decide(rig: &mut Rig, ask: &ApprovalAsk, answer: Answer) -> Done {
    let reply = ApprovalReply { request: ask.request.clone(), answer };
    rig.runtime.decide(reply).await.unwrap();
    Done(rig.until_finished().await)
}

fn deny(reason: &str) -> Answer {
    Answer::Deny { reason: reason.to_owned() }
}

/// Tools that ran: name, whether it failed, and what it returned.
fn results(done: &Done) -> Vec<(&str, bool, &str)> {
    let result = |event| match event {
        &RuntimeEvent::ToolResult { ref name, is_error, ref content, .. } => {
            Some((name.as_str(), is_error, content.as_str()))
        }
        _ => None,
    };
    done.0.iter().filter_map(result).collect()
}

/// C5: under `ask` each command waits for its reply, also one that the program itself takes for
/// harmless, and each patch; a denial reaches the model with its reason, and the turn goes on.
#[tokio::test]
async fn commands_and_patches_wait_for_their_approval() {
    let mut rig = Rig::codex(TOOLS).await;
    rig.start().await;
    let file = rig.path("work").join("made");

    let ask = asked(&mut rig, 1, "run touch made && echo 'it is'").await;
    assert_eq!(ask.tool, "Bash");
    assert_eq!(ask.input["command"], "touch made && echo 'it is'");
    assert!(!file.exists());
    let done = decide(&mut rig, &ask, Answer::Allow).await;
    assert!(file.exists());
    assert_eq!(results(&done), [("Bash", false, "it is\n")]);

    for (number, command) in [(2, "ls"), (3, "cat notes.txt"), (4, "find . -delete")] {
        let ask = asked(&mut rig, number, &format!("run {command}")).await;
        assert_eq!((ask.tool.as_str(), &ask.input["command"]), ("Bash", &command.into()));
        let done = decide(&mut rig, &ask, deny("not on a Sunday")).await;
        assert_eq!(done.text(), "I hear: not on a Sunday", "{done:?}");
        assert_eq!(results(&done), [("Bash", true, "it was not allowed")]);
        assert_eq!(done.result(), &TurnResult::Completed);
        // Too late and twice: nobody waits for it.
        let reply = ApprovalReply { request: ask.request, answer: Answer::Allow };
        rig.runtime.decide(reply).await.unwrap();
    }
    assert!(file.exists());

    let ask = asked(&mut rig, 5, "patch new.txt").await;
    let path = rig.path("work").join("new.txt");
    assert_eq!((ask.tool.as_str(), &ask.input["file_path"]), ("Write", &path.to_str().into()));
    assert_eq!(ask.input["changes"][0]["diff"], "written\n");
    let done = decide(&mut rig, &ask, Answer::Allow).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "written\n");
    assert_eq!(results(&done)[0].0, "Write");
    let ask = asked(&mut rig, 6, "patch other.txt").await;
    decide(&mut rig, &ask, deny("no")).await;
    assert!(!rig.path("work").join("other.txt").exists());

    let ask = asked(&mut rig, 7, "escalate touch escalated").await;
    assert_eq!(ask.input["reason"], "it must");
    decide(&mut rig, &ask, Answer::Allow).await;
    assert!(rig.path("work").join("escalated").exists());
}

/// C5: a patch that would change a closed file, or make one of it, is refused before anybody is
/// asked, in every mode; of a patch that moves a file people see where to.
#[tokio::test]
async fn patches_of_closed_files_are_refused_in_every_mode() {
    for mode in [Permissions::Ask, Permissions::Allowlist, Permissions::Bypass] {
        let mut rig = Rig::codex(TOOLS).await;
        let (closed, work) = (rig.path("installation"), rig.path("work"));
        std::fs::create_dir(&closed).unwrap();
        std::os::unix::fs::symlink(&closed, work.join("link")).unwrap();
        std::fs::write(work.join("mine"), "written\n").unwrap();
        rig.options.permissions = mode;
        rig.options.allowed_tools = vec!["Write".to_owned(), "Edit".to_owned()];
        rig.options.bounds.closed = vec![closed.clone()];
        rig.start().await;
        let shown = closed.display();
        let prompts = [
            format!("patch {shown}/made"),
            "patch link/made".to_owned(),
            "patch ../installation/made".to_owned(),
            format!("move mine {shown}/made"),
        ];
        for (number, prompt) in (1..).zip(&prompts) {
            let done = rig.ask(number, prompt).await;
            assert!(!done.asked(), "{mode:?} {prompt}: {done:?}");
            assert!(!closed.join("made").exists(), "{mode:?} {prompt}: {done:?}");
            assert!(done.text().contains("belongs to the Gangline installation"), "{done:?}");
        }
        if mode == Permissions::Ask {
            let ask = asked(&mut rig, 5, "move mine there").await;
            let there = work.join("there").display().to_string();
            assert_eq!(ask.input["changes"][0]["kind"]["move_path"], there.as_str(), "{ask:?}");
            decide(&mut rig, &ask, Answer::Allow).await;
        } else {
            rig.ask(5, "move mine there").await;
        }
        assert_eq!(std::fs::read_to_string(work.join("there")).unwrap(), "moved\n", "{mode:?}");
    }
}

/// C5: what is typed into a program that runs is asked about by nobody, so nothing can be typed:
/// there is no terminal, and without one the input is closed.
#[tokio::test]
async fn nothing_is_typed_into_what_was_allowed() {
    let mut rig = Rig::codex(TOOLS).await;
    rig.start().await;
    let done = rig.ask(1, "terminal true").await;
    assert!(done.text().contains("TTY execution is disabled"), "{done:?}");
    let ask = asked(&mut rig, 2, "terminal false").await;
    let done = decide(&mut rig, &ask, Answer::Allow).await;
    assert!(done.text().contains("exited with code 0"), "its input is closed: {done:?}");
}

/// R2-42: under `allowlist` the built-in tools run, the rest is denied without asking, whatever the
/// user's own configuration says; the model hears why.
#[tokio::test]
async fn what_is_not_on_the_list_is_denied() {
    let mut rig = Rig::codex(TOOLS).await;
    rig.options.permissions = Permissions::Allowlist;
    rig.options.allowed_tools = vec!["Write".to_owned()];
    let home = rig.path("home").join(".codex");
    std::fs::create_dir(&home).unwrap();
    let allowing = "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n";
    std::fs::write(home.join("config.toml"), allowing).unwrap();
    rig.start().await;
    let done = rig.ask(1, "run touch made").await;
    assert!(done.text().contains("Bash is not on this agent's list"), "{done:?}");
    assert!(!rig.path("work").join("made").exists() && !done.asked());
    let done = rig.ask(2, "patch new.txt").await;
    assert!(rig.path("work").join("new.txt").exists() && !done.asked(), "{done:?}");
    let tools = rig.requests().pop().unwrap();
    assert!(!tools.contains("web_search"), "a search cannot be asked about: {tools}");
}

/// What the user's own rules of the program allow is not asked about, which is told.
#[tokio::test]
async fn rules_of_the_user_s_are_told() {
    let mut rig = Rig::codex(TOOLS).await;
    let rules = rig.path("home").join(".codex/rules");
    std::fs::create_dir_all(&rules).unwrap();
    let rule = "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n";
    std::fs::write(rules.join("default.rules"), rule).unwrap();
    rig.begin().await;
    let RuntimeEvent::Notice { text } = rig.next().await else { panic!("no notice") };
    assert!(text.contains(".codex/rules") && text.contains("without being asked"), "{text}");
}

/// C5, R1-04: `bypass` allows everything, as root too; the program itself still asks, and is
/// answered. R0-18: a large output is passed on with its middle left out.
#[tokio::test]
async fn bypass_asks_nobody() {
    let mut rig = Rig::codex(TOOLS).await;
    rig.options.permissions = Permissions::Bypass;
    rig.start().await;
    let done = rig.ask(1, "run touch made; id -u; touch ../outside").await;
    assert!(rig.path("work").join("made").exists() && !done.asked(), "{done:?}");
    assert!(rig.path("outside").exists(), "no sandbox is in the way");
    let line = rig.processes().into_iter().find(|line| line.contains("app-server")).unwrap();
    assert!(!line.contains("bypass") && !line.contains("never"), "{line}");
    let done = rig.ask(2, "run seq 1 400000").await;
    let [(_, false, output)] = results(&done)[..] else { panic!("{done:?}") };
    assert!(output.starts_with("1\n2\n") && output.ends_with("400000\n"));
    assert!(output.contains("bytes left out") && output.len() < 70_000, "{}", output.len());
    let done = rig.ask(3, "run exit 3").await;
    assert_eq!(results(&done), [("Bash", true, "(exit code 3)")]);
}

/// R2-41: the daemon's tools are called over the program's own pipe, with turn and call id, by
/// their plain names and without approval; their refusals reach the model.
#[tokio::test]
async fn a_tool_of_the_daemon_is_called_with_its_turn() {
    let mut rig = Rig::codex(TOOLS).await;
    rig.start().await;
    let done = rig.ask(7, "post plum").await;
    assert_eq!(done.text(), "posting\nit said: sent");
    assert!(!done.asked());
    let call = rig.calls.recv().await.unwrap();
    assert_eq!((call.turn, call.name.as_str()), (turn(7), "send"));
    assert_eq!(call.input["text"], "plum");
    let used = done.0.iter().find_map(|event| match event {
        RuntimeEvent::Message { message, .. } => match &message.content[..] {
            [Block::ToolUse { id, name, .. }] => Some((id.clone(), name.clone())),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(used, Some((call.id.clone(), "send".to_owned())));
    assert_eq!(results(&done), [("send", false, "sent")]);
    let done = rig.ask(8, "post refuse").await;
    assert!(done.text().contains("not in this room"), "{done:?}");
    assert_eq!(results(&done), [("send", true, "not in this room")]);
}

/// A tool server over stdio: reads requests, answers `echo`.
const SERVER: &str = r#"
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  let result = {};
  if (method === "initialize") result = { protocolVersion: params.protocolVersion,
    capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
  if (method === "tools/list") result = { tools: [{ name: "echo", description: "x",
    inputSchema: { type: "object" } }] };
  if (method === "tools/call") result = { content: [{ type: "text",
    text: `echo ${params.arguments.text} ${process.env.TEAM} ${process.env.GANGLINE_RUN ? "marked" : ""}` }] };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});
"#;

/// The same over HTTP; it prints its port and wants a header.
const HTTP_SERVER: &str = r#"
const server = require("http").createServer((request, response) => {
  if (request.method !== "POST") { response.writeHead(405).end(); return; }
  if (request.headers.authorization !== "Bearer plum") { response.writeHead(401).end(); return; }
  let body = "";
  request.on("data", (part) => { body += part; });
  request.on("end", () => {
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) { response.writeHead(202).end(); return; }
    let result = {};
    if (method === "initialize") result = { protocolVersion: params.protocolVersion,
      capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } };
    if (method === "tools/list") result = { tools: [{ name: "echo", description: "x",
      inputSchema: { type: "object" } }] };
    if (method === "tools/call") result = { content: [{ type: "text",
      text: `http ${params.arguments.text}` }] };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
}).listen(Number(process.argv[2]), "127.0.0.1", () =>
  require("fs").writeFileSync(process.argv[3], String(server.address().port)));
"#;

fn server(key: &str, place: McpPlace, allowed: &[&str]) -> McpServer {
    let allowed_tools = allowed.iter().map(|tool| (*tool).to_owned()).collect();
    McpServer { key: key.to_owned(), place, allowed_tools }
}

/// R2-34: tools of a server over stdio and over HTTP are called; those on its list unasked, others
/// after a reply; a server that does not start is told and hinders nothing.
#[tokio::test]
async fn tools_of_servers_are_called() {
    let mut rig = Rig::codex(TOOLS).await;
    let node = |file: &str, rest: &[&str]| {
        let words = ["node", file].into_iter().chain(rest.iter().copied());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let (script, http, port) = (rig.path("mcp.js"), rig.path("http.js"), rig.path("port"));
    std::fs::write(&script, SERVER).unwrap();
    std::fs::write(&http, HTTP_SERVER).unwrap();
    let _http = rig.helper(&node(http.to_str().unwrap(), &["0", port.to_str().unwrap()]));
    let port = rig.until_written(&port).await;
    let env = BTreeMap::from([("TEAM".to_owned(), "blue".to_owned())]);
    let stdio = McpPlace::Stdio { command: node(script.to_str().unwrap(), &[]), env };
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer plum".to_owned())]);
    let http = McpPlace::Http { url: format!("http://127.0.0.1:{port}/mcp"), headers };
    let missing = McpPlace::Stdio { command: node("/nowhere.js", &[]), env: BTreeMap::new() };
    rig.options.mcp_servers = vec![
        server("free", stdio.clone(), &["*"]),
        server("asks", stdio, &[]),
        server("web", http, &["echo"]),
        server("gone", missing, &[]),
    ];
    rig.start().await;
    let done = rig.ask(1, "server free yo").await;
    assert_eq!(results(&done), [("mcp__free__echo", false, "echo yo blue marked")]);
    assert!(!done.asked());
    let done = rig.ask(2, "server web yo").await;
    assert_eq!(results(&done), [("mcp__web__echo", false, "http yo")], "{done:?}");
    assert!(!done.asked());
    let ask = asked(&mut rig, 3, "server asks plum").await;
    assert_eq!((ask.tool.as_str(), &ask.input["text"]), ("mcp__asks__echo", &"plum".into()));
    let done = decide(&mut rig, &ask, Answer::Allow).await;
    assert_eq!(results(&done), [("mcp__asks__echo", false, "echo plum blue marked")]);
    let ask = asked(&mut rig, 4, "server asks plum").await;
    let done = decide(&mut rig, &ask, deny("never")).await;
    assert_eq!(done.text(), "I hear: never", "{done:?}");
}

/// R3-09, R3-15: its shells know the agent and the session, whatever the user's own policy is; they
/// do not see the model's key, and nothing of another program of this kind.
#[tokio::test]
async fn its_shells_know_the_agent_and_not_the_key() {
    let mut rig = Rig::codex(TOOLS).await;
    rig.options.permissions = Permissions::Bypass;
    let home = rig.path("home").join(".codex");
    std::fs::create_dir(&home).unwrap();
    let policy = "[shell_environment_policy]\ninherit = \"none\"\ninclude_only = [\"HOME\"]\n";
    std::fs::write(home.join("config.toml"), policy).unwrap();
    let session = rig.start().await;
    rig.ask(1, "run env > env.txt").await;
    let read = |rig: &Rig| std::fs::read_to_string(rig.path("work").join("env.txt")).unwrap();
    let env = read(&rig);
    let thread = format!("CODEX_THREAD_ID={}", session.0);
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    let tmp = format!("TMPDIR={}", rig.path("tmp").display());
    for wanted in ["GANGLINE_NICK=oak-ada", "GANGLINE_TOKEN=a-token", &thread, &tmp] {
        assert!(env.lines().any(|line| line == wanted), "{wanted} in {env}");
    }
    assert!(
        env.lines().any(|line| line.starts_with("PATH=") && line.ends_with(&path[5..])),
        "{env}"
    );
    assert!(!env.contains(KEY) && !env.contains("somebody-else"), "{env}");
    rig.runtime.stop(gangline_runtime::StopReason::Restart).await;
    // The key is in no environment, on no command line, and in no file of the program.
    rig.options.resume = Some(session.clone());
    rig.start().await;
    let pid = rig.pid.unwrap();
    for file in ["environ", "cmdline"] {
        let text = std::fs::read(format!("/proc/{pid}/{file}")).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains(KEY), "{file}");
    }
    rig.ask(2, "run env > env.txt").await;
    assert!(read(&rig).contains(&format!("GT_SESSION_ID={}", session.0)));
    for path in files_below(&home) {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|it| it == KEY.as_bytes()), "{}", path.display());
    }
}

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) =
        entries.filter(|path| !path.is_symlink()).partition(|path| path.is_dir());
    let deeper = folders.iter().flat_map(|folder| files_below(folder));
    let files = files.into_iter().filter(|path| path.is_file());
    files.chain(deeper).collect()
}
