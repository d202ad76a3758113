//! Lines on their way out: confirmed, refused, lost, paced.

use super::*;

const SENT: &str = "@label=gangline-1;+gangline/id=k.1 PRIVMSG #den :hi";

#[test]
fn a_line_is_confirmed_by_the_echo_that_carries_its_id() {
    let mut story = Story::rich();
    assert_eq!(story.command(say("k.1", "#den", "hi")), [SENT]);
    assert_eq!(
        story.server("@msgid=m7;+gangline/id=k.1 :ada!a@h PRIVMSG #den :hi"),
        ["<confirmed k.1 Some(\"m7\")>"]
    );
    assert_eq!(
        story.server("@msgid=m7;+gangline/id=k.1 :ada!a@h PRIVMSG #den :hi"),
        [""; 0],
        "an echo is confirmed once and is no line"
    );
}

#[test]
fn a_line_is_confirmed_by_its_label_alone_or_in_a_batch() {
    let mut story = Story::rich();
    story.command(say("k.1", "#den", "hi"));
    assert_eq!(
        story.server("@label=gangline-1;msgid=m7 :ada!a@h PRIVMSG #den :hi"),
        ["<confirmed k.1 Some(\"m7\")>"]
    );
    story.command(say("k.2", "#den", "hi"));
    story.server("@label=gangline-2 BATCH +b labeled-response");
    assert_eq!(
        story.server("@batch=b;msgid=m8 :ada!a@h PRIVMSG #den :hi"),
        ["<confirmed k.2 Some(\"m8\")>"]
    );
    assert_eq!(story.server("BATCH -b"), [""; 0]);
    story.command(say("k.3", "bob", "hi"));
    assert_eq!(story.server("@label=gangline-3 ACK"), ["<confirmed k.3 None>"]);
}

#[test]
fn a_line_without_echo_is_confirmed_by_the_pong_behind_it() {
    let mut story = Story::plain();
    assert_eq!(story.command(say("k", "#den", "hi")), ["PRIVMSG #den :hi", "PING gangline-1"]);
    assert_eq!(story.command(say("l", "bob", "ho")), ["PRIVMSG bob :ho", "PING gangline-2"]);
    assert_eq!(
        story.server(":irc 401 ada BOB :No such nick"),
        ["<failed l Some(401) No such nick>"]
    );
    assert_eq!(story.server(":irc PONG irc :gangline-1"), ["<confirmed k None>"]);
    assert_eq!(story.server(":irc PONG irc :gangline-2"), [""; 0]);
}

#[test]
fn an_error_is_the_failure_of_the_line_it_is_about() {
    let check = |error: &str, expect: &str| {
        let mut story = Story::rich();
        story.command(say("other", "carol", "x"));
        story.command(say("k", "bob", "x"));
        assert_eq!(story.server(error), [expect.to_owned()], "{error}");
    };
    for number in [401, 403, 404, 407, 442, 477, 489, 531, 716, 936] {
        check(&format!(":irc {number} ada bob :No"), &format!("<failed k Some({number}) No>"));
        check(
            &format!("@label=gangline-2 :irc {number} ada x :No"),
            &format!("<failed k Some({number}) No>"),
        );
    }
    check(":irc 412 ada :No text", "<failed other Some(412) No text>");
    check("FAIL PRIVMSG INVALID_UTF8 :bytes", "<failed other None INVALID_UTF8: bytes>");
    check("FAIL PRIVMSG NOPE bob :bytes", "<failed k None NOPE: bytes>");
    check("@label=gangline-2 FAIL * NOPE :bytes", "<failed k None NOPE: bytes>");
}

#[test]
fn an_error_about_something_else_fails_no_line() {
    let mut story = Story::rich();
    story.command(say("k", "bob", "x"));
    for line in [
        ":irc 401 ada carol :No such nick",
        ":irc 482 ada #den :Not operator",
        ":irc 421 ada WHAT :Unknown command",
        "@label=theirs :irc 404 ada bob :No",
        "FAIL JOIN NOPE :no",
    ] {
        assert_eq!(story.server(line), [""; 0], "{line}");
    }
}

#[test]
fn a_line_that_the_server_passes_over_is_asked_for_and_fails() {
    let mut story = Story::rich();
    story.command(say("k", "#den", "hi"));
    assert_eq!(story.after(30), ["PING gangline-1"]);
    assert_eq!(
        story.server("PONG irc gangline-1"),
        ["<failed k None the server passed over the line>"]
    );
}

