//! A context that is shortened: what must not be lost is given to the agent again (C13).

use std::{fs, time::Duration};

use serde_json::Value;

use crate::rig::{ADA, ROOM, Rig};

/// `big` leaves much in the context. The agent fills in the form where the prompt says.
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
const NOTICES: &str = "SELECT json_extract(payload, '$.code') FROM events WHERE kind = 'notice' AND \
                       json_extract(payload, '$.code') IN ('watermark', 'notes_failed', 'compacted', \
                       'checkpoint', 'checkpoint_incomplete', 'context_emptied', 'cold_reset', \
                       'session_renewed') ORDER BY seq";
const EACH: &str = "compact_watermark: 100000\npinned: [never push to main]";

fn rig(script: &str, each: &str) -> Rig {
    Rig::unnamed(script, "", each)
}

/// The text of the last message of the request in which this was said.
fn prompt(rig: &Rig, said: &str) -> String {
    let mut asked =
        rig.requests().into_iter().map(|it| last(&it)).filter(|text| text.contains(said));
    asked.next_back().unwrap_or_else(|| panic!("{said} was not asked"))
}

fn last(request: &Value) -> String {
    let messages = request["messages"].as_array().and_then(|all| all.last());
    let content = messages.map(|it| it["content"].clone()).unwrap_or_default();
    let blocks = content.as_array().cloned().unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.chain(content.as_str()).collect()
}

const CARRIED: [&str; 6] = [
    "[gangline] your conversation was shortened",
    "- never push to main",
    "[gangline] Task (written by you):\n> sort plums",
    "[gangline] Constraints (written by you):\n> eat none",
    "> ori in #general: @lab-ada big, and mind the jam",
    "/notes/task.md",
];

/// R2-09, C13: the first prompt after a shortened context carries the pinned rules, the task, the
/// constraints, the last human words as they were said and the touched files; the next one does not.
/// The rules are in the system prompt as well.
#[test]
fn the_first_prompt_after_a_shortening_carries_the_checkpoint() {
    let rig = rig(SCRIPT, EACH);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada big, and mind the jam");
    ori.hears(ADA, ROOM, "fine: big");
    rig.sees(NOTICES, &["watermark", "compacted"]);
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    rig.sees(NOTICES, &["watermark", "compacted", "checkpoint"]);
    let two = prompt(&rig, "@lab-ada two");
    for part in CARRIED {
        assert!(two.contains(part), "{part} in {two}");
    }
    let record = fs::read_to_string(rig.state("notes/checkpoint.md")).unwrap();
    assert!(record.contains("> ori in #general: @lab-ada big, and mind the jam"), "{record}");
    let request = rig.requests().pop().unwrap();
    assert!(request["system"].to_string().contains("- never push to main"), "{request}");
    ori.say(ROOM, "@lab-ada three");
    ori.hears(ADA, ROOM, "fine: turn");
    let three = prompt(&rig, "@lab-ada three");
    assert!(!three.contains("was shortened"), "{three}");
    assert_eq!(daemon.stop().code, 0);
}

/// C13: a daemon that ends between the shortening and the next prompt forgets nothing.
#[test]
fn the_next_daemon_gives_the_checkpoint_that_the_last_one_owed() {
    let rig = rig(SCRIPT, EACH);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada big, and mind the jam");
    ori.hears(ADA, ROOM, "fine: big");
    rig.sees(NOTICES, &["watermark", "compacted"]);
    assert_eq!(daemon.stop().code, 0);
    let daemon = rig.start();
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    rig.sees(NOTICES, &["watermark", "compacted", "checkpoint"]);
    let two = prompt(&rig, "@lab-ada two");
    for part in CARRIED {
        assert!(two.contains(part), "{part} in {two}");
    }
    assert_eq!(daemon.stop().code, 0);
}

/// R2-10, C13: a section that the agent left out is a notice and fails no turn.
#[test]
fn a_missing_section_is_a_notice() {
    let script = SCRIPT.replace("## Constraints", "### Limits");
    let rig = rig(&script, EACH);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada big");
    ori.hears(ADA, ROOM, "fine: big");
    rig.sees(NOTICES, &["watermark", "checkpoint_incomplete", "compacted"]);
    let told = rig.query(
        "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'notice' AND \
         json_extract(payload, '$.code') = 'checkpoint_incomplete'",
    );
    assert!(told[0].contains("no `## Constraints`") && !told[0].contains("Task"), "{told:?}");
    rig.sees("SELECT DISTINCT outcome FROM turns", &["completed"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R2-08, C13: a prompt that did not fit is given again with the pinned rules behind it, without a turn
/// for notes.
#[test]
fn a_prompt_that_is_given_again_carries_the_pinned_rules() {
    let script = format!(
        "rules:\n  - {{when: {{user: '<ori> @lab-ada two'}}, times: 1, reply: [overflow]}}\n{}",
        SCRIPT.trim_start().strip_prefix("rules:\n").unwrap()
    );
    let rig = rig(&script, "compact_watermark: 0\npinned: [never push to main]");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada one");
    ori.hears(ADA, ROOM, "fine: turn");
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    rig.sees("SELECT count(*) FROM turns", &["2"]);
    let again = rig.requests().pop().unwrap();
    let text = again.to_string();
    assert!(text.contains("@lab-ada two") && text.contains("- never push to main"), "{text}");
    ori.say(ROOM, "@lab-ada three");
    ori.hears(ADA, ROOM, "fine: turn");
    let three = prompt(&rig, "@lab-ada three");
    assert!(three.contains("> ori in #general: @lab-ada two"), "{three}");
    assert_eq!(daemon.stop().code, 0);
}

/// R2-06, C13: an emptied context gets no checkpoint: somebody wanted it empty.
#[test]
fn a_session_that_somebody_wanted_empty_gets_no_checkpoint() {
    let rig = rig(SCRIPT, EACH);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let mut owner = rig.owner("boss");
    ori.say(ROOM, "@lab-ada big");
    ori.hears(ADA, ROOM, "fine: big");
    rig.sees(NOTICES, &["watermark", "compacted"]);
    owner.say(ROOM, "@lab-ada new session");
    rig.sees(NOTICES, &["watermark", "compacted", "context_emptied"]);
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    let two = prompt(&rig, "@lab-ada two");
    assert!(!two.contains("was shortened"), "{two}");
    assert_eq!(daemon.stop().code, 0);
}

/// C13: a large context that nobody used for a while is left behind: the next message begins a new
/// session, which carries the checkpoint.
#[test]
fn a_cold_context_is_left_behind_with_a_checkpoint() {
    let each = "compact_watermark: 0\npinned: [never push to main]\n\
                cold_reset: {tokens: 100000, idle: 30}";
    let rig = rig(SCRIPT, each);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada big");
    ori.hears(ADA, ROOM, "fine: big");
    rig.clock.forward(Duration::from_secs(31));
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine: turn");
    rig.sees(NOTICES, &["cold_reset", "session_renewed", "checkpoint"]);
    let two = prompt(&rig, "@lab-ada two");
    assert!(two.contains("this is a new session") && two.contains("- never push to main"), "{two}");
    assert!(two.contains("> ori in #general: @lab-ada big"), "{two}");
    let request = rig.requests().pop().unwrap().to_string();
    assert!(!request.contains("fine: big"), "the old conversation is not sent: {request}");
    assert_eq!(daemon.stop().code, 0);
}
