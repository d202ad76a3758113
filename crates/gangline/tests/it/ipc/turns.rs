//! What the agent's shell says by the command line is part of its turn.

use super::{ADA, Scene};
use gangline_testkit::{IrcPeer, irc};

/// What the agent said in the room, in order.
fn answers(peer: &IrcPeer) -> Vec<String> {
    let lines = peer.lines();
    let said = lines.iter().filter_map(|line| irc::said(line));
    let mine = said.filter(|said| said.from == ADA && said.target == "#general");
    mine.map(|said| said.text.to_owned()).collect()
}

/// C12, R0-39, R0-60: what was said to the room by the agent's own shell is its answer, and is not
/// relayed once more; the line belongs to the turn.
#[test]
fn an_answer_that_the_shell_sent_is_not_repeated() {
    let scene = Scene::open();
    let mut alice = scene.stage.member("alice");
    alice.say("#general", "@oak-ada shell: gangline channel message '#general' 'it is 42'");
    alice.hears(ADA, "#general", "it is 42");
    alice.say("#general", "@oak-ada say exactly next");
    alice.hears(ADA, "#general", "next");
    assert_eq!(answers(&alice), ["it is 42", "next"]);
    let turn = scene.stage.query("SELECT turn_number FROM outbox WHERE body = 'it is 42'");
    assert_eq!(turn, ["1"]);
    let state = scene.stage.query("SELECT state FROM messages ORDER BY id");
    assert_eq!(state, ["answered", "answered"]);
}
