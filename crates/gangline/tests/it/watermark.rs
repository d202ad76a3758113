//! A context that becomes full: the agent is asked for its notes, then it is shortened (R2-09).
//! By real programs; the rest is tested in `gangline-agent`.

use std::fs;

use gangline_testkit::{eventually, programs};
use serde_json::Value;

use crate::claude::Rig;

/// `big` leaves much in the context. The notes are written where the prompt says.
const SCRIPT: &str = r###"
rules:
  - when: {user: 'notes in (\S+) up to date'}
    reply:
      - tool_use:
          name: Write
          input: {file_path: "$1/task.md", content: "## Task\nsort plums\n## Constraints\neat none\n"}
      - usage: {input_tokens: 121000, output_tokens: 100}
  - when: {tool: Write}
    reply: [text: "done", usage: {input_tokens: 122000, output_tokens: 10}]
  - when: {user: 'detailed summary|CONTEXT CHECKPOINT COMPACTION'}
    reply: [text: "<summary>we talked</summary>"]
  - when: {user: '<ori> @lab-ada big'}
    reply: [text: "fine: big", usage: {input_tokens: 120000, output_tokens: 10}]
  - reply: [text: "fine: turn ${turn}", usage: {input_tokens: 900, output_tokens: 10}]
"###;
/// Codex writes files by patches.
const PATCH: &str = r#"tool_use:
          name: apply_patch
          input: "*** Begin Patch\n*** Add File: $1/task.md\n+## Task\n+sort plums\n+## Constraints\n+eat none\n*** End Patch""#;
