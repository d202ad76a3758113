//! What a start of the daemon tells the agent (R2-14), and other programs.

use serde_json::Value;

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = r##"
rules:
  - when: {user: 'say exactly (\w+)'}
    reply: [text: "$1"]
  - reply: [text: "done"]
"##;
const NOTES: &str = "SELECT state FROM messages WHERE origin = 'system' ORDER BY id";

fn given(rig: &Rig) -> String {
    rig.requests().pop().unwrap_or(Value::Null)["messages"].to_string()
}

/// R2-14, C48: a restart costs no model call; the row waits and comes with the next message, once,
/// however many restarts there were.
#[test]
fn a_start_is_told_with_the_next_message_and_costs_no_turn() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada say exactly first");
    ori.hears(ADA, ROOM, "first");
    assert_eq!(daemon.stop().code, 0);
    let daemon = rig.start();
    assert_eq!(daemon.stop().code, 0);
    let daemon = rig.start();
    rig.sees(NOTES, &["cancelled", "accepted"]);
    let status = daemon.dial().status();
    assert_eq!((&status["pending"], rig.requests().len()), (&0.into(), 1), "{status}");
    ori.say(ROOM, "@lab-ada say exactly second");
    ori.hears(ADA, ROOM, "second");
    rig.sees(NOTES, &["cancelled", "no_reply"]);
    let notes = rig.state("notes").display().to_string();
    let told = format!(
        "say exactly second\\n[gangline] you were just (re)started; check {notes} for your notes; \
         your session is intact, and your files are in "
    );
    let memory = given(&rig);
    assert!(memory.contains(&told), "{told} in {memory}");
    assert_eq!(memory.matches("you were").count(), 1, "told once: {memory}");
    assert_eq!(rig.requests().len(), 2);
    // R1-42: the task is what was asked, not the note that came with it.
    let finished = |word: &str| {
        format!("[COMPLETE] lab-ada finished task \"say exactly {word}\". Results in #general.")
    };
    rig.sees("SELECT text FROM alerts ORDER BY id", &[&finished("first"), &finished("second")]);
    assert_eq!(daemon.stop().code, 0);
}

/// R2-14: with `restart_note: wake` every start is a turn of its own, and posts nothing.
#[test]
fn a_start_wakes_where_that_is_wanted() {
    let rig = Rig::native(SCRIPT, "restart_note: wake\n");
    let daemon = rig.start();
    rig.sees(NOTES, &["answered"]);
    rig.was_asked(1);
    assert!(given(&rig).contains("\"[gangline] you were just (re)started; "), "{}", given(&rig));
    assert_eq!(daemon.stop().code, 0);
}

/// R2-14: with `restart_note: off` nothing is told.
#[test]
fn a_start_is_not_told_where_nobody_wants_it() {
    let rig = Rig::native(SCRIPT, "restart_note: off\n");
    for word in ["first", "second"] {
        let daemon = rig.start();
        let mut ori = rig.member("ori");
        ori.say(ROOM, &format!("@lab-ada say exactly {word}"));
        ori.hears(ADA, ROOM, word);
        assert_eq!(daemon.stop().code, 0);
    }
    assert_eq!(rig.query(NOTES), [] as [String; 0]);
}

/// R2-14: a turn that was cut off is a reason to wake; the row comes with the message that goes back.
#[test]
fn a_start_after_a_turn_was_cut_off_is_told_at_once() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada say exactly plum");
    daemon.kill();
    drop(model);
    let daemon = rig.start();
    ori.hears(ADA, ROOM, "plum");
    let settled = "SELECT count(settled_at) FROM messages WHERE origin = 'system'";
    rig.sees(settled, &["1"]);
    let memory = given(&rig);
    assert!(
        memory.contains("attempt 2") && memory.contains("you were just (re)started"),
        "{memory}"
    );
    assert_eq!(daemon.stop().code, 0);
}

/// R0-37: the PID file names the daemon while it runs and is gone after its stop. One that a killed daemon
/// left, whatever it names, keeps nobody from starting and is replaced.
#[test]
fn the_pid_file_is_there_while_the_daemon_runs_and_a_stale_one_does_no_harm() {
    let rig = Rig::native(SCRIPT, "");
    let file = rig.state("pid");
    let own = format!("{}\n", std::process::id());
    let daemon = rig.start();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), own);
    daemon.kill();
    assert!(file.exists(), "nobody removes it after a kill");
    // The process of that number is another one by now, and lives.
    std::fs::write(&file, "1\n").unwrap();
    let daemon = rig.start();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), own);
    assert_eq!(daemon.stop().code, 0);
    assert!(!file.exists());
}
