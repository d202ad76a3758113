//! What culture's clients write, and what they show of a refusal.

use gangline_api::ipc::{
    ASK_SECONDS, ASK_SECONDS_MAX, Command, Form, Frame, IfAbsent, Lines, READ_LIMIT,
    READ_LIMIT_MAX, Refused, Request, RequestError, Response,
};
use gangline_core::question::OnTimeout;

use super::{UUID, id, text};

/// R0-49, R0-54, C8, C34: lines as culture's clients write them, with Python's spaces or without.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn what_cultures_clients_send_is_read() {
    let target = || "#general".parse().unwrap();
    let asking = |timeout, on_timeout| Command::Ask {
        channel: target(),
        message: "ok?".into(),
        timeout,
        on_timeout,
    };
    let ask = |timeout| asking(timeout, OnTimeout::None);
    let cases = [
        (
            r##"{"type":"irc_send","id":"ID","channel":"#general","message":"hello"}"##,
            Command::Send {
                channel: target(),
                message: "hello".into(),
                absent: IfAbsent::Send,
                in_reply_to: None,
            },
        ),
        (
            r##"{"type": "irc_read", "id": "ID", "channel": "#general", "limit": 50}"##,
            Command::Read { channel: target(), limit: 50, lines: Lines::Unread, own: false },
        ),
        (
            r##"{"type": "irc_read", "id": "ID", "channel": "DM:eve", "limit": 50}"##,
            Command::Read {
                channel: "eve".parse().unwrap(),
                limit: 50,
                lines: Lines::Unread,
                own: false,
            },
        ),
        (
            r##"{"type":"irc_read","id":"ID","channel":"#general"}"##,
            Command::Read {
                channel: target(),
                limit: READ_LIMIT,
                lines: Lines::Unread,
                own: false,
            },
        ),
        (
            r##"{"type":"irc_read","id":"ID","channel":"#general","limit":"5"}"##,
            Command::Read { channel: target(), limit: 5, lines: Lines::Unread, own: false },
        ),
        (
            r##"{"type":"irc_read","id":"ID","channel":"#general","limit":-1}"##,
            Command::Read { channel: target(), limit: 0, lines: Lines::Unread, own: false },
        ),
        (
            r##"{"type":"irc_read","id":"ID","channel":"#general","latest":true,"peek":true}"##,
            Command::Read { channel: target(), limit: READ_LIMIT, lines: Lines::Peek, own: false },
        ),
        (
            r##"{"type":"irc_read","id":"ID","channel":"#general","limit":501}"##,
            Command::Read {
                channel: target(),
                limit: READ_LIMIT_MAX,
                lines: Lines::Unread,
                own: false,
            },
        ),
        (
            r##"{"type":"irc_read","id":"ID","channel":"#general","limit":4294967296}"##,
            Command::Read {
                channel: target(),
                limit: READ_LIMIT_MAX,
                lines: Lines::Unread,
                own: false,
            },
        ),
        (
            r##"{"type":"irc_ask","id":"ID","channel":"#general","message":"ok?","timeout":30,"on_timeout":"abort"}"##,
            asking(30, OnTimeout::Abort),
        ),
        (
            r##"{"type":"irc_ask","id":"ID","channel":"#general","message":"ok?","timeout":30,"timeout_action":"pause","on_timeout":"deny"}"##,
            asking(30, OnTimeout::Pause),
        ),
        (
            r##"{"type":"irc_ask","id":"ID","channel":"#general","message":"ok?","timeout":30}"##,
            ask(30),
        ),
        (
            r##"{"type":"irc_ask","id":"ID","channel":"#general","question":"ok?"}"##,
            ask(ASK_SECONDS),
        ),
        (
            r##"{"type":"irc_ask","id":"ID","channel":"#general","message":"","question":"ok?","timeout":0.5}"##,
            ask(1),
        ),
        (
            r##"{"type":"irc_ask","id":"ID","channel":"#general","message":"ok?","timeout":1e300}"##,
            ask(ASK_SECONDS_MAX),
        ),
        (
            r##"{"type":"irc_who","id":"ID","target":"#general"}"##,
            Command::Who { target: target() },
        ),
        (
            r##"{"type":"irc_who","id":"ID","channel":"#general"}"##,
            Command::Who { target: target() },
        ),
        (
            r#"{"type":"irc_who","id":"ID","target":"eve"}"#,
            Command::Who { target: "eve".parse().unwrap() },
        ),
        (
            r##"{"type":"irc_topic","id":"ID","channel":"#general","topic":null}"##,
            Command::Topic { channel: "#general".parse().unwrap(), topic: None },
        ),
        (r#"{"type":"irc_channels","id":"ID"}"#, Command::Channels),
        (r#"{"type":"status","id":"ID","query":true}"#, Command::Status { query: true }),
        (r#"{"type":"compact","id":"ID","extra":[1,{"x":null}]}"#, Command::Compact),
        // R2-06
        (r#"{"type":"new_session","id":"ID"}"#, Command::Clear),
        (r#"{"type":"new-session","id":"ID"}"#, Command::Clear),
        (
            r#"{"type":"model","id":"ID","model":" ","default":false}"#,
            Command::Model { choice: None },
        ),
    ];
    for (line, command) in cases {
        let line = line.replace("ID", UUID) + "\r\n";
        let read = Request::decode(line.as_bytes());
        assert_eq!(
            read,
            Ok(Request { id: id(UUID), token: None, command, form: Form::Typed }),
            "{line}"
        );
    }
    assert_eq!(Request::decode(br#"{"type":"clear"}"#).unwrap().id, None);
    assert_eq!(Request::decode(br#"{"type":"clear","id":null}"#).unwrap().id, None);
}

/// The texts that culture's clients show; the id is given back whenever it can be read.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn what_is_wrong_with_a_request_is_told_in_cultures_words() {
    let cases = [
        (r#"{"type":"x","id":"7"}"#, "Unknown message type: 'x'"),
        (r#"{"id":"7"}"#, "Unknown message type: ''"),
        (r#"{"type":"a\u001b[31m\n","id":"7"}"#, r"Unknown message type: 'a\u{1b}[31m\n'"),
        (r#"{"type":4,"id":"7"}"#, "'type' must be a string"),
        (r#"{"type":"irc_send","id":"7","message":"hi"}"#, "Missing 'channel'"),
        (r#"{"type":"irc_send","id":"7","channel":null,"message":"hi"}"#, "Missing 'channel'"),
        (r##"{"type":"irc_send","id":"7","channel":"#a"}"##, "Missing 'message'"),
        (r##"{"type":"irc_send","id":"7","channel":"#a","message":" \n"}"##, "Missing 'message'"),
        (
            r##"{"type":"irc_send","id":"7","channel":"#a","message":5}"##,
            "'message' must be a string",
        ),
        (
            r##"{"type":"irc_send","id":"7","channel":"#a","message":"x","create":1}"##,
            "'create' must be true or false",
        ),
        (r##"{"type":"irc_ask","id":"7","channel":"#a","question":""}"##, "Missing 'message'"),
        (
            r##"{"type":"irc_ask","id":"7","channel":"#a","message":"x","timeout_action":"wait"}"##,
            "'timeout_action' must be none, pause, deny or abort",
        ),
        (
            r##"{"type":"irc_ask","id":"7","channel":"#a","message":"x","timeout":0}"##,
            "'timeout' must be a number of seconds above 0",
        ),
        (
            r##"{"type":"irc_ask","id":"7","channel":"#a","message":"x","timeout":"30"}"##,
            "'timeout' must be a number of seconds above 0",
        ),
        (
            r##"{"type":"irc_read","id":"7","channel":"#a","limit":"many"}"##,
            "'limit' must be a whole number",
        ),
        (
            r##"{"type":"irc_read","id":"7","channel":"#a","limit":1.5}"##,
            "'limit' must be a whole number",
        ),
        (r#"{"type":"irc_read","id":"7"}"#, "Missing 'channel'"),
        (r#"{"type":"irc_join","id":"7","channel":"ops"}"#, "Channel name must start with '#'"),
        (r#"{"type":"irc_part","id":"7","channel":"ops"}"#, "Channel name must start with '#'"),
        (r#"{"type":"irc_topic","id":"7","channel":"ops"}"#, "Channel name must start with '#'"),
        (
            r##"{"type":"irc_join","id":"7","channel":"#a b"}"##,
            "`#a b` is not a channel: # and then no space, comma or control character, at most 64 bytes",
        ),
        (r#"{"type":"irc_who","id":"7"}"#, "Missing 'target'"),
        (r#"{"type":"set_directory","id":"7"}"#, "Missing 'path'"),
        (r#"{"type":"hello","id":"7","version":"1"}"#, "'version' must be a whole number above 0"),
        (r#"{"type":"pause","id":"7","token":1}"#, "'token' must be a string"),
        (r##"{"type":"irc_thread_create","id":"7","channel":"#a"}"##, "threads are not supported"),
        (r##"{"type":"irc_threads","id":"7","channel":"#a"}"##, "threads are not supported"),
    ];
    for (line, said) in cases {
        let refused = Request::decode(line.as_bytes()).unwrap_err();
        assert_eq!((refused.id.clone(), refused.to_string().as_str()), (id("7"), said), "{line}");
        let answer = text(Frame::Response(Response::failed(refused.id, said)).encode().unwrap());
        let said = serde_json::to_string(said).unwrap();
        assert_eq!(
            answer,
            format!("{{\"type\":\"response\",\"id\":\"7\",\"ok\":false,\"error\":{said}}}\n")
        );
    }
    for line in [
        "",
        "\n",
        "{",
        "[]",
        "7",
        "nul",
        "{\"type\":\"clear\"} {}",
        "\u{0}",
        "{\"type\":\"clear\",}",
    ] {
        let error = RequestError::NotAnObject;
        assert_eq!(
            Request::decode(line.as_bytes()),
            Err(Refused { id: None, error, form: Form::Typed }),
            "{line:?}"
        );
    }
}
