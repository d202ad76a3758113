//! MCP servers, instructions and skills of a native session.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use gangline_runtime::{
    Answer, ApprovalReply, McpPlace, McpServer, Permissions, Prompt, RuntimeEvent, StopReason,
    TurnResult,
};
use gangline_testkit::mcp;

use super::{PATIENCE, Rig, texts, turn};

/// An MCP server in shell: it greets with a variable of its environment.
const SERVER: &str = r#"
echo $$ > pid
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case "$line" in
    *'"method":"initialize"'*) answer '{"protocolVersion":"2025-06-18",
      "capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"},
      "instructions":"Greet politely."}' | tr -d '\n'; echo ;;
    *'"method":"tools/list"'*)
      answer '{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      answer '{"content":[{"type":"text","text":"'"$GREETING of $GANGLINE_NICK"'"}]}' ;;
  esac
done
"#;

const SCRIPT: &str = "
rules:
  - when: {user: greet}
    reply: [tool_use: {name: mcp__sh__greet, input: {}}]
  - when: {tool: mcp__sh__greet}
    reply: [text: '${tool_result}']
  - reply: [text: hello]
";

fn server(key: &str, command: &[&str]) -> McpServer {
    let env = BTreeMap::from([("GREETING".to_owned(), "good day".to_owned())]);
    let command = command.iter().map(|p| (*p).to_owned()).collect();
    McpServer {
        key: key.to_owned(),
        place: McpPlace::Stdio { command, env },
        allowed_tools: Vec::new(),
    }
}

async fn rig(permissions: Permissions, servers: Vec<McpServer>) -> Rig {
    let (mut rig, _called) = Rig::scripted(permissions, Some(SCRIPT)).await;
    rig.options.env.push(("GANGLINE_NICK".to_owned(), "oak-ada".to_owned()));
    rig.options.env.push(("GREETING".to_owned(), "not this".to_owned()));
    rig.options.mcp_servers = servers;
    rig
}

impl Rig {
    async fn greet(&mut self, number: i64) {
        let text = "greet me".to_owned();
        let uuid = format!("g{number}");
        self.runtime.prompt(Prompt { turn: turn(number), text, uuid }).await.unwrap();
    }

    fn pid(&self) -> String {
        fs::read_to_string(self.folder.path().join("pid")).unwrap().trim().to_owned()
    }
}

fn alive(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

async fn dead(pid: &str) {
    let gone = async {
        while alive(pid) {
            // sleep: looks at a fact of the system again and again, within a deadline
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
}

/// R2-34, C5: a server's tool needs permission like any other, unless its server is on the list;
/// the program has the agent's environment and its own, and ends with the session.
#[tokio::test]
async fn a_servers_tool_is_asked_for_unless_it_is_listed() {
    let mut rig = rig(Permissions::Ask, vec![server("sh", &["sh", "-c", SERVER])]).await;
    rig.start().await;
    rig.greet(1).await;
    let asked = rig.until(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })).await;
    let Some(RuntimeEvent::ApprovalAsked { ask, .. }) = asked.last() else { panic!() };
    assert_eq!(ask.tool, "mcp__sh__greet");
    let reply = ApprovalReply { request: ask.request.clone(), answer: Answer::Allow };
    rig.runtime.decide(reply).await.unwrap();
    assert_eq!(texts(&rig.until_finished().await), "good day of oak-ada");
    let system = rig.request(1)["system"][0]["text"].as_str().unwrap().to_owned();
    assert!(system.ends_with("## sh\n\nGreet politely."), "{system}");
    let pid = rig.pid();
    assert!(alive(&pid));
    rig.runtime.stop(StopReason::Shutdown).await;
    assert!(!alive(&pid), "gone before the exit is told");

    for (mode, list, allowed) in [
        (Permissions::Ask, "mcp__sh__*", true),
        (Permissions::Allowlist, "mcp__sh__*", true),
        (Permissions::Allowlist, "mcp__other__*", false),
    ] {
        rig.options.permissions = mode;
        rig.options.allowed_tools = vec![list.to_owned()];
        rig.start().await;
        rig.greet(2).await;
        let events = rig.until_finished().await;
        let asked = events.iter().any(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. }));
        assert!(!asked, "{mode:?} {list}");
        assert_eq!(texts(&events) == "good day of oak-ada", allowed, "{mode:?} {list}");
        rig.runtime.stop(StopReason::Restart).await;
    }
}

/// R2-34: servers of another maker, over standard streams and over HTTP: the tools that their
/// entries list run unasked.
#[tokio::test]
async fn configured_servers_are_called() {
    const CALLS: &str = "
rules:
  - when: {tool_result: '(?s).*'}
    reply: [text: 'it said: ${tool_result}']
  - when: {user: 'env by (.+)'}
    reply: [tool_use: {name: mcp__$1__env, input: {name: GREETING}}]
  - when: {user: 'echo by (.+)'}
    reply: [tool_use: {name: mcp__$1__echo, input: {text: hello}}]
";
    let (mut rig, _called) = Rig::scripted(Permissions::Ask, Some(CALLS)).await;
    rig.options.env.push(("PATH".to_owned(), std::env::var("PATH").unwrap()));
    let web = mcp::http();
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer probe".to_owned())]);
    let pipe = mcp::stdio(rig.folder.path());
    let pipe: Vec<&str> = pipe.iter().map(String::as_str).collect();
    let unasked = |server: McpServer, tool: &str| McpServer {
        allowed_tools: vec![tool.to_owned()],
        ..server
    };
    let place = McpPlace::Http { url: web.url.clone(), headers };
    rig.options.mcp_servers = vec![
        unasked(server("pipe", &pipe), "env"),
        unasked(McpServer { place, ..server("web", &[]) }, "e*"),
    ];
    rig.start().await;
    for (number, text, expect) in
        [(1, "env by pipe", "it said: good day"), (2, "echo by web", "it said: echo: hello")]
    {
        let prompt = Prompt { turn: turn(number), text: text.to_owned(), uuid: text.to_owned() };
        rig.runtime.prompt(prompt).await.unwrap();
        let events = rig.until_finished().await;
        let asked = events.iter().any(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. }));
        assert!(!asked, "{text}");
        assert_eq!(texts(&events), expect);
    }
    assert_eq!(mcp::calls(rig.folder.path()).len(), 1);
    let record = web.record();
    assert!(record.iter().all(|it| it["headers"]["authorization"] == "Bearer probe"));
    rig.runtime.stop(StopReason::Shutdown).await;
}

