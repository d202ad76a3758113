//! Private questions whose asker is not there when the answer comes: with whole processes.

use gangline_testkit::{IrcPeer, Stage, eventually, irc};

const ADA: &str = "pr-ada";

fn stage() -> Stage {
    Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, ("", ""))
}

/// A client that asks for no history.
fn plain(stage: &Stage, nick: &str) -> IrcPeer {
    IrcPeer::connect_with(&stage.irc, (nick, None), "server-time")
}

/// Asks, and leaves while the model still thinks.
fn asks_and_leaves(stage: &Stage, mut peer: IrcPeer, text: &str) {
    stage.hold_model();
    peer.say(ADA, text);
    eventually("the question in a turn", || {
        (stage.query("SELECT state FROM messages") == ["in_turn"]).then_some(())
    });
    peer.send("QUIT");
    peer.wait("the goodbye", |line| line.starts_with("ERROR").then_some(()));
}

fn is_confirmed(stage: &Stage, what: &str) {
    eventually(what, || {
        let states = stage.query("SELECT state FROM outbox");
        (states == ["confirmed"]).then_some(())
    });
}

/// What the agent has said to a client up to now.
fn heard(peer: &mut IrcPeer) -> Vec<String> {
    peer.send("PING :now");
    peer.wait("an answer", |line| line.ends_with("PONG pr :now").then_some(()));
    let lines = peer.lines();
    let said = lines.iter().filter_map(|line| irc::said(line)).filter(|said| said.from == ADA);
    said.map(|said| said.text.to_owned()).collect()
}

/// Somebody without an account asks, leaves, and the chat server dies before they are back: the
/// answer is not given up, and is shown once.
#[test]
fn an_answer_to_who_has_left_is_shown_when_they_come_back() {
    let stage = stage();
    let mut hub = stage.up();
    asks_and_leaves(&stage, plain(&stage, "zed"), "say exactly napped");
    stage.release_model();
    is_confirmed(&stage, "the answer in the conversation, though nobody has the nick");
    hub.kill();
    let _hub = stage.up();
    let mut zed = plain(&stage, "zed");
    // A client that did not ask for the times of lines reads the time in front.
    let [napped] = heard(&mut zed).try_into().unwrap();
    assert!(napped.starts_with('[') && napped.ends_with("] napped"), "{napped}");
    zed.send("QUIT");
    zed.wait("the goodbye", |line| line.starts_with("ERROR").then_some(()));
    assert_eq!(heard(&mut plain(&stage, "zed")), [""; 0], "once");
    // What was stored did not come back to the agent as something new.
    assert_eq!(stage.query("SELECT count(*) FROM messages"), ["1"]);
}

/// The owner asks and leaves; somebody else takes the nick. The answer goes to the owner's account.
#[test]
fn an_answer_goes_to_the_account_that_asked_not_to_who_took_its_nick() {
    let stage = stage();
    let _hub = stage.up();
    asks_and_leaves(&stage, stage.owner("own3"), "say exactly napped 77");
    let mut taker = plain(&stage, "own3");
    let mut phone = stage.owner("phone");
    stage.release_model();
    phone.hears(ADA, "phone", "napped 77");
    is_confirmed(&stage, "the answer");
    assert_eq!(heard(&mut taker), [""; 0]);
    let history = stage.owner("own4").history(ADA);
    let texts: Vec<&str> = history.iter().filter_map(|line| Some(irc::said(line)?.text)).collect();
    assert_eq!(texts, ["say exactly napped 77", "napped 77"]);
}
