//! What an open turn shows of itself.

use std::time::Duration;

use gangline_core::pulse::{PROGRESS_AFTER, PROGRESS_EVERY, TYPING_EVERY};
use gangline_runtime::{ApprovalAsk, Block, RuntimeEvent, TurnResult};
use serde_json::json;

use super::*;
use crate::agent_loop::tests::{Rig, row};

#[test]
fn the_typing_mark_is_renewed_until_the_turn_ends() {
    let mut rig = Rig::working_on(row(42, ("ori", Tier::Owner), "#lab"), false);
    assert_eq!(rig.shown(), ["#lab types"]);
    for _ in 0..3 {
        assert_eq!(rig.later(TYPING_EVERY), ["#lab types"]);
    }
    assert_eq!(rig.later(Duration::from_secs(1)), [""; 0]);
    let turn = rig.turn();
    let result = TurnResult::Completed;
    rig.hears(RuntimeEvent::Finished { turn, result });
    assert_eq!(rig.shown(), ["#lab is done"]);
    assert_eq!(rig.later(PROGRESS_AFTER), [""; 0]);
}

/// What runs is said after a minute and every five, as it is, hidden characters included.
#[test]
fn what_runs_is_said_now_and_then() {
    let mut rig = Rig::working_on(row(42, ("ori", Tier::Owner), "#lab"), false);
    rig.runs("c1", "npm test\u{202e}");
    let told = rig.later(PROGRESS_AFTER);
    assert_eq!(
        told,
        [
            "#lab types",
            "#lab 1 min: runs `npm test<U+202E> (characters that show nothing are written as `<U+…>`)` (m42)"
        ]
    );
    assert_eq!(rig.later(TYPING_EVERY), ["#lab types"]);
    rig.says(vec![Block::Text { text: "Looking.".to_owned() }]);
    let (turn, id, name) = (rig.turn(), "c1".to_owned(), "Bash".to_owned());
    let content = String::new();
    rig.hears(RuntimeEvent::ToolResult { turn, id, name, is_error: false, content });
    let told = rig.later(PROGRESS_EVERY);
    assert_eq!(told, ["#lab types", "#lab 6 min: works (m42)"]);
}

#[test]
fn nothing_is_shown_while_a_human_has_to_decide() {
    let mut rig = Rig::working_on(row(42, ("ori", Tier::Owner), "#lab"), false);
    let (turn, input) = (rig.turn(), json!({ "command": "ls" }));
    let ask = ApprovalAsk {
        request: "r".to_owned(),
        tool: "Bash".to_owned(),
        input,
        presumed: false,
        files: Vec::new(),
    };
    rig.hears(RuntimeEvent::ApprovalAsked { turn, ask });
    assert_eq!(rig.later(PROGRESS_AFTER + PROGRESS_EVERY), [""; 0]);
}

/// An agent that asked is not told what runs: it might answer.
#[test]
fn agents_are_told_no_progress() {
    let mut rig = Rig::working_on(row(42, ("oak-bob", Tier::Agent), "#lab"), true);
    rig.says(vec![Block::Text { text: "Looking.".to_owned() }]);
    rig.runs("c1", "ls");
    assert_eq!(rig.later(PROGRESS_AFTER), ["#lab types"]);
}

/// `progress: talk`: text before a tool call is relayed; the turn's last text is the answer.
#[test]
fn what_is_said_between_tools_is_told_if_so_configured() {
    for (talks, expect) in [(true, &["#lab Looking at the files first."][..]), (false, &[])] {
        let mut rig = Rig::working_on(row(42, ("ori", Tier::Owner), "#lab"), talks);
        rig.shown();
        let text = "Looking at the files first.".to_owned();
        rig.says(vec![Block::Text { text }]);
        assert_eq!(rig.shown(), [""; 0]);
        rig.runs("c1", "ls");
        rig.runs("c2", "ls");
        assert_eq!(rig.shown(), expect);
        rig.says(vec![Block::Text { text: "All pass.".to_owned() }]);
        let turn = rig.turn();
        let result = TurnResult::Completed;
        rig.hears(RuntimeEvent::Finished { turn, result });
        assert_eq!(rig.shown(), ["#lab is done"]);
    }
}

/// `status`, `attach` and the room's `status` take it from here.
#[test]
fn the_running_tool_is_shown_with_its_command_at_once() {
    let mut rig = Rig::working_on(row(42, ("ori", Tier::Owner), "#lab"), false);
    rig.runs("c1", "npm test");
    let tool = rig.showing.borrow().tool.clone().unwrap();
    assert_eq!((tool.name.as_str(), tool.what.as_str()), ("Bash", "npm test"));
}

/// A room is not flooded by one turn.
#[test]
fn so_much_is_said_between_tools_and_no_more() {
    let mut rig = Rig::working_on(row(42, ("ori", Tier::Owner), "#lab"), true);
    rig.shown();
    for number in 0..TALK_MAX + 2 {
        rig.says(vec![Block::Text { text: number.to_string() }]);
        rig.runs("c", "ls");
    }
    assert_eq!(rig.shown().len(), usize::try_from(TALK_MAX).unwrap());
}
