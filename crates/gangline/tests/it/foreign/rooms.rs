//! Rooms that throw the agent out or do not let it in.

use super::*;

fn kick(alice: &mut IrcPeer) {
    alice.send(&format!("KICK #general {ADA} :out"));
    alice.wait("the KICK", |line| (irc::command(line) == "KICK").then_some(()));
}

/// Sets a mode of the room and waits until it is set.
fn mode(alice: &mut IrcPeer, mode: &str) {
    alice.send(&format!("MODE #general {mode}"));
    alice.wait(mode, |line| (irc::command(line) == "MODE").then_some(()));
}

/// R1-47: thrown out in the middle of a turn, it comes back, answers there once, and hears what
/// is said from then on. Thrown out again, it waits twice the 5 s.
fn comes_back_after_a_kick(kind: Kind) {
    let stage = stage();
    let _server = kind.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    at_work(&stage, &mut alice);
    kick(&mut alice);
    worked(&stage);
    joins(&mut alice, ADA);
    alice.hears(ADA, "#general", "worked");
    let before = std::time::Instant::now();
    kick(&mut alice);
    joins(&mut alice, ADA);
    let away = before.elapsed();
    assert!(away > Duration::from_secs(10), "the wait does not grow: {away:?}");
    asks(&mut alice, "again");
    all_confirmed(&stage);
    assert_eq!(said_by(&alice, ADA, "#general"), ["worked", "again"]);
}

#[test]
fn on_ngircd_it_comes_back_after_a_kick() {
    if !Kind::Ngircd.is_missing("rooms::on_ngircd_it_comes_back") {
        comes_back_after_a_kick(Kind::Ngircd);
    }
}

#[test]
fn on_inspircd_it_comes_back_after_a_kick() {
    if !Kind::Inspircd.is_missing("rooms::on_inspircd_it_comes_back") {
        comes_back_after_a_kick(Kind::Inspircd);
    }
}

#[test]
fn on_inspircd_with_extensions_it_comes_back_after_a_kick() {
    if !Kind::Ircv3.is_missing("rooms::on_inspircd_with_extensions_it_comes_back") {
        comes_back_after_a_kick(Kind::Ircv3);
    }
}

/// A room that does not let it in is told in the log and tried again, however it refuses.
fn tries_again(kind: Kind, shut: &[&str], open: &[&str], numeric: &str) {
    let stage = stage();
    let _server = kind.start(&stage);
    let mut alice = person(&stage, "alice");
    shut.iter().for_each(|one| mode(&mut alice, one));
    let _hub = stage.start(&[]);
    tells_its_operator(&stage, numeric);
    open.iter().for_each(|one| mode(&mut alice, one));
    joins(&mut alice, ADA);
    asks(&mut alice, "let in");
    tells_of_no_trouble(&stage);
}

#[test]
fn ngircd_rooms_that_refuse_are_tried_again() {
    if Kind::Ngircd.is_missing("rooms::ngircd_rooms_that_refuse") {
        return;
    }
    tries_again(Kind::Ngircd, &["+i"], &["-i"], "numeric 473");
    tries_again(Kind::Ngircd, &["+k secret"], &["-k secret"], "numeric 475");
    tries_again(Kind::Ngircd, &["+b fx-*!*@*"], &["-b fx-*!*@*"], "numeric 474");
    tries_again(Kind::Ngircd, &["+l 1"], &["-l"], "numeric 471");
}

#[test]
fn inspircd_rooms_that_refuse_are_tried_again() {
    if Kind::Inspircd.is_missing("rooms::inspircd_rooms_that_refuse") {
        return;
    }
    tries_again(Kind::Inspircd, &["+i"], &["-i"], "numeric 473");
    tries_again(Kind::Inspircd, &["+k secret"], &["-k secret"], "numeric 475");
    tries_again(Kind::Inspircd, &["+b fx-*!*@*"], &["-b fx-*!*@*"], "numeric 474");
    tries_again(Kind::Inspircd, &["+l 1"], &["-l"], "numeric 471");
}

/// Thrown out for good in the middle of a turn: the answer cannot be said there, and who asked
/// hears of it in private.
fn tells_the_asker_when_the_room_stays_shut(kind: Kind) {
    let stage = stage();
    let _server = kind.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    at_work(&stage, &mut alice);
    mode(&mut alice, "+b fx-*!*@*");
    kick(&mut alice);
    stage.standin.go_on();
    let told = alice.hears(ADA, "alice", "could not be delivered to #general");
    assert!(told.contains("#general: Cannot join channel"), "{told}");
    let trace = stage.world.run(&["trace", "m1"]).ok();
    assert!(trace.contains("undeliverable: Cannot join channel"), "{trace}");
    mode(&mut alice, "-b fx-*!*@*");
    joins(&mut alice, ADA);
    asks(&mut alice, "here again");
    assert_eq!(said_by(&alice, ADA, "#general"), ["here again"]);
}

#[test]
fn on_ngircd_the_asker_is_told_when_the_room_stays_shut() {
    if !Kind::Ngircd.is_missing("rooms::on_ngircd_the_asker_is_told") {
        tells_the_asker_when_the_room_stays_shut(Kind::Ngircd);
    }
}

