//! Answers over HTTP that cannot be read as they are: half characters, bytes that are no text, and
//! what is no message.

use super::web::Web;
use super::*;

fn said(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

async fn connected(web: &Web) -> McpServers {
    let url = format!("http://127.0.0.1:{}/mcp", web.port);
    connect(vec![at("web", &url, BTreeMap::new())]).await
}

#[tokio::test]
async fn half_a_character_in_an_answer_over_http_is_replaced() {
    let web = Web::start().await;
    let servers = connected(&web).await;
    for way in ["json", "sse"] {
        let tool = tool(&servers, way);
        assert_eq!(tool.ok(&said(r"cut \ud83d")).await, "cut \u{fffd}", "{way}");
        assert_eq!(tool.ok(&said(r"\ud83d\ude80 whole")).await, "\u{1f680} whole", "{way}");
        assert_eq!(tool.ok(&said("cut ~")).await, "cut \u{fffd}", "{way}");
    }
    servers.stop().await;
}

/// The call fails at once, with a reason, and the connection stays for the others.
#[tokio::test]
async fn an_answer_over_http_that_cannot_be_read_fails_its_call_alone() {
    let web = Web::start().await;
    let servers = connected(&web).await;
    for (way, text) in [
        ("json", r#"{"jsonrpc":"2.0","id":ID,"result":{"content": broken"#),
        ("json", "no message"),
        ("json", ""),
        ("sse", r#"{"jsonrpc":"2.0","id":ID,"result":{"content": broken"#),
        ("sse", "no message"),
        ("sse", r#"{"jsonrpc":"2.0","result":{"content":[]}}"#),
        ("lines", "data: no message\n\nid: 1\nstrange\n\n"),
    ] {
        let error = tool(&servers, way).err(text).await;
        assert!(error.contains("refused the call: the answer cannot be read"), "{text}: {error}");
    }
    // An error that names no request is the answer all the same.
    for (way, prefix) in [("json", ""), ("sse", ""), ("lines", "data: "), ("refuse", "")] {
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not so"}}"#;
        let text = tool(&servers, way).err(&format!("{prefix}{error}\n\n")).await;
        assert!(text.ends_with("refused the call: not so"), "{way}: {text}");
    }
    // Nothing that the server sends beside the answer takes it away.
    let lines = [
        ": a remark",
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\": \"\\ud83d",
        "",
        "strange: field",
        "no field",
        "",
    ];
    let text = format!("{}\ndata: {}\n\n", lines.join("\n"), said("all is well"));
    assert_eq!(tool(&servers, "lines").ok(&text).await, "all is well");
    servers.stop().await;
}
