//! What others say.

use gangline_core::message::Principal;

use super::*;

fn only_line(story: &mut Story, line: &str) -> Option<Line> {
    story.session.received(story.now, Message::parse(line).expect("a line"));
    let mut outputs = story.session.take_output();
    assert!(outputs.len() <= 1, "{outputs:?}");
    match outputs.pop() {
        Some(Output::Event(event)) => match *event {
            LinkEvent::Line(line) => Some(line),
            other => panic!("{other:?}"),
        },
        Some(other) => panic!("{other:?}"),
        None => None,
    }
}

const STAMPED: &str = "@time=2026-11-21T21:33:48.123Z;msgid=m1;account=bob;bot;+draft/reply=m0;\
                       +gangline/id=b.1;gangline/principal=bob;gangline/tier=owner \
                       :bob!b@h PRIVMSG #den :hello \u{1b}[2J";

#[test]
fn a_line_has_all_that_the_server_said_of_it() {
    let expect = Line {
        kind: LineKind::Privmsg,
        target: "#den".parse().unwrap(),
        nick: "bob".to_owned(),
        account: Some("bob".to_owned()),
        principal: Some(Principal { account: "bob".to_owned(), tier: Tier::Owner }),
        msgid: Some("m1".to_owned()),
        server_time: Some("2026-11-21T21:33:48.123Z".to_owned()),
        cursor: Some("msgid=m1".parse().unwrap()),
        text: "hello [2J".to_owned(),
        gangline_id: Some("b.1".to_owned()),
        from_history: false,
        reply_to: Some("m0".to_owned()),
        bot: true,
    };
    let believing = LinkConfig { address: Address::Own("/run/irc.sock".into()), ..config() };
    let mut story = Story::online(believing, ALL_CAPS);
    assert_eq!(only_line(&mut story, STAMPED), Some(expect));
}

#[test]
fn stamps_of_a_foreign_server_and_accounts_without_account_tag_are_not_believed() {
    let mut story = Story::online(config(), "message-tags");
    let line = only_line(&mut story, STAMPED).unwrap();
    assert_eq!((line.principal, line.account), (None, None));
}

#[test]
fn a_stamp_that_is_incomplete_or_unknown_is_none() {
    let believing = LinkConfig { address: Address::Own("/run/irc.sock".into()), ..config() };
    let mut story = Story::online(believing, ALL_CAPS);
    for tags in [
        "gangline/principal=bob",
        "gangline/tier=owner",
        "gangline/principal=b;gangline/tier=god",
        "account=*",
    ] {
        let line = only_line(&mut story, &format!("@{tags} :bob!b@h PRIVMSG #den :x")).unwrap();
        assert_eq!((line.principal, line.account), (None, None), "{tags}");
    }
}

#[test]
fn the_forms_of_lines_are_told_apart() {
    let check = |line: &str, expect: &str| {
        let mut story = Story::rich();
        assert_eq!(story.server(line), [format!("<line {expect}>")], "{line}");
    };
    check(":bob!b@h PRIVMSG ada :hi", "Privmsg bob→ada hi");
    check(":bob!b@h PRIVMSG ADA hi", "Privmsg bob→ADA hi");
    check(":bob!b@h NOTICE #den :hi", "Notice bob→#den hi");
    check(":bob!b@h PRIVMSG @#den :hi", "Privmsg bob→#den hi");
    check(":bob!b@h PRIVMSG #den :\u{1}ACTION waves\u{1}", "Action bob→#den waves");
}

/// Numbers and commands that nobody knows, before and after the greeting.
#[test]
fn what_a_server_says_beside_changes_nothing() {
    let odd = [
        ":irc 020 * :Please wait while we process your connection.",
        ":irc 439 * :Please wait while we process your connection.",
        ":irc 042 ada 1AAAAAAAB :your unique ID",
        ":irc 396 ada cloak.test :is now your displayed host",
        ":irc 381 ada :You are now an operator",
        ":irc 671 ada bob :is using a secure connection",
        ":irc 705 ada HELP :no help",
        ":irc 936 ada #den word :Your message contained a censored word",
        ":irc 999 ada",
        ":irc 1000 ada :not a number of ours",
        ":irc 4 :not one either",
        ":irc WALLOPS :restarting",
        ":irc GLOBOPS :restarting",
        "SETNAME :me",
        ":bob!b@h AWAY :gone",
        ":bob!b@h ACCOUNT bob",
        ":bob!b@h CHGHOST b new.host",
        ":bob!b@h TAGMSG #den",
        ":irc NOTE * X :note",
        ":irc WARN * X :warning",
        ":irc 005 ada CASEMAPPING=ascii PREFIX=(ov)@+ :are supported",
        ":irc 005",
        ":irc CAP",
        ":irc CAP ada WHAT :ever",
        "BATCH",
        ":irc KILL bob :not us",
    ];
    let mut story = Story::new(config());
    story.connect();
    for line in odd {
        assert_eq!(story.server(line), [""; 0], "{line}");
    }
    story.server(":irc 001 ada :Welcome");
    assert_eq!(story.server(":irc 376 ada :End"), ["<up ada on irc first with 0 caps>"]);
    for line in odd {
        assert_eq!(story.server(line), [""; 0], "{line}");
    }
    story.after(10);
    assert_eq!(story.command(say("k", "#den", "x")), ["PRIVMSG #den :x", "PING gangline-1"]);
}

#[test]
fn what_is_nobodys_line_to_us_is_passed_over() {
    let mut story = Story::rich();
    for line in [
        ":irc.den.net NOTICE ada :*** Looking up your hostname",
        ":irc.den.net NOTICE * :*** hello",
        "NOTICE AUTH :*** hello",
        ":bob!b@h PRIVMSG ada :\u{1}VERSION\u{1}",
        ":bob!b@h NOTICE ada :\u{1}VERSION x\u{1}",
        ":bob!b@h PRIVMSG $* :everybody",
        ":bob!b@h PRIVMSG carol :not us",
        ":bob!b@h PRIVMSG ada",
        ":ada!a@h PRIVMSG #den :an echo of nothing we know",
    ] {
        assert_eq!(story.server(line), [""; 0], "{line}");
    }
}
