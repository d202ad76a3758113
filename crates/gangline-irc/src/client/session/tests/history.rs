//! Catching up: pages, cursors, refusals, and history that nobody asked for.

use super::*;

fn catch_up(target: &str, after: Option<&str>) -> LinkCommand {
    LinkCommand::CatchUp {
        target: target.parse().unwrap(),
        after: after.map(|cursor| cursor.parse().unwrap()),
        request: 1,
    }
}

fn page(story: &mut Story, label: &str, lines: &[&str]) -> Vec<String> {
    assert_eq!(story.server(&format!("@label={label} BATCH +h chathistory #den")), [""; 0]);
    for line in lines {
        assert_eq!(story.server(line), [""; 0]);
    }
    story.server("BATCH -h")
}

/// C18.
#[test]
fn pages_are_asked_for_until_one_is_empty() {
    let mut story = Story::rich();
    assert_eq!(
        story.command(catch_up("#den", Some("msgid=m1"))),
        ["@label=gangline-h1 CHATHISTORY AFTER #den msgid=m1 100"]
    );
    assert_eq!(
        page(
            &mut story,
            "gangline-h1",
            &[
                "@batch=h;msgid=m2;time=t2 :bob!b@h PRIVMSG #den :one",
                "@batch=h;msgid=m3;time=t3 :ada!a@h PRIVMSG #den :our own",
                "@batch=h;msgid=m4;time=t4 :bob!b@h PRIVMSG #den :\u{1}ACTION two\u{1}",
            ]
        ),
        ["<page #den to msgid=m4: history Privmsg bob→#den one, history Action bob→#den two>"]
    );
    assert_eq!(
        story.command(catch_up("#den", Some("msgid=m4"))),
        ["@label=gangline-h2 CHATHISTORY AFTER #den msgid=m4 100"]
    );
    assert_eq!(page(&mut story, "gangline-h2", &[]), ["<caught up #den>"]);
}

#[test]
fn a_full_page_says_that_more_is_there() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m0")));
    let lines: Vec<String> =
        (0..100).map(|n| format!("@batch=h;msgid=n{n} :b!b@h PRIVMSG #den :x")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let out = page(&mut story, "gangline-h1", &lines);
    assert!(out[0].starts_with("<page #den to msgid=n99 more:"), "{out:?}");
}

#[test]
fn a_first_start_sets_the_cursor_to_the_newest_line_and_delivers_none() {
    let mut story = Story::rich();
    assert_eq!(
        story.command(catch_up("#den", None)),
        ["@label=gangline-h1 CHATHISTORY LATEST #den * 1"]
    );
    assert_eq!(
        page(&mut story, "gangline-h1", &["@batch=h;msgid=m9 :bob!b@h PRIVMSG #den :old"]),
        ["<page #den to msgid=m9: >", "<caught up #den>"]
    );
    story.command(catch_up("#den", None));
    assert_eq!(page(&mut story, "gangline-h2", &[]), ["<caught up #den>"]);
}

#[test]
fn the_newest_lines_are_one_page_and_the_end() {
    let latest = || LinkCommand::Latest { target: "#den".parse().unwrap(), lines: 2, request: 1 };
    let mut story = Story::rich();
    assert_eq!(story.command(latest()), ["@label=gangline-h1 CHATHISTORY LATEST #den * 2"]);
    let lines = [
        "@batch=h;msgid=m8 :bob!b@h PRIVMSG #den :one",
        "@batch=h;msgid=m9 :eve!e@h NOTICE #den :two",
    ];
    assert_eq!(
        page(&mut story, "gangline-h1", &lines),
        [
            "<page #den to msgid=m9: history Privmsg bob→#den one, history Notice eve→#den two>",
            "<caught up #den>"
        ]
    );
    story.command(latest());
    assert_eq!(page(&mut story, "gangline-h2", &[]), ["<caught up #den>"]);
    story.command(latest());
    assert_eq!(
        story.server("@label=gangline-h3 FAIL CHATHISTORY INVALID_TARGET #den :not there"),
        ["<no page #den: INVALID_TARGET: not there>"]
    );
    story.command(latest());
    assert_eq!(story.after(30).first().unwrap(), "<no page #den: the server did not answer>");
    for caps in ["", "batch message-tags"] {
        let mut story = Story::online(config(), caps);
        assert_eq!(story.command(latest()), ["<caught up #den>"], "`{caps}` is no history");
    }
    assert_eq!(Story::new(config()).command(latest()), ["<no page #den: the link is down>"]);
}

