//! The socket's frames, byte for byte, and what is made of bytes that are none.

use gangline_api::{
    event::{EVENT_VERSION, EventRecord},
    ipc::{
        AskData, ChannelsData, ChatLine, Command, EncodeError, Form, Frame, FrameError, HeldData,
        HelloData, ID_MAX, IfAbsent, LINE_MAX, Lines, ModelChoice, ModelData, NoData, ReadData,
        Refused, Request, RequestError, RequestId, Response, SetDirectoryData, SubscribeData,
        TOKEN_MAX, Token, TopicData, VERSION, WakeData, Whisper, WhoData, WhoUser, no_such_channel,
        not_joined,
    },
};
use gangline_core::{id::MessageId, question::OnTimeout};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

mod culture;
mod random;

const UUID: &str = "0b6e2f4c-6a2e-4a9b-8f5e-2d1c9a7b3e10";

fn id(text: &str) -> Option<RequestId> {
    Some(RequestId::new(text).unwrap())
}

fn request(command: Command) -> Request {
    Request { id: id("7"), token: None, command, form: Form::Typed }
}

fn every_command() -> Vec<Command> {
    let channel = || "#general".parse().unwrap();
    let target = || "#general".parse().unwrap();
    let say = |absent| Command::Send {
        channel: target(),
        message: "hello".into(),
        absent,
        in_reply_to: (absent == IfAbsent::Create).then_some(MessageId(42)),
    };
    vec![
        Command::Hello { version: VERSION, client: "gangline channel".into() },
        say(IfAbsent::Send),
        say(IfAbsent::Refuse),
        say(IfAbsent::Create),
        Command::Read { channel: target(), limit: 50, lines: Lines::Unread, own: false },
        Command::Read {
            channel: "eve".parse().unwrap(),
            limit: 5,
            lines: Lines::Latest,
            own: false,
        },
        Command::Read { channel: target(), limit: 0, lines: Lines::Peek, own: true },
        Command::Ask {
            channel: target(),
            message: "ship it?".into(),
            timeout: 30,
            on_timeout: OnTimeout::None,
        },
        Command::Ask {
            channel: target(),
            message: "drop it?".into(),
            timeout: 30,
            on_timeout: OnTimeout::Deny,
        },
        Command::Join { channel: channel() },
        Command::Part { channel: channel() },
        Command::Channels,
        Command::Who { target: target() },
        Command::Topic { channel: channel(), topic: None },
        Command::Topic { channel: channel(), topic: Some("release day".into()) },
        Command::Compact,
        Command::Clear,
        Command::Model { choice: None },
        Command::Model { choice: Some(ModelChoice::To("opus".parse().unwrap())) },
        Command::Model { choice: Some(ModelChoice::Configured) },
        Command::Status { query: false },
        Command::Status { query: true },
        Command::Pause { ends: None },
        Command::Pause { ends: Some("for 2h".into()) },
        Command::Pause { ends: Some("until 9:00".into()) },
        Command::Resume,
        Command::Interrupt,
        Command::Shutdown,
        Command::SetDirectory { path: "/srv/ada".into() },
        Command::Tool { name: "recv".into(), input: json!({"max": 2}), call: "c1".into() },
        Command::Subscribe { cursor: None },
        Command::Subscribe { cursor: Some("42".into()) },
        Command::Wake { from: "matrix".into(), body: "new dm from @alice".into(), key: None },
        Command::Wake { from: "ci".into(), body: "red".into(), key: Some("build-7".into()) },
    ]
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// R0-38, R0-49, R1-13, R1-14: compact JSON and one line end; and what was written is read again.
#[test]
fn every_request_has_its_golden_line_and_is_read_again() {
    let mut golden = String::new();
    for command in every_command() {
        let request = request(command);
        let line = request.encode().unwrap();
        assert_eq!(Request::decode(&line).unwrap(), request);
        golden.push_str(&text(line));
    }
    let token = Some(Token::new("s3cret").unwrap());
    let signed =
        Request { id: None, token, command: Command::Pause { ends: None }, form: Form::Typed };
    assert!(!format!("{signed:?}").contains("s3cret"), "{signed:?}");
    golden.push_str(&text(signed.encode().unwrap()));
    insta::assert_snapshot!(golden);
}

/// R2-31: S2's own line is read and answered in S2's form, whatever is wrong with it; a `type` beside
/// `cmd` decides.
#[test]
fn a_wake_in_the_form_of_s2_is_read_and_answered_in_its_form() {
    let line = br#"{"cmd":"wake","from":"matrix","body":"new dm from @alice"}"#;
    let command =
        Command::Wake { from: "matrix".into(), body: "new dm from @alice".into(), key: None };
    let wake = Request { id: None, token: None, command, form: Form::Cmd };
    assert_eq!(Request::decode(line).unwrap(), wake);
    assert_eq!(wake.encode().unwrap().trim_ascii_end(), line);
    let refused = |line: &str| {
        let refused = Request::decode(line.as_bytes()).unwrap_err();
        assert_eq!(refused.form, Form::Cmd, "{line}");
        text(Response::failed(refused.id, refused.error.to_string()).encode_short().unwrap())
    };
    let cases = [
        (r#"{"cmd":"wake","body":"x"}"#, "Missing 'from'"),
        (r#"{"cmd":"wake","from":"x","body":" "}"#, "Missing 'body'"),
        (r#"{"cmd":"wake","from":1,"body":"x"}"#, "'from' must be a string"),
        (r#"{"cmd":"pause"}"#, "Unknown message type: 'pause'"),
    ];
    for (line, error) in cases {
        assert_eq!(
            refused(line),
            format!("{{\"ok\":false,\"error\":{}}}\n", json!(error)),
            "{line}"
        );
    }
    let done = Response::done(id("7"), &NoData {}).unwrap();
    assert_eq!(text(done.encode_short().unwrap()), "{\"ok\":true}\n");
    let typed = Request::decode(br#"{"type":"pause","cmd":"wake"}"#).unwrap();
    assert_eq!((typed.command, typed.form), (Command::Pause { ends: None }, Form::Typed));
}

#[test]
fn lines_ids_and_tokens_have_their_limits() {
    let line = |message: usize| {
        format!(r##"{{"type":"irc_send","channel":"#a","message":"{}"}}"##, "x".repeat(message))
    };
    let room = LINE_MAX - line(0).len();
    assert!(Request::decode((line(room) + "\n").as_bytes()).is_ok());
    let refused = Request::decode((line(room + 1) + "\n").as_bytes()).unwrap_err();
    assert_eq!(refused, Refused { id: None, error: RequestError::TooLong, form: Form::Typed });
    let say = |length| Command::Send {
        channel: "#a".parse().unwrap(),
        message: "x".repeat(length),
        absent: IfAbsent::Send,
        in_reply_to: None,
    };
    let ask = |length| Request { id: None, ..request(say(length)) }.encode();
    assert_eq!(ask(room).unwrap().len(), LINE_MAX + 1);
    assert!(matches!(ask(room + 1), Err(EncodeError::TooLong { bytes }) if bytes == LINE_MAX + 1));

    let long = "x".repeat(ID_MAX + 1);
    let refused = Request::decode(format!(r#"{{"type":"clear","id":"{long}"}}"#).as_bytes());
    let wanted = "a string of at most 128 bytes, or a number";
    let error = RequestError::Field { field: "id", wanted };
    assert_eq!(refused, Err(Refused { id: None, error, form: Form::Typed }));
    for odd in ["true", "[7]", r#"{"x":7}"#] {
        let refused = Request::decode(format!(r#"{{"type":"clear","id":{odd}}}"#).as_bytes());
        let error = RequestError::Field { field: "id", wanted };
        assert_eq!(refused, Err(Refused { id: None, error, form: Form::Typed }), "{odd}");
    }
    assert!(RequestId::new("x".repeat(ID_MAX)).is_ok());
    assert!(Token::new("x".repeat(TOKEN_MAX)).is_ok());
    let long = "x".repeat(TOKEN_MAX + 1);
    let refused =
        Request::decode(format!(r#"{{"type":"clear","id":"7","token":"{long}"}}"#).as_bytes());
    let error = RequestError::Field { field: "token", wanted: "a string of at most 512 bytes" };
    assert_eq!(refused, Err(Refused { id: id("7"), error, form: Form::Typed }));
}

/// R0-54: culture's daemon gives back any id as it came; a number stays one.
#[test]
fn a_number_is_an_id_and_comes_back_as_one() {
    for id in ["7", "-1", "7.5", "18446744073709551615", "0"] {
        let line = format!(r#"{{"type":"x","id":{id}}}"#);
        let refused = Request::decode(line.as_bytes()).unwrap_err();
        let answer = Frame::Response(Response::failed(refused.id.clone(), "no")).encode().unwrap();
        let expected =
            format!("{{\"type\":\"response\",\"id\":{id},\"ok\":false,\"error\":\"no\"}}\n");
        assert_eq!(text(answer.clone()), expected);
        let Ok(Some(Frame::Response(read))) = Frame::decode(&answer) else { panic!("{answer:?}") };
        assert_eq!(read.id, refused.id);
    }
}

fn event() -> EventRecord {
    EventRecord {
        v: EVENT_VERSION,
        seq: "42".into(),
        agent: "spark-ada".parse().unwrap(),
        turn: None,
        kind: "phase".into(),
        at: "2026-11-21T21:33:48.123Z".into(),
        payload: json!({"from": "idle", "to": "working"}),
    }
}

/// R0-50, R0-51, R0-54, R1-13, R1-15.
#[test]
fn every_frame_has_its_golden_line_and_is_read_again() {
    let mut warned = Response::done(id(UUID), &NoData {}).unwrap();
    warned.warnings.push("Mentioned nick not found: x".into());
    let whisper =
        Whisper { whisper_type: "CORRECTION".into(), message: "You retried 3 times.".into() };
    let frames = [
        Frame::Response(Response::done(id("uuid"), &NoData {}).unwrap()),
        Frame::Response(warned),
        Frame::Response(Response::failed(id("7"), not_joined(&"#ops".parse().unwrap()))),
        Frame::Response(Response::failed(None, no_such_channel(&"#ops".parse().unwrap()))),
        Frame::Whisper(whisper),
        Frame::Event(Box::new(event())),
    ];
    let mut golden = String::new();
    for frame in frames {
        let line = frame.encode().unwrap();
        assert_eq!(Frame::decode(&line).unwrap(), Some(frame));
        golden.push_str(&text(line));
    }
    insta::assert_snapshot!(golden);
}

/// Returns the golden response that carries the data, having read the data out of it again.
fn told<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(data: T) -> String {
    let line = Frame::Response(Response::done(id("7"), &data).unwrap()).encode().unwrap();
    let Ok(Some(Frame::Response(response))) = Frame::decode(&line) else { panic!("{line:?}") };
    assert_eq!(serde_json::from_value::<T>(response.data.unwrap()).unwrap(), data);
    text(line)
}

/// R1-15: the data of each command; what culture's clients look for is
/// under its names.
#[test]
fn every_commands_data_has_its_golden_form() {
    let line = || ChatLine {
        nick: "eve".into(),
        text: "ship it".into(),
        timestamp: 1_795_296_828.5,
        tier: None,
    };
    let golden = [
        told(HelloData {
            version: VERSION,
            agent: "spark-ada".parse().unwrap(),
            gangline: "0.1.0".into(),
        }),
        told(ReadData { messages: vec![line()], remaining: 3 }),
        told(AskData { answer: Some(line()) }),
        told(AskData { answer: None }),
        told(ChannelsData {
            channels: vec!["#general".into(), "#ops".into()],
            members: [("#general".to_owned(), 3)].into(),
        }),
        told(WhoData { users: vec![WhoUser { nick: "eve".into(), modes: "H@".into() }] }),
        told(TopicData { topic: Some("release day".into()) }),
        told(TopicData { topic: None }),
        told(SetDirectoryData {
            directory: "/srv/ada".into(),
            path: Some("/srv/ada/CLAUDE.md".into()),
            text: "Be kind.\n".into(),
        }),
        told(SetDirectoryData { directory: "/srv/bob".into(), path: None, text: String::new() }),
        told(ModelData { model: Some("opus".into()), chosen: None }),
        told(HeldData { held: Some("spark-ada is still held".into()) }),
        told(HeldData { held: None }),
        told(SubscribeData { cursor: "42".into() }),
        told(WakeData { message: MessageId(42), duplicate: false }),
    ];
    insta::assert_snapshot!(golden.concat());
    // A daemon of culture's tells less.
    let read =
        json!({"messages": [{"nick": "eve", "text": "hi", "timestamp": 1.0, "thread": "t"}]});
    assert_eq!(serde_json::from_value::<ReadData>(read).unwrap().remaining, 0);
    let channels = serde_json::from_value::<ChannelsData>(json!({"channels": ["#a"]})).unwrap();
    assert_eq!(channels.members.len(), 0);
}

#[test]
fn a_newer_frame_is_skipped_but_a_broken_one_is_an_error() {
    assert_eq!(Frame::decode(br#"{"type":"from_the_future","x":1}"#).unwrap(), None);
    let more = br#"{"type":"whisper","message":"m","whisper_type":"REMINDER","more":1}"#;
    let whisper = Whisper { whisper_type: "REMINDER".into(), message: "m".into() };
    assert_eq!(Frame::decode(more).unwrap(), Some(Frame::Whisper(whisper)));
    let broken = |line: &[u8]| match Frame::decode(line) {
        Err(FrameError::Body { kind, .. }) => kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(broken(br#"{"type":"response","id":"7"}"#), "response");
    assert_eq!(broken(br#"{"type":"whisper","message":"m"}"#), "whisper");
    assert_eq!(broken(br#"{"type":"event","event":{}}"#), "event");
    for line in [&b""[..], b"[]", b"{}", b"{\"type\":1}", b"\xff"] {
        assert!(matches!(Frame::decode(line), Err(FrameError::NotAFrame(_))), "{line:?}");
    }
}
