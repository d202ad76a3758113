//! Networks with accounts: who is logged in is known by the account, and agents log in by SASL.

use gangline_testkit::services::{self, Services};

use super::*;

pub(super) const AGENT: (&str, &str) = (ADA, "secret-of-ada");
pub(super) const ALICE: (&str, &str) = ("alice-at-home", "secret-of-alice");
pub(super) const VARIABLE: &str = "FX_PASSWORD";

pub(super) fn is_missing(test: &str) -> bool {
    Kind::Ircv3.is_missing(&format!("accounts::{test}"))
}

/// An agent that logs in, on a network with services: returns where those are expected.
pub(super) fn start(more: &str) -> (Stage, Ircd, String) {
    let network =
        format!("network: {{embedded: false, sasl: {{password_env: {VARIABLE}}}, {more}}}");
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, (&network, ""));
    let servers = format!("127.0.0.1:{}", stage::free_port());
    let (links, more) = ([services::link()], services::configuration());
    let server = Inspircd {
        modules: ircd::IRCV3,
        more: &more,
        links: Some((&servers, &links)),
        ..Inspircd::default()
    };
    let server = server.start(&stage.world, &stage.irc);
    (stage, server, servers)
}

/// A person who has logged in.
pub(super) fn alice(stage: &Stage) -> IrcPeer {
    alice_as(stage, "alice")
}

/// The same under another nick.
pub(super) fn alice_as(stage: &Stage, nick: &str) -> IrcPeer {
    let mut alice = IrcPeer::open(&stage.irc, nick);
    alice.send("CAP REQ :sasl account-tag");
    alice.send(&format!("NICK {nick}"));
    alice.send("USER alice 0 * :alice");
    alice.wait("the capabilities", |line| line.contains(" ACK ").then_some(()));
    alice.send("AUTHENTICATE PLAIN");
    alice.wait("to be asked", |line| line.starts_with("AUTHENTICATE").then_some(()));
    alice.send(&format!("AUTHENTICATE {}", services::sasl_plain(ALICE.0, ALICE.1)));
    alice.wait("to be logged in", |line| (irc::command(line) == "903").then_some(()));
    alice.send("CAP END");
    alice.wait("the greeting", |line| (irc::command(line) == "422").then_some(()));
    alice.join("#general");
    alice
}

fn principals(stage: &Stage) -> Vec<String> {
    stage.query("SELECT principal || ' ' || tier FROM messages ORDER BY id")
}

/// Who has an account is known by it, also where nicks are believed; and the agent has its own.
#[test]
fn a_person_with_an_account_is_no_less_than_one_without() {
    if is_missing("a_person_with_an_account") {
        return;
    }
    let (stage, _server, servers) = start("trust_nicks: true");
    let _services = Services::start(&servers, &[AGENT, ALICE]);
    let mut alice = alice(&stage);
    let hub = stage.start(&[(VARIABLE, AGENT.1)]);
    let joined = alice.wait("the agent", |line| {
        (line.contains(":fx-ada!") && irc::command(line) == "JOIN").then(|| line.to_owned())
    });
    assert_eq!(irc::tag(&joined, "account"), Some(ADA));
    asks(&mut alice, "by account");
    let mut bob = person(&stage, "bob");
    asks(&mut bob, "by nick");
    assert_eq!(principals(&stage), ["alice-at-home member", "~bob member"]);
    tells_of_no_trouble(&stage);
    drop(hub);
}

/// Where nicks are not believed, an account that nobody vouched for is a stranger's.
#[test]
fn an_account_that_the_installation_does_not_know_is_a_strangers() {
    if is_missing("an_account_that_the_installation") {
        return;
    }
    let (stage, _server, servers) = start("trust_nicks: false");
    let _services = Services::start(&servers, &[AGENT, ALICE]);
    let mut alice = alice(&stage);
    let _hub = stage.start(&[(VARIABLE, AGENT.1)]);
    alice.wait("the agent", |line| line.contains(":fx-ada!").then_some(()));
    alice.say("#general", "@fx-ada say exactly stolen");
    alice.hears(ADA, "alice", "I know nobody called alice-at-home");
    assert_eq!(principals(&stage), [""; 0]);
}

/// Services that are away when the agent comes: it is told, and logs in when they are back.
#[test]
fn an_agent_logs_in_when_the_services_are_back() {
    if is_missing("an_agent_logs_in_when") {
        return;
    }
    let (stage, _server, servers) = start("trust_nicks: true");
    let mut alice = IrcPeer::connect_with(&stage.irc, ("alice", None), "account-tag");
    alice.join("#general");
    let _hub = stage.start(&[(VARIABLE, AGENT.1)]);
    tells_its_operator(&stage, "not logged in");
    asks(&mut alice, "without an account");
    let _services = Services::start(&servers, &[AGENT]);
    alice.wait("the agent's account", |line| {
        let is_it = irc::command(line) == "JOIN" && irc::tag(line, "account") == Some(ADA);
        is_it.then_some(())
    });
    asks(&mut alice, "with one");
    tells_of_no_trouble(&stage);
}

/// A refused password keeps the agent away, and its operator hears of it.
#[test]
fn a_refused_password_is_told_to_the_operator() {
    if is_missing("a_refused_password") {
        return;
    }
    let (stage, _server, servers) = start("trust_nicks: true");
    let _services = Services::start(&servers, &[AGENT, ALICE]);
    let alice = person(&stage, "alice");
    let _hub = stage.start(&[(VARIABLE, "wrong")]);
    let log = tells_its_operator(&stage, "the server refused the account's password");
    assert!(log.contains("network.sasl"), "{log}");
    assert!(!log.contains("wrong"), "the password is in the log: {log}");
    let came = alice.lines().into_iter().find(|line| line.contains(":fx-ada"));
    assert_eq!(came, None);
}
