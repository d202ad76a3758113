//! Tests of the wire form: tables for what is read and written, properties for all the rest.

use proptest::{collection::vec, option, prelude::*};

use super::{
    BODY_MAX, CLIENT_TAGS_MAX, FormatError, Message, PARAMS_MAX, ParseError, SERVER_TAGS_MAX, Side,
    batch, body_len, caps, ctcp, decode, sasl, tags, text,
};

fn message(
    tags: &[(&str, Option<&str>)],
    source: Option<&str>,
    command: &str,
    params: &[&str],
) -> Message {
    Message {
        tags: tags.iter().map(|(k, v)| ((*k).to_owned(), v.map(str::to_owned))).collect(),
        source: source.map(str::to_owned),
        command: command.to_owned(),
        params: params.iter().map(|p| (*p).to_owned()).collect(),
    }
}

fn reads(line: &str, expect: Message) {
    assert_eq!(Message::parse(line), Ok(expect), "{line:?}");
}

#[test]
fn lines_are_read_in_all_their_shapes() {
    reads("PING", message(&[], None, "PING", &[]));
    reads("ping :a b\r\n", message(&[], None, "PING", &["a b"]));
    reads("PING a\n", message(&[], None, "PING", &["a"]));
    reads(":s 001 n :", message(&[], Some("s"), "001", &["n", ""]));
    reads(":n!u@h PRIVMSG #c ::-)", message(&[], Some("n!u@h"), "PRIVMSG", &["#c", ":-)"]));
    reads("  PRIVMSG   #c   :  x ", message(&[], None, "PRIVMSG", &["#c", "  x "]));
    reads("JOIN #c ", message(&[], None, "JOIN", &["#c"]));
    reads(
        "@a=1;+b/c;d= :s X y",
        message(&[("a", Some("1")), ("+b/c", None), ("d", Some(""))], Some("s"), "X", &["y"]),
    );
    reads("@;;a;=x X", message(&[("a", None)], None, "X", &[]));
    reads("@k=\\:\\s\\\\\\r\\n\\q\\ X", message(&[("k", Some("; \\\r\nq"))], None, "X", &[]));
}

#[test]
fn the_fifteenth_parameter_takes_the_rest_of_the_line() {
    let line = Message::parse("X 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 :17").unwrap();
    assert_eq!(line.params.len(), PARAMS_MAX);
    assert_eq!(line.params[14], "15 16 :17");
}

#[test]
fn what_is_no_line_is_refused() {
    let check = |line: &[u8], error| assert_eq!(decode(line), Err(error), "{line:?}");
    check(b"", ParseError::Empty);
    check(b"\r\n", ParseError::Empty);
    check(b"   ", ParseError::Empty);
    check(b"A\rB", ParseError::ControlByte { at: 1 });
    check(b"A\nB\r\n", ParseError::ControlByte { at: 1 });
    check(b"PRIVMSG #c :x\0QUIT", ParseError::ControlByte { at: 13 });
    check(b"A\n\r\n", ParseError::ControlByte { at: 1 });
    check(b"@a", ParseError::NoCommand);
    check(b"@a ", ParseError::NoCommand);
    check(b":s", ParseError::NoCommand);
    check(b": PING", ParseError::EmptySource);
    check(b"PI*NG", ParseError::BadCommand);
    check("ПИНГ".as_bytes(), ParseError::BadCommand);
}

#[test]
fn invalid_utf8_is_replaced_and_not_fatal() {
    let line = decode(b"@a=\xff PRIVMSG #c :caf\xe9\r\n").unwrap();
    assert_eq!(line, message(&[("a", Some("\u{fffd}"))], None, "PRIVMSG", &["#c", "caf\u{fffd}"]));
}

