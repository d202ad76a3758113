//! The link over real sockets, against a scripted server.
#![expect(clippy::unwrap_used, reason = "in a test a failure is the message")]

use std::time::Duration;

use gangline_irc::client::{
    LineKind, LinkCommand, LinkConfig, LinkEnd, LinkEvent, Others, Say, Timing,
};
use gangline_os::secret::Secret;

use crate::client_peer::{Conversation, Peer, Rig, quick};

const ALL: &str = "account-tag batch draft/chathistory draft/multiline echo-message labeled-response \
                   message-tags server-time";

fn say(key: &str, text: &str) -> LinkCommand {
    LinkCommand::Say(Say {
        key: key.to_owned(),
        target: "#den".parse().unwrap(),
        text: text.to_owned(),
        further: Vec::new(),
        connection: None,
        kind: LineKind::Privmsg,
        reply_to: None,
    })
}

fn confirmed(key: &str, msgid: Option<&str>) -> LinkEvent {
    LinkEvent::Confirmed { key: key.to_owned(), msgid: msgid.map(str::to_owned), at: None }
}

fn joined() -> LinkEvent {
    LinkEvent::Joined { channel: "#den".parse().unwrap() }
}

async fn let_in(peer: &mut Conversation, rig: &mut Rig) {
    peer.expect("JOIN #den").await;
    peer.send(":ada!a@h JOIN #den").await;
    rig.up().await;
    assert_eq!(rig.event().await, joined());
}

/// R1-07
#[tokio::test]
async fn a_link_registers_with_all_capabilities_and_a_password_and_its_lines_are_echoed() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(LinkConfig {
        sasl: Some(("ada".to_owned(), Secret::new("pw"))),
        ..quick(listener.address())
    });
    let mut peer = listener.accept().await;
    peer.expect_hello().await;
    peer.send(&format!(":irc CAP * LS * :{ALL}")).await;
    peer.send(":irc CAP * LS :sasl=PLAIN unknown").await;
    let asked = peer.expect_start("CAP REQ :").await;
    let mut names: Vec<&str> = asked["CAP REQ :".len()..].split(' ').collect();
    names.sort_unstable();
    assert_eq!(
        names.join(" "),
        format!("{ALL} sasl").replace("server-time sasl", "sasl server-time")
    );
    peer.send(&format!(":irc CAP * ACK :{}", names.join(" "))).await;
    peer.expect("AUTHENTICATE PLAIN").await;
    peer.send("AUTHENTICATE +").await;
    peer.expect("AUTHENTICATE YWRhAGFkYQBwdw==").await;
    peer.send(":irc 903 ada :ok").await;
    peer.expect("CAP END").await;
    peer.send(":irc 001 ada :Welcome\r\n:irc 005 ada BOT=B NETWORK=Den :are supported").await;
    peer.expect("PING gangline-up").await;
    peer.send(":irc 422 ada :No MOTD").await;
    let up = rig.up().await;
    assert!(
        matches!(&up, LinkEvent::Up { nick, network, first: true, own_server: false, caps, .. }
            if nick == "ada" && network == "Den" && caps.len() == 9),
        "{up:?}"
    );
    peer.expect("JOIN #den").await;
    peer.expect("MODE ada +B").await;
    rig.command(say("k.1", "hi")).await;
    peer.expect("@label=gangline-1;+gangline/id=k.1 PRIVMSG #den :hi").await;
    peer.send("@label=gangline-1;msgid=m1;+gangline/id=k.1 :ada!a@h PRIVMSG #den :hi").await;
    assert_eq!(rig.event().await, confirmed("k.1", Some("m1")));
}