/// `CLIENTTAGDENY`, and no labels: an echo could not be told from another.
#[test]
fn where_an_echo_carries_no_name_the_pong_confirms() {
    let check = |caps: &str, deny: &str, echo: bool| {
        let mut story = Story::online(config(), caps);
        story.server(&format!(":irc 005 ada CLIENTTAGDENY={deny} :are supported"));
        let out = story.command(say("k", "#den", "hi"));
        assert_eq!(out.len(), if echo { 1 } else { 2 }, "{caps} {deny} {out:?}");
    };
    check("message-tags echo-message", "*", false);
    check("message-tags echo-message", "typing,gangline/id", false);
    check("message-tags echo-message", "typing", true);
    check("message-tags echo-message", "*,-gangline/id", true);
    check("message-tags echo-message labeled-response", "*", true);
}

#[test]
fn when_echoes_are_taken_away_the_pong_confirms_what_is_under_way() {
    let mut story = Story::rich();
    story.command(say("k", "#den", "hi"));
    assert_eq!(story.server(":irc CAP ada DEL :account-tag"), [""; 0]);
    assert_eq!(story.server(":irc CAP ada DEL :echo-message"), ["PING gangline-1"]);
    assert_eq!(story.server("PONG irc gangline-1"), ["<confirmed k None>"]);
}

#[test]
fn a_pong_that_nobody_asked_for_settles_nothing() {
    let mut story = Story::rich();
    story.command(say("k", "#den", "hi"));
    assert_eq!(story.server("PONG irc gangline-1"), [""; 0]);
    assert_eq!(
        story.server("@label=gangline-1;msgid=m1 :ada!a@h PRIVMSG #den :hi"),
        ["<confirmed k Some(\"m1\")>"]
    );
}

#[test]
fn a_late_echo_still_confirms() {
    let mut story = Story::rich();
    story.command(say("k", "#den", "hi"));
    story.after(31);
    assert_eq!(story.server("@+gangline/id=k :ada!a@h PRIVMSG #den :hi"), ["<confirmed k None>"]);
    assert_eq!(story.server("PONG irc gangline-1"), [""; 0]);
}

#[test]
fn a_server_that_never_pongs_fails_the_line_and_does_not_hold_up_others_for_ever() {
    let mut story = Story::plain();
    story.command(say("k", "#den", "hi"));
    let mut out = Vec::new();
    for _ in 0..4 {
        out.extend(story.after(30));
        story.server("PING 1");
    }
    assert_eq!(out, ["<failed k None the server did not confirm the line>"]);
}

/// A server that stops in the middle of an answer has refused nothing of it: the link goes down, and
/// what it may not have taken is said again.
#[test]
fn a_server_that_falls_silent_fails_no_line() {
    for caps in [ALL_CAPS, ""] {
        let mut story = Story::online(config(), caps);
        story.command(say("k", "#den", "hi"));
        // What it had said before it stopped comes a moment later.
        story.after(1);
        story.server(":bob!b@h PRIVMSG #den :so?");
        let out = story.after(200);
        assert!(!out.iter().any(|said| said.starts_with("<failed")), "{out:?}");
        assert_eq!(out.last().map(String::as_str), Some("[the server does not answer a PING]"));
        assert_eq!(story.lost(), ["<unconfirmed k>"]);
    }
}

/// One that comes back in time and has passed over a line is told from one that has not.
#[test]
fn a_server_that_wakes_up_is_judged_by_what_it_says_then() {
    let mut story = Story::rich();
    // The server falls silent before they are said, so that they are asked for while it is.
    story.after(45);
    story.command(say("k.1", "#den", "hi"));
    story.command(say("k.2", "#den", "ho"));
    assert_eq!(story.after(5), ["PING gangline-pulse"]);
    assert_eq!(story.session.deadline(), Some(story.now + Duration::from_secs(25)));
    assert_eq!(story.after(25), ["PING gangline-1", "PING gangline-2"]);
    let echo = "@msgid=m7;+gangline/id=k.1 :ada!a@h PRIVMSG #den :hi";
    assert_eq!(story.server(echo), ["<confirmed k.1 Some(\"m7\")>"]);
    assert_eq!(
        story.server("PONG irc gangline-2"),
        ["<failed k.2 None the server passed over the line>"]
    );
}

#[test]
fn what_is_unconfirmed_when_the_link_goes_down_is_told_in_order() {
    let mut story = Story::plain();
    for n in 0..5 {
        story.command(say(&format!("k{n}"), "#den", "x"));
    }
    story.server("PONG irc gangline-1");
    assert_eq!(
        story.lost(),
        ["<unconfirmed k1>", "<not-sent k2>", "<not-sent k3>", "<not-sent k4>"],
        "two lines and their PINGs went out"
    );
    assert_eq!(story.lost(), [""; 0]);
    assert_eq!(story.command(say("k9", "#den", "x")), ["<not-sent k9>"]);
}

