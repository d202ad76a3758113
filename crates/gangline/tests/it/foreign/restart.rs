//! The server dies without a word and comes back.

use gangline_testkit::wait::PATIENCE;

use super::*;

/// R1-47: everything that was to be said meanwhile is said afterwards, in order, once.
fn dies_and_comes_back(kind: Kind) {
    let stage = pace::talkative(8);
    let address = format!("127.0.0.1:{}", stage::free_port());
    let mut server = kind.start_at(&stage, &address);
    let cable = Cable::between(&stage.irc, &address);
    let mut alice = person_at(&address, "alice");
    let _hub = up(&stage, &mut alice);
    cable.cut();
    server.kill();
    let asked = stage.world.run(&["prompt", ADA, "tell me all"]);
    assert_eq!(asked.code, 0, "{asked:?}");
    eventually("eight lines in the outbox", || {
        let waiting = "SELECT count(*) FROM outbox WHERE state = 'queued'";
        (stage.query(waiting) == ["8"]).then_some(())
    });
    tells_its_operator(&stage, "not on IRC");
    server.run();
    let mut alice = person_at(&address, "alice");
    cable.mend();
    alice.hears(ADA, "#general", "L08");
    all_confirmed(&stage);
    assert_eq!(said_by(&alice, ADA, "#general"), pace::lines(8));
    assert_eq!(stage.query("SELECT count(*) FROM outbox WHERE may_be_doubled <> 0"), ["0"]);
    tells_of_no_trouble(&stage);
}

#[test]
fn what_waited_for_ngircd_is_said_once() {
    if !Kind::Ngircd.is_missing("restart::what_waited_for_ngircd") {
        dies_and_comes_back(Kind::Ngircd);
    }
}

#[test]
fn what_waited_for_inspircd_is_said_once() {
    if !Kind::Inspircd.is_missing("restart::what_waited_for_inspircd") {
        dies_and_comes_back(Kind::Inspircd);
    }
}

#[test]
fn what_waited_for_inspircd_with_extensions_is_said_once() {
    if !Kind::Ircv3.is_missing("restart::what_waited_for_inspircd_with_extensions") {
        dies_and_comes_back(Kind::Ircv3);
    }
}

/// R1-47: in the middle of a long answer. What was confirmed is not said again; what was under way
/// may be, and is marked.
fn dies_in_the_middle(kind: Kind) {
    let stage = pace::talkative(8);
    let address = format!("127.0.0.1:{}", stage::free_port());
    let mut server = kind.start_at(&stage, &address);
    let cable = Cable::between(&stage.irc, &address);
    let mut alice = person_at(&address, "alice");
    let _hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada tell me all");
    alice.hears(ADA, "#general", "L03");
    cable.cut();
    // What it has confirmed to the agent it has said to alice.
    alice.send("PING said");
    alice.wait("what was said", |line| (irc::command(line) == "PONG").then_some(()));
    server.kill();
    // Until all is read that the server had written.
    assert_eq!(alice.listen(PATIENCE, |_| None::<()>), None);
    let mut heard = said_by(&alice, ADA, "#general");
    server.run();
    let mut alice = person_at(&address, "alice");
    cable.mend();
    eventually("all lines confirmed", || {
        let confirmed = "SELECT count(*) FROM outbox WHERE state = 'confirmed'";
        (stage.query(confirmed) == ["8"]).then_some(())
    });
    alice.send("PING said");
    alice.wait("what was said", |line| (irc::command(line) == "PONG").then_some(()));
    heard.extend(said_by(&alice, ADA, "#general"));
    let mut first: Vec<String> = Vec::new();
    for line in &heard {
        if !first.contains(line) {
            first.push(line.clone());
        }
    }
    assert_eq!(first, pace::lines(8), "each is there, and they came in order");
    let doubled = heard.len() - first.len();
    let marked = stage.query("SELECT count(*) FROM outbox WHERE may_be_doubled <> 0");
    let marked: usize = marked[0].parse().unwrap();
    assert!(doubled <= marked && marked <= 10, "{doubled} doubled, {marked} marked");
}

#[test]
fn an_answer_that_ngircd_took_half_of_goes_on() {
    if !Kind::Ngircd.is_missing("restart::an_answer_that_ngircd") {
        dies_in_the_middle(Kind::Ngircd);
    }
}

#[test]
fn an_answer_that_inspircd_with_extensions_took_half_of_goes_on() {
    if !Kind::Ircv3.is_missing("restart::an_answer_that_inspircd") {
        dies_in_the_middle(Kind::Ircv3);
    }
}
