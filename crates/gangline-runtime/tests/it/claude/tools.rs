//! The real program: who decides about tools, and the daemon's own tools.

use gangline_runtime::{
    Answer, ApprovalAsk, ApprovalReply, Block, Permissions, RuntimeEvent, TurnResult,
};

use super::rig::{Done, Rig, turn};

/// Each request is one call of a tool, named with its arguments.
const TOOLS: &str = r#"
rules:
  - when: {tool_result: '(?s).*'}
    reply: [text: "it said: ${tool_result}"]
  - when: {user: 'bash (.+)'}
    reply: [tool_use: {name: Bash, input: {command: "$1", description: "x"}}]
  - when: {user: 'write (\S+)'}
    reply: [tool_use: {name: Write, input: {file_path: "$1", content: "written"}}]
  - when: {user: 'read (\S+)'}
    reply: [tool_use: {name: Read, input: {file_path: "$1"}}]
  - when: {user: 'fetch (\S+)'}
    reply: [tool_use: {name: WebFetch, input: {url: "$1", prompt: "x"}}]
  - when: {user: 'post (.+)'}
    reply:
      - text: "posting"
      - tool_use: {name: mcp__gangline__send, input: {text: "$1"}}
  - when: {user: 'delegate'}
    reply: [tool_use: {name: Agent, input: {description: d, prompt: "inner words", subagent_type: general-purpose}}]
  - when: {user: 'ask me'}
    reply: [tool_use: {name: AskUserQuestion, input: {questions: []}}]
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
        other => panic!("not asked but {other:?}"),
    }
}

/// C5: under `ask` each shell command waits for its reply, even one that the program itself
/// takes for harmless; a denial reaches the model; what only looks is not asked about; the program
/// asks nobody by a tool of its own.
#[tokio::test]
async fn a_shell_command_waits_for_its_approval() {
    let mut rig = Rig::claude(TOOLS).await;
    rig.start().await;
    let file = rig.path("work").join("made");

    let ask = asked(&mut rig, 1, "bash touch made").await;
    assert_eq!((ask.tool.as_str(), &ask.input["command"]), ("Bash", &"touch made".into()));
    assert!(!file.exists());
    rig.runtime
        .decide(ApprovalReply { request: ask.request, answer: Answer::Allow })
        .await
        .unwrap();
    let done = Done(rig.until_finished().await);
    assert!(file.exists());
    let ran: Vec<(&str, bool)> = done
        .0
        .iter()
        .filter_map(|event| match event {
            RuntimeEvent::ToolResult { name, is_error, .. } => Some((name.as_str(), *is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(ran, [("Bash", false)]);

    let ask = asked(&mut rig, 2, "bash echo harmless").await;
    let answer = Answer::Deny { reason: "not on a Sunday".to_owned() };
    rig.runtime.decide(ApprovalReply { request: ask.request.clone(), answer }).await.unwrap();
    let done = Done(rig.until_finished().await);
    assert!(done.text().contains("not on a Sunday"), "{done:?}");
    assert_eq!(done.result(), &TurnResult::Completed);
    // Too late and twice: nobody waits for it.
    rig.runtime
        .decide(ApprovalReply { request: ask.request, answer: Answer::Allow })
        .await
        .unwrap();

    let notes = rig.path("work").join("notes.txt").display().to_string();
    let done = rig.ask(3, &format!("read {notes}")).await;
    assert!(done.text().contains("hello") && !done.asked(), "{done:?}");
    let done = rig.ask(4, "ask me").await;
    assert!(done.text().contains("No such tool available") && !done.asked(), "{done:?}");
}

/// R2-42: under `allowlist` the built-in tools run, the rest is denied without asking, whatever the
/// settings of the user or the project say.
#[tokio::test]
async fn what_is_not_on_the_list_is_denied() {
    let mut rig = Rig::claude(TOOLS).await;
    rig.options.permissions = Permissions::Allowlist;
    let settings = rig.path("work").join(".claude");
    std::fs::create_dir(&settings).unwrap();
    let allowing = r#"{"disableAllHooks": true, "permissions": {"allow": ["WebFetch"]}}"#;
    std::fs::write(settings.join("settings.json"), allowing).unwrap();
    rig.start().await;
    let file = rig.path("work").join("made").display().to_string();
    let done = rig.ask(1, &format!("write {file}")).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "written", "{done:?}");
    let done = rig.ask(2, "fetch http://127.0.0.1:9/").await;
    assert!(done.text().contains("not on this agent's list") && !done.asked(), "{done:?}");
    let done = rig.ask(3, "delegate").await;
    assert!(done.text().contains("not on this agent's list"), "{done:?}");
    assert_eq!(rig.requests().len(), 6, "the subagent asked the model");
}

/// R2-42: the agent's own list takes the place of the built-in one.
#[tokio::test]
async fn an_own_list_takes_the_place_of_the_default() {
    let mut rig = Rig::claude(TOOLS).await;
    rig.options.permissions = Permissions::Allowlist;
    rig.options.allowed_tools = vec!["Read".to_owned()];
    rig.start().await;
    let done = rig.ask(1, "bash echo harmless").await;
    assert!(done.text().contains("Bash is not on this agent's list"), "{done:?}");
}

/// C5, R1-04: `bypass` allows everything, as root too; the program is not told to skip its checks.
/// The words of a subagent are not the agent's.
#[tokio::test]
async fn bypass_asks_nobody() {
    let mut rig = Rig::claude(TOOLS).await;
    rig.options.permissions = Permissions::Bypass;
    rig.start().await;
    let done = rig.ask(1, "bash touch made; id -u").await;
    assert!(rig.path("work").join("made").exists() && !done.asked(), "{done:?}");
    let line = rig.processes().into_iter().find(|line| line.contains("--print")).unwrap();
    assert!(!line.contains("skip-permissions") && !line.contains("bypass"), "{line}");

    let done = rig.ask(2, "delegate").await;
    assert!(rig.requests().iter().any(|body| body.contains("inner words")));
    assert!(done.text().starts_with("it said: "), "{done:?}");
    let mut lines = done.text().lines().map(str::to_owned).collect::<Vec<_>>();
    lines.retain(|line| line == "you said inner words");
    assert_eq!(lines, [""; 0], "the subagent's words came as the agent's: {done:?}");
}

/// R2-41: the daemon's tools are called over the program's own pipe, with turn and call id, by
/// their plain names and without approval; their refusals reach the model.
#[tokio::test]
async fn a_tool_of_the_daemon_is_called_with_its_turn() {
    let mut rig = Rig::claude(TOOLS).await;
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
    let result = done.0.iter().find(|event| matches!(event, RuntimeEvent::ToolResult { .. }));
    let expected = RuntimeEvent::ToolResult {
        turn: turn(7),
        id: call.id,
        name: "send".to_owned(),
        is_error: false,
        content: "sent".to_owned(),
    };
    assert_eq!(result, Some(&expected));

    let done = rig.ask(8, "post refuse").await;
    assert!(done.text().contains("not in this room"), "{done:?}");
}
