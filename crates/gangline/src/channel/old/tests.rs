//! Tests of the older client's command line.

use std::path::PathBuf;

use gangline_api::ipc::{IfAbsent, Lines};
use gangline_core::question::OnTimeout;

use super::{Verb, read};
use crate::channel::verb::{Escapes, Written};

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// R0-57, R0-58: every command of the older client, with its positional limit.
#[test]
fn words_in_their_places_are_read() {
    let channel = || Written::Exact("#a".to_owned());
    let send = |text: &str| Verb::Send {
        to: channel(),
        text: text.to_owned(),
        escapes: Escapes::Kept,
        absent: IfAbsent::Send,
        in_reply_to: None,
    };
    let on_timeout = OnTimeout::None;
    let ask = |text: &str, timeout| Verb::Ask {
        to: channel(),
        text: text.to_owned(),
        timeout,
        on_timeout,
    };
    let reading = |limit| Verb::Read { from: channel(), limit, lines: Lines::Unread, own: false };
    let cases = [
        ("send #a hello there --create", send("hello there --create")),
        ("message #a hello", send("hello")),
        ("read #a", reading(50)),
        ("read #a 5", reading(5)),
        ("read #a --limit 6", reading(6)),
        ("read #a -n 7", reading(7)),
        ("ask #a ship it?", ask("ship it?", 30)),
        ("ask #a --timeout 9 ship it?", ask("ship it?", 9)),
        ("ask #a ship it? --timeout 9", ask("ship it?", 9)),
        ("ask #a --timeout 999999 ?", ask("?", 86_400)),
        ("join #a", Verb::Join(channel())),
        ("part #a", Verb::Part(channel())),
        ("channels", Verb::Channels),
        ("list", Verb::Channels),
        ("who eve", Verb::Who("eve".to_owned())),
        ("topic #a", Verb::Topic { channel: channel(), text: None }),
        (
            "topic #a release day",
            Verb::Topic { channel: channel(), text: Some("release day".to_owned()) },
        ),
        ("compact", Verb::Compact),
        ("clear", Verb::Clear),
        ("set_directory /srv", Verb::SetDirectory(PathBuf::from("/srv"))),
    ];
    for (line, verb) in cases {
        assert_eq!(read(&words(line)).unwrap(), Some(verb), "{line}");
    }
    for line in ["help", "--help", "-h"] {
        assert_eq!(read(&words(line)).unwrap(), None, "{line}");
    }
}

#[test]
fn wrong_words_are_told_with_what_there_is() {
    let cases = [
        ("dance", "error: unknown subcommand: \"dance\""),
        ("send", "error: which channel?"),
        ("who", "error: which channel?"),
        ("read #a x", "error: the limit is a number above 0"),
        ("read #a 0", "error: the limit is a number above 0"),
        ("read #a --limit", "error: the limit is a number above 0"),
        ("ask #a x --timeout", "error: --timeout wants a number of seconds above 0"),
        ("ask #a --timeout 0 x", "error: --timeout wants a number of seconds above 0"),
    ];
    for (line, said) in cases {
        let text = read(&words(line)).unwrap_err().text();
        assert_eq!(text.lines().next(), Some(said), "{line}");
        assert!(text.contains("hint: subcommands: send, read, ask,"), "{text}");
    }
    assert!(read(&[]).unwrap_err().text().contains("which subcommand?"));
}
