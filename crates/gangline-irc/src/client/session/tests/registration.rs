//! Getting in: capabilities, SASL, greetings of all kinds, and the pulse afterwards.

use super::*;

const HELLO: [&str; 3] = ["CAP LS 302", "NICK ada", "USER gangline 0 * :ada"];

fn with_account() -> LinkConfig {
    LinkConfig { sasl: Some(("ada".to_owned(), Secret::new("pw"))), ..config() }
}

/// R1-07
#[test]
fn a_server_with_all_capabilities_is_asked_for_all_of_them() {
    let mut story =
        Story::new(LinkConfig { channels: vec!["#den".parse().unwrap()], ..with_account() });
    assert_eq!(story.connect(), HELLO);
    assert_eq!(story.server(":irc CAP * LS * :message-tags server-time other batch"), [""; 0]);
    assert_eq!(
        story.server(":irc CAP * LS :sasl=EXTERNAL,PLAIN echo-message"),
        ["CAP REQ :message-tags server-time echo-message batch sasl"]
    );
    assert_eq!(
        story.server(":irc CAP * ACK :message-tags server-time echo-message batch sasl"),
        ["AUTHENTICATE PLAIN"]
    );
    assert_eq!(story.server("AUTHENTICATE +"), ["AUTHENTICATE YWRhAGFkYQBwdw=="]);
    assert_eq!(story.server(":irc 900 ada ada!a@h ada :You are now logged in"), [""; 0]);
    assert_eq!(story.server(":irc 903 ada :SASL authentication successful"), ["CAP END"]);
    assert_eq!(story.server(":irc 001 ada :Welcome"), ["PING gangline-up"]);
    assert_eq!(story.server(":irc 005 ada NETWORK=Den BOT=B GANGLINE :are supported"), [""; 0]);
    assert_eq!(
        story.server(":irc 376 ada :End of MOTD"),
        ["<up ada on Den own first with 5 caps>", "JOIN #den", "MODE ada +B"]
    );
    assert_eq!(story.server(":irc PONG irc :gangline-up"), [""; 0]);
    assert_eq!(story.server(":ada!a@h JOIN #den"), ["<joined #den>"]);
}

#[test]
fn a_server_without_capabilities_motd_and_005_lets_us_in_by_its_pong() {
    let mut story = Story::new(config());
    story.connect();
    assert_eq!(story.server(":irc 421 * CAP :Unknown command"), [""; 0]);
    assert_eq!(story.server(":irc 001 ada :Welcome"), ["PING gangline-up"]);
    assert_eq!(story.server("PONG gangline-up"), ["<up ada on irc first with 0 caps>"]);
}

#[test]
fn a_server_that_says_nothing_after_001_is_taken_as_it_is() {
    let mut story = Story::new(config());
    story.connect();
    story.server(":irc 001 ada :Welcome");
    assert_eq!(story.after(1), [""; 0]);
    assert_eq!(story.after(1), ["<up ada on irc first with 0 caps>"]);
}

#[test]
fn a_server_that_accepts_and_says_nothing_is_given_up() {
    let mut story = Story::new(config());
    story.connect();
    assert_eq!(story.after(29), [""; 0]);
    assert_eq!(story.after(1), ["[the server did not let us in in time]"]);
}

#[test]
fn a_refused_list_of_capabilities_is_asked_for_one_by_one() {
    let mut story = Story::new(with_account());
    story.connect();
    story.server(":irc CAP * LS :batch server-time sasl");
    assert_eq!(
        story.server(":irc CAP * NAK :server-time batch sasl"),
        ["CAP REQ server-time", "CAP REQ batch", "CAP REQ sasl"]
    );
    assert_eq!(story.server(":irc CAP * NAK :server-time"), [""; 0]);
    assert_eq!(story.server(":irc CAP * ACK :batch"), [""; 0]);
    assert_eq!(story.server(":irc CAP * ACK :sasl"), ["AUTHENTICATE PLAIN"]);
}