#[test]
fn a_page_of_our_own_lines_alone_still_moves_the_cursor_and_confirms_them() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m0")));
    assert_eq!(
        page(
            &mut story,
            "gangline-h1",
            &["@batch=h;msgid=m1;+gangline/id=k.1 :ada!a@h PRIVMSG #den :said before the crash"]
        ),
        ["<confirmed k.1 Some(\"m1\")>", "<page #den to msgid=m1: >"]
    );
}

#[test]
fn live_lines_come_at_once_while_a_page_is_open() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m0")));
    story.server("@label=gangline-h1 BATCH +h chathistory #den");
    assert_eq!(
        story.server("@msgid=m5 :bob!b@h PRIVMSG #den :live"),
        ["<line Privmsg bob→#den live>"]
    );
}

#[test]
fn one_request_runs_at_a_time_and_each_is_answered() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m0")));
    assert_eq!(story.command(catch_up("#pub", Some("msgid=m0"))), [""; 0]);
    assert_eq!(
        page(&mut story, "gangline-h1", &[]),
        ["<caught up #den>", "@label=gangline-h2 CHATHISTORY AFTER #pub msgid=m0 100"]
    );
}

#[test]
fn a_line_has_the_place_that_its_server_can_be_asked_by() {
    let check = |caps: &str, isupport: &str, expect: Option<&str>| {
        let mut story = Story::online(config(), caps);
        story.server(&format!(":irc 005 ada {isupport} :are supported"));
        let line = "@msgid=m1;time=2026-11-21T21:33:48.123Z :bob!b@h PRIVMSG #den :x";
        story.session.received(story.now, Message::parse(line).unwrap());
        let Some(Output::Event(event)) = story.session.take_output().pop() else {
            panic!("no event")
        };
        let LinkEvent::Line(line) = *event else { panic!("{event:?}") };
        let cursor = line.cursor.as_ref().map(|cursor| cursor.as_str());
        assert_eq!(cursor, expect, "{caps} {isupport}");
    };
    check(ALL_CAPS, "X", Some("msgid=m1"));
    let by_time = Some("timestamp=2026-11-21T21:33:48.123Z");
    check(ALL_CAPS, "MSGREFTYPES=timestamp", by_time);
    check("message-tags server-time batch", "X", by_time);
}

#[test]
fn a_server_without_labels_is_matched_by_the_target() {
    let mut story = Story::online(config(), "message-tags batch draft/chathistory server-time");
    assert_eq!(
        story.command(catch_up("#den", Some("timestamp=t0"))),
        ["CHATHISTORY AFTER #den timestamp=t0 100"]
    );
    story.server("BATCH +o chathistory #pub");
    story.server("@batch=o;time=t1 :bob!b@h PRIVMSG #pub :not asked for");
    assert_eq!(story.server("BATCH -o"), ["<line history Privmsg bob→#pub not asked for>"]);
    story.server("BATCH +h chathistory #DEN");
    story.server("@batch=h;time=t1 :bob!b@h PRIVMSG #den :asked for");
    assert_eq!(
        story.server("BATCH -h"),
        ["<page #den to timestamp=t1: history Privmsg bob→#den asked for>"]
    );
}

#[test]
fn with_labels_a_playback_of_the_same_channel_is_not_taken_for_the_answer() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m0")));
    for label in ["", "@label=other "] {
        story.server(&format!("{label}BATCH +p chathistory #den"));
        story.server("@batch=p;msgid=m9 :bob!b@h PRIVMSG #den :played back");
        assert_eq!(story.server("BATCH -p"), ["<line history Privmsg bob→#den played back>"]);
    }
    assert_eq!(page(&mut story, "gangline-h1", &[]), ["<caught up #den>"]);
}

#[test]
fn a_server_that_counts_by_time_gets_cursors_of_time() {
    let mut story = Story::rich();
    story.server(":irc 005 ada MSGREFTYPES=timestamp :are supported");
    story.command(catch_up("#den", None));
    assert_eq!(
        page(&mut story, "gangline-h1", &["@batch=h;msgid=m9;time=t9 :b!b@h PRIVMSG #den :x"]),
        ["<page #den to timestamp=t9: >", "<caught up #den>"]
    );
}

