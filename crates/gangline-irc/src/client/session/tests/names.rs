//! Nicks and channels: refused, taken away, got back.

use super::*;

fn den() -> LinkConfig {
    LinkConfig { channels: vec!["#den".parse().unwrap()], ..config() }
}

/// F8 of the performance facts: nick collision.
#[test]
fn a_taken_nick_is_told_and_another_one_is_used_but_nothing_is_said_under_it() {
    for number in [433, 436, 437] {
        let mut story = Story::new(den());
        story.connect();
        assert_eq!(
            story.server(&format!(":irc {number} * ada :Not for you")),
            ["<nick problem ada Some(\"ada_\") Not for you>", "NICK ada_"]
        );
        story.server(":irc 001 ada_ :Welcome");
        assert_eq!(
            story.server(":irc 376 ada_ :End"),
            ["<up ada_ on irc first with 0 caps>", "JOIN #den"]
        );
        assert_eq!(story.server(":ada_!a@h JOIN #den"), ["<joined #den>"]);
        assert_eq!(story.command(say("k", "#den", "hi")), [""; 0]);
        assert_eq!(story.after(29), [""; 0]);
        assert_eq!(story.after(1), ["NICK ada"]);
        assert_eq!(story.server(":irc 433 ada_ ada :In use"), [""; 0], "known already");
        assert_eq!(story.after(29), [""; 0]);
        assert_eq!(story.after(1), ["NICK ada"]);
        assert_eq!(
            story.server(":ada_!a@h NICK ada"),
            ["<nick ada wanted>", "PRIVMSG #den :hi", "PING gangline-1"]
        );
        assert_eq!(story.after(59), [""; 0]);
    }
}

#[test]
fn when_every_nick_is_refused_the_connection_is_given_up_for_long() {
    let mut story = Story::new(config());
    story.connect();
    let mut tried = Vec::new();
    for refused in ["ada", "ada_", "ad_"] {
        tried.extend(story.server(&format!(":irc 433 * {refused} :In use")).pop());
    }
    assert_eq!(tried, ["NICK ada_", "NICK ad_", "NICK a__"]);
    assert_eq!(
        story.server(":irc 433 * a__ :In use"),
        ["<nick problem ada None In use>", "[slow: no nick is free: In use]"]
    );
}

#[test]
fn a_nick_that_the_server_will_never_take_is_told_and_not_replaced() {
    let mut story = Story::new(den());
    story.connect();
    assert_eq!(
        story.server(":irc 432 * ada :Nickname too long, max. 2 characters"),
        [
            "<nick problem ada None Nickname too long, max. 2 characters>",
            "[slow: the server does not accept the nick: Nickname too long, max. 2 characters]"
        ]
    );
}

#[test]
fn where_there_is_a_list_of_nicks_all_of_it_is_tried_and_nothing_else() {
    let instead = vec!["ada_at_work".parse().unwrap(), "a".parse().unwrap()];
    for number in [432, 433] {
        let mut story = Story::new(LinkConfig { instead: instead.clone(), ..den() });
        story.connect();
        assert_eq!(
            story.server(&format!(":irc {number} * ada :Not for you")),
            ["<nick problem ada Some(\"ada_at_work\") Not for you>", "NICK ada_at_work"]
        );
        assert_eq!(
            story.server(":irc 432 * ada_at_work :Nickname too long"),
            ["<nick problem ada Some(\"a\") Nickname too long>", "NICK a"]
        );
        assert_eq!(
            story.server(":irc 433 * a :In use"),
            ["<nick problem ada None In use>", "[slow: no nick is free: In use]"]
        );
    }
}

#[test]
fn where_the_wanted_nick_is_as_long_as_may_be_a_neighbour_is_no_longer() {
    let mut story = Story::new(den());
    story.connect();
    story.server(":irc 433 * ada :In use");
    assert_eq!(
        story.server(":irc 432 * ada_ :Nickname too long"),
        ["<nick problem ada Some(\"ad_\") Nickname too long>", "NICK ad_"]
    );
}

#[test]
fn an_invitation_to_a_room_that_is_waited_for_is_taken_at_once() {
    let mut story = Story::new(den());
    story.connect();
    story.server(":irc 001 ada :Welcome");
    story.server(":irc 376 ada :End");
    assert_eq!(story.server(":bob!b@h INVITE ada #den"), [""; 0], "it is asked for already");
    story.server(":irc 473 ada #den :Cannot join channel (+i)");
    for other in [":bob!b@h INVITE ada #other", ":bob!b@h INVITE carol #den"] {
        assert_eq!(story.server(other), [""; 0], "{other}");
    }
    assert_eq!(story.server(":bob!b@h INVITE ada :#DEN"), ["JOIN #DEN"]);
    assert_eq!(story.server(":bob!b@h INVITE ada #den"), [""; 0], "once is enough");
}

