//! Messages of several lines come as one.

use super::*;
use crate::wire::multiline::Follows;

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
    story.command(LinkCommand::CatchUp { target: "#den".parse().unwrap(), after, request: 1 });
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

/// With everything that it takes to say one.
fn several() -> Story {
    Story::online(config(), &format!("{ALL_CAPS} draft/multiline"))
}

fn long(key: &str) -> LinkCommand {
    let LinkCommand::Say(say) = say(key, "#den", "one") else { unreachable!() };
    let further = [(Follows::Anew, "how is "), (Follows::On, "it")];
    let further = further.map(|(follows, text)| (follows, text.to_owned())).to_vec();
    LinkCommand::Say(Say { further, reply_to: Some("q".to_owned()), ..say })
}

const SENT: [&str; 5] = [
    "@label=gangline-1;+gangline/id=k.all;+draft/reply=q BATCH +gangline-1 draft/multiline #den",
    "@batch=gangline-1 PRIVMSG #den :one",
    "@batch=gangline-1 PRIVMSG #den :how is ",
    "@batch=gangline-1;draft/multiline-concat PRIVMSG #den :it",
    "BATCH -gangline-1",
];

#[test]
fn several_lines_go_out_as_one_message_and_one_echo_confirms_them() {
    let mut story = several();
    assert_eq!(story.command(long("k.all")), SENT);
    assert_eq!(story.command(long("k.all")), [""; 0], "it is under way");
    let echo = [
        "@label=gangline-1;msgid=m7;+gangline/id=k.all :ada!a@h BATCH +ml draft/multiline #den",
        "@batch=ml :ada!a@h PRIVMSG #den :one",
        "@batch=ml :ada!a@h PRIVMSG #den :how is ",
        "@batch=ml;draft/multiline-concat :ada!a@h PRIVMSG #den :it",
    ];
    for line in echo {
        assert_eq!(story.server(line), [""; 0]);
    }
    assert_eq!(story.server(":ada!a@h BATCH -ml"), ["<confirmed k.all Some(\"m7\")>"]);
}

#[test]
fn a_message_is_refused_or_lost_as_a_whole() {
    for (refusal, expect) in [
        (
            "@label=gangline-1 FAIL BATCH MULTILINE_INVALID :no",
            "<failed k.all None MULTILINE_INVALID: no>",
        ),
        (
            "@label=gangline-1 FAIL PRIVMSG STORE_FAILED #den :no",
            "<failed k.all None STORE_FAILED: no>",
        ),
        ("@label=gangline-1 :irc 404 ada #den :no", "<failed k.all Some(404) no>"),
    ] {
        let mut story = several();
        story.command(long("k.all"));
        assert_eq!(story.server(refusal), [expect], "{refusal}");
    }
    let mut story = several();
    story.command(long("k.all"));
    assert_eq!(story.lost(), ["<unconfirmed k.all>"]);
}

/// No half of it, and no lines either: whoever asked knows what to do instead.
#[test]
fn where_no_message_of_several_lines_is_taken_nothing_is_sent() {
    let mut story = Story::rich();
    assert_eq!(story.command(long("k.all")), ["<not-sent k.all>"]);
    let mut story = several();
    story.server(":irc CAP ada DEL :draft/multiline");
    assert_eq!(story.command(long("k.all")), ["<not-sent k.all>"]);
}

/// All of it goes at once, and is paid for: others wait until the pace allows.
#[test]
fn a_message_counts_all_its_lines() {
    let mut story = several();
    assert_eq!(story.command(long("k.all")).len(), SENT.len());
    assert_eq!(story.command(say("k.2", "#den", "hi")), [""; 0]);
    assert_eq!(story.after(4).len(), 1);
}
