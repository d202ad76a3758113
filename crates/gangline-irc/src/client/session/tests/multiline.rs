//! Messages of several lines come as one.

use super::*;

/// What our own server sends of such a message.
const MESSAGE: [&str; 5] = [
    "@msgid=m1;time=2026-11-22T10:00:00.000Z;+draft/reply=q :bob!b@h BATCH +ml draft/multiline #den",
    "@batch=ml :bob!b@h PRIVMSG #den :ada: look at",
    "@batch=ml :bob!b@h PRIVMSG #den :",
    "@batch=ml :bob!b@h PRIVMSG #den :  this lo",
    "@batch=ml;draft/multiline-concat :bob!b@h PRIVMSG #den :ng line",
];

#[test]
fn a_message_of_several_lines_is_one_line_of_ours() {
    let mut story = Story::rich();
    for line in MESSAGE {
        assert_eq!(story.server(line), [""; 0]);
    }
    // What comes in between is not of it.
    assert_eq!(
        story.server(":cat!c@h PRIVMSG #den :meanwhile"),
        ["<line Privmsg cat→#den meanwhile>"]
    );
    assert_eq!(
        story.server(":bob!b@h BATCH -ml"),
        ["<line Privmsg bob→#den ada: look at ⏎  ⏎   this long line>"]
    );
}

#[test]
fn in_a_history_it_is_one_line_too_and_its_id_is_the_cursor() {
    let mut story = Story::rich();
    let after = Some("msgid=m0".parse().unwrap());
    story.command(LinkCommand::CatchUp { target: "#den".parse().unwrap(), after });
    story.server("@label=gangline-h1 BATCH +h chathistory #den");
    let [start, rest @ ..] = MESSAGE;
    story.server(&start.replace("@msgid", "@batch=h;msgid"));
    for line in rest {
        assert_eq!(story.server(line), [""; 0]);
    }
    assert_eq!(story.server(":bob!b@h BATCH -ml"), [""; 0]);
    let page = story.server("BATCH -h");
    assert_eq!(page.len(), 1, "{page:?}");
    assert!(page[0].contains("look at ⏎  ⏎   this long line"), "{page:?}");
    assert!(page[0].contains("m1"), "{page:?}");
}

#[test]
fn a_message_without_end_does_not_grow_for_ever() {
    let mut story = Story::rich();
    story.server(":bob!b@h BATCH +ml draft/multiline #den");
    let line = format!("@batch=ml :bob!b@h PRIVMSG #den :{}", "x".repeat(400));
    for _ in 0..1000 {
        story.server(&line);
    }
    let told = story.server(":bob!b@h BATCH -ml");
    assert!(told[0].len() < 80_000, "{}", told[0].len());
    let mut last = Vec::new();
    for number in 0..40 {
        last = story.server(&format!(":bob!b@h BATCH +m{number} draft/multiline #den"));
        if !last.is_empty() {
            break;
        }
    }
    assert!(last.iter().any(|out| out.contains("too many batches")), "{last:?}");
}
