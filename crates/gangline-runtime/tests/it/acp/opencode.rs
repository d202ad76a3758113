//! The real OpenCode.

use gangline_runtime::{
    Answer, FailureKind, McpPlace, McpServer, RuntimeEvent, SessionFilter, StopReason, TurnResult,
    folder,
};
use gangline_testkit::programs;

use super::rig::{self, Rig, kill, no};

const SCRIPT: &str = r#"
rules:
  - when: {system: 'title generator'}
    reply: [text: "a title"]
  - when: {user: '^run (.+)'}
    reply: [text: "on it", tool_use: {name: bash, input: {command: "$1", description: "x"}}]
  - when: {user: '^read'}
    reply: [tool_use: {name: read, input: {filePath: "notes.txt"}}]
  - when: {user: '^post (.+)'}
    reply: [tool_use: {name: send, input: {text: "$1"}}]
  - when: {user: '^echo (.+)'}
    reply: [tool_use: {name: mine_echo, input: {text: "$1"}}]
  - when: {user: '^slow'}
    reply: [text: "begun ", delay_ms: 60000, text: "ended"]
  - when: {user: '^think'}
    reply: [thinking: "hmm", text: "thought"]
  - when: {user: '^e401'}
    reply: [http_error: {status: 401, message: "Unauthorized key"}]
  - when: {user: '^e429'}
    reply: [http_error: {status: 429, message: "Rate limit exceeded", headers: {retry-after: "1"}}]
  - when: {user: '^too long'}
    reply: [overflow]
  - when: {user: '^e400'}
    reply: [http_error: {status: 400, message: "bad thing"}]
  - when: {tool_result: '(?s)(.*)'}
    reply: [text: "result: $1"]
  - when: {user: 'refused: (.+?)\.'}
    reply: [text: "I was told: $1"]
  - reply: [text: "you said ${user} (turn ${turn})"]
"#;

async fn opencode() -> Rig {
    let mut rig = rig::real("opencode", &programs::opencode(), SCRIPT).await;
    rig.options.extra.insert("models".to_owned(), serde_json::json!(["second"]));
    rig
}

/// An owner has allowed what lies in the folder now.
fn trusts_its_folder(rig: &mut Rig) {
    let home = rig.path("home");
    let found = folder::scan(&rig.path("work"), Some(&home), &folder::programs::OPENCODE);
    let (hash, copies) = (found.hash(), rig.path("copies"));
    rig.options.trusted = Some(folder::Trusted { hash, copies });
}

/// R0-02 … R0-08, R0-13 … R0-18, C5: one session of the real program: an answer, tools allowed, refused and
/// unasked, the daemon's own tool, thoughts, tokens, an interrupt, another model, an empty session.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
async fn a_session_of_the_real_program() {
    let mut rig = opencode().await;
    // What a project says about permissions does not count.
    let project = r#"{"permission":{"bash":"allow","edit":{"*":"allow"}},
        "agent":{"build":{"permission":{"bash":"allow"}}}}"#;
    std::fs::write(rig.path("work").join("opencode.json"), project).unwrap();
    trusts_its_folder(&mut rig);
    let (first, notices) = rig.opened().await;
    assert_eq!(notices, [""; 0]);
    let done = rig.ask(1, "hello").await;
    assert_eq!(done.text(), "you said hello (turn 1)");
    assert!(done.accepted() && *done.result() == TurnResult::Completed, "{done:#?}");
    assert!(
        done.usage()[0].input_tokens > 0 && done.usage()[0].context_tokens.is_some(),
        "{done:#?}"
    );

    let (done, asks) = rig.decided(2, "run echo hi > made; echo out", Answer::Allow).await;
    assert_eq!(asks.len(), 1, "{done:#?}");
    assert_eq!(asks[0].tool, "Bash");
    assert_eq!(asks[0].input["command"], "echo hi > made; echo out");
    assert_eq!(done.wanted()[0].0, "Bash");
    assert_eq!(done.results(), [("Bash".to_owned(), false, "out\n".to_owned())]);
    assert_eq!(done.text(), "on it\nresult: out\n");
    assert!(rig.path("work").join("made").exists());

    let (done, _) = rig.decided(3, "run touch never", no()).await;
    assert!(!rig.path("work").join("never").exists());
    assert!(done.text().ends_with("I was told: a person refused this"), "{done:#?}");
    assert_eq!(*done.result(), TurnResult::Completed);

    let (done, asks) = rig.decided(4, "read", no()).await;
    assert!(asks.is_empty() && done.text().contains("hello"), "{done:#?}");
    let (done, asks) = rig.decided(5, "post words", no()).await;
    assert!(asks.is_empty() && done.text() == "result: sent", "{done:#?}");
    let call = rig.calls.recv().await.unwrap();
    assert_eq!((call.turn, call.name.as_str()), (rig::turn(5), "send"));
    assert_eq!(done.wanted()[0].0, "send");
    let done = rig.ask(6, "think").await;
    assert!(format!("{done:?}").contains("thinking: \"hmm\""), "{done:#?}");

    rig.say(7, "slow").await;
    rig.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    rig.runtime.interrupt().await.unwrap();
    let rest = rig.until_finished().await;
    let end = RuntimeEvent::Finished { turn: rig::turn(7), result: TurnResult::Interrupted };
    assert_eq!(rest.last(), Some(&end), "{rest:#?}");
    rig.say(8, "run touch never").await;
    rig.until(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })).await;
    rig.runtime.interrupt().await.unwrap();
    let rest = rig.until_finished().await;
    let end = RuntimeEvent::Finished { turn: rig::turn(8), result: TurnResult::Interrupted };
    assert_eq!(rest.last(), Some(&end), "{rest:#?}");

    assert!(!rig.models_asked().contains("second"));
    rig.runtime.set_model("lab/second").await.unwrap();
    let done = rig.ask(9, "which").await;
    assert_eq!(done.notices(), [""; 0]);
    assert!(rig.models_asked().contains("second"), "{:?}", rig.models_asked());

    rig.runtime.clear().await.unwrap();
    let done = rig.ask(10, "fresh").await;
    assert_eq!(done.text(), "you said fresh (turn 1)");
    let new = done.0.iter().find_map(|event| match event {
        RuntimeEvent::Session { session } => Some(session.clone()),
        _ => None,
    });
    assert!(new.is_some_and(|new| new != first));
    rig.runtime.stop(StopReason::Shutdown).await;
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: 0 }));
    assert_eq!(rig.processes(), [""; 0]);
}

