//! Requests and frames made at random, and bytes that are none.

use std::path::PathBuf;

use gangline_api::ipc::{ASK_SECONDS_MAX, READ_LIMIT_MAX};
use gangline_core::id::MessageId;
use proptest::{collection, option, prelude::*, sample::select};

use super::*;

fn words() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), ".{0,40}"]
        .prop_filter("blank counts as missing", |text: &String| !text.trim().is_empty())
}

fn command() -> impl Strategy<Value = Command> {
    let channel = || "#[^\\s,:\\p{C}]{1,12}".prop_map(|name| name.parse().unwrap());
    let target = || {
        prop_oneof!["#[^\\s,:\\p{C}]{1,12}", "[a-zA-Z\\[\\]_][a-zA-Z0-9-]{0,20}"]
            .prop_map(|name| name.parse().unwrap())
    };
    let lines = select(vec![Lines::Unread, Lines::Latest, Lines::Peek]);
    let absent = select(vec![IfAbsent::Send, IfAbsent::Refuse, IfAbsent::Create]);
    prop_oneof![
        (1..u32::MAX, any::<String>())
            .prop_map(|(version, client)| Command::Hello { version, client }),
        (target(), words(), absent, option::of(1i64..)).prop_map(
            |(channel, message, absent, answered)| {
                let in_reply_to = answered.map(MessageId);
                Command::Send { channel, message, absent, in_reply_to }
            },
        ),
        (target(), 0..=READ_LIMIT_MAX, lines, any::<bool>())
            .prop_map(|(channel, limit, lines, own)| Command::Read { channel, limit, lines, own }),
        (target(), words(), 1..=ASK_SECONDS_MAX).prop_map(|(channel, message, timeout)| {
            let on_timeout = OnTimeout::ALL[timeout as usize % OnTimeout::ALL.len()];
            Command::Ask { channel, message, timeout, on_timeout }
        }),
        channel().prop_map(|channel| Command::Join { channel }),
        channel().prop_map(|channel| Command::Part { channel }),
        target().prop_map(|target| Command::Who { target }),
        (channel(), option::of(any::<String>()))
            .prop_map(|(channel, topic)| Command::Topic { channel, topic }),
        any::<bool>().prop_map(|query| Command::Status { query }),
        (words(), words()).prop_map(|(name, call)| Command::Tool {
            input: serde_json::json!({"x": name.clone()}),
            name,
            call,
        }),
        words().prop_map(|path| Command::SetDirectory { path: PathBuf::from(path) }),
        option::of("[a-z0-9.:/][a-z0-9.:/-]{0,19}").prop_map(|model| Command::Model {
            choice: model.map(|model| ModelChoice::To(model.parse().unwrap()))
        }),
        option::of(any::<String>()).prop_map(|cursor| Command::Subscribe { cursor }),
        (words(), words(), option::of(any::<String>()))
            .prop_map(|(from, body, key)| Command::Wake { from, body, key }),
        select(vec![
            Command::Channels,
            Command::Compact,
            Command::Clear,
            Command::Pause { ends: None },
            Command::Resume,
            Command::Interrupt,
            Command::Shutdown,
        ]),
    ]
}

/// Pieces that get further into the reader than random bytes do.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = select(vec![
        &br#"{"type":"#[..],
        br#""irc_send""#,
        br#""irc_read""#,
        br#""subscribe""#,
        br#""response""#,
        br#""whisper""#,
        br#""event""#,
        br#","id":"#,
        br#","channel":"#,
        br##""#a""##,
        br#","message":"#,
        br#","limit":"#,
        br#","ok":true"#,
        br#","data":"#,
        br#","event":"#,
        b"1e999",
        b"-0",
        b"\"\\ud800\"",
        b"\"",
        b"{",
        b"}",
        b"[",
        b"\n",
        b"null",
    ]);
    prop_oneof![known.prop_map(<[u8]>::to_vec), collection::vec(any::<u8>(), 0..12)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn a_written_request_is_read_again(
        command in command(),
        id in option::of("[^\\p{C}]{0,32}"),
        token in option::of("[^\\p{C}]{0,64}"),
    ) {
        let request = Request {
            id: id.map(|id| RequestId::new(id).unwrap()),
            token: token.map(|token| Token::new(token).unwrap()),
            command,
            form: Form::Typed,
        };
        let line = request.encode().unwrap();
        let ends = line.iter().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!((ends, line.last()), (1, Some(&b'\n')), "one line, whatever is in it");
        prop_assert_eq!(Request::decode(&line), Ok(request));
    }

    #[test]
    fn a_written_frame_is_read_again(
        id in option::of(".{0,32}"),
        error in option::of(any::<String>()),
        warnings in collection::vec(any::<String>(), 0..3),
        said in any::<[String; 2]>(),
    ) {
        let id = id.map(|id| RequestId::new(id).unwrap());
        let data = error.is_none().then(|| json!({"x": said[0]}));
        let ok = error.is_none();
        let [whisper_type, message] = said;
        let frames = [
            Frame::Response(Response { id, ok, data, error, warnings }),
            Frame::Whisper(Whisper { whisper_type, message }),
        ];
        for frame in frames {
            let line = frame.encode().unwrap();
            prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            prop_assert_eq!(Frame::decode(&line).unwrap(), Some(frame));
        }
    }

    #[test]
    fn whatever_the_bytes_are_they_are_decided_on(pieces in collection::vec(piece(), 0..16)) {
        let bytes = pieces.concat();
        if let Err(refused) = Request::decode(&bytes) {
            let said = refused.to_string();
            prop_assert!(!said.chars().any(char::is_control), "{:?}", said);
            prop_assert!(said.len() < 4_000);
        }
        let _ = Frame::decode(&bytes);
    }

    #[test]
    fn deep_nesting_is_refused(depth in 1_000_usize..20_000) {
        let line = format!(r#"{{"type":"clear","x":{}"#, "[".repeat(depth));
        prop_assert!(Request::decode(line.as_bytes()).is_err());
        prop_assert!(Frame::decode(line.as_bytes()).is_err());
    }
}
