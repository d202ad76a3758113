//! A context that becomes full: the agent is asked for its notes, then it is shortened (R2-09).
//! By real programs; the rest is tested in `gangline-agent`.

use std::fs;

use gangline_testkit::{eventually, programs};
use serde_json::Value;

use crate::claude::Rig;

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
  - when: {user: '@lab-ada big'}
    reply: [text: "fine: big", usage: {input_tokens: 120000, output_tokens: 10}]
  - reply: [text: "fine: turn ${turn}", usage: {input_tokens: 900, output_tokens: 10}]
"#;
/// Codex writes files by patches.
const PATCH: &str = r#"tool_use: {name: apply_patch, input: "*** Begin Patch\n*** Add File: $1/todo.md\n+plum\n*** End Patch"}"#;

fn rig(backend: &str, script: &str, each: &str) -> Rig {
    let rig = Rig::new(&["lab-ada"], Some(script), each);
    let mut yaml = fs::read_to_string(&rig.config).unwrap();
    yaml = yaml.replace("agent: claude", &format!("agent: {backend}"));
    if backend == "codex" {
        let (claude, codex) = (programs::claude(), programs::codex());
        yaml = yaml.replace(&claude.display().to_string(), &codex.display().to_string());
        let lines = yaml.lines().map(|line| match line.contains("base_url") {
            true => format!("{line}/v1\n    model: gpt-5.5\n"),
            false => format!("{line}\n"),
        });
        yaml = lines.collect();
    }
    fs::write(&rig.config, yaml).unwrap();
    rig
}

/// The requests to the model, in order.
fn requests(rig: &Rig) -> Vec<String> {
    let texts = rig.requests().into_iter().map(|file| fs::read_to_string(file).unwrap());
    texts.map(|text| text.parse::<Value>().unwrap()["body"].to_string()).collect()
}

fn notices(rig: &Rig) -> Vec<String> {
    rig.query(
        "SELECT json_extract(payload, '$.code') FROM events WHERE kind = 'notice' AND \
         json_extract(payload, '$.code') IN ('watermark', 'notes_failed', 'compacting', \
         'compacted', 'shortened_in_vain') ORDER BY seq",
    )
}

/// R2-09, R2-12, C13, C32: past the watermark the agent is asked for its notes in a turn of its
/// own, in which it writes into its folder unasked; then the context is shortened; then what waited
/// is answered. It happens once, and nobody in the room hears of it.
fn the_context_is_cared_for(backend: &str, each: &str) {
    let script = match backend {
        "codex" => SCRIPT
            .replace(
                r#"tool_use: {name: Write, input: {file_path: "$1/todo.md", content: "plum\n"}}"#,
                PATCH,
            )
            .replace("tool: Write", "tool: apply_patch"),
        _ => SCRIPT.to_owned(),
    };
    let rig = rig(backend, &script, each);
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ori.say("#general", "@lab-ada one");
    ori.hears("lab-ada", "#general", "fine: turn");
    assert_eq!(notices(&rig), [""; 0]);
    rig.at_work(&mut ori, "@lab-ada big");
    ori.say("#general", "@lab-ada and after");
    eventually("both to be taken in", || {
        (rig.query("SELECT count(*) FROM messages") == ["3"]).then_some(())
    });
    rig.model_goes_on();
    ori.hears("lab-ada", "#general", "fine: big");
    ori.hears("lab-ada", "#general", "fine: turn");
    assert_eq!(notices(&rig), ["watermark", "compacting", "compacted"]);
    let notes = rig.world.state().join("agents/lab-ada/notes/todo.md");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "plum\n");
    assert_eq!(rig.query("SELECT DISTINCT outcome FROM turns"), ["completed"]);
    assert_eq!(rig.query("SELECT count(*) FROM turns"), ["4"], "one of them for the notes");
    assert_eq!(rig.query("SELECT count(*) FROM approvals"), ["0"], "nobody is asked");
    let last = requests(&rig).into_iter().rfind(|text| text.contains("and after")).unwrap();
    assert!(!last.contains("fine: big"), "the conversation was shortened");

    ori.say("#general", "@lab-ada two");
    ori.hears("lab-ada", "#general", "fine: turn");
    assert_eq!(notices(&rig).len(), 3, "once");
    let heard = ori.history("#general");
    let said: Vec<_> = heard
        .iter()
        .filter_map(|line| gangline_testkit::irc::said(line))
        .filter(|said| said.from == "lab-ada")
        .map(|said| said.text.to_owned())
        .collect();
    assert_eq!(said.len(), 4, "{said:?}");
    rig.put_away(hub);
}

#[test]
fn a_resident_claude_is_asked_for_its_notes_before_it_is_shortened() {
    the_context_is_cared_for("claude", "compact_watermark: 100000");
}

#[test]
fn a_claude_per_turn_is_asked_for_its_notes_before_it_is_shortened() {
    the_context_is_cared_for("claude", "process: per_turn\ncompact_watermark: 100000");
}

#[test]
fn a_codex_is_asked_for_its_notes_before_it_is_shortened() {
    the_context_is_cared_for("codex", "compact_watermark: 100000");
}
