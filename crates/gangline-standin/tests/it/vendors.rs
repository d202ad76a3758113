//! The OpenAI and Gemini wires over a real socket: the loop that a harness runs, refusals, what is
//! recorded.

use serde_json::{Value, json};

use crate::peer::Peer;

/// A client of one vendor: how it says who it is.
async fn send(peer: &Peer, path: &str, key: (&str, &str), body: &Value) -> reqwest::Response {
    let request = peer.http.post(format!("{}{path}", peer.base)).header(key.0, key.1);
    request.body(body.to_string()).send().await.unwrap()
}

const OPENAI: (&str, &str) = ("authorization", "Bearer sk-very-secret");
const GEMINI: (&str, &str) = ("x-goog-api-key", "AIza-very-secret");

async fn object(response: reqwest::Response) -> Value {
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_chat_completions_loop_ends_with_the_output() {
    let peer = Peer::start("", None).await;
    let mut body = json!({
        "model": "m",
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        "messages": [{"role": "user", "content": "run echo hi"}],
    });
    let first = object(send(&peer, "/v1/chat/completions", OPENAI, &body).await).await;
    assert_eq!(first["choices"][0]["finish_reason"], "tool_calls");
    let message = first["choices"][0]["message"].clone();
    let call = message["tool_calls"][0].clone();
    let arguments: Value =
        serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&call["function"]["name"], &arguments["command"]),
        (&json!("bash"), &json!("echo hi"))
    );
    let messages = body["messages"].as_array_mut().unwrap();
    messages
        .extend([message, json!({"role": "tool", "tool_call_id": call["id"], "content": "hi\n"})]);
    let second = object(send(&peer, "/chat/completions", OPENAI, &body).await).await;
    assert_eq!(second["choices"][0]["message"]["content"], "`echo hi` said:\nhi");
    assert_eq!(second["choices"][0]["finish_reason"], "stop");
    assert_ne!(first["id"], second["id"]);
}

#[tokio::test]
async fn a_responses_loop_ends_with_the_output() {
    let peer = Peer::start("", None).await;
    let mut body = json!({
        "model": "m", "stream": true,
        "tools": [{"type": "function", "name": "exec_command"}],
        "input": [{"role": "user", "content": "run echo hi"}],
    });
    let response = send(&peer, "/v1/responses", OPENAI, &body).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
    assert!(response.headers()["x-request-id"].to_str().unwrap().starts_with("req_"));
    let stream = response.text().await.unwrap();
    let last: Value =
        serde_json::from_str(stream.trim_end().rsplit("data: ").next().unwrap()).unwrap();
    let call = last["response"]["output"][0].clone();
    assert_eq!(call["arguments"], r#"{"cmd":"echo hi"}"#);
    let items = body["input"].as_array_mut().unwrap();
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "hi\n"});
    items.extend([call, output]);
    body["stream"] = false.into();
    let second = object(send(&peer, "/v1/responses", OPENAI, &body).await).await;
    assert_eq!(second["output"][0]["content"][0]["text"], "`echo hi` said:\nhi");
}

