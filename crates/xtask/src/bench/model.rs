//! A model that costs nothing: a bare TCP listener that tells when the first byte of a request to
//! `POST /v1/messages` came, and answers with one short text. Or a signal for a program that is played,
//! which answers by itself. Or one that waits in `recv` until somebody is heard.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::shell;

/// What the model says to everything.
pub(super) const ANSWER: &str = "pong";
/// How long a request may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// The listener; its threads end with this process or when their connection does.
pub(super) struct Model {
    pub(super) port: u16,
    arrivals: Receiver<Instant>,
}

impl Model {
    /// Listens on a free port.
    pub(super) fn listen() -> Result<Self> {
        Self::with(|connection, tell| serve(connection, tell, |_| vec![said(ANSWER)]))
    }

    /// Listens on a free port, where each byte is an arrival.
    pub(super) fn signal() -> Result<Self> {
        Self::with(signal)
    }

    /// Listens on a free port: a prompt is answered by a call of `recv` that waits, its result by
    /// [`ANSWER`].
    pub(super) fn receiving() -> Result<Self> {
        Self::with(|connection, tell| serve(connection, tell, receive_or_answer))
    }

    fn with(serve: fn(TcpStream, &Sender<Instant>) -> Result<()>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
        let port = listener.local_addr().context("cannot tell the port")?.port();
        let (tell, arrivals) = mpsc::channel();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let tell = tell.clone();
                std::thread::spawn(move || {
                    if let Err(error) = serve(connection, &tell) {
                        eprintln!("the bench's model: {error:#}");
                    }
                });
            }
        });
        Ok(Self { port, arrivals })
    }

    /// Returns whether a request has come.
    pub(super) fn was_asked(&self) -> bool {
        self.arrivals.try_recv().is_ok()
    }

    /// Waits for the next request and returns when its first byte came.
    pub(super) fn arrival(&self) -> Result<Instant> {
        self.arrivals.recv_timeout(PATIENCE).context("no request reached the model")
    }
}

fn signal(mut connection: TcpStream, tell: &Sender<Instant>) -> Result<()> {
    let mut byte = [0];
    while connection.read(&mut byte).context("cannot read a byte")? > 0 {
        // The measurement may be over.
        let _ = tell.send(shell::now());
    }
    Ok(())
}

/// Returns what the model does, by the request's body: the block of its message.
type Reply = fn(&[u8]) -> Vec<Value>;

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn receive_or_answer(body: &[u8]) -> Vec<Value> {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let last = request["messages"].as_array().and_then(|all| all.last());
    let blocks = last.and_then(|last| last["content"].as_array());
    let is_result = blocks.is_some_and(|all| all.iter().any(|it| it["type"] == "tool_result"));
    if is_result {
        return vec![said(ANSWER)];
    }
    let number = request["messages"].as_array().map_or(0, Vec::len);
    let input = json!({"wait_seconds": 180});
    vec![
        json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": "recv", "input": input}),
    ]
}

fn serve(connection: TcpStream, tell: &Sender<Instant>, reply: Reply) -> Result<()> {
    connection.set_nodelay(true).context("cannot switch off delays")?;
    let mut to = connection.try_clone().context("cannot share the connection")?;
    let mut from = BufReader::new(connection);
    loop {
        if from.fill_buf().context("cannot read a request")?.is_empty() {
            return Ok(());
        }
        let came = shell::now();
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            from.read_line(&mut line).context("cannot read a request")?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().context("a length that is none")?;
            }
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).context("cannot read a request's body")?;
        if !head.starts_with("POST /v1/messages ") {
            bail!("not a request for a message: {head}");
        }
        to.write_all(answer(&reply(&body)).as_bytes()).context("cannot answer")?;
        // The measurement may be over.
        let _ = tell.send(came);
    }
}

/// The response with its stream of events, ready to be written at once.
fn answer(blocks: &[Value]) -> String {
    let calls = blocks.iter().any(|block| block["type"] == "tool_use");
    let stop = if calls { "tool_use" } else { "end_turn" };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let mut events = vec![json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "bench", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    }})];
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = match block["type"].as_str() {
            Some("tool_use") => {
                let json = block["input"].to_string();
                let start = json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}});
                (start, json!({"type": "input_json_delta", "partial_json": json}))
            }
            _ => {
                let start = json!({"type": "text", "text": ""});
                (start, json!({"type": "text_delta", "text": block["text"]}))
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "usage": {"output_tokens": 1},
        "delta": {"stop_reason": stop, "stop_sequence": null}}));
    events.push(json!({"type": "message_stop"}));
    let mut body = String::new();
    for event in &events {
        let kind = event["type"].as_str().unwrap_or_default();
        body.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
    }
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A port where no model listens: idle, an agent never asks.
pub(super) fn nobody() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
    Ok(listener.local_addr().context("cannot tell the port")?.port())
}