/// R0-16, R0-20, R0-21, C7: killed in mid-turn, it goes on with the same session; the kept
/// sessions are listed; what the provider refuses is told.
#[tokio::test]
async fn a_killed_session_is_gone_on_with() {
    let mut rig = opencode().await;
    let (first, notices) = rig.opened().await;
    assert_eq!(notices, [""; 0]);
    rig.ask(1, "remember this").await;
    rig.say(2, "slow").await;
    rig.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    kill(rig.pid.unwrap());
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert_eq!(rig.processes(), [""; 0]);

    rig.options.resume = Some(first.clone());
    assert_eq!(rig.opened().await, (first.clone(), Vec::new()));
    let done = rig.ask(3, "again").await;
    assert!(done.text().starts_with("you said again (turn "), "{done:#?}");
    assert!(rig.requests().iter().any(|it| it.contains("again") && it.contains("remember this")));
    let done = rig.ask(4, "e401").await;
    assert!(matches!(done.result(), TurnResult::NeedsLogin { .. }), "{done:#?}");
    let done = rig.ask(5, "e400").await;
    let failed = matches!(
        done.result(),
        TurnResult::Failed { kind: FailureKind::Provider, why } if why.contains("bad thing")
    );
    assert!(failed, "{done:#?}");
    let done = rig.ask(6, "e429").await;
    assert!(matches!(done.result(), TurnResult::RateLimited { .. }), "{done:#?}");
    rig.runtime.compact().await.unwrap();
    let ends = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Compacted { .. });
    let seen = rig.until(ends).await;
    assert_eq!(seen, [RuntimeEvent::Compacting, RuntimeEvent::Compacted { failed: None }]);
    let done = rig.ask(7, "still there").await;
    assert!(done.text().starts_with("you said still there"), "{done:#?}");
    let done = rig.ask(8, "too long").await;
    // R2-07: it does not shorten the conversation by itself, so the daemon can.
    let overflow = matches!(
        done.result(),
        TurnResult::Failed { kind: FailureKind::ContextOverflow, why } if why.contains("maximum context")
    );
    assert!(overflow, "{done:#?}");
    rig.runtime.stop(StopReason::Restart).await;
    rig.rest().await;

    let filter = SessionFilter { workdir: Some(rig.path("work")), limit: 9 };
    let kept = rig.runtime.list_sessions(&rig.options, &filter).await.unwrap();
    assert_eq!(kept.iter().map(|it| it.session.clone()).collect::<Vec<_>>(), [Some(first)]);
    assert_eq!(rig.processes(), [""; 0]);
}

/// A tool server over stdio: answers `echo`.
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
    text: `echo ${params.arguments.text}` }] };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});
"#;

/// C5, R2-34: a server's tool is asked about, whatever the project's settings say of it.
#[tokio::test]
async fn a_tool_of_a_server_is_asked_about() {
    let mut rig = opencode().await;
    let project = r#"{"permission":{"mine_*":"allow","mine_echo":"allow"}}"#;
    std::fs::write(rig.path("work").join("opencode.json"), project).unwrap();
    trusts_its_folder(&mut rig);
    let script = rig.path("server.js");
    std::fs::write(&script, SERVER).unwrap();
    let command = vec!["node".to_owned(), script.display().to_string()];
    rig.options.mcp_servers.push(McpServer {
        key: "mine".to_owned(),
        place: McpPlace::Stdio { command, env: Default::default() },
        allowed_tools: Vec::new(),
    });
    rig.opened().await;
    let (done, asks) = rig.decided(1, "echo plum", Answer::Allow).await;
    let asked: Vec<&str> = asks.iter().map(|ask| ask.tool.as_str()).collect();
    assert_eq!(asked, ["mcp__mine__echo"], "{done:#?}");
    assert_eq!(done.text(), "result: echo plum");
    rig.runtime.stop(StopReason::Shutdown).await;
}
