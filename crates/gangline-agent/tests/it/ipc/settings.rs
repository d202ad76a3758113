//! What the configuration says of a busy agent, of its buffers and of its context, as the socket
//! shows it.

use gangline_testkit::{IrcPeer, eventually};
use serde_json::json;

use super::Scene;
use crate::rig::{ADA, Ipc, Rig};

const WAITS: &str = "@lab-ada shell: until [ -e go ]; do sleep 0.05; done";

fn open(more: &str, each: &str) -> (Scene, IrcPeer, Ipc) {
    let each = format!("permissions: bypass\n{each}");
    let scene = Scene::with(more, &each);
    let (alice, ipc) = (scene.rig.member("alice"), scene.dial());
    (scene, alice, ipc)
}

/// R1-29, C3: with `buffer` a mention in mid-turn waits to be read; the end of the turn does not feed
/// it, and the next one that wakes the agent does.
#[test]
fn a_mention_in_mid_turn_can_be_left_in_the_buffer() {
    let (scene, mut alice, mut ipc) = open("", "mention_when_busy: buffer");
    alice.say("#general", WAITS);
    ipc.sees("the turn", |status| status["phase"] == "working");
    alice.say("#general", "@lab-ada say exactly second");
    ipc.sees("the second to wait", |status| status["pending"] == 1);
    scene.lets("go");
    alice.hears(ADA, "#general", "the shell is done");
    // A queued message would have been taken with the end of the turn.
    ipc.sees("nothing to be fed", |status| status["phase"] == "idle" && status["pending"] == 1);
    alice.say("#general", "@lab-ada say exactly third");
    alice.hears(ADA, "#general", "second");
    alice.hears(ADA, "#general", "third");
    let turns = scene.rig.query("SELECT turn_number FROM messages ORDER BY id");
    assert_eq!(turns, ["1", "2", "3"]);
}

/// C3: with `steer` it goes into the turn that runs, and one answer is for both.
#[test]
fn a_mention_in_mid_turn_can_be_steered_into_it() {
    let (scene, mut alice, mut ipc) = open("", "mention_when_busy: steer");
    alice.say("#general", WAITS);
    ipc.sees("the turn", |status| status["phase"] == "working");
    alice.say("#general", "@lab-ada say exactly steered");
    let turns = "SELECT count(*) FROM messages WHERE turn_number = 1";
    scene.rig.sees(turns, &["2"]);
    // The row stands before the loop has handed the text on: what it does later comes after that.
    for (word, paused) in [("pause", true), ("resume", false)] {
        scene.daemon.owner(word);
        ipc.sees(word, |status| status["paused"] == paused);
    }
    scene.lets("go");
    alice.hears(ADA, "#general", "steered");
    let states = "SELECT state FROM messages ORDER BY id";
    scene.rig.sees(states, &["answered", "answered"]);
    assert_eq!(scene.rig.query("SELECT count(*) FROM turns"), ["1"]);
}

/// R0-61, R1-27, R1-43: `buffer_size` of the file is how many lines of a channel are kept.
#[test]
fn a_buffer_holds_as_many_lines_as_the_file_says() {
    let (_scene, mut alice, mut ipc) = open("buffer_size: 3", "max_attempts: 5");
    for number in 1..=5 {
        alice.say("#general", &format!("line {number}"));
    }
    let look = json!({"type": "irc_read", "channel": "#general", "peek": true});
    eventually("the last line", || {
        ipc.ok(look.clone()).to_string().contains("line 5").then_some(())
    });
    let kept = ["<alice> line 3", "<alice> line 4", "<alice> line 5"];
    assert_eq!(ipc.read("#general", 50), (kept.map(str::to_owned).into(), 0));
}

/// R0-43, R1-25: `compact` and `clear` are done to the backend's context, and what waits to be read in
/// the chat is as it was.
#[test]
fn a_context_is_shortened_and_cleared_and_the_chat_stays() {
    const COUNTS: &str = r#"
rules:
  - when: {user: 'detailed summary'}
    reply: [text: "<summary>we talked</summary>"]
  - reply: [text: "this is request ${turn}"]
"#;
    let rig = Rig::native(COUNTS, "permissions: bypass");
    let daemon = rig.start();
    let (mut alice, mut ipc) = (rig.member("alice"), daemon.dial());
    for request in ["this is request 1", "this is request 2"] {
        alice.say("#general", "@lab-ada how many?");
        alice.hears(ADA, "#general", request);
    }
    let _ = ipc.read("#general", 50);
    alice.say("#general", "for later");
    ipc.sees("an unread line", |status| status["unread"]["#general"] == 1);

    ipc.ok(json!({"type": "compact"}));
    let shortened = "SELECT count(*) FROM events WHERE kind = 'notice' AND payload LIKE \
                     '%the context was shortened%'";
    rig.sees(shortened, &["1"]);
    ipc.ok(json!({"type": "clear"}));
    alice.say("#general", "@lab-ada how many?");
    alice.hears(ADA, "#general", "this is request 1");
    assert_eq!(ipc.read("#general", 50), (vec!["<alice> for later".to_owned()], 0));
    assert_eq!(ipc.ok(json!({"type": "irc_channels"}))["channels"], json!(["#general"]));
}
