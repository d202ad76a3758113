//! Private answers wait for the person who asked, and go to nobody else.

use gangline_testkit::services::Services;

use super::*;

/// Asks in private, and waits until the agent is at it.
fn asks_alone(stage: &Stage, alice: &mut IrcPeer) {
    stage.standin.hold();
    alice.say(ADA, "say exactly for you alone");
    eventually("the turn", || {
        let sql = "SELECT count(*) FROM messages WHERE state = 'in_turn'";
        (stage.query(sql) == ["1"]).then_some(())
    });
}

fn quits(alice: &mut IrcPeer, seen_by: &mut IrcPeer) {
    let nick = alice.nick.clone();
    alice.send("QUIT :home");
    seen_by.wait("the QUIT", |line| {
        (line.contains(&format!(":{nick}!")) && irc::command(line) == "QUIT").then_some(())
    });
}

fn answer(stage: &Stage) -> Vec<String> {
    stage.query("SELECT state || ' ' || min(attempts, 1) FROM outbox WHERE body = 'for you alone'")
}

/// It was given up as undeliverable: who had left for a moment never heard the answer.
fn an_answer_waits(kind: Kind) {
    let stage = stage();
    let _server = kind.start(&stage);
    let mut bob = person(&stage, "bob");
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut bob);
    asks_alone(&stage, &mut alice);
    quits(&mut alice, &mut bob);
    stage.standin.go_on();
    eventually("the answer to be tried", || (answer(&stage) == ["sent 1"]).then_some(()));
    asks(&mut bob, "others go on");
    assert_eq!(answer(&stage), ["sent 1"]);
    let mut alice = person(&stage, "alice");
    alice.hears(ADA, "alice", "for you alone");
    all_confirmed(&stage);
    asks(&mut alice, "back");
    assert_eq!(said_by(&alice, ADA, "alice"), ["for you alone"]);
}

#[test]
fn on_ngircd_a_private_answer_waits_for_its_nick() {
    if !Kind::Ngircd.is_missing("private::on_ngircd_a_private_answer") {
        an_answer_waits(Kind::Ngircd);
    }
}

#[test]
fn on_inspircd_a_private_answer_waits_for_its_nick() {
    if !Kind::Ircv3.is_missing("private::on_inspircd_a_private_answer") {
        an_answer_waits(Kind::Ircv3);
    }
}

/// Somebody takes the nick of a person with an account, and gets nothing. The person gets the answer
/// under the nick that they have now.
#[test]
fn an_answer_goes_to_the_account_that_asked_and_not_to_its_nick() {
    if accounts::is_missing("an_answer_goes_to_the_account") {
        return;
    }
    let (stage, _server, servers) = accounts::start("trust_nicks: true");
    let _services = Services::start(&servers, &[accounts::AGENT, accounts::ALICE]);
    let mut bob = person(&stage, "bob");
    let mut alice = accounts::alice(&stage);
    let _hub = stage.start(&[(accounts::VARIABLE, accounts::AGENT.1)]);
    joins(&mut bob, ADA);
    asks_alone(&stage, &mut alice);
    quits(&mut alice, &mut bob);
    let mut eve = person(&stage, "alice");
    stage.standin.go_on();
    eve.say(ADA, "say exactly yours");
    eve.hears(ADA, "alice", "yours");
    assert_eq!(said_by(&eve, ADA, "alice"), ["yours"]);
    assert_eq!(answer(&stage), ["queued 0"]);
    let mut alice = accounts::alice_as(&stage, "alice-2");
    alice.hears(ADA, "alice-2", "for you alone");
    all_confirmed(&stage);
    asks(&mut eve, "in the room");
    assert_eq!(said_by(&eve, ADA, "alice"), ["yours"]);
}
