//! History that a server shows unasked to who joins. The lines are InspIRCd 3.15's.

use super::*;

const CAPS: &str = "message-tags server-time echo-message labeled-response batch account-tag";

fn joined(caps: &str) -> Story {
    let mut story =
        Story::online(LinkConfig { channels: vec!["#r".parse().unwrap()], ..config() }, caps);
    assert_eq!(story.server(":ada!a@h JOIN :#r"), ["<joined #r>"]);
    story
}

fn shown(story: &mut Story, lines: &[&str]) {
    let mut out = story.server(":irc.a.test BATCH +1 chathistory :#r");
    lines.iter().for_each(|line| out.extend(story.server(line)));
    out.extend(story.server(":irc.a.test BATCH :-1"));
    assert_eq!(out, [""; 0], "nothing is told before it is asked for");
}

fn line(second: u32, msgid: &str, text: &str) -> String {
    format!(
        "@time=2026-11-22T00:32:{second:02}.000Z;msgid={msgid};batch=1 :bob!u@h PRIVMSG #r :{text}"
    )
}

fn catch_up(story: &mut Story, after: &str) -> Vec<String> {
    story.after(2);
    let after = (!after.is_empty()).then(|| after.parse().unwrap());
    let out =
        story.command(LinkCommand::CatchUp { target: "#R".parse().unwrap(), after, request: 1 });
    let [ping] = out.as_slice() else { panic!("{out:?}") };
    let token = ping.strip_prefix("PING ").unwrap().to_owned();
    story.server(&format!(":irc.a.test PONG irc.a.test :{token}"))
}

/// C18: what was said while nobody listened is found, and what was known before is not.
#[test]
fn shown_lines_after_the_cursor_are_a_page_when_it_is_asked_for() {
    let mut story = joined(CAPS);
    let lines = [line(51, "m1", "old"), line(52, "m2", "same second"), line(53, "m3", "new")];
    shown(&mut story, &lines.each_ref().map(String::as_str));
    assert_eq!(
        catch_up(&mut story, "timestamp=2026-11-22T00:32:52.900Z"),
        ["<page #R to timestamp=2026-11-22T00:32:53.000Z: history Privmsg bob→#r same second, \
             history Privmsg bob→#r new>"]
    );
    assert_eq!(
        catch_up(&mut story, "timestamp=2026-11-22T00:32:53.000Z"),
        ["<caught up #R>"],
        "the page was taken in"
    );
    for after in ["timestamp=2026-11-22T00:32:53.000Z", "timestamp=2026-11-22T00:32:51.000Z"] {
        let page = catch_up(&mut story, after);
        assert!(page[0].starts_with("<page #R"), "{after} {page:?}");
    }
    let page = catch_up(&mut story, "timestamp=2026-11-22T00:32:51.000Z");
    assert!(page[0].starts_with("<page #R to timestamp=2026-11-22T00:32:53.000Z"), "{page:?}");
}

#[test]
fn a_page_that_was_not_taken_in_is_told_again() {
    let mut story = joined(CAPS);
    shown(&mut story, &[&line(53, "m3", "new")]);
    let page = catch_up(&mut story, "timestamp=2026-11-22T00:32:50.000Z");
    assert_eq!(catch_up(&mut story, "timestamp=2026-11-22T00:32:50.000Z"), page);
}

#[test]
fn without_a_cursor_shown_lines_set_one_and_are_not_told() {
    let mut story = joined(CAPS);
    shown(&mut story, &[&line(53, "m3", "new")]);
    assert_eq!(catch_up(&mut story, ""), ["<page #R to timestamp=2026-11-22T00:32:53.000Z: >"]);
}

#[test]
fn a_cursor_of_another_kind_is_looked_for_among_the_lines() {
    let lines = [line(51, "m1", "one"), line(52, "m2", "two")];
    for (after, expect) in [
        ("msgid=m1", "history Privmsg bob→#r two"),
        ("msgid=m0", "history Privmsg bob→#r one, history Privmsg bob→#r two"),
    ] {
        let mut story = joined(CAPS);
        shown(&mut story, &lines.each_ref().map(String::as_str));
        assert_eq!(
            catch_up(&mut story, after),
            [format!("<page #R to timestamp=2026-11-22T00:32:52.000Z: {expect}>")]
        );
    }
}

#[test]
fn a_room_that_shows_nothing_is_caught_up_when_the_server_says_that_it_was_all() {
    let mut story = joined(CAPS);
    assert_eq!(catch_up(&mut story, "timestamp=2026-11-22T00:32:50.000Z"), ["<caught up #R>"]);
}

