//! The real program with MCP servers: configured ones, and the daemon's own as any client sees it.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use gangline_runtime::{
    Answer, ApprovalReply, McpPlace, McpServer, Permissions, RuntimeEvent, ToolCall, ToolHost,
    ToolServer, ToolSpec,
};
use gangline_testkit::mcp;
use serde_json::json;
use tokio::sync::watch;

use super::rig::{Done, Rig, turn};

const CALLS: &str = r#"
rules:
  - when: {tool_result: '(?s).*'}
    reply: [text: "it said: ${tool_result}"]
  - when: {user: 'echo by (\S+)'}
    reply: [tool_use: {name: mcp__$1__echo, input: {text: hello}}]
  - when: {user: 'env by (\S+)'}
    reply: [tool_use: {name: mcp__$1__env, input: {name: PROBE}}]
  - when: {user: 'fail by (\S+)'}
    reply: [tool_use: {name: mcp__$1__fail, input: {}}]
  - when: {user: 'post by (\S+)'}
    reply: [tool_use: {name: mcp__$1__send, input: {text: hi}}]
  - reply: [text: "you said ${user}"]
"#;

fn unasked(key: &str, place: McpPlace, tools: &[&str]) -> McpServer {
    let allowed_tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
    McpServer { key: key.to_owned(), place, allowed_tools }
}

/// R2-34: the model calls tools of a server over standard streams and of one over HTTP, with the
/// variables and headers that are theirs; those that the entry lists run unasked under `ask`, the
/// others wait for a human.
#[tokio::test]
async fn configured_servers_are_called() {
    let mut rig = Rig::claude(CALLS).await;
    let web = mcp::http();
    let env = BTreeMap::from([("PROBE".to_owned(), "a value".to_owned())]);
    let program = McpPlace::Stdio { command: mcp::stdio(&rig.path("work")), env };
    let headers = BTreeMap::from([("X-Probe".to_owned(), "a header".to_owned())]);
    let address = McpPlace::Http { url: web.url.clone(), headers };
    rig.options.mcp_servers =
        vec![unasked("pipe", program, &["ec*", "env"]), unasked("web", address, &["*"])];
    rig.start().await;

    for (number, text, expect) in [
        (1, "echo by pipe", "it said: echo: hello"),
        (2, "env by pipe", "it said: a value"),
        (3, "echo by web", "it said: echo: hello"),
        (4, "fail by web", "it said: it failed"),
    ] {
        let done = rig.ask(number, text).await;
        assert!(!done.asked(), "{done:?}");
        assert_eq!(done.text(), expect, "{text}");
    }
    rig.say(5, "fail by pipe").await;
    let asked = rig.until(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })).await;
    let Some(RuntimeEvent::ApprovalAsked { ask, .. }) = asked.last() else { panic!() };
    assert_eq!(ask.tool, "mcp__pipe__fail");
    let answer = Answer::Deny { reason: "not today".to_owned() };
    rig.runtime.decide(ApprovalReply { request: ask.request.clone(), answer }).await.unwrap();
    assert!(Done(rig.until_finished().await).text().contains("not today"));

    let called = mcp::calls(&rig.path("work"));
    let names: Vec<_> = called.iter().map(|call| call["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo", "env"], "what was denied was not called");
    assert_eq!(web.calls().len(), 2);
    assert!(web.record().iter().all(|record| record["headers"]["x-probe"] == "a header"));
}

/// R2-34: under `allowlist` a server's listed tools are on the list, and no other tool of it is.
#[tokio::test]
async fn a_servers_list_is_part_of_the_allow_list() {
    let mut rig = Rig::claude(CALLS).await;
    rig.options.permissions = Permissions::Allowlist;
    let program =
        || McpPlace::Stdio { command: mcp::stdio(&rig.path("work")), env: BTreeMap::new() };
    rig.options.mcp_servers = vec![unasked("pipe", program(), &["echo"])];
    rig.start().await;
    assert_eq!(rig.ask(1, "echo by pipe").await.text(), "it said: echo: hello");
    let done = rig.ask(2, "fail by pipe").await;
    assert!(done.text().contains("mcp__pipe__fail is not on this agent's list"), "{done:?}");
}

/// R2-16: the daemon's tools as a server over HTTP, called by the real program.
#[tokio::test]
async fn the_daemons_tools_are_called_over_http() {
    let mut rig = Rig::claude(CALLS).await;
    let (_open, open) = watch::channel(Some(turn(1)));
    let folder = rig.path("t");
    let server = ToolServer::start(rig.options.tools.clone(), open, &folder).unwrap();
    assert_eq!(server.over_http().key, "gangline");
    // Under a key that is not the daemon's own: those come over the program's pipe.
    rig.options.mcp_servers = vec![McpServer { key: "outside".to_owned(), ..server.over_http() }];
    rig.start().await;
    let done = rig.ask(1, "post by outside").await;
    assert_eq!(done.text(), "it said: sent");
    let call = rig.calls.recv().await.unwrap();
    assert_eq!(
        (call.turn, call.name.as_str(), &call.input),
        (turn(1), "send", &json!({"text": "hi"}))
    );
    assert!(call.id.starts_with("toolu"), "the model's own id: {}", call.id);
}

/// The daemon's tools under the older key.
struct Older(Arc<dyn ToolHost>);

#[async_trait]
impl ToolHost for Older {
    fn tools(&self) -> Vec<ToolSpec> {
        self.0.tools()
    }

    fn server_key(&self) -> &'static str {
        "hyperhive"
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        self.0.call(call).await
    }
}

/// C35, R2-18: the daemon's own tools are known by the key that is configured, and by no other.
#[tokio::test]
async fn the_daemons_tools_are_known_by_the_configured_key() {
    let mut rig = Rig::claude(CALLS).await;
    rig.options.tools = Arc::new(Older(rig.options.tools.clone()));
    rig.start().await;
    let done = rig.ask(1, "post by hyperhive").await;
    assert_eq!(done.text(), "it said: sent");
    assert!(!done.asked(), "{done:?}");
    assert_eq!(rig.calls.recv().await.unwrap().name, "send");
    let done = rig.ask(2, "post by gangline").await;
    assert!(done.text().contains("No such tool available"), "{done:?}");
    let (_open, open) = watch::channel(None);
    let server = ToolServer::start(rig.options.tools.clone(), open, &rig.path("t")).unwrap();
    assert_eq!(server.over_http().key, "hyperhive");
}
