//! The wires of the programs that are played: how each greets, takes a prompt, and says texts, calls
//! of tools and their results. No more of them than an adapter and its anchor need.

use serde_json::{Value, json};

/// The session that every program has.
const SESSION: &str = "s-1";
/// The prompt's id where nobody else gives it one.
pub(super) const UUID: &str = "00000000-0000-4000-8000-000000000001";

/// One program's way to talk.
#[derive(Clone, Copy)]
pub(super) enum Wire {
    Claude,
    Codex,
    Acp,
}

/// What a line to the program asks for.
pub(super) enum Heard {
    Nothing,
    Answer(Value),
    Prompt(Turn),
}

/// A prompt, and what is written around what it makes.
pub(super) struct Turn {
    pub(super) name: String,
    pub(super) begin: Vec<Value>,
    pub(super) end: Vec<Value>,
}

/// What one piece of a turn is.
#[derive(Clone, Copy)]
pub(super) enum Piece {
    Text,
    Call,
    Result,
}

/// What a line of the program is for the anchor.
#[derive(PartialEq, Eq)]
pub(super) enum Line {
    Piece,
    End,
    Other,
}

impl Wire {
    /// Returns the wire of the backend with this name.
    pub(super) fn of(backend: &str) -> Option<Self> {
        match backend {
            "claude" => Some(Self::Claude),
            "codex" => Some(Self::Codex),
            "acp" => Some(Self::Acp),
            _ => None,
        }
    }

    /// Returns that name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Acp => "acp",
        }
    }

    /// Returns what the program says to `--version`.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Claude => "2.1.330 (Claude Code)",
            Self::Codex => "codex-cli 0.169.0",
            Self::Acp => "1.0.0",
        }
    }

    /// Returns what the anchor writes: each but the last is answered by one line, the last is a
    /// prompt.
    pub(super) fn requests(self) -> Vec<Value> {
        match self {
            Self::Claude => vec![
                json!({"type": "control_request", "request_id": "r-1"}),
                json!({"type": "user", "uuid": UUID}),
            ],
            Self::Codex => vec![
                json!({"id": 1, "method": "initialize"}),
                json!({"id": 2, "method": "thread/start"}),
                json!({"id": 3, "method": "turn/start", "params": {"clientUserMessageId": UUID}}),
            ],
            Self::Acp => vec![
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}),
                json!({"jsonrpc": "2.0", "id": 2, "method": "session/new"}),
                json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt"}),
            ],
        }
    }

    /// Takes one line as the program.
    pub(super) fn hear(self, message: &Value) -> Heard {
        match self {
            Self::Claude => claude(message),
            Self::Codex => codex(message),
            Self::Acp => acp(message),
        }
    }

    /// Returns one piece of a turn. A result has the id of its call.
    pub(super) fn piece(self, piece: Piece, turn: &str, id: &str, text: &str) -> Value {
        match self {
            Self::Claude => claude_piece(piece, id, text),
            Self::Codex => codex_piece(piece, turn, id, text),
            Self::Acp => acp_piece(piece, id, text),
        }
    }

    /// Says what a line of the program is.
    pub(super) fn read(self, line: &Value) -> Line {
        let method = line["method"].as_str();
        match self {
            Self::Claude => match line["type"].as_str() {
                Some("assistant" | "user") => Line::Piece,
                Some("result") => Line::End,
                _ => Line::Other,
            },
            Self::Codex => match method {
                Some("item/started" | "item/completed")
                    if line["params"]["item"]["type"] != "userMessage" =>
                {
                    Line::Piece
                }
                Some("turn/completed") => Line::End,
                _ => Line::Other,
            },
            Self::Acp if method == Some("session/update") => Line::Piece,
            Self::Acp if line["result"]["stopReason"].is_string() => Line::End,
            Self::Acp => Line::Other,
        }
    }
}

fn claude(message: &Value) -> Heard {
    match (message["type"].as_str(), message["uuid"].as_str()) {
        (Some("control_request"), _) => {
            let response =
                json!({"subtype": "success", "request_id": message["request_id"], "response": {}});
            Heard::Answer(json!({"type": "control_response", "response": response}))
        }
        (Some("user"), Some(uuid)) => Heard::Prompt(Turn {
            name: uuid.to_owned(),
            begin: vec![
                json!({"type": "command_lifecycle", "command_uuid": uuid, "state": "started"}),
            ],
            end: vec![
                json!({"type": "result", "subtype": "success", "is_error": false, "result": "x",
                    "user_message_uuids": [uuid]}),
            ],
        }),
        _ => Heard::Nothing,
    }
}