#[tokio::test]
async fn a_gemini_loop_ends_with_the_output() {
    let peer = Peer::start("", None).await;
    let mut body = json!({
        "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
        "contents": [{"role": "user", "parts": [{"text": "run echo hi"}]}],
    });
    let first = object(send(&peer, "/v1beta/models/m:generateContent", GEMINI, &body).await).await;
    let content = first["candidates"][0]["content"].clone();
    let call = content["parts"][0]["functionCall"].clone();
    assert_eq!(call["args"]["command"], "echo hi");
    body["contents"].as_array_mut().unwrap().extend([
        content,
        json!({"role": "user", "parts": [{"functionResponse": {
            "id": call["id"], "name": call["name"], "response": {"output": "hi\n"}}}]}),
    ]);
    let path = "/v1beta/models/m:streamGenerateContent?alt=sse";
    let response = send(&peer, path, GEMINI, &body).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
    let stream = response.text().await.unwrap();
    assert!(stream.contains("`echo hi` said:"), "{stream}");
    assert!(stream.contains(r#""finishReason":"STOP""#), "{stream}");
    let list =
        object(send(&peer, "/v1beta/models/m:streamGenerateContent", GEMINI, &body).await).await;
    assert_eq!(list.as_array().unwrap().len(), stream.matches("data: ").count());
    let counted = object(send(&peer, "/v1beta/models/m:countTokens", GEMINI, &body).await).await;
    assert!(counted["totalTokens"].as_u64().unwrap() > 50, "{counted}");
}

const FAULTS: &str = r#"
rules:
  - when: {user: key}
    reply: [http_error: {status: 401}]
  - when: {user: limit}
    reply: [http_error: {status: 429, headers: {retry-after: "2"}}]
  - when: {user: overflow}
    reply: [overflow]
  - when: {user: fault}
    reply: [text: half, stream_error: {status: 503}]
"#;

/// The same script on every wire: each vendor's words for it.
#[tokio::test]
async fn one_script_refuses_on_every_wire_in_the_form_of_its_vendor() {
    let peer = Peer::start(FAULTS, None).await;
    let asked = |prompt: &str| {
        let message = json!([{"role": "user", "content": prompt}]);
        [
            ("/v1/chat/completions", OPENAI, json!({"model": "m", "messages": message})),
            ("/v1/responses", OPENAI, json!({"model": "m", "input": message})),
            (
                "/v1beta/models/m:generateContent",
                GEMINI,
                json!({"contents": [{"parts": [{"text": prompt}]}]}),
            ),
        ]
    };
    let mut out = String::new();
    for prompt in ["key", "limit", "overflow", "fault", "nothing fits"] {
        for (path, key, body) in asked(prompt) {
            let response = send(&peer, path, key, &body).await;
            let retry =
                response.headers().get("retry-after").map(|it| it.to_str().unwrap().to_owned());
            let status = response.status().as_u16();
            out.push_str(&format!(
                "{prompt} {path} {status} {retry:?} {}\n",
                response.text().await.unwrap()
            ));
        }
    }
    insta::assert_snapshot!(out);
}

#[tokio::test]
async fn what_is_not_there_is_refused_in_the_form_of_its_vendor() {
    let peer = Peer::start("", None).await;
    let mut out = String::new();
    for (path, key) in [
        ("/v1/embeddings", OPENAI),
        ("/openai/v1/files", GEMINI),
        ("/v1beta/models/m:embedContent", GEMINI),
        ("/v1/nothing", GEMINI),
        ("/v1/nothing", ("anthropic-version", "2023-06-01")),
        ("/v1/models", OPENAI),
    ] {
        let response = send(&peer, path, key, &json!({})).await;
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        out.push_str(&format!("{path} {} {status} {text}\n", key.0));
    }
    insta::assert_snapshot!(out);
}

#[tokio::test]
async fn models_are_listed_as_the_vendor_lists_them() {
    let peer = Peer::start("", None).await;
    let get = async |path: &str, key: (&str, &str)| {
        let request = peer.http.get(format!("{}{path}", peer.base)).header(key.0, key.1);
        object(request.send().await.unwrap()).await
    };
    assert_eq!(get("/v1/models", OPENAI).await["object"], "list");
    assert_eq!(get("/v1/models/gpt-9", OPENAI).await["id"], "gpt-9");
    assert_eq!(get("/v1/models/a", ("x-api-key", "k")).await["type"], "model");
    assert_eq!(get("/v1beta/models", GEMINI).await["models"][0]["name"], "models/stand-in");
}

/// Codex falls back to requests at once for this status, and for no other.
#[tokio::test]
async fn a_web_socket_is_refused_so_that_the_client_asks_by_requests() {
    let peer = Peer::start("", None).await;
    let request = peer
        .http
        .get(format!("{}/v1/responses", peer.base))
        .header("connection", "Upgrade")
        .header("upgrade", "websocket");
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 426);
    assert_eq!(response.headers()["connection"], "close");
    let error = object(response).await;
    assert_eq!(error["error"]["type"], "invalid_request_error");
}

#[tokio::test]
async fn no_key_of_any_vendor_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let peer = Peer::start("", Some(folder.path().to_owned())).await;
    let contents = json!({"contents": [{"parts": [{"text": "hi"}]}]});
    let keys = [OPENAI, GEMINI, ("api-key", "very-secret"), ("x-api-key", "very-secret")];
    for key in keys {
        send(&peer, "/v1/responses", key, &json!({"model": "m", "input": "hi"})).await;
    }
    let path = "/v1beta/models/m:generateContent?key=very-secret&alt=json&access_token=very-secret";
    send(&peer, path, ("x-other", "kept"), &contents).await;
    for number in 1..=5 {
        let text =
            std::fs::read_to_string(folder.path().join(format!("{number:06}.json"))).unwrap();
        assert!(!text.contains("very-secret"), "{text}");
        assert!(text.contains("***"), "{text}");
    }
    let last: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("000005.json")).unwrap()).unwrap();
    assert_eq!(last["path"], "/v1beta/models/m:generateContent?key=***&alt=json&access_token=***");
    assert_eq!(last["headers"]["x-other"], "kept");
}

/// A request that is too large is refused by every vendor in its own form.
#[tokio::test]
async fn a_request_that_is_too_large_is_refused() {
    let peer = Peer::start("", None).await;
    let body = json!("x".repeat(32 * 1024 * 1024));
    for (path, key, field) in [
        ("/v1/chat/completions", OPENAI, "type"),
        ("/v1/responses", OPENAI, "type"),
        ("/v1beta/models/m:generateContent", GEMINI, "status"),
    ] {
        let response = send(&peer, path, key, &body).await;
        assert_eq!(response.status(), 413, "{path}");
        assert!(object(response).await["error"][field].is_string(), "{path}");
    }
}
