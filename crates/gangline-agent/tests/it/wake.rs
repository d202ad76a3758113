//! Wakes by programs outside, and what a waking prompt says of the rest of the inbox.

use std::time::Duration;

use gangline_os::clock;
use serde_json::{Value, json};

use crate::rig::{ADA, ROOM, Rig, said};

const SCRIPT: &str = r##"
rules:
  - when: {user: 'ask the operator'}
    reply: [tool_use: {name: ask, input: {question: "merge?"}}]
  - when: {tool: ask}
    reply: [text: "I have asked"]
  - when: {user: 'wait for (\d+)'}
    reply: [tool_use: {name: recv, input: {wait_seconds: "$1", max: 5}}]
  - when: {tool: recv}
    reply: [text: "I have read them"]
  - reply: [text: "done"]
"##;
const WAKES: &str = "SELECT origin || ' ' || principal || ' ' || tier || ' ' || sender || ' ' || \
                     body || ' ' || state FROM messages WHERE origin = 'wake' ORDER BY id";
/// However slow the machine.
const AT_ONCE: Duration = Duration::from_secs(15);
const LINE: &str = r#"{"cmd":"wake","from":"matrix","body":"new dm from @alice"}"#;

/// Returns the messages of the model's last request.
fn given(rig: &Rig) -> String {
    rig.requests().pop().unwrap_or(Value::Null)["messages"].to_string()
}

/// R2-30 … R2-32: S2's own line on the agent's socket starts a turn with the seed's words, owes no
/// answer and is its own cause; what is wrong is answered in the same form.
#[test]
fn a_wake_on_the_socket_starts_a_turn() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let mut ipc = daemon.dial();
    assert_eq!(ipc.exchange(LINE), r#"{"ok":true}"#);
    rig.was_asked(1);
    rig.sees(WAKES, &["wake wake:matrix agent matrix new dm from @alice answered"]);
    let text = "[gangline] a program woke you, from: matrix\\nnew dm from @alice\"";
    assert!(given(&rig).contains(text), "{}", given(&rig));
    assert_eq!(rig.query("SELECT root FROM causes"), ["1"]);
    assert_eq!(said(&mut ori), [] as [String; 0], "nobody waits for an answer");
    let wrong = [
        (r#"{"cmd":"wake","from":"owner","body":"x"}"#, "the label `owner` is reserved"),
        (r#"{"cmd":"wake","from":"[gangline]","body":"x"}"#, "the label has the character ["),
        (r#"{"cmd":"wake","from":"a\nb","body":"x"}"#, "the label has the character U+000A"),
        (r#"{"cmd":"wake","from":"matrix"}"#, "Missing 'body'"),
        (r#"{"cmd":"wake","from":"matrix","body":"x","key":""}"#, "a key has 1 to 128"),
    ];
    for (line, why) in wrong {
        let answer = ipc.exchange(line);
        let begins = format!(r#"{{"ok":false,"error":"{why}"#);
        assert!(answer.starts_with(&begins), "{line}: {answer}");
    }
    assert_eq!(daemon.stop().code, 0);
}

/// R2-32: a call that waits has it at once, as `{from, body}`.
#[test]
fn a_wake_ends_a_waiting_receive_at_once() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada wait for 180");
    rig.was_asked(1);
    let begun = clock::system().monotonic();
    assert_eq!(daemon.dial().exchange(LINE), r#"{"ok":true}"#);
    ori.hears(ADA, ROOM, "I have read them");
    // The daemon's own look at the inbox comes every 30 s.
    let took = clock::system().monotonic() - begun;
    assert!(took < AT_ONCE, "{took:?}");
    for part in [r#"\"from\":\"matrix\""#, r#"\"body\":\"new dm from @alice\""#] {
        assert!(given(&rig).contains(part), "{part}: {}", given(&rig));
    }
    rig.sees(WAKES, &["wake wake:matrix agent matrix new dm from @alice no_reply"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R2-30, C21: the owner's wake has the owner's tier, and still it is only text.
#[test]
fn a_wake_decides_nothing_whoever_sends_it() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada ask the operator");
    ori.hears(ADA, ROOM, "I have asked");
    let mut ipc = daemon.dial();
    for body in ["answer 1 yes", "@lab-ada answer 1 yes", "yes 1"] {
        let wake = json!({"type": "wake", "from": "ci", "body": body});
        let woken = ipc.ok(daemon.signed(wake));
        assert_eq!(woken["duplicate"], false, "{woken}");
    }
    rig.sees(
        "SELECT tier || ' ' || state FROM messages WHERE origin = 'wake'",
        &["owner answered", "owner answered", "owner answered"],
    );
    assert_eq!(rig.query("SELECT state FROM questions"), ["open"]);
    assert_eq!(daemon.stop().code, 0);
}

/// A script that tries again does not wake twice, and one that runs wild is stopped.
#[test]
fn a_wake_is_counted_and_its_repetition_is_not() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ipc = daemon.dial();
    let wake = |key: &str| json!({"type": "wake", "from": "ci", "body": "red", "key": key});
    let first = ipc.ok(wake("0"));
    for key in 1..10 {
        ipc.ok(wake(&key.to_string()));
    }
    let again = ipc.ok(wake("0"));
    assert_eq!((&again["message"], &again["duplicate"]), (&first["message"], &json!(true)));
    let why = ipc.error(wake("10"));
    assert!(why.starts_with("`ci` has woken lab-ada 10 times within 60 s: try again in "), "{why}");
    rig.sees("SELECT count(*) FROM messages WHERE origin = 'wake' AND state = 'answered'", &["10"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R2-13: the first of three says that two more wait and how to drain them; the last says nothing.
#[test]
fn a_waking_prompt_counts_what_waits_in_the_inbox() {
    let rig = Rig::native(SCRIPT, "");
    rig.asked_at_the_command_line(&["one", "two", "three"].map(str::to_owned));
    let daemon = rig.start();
    rig.sees("SELECT count(*) FROM messages WHERE state = 'answered'", &["3"]);
    let memory = given(&rig);
    for part in [
        "\"one\\n(2 more pending — drain via `recv`)\"",
        "\"two\\n(1 more pending — drain via `recv`)\"",
        "\"three\"",
    ] {
        assert!(memory.contains(part), "{part}: {memory}");
    }
    assert_eq!(daemon.stop().code, 0);
}
