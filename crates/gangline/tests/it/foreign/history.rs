//! InspIRCd that shows a channel's last lines to who joins: what was said while the agent was away
//! is found, and nothing is answered twice.

use super::*;

/// How InspIRCd is made to keep history.
const KEEPS: &str = r#"<chanhistory bots="yes" maxlines="50" prefixmsg="yes">"#;

fn start(stage: &Stage, address: &str, modules: &[&str]) -> Ircd {
    let modules: Vec<&str> = modules.iter().copied().chain(["chanhistory"]).collect();
    let server = Inspircd { modules: &modules, more: KEEPS, ..Inspircd::default() };
    server.start(&stage.world, address)
}

/// A person in a room that keeps its last twenty lines.
fn reader(address: &str) -> IrcPeer {
    let mut alice = person_at(address, "alice");
    alice.send("MODE #general +H 20:1h");
    alice.wait("the room to keep lines", |line| (irc::command(line) == "MODE").then_some(()));
    alice
}

fn is_missing(test: &str) -> bool {
    Kind::Ircv3.is_missing(&format!("history::{test}"))
}

/// All extensions without ids.
fn without_ids() -> Vec<&'static str> {
    ircd::IRCV3.iter().copied().filter(|module| *module != "ircv3_msgid").collect()
}

/// C18: said before the agent's first start, said while it was away, said to it: only the last two
/// are answered, each once.
fn finds_what_was_said_meanwhile(modules: &[&str]) {
    let stage = stage();
    let _server = start(&stage, &stage.irc, modules);
    let mut alice = reader(&stage.irc);
    alice.say("#general", "@fx-ada say exactly before your time");
    alice.send("PING taken");
    alice.wait("the line to be taken", |line| (irc::command(line) == "PONG").then_some(()));
    // sleep: the server's history has whole seconds, and what is said in the second in which the
    // agent begins is for it.
    std::thread::sleep(Duration::from_millis(1200));
    let mut hub = up(&stage, &mut alice);
    asks(&mut alice, "first");
    all_confirmed(&stage);
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    alice.say("#general", "@fx-ada say exactly while away");
    alice.say("#general", "nothing for anybody");
    let _hub = up(&stage, &mut alice);
    alice.hears(ADA, "#general", "while away");
    asks(&mut alice, "last");
    all_confirmed(&stage);
    assert_eq!(said_by(&alice, ADA, "#general"), ["first", "while away", "last"]);
    assert_eq!(stage.query("SELECT count(*) FROM messages WHERE origin <> 'system'"), ["3"]);
}

#[test]
fn lines_said_while_the_daemon_was_down_are_found() {
    if !is_missing("lines_said_while_the_daemon_was_down") {
        finds_what_was_said_meanwhile(ircd::IRCV3);
    }
}

/// The same where lines have no ids: a line is known by its second, its speaker and its words.
#[test]
fn lines_said_while_the_daemon_was_down_are_found_without_ids() {
    if !is_missing("lines_said_while_the_daemon_was_down_without_ids") {
        finds_what_was_said_meanwhile(&without_ids());
    }
}

/// Thrown out and let in again, it is shown all it has answered already.
fn answers_nothing_twice(modules: &[&str], found: bool) {
    let stage = stage();
    let _server = start(&stage, &stage.irc, modules);
    let mut alice = reader(&stage.irc);
    let _hub = up(&stage, &mut alice);
    asks(&mut alice, "one");
    asks(&mut alice, "two");
    // Right behind the other: the agent does not wait for slow speakers before it comes back.
    alice.send(&format!(
        "KICK #general {ADA} :out\r\nPRIVMSG #general :@fx-ada say exactly while out"
    ));
    alice.wait("the KICK", |line| (irc::command(line) == "KICK").then_some(()));
    joins(&mut alice, ADA);
    if found {
        alice.hears(ADA, "#general", "while out");
    }
    asks(&mut alice, "three");
    all_confirmed(&stage);
    let mut expect = vec!["one", "two", "while out", "three"];
    expect.retain(|word| found || *word != "while out");
    assert_eq!(said_by(&alice, ADA, "#general"), expect);
}

#[test]
fn what_was_answered_is_not_answered_again_after_a_rejoin() {
    if !is_missing("what_was_answered") {
        answers_nothing_twice(ircd::IRCV3, true);
    }
}

#[test]
fn what_was_answered_is_not_answered_again_without_ids() {
    if !is_missing("what_was_answered_without_ids") {
        answers_nothing_twice(&without_ids(), true);
    }
}

/// Without `batch` and `server-time` old lines look like new ones: they are passed over.
#[test]
fn lines_of_unknown_age_are_not_answered() {
    if !is_missing("lines_of_unknown_age") {
        answers_nothing_twice(&[], false);
    }
}

/// The agent's line got to the server, and the connection died before the server could say so.
/// Returns what the room heard, and the rows that may be doubled.
fn loses_the_echo(server: impl FnOnce(&Stage, &str) -> Ircd, keeps: bool) -> (Vec<String>, String) {
    let stage = stage();
    let address = format!("127.0.0.1:{}", stage::free_port());
    let _server = server(&stage, &address);
    let cable = Cable::between(&stage.irc, &address);
    let mut alice = if keeps { reader(&address) } else { person_at(&address, "alice") };
    let _hub = up(&stage, &mut alice);
    at_work(&stage, &mut alice);
    cable.deafen();
    stage.standin.go_on();
    alice.hears(ADA, "#general", "worked");
    eventually("the line to be marked", || {
        (stage.query("SELECT state FROM outbox") == ["sent"]).then_some(())
    });
    cable.cut();
    // Who comes back before the server knows that they have gone finds their nick taken.
    alice.wait("the end", |line| (irc::command(line) == "QUIT").then_some(()));
    cable.mend();
    joins(&mut alice, ADA);
    all_confirmed(&stage);
    asks(&mut alice, "done");
    all_confirmed(&stage);
    let doubted = stage.query("SELECT count(*) FROM outbox WHERE may_be_doubled <> 0");
    (said_by(&alice, ADA, "#general"), doubted.concat())
}

/// Exactly once in the room, where the server's history shows the line.
#[test]
fn a_line_whose_echo_was_lost_is_found_in_history_and_not_said_again() {
    if is_missing("a_line_whose_echo_was_lost") {
        return;
    }
    let server = |stage: &Stage, address: &str| start(stage, address, ircd::IRCV3);
    let (heard, doubted) = loses_the_echo(server, true);
    assert_eq!(heard, ["worked", "done"]);
    assert_eq!(doubted, "0");
}

/// At least once, and the trace says so, where there is no history.
#[test]
fn a_line_whose_pong_was_lost_is_said_again_and_marked() {
    if Kind::Ngircd.is_missing("history::a_line_whose_pong_was_lost") {
        return;
    }
    let server = |stage: &Stage, address: &str| Kind::Ngircd.start_at(stage, address);
    let (heard, doubted) = loses_the_echo(server, false);
    assert_eq!(heard, ["worked", "worked", "done"]);
    assert_eq!(doubted, "1");
}
