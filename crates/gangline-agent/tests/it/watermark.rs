//! A context that becomes full: the agent is asked for its notes, then it is shortened (R2-09).

use std::fs;

use serde_json::json;

use crate::rig::{ADA, ROOM, Rig, said};

/// `big` leaves much in the context. The notes are written where the prompt says.
const SCRIPT: &str = r#"
rules:
  - when: {user: 'notes in (\S+) up to date'}
    reply:
      - tool_use: {name: Write, input: {file_path: "$1/todo.md", content: "plum\n"}}
      - usage: {input_tokens: 121000, output_tokens: 100}
  - when: {tool: Write}
    reply: [text: "done", usage: {input_tokens: 122000, output_tokens: 10}]
  - when: {user: 'detailed summary|CONTEXT CHECKPOINT COMPACTION'}
    reply: [text: "<summary>we talked</summary>"]
  - when: {user: '<ori> @lab-ada big'}
    reply: [text: "fine: big", usage: {input_tokens: 120000, output_tokens: 10}]
  - reply: [text: "fine: turn ${turn}", usage: {input_tokens: 900, output_tokens: 10}]
"#;
const NOTICES: &str = "SELECT json_extract(payload, '$.code') FROM events WHERE kind = 'notice' AND \
                       json_extract(payload, '$.code') IN ('watermark', 'notes_failed', \
                       'compacting', 'compacted', 'shortened_in_vain') ORDER BY seq";
const PAIR: [&str; 2] = ["compacting", "compacted"];

/// [`SCRIPT`] with another rule before all others.
fn with_rule(rule: &str) -> String {
    format!("rules:\n  - {rule}\n{}", SCRIPT.trim_start().strip_prefix("rules:\n").unwrap())
}

fn rig(script: &str, each: &str) -> Rig {
    Rig::unnamed(script, "", each)
}

/// R2-09, R2-12, C13, C32: past the watermark the agent is asked for its notes in a turn of its
/// own, in which it writes into its folder unasked; then the context is shortened; then what waited
/// is answered. It happens once, and nobody in the room hears of it. The window of this model is
/// known: a million.
#[test]
fn the_native_loop_is_asked_for_its_notes_before_it_is_shortened() {
    let rig = rig(SCRIPT, "model: haiku\ncompact_watermark: 0.12");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada one");
    ori.hears(ADA, ROOM, "fine: turn");
    assert_eq!(rig.query(NOTICES), [""; 0]);
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada big");
    ori.say(ROOM, "@lab-ada and after");
    rig.sees("SELECT count(*) FROM messages", &["3"]);
    drop(model);
    ori.hears(ADA, ROOM, "fine: big");
    ori.hears(ADA, ROOM, "fine: turn");
    let expect = ["watermark", "compacting", "compacted"];
    rig.sees(NOTICES, &expect);
    assert_eq!(fs::read_to_string(rig.state("notes/todo.md")).unwrap(), "plum\n");
    rig.sees("SELECT DISTINCT outcome FROM turns", &["completed"]);
    assert_eq!(rig.query("SELECT count(*) FROM turns"), ["4"], "one of them for the notes");
    assert_eq!(rig.query("SELECT count(*) FROM approvals"), ["0"], "nobody is asked");
    let requests = rig.requests().into_iter().map(|it| it.to_string());
    let last = requests.rev().find(|text| text.contains("and after")).unwrap();
    assert!(!last.contains("fine: big"), "the conversation was shortened");

    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    assert_eq!(rig.query(NOTICES), expect, "once");
    let said = said(&mut ori);
    assert_eq!(said.len(), 4, "{said:?}");
    assert_eq!(daemon.stop().code, 0);
}

/// R2-10, C13: notes that fail are told and hinder nobody; without a watermark, or where the
/// context is left to the backend, nothing is done.
#[test]
fn notes_that_fail_hinder_nobody_and_zero_is_never() {
    let failing = with_rule(
        "{when: {user: 'up to date'}, reply: [http_error: {status: 400, message: 'no notes today'}]}",
    );
    let rig = rig(&failing, "compact_watermark: 100000");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada big");
    ori.hears(ADA, ROOM, "fine: big");
    rig.sees(NOTICES, &["watermark", "notes_failed", "compacting", "compacted"]);
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    rig.sees("SELECT DISTINCT state FROM messages", &["answered"]);
    assert_eq!(daemon.stop().code, 0);

    for each in ["compact_watermark: 0", "compaction: backend", "compaction: off"] {
        let rig = self::rig(SCRIPT, each);
        let daemon = rig.start();
        let mut ori = rig.member("ori");
        ori.say(ROOM, "@lab-ada big");
        ori.hears(ADA, ROOM, "fine: big");
        ori.say(ROOM, "@lab-ada two");
        ori.hears(ADA, ROOM, "fine: turn");
        assert_eq!(rig.query(NOTICES), [""; 0], "{each}");
        assert_ne!(daemon.dial().status()["context_tokens"], json!(null));
        assert_eq!(daemon.stop().code, 0);
    }
}

/// R2-08, R2-10: notes whose prompt does not fit, however short the context, are given up: nothing is
/// shortened for them again, and what comes next is answered.
#[test]
fn notes_that_do_not_fit_are_given_up() {
    let script = with_rule("{when: {user: 'up to date'}, reply: [overflow]}");
    let rig = rig(&script, "compact_watermark: 100000");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada big");
    ori.hears(ADA, ROOM, "fine: big");
    // First by the loop itself, then by the daemon, which finds nothing more to shorten.
    let expect = [&["watermark"][..], &PAIR, &PAIR, &["notes_failed"]].concat();
    rig.sees(NOTICES, &expect);
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    assert_eq!(rig.query(NOTICES), expect);
    assert_eq!(daemon.stop().code, 0);
}

/// R2-09, R2-10: a shortening that fails is told, and tried once more after the next turn; the notes
/// are not asked for again.
#[test]
fn a_shortening_that_fails_is_tried_once_more() {
    let script = with_rule(
        "{when: {system: 'what a working agent'}, times: 1, reply: [http_error: {status: 400, \
         message: 'not today'}]}",
    );
    let rig = rig(&script, "compact_watermark: 100000");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada big");
    ori.hears(ADA, ROOM, "fine: big");
    let once = [&["watermark"][..], &PAIR].concat();
    rig.sees(NOTICES, &once);
    ori.say(ROOM, "@lab-ada big");
    ori.hears(ADA, ROOM, "fine: big");
    let twice = [&once[..], &PAIR].concat();
    rig.sees(NOTICES, &twice);
    let told = rig.query(
        "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'notice' AND \
         json_extract(payload, '$.code') = 'compacted' ORDER BY seq",
    );
    assert!(told[0].contains("not today"), "{told:?}");
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    let last = rig.requests().pop().unwrap().to_string();
    assert!(!last.contains("fine: big"), "the conversation was shortened");
    assert_eq!(rig.query(NOTICES), twice);
    assert_eq!(daemon.stop().code, 0);
}