/// Many rooms are caught up with at once: one PING asks for all of them.
#[test]
fn one_pong_answers_for_all_rooms() {
    let channels = ["#r", "#s", "#t"];
    let config = LinkConfig {
        channels: channels.iter().map(|name| name.parse().unwrap()).collect(),
        ..config()
    };
    let mut story = Story::online(config, CAPS);
    for name in channels {
        assert_eq!(story.server(&format!(":ada!a@h JOIN :{name}")), [format!("<joined {name}>")]);
    }
    shown(&mut story, &[&line(53, "m3", "new")]);
    story.after(2);
    let mut ask = |name: &str| {
        let after = Some("timestamp=2026-11-22T00:32:50.000Z".parse().unwrap());
        story.command(LinkCommand::CatchUp { target: name.parse().unwrap(), after, request: 1 })
    };
    let ping = ask("#s");
    assert_eq!((ask("#r"), ask("#t")), (vec![], vec![]), "none while one is under way");
    let token = ping[0].strip_prefix("PING ").unwrap();
    assert_eq!(story.server(":irc.a.test PONG irc.a.test :another"), [""; 0], "another's answer");
    assert_eq!(
        story.server(&format!(":irc.a.test PONG irc.a.test :{token}")),
        [
            "<caught up #s>",
            "<page #r to timestamp=2026-11-22T00:32:53.000Z: history Privmsg bob→#r new>",
            "<caught up #t>"
        ]
    );
    assert_eq!(catch_up(&mut story, "timestamp=2026-11-22T00:32:53.000Z"), ["<caught up #R>"]);
}

/// A line of ours whose echo was lost with the connection.
#[test]
fn a_shown_line_of_our_own_is_confirmed() {
    let mut story = joined(CAPS);
    story.server(":irc.a.test BATCH +1 chathistory :#r");
    story.server(
        "@time=2026-11-22T00:32:53.000Z;msgid=m3;batch=1;+gangline/id=k.1 :ada!u@h PRIVMSG #r :x",
    );
    assert_eq!(story.server(":irc.a.test BATCH :-1"), ["<confirmed k.1 Some(\"m3\")>"]);
}

#[test]
fn lines_without_times_are_of_unknown_age_and_passed_over() {
    let untimed = "@batch=1 :bob!u@h PRIVMSG #r :ada: when?";
    let mut story = joined("batch");
    shown(&mut story, &[untimed]);
    assert_eq!(catch_up(&mut story, "timestamp=2026-11-22T00:32:50.000Z"), ["<caught up #R>"]);
    for after in ["timestamp=2026-11-22T00:32:50.000Z", "msgid=m0"] {
        let mut story = joined(CAPS);
        shown(&mut story, &[untimed, &line(53, "m3", "new")]);
        assert_eq!(
            catch_up(&mut story, after),
            ["<page #R to timestamp=2026-11-22T00:32:53.000Z: history Privmsg bob→#r new>"]
        );
    }
}

#[test]
fn who_leaves_is_shown_all_anew() {
    let mut story = joined(CAPS);
    shown(&mut story, &[&line(53, "m3", "new")]);
    story.server(":bob!b@h KICK #r ada :out");
    story.server("PING 1");
    story.after(5);
    story.server(":ada!a@h JOIN :#r");
    assert_eq!(catch_up(&mut story, "timestamp=2026-11-22T00:32:50.000Z"), ["<caught up #R>"]);
}

/// Without `batch` they look like any line: from the server's notice to the PONG behind them.
#[test]
fn announced_lines_that_look_like_live_ones_are_passed_over() {
    let mut story = Story::new(LinkConfig { channels: vec!["#r".parse().unwrap()], ..config() });
    story.connect();
    story.server(":irc 001 ada :Welcome");
    story.server(":irc 005 ada CHANMODES=b,k,Hl,imnpst CHANTYPES=# :are supported");
    assert_eq!(
        story.server(":irc 376 ada :End"),
        ["<up ada on irc first with 0 caps>", "JOIN #r", "PING gangline-r1"]
    );
    story.server(":ada!a@h JOIN :#r");
    assert_eq!(
        story.server(":bob!b@h NOTICE #r :Replaying up to 5 lines"),
        ["<line Notice bob→#r Replaying up to 5 lines>"],
        "a person's notice is no server's"
    );
    assert_eq!(
        story.server(
            ":irc.a.test NOTICE #r :Replaying up to 5 lines of pre-join history from the last 10m"
        ),
        [""; 0]
    );
    assert_eq!(story.server(":bob!b@h PRIVMSG #R :ada: an old one"), [""; 0]);
    assert_eq!(
        story.server(":bob!b@h PRIVMSG #other :ada: hi"),
        ["<line Privmsg bob→#other ada: hi>"]
    );
    assert_eq!(story.server(":irc.a.test PONG irc.a.test :gangline-r1"), [""; 0]);
    assert_eq!(story.server(":bob!b@h PRIVMSG #r :ada: hi"), ["<line Privmsg bob→#r ada: hi>"]);
    story.command(LinkCommand::Join("#s".parse().unwrap()));
    assert_eq!(
        story.server(":bob!b@h PRIVMSG #r :ada: still?"),
        ["<line Privmsg bob→#r ada: still?>"],
        "it is another room that may show its lines now"
    );
    story.server(":irc.a.test PONG irc.a.test :gangline-r2");
    story.server(":irc.a.test NOTICE #r :Replaying up to 5 lines, says a server that nobody asked");
    assert_eq!(story.server(":bob!b@h PRIVMSG #r :ada: you?"), ["<line Privmsg bob→#r ada: you?>"]);
}

/// A bouncer's playback of a private conversation, which nobody asks for.
#[test]
fn shown_lines_of_a_person_are_told_at_once() {
    let mut story = Story::online(config(), CAPS);
    story.server("BATCH +1 chathistory bob");
    story.server("@batch=1;time=2026-11-22T00:32:53.000Z :bob!b@h PRIVMSG ada :hi");
    assert_eq!(story.server("BATCH -1"), ["<line history Privmsg bob→ada hi>"]);
}