#[test]
fn history_inside_a_labelled_batch_is_the_answer_too() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m0")));
    story.server("@label=gangline-h1 BATCH +l labeled-response");
    story.server("@batch=l BATCH +h chathistory #den");
    story.server("@batch=h;msgid=m1 :bob!b@h PRIVMSG #den :x");
    assert_eq!(story.server("BATCH -h"), ["<page #den to msgid=m1: history Privmsg bob→#den x>"]);
    assert_eq!(story.server("BATCH -l"), [""; 0]);
}

#[test]
fn a_refusal_is_told_and_the_next_request_runs() {
    for refusal in [
        "@label=gangline-h1 FAIL CHATHISTORY INVALID_TARGET AFTER #den :no",
        "@label=gangline-h1 :irc 403 ada #den :no",
        ":irc 421 ada CHATHISTORY :no",
    ] {
        let mut story = Story::rich();
        story.command(catch_up("#den", Some("msgid=m0")));
        story.command(catch_up("#pub", Some("msgid=m0")));
        let out = story.server(refusal);
        assert!(out[0].starts_with("<no page #den: ") && out[0].ends_with("no>"), "{out:?}");
        assert_eq!(
            story.after(0),
            ["@label=gangline-h2 CHATHISTORY AFTER #pub msgid=m0 100"],
            "{refusal}"
        );
    }
}

#[test]
fn no_answer_is_told_and_a_late_one_answers_nothing_else() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m0")));
    story.server("@label=gangline-h1 BATCH +h chathistory #den");
    assert_eq!(story.after(30), ["<no page #den: the server did not answer>"]);
    story.command(catch_up("#den", Some("msgid=m0")));
    story.server("@batch=h;msgid=m1 :bob!b@h PRIVMSG #den :late");
    assert_eq!(story.server("BATCH -h"), ["<line history Privmsg bob→#den late>"]);
    assert_eq!(
        page(&mut story, "gangline-h2", &["@batch=h;msgid=m1 :bob!b@h PRIVMSG #den :x"]),
        ["<page #den to msgid=m1: history Privmsg bob→#den x>"]
    );
}

#[test]
fn a_page_that_does_not_get_further_is_the_end() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m1")));
    assert_eq!(
        page(&mut story, "gangline-h1", &["@batch=h;msgid=m1 :bob!b@h PRIVMSG #den :x"]),
        ["<caught up #den>"]
    );
}

#[test]
fn without_history_one_is_caught_up_and_without_a_link_one_is_not() {
    let mut story = Story::plain();
    assert_eq!(story.command(catch_up("#den", Some("msgid=m1"))), ["<caught up #den>"]);
    let find = || LinkCommand::FindTargets { after: "t0".to_owned() };
    assert_eq!(story.command(find()), ["<targets >"]);
    story.lost();
    assert_eq!(story.command(catch_up("#den", None)), ["<no page #den: the link is down>"]);
    assert_eq!(story.command(find()), ["<no targets: the link is down>"]);
}

#[test]
fn targets_of_an_absence_are_found() {
    let mut story = Story::rich();
    assert_eq!(
        story.command(LinkCommand::FindTargets { after: "t0".to_owned() }),
        ["@label=gangline-h1 CHATHISTORY TARGETS timestamp=t0 \
             timestamp=9999-12-31T23:59:59.999Z 100"]
    );
    story.server("@label=gangline-h1 BATCH +t draft/chathistory-targets");
    story.server("@batch=t CHATHISTORY TARGETS bob t5");
    story.server("@batch=t CHATHISTORY TARGETS * t5");
    story.server("@batch=t CHATHISTORY TARGETS #den t6");
    assert_eq!(story.server("BATCH -t"), ["<targets bob t5, #den t6>"]);
}

#[test]
fn a_server_cannot_fill_our_memory_with_history() {
    let mut story = Story::rich();
    story.command(catch_up("#den", Some("msgid=m0")));
    let lines: Vec<String> =
        (0..3000).map(|n| format!("@batch=h;msgid=n{n} :b!b@h PRIVMSG #den :x")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let out = page(&mut story, "gangline-h1", &lines);
    assert!(out[0].starts_with("<page #den to msgid=n999 more:"), "{}", &out[0][..40]);
    let closed = (0..40).map(|n| story.server(&format!("BATCH +{n} chathistory #den")));
    let out: Vec<String> = closed.flatten().collect();
    assert_eq!(out, ["[the server opened too many batches]"]);
}
