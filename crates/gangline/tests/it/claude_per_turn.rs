//! The real Claude Code program with a process for each turn, from the room to its answer.

use std::fs;

use gangline_testkit::{eventually, irc};

use crate::claude::{Rig, kill_hard};

const EACH: &str = "process: per_turn";

fn program(rig: &Rig) -> Vec<i32> {
    rig.world.processes_like("stream-json")
}

fn last_request(rig: &Rig) -> String {
    fs::read_to_string(rig.requests().last().unwrap()).unwrap()
}

/// R2-02, R2-05, C4, C5: a mention, a command that waits for the owner, the answer; a second
/// mention goes on in the same session; no process lives between turns.
#[test]
fn two_mentions_are_two_processes_of_one_session() {
    let rig = Rig::new(&["lab-ada"], None, EACH);
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    assert_eq!(program(&rig), [0; 0]);
    ori.say("#general", "@lab-ada run touch made-by-ada.txt");
    let asked = owner.hears("lab-ada", "#general", "lab-ada wants to ");
    assert!(asked.contains("`touch made-by-ada.txt`"), "{asked}");
    rig.one_program();
    assert!(!rig.work("lab-ada", "made-by-ada.txt").exists());
    owner.say("#general", "@lab-ada yes 1");
    ori.hears("lab-ada", "#general", "(Bash completed with no output)");
    assert!(rig.work("lab-ada", "made-by-ada.txt").exists());
    assert_eq!(program(&rig), [0; 0], "the answer comes after the process");
    let session = rig.query("SELECT session FROM agents");
    ori.say("#general", "@lab-ada say exactly still here");
    ori.hears("lab-ada", "#general", "still here");
    assert!(last_request(&rig).contains("made-by-ada.txt"));
    assert_eq!(rig.query("SELECT session FROM agents"), session);
    assert_eq!(program(&rig), [0; 0]);
    let status = rig.world.run(&["status", "lab-ada", "--json"]).json();
    assert_eq!((&status["running"], &status["activity"]), (&true.into(), &"idle".into()));
    rig.put_away(hub);
}

/// R0-20, R0-21, C7: the daemon, or the program, dies in mid-turn; the message is answered once,
/// in the same session, and nothing of the old turn goes on.
#[test]
fn a_death_in_mid_turn_is_recovered_from_and_answered_once() {
    for victim in ["daemon lab-ada", "stream-json"] {
        let rig = Rig::new(&["lab-ada"], None, &format!("{EACH}\npermissions: bypass"));
        let hub = rig.up();
        let mut ori = rig.member("ori");
        ori.say("#general", "@lab-ada say exactly first");
        ori.hears("lab-ada", "#general", "first");
        let session = rig.query("SELECT session FROM agents");
        let command = "sh -c 'echo begun >> log; test -e again || { touch again; \
                       while [ ! -e go ]; do sleep 0.1; done; }; echo ended >> log; echo all well'";
        ori.say("#general", &format!("@lab-ada run {command}"));
        let log = rig.work("lab-ada", "log");
        eventually("the tool to wait", || rig.work("lab-ada", "again").exists().then_some(()));
        rig.world.processes_like(victim).into_iter().for_each(kill_hard);
        ori.hears("lab-ada", "#general", "all well");
        fs::write(rig.work("lab-ada", "go"), "").unwrap();
        let history = ori.history("#general");
        let said = history.iter().filter_map(|line| irc::said(line));
        let answers = said.filter(|it| it.from == "lab-ada" && it.text.contains("said:")).count();
        assert_eq!(answers, 1, "{victim}: {history:#?}");
        assert_eq!(fs::read_to_string(&log).unwrap(), "begun\nbegun\nended\n", "{victim}");
        assert_eq!(rig.query("SELECT session FROM agents"), session);
        let row = "SELECT state || ' ' || attempt FROM messages WHERE body LIKE '%log%'";
        assert_eq!(rig.query(row), ["answered 2"]);
        assert_eq!(program(&rig), [0; 0]);
        rig.put_away(hub);
    }
}