/// R1-01, R1-07.
#[tokio::test]
async fn a_link_works_without_capabilities_motd_and_005_and_pongs_confirm_its_lines() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(quick(listener.address()));
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    rig.command(say("k", "hi")).await;
    peer.expect("PRIVMSG #den :hi").await;
    peer.expect("PING gangline-1").await;
    peer.send(":irc PONG irc :gangline-1").await;
    assert_eq!(rig.event().await, confirmed("k", None));
    peer.send(":bob!b@h PRIVMSG #den :ada: hello").await;
    match rig.event().await {
        LinkEvent::Line(line) => {
            assert_eq!((line.nick.as_str(), line.text.as_str()), ("bob", "ada: hello"));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_refused_password_ends_the_attempt_and_the_next_one_is_late() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(LinkConfig {
        sasl: Some(("ada".to_owned(), Secret::new("wrong"))),
        ..quick(listener.address())
    });
    let mut peer = listener.accept().await;
    peer.expect_hello().await;
    peer.send(":irc CAP * LS :sasl").await;
    peer.expect("CAP REQ sasl").await;
    peer.send(":irc CAP * ACK :sasl").await;
    peer.expect("AUTHENTICATE PLAIN").await;
    peer.send("AUTHENTICATE +").await;
    peer.expect_start("AUTHENTICATE ").await;
    peer.send(":irc 904 ada :SASL authentication failed").await;
    let event = rig.event().await;
    assert!(matches!(&event, LinkEvent::NickProblem { using: None, .. }), "{event:?}");
    let (why, retry_in) = rig.down().await;
    assert!(why.contains("SASL authentication failed"), "{why}");
    assert!(retry_in >= Duration::from_millis(300), "30 units at least: {retry_in:?}");
    assert_eq!(peer.line().await, None, "the connection is closed");
    listener.accept().await.expect_hello().await;
}

/// F8 of the performance facts.
#[tokio::test]
async fn a_taken_nick_is_told_nothing_is_said_and_the_nick_is_got_back() {
    let listener = Peer::bind().await;
    let config = LinkConfig { channels: Vec::new(), ..quick(listener.address()) };
    let mut rig = Rig::start(config);
    let mut peer = listener.accept().await;
    peer.expect_hello().await;
    peer.send(":irc 433 * ada :Nickname is already in use").await;
    peer.expect("NICK ada_").await;
    peer.send(":irc 001 ada_ :Welcome").await;
    peer.expect("PING gangline-up").await;
    peer.send(":irc 376 ada_ :End").await;
    let event = rig.event().await;
    assert!(
        matches!(&event, LinkEvent::NickProblem { using: Some(nick), .. } if nick == "ada_"),
        "{event:?}"
    );
    rig.up().await;
    rig.command(say("k", "hi")).await;
    peer.expect("NICK ada").await;
    peer.send(":irc 433 ada_ ada :Nickname is already in use").await;
    peer.expect("NICK ada").await;
    peer.send(":ada_!a@h NICK ada").await;
    assert_eq!(rig.event().await, LinkEvent::NickChanged { nick: "ada".into(), wanted: true });
    // It may have asked again before it read the answer.
    let after = async {
        loop {
            match peer.line().await.as_deref() {
                Some("NICK ada") => {}
                other => return other.map(str::to_owned),
            }
        }
    };
    assert_eq!(after.await.as_deref(), Some("PRIVMSG #den :hi"));
}

/// R1-47, F6 of the performance facts.
#[tokio::test]
async fn after_a_reset_the_caller_knows_what_is_unconfirmed_and_says_it_again() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(quick(listener.address()));
    let mut peer = listener.accept_with(ALL).await;
    let_in(&mut peer, &mut rig).await;
    rig.command(say("k.1", "hi")).await;
    peer.expect("@label=gangline-1;+gangline/id=k.1 PRIVMSG #den :hi").await;
    peer.reset();
    assert_eq!(rig.event().await, LinkEvent::Unconfirmed { key: "k.1".to_owned() });
    let (why, retry_in) = rig.down().await;
    assert!(why.contains("reset"), "{why}");
    assert!(retry_in <= Duration::from_millis(10), "{retry_in:?}");
    let mut peer = listener.accept_with(ALL).await;
    let up = rig.up().await;
    assert!(matches!(up, LinkEvent::Up { first: false, .. }), "{up:?}");
    peer.expect("JOIN #den").await;
    rig.command(say("k.1", "hi")).await;
    peer.expect_start("@label=gangline-").await;
    let at = "2026-11-21T21:33:48.123Z";
    peer.send(&format!("@time={at};msgid=m1;+gangline/id=k.1 :ada!a@h PRIVMSG #den :hi")).await;
    let (key, msgid) = ("k.1".to_owned(), Some("m1".to_owned()));
    let said = LinkEvent::Confirmed { key, msgid, at: Some(at.to_owned()) };
    assert_eq!(rig.event().await, said);
}

/// R1-47
#[tokio::test]
async fn a_server_that_hangs_up_at_once_is_asked_ever_more_slowly() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(quick(listener.address()));
    for attempt in 0..6u32 {
        let mut peer = listener.accept().await;
        peer.expect_hello().await;
        peer.send("ERROR :Closing link: too many connections").await;
        let (why, retry_in) = rig.down().await;
        assert!(why.contains("too many connections"), "{why}");
        let whole = Duration::from_millis(10) * 2u32.pow(attempt);
        assert!(retry_in >= whole / 2 && retry_in <= whole, "{attempt}: {retry_in:?}");
    }
}