#[test]
fn on_inspircd_the_asker_is_told_when_the_room_stays_shut() {
    if !Kind::Inspircd.is_missing("rooms::on_inspircd_the_asker_is_told") {
        tells_the_asker_when_the_room_stays_shut(Kind::Inspircd);
    }
}

/// A long answer that is cut in two by a KICK goes on where it was, in order, once.
fn a_kick_in_the_middle_of_an_answer(kind: Kind) {
    let stage = pace::talkative(8);
    let _server = kind.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada tell me all");
    alice.hears(ADA, "#general", "L03");
    kick(&mut alice);
    alice.hears(ADA, "#general", "L08");
    all_confirmed(&stage);
    assert_eq!(said_by(&alice, ADA, "#general"), pace::lines(8));
    let doubted = "SELECT body FROM outbox WHERE may_be_doubled <> 0";
    assert_eq!(stage.query(doubted), [""; 0]);
    assert_eq!(said_by(&alice, ADA, "alice"), [""; 0], "nothing is told in private");
}

#[test]
fn on_ngircd_an_answer_goes_on_after_a_kick() {
    if !Kind::Ngircd.is_missing("rooms::on_ngircd_an_answer_goes_on") {
        a_kick_in_the_middle_of_an_answer(Kind::Ngircd);
    }
}

#[test]
fn on_inspircd_an_answer_goes_on_after_a_kick() {
    if !Kind::Inspircd.is_missing("rooms::on_inspircd_an_answer_goes_on") {
        a_kick_in_the_middle_of_an_answer(Kind::Inspircd);
    }
}

#[test]
fn on_inspircd_with_extensions_an_answer_goes_on_after_a_kick() {
    if !Kind::Ircv3.is_missing("rooms::on_inspircd_with_extensions_an_answer_goes_on") {
        a_kick_in_the_middle_of_an_answer(Kind::Ircv3);
    }
}

/// An invitation opens a room.
#[test]
fn an_invited_agent_comes() {
    if Kind::Ngircd.is_missing("rooms::an_invited_agent") {
        return;
    }
    let stage = stage();
    let _server = Kind::Ngircd.start(&stage);
    let mut alice = person(&stage, "alice");
    mode(&mut alice, "+i");
    let _hub = stage.start(&[]);
    tells_its_operator(&stage, "numeric 473");
    alice.send(&format!("INVITE {ADA} #general"));
    joins(&mut alice, ADA);
}

/// A line that the server's filter takes out was not said: who asked hears so.
fn a_filtered_answer(extensions: &[&str]) {
    let script = "rules:\n  - reply: [text: kumquat]\n";
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], Some(script), (FOREIGN, ""));
    let modules: Vec<&str> = extensions.iter().copied().chain(["censor"]).collect();
    let more = "<badword text=\"kumquat\" replace=\"\">";
    let server = Inspircd { modules: &modules, more, ..Inspircd::default() };
    let _server = server.start(&stage.world, &stage.irc);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    mode(&mut alice, "+G");
    alice.say("#general", "@fx-ada name a fruit");
    let told = alice.hears(ADA, "alice", "could not be delivered to #general");
    assert!(told.contains("was blocked"), "{told}");
    let state = stage.query("SELECT state FROM outbox WHERE body = 'kumquat'");
    assert_eq!(state, ["undeliverable"]);
    assert_eq!(said_by(&alice, ADA, "#general"), [""; 0]);
}

#[test]
fn an_answer_that_inspircd_filters_is_told_to_its_asker() {
    if !Kind::Inspircd.is_missing("rooms::an_answer_that_inspircd_filters") {
        a_filtered_answer(&[]);
    }
}

#[test]
fn an_answer_that_inspircd_with_extensions_filters_is_told_to_its_asker() {
    if !Kind::Ircv3.is_missing("rooms::an_answer_that_inspircd_with_extensions_filters") {
        a_filtered_answer(ircd::IRCV3);
    }
}

/// Half of an answer is refused: who asked hears that, once.
#[test]
fn the_asker_is_told_when_the_rest_of_an_answer_is_refused() {
    if Kind::Ngircd.is_missing("rooms::the_asker_is_told_when_the_rest") {
        return;
    }
    // So many that the room is shut before they are all said.
    let stage = pace::talkative(16);
    let _server = Kind::Ngircd.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada tell me all");
    alice.hears(ADA, "#general", "L03");
    mode(&mut alice, "+m");
    alice.hears(ADA, "alice", "could not be delivered to #general");
    eventually("nothing waits", || {
        let open = "SELECT body FROM outbox WHERE state IN ('queued', 'sent')";
        stage.query(open).is_empty().then_some(())
    });
    // The end of the first text may have been quicker than the mode.
    let first = stage.query("SELECT state FROM outbox WHERE body = 'L08'");
    let texts = if first == ["undeliverable"] { 2 } else { 1 };
    eventually("the words to the asker", || {
        (said_by(&alice, ADA, "alice").len() >= texts).then_some(())
    });
    let told = said_by(&alice, ADA, "alice");
    assert_eq!(told.len(), texts, "once for each text: {told:?}");
}
