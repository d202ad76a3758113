//! The daemon's tools over MCP: the official client over both ways, and what may not come in.

use std::{os::unix::fs::PermissionsExt, sync::Arc, time::Duration};

use gangline_runtime::{Aside, ToolServer, toolserver};
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpStream, UnixStream},
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use self::rig::{GOOD, PATIENCE, Posts, call, rig, status, text, turn};

mod rig;

/// R2-16: the official client lists and calls the daemon's tools over both ways; a refusal of the
/// tool is told as one; each call has an id of its own and the open turn.
#[tokio::test]
async fn the_official_client_calls_over_http_and_over_the_socket() {
    let mut rig = rig();
    for client in [rig.by_http().await, rig.by_socket().await, rig.by_http().await] {
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, ["send", "hold", "panic"]);
        assert_eq!(text(&call(&client, "send", "x").await), ("sent x".to_owned(), false));
        assert_eq!(text(&call(&client, "send", "x").await), ("sent x".to_owned(), false));
        let refused = call(&client, "send", "refuse").await;
        assert_eq!(text(&refused), ("not in this room".to_owned(), true));
        client.cancel().await.unwrap();
    }
    let mut ids = Vec::new();
    for _ in 0..9 {
        let call = rig.next_call().await;
        assert_eq!((call.turn, call.name.as_str()), (turn(7), "send"));
        ids.push(call.id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 9, "{ids:?}");
}

/// R1-17, C9: what the model is told beside a result stands before it, over both ways, also before a
/// refusal; it has arrived once the answer is written, and comes once.
#[tokio::test]
async fn what_the_model_is_told_stands_before_the_next_result() {
    let rig = rig();
    for client in [rig.by_http().await, rig.by_socket().await] {
        for (said, answer) in [("plum", "sent plum"), ("refuse", "not in this room")] {
            let (told, arrived) = oneshot::channel();
            let aside = Aside::new("[SUPERVISOR/CORRECTION] stop".to_owned(), told);
            rig.asides.send(aside).await.unwrap();
            let (first, failed) = text(&call(&client, "send", said).await);
            assert_eq!(first, format!("[SUPERVISOR/CORRECTION] stop\n{answer}"));
            assert_eq!(failed, said == "refuse");
            timeout(PATIENCE, arrived).await.unwrap().unwrap();
            assert_eq!(text(&call(&client, "send", said).await).0, answer, "once");
        }
    }
}

/// R0-13: a call that is sent again in its session has the same id, so the daemon does not act
/// twice.
#[tokio::test]
async fn a_call_that_is_sent_again_has_the_same_id() {
    let mut rig = rig();
    let call = |id: i64| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "send", "arguments": {"text": "x"}}})
    };
    let headers = |session: &str| format!("{GOOD}Mcp-Session-Id: {session}\r\n");
    let mut ids = Vec::new();
    for (session, id) in [("a", 1), ("a", 1), ("a", 2), ("b", 1)] {
        assert_eq!(status(&rig.post(&headers(session), &call(id)).await), "200");
        ids.push(rig.next_call().await.id);
    }
    assert_eq!(ids[0], ids[1]);
    assert!(ids[0] != ids[2] && ids[0] != ids[3] && ids[2] != ids[3], "{ids:?}");
    let nameless = rig.post(GOOD, &call(1)).await;
    assert_eq!(status(&nameless), "400", "no session, so it could not be told from others");
    assert!(nameless.contains("Mcp-Session-Id"));
}

/// A call outside of a turn is refused in words that the model sees.
#[tokio::test]
async fn a_call_outside_of_a_turn_is_refused() {
    let mut rig = rig();
    let (http, socket) = (rig.by_http().await, rig.by_socket().await);
    rig.turn.send_replace(None);
    for client in [&http, &socket] {
        let refused = text(&call(client, "send", "x").await);
        assert_eq!(refused, ("no turn is open here now, so nothing was done".to_owned(), true));
    }
    rig.turn.send_replace(Some(turn(8)));
    call(&http, "send", "y").await;
    let first = rig.next_call().await;
    assert_eq!((first.turn, &first.input["text"]), (turn(8), &json!("y")));
}

