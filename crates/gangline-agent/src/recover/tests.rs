use gangline_core::{Epoch, SendKey, answer::Tool, redact::Redacted, split::Joint};
use gangline_store::{LineKind, OutboxId, OutboxState};
use serde_json::json;

use super::*;

const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };

fn line(at: i64, call: &str, to: &str) -> OutboxRow {
    OutboxRow {
        id: OutboxId(at),
        agent: "oak-ada".parse().unwrap(),
        idem_key: SendKey::of_call(Some(TURN), call),
        part: 0,
        parts: 1,
        target: to.into(),
        body: Redacted::constant("x"),
        joint: Joint::Anew,
        kind: LineKind::Privmsg,
        state: OutboxState::Queued,
        sent_as: None,
        turn: Some(TURN),
        in_reply_to: None,
        attempts: 0,
        tell: None,
        why: None,
        msgid: None,
        may_be_doubled: false,
        question: None,
        cause_root: None,
        hops: 0,
        created_at: UnixMicros(at),
        sent_at: None,
        settled_at: None,
    }
}

fn said(at: i64, blocks: Vec<Block>) -> (UnixMicros, event::Assistant) {
    (UnixMicros(at), event::Assistant { model: "m".into(), content: blocks })
}

fn call(id: &str, name: &str) -> Block {
    Block::ToolUse { id: id.into(), name: name.into(), input: json!({}) }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

fn to(target: &str) -> TurnAction {
    TurnAction::Sent { to: target.into(), in_reply_to: None }
}

/// What the shell sent stands between the calls that it was sent between: `on it` before more work
/// is no answer.
#[test]
fn what_a_shell_sent_stands_where_its_time_is() {
    let recorded = vec![
        said(10, vec![call("1", "Bash")]),
        said(30, vec![text("now the tests"), call("2", "Bash")]),
    ];
    let actions =
        in_order(TURN, recorded, &[line(20, "ipc/a", "#general"), line(40, "ipc/b", "bob")]);
    let expect = vec![
        TurnAction::ToolResult(Tool::Shell),
        to("#general"),
        TurnAction::ToolResult(Tool::Send),
        TurnAction::Text("now the tests".into()),
        TurnAction::ToolResult(Tool::Shell),
        to("bob"),
        TurnAction::ToolResult(Tool::Send),
    ];
    assert_eq!(actions, expect);
}

/// A send by the tool stands at its call, be its words recorded late or never.
#[test]
fn what_the_tool_sent_stands_at_its_call() {
    let recorded = vec![said(10, vec![call("1", "send"), call("2", "Read")])];
    let actions = in_order(TURN, recorded, &[line(20, "1", "#general"), line(30, "3", "bob")]);
    let expect = vec![
        to("#general"),
        TurnAction::ToolResult(Tool::Send),
        TurnAction::ToolResult(Tool::Other),
        to("bob"),
        TurnAction::ToolResult(Tool::Send),
    ];
    assert_eq!(actions, expect);
    let late = vec![said(50, vec![call("1", "send")])];
    let actions = in_order(TURN, late, &[line(20, "1", "#general")]);
    let expect = vec![
        to("#general"),
        TurnAction::ToolResult(Tool::Send),
        TurnAction::ToolResult(Tool::Send),
    ];
    assert_eq!(actions, expect);
}
