//! One line of IRC from a stranger: any bytes are read or refused, and what is read and written
//! again is one line that says the same.
#![no_main]

use gangline_irc::wire::{self, Message, SERVER_TAGS_MAX};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = wire::decode(bytes) else { return };
    let line = message.to_line().expect("what was read can be written");
    let rest = line.strip_suffix("\r\n").expect("a line ends with CR LF");
    assert!(!rest.contains(['\r', '\n', '\0']), "more than one line: {line:?}");

    let body = wire::body_len(line.as_bytes());
    assert_eq!(body, message.body_len(), "the length that was announced: {line:?}");
    // A replacement character is longer than the byte it stands for; tags may outgrow their limit.
    if line.len() + 2 - body <= SERVER_TAGS_MAX {
        assert_eq!(Message::parse(&line), Ok(message), "{line:?}");
    }
});
