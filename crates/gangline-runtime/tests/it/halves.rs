//! Half of a character: a model, or a tool server, that cuts texts by UTF-16 units, as JavaScript does.
//!
//! No string of ours can hold half of a surrogate pair, so the model here writes its JSON by itself.

use std::{collections::BTreeMap, net::SocketAddr};

use gangline_os::{secret::Secret, task::TaskGroup};
use gangline_runtime::{Answer, ApprovalReply, McpPlace, McpServer, RuntimeEvent, TurnResult};
use gangline_testkit::{mcp, programs};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use super::rig::{Done, Rig, turn};

/// A model that answers by the last words that it is sent.
async fn model(tasks: &mut TaskGroup) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tasks.spawn("model", async move {
        let mut connections = TaskGroup::new("model");
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn("connection", async move {
                let _ = serve(stream).await;
            });
        }
    });
    address
}

async fn serve(stream: TcpStream) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = gangline_os::json::from_slice(&body).unwrap_or_default();
    let events = answer(&body);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(format!("{head}{events}").as_bytes()).await?;
    stream.shutdown().await
}

/// What the model says: pieces of a text, or of the arguments of a tool, as JSON writes them.
enum Says {
    Text(&'static [&'static str]),
    Calls(&'static str, &'static str),
}

fn answer(body: &Value) -> String {
    let says = said(body);
    // Ids are met once: two calls of one id would be one call.
    stream(&says, body["messages"].as_array().map_or(0, Vec::len))
}

fn said(body: &Value) -> Says {
    const WORDS: [&str; 4] = ["HALF", "PAIR", "INPUT", "SERVER"];
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let word = |message: &Value| {
        let content = message["content"].to_string();
        let word = WORDS.into_iter().find(|word| content.contains(word));
        word.filter(|_| message["role"] == "user")
    };
    let prompt = messages.iter().enumerate().rev().find_map(|(at, it)| Some((at, word(it)?)));
    let Some((at, word)) = prompt else { return Says::Text(&["a title"]) };
    if messages[at + 1..].iter().any(|it| it["content"].to_string().contains("\"tool_result\"")) {
        return Says::Text(&["after the tool"]);
    }
    match word {
        "HALF" => Says::Text(&[r"cut here \ud83d end"]),
        "PAIR" => Says::Text(&[r"up \ud83d", r"\ude80 and away"]),
        "INPUT" => Says::Calls("Bash", r#"{"command":"echo \\ud83d x","description":"x"}"#),
        _ => Says::Calls("mcp__pipe__echo", r#"{"text":"cut \\ud83d"}"#),
    }
}

fn stream(says: &Says, number: usize) -> String {
    let (begin, pieces, kind, reason) = match says {
        Says::Text(pieces) => {
            let pieces: Vec<String> =
                pieces.iter().map(|it| format!(r#""type":"text_delta","text":"{it}""#)).collect();
            (r#"{"type":"text","text":""}"#.to_owned(), pieces, "text", "end_turn")
        }
        Says::Calls(name, input) => {
            let input = input.replace('"', "\\\"");
            let begin = format!(
                r#"{{"type":"tool_use","id":"toolu_{number}","name":"{name}","input":{{}}}}"#
            );
            let piece = format!(r#""type":"input_json_delta","partial_json":"{input}""#);
            (begin, vec![piece], "tool", "tool_use")
        }
    };
    let mut events = String::new();
    let mut event = |name: &str, rest: &str| {
        events.push_str(&format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n"));
    };
    event(
        "message_start",
        &format!(
            r#","message":{{"id":"msg_{kind}_{number}","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":5,"output_tokens":1}}}}"#
        ),
    );
    event("content_block_start", &format!(r#","index":0,"content_block":{begin}"#));
    for piece in pieces {
        event("content_block_delta", &format!(r#","index":0,"delta":{{{piece}}}"#));
    }
    event("content_block_stop", r#","index":0"#);
    event(
        "message_delta",
        &format!(
            r#","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":5}}"#
        ),
    );
    event("message_stop", "");
    events
}

/// A rig whose model is that one.
async fn rig(backend: &str, command: Vec<String>) -> (Rig, TaskGroup) {
    let mut tasks = TaskGroup::new("halves");
    let mut rig = Rig::of(backend, command);
    let address = model(&mut tasks).await;
    rig.options.base_url = Some(format!("http://{address}"));
    rig.options.api_key = Some(Secret::new("none"));
    rig.options.env.push(("CLAUDE_CODE_MAX_RETRIES".to_owned(), "1".to_owned()));
    (rig, tasks)
}

async fn claude() -> (Rig, TaskGroup) {
    rig("claude", vec![programs::claude().display().to_string()]).await
}

fn completed(done: &Done) {
    let end = done.0.last();
    let completed =
        matches!(end, Some(RuntimeEvent::Finished { result: TurnResult::Completed, .. }));
    assert!(completed, "{done:#?}");
}

/// R0-18: the model of the native loop.
#[tokio::test]
async fn a_half_costs_the_native_loop_nothing_but_itself() {
    let (mut rig, _tasks) = rig("native", Vec::new()).await;
    rig.options.command = None;
    rig.options.model = Some("m".to_owned());
    rig.start().await;
    assert_eq!(rig.ask(1, "HALF").await.text(), "cut here \u{fffd} end");
    assert_eq!(rig.ask(2, "PAIR").await.text(), "up \u{1f680} and away");
}

/// R0-18: the real Claude Code passes halves on as escapes: in a text, in the arguments of a tool that
/// somebody is asked about, and in what a tool returned, which it tells a hook.
#[tokio::test]
async fn a_half_in_claude_code_is_answered_and_asked_about() {
    let (mut rig, _tasks) = claude().await;
    let command = mcp::stdio(&rig.path("work"));
    rig.options.mcp_servers = vec![McpServer {
        key: "pipe".to_owned(),
        place: McpPlace::Stdio { command, env: BTreeMap::new() },
        allowed_tools: vec!["*".to_owned()],
    }];
    rig.start().await;
    assert_eq!(rig.ask(1, "HALF").await.text(), "cut here \u{fffd} end");
    assert_eq!(rig.ask(2, "PAIR").await.text(), "up \u{1f680} and away");

    rig.say(3, "INPUT").await;
    let seen = rig.until(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })).await;
    let Some(RuntimeEvent::ApprovalAsked { turn: of, ask }) = seen.last() else { unreachable!() };
    assert_eq!(*of, turn(3));
    assert_eq!(ask.input["command"], "echo \u{fffd} x");
    let answer = Answer::Deny { reason: "a person refused this".to_owned() };
    rig.runtime.decide(ApprovalReply { request: ask.request.clone(), answer }).await.unwrap();
    completed(&rig.done().await);

    let done = rig.ask(4, "SERVER").await;
    completed(&done);
    assert_eq!(done.text(), "after the tool");
    // With half a character in it, the record is no JSON for a strict reader.
    let record = std::fs::read_to_string(rig.path("work").join("mcp-record.jsonl")).unwrap();
    let calls: Vec<&str> = record.lines().filter(|line| line.contains("tools/call")).collect();
    assert!(calls.len() == 1 && calls[0].contains(r"cut \ud83d"), "{calls:?}");
}