#[test]
fn lines_that_wait_for_a_room_we_are_thrown_out_of_are_given_back() {
    let mut story = Story::new(den());
    story.connect();
    story.server(":irc 001 ada :Welcome");
    story.server(":irc 376 ada :End");
    story.server(":ada!a@h JOIN #den");
    story.after(10);
    for n in 0..4 {
        story.command(say(&format!("k{n}"), if n == 2 { "bob" } else { "#DEN" }, "x"));
    }
    assert_eq!(
        story.server(":bob!b@h KICK #den ada :out"),
        ["<not-sent k3>", "<kicked #den bob out>"],
        "k0, k1 and the line to bob went out before"
    );
}

#[test]
fn lines_may_be_said_under_another_nick_if_the_configuration_says_so() {
    let mut story = Story::new(LinkConfig { other_nick: OtherNick::Speak, ..config() });
    story.connect();
    story.server(":irc 001 ada9 :Welcome");
    assert_eq!(
        story.server(":irc 376 ada9 :End"),
        [
            "<up ada9 on irc first with 0 caps>",
            "<nick problem ada Some(\"ada9\") the server gave us another nick>"
        ]
    );
    assert_eq!(story.command(say("k", "#den", "hi")), ["PRIVMSG #den :hi", "PING gangline-1"]);
}

/// R1-47.
#[test]
fn the_wanted_nick_is_asked_for_as_soon_as_its_holder_leaves() {
    for line in [":ada!x@h QUIT :a.b c.d", ":ADA!x@h NICK other"] {
        let mut story = Story::new(config());
        story.connect();
        story.server(":irc 433 * ada :In use");
        story.server(":irc 001 ada_ :Welcome");
        story.server(":irc 376 ada_ :End");
        assert_eq!(story.server(line), ["NICK ada"]);
    }
}

#[test]
fn a_nick_changed_by_the_server_is_told_and_asked_back() {
    let mut story = Story::plain();
    assert_eq!(
        story.server(":ada!a@h NICK Guest7"),
        [
            "<nick Guest7 other>",
            "<nick problem ada Some(\"Guest7\") our nick was changed by the server>"
        ]
    );
    assert_eq!(story.command(say("k", "#den", "hi")), [""; 0]);
    assert_eq!(story.after(30), ["NICK ada"]);
}

#[test]
fn another_nick_can_be_wanted() {
    let mut story = Story::plain();
    assert_eq!(story.command(LinkCommand::Nick("bob".parse().unwrap())), ["NICK bob"]);
    assert_eq!(story.server(":ada!a@h NICK bob"), ["<nick bob wanted>"]);
}

/// F7 of the performance facts: KICK.
#[test]
fn after_a_kick_the_channel_is_joined_again_ever_more_slowly() {
    let mut story = Story::new(den());
    story.connect();
    story.server(":irc 001 ada :Welcome");
    story.server(":irc 376 ada :End");
    story.server(":ada!a@h JOIN #den");
    for wait in [5, 10, 20, 40, 60, 60] {
        story.server("PING 1");
        assert_eq!(
            story.server(":bob!b@h KICK #den ada :too loud"),
            ["<kicked #den bob too loud>"]
        );
        assert_eq!(story.after(wait - 1), [""; 0]);
        assert!(story.after(1).contains(&"JOIN #den".to_owned()));
        assert_eq!(story.server(":ada!a@h JOIN #DEN"), ["<joined #DEN>"]);
    }
    for _ in 0..3 {
        story.after(30);
        story.server("PING 1");
    }
    story.server(":bob!b@h KICK #den ada :too loud");
    assert_eq!(story.after(5), ["JOIN #den"], "a minute inside lets the wait begin anew");
}

#[test]
fn a_refused_join_is_told_and_tried_again() {
    for number in [403, 405, 471, 473, 474, 475, 476, 477, 480, 437] {
        let mut story = Story::new(den());
        story.connect();
        story.server(":irc 001 ada :Welcome");
        story.server(":irc 376 ada :End");
        assert_eq!(
            story.server(&format!(":irc {number} ada #den :No")),
            [format!("<join failed #den {number} No>")]
        );
        assert_eq!(story.after(5), ["JOIN #den"]);
    }
}

/// A JOIN that the server drops, or answers in words that are not known here, is told and made
/// again; it does not keep the agent out until the connection ends.
#[test]
fn a_join_without_an_answer_is_told_and_made_again() {
    let mut story = Story::new(den());
    story.connect();
    story.server(":irc 001 ada :Welcome");
    story.server(":irc 376 ada :End");
    story.server("FAIL JOIN NOT_NOW #den :Later");
    story.after(30);
    story.server("PING 1");
    assert_eq!(story.session.deadline(), Some(story.now + Duration::from_secs(30)));
    let mut out = story.after(30);
    out.retain(|said| said != "PING gangline-pulse");
    assert_eq!(out, ["<join failed #den 0 the server did not answer>"]);
    story.server("PING 1");
    assert_eq!(story.after(5), ["JOIN #den"]);
    assert_eq!(story.server(":ada!a@h JOIN #den"), ["<joined #den>"]);
    for _ in 0..10 {
        story.server("PING 1");
        assert_eq!(story.after(30), [""; 0]);
    }
}