/// R0-08: the owner's `abort` ends the process of the turn; the next turn has another.
#[test]
fn an_abort_ends_the_process_of_the_turn() {
    let rig = Rig::new(&["lab-ada"], None, &format!("{EACH}\npermissions: bypass"));
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ori.say("#general", "@lab-ada run sh -c 'touch busy; while :; do sleep 0.1; done'");
    eventually("the tool to run", || rig.work("lab-ada", "busy").exists().then_some(()));
    owner.say("#general", "@lab-ada abort");
    ori.hears("lab-ada", "#general", "a person stopped the turn");
    assert_eq!(program(&rig), [0; 0]);
    eventually("the tool to end", || rig.world.processes_like("while :").is_empty().then_some(()));
    ori.say("#general", "@lab-ada say exactly still here");
    ori.hears("lab-ada", "#general", "still here");
    rig.put_away(hub);
}

/// R2-08: a conversation that no longer fits is shortened by a process of its own, and the prompt
/// is tried again once.
#[test]
fn what_no_longer_fits_is_shortened_and_tried_again() {
    let script = r#"
rules:
  - when: {user: 'detailed summary'}
    reply: [text: "<summary>we talked</summary>"]
  - when: {user: 'too long'}
    times: 1
    reply: [overflow]
  - reply: [text: "fine: ${turn}"]
"#;
    let rig = Rig::new(&["lab-ada"], Some(script), EACH);
    let hub = rig.up();
    let mut ori = rig.member("ori");
    for word in ["one", "two"] {
        ori.say("#general", &format!("@lab-ada {word}"));
        ori.hears("lab-ada", "#general", "fine: ");
    }
    ori.say("#general", "@lab-ada too long");
    ori.hears("lab-ada", "#general", "fine: ");
    let row = "SELECT state || ' ' || attempt FROM messages WHERE body LIKE '%too long%'";
    assert_eq!(rig.query(row), ["answered 1"]);
    assert!(last_request(&rig).contains("we talked"), "{}", last_request(&rig));
    assert!(!last_request(&rig).contains("what you did for it before is done"));
    rig.put_away(hub);
}

/// R2-08, R0-21: where a turn has acted before the conversation no longer fitted, the second prompt
/// says so.
#[test]
fn what_was_done_before_the_context_was_shortened_is_told() {
    let script = r##"
rules:
  - when: {user: 'detailed summary'}
    reply: [text: "<summary>we talked</summary>"]
  - when: {tool: send}
    times: 1
    reply: [overflow]
  - when: {user: 'too long'}
    times: 1
    reply: [tool_use: {name: send, input: {to: "#general", text: "it is done"}}]
  - reply: [text: "fine: ${turn}"]
"##;
    let rig = Rig::new(&["lab-ada"], Some(script), EACH);
    let hub = rig.up();
    let mut ori = rig.member("ori");
    for word in ["one", "two"] {
        ori.say("#general", &format!("@lab-ada {word}"));
        ori.hears("lab-ada", "#general", "fine: ");
    }
    ori.say("#general", "@lab-ada too long");
    ori.hears("lab-ada", "#general", "it is done");
    eventually("the prompt to be given again", || {
        let row = "SELECT state FROM messages WHERE body LIKE '%too long%'";
        (rig.query(row) != ["in_turn"]).then_some(())
    });
    let request = last_request(&rig);
    assert!(request.contains("what you did for it before is done"), "{request}");
    rig.put_away(hub);
}

/// R2-08, R0-08: an `abort` while the context is shortened for a prompt ends that turn; the session
/// and what it holds stay.
#[test]
fn an_abort_while_the_context_is_shortened_ends_the_turn() {
    let script = r#"
rules:
  - when: {user: 'detailed summary'}
    times: 1
    reply: [delay_ms: 600000, text: "<summary>we talked</summary>"]
  - when: {user: 'too long'}
    times: 1
    reply: [overflow]
  - reply: [text: "fine: ${turn}"]
"#;
    let rig = Rig::new(&["lab-ada"], Some(script), EACH);
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    for word in ["remember plum", "two"] {
        ori.say("#general", &format!("@lab-ada {word}"));
        ori.hears("lab-ada", "#general", "fine: ");
    }
    let session = rig.query("SELECT session FROM agents");
    ori.say("#general", "@lab-ada too long");
    eventually("the summary to be asked for", || {
        last_request(&rig).contains("detailed summary").then_some(())
    });
    owner.say("#general", "@lab-ada abort");
    ori.hears("lab-ada", "#general", "a person stopped the turn");
    ori.say("#general", "@lab-ada three");
    ori.hears("lab-ada", "#general", "fine: ");
    assert!(last_request(&rig).contains("remember plum"));
    assert_eq!(rig.query("SELECT session FROM agents"), session);
    rig.put_away(hub);
}