#[test]
fn a_key_that_is_under_way_is_not_sent_twice() {
    let mut story = Story::rich();
    assert_eq!(story.command(say("k.1", "#den", "hi")), [SENT]);
    assert_eq!(story.command(say("k.1", "#den", "hi")), [""; 0]);
}

#[test]
fn whatever_the_text_holds_it_is_one_line_and_no_ctcp() {
    let mut story = Story::plain();
    let out = story.command(say("k", "#den", "a\r\nQUIT\0 \u{1}VERSION\u{1}\u{1b}[2J"));
    assert_eq!(out[0], "PRIVMSG #den :a QUIT  VERSION[2J");
}

#[test]
fn a_text_that_has_no_form_fails_at_once() {
    let mut story = Story::rich();
    for text in ["", " \r\n", &"x".repeat(600)] {
        let out = story.command(say("k", "#den", text));
        assert!(out.len() == 1 && out[0].starts_with("<failed k None"), "{out:?}");
    }
    let out = story.command(say("k\0", "#den", "x"));
    assert!(out.len() == 1 && out[0].starts_with("<failed k\0 None"), "{out:?}");
}

#[test]
fn notices_actions_and_replies_have_their_forms() {
    let mut story = Story::rich();
    let said = |kind, reply_to: Option<&str>| {
        LinkCommand::Say(Say {
            key: format!("{kind:?}"),
            target: "#den".parse().unwrap(),
            text: "waves".to_owned(),
            further: Vec::new(),
            connection: None,
            kind,
            reply_to: reply_to.map(str::to_owned),
        })
    };
    assert_eq!(
        story.command(said(LineKind::Notice, None)),
        ["@label=gangline-1;+gangline/id=Notice NOTICE #den :waves"]
    );
    assert_eq!(
        story.command(said(LineKind::Action, Some("m 1"))),
        [
            "@label=gangline-2;+gangline/id=Action;+draft/reply=m\\s1 PRIVMSG #den :\u{1}ACTION waves\u{1}"
        ]
    );
}

#[test]
fn a_foreign_server_gets_four_lines_and_then_one_a_second_pings_counted() {
    let sent = |mut story: Story, seconds: u64| {
        let mut out = Vec::new();
        for n in 0..30 {
            out.extend(story.command(say(&format!("k{n}"), &format!("#c{n}"), "x")));
        }
        out.extend(story.after(seconds));
        out.len()
    };
    assert_eq!(sent(Story::rich(), 0), 4);
    assert_eq!(sent(Story::rich(), 3), 7);
    // Two lines each, line and PING; the last PING is on credit.
    assert_eq!(sent(Story::plain(), 0), 4);
    assert_eq!(sent(Story::plain(), 3), 8);
}

#[test]
fn our_own_server_gets_fifty_at_once() {
    let mut story = Story::new(config());
    story.connect();
    story.server(":irc CAP * LS :echo-message message-tags");
    story.server(":irc CAP * ACK :echo-message message-tags");
    story.server(":irc 001 ada :Welcome");
    story.server(":irc 005 ada GANGLINE :are supported");
    story.server(":irc 376 ada :End");
    let mut sent = 0;
    for n in 0..70 {
        sent += story.command(say(&format!("k{n}"), "#den", "x")).len();
    }
    assert_eq!(sent, 50);
    assert_eq!(story.after(1).len(), 14, "20 a second, and 64 unconfirmed at most");
}

#[test]
fn no_more_than_ten_lines_are_unconfirmed_at_a_foreign_server() {
    let mut story = Story::rich();
    let mut out = Vec::new();
    for n in 0..20 {
        out.extend(story.command(say(&format!("k{n}"), "#den", "x")));
    }
    out.extend(story.after(20));
    assert_eq!(out.len(), 10);
    assert_eq!(
        story.server("@+gangline/id=k0 :ada!a@h PRIVMSG #den :x"),
        ["<confirmed k0 None>", "@label=gangline-11;+gangline/id=k10 PRIVMSG #den :x"]
    );
}

#[test]
fn a_full_queue_takes_no_more_commands_until_there_is_room() {
    let mut story = Story::rich();
    for n in 0..QUEUE_MAX {
        assert!(story.session.takes_commands());
        story.command(say(&format!("k{n}"), "#den", "x"));
    }
    assert!(!story.session.takes_commands());
    story.server("@+gangline/id=k0 :ada!a@h PRIVMSG #den :x");
    assert!(story.session.takes_commands());
}

