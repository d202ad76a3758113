//! What a played line looks like.

use gangline_core::Principal;

use super::*;
use crate::server::store::{Conversation, LineKind, Party};

fn line(text: &str) -> NewLine {
    NewLine {
        conversation: Conversation::Channel("#room".parse().unwrap()),
        sender: Party::Member("ann".to_owned()),
        key: None,
        at: UnixMicros(0),
        kind: LineKind::Privmsg,
        source: "ann!~ann@localhost".to_owned(),
        account: None,
        principal: Principal { account: "~ann".to_owned(), tier: Tier::Member },
        bot: false,
        target: "#room".to_owned(),
        text: text.to_owned(),
        tags: Vec::new(),
    }
}

#[test]
fn a_request_that_a_program_would_answer_is_not_played() {
    for (text, wanted) in [
        ("hello", true),
        ("\u{1}ACTION waves\u{1}", true),
        ("\u{1}VERSION\u{1}", false),
        ("\u{1}DCC SEND x 1 2\u{1}", false),
        ("\u{1}PING 1", false),
    ] {
        assert_eq!(may_be_played(text), wanted, "{text:?}");
    }
}

#[test]
fn the_time_stands_in_front_and_the_day_if_it_is_another() {
    const DAY: i64 = 86_400_000_000;
    let at = UnixMicros(1_790_000_000_000_000);
    let (day, time) = local_minute(at);
    assert_eq!(stamp(at, at), format!("[{time}] "));
    assert_eq!(stamp(at, UnixMicros(at.0 + 2 * DAY)), format!("[{} {time}] ", &day[5..]));
}

#[test]
fn a_text_that_does_not_fit_behind_its_time_is_said_in_two_lines() {
    let short = texts(&line("hi"), "#room", "[17:36] ");
    assert_eq!(short, ["[17:36] hi"]);
    let action = texts(&line("\u{1}ACTION waves\u{1}"), "#room", "[17:36] ");
    assert_eq!(action, ["\u{1}ACTION [17:36] waves\u{1}"]);
    let long = "ä".repeat(240);
    let pieces = texts(&line(&long), "#room", "[17:36] ");
    assert_eq!(pieces.len(), 2);
    let words: String = pieces.iter().map(|it| it.strip_prefix("[17:36] ").unwrap()).collect();
    assert_eq!(words, long);
    for piece in pieces {
        let whole = Outgoing::said("#room", &piece, "m.1", &line(""));
        let bytes = whole.render(Caps::default(), Default::default());
        assert!(bytes.len() <= BODY_MAX && bytes.ends_with(format!("{piece}\r\n").as_bytes()));
    }
}

/// A message of several lines stays one, and each of its lines has the time in front.
#[test]
fn the_lines_of_a_message_are_cut_where_they_were_and_not_elsewhere() {
    let (short, long) = ("x".repeat(300), "ä".repeat(240));
    let said = format!("{short}\n\n{short}\rgoes on\n{long}");
    let plain = texts(&line(&said), "#room", "");
    let fits = |text: &str| text.strip_prefix(&format!("{short}\n\n{short}\rgoes on\n")).is_some();
    assert!(plain.len() == 1 && fits(&plain[0]), "{plain:?}");
    let [stamped] = texts(&line(&said), "#room", "[17:36] ").try_into().unwrap();
    let lines: Vec<(&str, Follows)> = multiline::lines(&stamped).collect();
    let words: Vec<&str> =
        lines.iter().map(|(text, _)| text.trim_start_matches("[17:36] ")).collect();
    assert_eq!(words[..4], [short.as_str(), "", &short, "goes on"]);
    assert_eq!(words[4..].concat(), long);
    for (text, follows) in &lines {
        assert!(text.is_empty() || text.starts_with("[17:36] "), "{text}");
        assert_eq!(*follows, Follows::Anew);
    }
    let out = Outgoing::said("#room", &stamped, "m.1", &line(""));
    let bytes = out.render(Caps::default(), Default::default());
    let wire = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(wire.split_inclusive("\r\n").all(|line| line.len() <= BODY_MAX), "{wire}");
}