#[tokio::test]
async fn only_a_healthy_connection_lets_the_wait_begin_anew() {
    let listener = Peer::bind().await;
    let mut config = quick(listener.address());
    config.timing.healthy_after = Duration::from_millis(50);
    let mut rig = Rig::start(config);
    for _ in 0..4 {
        drop(listener.accept().await);
        rig.down().await;
    }
    let mut peer = listener.accept_plain().await;
    rig.up().await;
    peer.expect("JOIN #den").await;
    // Healthy for longer than the limit: the time that so many answered PINGs take.
    // sleep: the time itself is what is tested
    let until = tokio::time::sleep(Duration::from_millis(60));
    tokio::pin!(until);
    while !until.is_elapsed() {
        peer.send("PING x").await;
        peer.expect("PONG x").await;
        tokio::time::timeout(Duration::from_millis(5), &mut until).await.ok();
    }
    drop(peer);
    let (_, retry_in) = rig.down().await;
    assert!(retry_in <= Duration::from_millis(10), "{retry_in:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_yet_is_found_when_it_is() {
    // Nobody listens at a port that is only bound, and nobody else gets it.
    let bound = tokio::net::TcpSocket::new_v4().unwrap();
    bound.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = bound.local_addr().unwrap().to_string();
    let mut rig = Rig::start(quick(address));
    let (why, _) = rig.down().await;
    assert!(why.contains("cannot connect"), "{why}");
    rig.command(say("k", "hi")).await;
    while rig.event().await != (LinkEvent::NotSent { key: "k".to_owned() }) {}
    let listener = Peer::from(bound.listen(16).unwrap());
    listener.accept_plain().await;
    while !matches!(rig.event().await, LinkEvent::Up { first: true, .. }) {}
}

#[tokio::test]
async fn a_server_that_accepts_and_says_nothing_is_left() {
    let listener = Peer::bind().await;
    let mut config = quick(listener.address());
    config.timing.register_within = Duration::from_millis(50);
    let mut rig = Rig::start(config);
    let mut peer = listener.accept().await;
    peer.expect_hello().await;
    let (why, _) = rig.down().await;
    assert!(why.contains("let us in"), "{why}");
    assert_eq!(peer.line().await, None);
}

#[tokio::test]
async fn a_server_that_falls_silent_is_pinged_and_left() {
    let listener = Peer::bind().await;
    let mut config = quick(listener.address());
    config.timing = Timing {
        // Long enough for the first answer.
        ping_every: Duration::from_millis(500),
        ping_timeout: Duration::from_secs(2),
        ..config.timing
    };
    let mut rig = Rig::start(config);
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    peer.expect("PING gangline-pulse").await;
    peer.send("PONG gangline-pulse").await;
    peer.expect("PING gangline-pulse").await;
    let (why, _) = rig.down().await;
    assert!(why.contains("does not answer"), "{why}");
}

#[tokio::test]
async fn a_caller_catches_up_page_by_page() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(quick(listener.address()));
    let mut peer = listener.accept_with(ALL).await;
    let_in(&mut peer, &mut rig).await;
    let mut after = "msgid=m0".parse().unwrap();
    let mut texts = Vec::new();
    for (page, ids) in [(1, vec!["m1", "m2"]), (2, vec!["m3"]), (3, vec![])] {
        let target = "#den".parse().unwrap();
        rig.command(LinkCommand::CatchUp { target, after: Some(after), request: page }).await;
        let asked = peer.expect_start(&format!("@label=gangline-h{page} CHATHISTORY AFTER ")).await;
        peer.send(&format!("@label=gangline-h{page} BATCH +p{page} chathistory #den")).await;
        for id in &ids {
            let line = format!("@batch=p{page};msgid={id} :bob!b@h PRIVMSG #den :{id}");
            peer.send(&line).await;
        }
        peer.send(&format!("BATCH -p{page}")).await;
        match rig.event().await {
            LinkEvent::HistoryPage { lines, cursor, more: false, request, .. } => {
                assert_eq!(request, page);
                assert!(lines.iter().all(|line| line.from_history));
                texts.extend(lines.into_iter().map(|line| line.text));
                after = cursor;
            }
            LinkEvent::CaughtUp { request, .. } => {
                assert_eq!(request, page);
                assert!(asked.ends_with("#den msgid=m3 100"), "{asked}");
                assert_eq!(texts, ["m1", "m2", "m3"]);
                return;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("never caught up");
}

/// F7 of the performance facts.
#[tokio::test]
async fn a_link_that_is_kicked_says_so_and_comes_back() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(quick(listener.address()));
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    peer.send(":bob!b@h KICK #den ada :out").await;
    assert_eq!(
        rig.event().await,
        LinkEvent::Kicked {
            channel: "#den".parse().unwrap(),
            by: "bob".to_owned(),
            why: "out".to_owned()
        }
    );
    peer.expect("JOIN #den").await;
    peer.send(":ada!a@h JOIN #den").await;
    assert_eq!(rig.event().await, joined());
}

#[tokio::test]
async fn lines_over_the_limit_and_broken_bytes_are_passed_over() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(quick(listener.address()));
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    let long = vec![b'x'; 1_000_000];
    peer.send_bytes(b":bob!b@h PRIVMSG #den :").await;
    peer.send_bytes(&long).await;
    peer.send_bytes(b"\r\n\xff\xfe\0\r\n:\r\n@\r\n\r\n").await;
    peer.send_bytes(b":bob!b@h PRIVMSG #den :caf\xe9\r\n").await;
    match rig.event().await {
        LinkEvent::Line(line) => assert_eq!(line.text, "caf\u{fffd}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_slow_caller_gets_every_line_in_order_and_the_link_lives() {
    const LINES: usize = 5000;
    let listener = Peer::bind().await;
    let mut rig = Rig::start_with_room(quick(listener.address()), 1);
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    let flood = async {
        for n in 0..LINES {
            peer.send(&format!(":bob!b@h PRIVMSG #den :{n}")).await;
        }
        peer.send("PING end").await;
        peer.expect("PONG end").await;
    };
    let read = async {
        for n in 0..LINES {
            match rig.event().await {
                LinkEvent::Line(line) => assert_eq!(line.text, n.to_string()),
                other => panic!("{other:?}"),
            }
        }
    };
    tokio::join!(flood, read);
}

#[tokio::test]
async fn a_caller_that_takes_nothing_holds_back_the_server_and_can_still_stop_the_link() {
    const MOST: usize = 24 << 20;
    let listener = Peer::bind().await;
    let mut rig = Rig::start_with_room(quick(listener.address()), 1);
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    let line = format!(":bob!b@h PRIVMSG #den :{}\r\n", "x".repeat(4000));
    let mut sent = 0;
    while sent < MOST && peer.takes(line.as_bytes(), Duration::from_millis(500)).await {
        sent += line.len();
    }
    assert!(sent < MOST, "the link read {sent} bytes that nobody wanted");
    rig.stop.cancel();
    let (_, end) = rig.rest().await;
    assert_eq!(end, LinkEnd::Stopped);
}

#[tokio::test]
async fn stopping_says_goodbye_tells_what_is_unconfirmed_and_ends() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(quick(listener.address()));
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    rig.command(say("k", "hi")).await;
    peer.expect("PRIVMSG #den :hi").await;
    peer.expect("PING gangline-1").await;
    rig.stop.cancel();
    peer.expect("QUIT :shutting down").await;
    drop(peer);
    let unconfirmed = vec![LinkEvent::Unconfirmed { key: "k".to_owned() }];
    assert_eq!(rig.rest().await, (unconfirmed, LinkEnd::Stopped));
}

#[tokio::test]
async fn quitting_does_not_wait_for_a_server_that_does_not_close() {
    let listener = Peer::bind().await;
    let mut rig = Rig::start(quick(listener.address()));
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    rig.command(LinkCommand::Quit { reason: "bye".to_owned() }).await;
    peer.expect("QUIT :bye").await;
    assert_eq!(rig.rest().await, (Vec::new(), LinkEnd::Quit));
    assert_eq!(peer.line().await, None);
}

#[tokio::test]
async fn a_link_ends_when_nobody_commands_it_or_listens() {
    let listener = Peer::bind().await;
    let rig = Rig::start(quick(listener.address()));
    drop(listener.accept().await);
    assert_eq!(rig.drop_commands().await, LinkEnd::CommandsClosed);
    let rig = Rig::start(quick(listener.address()));
    drop(listener.accept().await);
    assert_eq!(rig.drop_events().await, LinkEnd::EventsClosed);
}

#[tokio::test]
async fn what_has_no_event_is_passed_on_if_wanted() {
    let listener = Peer::bind().await;
    let config = LinkConfig { others: Others::Pass, ..quick(listener.address()) };
    let mut rig = Rig::start(config);
    let mut peer = listener.accept_plain().await;
    let_in(&mut peer, &mut rig).await;
    peer.send(":irc 353 ada = #den :ada bob").await;
    match rig.event().await {
        LinkEvent::Other(message) => assert_eq!(message.params[3], "ada bob"),
        other => panic!("{other:?}"),
    }
}