fn claude_piece(piece: Piece, id: &str, text: &str) -> Value {
    let block = match piece {
        Piece::Text => json!({"type": "text", "text": text}),
        Piece::Call => json!({"type": "tool_use", "id": id, "name": "Write",
            "input": {"file_path": "/src/a.rs", "content": text}}),
        Piece::Result => {
            return json!({"type": "user", "message": {"role": "user", "content": [
                {"tool_use_id": id, "type": "tool_result", "content": text}]},
                "parent_tool_use_id": null, "session_id": SESSION});
        }
    };
    json!({"type": "assistant", "message": {"model": "m", "id": "msg_1", "role": "assistant",
        "content": [block], "usage": {"input_tokens": 5, "output_tokens": 7}},
        "parent_tool_use_id": null, "session_id": SESSION, "uuid": UUID})
}

fn codex(message: &Value) -> Heard {
    let (id, params) = (&message["id"], &message["params"]);
    let result = match message["method"].as_str() {
        Some("thread/start" | "thread/resume") => {
            json!({"thread": {"id": SESSION}, "model": "m"})
        }
        Some("turn/start") => return Heard::Prompt(codex_turn(id, params)),
        Some(_) if !id.is_null() => json!({}),
        _ => return Heard::Nothing,
    };
    Heard::Answer(json!({"id": id, "result": result}))
}

fn codex_turn(id: &Value, params: &Value) -> Turn {
    let name = params["clientUserMessageId"].as_str().unwrap_or_default();
    let turn = |status| json!({"id": name, "items": [], "status": status, "error": null});
    let told = |method, status| json!({"method": method, "params": {"threadId": SESSION, "turn": turn(status)}});
    let prompt =
        json!({"type": "userMessage", "id": "x", "clientId": name, "content": params["input"]});
    Turn {
        name: name.to_owned(),
        begin: vec![
            json!({"id": id, "result": {"turn": turn("inProgress")}}),
            told("turn/started", "inProgress"),
            codex_item("completed", name, &prompt),
        ],
        end: vec![told("turn/completed", "completed")],
    }
}

fn codex_item(state: &str, turn: &str, item: &Value) -> Value {
    let params = json!({"threadId": SESSION, "turnId": turn, "item": item});
    json!({"method": format!("item/{state}"), "params": params})
}

fn codex_piece(piece: Piece, turn: &str, id: &str, text: &str) -> Value {
    let command = |command: &str, status: &str, output: Option<&str>| {
        json!({"type": "commandExecution", "id": id, "command": command, "status": status,
            "aggregatedOutput": output, "exitCode": output.map(|_| 0)})
    };
    let (state, item) = match piece {
        Piece::Text => ("completed", json!({"type": "agentMessage", "id": id, "text": text})),
        Piece::Call => ("started", command(text, "inProgress", None)),
        Piece::Result => ("completed", command("make", "completed", Some(text))),
    };
    codex_item(state, turn, &item)
}

fn acp(message: &Value) -> Heard {
    let id = &message["id"];
    let answer = |result| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": 1,
            "agentCapabilities": {"mcpCapabilities": {"http": true}}, "authMethods": []}),
        Some("session/new") => json!({"sessionId": SESSION}),
        Some("session/prompt") => {
            return Heard::Prompt(Turn {
                name: String::new(),
                begin: Vec::new(),
                end: vec![answer(json!({"stopReason": "end_turn"}))],
            });
        }
        Some(_) if !id.is_null() => json!({}),
        _ => return Heard::Nothing,
    };
    Heard::Answer(answer(result))
}

fn acp_piece(piece: Piece, id: &str, text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    let update = match piece {
        Piece::Text => {
            json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": content})
        }
        Piece::Call => json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Write",
            "kind": "edit", "status": "pending", "rawInput": {"path": "/src/a.rs", "content": text}}),
        Piece::Result => json!({"sessionUpdate": "tool_call_update", "toolCallId": id,
            "status": "completed", "content": [{"type": "content", "content": content}]}),
    };
    json!({"jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": SESSION, "update": update}})
}
