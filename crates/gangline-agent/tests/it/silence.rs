//! What a model says that is no text for a room: nothing at all, or far too much.

use crate::rig::{ADA, ROOM, Rig, said};

/// Of a text of blanks and of one of control characters no line is left: the asker is told.
#[test]
fn a_text_without_a_line_is_told_as_silence() {
    let script = r#"rules:
  - when: {user: 'blank'}
    reply: [text: " \n\t\r\n "]
  - reply: [text: "\e\a\x01"]
"#;
    let rig = Rig::native(script, "");
    let daemon = rig.start();
    let mut alice = rig.member("alice");
    alice.say(ROOM, "@lab-ada blank");
    alice.hears(ADA, ROOM, "the turn ended without any text (m1)");
    alice.say(ROOM, "@lab-ada only controls");
    alice.hears(ADA, ROOM, "the turn ended without any text (m2)");
    let rows = "SELECT state || ' ' || coalesce(reason, '') FROM messages";
    rig.sees(rows, &["failed silent", "failed silent"]);
    assert_eq!(daemon.stop().code, 0);
}

/// A text of a megabyte, in lines or without a break, is answered in a few lines, and the agent
/// goes on.
#[test]
fn an_endless_text_of_a_model_is_cut() {
    let script = format!(
        r#"rules:
  - when: {{user: '<alice> @lab-ada much'}}
    reply: [text: "{}"]
  - when: {{user: '<alice> @lab-ada one word'}}
    reply: [text: "{}"]
  - reply: [text: alive]
"#,
        "many words\\n".repeat(100_000),
        "ä".repeat(500_000),
    );
    let rig = Rig::native(&script, "");
    let daemon = rig.start();
    let mut alice = rig.member("alice");
    for (word, message) in [("much", "m1"), ("one word", "m2")] {
        alice.say(ROOM, &format!("@lab-ada {word}"));
        alice.hears(ADA, ROOM, &format!("lines: gangline trace {message}"));
    }
    alice.say(ROOM, "@lab-ada hello");
    alice.hears(ADA, ROOM, "alive");
    assert_eq!(said(&mut alice).len(), 12 + 12 + 1);
    assert_eq!(daemon.stop().code, 0);
}