#[test]
fn nothing_that_would_be_a_second_line_can_be_written() {
    let check = |m: Message, error| assert_eq!(m.to_line(), Err(error));
    for bad in ["a\rQUIT", "a\nQUIT", "a\0b"] {
        let plain = Message::new("PRIVMSG").param("#c");
        check(plain.clone().trailing(bad), FormatError::Param { index: 1 });
        check(Message::new("X").param(bad).param("y"), FormatError::Param { index: 0 });
        check(plain.clone().from(bad), FormatError::Source);
        check(Message::new(bad), FormatError::Command);
        check(plain.tagged(bad, "v"), FormatError::Tag { index: 0 });
    }
    check(Message::new("X").tagged("a", "b").tagged("k", "\0"), FormatError::Tag { index: 1 });
    check(Message::new("X").flagged(""), FormatError::Tag { index: 0 });
    check(Message::new("X").from("a b"), FormatError::Source);
    check(Message::new("X").from(""), FormatError::Source);
    check(Message::new(""), FormatError::Command);
    check(Message::new("X").param("").param("y"), FormatError::Param { index: 0 });
    check(Message::new("X").param(":a").param("y"), FormatError::Param { index: 0 });
    check(Message::new("X").param("a b").param("y"), FormatError::Param { index: 0 });
    let many = (0..=PARAMS_MAX).fold(Message::new("X"), |m, _| m.param("p"));
    check(many, FormatError::TooManyParams { count: PARAMS_MAX + 1 });
}

#[test]
fn lines_are_written_as_naive_readers_expect_them() {
    let check = |m: Message, line: &str| assert_eq!(m.to_line().as_deref(), Ok(line));
    check(Message::new("privmsg").param("#c").trailing("hi"), "PRIVMSG #c :hi\r\n");
    check(Message::new("QUIT").trailing("bye"), "QUIT :bye\r\n");
    check(Message::new("JOIN").param("#c"), "JOIN #c\r\n");
    check(Message::new("CAP").param("REQ").trailing("a b"), "CAP REQ :a b\r\n");
    check(Message::new("CAP").param("*").param("LS").trailing("a"), "CAP * LS :a\r\n");
    check(
        Message::new("X").tagged("a", "1;2").flagged("b").from("s").param(""),
        "@a=1\\:2;b :s X :\r\n",
    );
}

#[test]
fn the_length_of_a_body_is_known_before_and_after_writing() {
    let line = Message::new("PRIVMSG").tagged("a", "b").from("n!u@h").param("#c").trailing("hi");
    let written = line.to_line().unwrap();
    assert_eq!(line.body_len(), body_len(written.as_bytes()));
    assert_eq!(body_len(b"@a=b PING x\r\n"), 8);
    assert_eq!(body_len(b"PING x"), 8);
    assert_eq!(body_len(b"@a=b"), 2);
}

#[test]
fn the_limits_of_body_and_tags_are_exact() {
    let said = |bytes: usize| Message::new("PRIVMSG").param("#c").trailing("x".repeat(bytes));
    let most = BODY_MAX - "PRIVMSG #c :\r\n".len();
    assert_eq!(said(most).check_lengths(Side::Client), Ok(()));
    assert_eq!(
        said(most + 1).check_lengths(Side::Client),
        Err(FormatError::BodyTooLong { bytes: 513 })
    );
    let tagged = |bytes: usize| Message::new("X").tagged("k", "v".repeat(bytes - 2));
    assert_eq!(tagged(CLIENT_TAGS_MAX).check_lengths(Side::Client), Ok(()));
    assert_eq!(
        tagged(CLIENT_TAGS_MAX + 1).check_lengths(Side::Client),
        Err(FormatError::TagsTooLong { bytes: 4095, max: 4094 })
    );
    let section = |bytes: usize| tagged(bytes - 2);
    assert_eq!(section(SERVER_TAGS_MAX).check_lengths(Side::Server), Ok(()));
    assert!(decode(section(SERVER_TAGS_MAX).to_line().unwrap().as_bytes()).is_ok());
    let over = section(SERVER_TAGS_MAX + 1);
    assert_eq!(
        over.check_lengths(Side::Server),
        Err(FormatError::TagsTooLong { bytes: 8192, max: 8191 })
    );
    assert_eq!(
        Message::parse(over.to_line().unwrap()),
        Err(ParseError::TagsTooLong { bytes: 8192 })
    );
}

#[test]
fn the_last_of_two_equal_tags_counts_and_a_bare_tag_is_empty() {
    let line = Message::parse("@a=1;a=2;bot;label=x :n!u@h 401 me you").unwrap();
    assert_eq!((line.tag("a"), line.tag("bot"), line.tag("c")), (Some("2"), Some(""), None));
    assert_eq!((line.label(), line.nick(), line.numeric()), (Some("x"), Some("n"), Some(401)));
    assert_eq!(Message::new("40").numeric(), None);
    assert_eq!(Message::new("4O1").numeric(), None);
}