#[test]
fn a_refused_password_is_final_and_the_next_attempt_is_late() {
    for line in [
        ":irc 904 ada :SASL authentication failed",
        ":irc 905 ada :too long",
        ":irc 902 ada :locked",
    ] {
        let mut story = Story::new(with_account());
        story.connect();
        story.server(":irc CAP * LS :sasl");
        story.server(":irc CAP * ACK :sasl");
        story.server("AUTHENTICATE +");
        let out = story.server(line);
        assert_eq!(out.len(), 2, "{out:?}");
        assert!(out[0].starts_with("<nick problem ada None the server refused"), "{out:?}");
        assert!(out[1].starts_with("[slow: the server refused"), "{out:?}");
        assert_eq!(
            story.server(":irc 001 ada :Welcome"),
            [""; 0],
            "nothing is done unauthenticated"
        );
    }
}

#[test]
fn the_password_is_sent_to_loopback_only_and_its_absence_is_told() {
    let mut story = Story::new(with_account());
    story.session.connected(story.now, MaySendPassword::No);
    story.out();
    assert_eq!(story.server(":irc CAP * LS :sasl batch"), ["CAP REQ batch"]);
    assert_eq!(story.server(":irc CAP * ACK :batch"), ["CAP END"]);
    let out = story.server(":irc 001 ada :Welcome");
    assert!(out[0].starts_with("<nick problem ada Some(\"ada\") not logged in"), "{out:?}");
}

/// Services that come back after a netsplit.
#[test]
fn where_a_login_is_offered_later_we_come_anew() {
    let mut story = Story::online(with_account(), "cap-notify");
    assert_eq!(
        story.server(":irc CAP ada NEW :sasl=EXTERNAL"),
        [""; 0],
        "there is nothing that we could use"
    );
    assert_eq!(story.server(":irc CAP ada NEW :sasl=PLAIN"), ["[the server offers logins now]"]);
    let mut story = Story::online(config(), "cap-notify");
    assert_eq!(story.server(":irc CAP ada NEW :sasl"), [""; 0], "we have no account");
    let mut story = Story::new(with_account());
    story.connect();
    for line in [
        ":irc CAP * LS :sasl",
        ":irc CAP * ACK :sasl",
        "AUTHENTICATE +",
        ":irc 903 ada :ok",
        ":irc 001 ada :Welcome",
        ":irc 376 ada :End",
        ":irc CAP ada DEL :sasl",
    ] {
        story.server(line);
    }
    assert_eq!(story.server(":irc CAP ada NEW :sasl"), [""; 0], "we are logged in already");
}

#[test]
fn a_mechanism_that_is_not_plain_is_not_tried() {
    let mut story = Story::new(with_account());
    story.connect();
    assert_eq!(story.server(":irc CAP * LS :sasl=EXTERNAL,SCRAM-SHA-256"), ["CAP END"]);
}

/// R1-07.
#[test]
fn the_server_pings_and_is_answered_before_lines_that_wait_for_the_pace() {
    let mut story = Story::plain();
    for n in 0..9 {
        story.command(say(&format!("k{n}"), "#den", "x"));
    }
    assert_eq!(story.server("PING :a b"), ["PONG :a b"]);
}

/// F6 of the performance facts: half-open connections.
#[test]
fn silence_is_asked_about_after_60_s_and_ends_after_60_more() {
    let mut story = Story::plain();
    story.server("PING 1");
    assert_eq!(story.after(59), [""; 0]);
    assert_eq!(story.after(1), ["PING gangline-pulse"]);
    story.server(":irc PONG irc gangline-pulse");
    assert_eq!(story.after(60), ["PING gangline-pulse"]);
    assert_eq!(story.after(59), [""; 0]);
    assert_eq!(story.after(1), ["[the server does not answer a PING]"]);
    assert_eq!(story.after(600), [""; 0]);
}