/// It may be long until a JOIN is sent at all; and a bouncer brings its channels along, of which none
/// is entered twice.
#[test]
fn a_join_that_waits_here_or_was_not_needed_is_not_missed() {
    let mut story = Story::plain();
    for n in 0..100 {
        story.command(say(&format!("k{n}"), "#pub", "x"));
    }
    story.command(LinkCommand::Join("#den".parse().unwrap()));
    let mut out = Vec::new();
    for second in 0..400 {
        story.server("PING 1");
        let said = story.after(1);
        // Every line is confirmed as soon as it is out.
        for line in said.iter().filter(|it| it.starts_with("PING gangline-")) {
            story.server(&line.replace("PING ", "PONG irc :"));
        }
        if said.iter().any(|it| it.starts_with("JOIN")) {
            story.server(":ada!a@h JOIN #den");
            assert!(second > 60, "the queue was to be long");
        }
        out.extend(said);
    }
    assert_eq!(out.iter().filter(|it| it.starts_with("JOIN")).count(), 1);
    assert!(!out.iter().any(|it| it.starts_with("<join failed")));
    let mut story = Story::new(den());
    story.connect();
    story.server(":irc 001 ada :Welcome");
    story.server(":ada!a@h JOIN #den");
    story.server(":irc 376 ada :End");
    for _ in 0..10 {
        story.server("PING 1");
        assert_eq!(story.after(30), [""; 0]);
    }
}

/// R1-07.
#[test]
fn a_channel_that_was_left_is_not_joined_again() {
    let mut story = Story::new(den());
    story.connect();
    story.server(":irc 001 ada :Welcome");
    story.server(":irc 376 ada :End");
    story.server(":ada!a@h JOIN #den");
    let part = LinkCommand::Part { channel: "#Den".parse().unwrap(), why: "bye\r\nQUIT".into() };
    assert_eq!(story.command(part), ["PART #Den :bye QUIT"]);
    assert_eq!(story.server(":ada!a@h PART #den :bye"), ["<parted #den bye>"]);
    story.lost();
    story.connect();
    story.server(":irc 001 ada :Welcome");
    assert_eq!(story.server(":irc 376 ada :End"), ["<up ada on irc with 0 caps>"]);
}

/// R1-47.
#[test]
fn a_channel_wanted_while_down_is_kept() {
    let mut story = Story::new(config());
    assert_eq!(story.command(LinkCommand::Join("#den".parse().unwrap())), [""; 0]);
    story.connect();
    story.server(":irc 001 ada :Welcome");
    assert_eq!(
        story.server(":irc 376 ada :End"),
        ["<up ada on irc first with 0 caps>", "JOIN #den"]
    );
    assert_eq!(story.command(LinkCommand::Join("#den".parse().unwrap())), [""; 0]);
    assert_eq!(story.command(LinkCommand::Join("#pub".parse().unwrap())), ["JOIN #pub"]);
}

#[test]
fn many_channels_are_joined_in_few_lines() {
    let channels = (0..40).map(|n| format!("#room-{n:02}-{}", "x".repeat(20)).parse().unwrap());
    let mut story = Story::new(LinkConfig { channels: channels.collect(), ..config() });
    story.connect();
    story.server(":irc 001 ada :Welcome");
    let mut out = story.server(":irc 376 ada :End");
    out.extend(story.after(5));
    let joins: Vec<&String> = out.iter().filter(|line| line.starts_with("JOIN")).collect();
    assert_eq!(joins.len(), 4);
    assert!(joins.iter().all(|line| line.len() < 400));
    assert_eq!(joins.iter().map(|line| line.matches('#').count()).sum::<usize>(), 40);
    assert!(joins[0].contains("#room-00"));
}

#[test]
fn what_others_do_in_a_channel_is_passed_on_only_if_wanted() {
    let lines = [
        ":bob!b@h JOIN #den",
        ":bob!b@h PART #den",
        ":x!x@h KICK #den bob :no",
        ":bob!b@h QUIT :*.net *.split",
    ];
    let mut quiet = Story::plain();
    let mut curious = Story::online(LinkConfig { others: Others::Pass, ..config() }, "");
    for line in lines {
        assert_eq!(quiet.server(line), [""; 0]);
        assert_eq!(curious.server(line).len(), 1, "{line}");
    }
}