#[test]
fn a_text_is_made_one_harmless_line() {
    let check = |text: &str, expect: &str| assert_eq!(text::sanitize(text), expect);
    check("a\r\nQUIT", "a QUIT");
    check("a\n\n\0\tb", "a b");
    check("\u{1b}[31mred\u{7}\u{1}", "[31mred");
    check("\u{2}bold\u{f} \u{85}\u{9b}x", "\u{2}bold\u{f} x");
    check("grüße 🐕", "grüße 🐕");
    assert_eq!(text::cut("aé", 2), "a");
    assert_eq!(text::cut("aé", 3), "aé");
    assert_eq!(text::cut("aé", 9), "aé");
}

#[test]
fn ctcp_is_told_from_text() {
    assert_eq!(ctcp::split(&ctcp::action("waves twice")), Some(("ACTION", "waves twice")));
    assert_eq!(ctcp::split("\u{1}VERSION"), Some(("VERSION", "")));
    assert_eq!(ctcp::split("ACTION"), None);
}

#[test]
fn capabilities_are_read_over_several_lines() {
    let first = Message::parse(":s CAP * LS * :sasl=PLAIN,EXTERNAL batch").unwrap();
    let last = Message::parse(":s CAP me ls :echo-message").unwrap();
    let reply = caps::reply(&first).unwrap();
    assert!(reply.more);
    let mut set = caps::CapSet::parse(reply.list);
    let reply = caps::reply(&last).unwrap();
    assert_eq!((reply.verb.as_str(), reply.more), ("LS", false));
    set.add(reply.list);
    assert_eq!(set.names().collect::<Vec<_>>(), ["batch", "echo-message", "sasl"]);
    assert_eq!(set.value("sasl"), Some("PLAIN,EXTERNAL"));
    set.acknowledge("-batch away-notify");
    assert_eq!(set.names().collect::<Vec<_>>(), ["away-notify", "echo-message", "sasl"]);
    assert_eq!(caps::reply(&Message::new("CAP").param("*")), None);
    let empty = Message::parse("CAP * LS :").unwrap();
    assert_eq!(caps::reply(&empty).map(|r| r.list), Some(""));
}

#[test]
fn a_hostile_list_of_capabilities_stays_bounded() {
    let list: String = (0..caps::CAPS_MAX * 2).map(|n| format!("c{n} ")).collect();
    assert_eq!(caps::CapSet::parse(&list).names().count(), caps::CAPS_MAX);
}

#[test]
fn a_sasl_answer_goes_in_chunks_of_400() {
    assert_eq!(sasl::plain("ada", "pw"), ["YWRhAGFkYQBwdw=="]);
    assert_eq!(sasl::chunks(b""), ["+"]);
    // 300 bytes are exactly 400 in base64: the end has to be said.
    let exact = sasl::chunks(&[7; 300]);
    assert_eq!((exact.len(), exact[0].len(), exact[1].as_str()), (2, 400, "+"));
    assert_eq!(sasl::chunks(&[7; 301]).len(), 2);
}

#[test]
fn a_servers_side_puts_a_sasl_answer_together_and_bounds_it() {
    let mut answer = sasl::Answer::default();
    assert_eq!(answer.push("*"), Err(sasl::SaslError::Aborted));
    assert_eq!(answer.push("!"), Err(sasl::SaslError::Malformed));
    assert_eq!(answer.push(&"A".repeat(401)), Err(sasl::SaslError::TooLong));
    let full = "A".repeat(400);
    let taken = (0..20).map(|_| answer.push(&full)).take_while(|r| *r == Ok(None)).count();
    assert_eq!(taken * sasl::CHUNK, sasl::ANSWER_MAX);
    assert_eq!(sasl::read_plain(b"\0ada\0p w"), Ok(("ada".into(), "p w".into())));
    for bad in [&b"ada\0pw"[..], b"eve\0ada\0pw", b"\0\0pw", b"\0a\0b\0c", b"\0\xff\0x"] {
        assert_eq!(sasl::read_plain(bad), Err(sasl::SaslError::Malformed), "{bad:?}");
    }
}

#[test]
fn batches_are_marked_and_their_types_keep_their_case() {
    let start = Message::parse("BATCH +7 draft/multiline #c").unwrap();
    assert_eq!(
        batch::mark(&start),
        Some(batch::Mark::Start {
            reference: "7",
            kind: "draft/multiline",
            params: &["#c".to_owned()]
        })
    );
    assert_eq!(batch::mark(&batch::end("7")), Some(batch::Mark::End { reference: "7" }));
    assert_eq!(
        batch::start("7", "chathistory").param("#c").to_line().unwrap(),
        "BATCH +7 chathistory #c\r\n"
    );
    for bad in ["BATCH", "BATCH 7", "BATCH +7", "PING +7 x"] {
        assert_eq!(batch::mark(&Message::parse(bad).unwrap()), None, "{bad}");
    }
}