/// R4-15: what is not there is told once the session is ready, and the session works.
#[tokio::test]
async fn servers_that_cannot_be_used_are_told() {
    let servers = vec![
        server("down", &["no-such-program"]),
        server("gangline", &["sh", "-c", SERVER]),
        McpServer {
            place: McpPlace::Http {
                url: "http://127.0.0.1:9/mcp".to_owned(),
                headers: BTreeMap::new(),
            },
            ..server("web", &[])
        },
        server("sh", &["sh", "-c", SERVER]),
    ];
    let mut rig = rig(Permissions::Bypass, servers).await;
    rig.start().await;
    let mut told = Vec::new();
    for _ in 0..3 {
        match rig.next().await {
            RuntimeEvent::Notice { text } => told.push(text),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(told[0], "MCP server gangline: its key is the daemon's own");
    assert!(told[1].starts_with("MCP server down: cannot start no-such-program"), "{told:?}");
    assert!(told[2].starts_with("MCP server web: no connection"), "{told:?}");
    rig.greet(1).await;
    assert_eq!(texts(&rig.until_finished().await), "good day of oak-ada");
    rig.runtime.stop(StopReason::Shutdown).await;
}

/// R0-08: a start that waits for a server can be stopped, and leaves nothing behind.
#[tokio::test]
async fn a_session_that_waits_for_a_server_can_be_stopped() {
    let mute = "echo $$ > pid; exec sleep 600";
    let mut rig = rig(Permissions::Bypass, vec![server("mute", &["sh", "-c", mute])]).await;
    let handle = rig.runtime.start(rig.options.clone()).await.unwrap();
    assert!(handle.session.is_some(), "the session is known before its servers are");
    assert!(rig.runtime.session().unwrap().ready_at.is_none());
    let pid = async {
        while !fs::read_to_string(rig.folder.path().join("pid")).is_ok_and(|it| it.ends_with('\n'))
        {
            // sleep: looks at a fact of the system again and again, within a deadline
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, pid).await.unwrap();
    let pid = rig.pid();
    rig.runtime.stop(StopReason::Shutdown).await;
    assert_eq!(rig.next().await, RuntimeEvent::Exited { code: 0 });
    dead(&pid).await;
}

/// R1-05: instructions of the project and of the person, and skills, are in the system
/// prompt; an allow-list without the tool leaves skills out.
#[tokio::test]
async fn instructions_and_skills_are_in_the_system_prompt() {
    let (mut rig, _called) = Rig::scripted(
        Permissions::Ask,
        Some(
            "
rules:
  - when: {user: ship}
    reply: [tool_use: {name: Skill, input: {name: ship}}]
  - when: {tool: Skill}
    reply: [text: '${tool_result}']
",
        ),
    )
    .await;
    let home = rig.folder.path().join("home");
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/CLAUDE.md"), "be brief").unwrap();
    fs::write(rig.folder.path().join("AGENTS.md"), "test first").unwrap();
    let skill = rig.folder.path().join(".claude/skills/ship");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "---\ndescription: how to ship\n---\nTag it.").unwrap();
    rig.options.env.push(("HOME".to_owned(), home.display().to_string()));
    rig.start().await;
    let ship = |number: i64| Prompt {
        turn: turn(number),
        text: "ship it".to_owned(),
        uuid: format!("s{number}"),
    };
    rig.runtime.prompt(ship(1)).await.unwrap();
    let events = rig.until_finished().await;
    assert!(texts(&events).ends_with("Tag it."), "not asked for: {events:?}");
    let system = rig.request(1)["system"][0]["text"].as_str().unwrap().to_owned();
    let place = |part: &str| system.find(part).unwrap_or_else(|| panic!("{part}: {system}"));
    assert!(system.starts_with("test\n\n# Instructions"));
    assert!(place("be brief") < place("test first") && place("test first") < place("- ship: how"));
    rig.runtime.stop(StopReason::Restart).await;

    rig.options.permissions = Permissions::Allowlist;
    rig.start().await;
    rig.runtime.prompt(ship(2)).await.unwrap();
    let events = rig.until_finished().await;
    let completed = RuntimeEvent::Finished { turn: turn(2), result: TurnResult::Completed };
    assert_eq!(events.last(), Some(&completed));
    assert!(texts(&events).contains("there is no tool named `Skill`"), "{events:?}");
    let system = rig.request(3)["system"][0]["text"].as_str().unwrap().to_owned();
    assert!(system.contains("test first") && !system.contains("# Skills"));
}