/// OpenCode asks for a title, and for a summary of all that was said.
const TITLE: &str = "rules:
  - when: {system: 'title generator'}
    reply: [text: \"a title\"]
  - when: {system: 'context summarization'}
    reply: [text: \"we talked\"]
";

fn rig(backend: &str, script: &str, each: &str) -> Rig {
    let rig = Rig::new(&["lab-ada"], Some(script), each);
    let mut yaml = fs::read_to_string(&rig.config).unwrap();
    yaml = yaml.replace("agent: claude", &format!("agent: {backend}"));
    let other = match backend {
        "codex" => Some((programs::codex(), "gpt-5.5")),
        "opencode" => Some((programs::opencode(), "lab/first")),
        _ => None,
    };
    if let Some((program, model)) = other {
        let claude = programs::claude().display().to_string();
        yaml = yaml.replace(&claude, &program.display().to_string());
        let nowhere = "http://127.0.0.1:9";
        let lines = yaml.lines().map(|line| match line.contains("base_url") {
            true => format!(
                "{line}/v1\n    model: {model}\n    env: {{HTTPS_PROXY: \"{nowhere}\", HTTP_PROXY: \
                 \"{nowhere}\", NO_PROXY: \"127.0.0.1\"}}\n"
            ),
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
         'compacted', 'checkpoint', 'checkpoint_incomplete', 'shortened_in_vain') ORDER BY seq",
    )
}

/// What the prompt after a shortening carries.
const CARRIED: [&str; 5] = [
    "[gangline] your conversation was shortened",
    "- never push to main",
    "> sort plums",
    "> eat none",
    "> ori in #general: @lab-ada big",
];

/// R2-09, R2-12, C13, C32: past the watermark the agent is asked for its notes in a turn of its
/// own, in which it writes into its folder unasked; then the context is shortened; then what waited
/// is answered, with the checkpoint in the prompt. It happens once, and nobody in the room hears of it.
fn the_context_is_cared_for(backend: &str, each: &str) {
    let (begin, end) = (SCRIPT.find("tool_use:").unwrap(), SCRIPT.find("\n      - usage").unwrap());
    let tool = &SCRIPT[begin..end];
    let script = match backend {
        "codex" => SCRIPT.replace(tool, PATCH).replace("tool: Write", "tool: apply_patch"),
        "opencode" => SCRIPT
            .replace(tool, &tool.replace("Write", "write").replace("file_path", "filePath"))
            .replace("tool: Write", "tool: write")
            // It shortens by itself a little below its window.
            .replace("input_tokens: 12", "input_tokens: 6")
            .replace("rules:\n", TITLE),
        _ => SCRIPT.to_owned(),
    };
    let rig = rig(backend, &script, &format!("{each}\npinned: [never push to main]"));
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
    let expect = ["watermark", "compacting", "compacted", "checkpoint"];
    assert_eq!(notices(&rig), expect);
    let notes = rig.world.state().join("agents/lab-ada/notes");
    let form = fs::read_to_string(notes.join("task.md")).unwrap();
    assert_eq!(form.trim_end(), "## Task\nsort plums\n## Constraints\neat none");
    let record = fs::read_to_string(notes.join("checkpoint.md")).unwrap();
    assert!(record.contains("> ori in #general: @lab-ada big"), "{record}");
    assert_eq!(rig.query("SELECT DISTINCT outcome FROM turns"), ["completed"]);
    assert_eq!(rig.query("SELECT count(*) FROM turns"), ["4"], "one of them for the notes");
    assert_eq!(rig.query("SELECT count(*) FROM approvals"), ["0"], "nobody is asked");
    let last = requests(&rig).into_iter().rfind(|text| text.contains("and after")).unwrap();
    assert!(!last.contains("fine: big"), "the conversation was shortened");
    for part in CARRIED {
        assert!(last.contains(part), "{part} in {last}");
    }

    ori.say("#general", "@lab-ada two");
    ori.hears("lab-ada", "#general", "fine: turn");
    assert_eq!(notices(&rig), expect, "once");
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

#[test]
fn an_opencode_is_asked_for_its_notes_before_it_is_shortened() {
    the_context_is_cared_for("opencode", "compact_watermark: 5000");
}

/// R2-07, R2-08, C13: a prompt that does not fit is given once more, in a shorter context and with the
/// pinned rules, by each program.
fn what_does_not_fit_is_given_again(backend: &str, each: &str) {
    let overflow =
        "  - when: {user: '<ori> @lab-ada too long'}\n    times: 1\n    reply: [overflow]\n";
    let script = SCRIPT.replace("rules:\n", &format!("rules:\n{overflow}"));
    let script = match backend {
        "opencode" => script.replace("rules:\n", TITLE),
        _ => script,
    };
    let rig = rig(
        backend,
        &script,
        &format!("{each}\ncompact_watermark: 0\npinned: [never push to main]"),
    );
    // What the agent has noted of its task; nobody asks for it before a prompt that does not fit.
    let notes = rig.world.state().join("agents/lab-ada/notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("task.md"), "## Task\nsort plums\n## Constraints\neat none\n").unwrap();
    let hub = rig.up();
    let mut ori = rig.member("ori");
    for word in ["one", "two", "too long"] {
        ori.say("#general", &format!("@lab-ada {word}"));
        ori.hears("lab-ada", "#general", "fine: turn");
    }
    assert_eq!(rig.query("SELECT DISTINCT state || ' ' || attempt FROM messages"), ["answered 1"]);
    let last = requests(&rig).pop().unwrap();
    assert!(last.contains("- never push to main") && last.contains("@lab-ada too long"), "{last}");
    ori.say("#general", "@lab-ada after");
    ori.hears("lab-ada", "#general", "fine: turn");
    let carried = requests(&rig).into_iter().rfind(|text| text.contains("@lab-ada after")).unwrap();
    let task =
        ["- never push to main", "> sort plums", "> eat none", "> ori in #general: @lab-ada t"];
    for part in task {
        assert!(carried.contains(part), "{part} in {carried}");
    }
    rig.put_away(hub);
}

#[test]
fn a_resident_claude_shortens_when_a_prompt_does_not_fit() {
    what_does_not_fit_is_given_again("claude", "process: resident");
}

#[test]
fn an_opencode_shortens_when_a_prompt_does_not_fit() {
    what_does_not_fit_is_given_again("opencode", "");
}

#[test]
fn a_codex_shortens_when_a_prompt_does_not_fit() {
    what_does_not_fit_is_given_again("codex", "process: resident");
}