/// Without the token, by a rebound name or from another page nobody comes in, whatever is asked.
#[tokio::test]
async fn who_may_not_come_in_is_refused() {
    let mut rig = rig();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "send", "arguments": {"text": "x"}}});
    let kind = "Content-Type: application/json\r\nMcp-Session-Id: s\r\n";
    let ours = "Host: 127.0.0.1:PORT\r\n";
    let bearer = "Authorization: BEARER\r\n";
    for (headers, expect) in [
        (format!("{ours}{bearer}"), "200"),
        (format!("Host: localhost:PORT\r\n{bearer}"), "200"),
        (format!("{ours}{bearer}Origin: http://127.0.0.1:PORT\r\n"), "200"),
        (ours.to_owned(), "401"),
        (format!("{ours}Authorization: Bearer wrong\r\n"), "401"),
        (format!("{ours}Authorization: BEARERx\r\n"), "401"),
        (format!("{ours}{bearer}{bearer}"), "401"),
        (format!("Host: evil.example:PORT\r\n{bearer}"), "403"),
        (format!("Host: 127.0.0.1\r\n{bearer}"), "403"),
        (format!("{ours}{ours}{bearer}"), "403"),
        (bearer.to_owned(), "403"),
        (format!("{ours}{bearer}Origin: http://evil.example\r\n"), "403"),
        (format!("{ours}{bearer}Origin: null\r\n"), "403"),
    ] {
        let answer = rig.post(&format!("{headers}{kind}"), &call).await;
        assert_eq!(status(&answer), expect, "{headers}{answer}");
        if expect == "200" {
            rig.next_call().await;
        }
    }
    assert!(rig.calls.try_recv().is_err(), "what was refused was not called");
    let unauthorised = rig.post(ours, &call).await;
    assert!(unauthorised.to_ascii_lowercase().contains("www-authenticate: bearer"));
}

