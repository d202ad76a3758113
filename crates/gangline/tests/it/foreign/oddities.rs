//! What servers and people send beside sentences: CTCP, colours, other encodings, bans, limits,
//! cookies.

use super::*;

/// What is no line for the agent wakes nobody; what is one is understood however it is dressed.
fn hears_what_is_meant_for_it(kind: Kind) {
    let stage = stage();
    let server = kind.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    for line in [
        "PRIVMSG fx-ada :\u{1}VERSION\u{1}",
        "PRIVMSG fx-ada :\u{1}PING 12345\u{1}",
        "PRIVMSG fx-ada :\u{1}DCC SEND secrets.txt 2130706433 4000 12\u{1}",
        "PRIVMSG #general :\u{1}VERSION @fx-ada say exactly wrong\u{1}",
        "NOTICE #general :@fx-ada say exactly wrong",
        "NOTICE fx-ada :say exactly wrong",
        "PRIVMSG #general :mail me at someone@fx-ada.test",
        "TOPIC #general :@fx-ada say exactly wrong",
        "INVITE fx-ada #elsewhere",
        "MODE #general +v fx-ada",
        "AWAY :@fx-ada say exactly wrong",
    ] {
        alice.send(line);
    }
    server.oper("oper").send("WALLOPS :@fx-ada say exactly wrong");
    alice.send_bytes(b"PRIVMSG #general :@fx-ada say exactly caf\xe9\r\n");
    let text = alice.hears(ADA, "#general", "caf");
    assert_eq!(text, "caf\u{fffd}", "what is no UTF-8 is one sign");
    asks(&mut alice, "caf\u{e9}");
    alice.say("#general", "\u{2}\u{3}04,01@fx-ada\u{3}\u{f} say exactly coloured");
    alice.hears(ADA, "#general", "coloured");
    alice.say("#general", "\u{1}ACTION asks @fx-ada to say exactly moved\u{1}");
    alice.hears(ADA, "#general", "stand-in");
    let long = format!("@fx-ada say exactly {}", "long ".repeat(120));
    alice.send_bytes(format!("{}\r\n", &format!("PRIVMSG #general :{long}")[..510]).as_bytes());
    alice.hears(ADA, "#general", "long long long");
    all_confirmed(&stage);
    let wrong = alice.lines().into_iter().find(|line| {
        let said = irc::said(line);
        said.is_some_and(|said| {
            said.from == ADA && (said.text.contains("wrong") || said.text.contains('\u{1}'))
        })
    });
    assert_eq!(wrong, None);
    assert_eq!(stage.query("SELECT count(*) FROM messages"), ["5"]);
}

#[test]
fn on_ngircd_only_what_is_meant_for_it_wakes_the_agent() {
    if !Kind::Ngircd.is_missing("oddities::on_ngircd_only_what") {
        hears_what_is_meant_for_it(Kind::Ngircd);
    }
}

#[test]
fn on_inspircd_only_what_is_meant_for_it_wakes_the_agent() {
    if !Kind::Inspircd.is_missing("oddities::on_inspircd_only_what") {
        hears_what_is_meant_for_it(Kind::Inspircd);
    }
}

#[test]
fn on_inspircd_with_extensions_only_what_is_meant_for_it_wakes_the_agent() {
    if !Kind::Ircv3.is_missing("oddities::on_inspircd_with_extensions_only_what") {
        hears_what_is_meant_for_it(Kind::Ircv3);
    }
}

/// R1-07: servers that let in only who answers a PING first.
fn answers_the_cookie(start: impl FnOnce(&Stage) -> Ircd) {
    let stage = stage();
    let _server = start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    asks(&mut alice, "let in");
}

#[test]
fn ngircd_that_asks_for_a_pong_first_lets_the_agent_in() {
    if !Kind::Ngircd.is_missing("oddities::ngircd_that_asks_for_a_pong") {
        let server = Ngircd { options: "RequireAuthPing = yes", ..Ngircd::default() };
        answers_the_cookie(|stage| server.start(&stage.world, &stage.irc));
    }
}

#[test]
fn inspircd_that_asks_for_a_pong_first_lets_the_agent_in() {
    if !Kind::Inspircd.is_missing("oddities::inspircd_that_asks_for_a_pong") {
        let server = Inspircd { modules: &["conn_waitpong"], ..Inspircd::default() };
        answers_the_cookie(|stage| server.start(&stage.world, &stage.irc));
    }
}

/// A server that does not let the agent in says why, and so does the agent.
fn is_kept_out(server: &Ircd, stage: &Stage, ban: &str) -> (IrcPeer, IrcPeer, Running) {
    let mut oper = server.oper("oper");
    oper.send(ban);
    oper.send("PING shut");
    oper.wait("the ban", |line| (irc::command(line) == "PONG").then_some(()));
    let alice = person(stage, "alice");
    let hub = stage.start(&[]);
    tells_its_operator(stage, "no agents");
    (oper, alice, hub)
}

/// When the ban is lifted the agent comes.
#[test]
fn ngircd_bans_are_told_to_the_operator() {
    if Kind::Ngircd.is_missing("oddities::ngircd_bans") {
        return;
    }
    let stage = stage();
    let server = Kind::Ngircd.start(&stage);
    let (mut oper, mut alice, _hub) =
        is_kept_out(&server, &stage, "KLINE *!~gangline@* 600 :no agents");
    oper.send("KLINE *!~gangline@*");
    joins(&mut alice, ADA);
    asks(&mut alice, "forgiven");
    tells_of_no_trouble(&stage);
}