/// Text with the characters that matter more often than chance would have them.
fn any_text(exclude: &'static [char]) -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![' ', ':', ';', '=', '\\', '@', '\r', '\n', '\0', 'é']);
    vec(prop_oneof![any::<char>(), special, prop::char::range('a', 'z')], 0..12).prop_map(
        move |chars| chars.into_iter().filter(|c| !exclude.contains(c)).collect::<String>(),
    )
}

fn middle() -> impl Strategy<Value = String> {
    any_text(&[' ', '\r', '\n', '\0']).prop_map(|text| {
        let bare = text.trim_start_matches(':');
        if bare.is_empty() { "p".to_owned() } else { bare.to_owned() }
    })
}

fn legal_message() -> impl Strategy<Value = Message> {
    let key = any_text(&[' ', ';', '=', '\r', '\n', '\0']).prop_filter("key", |k| !k.is_empty());
    let tag = (key, option::of(any_text(&['\0'])));
    let source = any_text(&[' ', '\r', '\n', '\0']).prop_filter("source", |s| !s.is_empty());
    let command = prop_oneof!["[A-Z]{1,12}", "[0-9]{3}"];
    (
        vec(tag, 0..5),
        option::of(source),
        command,
        vec(middle(), 0..PARAMS_MAX),
        option::of(any_text(&['\r', '\n', '\0'])),
    )
        .prop_map(|(tags, source, command, mut params, last)| {
            params.extend(last);
            Message { tags, source, command, params }
        })
}

/// Holds for every line that is written: one line end, and nothing that ends a line before it.
fn is_one_line(line: &str) -> bool {
    line.strip_suffix("\r\n").is_some_and(|rest| !rest.contains(['\r', '\n', '\0']))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_legal_message_survives_the_wire(message in legal_message()) {
        let line = message.to_line().unwrap();
        prop_assert!(is_one_line(&line), "{line:?}");
        prop_assert_eq!(body_len(line.as_bytes()), message.body_len());
        prop_assert_eq!(Message::parse(&line), Ok(message));
    }

    #[test]
    fn whatever_is_asked_to_be_written_is_one_line_or_an_error(
        tags in vec((any_text(&[]), option::of(any_text(&[]))), 0..3),
        source in option::of(any_text(&[])),
        command in any_text(&[]),
        params in vec(any_text(&[]), 0..18),
    ) {
        let message = Message { tags, source, command, params };
        if let Ok(line) = message.to_line() {
            prop_assert!(is_one_line(&line), "{line:?}");
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused_and_what_is_read_can_be_written(
        bytes in prop_oneof![
            vec(any::<u8>(), 0..600),
            vec(prop::sample::select(b"@:; =\\\r\n\0aZ0+/\xff\xc3".to_vec()), 0..60),
        ],
    ) {
        if let Ok(message) = decode(&bytes) {
            let line = message.to_line().unwrap();
            prop_assert!(is_one_line(&line), "{line:?}");
            prop_assert_eq!(Message::parse(&line), Ok(message));
        }
    }

    #[test]
    fn tag_values_survive_escaping(value in any_text(&[])) {
        let wire = tags::escape(&value);
        prop_assert!(!wire.contains([' ', ';', '\r', '\n']));
        prop_assert_eq!(tags::unescape(&wire), value);
    }

    #[test]
    fn a_sanitized_text_always_fits_a_line(value in any_text(&[])) {
        let line = Message::new("PRIVMSG").param("#c").trailing(text::sanitize(&value)).to_line();
        prop_assert!(line.is_ok_and(|line| is_one_line(&line)));
    }

    #[test]
    fn a_sasl_answer_survives_its_chunks(answer in vec(any::<u8>(), 0..1000)) {
        let mut server = sasl::Answer::default();
        let results: Vec<_> =
            sasl::chunks(&answer).iter().map(|chunk| server.push(chunk)).collect();
        prop_assert_eq!(results.last(), Some(&Ok(Some(answer))));
        prop_assert!(results[..results.len() - 1].iter().all(|r| *r == Ok(None)));
    }
}