#[test]
fn typing_is_shown_where_it_can_be_and_never_waits() {
    let typing =
        || LinkCommand::Typing { target: "#den".parse().unwrap(), state: TypingState::Active };
    let note = "@+typing=active;label=gangline-note TAGMSG #den";
    assert_eq!(Story::rich().command(typing()), [note]);
    assert_eq!(Story::plain().command(typing()), [""; 0]);
    let mut story = Story::online(config(), "message-tags");
    assert_eq!(story.command(typing()), ["@+typing=active TAGMSG #den"]);
    story.server(":irc 005 ada CLIENTTAGDENY=typing :are supported");
    assert_eq!(story.command(typing()), [""; 0]);
    let mut story = Story::rich();
    for n in 0..5 {
        story.command(say(&format!("k{n}"), "#den", "x"));
    }
    assert_eq!(story.command(typing()), [""; 0]);
}

/// InspIRCd that denies client tags answers a typing note by 412.
#[test]
fn a_refused_note_fails_no_line() {
    let mut story = Story::rich();
    let target = "#den".parse().unwrap();
    story.command(LinkCommand::Typing { target, state: TypingState::Active });
    story.command(say("k", "#den", "x"));
    assert_eq!(story.server("@label=gangline-note :irc 412 ada :No tags to send"), [""; 0]);
    assert_eq!(story.server("@label=gangline-note :irc 404 ada #den :No"), [""; 0]);
    assert_eq!(story.server("@label=gangline-1 ACK"), ["<confirmed k None>"]);
}

#[test]
fn a_raw_line_goes_as_it_is_unless_it_would_be_two() {
    let mut story = Story::plain();
    let who = Message::new("WHO").param("#den");
    assert_eq!(story.command(LinkCommand::Raw(who)), ["WHO #den"]);
    let two = Message::new("WHO").param("#den\r\nQUIT");
    assert_eq!(story.command(LinkCommand::Raw(two)), [""; 0]);
}

/// F5: those given before it were not sent, and are given anew: it would stand before them.
#[test]
fn a_line_that_was_given_for_an_earlier_connection_is_dropped() {
    let of = |key, connection| {
        let LinkCommand::Say(line) = say(key, "#den", "x") else { unreachable!("it is one") };
        LinkCommand::Say(Say { connection: Some(connection), ..line })
    };
    let mut story = Story::rich();
    assert_eq!(story.command(of("k", 1)).len(), 1);
    assert_eq!(story.lost(), ["<unconfirmed k>"]);
    assert_eq!(story.command(of("offline", 1)), ["<not-sent offline>"]);
    story.connect();
    story.command(of("old", 1));
    story.command(of("new", 2));
    assert_eq!(story.lost(), ["<not-sent new>"]);
}

/// A network's own number refuses a line as much as a known one: what names the target is about it.
#[test]
fn any_error_that_names_the_target_refuses_the_line() {
    for number in [404, 408, 415, 435, 439, 487, 494, 495, 504, 520, 573, 599] {
        let mut story = Story::plain();
        story.command(say("k", "#den", "x"));
        let refused = format!(":irc {number} ada #DEN :Target change too fast");
        let told = format!("<failed k Some({number}) Target change too fast>");
        assert_eq!(story.server(&refused), [told], "{number}");
        assert_eq!(story.server("PONG irc gangline-1"), [""; 0], "{number}");
    }
    // About somebody else, or about nobody.
    for other in [":irc 439 ada #other :Too fast", ":irc 439 * :Please wait", ":irc 599 ada"] {
        let mut story = Story::plain();
        story.command(say("k", "#den", "x"));
        assert_eq!(story.server(other), [""; 0], "{other}");
        assert_eq!(story.server("PONG irc gangline-1"), ["<confirmed k None>"], "{other}");
    }
}

/// What refuses a TOPIC refuses no line to that room, but a second such number is about the line.
#[test]
fn the_refusal_of_another_request_fails_no_line() {
    let refused = ":irc 482 ada #den :You're not channel operator";
    let mut story = Story::plain();
    let topic = Message::new("TOPIC").param("#den").trailing("mine");
    assert_eq!(story.command(LinkCommand::Raw(topic)), ["TOPIC #den :mine"]);
    story.command(say("k", "#den", "x"));
    assert_eq!(story.server(refused), [""; 0]);
    assert_eq!(story.server("PONG irc gangline-1"), ["<confirmed k None>"]);
    story.after(9);
    story.command(say("k2", "#den", "x"));
    let told = "<failed k2 Some(482) You're not channel operator>";
    assert_eq!(story.server(refused), [told]);
}