#[test]
fn an_idle_link_wakes_once_a_minute() {
    let mut story = Story::rich();
    let mut wakes = 0;
    for _ in 0..10 {
        let due = story.session.deadline().expect("a deadline");
        wakes += 1;
        story.now = due;
        story.session.tick(due);
        story.server("PONG gangline-pulse");
    }
    assert_eq!(wakes, 10);
    assert!(story.now >= Duration::from_secs(1000 + 10 * 60 - 10), "{:?}", story.now);
}

#[test]
fn a_ban_is_not_knocked_at_again_soon_and_an_error_ends_the_connection() {
    let mut story = Story::new(config());
    story.connect();
    assert_eq!(story.server(":irc 465 ada :You're banned!"), [""; 0]);
    assert_eq!(
        story.server("ERROR :Closing link: (a@h) [K-lined: no agents]"),
        ["[slow: banned: You're banned!: the server closed the connection: Closing link: (a@h) \
             [K-lined: no agents]]"]
    );
    assert_eq!(story.server("ERROR :Closing link"), [""; 0]);
    let mut story = Story::plain();
    assert_eq!(
        story.server("ERROR :Closing link"),
        ["[the server closed the connection: Closing link]"]
    );
}

#[test]
fn a_server_that_wants_a_password_is_not_knocked_at_again_soon() {
    let mut story = Story::new(config());
    story.connect();
    assert_eq!(
        story.server(":irc 464 * :Bad password"),
        ["[slow: the server wants a password: Bad password]"]
    );
    let mut story = Story::plain();
    assert_eq!(story.server(":irc 464 ada :Invalid oper credentials"), [""; 0]);
}

#[test]
fn who_was_thrown_out_for_flooding_is_slower_from_then_on() {
    let mut story = Story::plain();
    for error in ["ERROR :Closing link: (a@h) [Excess Flood]", "ERROR :Flooding"] {
        story.server(error);
        story.lost();
        story.connect();
        story.server(":irc 001 ada :Welcome");
        story.server(":irc 376 ada :End");
    }
    story.after(20);
    let mut at = Vec::new();
    for n in 0..3 {
        story.command(say(&format!("k{n}"), "#den", "x"));
    }
    let begin = story.now;
    for _ in 0..40 {
        let out = story.after(1);
        let said = out.iter().filter(|line| line.starts_with("PRIVMSG")).count();
        at.extend(vec![(story.now - begin).as_secs(); said]);
        story.server("PING 1");
    }
    assert_eq!(at, [8, 16], "one went at once; a line and its PING in eight seconds");
}

#[test]
fn capabilities_that_come_and_go_later_are_followed() {
    let mut story = Story::plain();
    assert_eq!(
        story.server(":irc CAP ada NEW :echo-message message-tags other"),
        ["CAP REQ :message-tags echo-message"]
    );
    story.server(":irc CAP ada ACK :message-tags echo-message");
    assert_eq!(story.command(say("k", "#den", "x")), ["@+gangline/id=k PRIVMSG #den :x"]);
    story.server(":irc CAP ada DEL :echo-message");
    assert_eq!(
        story.command(say("l", "#den", "x")),
        ["@+gangline/id=l PRIVMSG #den :x", "PING gangline-2"]
    );
}

/// R1-47.
#[test]
fn a_second_connection_begins_from_nothing_and_is_not_the_first() {
    let mut story = Story::rich();
    story.lost();
    assert_eq!(story.connect(), HELLO);
    story.server(":irc 001 ada :Welcome");
    assert_eq!(story.server(":irc 422 ada :No MOTD"), ["<up ada on irc with 0 caps>"]);
}

#[test]
fn quitting_says_goodbye_and_takes_nothing_more() {
    let mut story = Story::plain();
    assert_eq!(
        story.command(LinkCommand::Quit { reason: "good\nnight".to_owned() }),
        ["QUIT :good night"]
    );
    assert_eq!(story.server(":b!b@h PRIVMSG ada :hi"), [""; 0]);
    assert_eq!(story.command(say("k", "#den", "x")), ["<not-sent k>"]);
    assert_eq!(story.after(1000), [""; 0]);
}
