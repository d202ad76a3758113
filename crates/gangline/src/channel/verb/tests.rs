//! Tests of what was typed.

use gangline_api::ipc::{Command, IfAbsent, Lines};
use gangline_core::question::OnTimeout;

use super::{Escapes, Verb, Written, unescaped};

fn loose(text: &str) -> Written {
    Written::Loose(text.to_owned())
}

fn exact(text: &str) -> Written {
    Written::Exact(text.to_owned())
}

fn send(to: Written, text: &str, escapes: Escapes) -> Verb {
    let absent = IfAbsent::Refuse;
    Verb::Send { to, text: text.to_owned(), escapes, absent, in_reply_to: None }
}

/// Returns what is wrong with a verb: the first line.
fn wrong(verb: &Verb) -> String {
    let text = verb.command().unwrap_err().text();
    text.lines().next().unwrap().to_owned()
}

/// As culture does: a missing # is added.
#[test]
fn a_channel_may_lack_its_mark() {
    for written in [loose("general"), loose("#general"), loose(" general "), exact("#general")] {
        let channel = "#general".parse().unwrap();
        assert_eq!(Verb::Join(written.clone()).command().unwrap(), Command::Join { channel });
        let verb = Verb::Read { from: written, limit: 7, lines: Lines::Unread, own: false };
        let channel = "#general".parse().unwrap();
        let read = Command::Read { channel, limit: 7, lines: Lines::Unread, own: false };
        assert_eq!(verb.command().unwrap(), read);
    }
}

/// R1-18: a person can be spoken to, in both forms of the command line.
#[test]
fn a_nick_is_written_with_an_at_or_as_the_older_client_has_it() {
    for written in [loose("@eve"), exact("eve")] {
        let said = Command::Send {
            channel: "eve".parse().unwrap(),
            message: "hi".into(),
            absent: IfAbsent::Refuse,
            in_reply_to: None,
        };
        assert_eq!(send(written, "hi", Escapes::Read).command().unwrap(), said);
    }
    let who = Command::Who { target: "eve".parse().unwrap() };
    assert_eq!(Verb::Who("eve".into()).command().unwrap(), who);
    assert_eq!(Verb::Who("@eve".into()).command().unwrap(), who);
}

#[test]
fn what_cannot_be_asked_is_told_before_anybody_is_asked() {
    assert_eq!(wrong(&Verb::Join(loose(" "))), "error: channel name cannot be empty");
    assert_eq!(wrong(&Verb::Join(exact("ops"))), "error: Channel name must start with '#'");
    assert!(wrong(&Verb::Part(loose("a b"))).starts_with("error: `#a b` is not a channel"));
    assert!(wrong(&Verb::Who("#a,b".into())).starts_with("error: `#a,b` is not a channel"));
    let blank = "error: message text cannot be empty";
    assert_eq!(wrong(&send(loose("a"), " \t", Escapes::Read)), blank);
    assert_eq!(wrong(&send(exact("#a"), "", Escapes::Kept)), blank);
    assert_eq!(
        wrong(&send(loose("a"), r" \n\t \n", Escapes::Read)),
        "error: message text has no non-empty line after escape interpretation"
    );
    let ask =
        Verb::Ask { to: loose("a"), text: " ".into(), timeout: 30, on_timeout: OnTimeout::None };
    assert_eq!(wrong(&ask), "error: question text cannot be empty");
}

/// As culture does: `\n`, `\t` and `\\` become characters, nothing else does.
#[test]
fn escapes_become_characters() {
    let cases = [
        (r"a\nb", "a\nb"),
        (r"a\tb", "a\tb"),
        (r"a\\nb", r"a\nb"),
        (r"a\\\nb", "a\\\nb"),
        (r"\x41\u0041\r\0", r"\x41\u0041\r\0"),
        (r"ends with \", r"ends with \"),
        (r"\\", r"\"),
        ("ä\\nö", "ä\nö"),
        ("", ""),
    ];
    for (typed, meant) in cases {
        assert_eq!(unescaped(typed), meant, "{typed}");
    }
    let Command::Send { message, .. } =
        send(loose("a"), r"one\ntwo", Escapes::Read).command().unwrap()
    else {
        panic!("a message")
    };
    assert_eq!(message, "one\ntwo");
    let Command::Send { message, .. } =
        send(exact("#a"), r"one\ntwo", Escapes::Kept).command().unwrap()
    else {
        panic!("a message")
    };
    assert_eq!(message, r"one\ntwo", "the older client kept them");
}