/// What the protocol over HTTP does not know is refused with the status that clients expect.
#[tokio::test]
async fn what_is_no_message_is_refused() {
    let rig = rig();
    for (first, headers, body, expect) in [
        ("POST /", GOOD, "{}", "404"),
        ("GET /mcp", GOOD, "", "405"),
        ("PUT /mcp", GOOD, "{}", "405"),
        ("DELETE /mcp", GOOD, "", "204"),
        ("POST /mcp", "Host: 127.0.0.1:PORT\r\nAuthorization: BEARER\r\n", "{}", "415"),
        ("POST /mcp", GOOD, "{", "400"),
        ("POST /mcp", GOOD, r#"{"method":"notifications/initialized"}"#, "202"),
        ("POST /mcp", GOOD, r#"{"id":"p","method":"server/discover"}"#, "200"),
    ] {
        let length = body.len();
        let request =
            format!("{first} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        let answer = rig.raw(&request).await;
        assert_eq!(status(&answer), expect, "{first} {body}: {answer}");
    }
    // Who waits for an answer knows it by the id.
    let broken = r#"{"jsonrpc":"2.0","id":"b","method":"tools/list","params": broken"#;
    let length = broken.len();
    let request = format!("POST /mcp HTTP/1.1\r\n{GOOD}Content-Length: {length}\r\n\r\n{broken}");
    let answer = rig.raw(&request).await;
    assert!(status(&answer) == "400" && answer.contains(r#""id":"b""#), "{answer}");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"});
    for (version, message, expect) in [
        ("2025-11-25", &list, "200"),
        ("2024-11-05", &list, "200"),
        ("2026-07-28", &list, "400"),
        ("1999-01-01", &list, "400"),
        ("7", &list, "400"),
        ("2025-11-25\r\nMcp-Protocol-Version: 1999-01-01", &list, "400"),
        ("2026-07-28", &discover, "200"),
    ] {
        let answer = rig.post(&format!("{GOOD}MCP-Protocol-Version: {version}\r\n"), message).await;
        assert_eq!(status(&answer), expect, "{version}: {answer}");
        assert_eq!(answer.contains("these are: 2024-11-05, "), expect == "400", "{answer}");
    }
    let long = format!("{GOOD}Mcp-Session-Id: {}\r\n", "s".repeat(129));
    assert_eq!(status(&rig.post(&long, &json!({})).await), "400");
}

/// A message over the bound is refused unread, over both ways. On the socket it is answered with its
/// own id, wherever that stands, and the socket goes on; a message without one that can be told ends
/// it, since somebody may wait.
#[tokio::test]
async fn a_message_over_the_bound_is_refused() {
    let rig = rig();
    let padded = |bytes: usize| {
        let empty = json!({"id": 1, "method": "ping", "pad": ""}).to_string().len();
        json!({"id": 1, "method": "ping", "pad": "x".repeat(bytes - empty)})
    };
    let fits = padded(toolserver::MESSAGE_MAX);
    assert_eq!(status(&rig.post(GOOD, &fits).await), "200");
    assert_eq!(status(&rig.post(GOOD, &padded(toolserver::MESSAGE_MAX + 1)).await), "413");

    let (input, mut output) = UnixStream::connect(rig.socket()).await.unwrap().into_split();
    let mut lines = BufReader::new(input).lines();
    let mut ask = async |message: &str| -> Value {
        output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    };
    for (first, last) in [("\"id\":31,", ""), ("", ",\"id\":31")] {
        let pad = "x".repeat(toolserver::MESSAGE_MAX);
        let long = format!("{{{first}\"params\":{{\"id\":5,\"text\":\"{pad}\"}}{last}}}");
        let too_long = ask(&long).await;
        assert_eq!((&too_long["error"]["code"], &too_long["id"]), (&json!(-32600), &json!(31)));
    }
    assert_eq!(ask("{nothing").await["error"]["code"], -32700);
    let broken = ask(r#"{"id":32,"method":"tools/list","params": broken"#).await;
    assert_eq!((&broken["error"]["code"], &broken["id"]), (&json!(-32700), &json!(32)));
    assert_eq!(ask(&fits.to_string()).await["result"], json!({}));
    let notification =
        format!("{{\"method\":\"notifications/x\"{}}}", " ".repeat(toolserver::MESSAGE_MAX));
    assert_eq!(ask(&format!("{notification}\n{fits}")).await["result"], json!({}));
    let nameless = ask(&"x".repeat(toolserver::MESSAGE_MAX + 1)).await;
    assert_eq!((&nameless["error"]["code"], &nameless["id"]), (&json!(-32600), &Value::Null));
    assert_eq!(timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap(), None, "it is closed");
}

/// So many calls are under way at once and no more; one that ends makes room.
#[tokio::test]
async fn one_call_too_many_is_refused() {
    let mut rig = rig();
    let client = Arc::new(rig.by_socket().await);
    let mut held = tokio::task::JoinSet::new();
    for _ in 0..toolserver::CALLS_MAX {
        let client = Arc::clone(&client);
        held.spawn(async move { text(&call(&client, "hold", "x").await) });
        rig.next_call().await;
    }
    let (refused, failed) = text(&call(&rig.by_http().await, "send", "x").await);
    assert!(failed && refused.starts_with("too many calls are under way"), "{refused}");
    rig.release.send_replace(true);
    while let Some(done) = held.join_next().await {
        assert_eq!(done.unwrap(), ("sent x".to_owned(), false));
    }
    assert_eq!(text(&call(&client, "send", "y").await).0, "sent y");
}

/// A connection over the bound waits until one ends; nobody is turned away.
#[tokio::test]
async fn one_connection_too_many_waits() {
    let rig = rig();
    let ping = b"{\"id\":1,\"method\":\"ping\"}\n";
    let mut open = Vec::new();
    for _ in 0..toolserver::CONNECTIONS_MAX {
        let mut stream = UnixStream::connect(rig.socket()).await.unwrap();
        stream.write_all(ping).await.unwrap();
        let mut byte = [0];
        timeout(PATIENCE, stream.read_exact(&mut byte)).await.unwrap().unwrap();
        open.push(stream);
    }
    let mut late = UnixStream::connect(rig.socket()).await.unwrap();
    late.write_all(ping).await.unwrap();
    let mut byte = [0];
    let early = timeout(Duration::from_millis(300), late.read_exact(&mut byte)).await;
    assert!(early.is_err(), "it is served beside {} others", open.len());
    open.pop();
    timeout(PATIENCE, late.read_exact(&mut byte)).await.unwrap().unwrap();
}

/// A client that goes away does not stop its call; one that only ends its words gets the answer.
#[tokio::test]
async fn a_call_goes_on_without_its_client() {
    let mut rig = rig();
    let hold = "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}\n";
    let mut leaves = UnixStream::connect(rig.socket()).await.unwrap();
    leaves.write_all(hold.as_bytes()).await.unwrap();
    rig.next_call().await;
    drop(leaves);
    let mut listens = UnixStream::connect(rig.socket()).await.unwrap();
    listens.write_all(hold.as_bytes()).await.unwrap();
    listens.shutdown().await.unwrap();
    rig.next_call().await;
    rig.release.send_replace(true);
    let mut answer = String::new();
    timeout(PATIENCE, listens.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.contains("sent "), "{answer}");
}

/// What is taken back in time is not done and has no answer; what is done is answered. Another
/// client's request of the same id is another one.
#[tokio::test]
async fn a_call_that_is_taken_back_is_not_answered() {
    let mut rig = rig();
    let mut streams = Vec::new();
    for _ in 0..2 {
        let (input, output) = UnixStream::connect(rig.socket()).await.unwrap().into_split();
        streams.push((BufReader::new(input).lines(), output));
    }
    let hold = b"{\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"hold\"}}\n";
    for (_, output) in &mut streams {
        output.write_all(hold).await.unwrap();
        rig.next_call().await;
    }
    let [(mine, my), (theirs, _)] = streams.as_mut_slice() else { panic!() };
    let rest = "{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"b\"}}\n\
        {\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}\n\
        {\"id\":\"b\",\"method\":\"tools/call\",\"params\":{\"name\":\"send\"}}\n";
    my.write_all(rest.as_bytes()).await.unwrap();
    rig.next_call().await;
    let mut next: Vec<Value> = Vec::new();
    for lines in [mine, theirs] {
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        next.push(serde_json::from_str(&line).unwrap());
        rig.release.send_replace(true);
    }
    assert_eq!((&next[0]["id"], &next[1]["id"]), (&json!("b"), &json!("a")));
    my.write_all(b"{\"id\":3,\"method\":\"ping\"}\n").await.unwrap();
    let line = timeout(PATIENCE, streams[0].0.next_line()).await.unwrap().unwrap().unwrap();
    assert!(line.contains("\"id\":3"), "nothing came of the first: {line}");
}

/// A tool that panics is an error of its call, and of no other.
#[tokio::test]
async fn a_tool_that_panics_is_an_error_of_its_call() {
    let rig = rig();
    for client in [rig.by_http().await, rig.by_socket().await] {
        let failed = client.call_tool(CallToolRequestParams::new("panic")).await.unwrap_err();
        assert!(failed.to_string().contains("broke off"), "{failed}");
        assert_eq!(text(&call(&client, "send", "y").await).0, "sent y");
    }
}

/// The socket is the owner's alone, and what dead servers left goes; with the server everything
/// goes.
#[tokio::test]
async fn the_socket_is_private_and_goes_with_the_server() {
    let rig = rig();
    let socket = rig.socket();
    let mode = |path: &str| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&socket), 0o600);
    let folder = rig.folder.path().join("t");
    assert_eq!(mode(folder.to_str().unwrap()), 0o700);
    assert!(rig.server.over_stdio(&[]).is_none());

    let dead = folder.join("mcp-dead0000.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    let (_, open) = watch::channel(None);
    let (sender, _calls) = mpsc::channel(1);
    let host = Arc::new(Posts::quiet(sender));
    let second = ToolServer::start(host, open, &folder).unwrap();
    assert!(!dead.exists());
    assert!(UnixStream::connect(&socket).await.is_ok(), "one that lives stays");
    drop(second);

    let client = rig.by_socket().await;
    let (url, _) = rig.address();
    drop(rig.server);
    assert!(!std::path::Path::new(&socket).exists());
    let ended = timeout(PATIENCE, client.waiting()).await;
    assert!(ended.is_ok(), "its connections are closed");
    let port = url.split([':', '/']).nth(4).unwrap();
    assert!(TcpStream::connect(format!("127.0.0.1:{port}")).await.is_err());
}

/// A folder whose path no socket can have is refused in words.
#[tokio::test]
async fn a_path_that_is_too_long_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("x".repeat(100));
    let (sender, _calls) = mpsc::channel(1);
    let host = Arc::new(Posts::quiet(sender));
    let error = ToolServer::start(host, watch::channel(None).1, &long).unwrap_err();
    assert!(error.to_string().contains("too long for a socket"), "{error}");
}