#[test]
fn inspircd_bans_are_told_to_the_operator() {
    if Kind::Inspircd.is_missing("oddities::inspircd_bans") {
        return;
    }
    let stage = stage();
    let more = "<insane hostmasks=\"yes\">";
    let server = Inspircd { more, ..Inspircd::default() }.start(&stage.world, &stage.irc);
    is_kept_out(&server, &stage, "KLINE gangline@* 600 :no agents");
}

/// Too many connections of one address: said, tried again, and let in when there is room.
fn waits_for_room(start: impl FnOnce(&Stage) -> Ircd, words: &str) {
    // The hub takes no place here.
    let more = format!("{FOREIGN}\nwebhooks: {{irc_channel: null}}");
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, (&more, ""));
    let _server = start(&stage);
    let mut alice = person(&stage, "alice");
    let other = person(&stage, "other");
    let _hub = stage.start(&[]);
    tells_its_operator(&stage, words);
    drop(other);
    joins(&mut alice, ADA);
    asks(&mut alice, "room enough");
    tells_of_no_trouble(&stage);
}

#[test]
fn ngircd_that_is_full_is_waited_for() {
    if !Kind::Ngircd.is_missing("oddities::ngircd_that_is_full") {
        let server = Ngircd { limits: "MaxConnectionsIP = 2", ..Ngircd::default() };
        waits_for_room(|stage| server.start(&stage.world, &stage.irc), "too many connections");
    }
}

#[test]
fn inspircd_that_is_full_is_waited_for() {
    if !Kind::Inspircd.is_missing("oddities::inspircd_that_is_full") {
        let server = Inspircd { per_address: 2, ..Inspircd::default() };
        waits_for_room(|stage| server.start(&stage.world, &stage.irc), "No more connections");
    }
}

/// A server whose password nobody gave us.
fn wants_a_password(start: impl FnOnce(&Stage) -> Ircd, words: &str) {
    let stage = stage();
    let _server = start(&stage);
    let _hub = stage.start(&[]);
    tells_its_operator(&stage, words);
}

#[test]
fn ngircd_with_a_password_is_told_to_the_operator() {
    if !Kind::Ngircd.is_missing("oddities::ngircd_with_a_password") {
        let server = Ngircd { limits: "[Global]\nPassword = sesame", ..Ngircd::default() };
        wants_a_password(|stage| server.start(&stage.world, &stage.irc), "Bad password");
    }
}

#[test]
fn inspircd_with_a_password_is_told_to_the_operator() {
    if !Kind::Inspircd.is_missing("oddities::inspircd_with_a_password") {
        let server = Inspircd { connect: "password=\"sesame\"", ..Inspircd::default() };
        wants_a_password(|stage| server.start(&stage.world, &stage.irc), "Access denied");
    }
}

/// Names fold by the server's rules, and a person's nick is written as they write it.
#[test]
fn nicks_with_brackets_are_answered_on_ascii_and_rfc1459_servers() {
    if Kind::Inspircd.is_missing("oddities::nicks_with_brackets") {
        return;
    }
    for mapping in ["ascii", "rfc1459"] {
        let stage = stage();
        let more = format!("<options casemapping=\"{mapping}\">");
        let server = Inspircd { more: &more, ..Inspircd::default() };
        let _server = server.start(&stage.world, &stage.irc);
        let mut alice = person(&stage, "Alice[x]\\^");
        let _hub = up(&stage, &mut alice);
        alice.say("FX-Ada", "say exactly in private");
        alice.hears(ADA, "Alice[x]\\^", "in private");
        alice.say("#GENERAL", "@FX-ADA say exactly in the room");
        alice.hears(ADA, "#general", "in the room");
        all_confirmed(&stage);
    }
}

/// After a collision InspIRCd leaves people with nicks such as `1AAAAAAAB`.
#[test]
fn a_person_whose_nick_is_a_number_of_the_server_is_answered() {
    if Kind::Inspircd.is_missing("oddities::a_person_whose_nick_is_a_number") {
        return;
    }
    let stage = stage();
    let _server = Kind::Inspircd.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    alice.send("NICK 0");
    let number = alice.wait("the number", |line| {
        (irc::command(line) == "NICK").then(|| line.rsplit([' ', ':']).next().unwrap().to_owned())
    });
    asks(&mut alice, "in the room");
    alice.say(ADA, "say exactly in private");
    alice.hears(ADA, &number, "in private");
}

/// `CLIENTTAGDENY`: the server takes our names off our lines.
#[test]
fn lines_are_confirmed_where_client_tags_are_denied() {
    if Kind::Ircv3.is_missing("oddities::lines_are_confirmed_where") {
        return;
    }
    let unlabelled: Vec<&str> =
        ircd::IRCV3.iter().copied().filter(|m| *m != "ircv3_labeledresponse").collect();
    for modules in [ircd::IRCV3, unlabelled.as_slice()] {
        let stage = stage();
        let more = "<ctctags allowclientonlytags=\"no\">";
        let server = Inspircd { modules, more, ..Inspircd::default() };
        let _server = server.start(&stage.world, &stage.irc);
        let mut alice = person(&stage, "alice");
        let _hub = up(&stage, &mut alice);
        asks(&mut alice, "nameless");
        all_confirmed(&stage);
        assert_eq!(said_by(&alice, ADA, "#general"), ["nameless"]);
    }
}
