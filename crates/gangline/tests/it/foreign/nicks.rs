//! Nicks that are too long, somebody else's, or taken away. Another nick is never used silently.

use super::*;

/// Until it is seen that nobody of ours has come: the agent has given up its attempt.
fn nobody_came(alice: &IrcPeer) {
    let came = alice.lines().into_iter().find(|line| line.starts_with(":fx-"));
    assert_eq!(came, None, "it is on the network under another nick");
}

const LONG: &str = "fx-ada-lovelace";

/// A nick over the server's limit: the agent stays away, and says what to do about it.
fn too_long(server: impl FnOnce(&Stage) -> Ircd, words: &str) -> (Stage, Ircd, Running) {
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[LONG], None, (FOREIGN, ""));
    let server = server(&stage);
    let alice = person(&stage, "alice");
    let hub = stage.start(&[]);
    let log = tells_its_operator(&stage, "the server does not accept the nick fx-ada-lovelace");
    assert!(log.contains(words) && log.contains("agents.yaml"), "{log}");
    nobody_came(&alice);
    (stage, server, hub)
}

/// ngIRCd's own limit is 9. With a higher one the agent comes.
#[test]
fn ngircd_takes_no_nick_over_its_limit_and_the_operator_is_told() {
    if Kind::Ngircd.is_missing("nicks::ngircd_takes_no_nick") {
        return;
    }
    let start = |stage: &Stage, nick_length| {
        Ngircd { nick_length, ..Ngircd::default() }.start(&stage.world, &stage.irc)
    };
    let (stage, server, _hub) = too_long(|stage| start(stage, 9), "Nickname too long");
    drop(server);
    let _server = start(&stage, 15);
    let mut bob = person(&stage, "bob");
    bob.wait("the agent", |line| line.starts_with(":fx-ada-lovelace!").then_some(()));
    bob.say("#general", "@fx-ada-lovelace say exactly here");
    bob.hears(LONG, "#general", "here");
    tells_of_no_trouble(&stage);
}

#[test]
fn inspircd_takes_no_nick_over_its_limit_and_the_operator_is_told() {
    if !Kind::Inspircd.is_missing("nicks::inspircd_takes_no_nick") {
        let limit = Inspircd { more: "<limits maxnick=\"9\">", ..Inspircd::default() };
        too_long(|stage| limit.start(&stage.world, &stage.irc), "Erroneous Nickname");
    }
}

/// A nick as long as may be is somebody else's: the agent waits under a neighbour of it, says
/// nothing, and answers under its own when that is free.
fn taken(start: impl Fn(&Stage) -> Ircd, beside: &str) {
    let agent = "fx-ada-xy";
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[agent], None, (FOREIGN, ""));
    let _server = start(&stage);
    let mut squatter = person(&stage, agent);
    let mut alice = person(&stage, "alice");
    let _hub = stage.start(&[]);
    joins(&mut alice, beside);
    tells_its_operator(&stage, &format!("connected as {beside}, and silent until it is free"));
    alice.say("#general", "@fx-ada-xy say exactly who am I");
    eventually("the answer in the outbox", || {
        stage.query("SELECT state FROM outbox WHERE body LIKE '%who am I%'").pop()
    });
    squatter.send("QUIT :done");
    alice.hears(agent, "#general", "who am I");
    tells_of_no_trouble(&stage);
    assert_eq!(said_by(&alice, beside, "#general"), [""; 0]);
}

#[test]
fn on_ngircd_a_taken_nick_of_full_length_is_waited_for() {
    if !Kind::Ngircd.is_missing("nicks::on_ngircd_a_taken_nick") {
        let limit = Ngircd { nick_length: 9, ..Ngircd::default() };
        taken(|stage| limit.start(&stage.world, &stage.irc), "fx-ada-x_");
    }
}

#[test]
fn on_inspircd_a_taken_nick_of_full_length_is_waited_for() {
    if !Kind::Inspircd.is_missing("nicks::on_inspircd_a_taken_nick") {
        let limit = Inspircd { more: "<limits maxnick=\"9\">", ..Inspircd::default() };
        taken(|stage| limit.start(&stage.world, &stage.irc), "fx-ada-x_");
    }
}

/// The server believes that our last connection lives on: the nick is had when that ends, and what
/// waited is said once.
fn a_ghost(kind: Kind) {
    let stage = stage();
    let address = format!("127.0.0.1:{}", stage::free_port());
    let _server = kind.start_at(&stage, &address);
    let cable = Cable::between(&stage.irc, &address);
    let mut alice = person_at(&address, "alice");
    let _hub = up(&stage, &mut alice);
    at_work(&stage, &mut alice);
    cable.leave_ghosts();
    joins(&mut alice, "fx-ada_");
    worked(&stage);
    cable.bury();
    alice.hears(ADA, "#general", "worked");
    asks(&mut alice, "myself again");
    all_confirmed(&stage);
    assert_eq!(said_by(&alice, ADA, "#general"), ["worked", "myself again"]);
    assert_eq!(said_by(&alice, "fx-ada_", "#general"), [""; 0]);
    assert_eq!(stage.query("SELECT count(*) FROM outbox WHERE may_be_doubled <> 0"), ["0"]);
}

#[test]
fn on_ngircd_an_agent_outlives_its_ghost() {
    if !Kind::Ngircd.is_missing("nicks::on_ngircd_an_agent_outlives") {
        a_ghost(Kind::Ngircd);
    }
}

#[test]
fn on_inspircd_an_agent_outlives_its_ghost() {
    if !Kind::Ircv3.is_missing("nicks::on_inspircd_an_agent_outlives") {
        a_ghost(Kind::Ircv3);
    }
}

/// An operator of the server gives the agent another nick: it is silent until it has its own.
#[test]
fn a_nick_changed_by_force_is_got_back() {
    if Kind::Inspircd.is_missing("nicks::a_nick_changed_by_force") {
        return;
    }
    let stage = stage();
    let server = Inspircd { modules: &["sanick"], ..Inspircd::default() };
    let server = server.start(&stage.world, &stage.irc);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    let mut oper = server.oper("oper");
    oper.send(&format!("SANICK {ADA} Guest7"));
    alice.wait("the new nick", |line| (irc::command(line) == "NICK").then_some(()));
    told_its_operator(&stage, "connected as Guest7, and silent until it is free");
    alice.say("#general", "@fx-ada say exactly my own name");
    alice.hears(ADA, "#general", "my own name");
    assert_eq!(said_by(&alice, "Guest7", "#general"), [""; 0]);
    tells_of_no_trouble(&stage);
}

/// R1-47: an operator of the server ends the connection.
fn killed(kind: Kind) {
    let stage = stage();
    let server = kind.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    let mut oper = server.oper("oper");
    oper.send(&format!("KILL {ADA} :go"));
    alice.wait("the end", |line| (irc::command(line) == "QUIT").then_some(()));
    joins(&mut alice, ADA);
    asks(&mut alice, "alive");
    tells_of_no_trouble(&stage);
}

#[test]
fn on_ngircd_a_killed_agent_comes_back() {
    if !Kind::Ngircd.is_missing("nicks::on_ngircd_a_killed_agent") {
        killed(Kind::Ngircd);
    }
}

#[test]
fn on_inspircd_a_killed_agent_comes_back() {
    if !Kind::Inspircd.is_missing("nicks::on_inspircd_a_killed_agent") {
        killed(Kind::Inspircd);
    }
}
