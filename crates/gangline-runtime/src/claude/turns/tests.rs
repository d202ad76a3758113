//! Conversations with the program, line by line, in the orders that were measured and in others.

use gangline_core::{Epoch, permission::Permissions};
use serde_json::{Value, json};

use super::*;
use crate::{
    Answer, Block, Usage,
    claude::decode::{Assistant, Fate, Init, Outcome, Request, SYNTHETIC, Status, Tokens},
    reading::Reading,
};

mod properties;
mod reports;

const P1: &str = "00000000-0000-4000-8000-000000000001";
const P2: &str = "00000000-0000-4000-8000-000000000002";
const S1: &str = "00000000-0000-4000-8000-0000000000a1";

fn id(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

fn prompt(number: i64, uuid: &str) -> Prompt {
    Prompt { turn: id(number), text: "x".to_owned(), uuid: uuid.to_owned() }
}

fn fresh() -> Turns {
    let tools = vec![ToolSpec {
        name: "send",
        description: "says something",
        input_schema: json!({"type": "object"}),
        output_schema: None,
    }];
    let setup = Setup {
        session: SessionId("s".to_owned()),
        gate: Gate::new(Reading::in_folder("/w", Permissions::Ask), "gangline", vec!["send"]),
        tools,
        effort: Some(EffortLevel::Medium),
        login: "home".to_owned(),
    };
    let mut turns = Turns::new(setup);
    turns.hello();
    let answer = Line::Response { id: "gangline-1".to_owned(), answer: Ok(json!({})) };
    let ready = RuntimeEvent::Ready { session: SessionId("s".to_owned()) };
    assert_eq!(told(turns.line(answer, Now::default())), [ready]);
    turns
}

/// Only the events.
fn told(actions: Vec<Action>) -> Vec<RuntimeEvent> {
    let told = |action| if let Action::Report(event) = action { Some(event) } else { None };
    actions.into_iter().filter_map(told).collect()
}

/// Only the kinds of the events, signs of life aside, with their turn.
fn kinds(actions: Vec<Action>) -> Vec<String> {
    told(actions).iter().filter_map(kind).collect()
}

fn kind(event: &RuntimeEvent) -> Option<String> {
    let name = match event {
        RuntimeEvent::Alive { .. } => return None,
        RuntimeEvent::Accepted { .. } => "accepted".to_owned(),
        RuntimeEvent::Steered { uuid, .. } => format!("steered {}", &uuid[uuid.len() - 2..]),
        RuntimeEvent::Message { message, .. } => match &message.content[..] {
            [Block::Text { text }] => format!("said {text}"),
            _ => "message".to_owned(),
        },
        RuntimeEvent::ToolResult { name, .. } => format!("result of {name}"),
        RuntimeEvent::ApprovalAsked { ask, .. } => format!("asked {}", ask.tool),
        RuntimeEvent::ApprovalWithdrawn { request, .. } => format!("took back {request}"),
        RuntimeEvent::Usage { .. } => "usage".to_owned(),
        RuntimeEvent::Finished { result, .. } => match result {
            TurnResult::Completed => "completed".to_owned(),
            TurnResult::Interrupted => "interrupted".to_owned(),
            TurnResult::Failed { kind, .. } => format!("failed {}", kind.as_str()),
            TurnResult::RateLimited { retry_after } => format!("limited {retry_after:?}"),
            TurnResult::NeedsLogin { .. } => "login".to_owned(),
        },
        RuntimeEvent::Notice { text } => return Some(format!("notice {text}")),
        RuntimeEvent::Session { session } => return Some(format!("session {session}")),
        RuntimeEvent::Compacted { failed } => return Some(format!("compacted {failed:?}")),
        other => return Some(format!("{other:?}")),
    };
    Some(format!("{}: {name}", event.turn().map_or(0, |turn| turn.number)))
}

fn started(uuid: &str) -> Line {
    Line::Lifecycle { uuid: uuid.to_owned(), state: Fate::Started }
}

fn over(uuid: &str) -> Line {
    Line::Lifecycle { uuid: uuid.to_owned(), state: Fate::Completed }
}

fn cancelled(uuid: &str) -> Line {
    Line::Lifecycle { uuid: uuid.to_owned(), state: Fate::Cancelled }
}

fn said(text: &str) -> Line {
    Line::Assistant(Assistant {
        model: "m".to_owned(),
        blocks: vec![Block::Text { text: text.to_owned() }],
        usage: Tokens { input_tokens: 5, ..Tokens::default() },
        parent: None,
        error: None,
    })
}

fn result(uuids: &[&str]) -> Line {
    Line::Result(Box::new(Outcome {
        subtype: "success".to_owned(),
        user_message_uuids: Some(uuids.iter().map(|uuid| (*uuid).to_owned()).collect()),
        ..Outcome::default()
    }))
}

fn by_itself() -> Line {
    Line::Result(Box::new(Outcome {
        subtype: "success".to_owned(),
        origin: Some(crate::claude::decode::Origin { kind: "task-notification".to_owned() }),
        ..Outcome::default()
    }))
}

fn may_use(request: &str, tool: &str) -> Line {
    let request_ = Request::MayUse { tool: tool.to_owned(), input: json!({"command": "x"}) };
    Line::Request { id: request.to_owned(), request: request_ }
}

fn call(request: &str) -> Line {
    let message = json!({"method": "tools/call", "id": 4, "params": {"name": "send"}});
    let request_ = Request::Mcp { server: "gangline".to_owned(), message };
    Line::Request { id: request.to_owned(), request: request_ }
}

/// Takes the lines and returns the kinds of what is told.
fn play(turns: &mut Turns, lines: impl IntoIterator<Item = Line>) -> Vec<String> {
    lines.into_iter().flat_map(|line| kinds(turns.line(line, Now::default()))).collect()
}

fn written(actions: &[Action]) -> Vec<Value> {
    let written = |action: &Action| match action {
        Action::Write(line) => serde_json::from_str(line).ok(),
        _ => None,
    };
    actions.iter().filter_map(written).collect()
}

#[test]
fn one_result_may_end_a_prompt_and_what_was_added_to_it() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    turns.steer(prompt(1, S1));
    let seen = play(
        &mut turns,
        [started(P1), said("a"), started(S1), over(S1), said("b"), result(&[P1, S1]), over(P1)],
    );
    assert_eq!(
        seen,
        ["1: accepted", "1: said a", "1: steered a1", "1: said b", "1: usage", "1: completed"]
    );
    assert!(!turns.busy());
}

#[test]
fn what_was_added_too_late_for_one_run_has_the_next_one_in_the_same_turn() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    turns.steer(prompt(1, S1));
    let seen = play(&mut turns, [started(P1), said("a"), result(&[P1]), over(P1)]);
    assert_eq!(seen, ["1: accepted", "1: said a", "1: usage"]);
    let seen = play(&mut turns, [started(S1), said("b"), result(&[S1]), over(S1)]);
    assert_eq!(seen, ["1: steered a1", "1: said b", "1: usage", "1: completed"]);
}

#[test]
fn a_result_of_something_else_ends_no_turn() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    assert_eq!(play(&mut turns, [result(&["other"]), result(&[])]), [""; 0]);
    assert_eq!(play(&mut turns, [started(P1), result(&["other"])]), ["1: accepted"]);
    assert_eq!(play(&mut turns, [result(&[P1])]), ["1: completed"]);
    assert_eq!(play(&mut turns, [result(&[P1]), over(P1), over("other")]), [""; 0]);
    // One without names belongs to what runs: so did those of releases before 2.1.270.
    turns.prompt(prompt(2, P2));
    assert_eq!(play(&mut turns, [started(P2), result(&[])]), ["2: accepted", "2: completed"]);
}

/// A question that the program takes back is none any more; one that was answered is not told.
#[test]
fn a_question_that_is_taken_back_is_told_once() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    let back = |request: &str| Line::Cancelled { id: request.to_owned() };
    let seen = play(&mut turns, [started(P1), may_use("q", "Bash"), back("p"), back("q")]);
    assert_eq!(seen, ["1: accepted", "1: asked Bash", "1: took back q"]);
    let reply =
        |request: &str| ApprovalReply { request: request.to_owned(), answer: Answer::Allow };
    assert_eq!(turns.decide(&reply("q")), []);
    assert_eq!(play(&mut turns, [back("q"), may_use("r", "Bash")]), ["1: asked Bash"]);
    assert_eq!(written(&turns.decide(&reply("r"))).len(), 1);
    assert_eq!(play(&mut turns, [back("r")]), [""; 0]);
    // Before somebody has adopted the turn both wait.
    let mut turns = fresh();
    play(&mut turns, [said("a"), may_use("q", "Bash"), back("q")]);
    assert_eq!(kinds(turns.adopt(id(7))), ["7: said a", "7: asked Bash", "7: took back q"]);
}

/// The order of the program when a task of its own ends just before the prompt.
#[test]
fn a_run_in_front_of_the_prompt_is_told_in_a_line() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    let seen = play(&mut turns, [said("bell\nrang"), by_itself()]);
    let told = "notice claude began a turn by itself, before the prompt; it said: bell rang";
    assert_eq!(seen, [told]);
    let seen = play(&mut turns, [started(P1), said("a"), result(&[P1])]);
    assert_eq!(seen, ["1: accepted", "1: said a", "1: usage", "1: completed"]);
}

#[test]
fn a_turn_that_began_by_itself_waits_for_its_number() {
    let mut turns = fresh();
    assert_eq!(play(&mut turns, [said("a")]), ["Began"]);
    assert_eq!(play(&mut turns, [may_use("q", "Bash"), call("c")]), [""; 0]);
    let actions = turns.adopt(id(7));
    let called = actions
        .iter()
        .filter(|action| matches!(action, Action::Call { call, .. } if call.turn == id(7)));
    assert_eq!(called.count(), 1);
    assert_eq!(kinds(actions), ["7: said a", "7: asked Bash"]);
    let reply = ApprovalReply { request: "q".to_owned(), answer: Answer::Allow };
    let answer = written(&turns.decide(&reply));
    assert_eq!(answer[0]["response"]["response"]["behavior"], "allow");
    let seen = play(&mut turns, [said("b"), by_itself()]);
    assert_eq!(seen, ["7: said b", "7: usage", "7: completed"]);
}

#[test]
fn a_turn_that_is_over_before_it_is_adopted_is_told_at_once() {
    let mut turns = fresh();
    assert_eq!(play(&mut turns, [said("a"), by_itself(), said("b"), by_itself()]), ["Began"]);
    let seen = kinds(turns.adopt(id(7)));
    assert_eq!(seen, ["7: said a", "7: usage", "7: said b", "7: usage", "7: completed"]);
    assert_eq!(kinds(turns.adopt(id(8))), ["8: completed"], "whoever adopts waits for an end");
    assert_eq!(play(&mut turns, [by_itself()]), ["Began"], "even one without words");
}

#[test]
fn a_prompt_that_comes_before_the_adoption_sets_the_turn_aside() {
    let mut turns = fresh();
    play(&mut turns, [said("a"), may_use("q", "Bash"), call("c")]);
    let actions = turns.prompt(prompt(1, P1));
    let calls = actions
        .iter()
        .filter(|action| matches!(action, Action::Call { call, .. } if call.turn == id(1)));
    assert_eq!(calls.count(), 1, "somebody waits for it");
    assert_eq!(kinds(actions), ["1: asked Bash"]);
    let told = "notice claude began a turn by itself, before the prompt; it said: b";
    assert_eq!(play(&mut turns, [said("b"), by_itself()]), [told]);
    assert_eq!(play(&mut turns, [started(P1), result(&[P1])]), ["1: accepted", "1: completed"]);

    play(&mut turns, [said("c"), by_itself()]);
    let told = "notice claude began a turn by itself, before the prompt; it said: c";
    assert_eq!(kinds(turns.prompt(prompt(2, P2))), [told]);
}

#[test]
fn an_interrupt_is_one_only_for_what_runs() {
    let mut turns = fresh();
    assert_eq!(turns.interrupt(), [], "nothing runs");
    turns.prompt(prompt(1, P1));
    let sent = written(&turns.interrupt());
    assert_eq!(sent.len(), 1, "it was not begun: it is taken back");
    let request = json!({"subtype": "cancel_async_message", "message_uuid": P1});
    assert_eq!(sent[0]["request"], request);
    let name = sent[0]["request_id"].as_str().unwrap().to_owned();
    let answer = |cancelled| Line::Response {
        id: name.clone(),
        answer: Ok(json!({"cancelled": cancelled})),
    };
    assert_eq!(play(&mut turns, [answer(true), cancelled(P1)]), ["1: interrupted"]);

    // It was begun in the same moment.
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    turns.interrupt();
    let actions =
        [started(P1), answer(false)].map(|line| turns.line(line, Now::default())).concat();
    assert_eq!(written(&actions)[0]["request"], json!({"subtype": "interrupt"}));
    let aborted = Line::Result(Box::new(Outcome {
        subtype: "error_during_execution".to_owned(),
        is_error: true,
        terminal_reason: Some("aborted_tools".to_owned()),
        user_message_uuids: Some(vec![P1.to_owned()]),
        ..Outcome::default()
    }));
    assert_eq!(play(&mut turns, [aborted, cancelled(P1)]), ["1: interrupted"]);
}

#[test]
fn an_interrupt_takes_back_what_was_added() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    play(&mut turns, [started(P1)]);
    turns.steer(prompt(1, S1));
    let sent = written(&turns.interrupt());
    assert_eq!(sent[0]["request"]["message_uuid"], S1);
    assert_eq!(sent[1]["request"], json!({"subtype": "interrupt"}));
    let aborted = Line::Result(Box::new(Outcome {
        is_error: true,
        terminal_reason: Some("aborted_streaming".to_owned()),
        user_message_uuids: Some(vec![P1.to_owned()]),
        ..Outcome::default()
    }));
    assert_eq!(play(&mut turns, [aborted, cancelled(P1)]), [""; 0], "the other is not gone yet");
    assert_eq!(play(&mut turns, [cancelled(S1)]), ["1: interrupted"]);
}

#[test]
fn a_prompt_that_the_program_drops_has_failed() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    assert_eq!(play(&mut turns, [cancelled(P1)]), ["1: failed other"]);
    turns.prompt(prompt(2, P2));
    let seen = play(&mut turns, [started(P2), cancelled(P2)]);
    assert_eq!(seen, ["2: accepted"], "its result may still come");
    assert_eq!(play(&mut turns, [Line::Idle]), ["2: failed other"]);
}

#[test]
fn nobody_is_asked_outside_of_a_turn() {
    let mut turns = fresh();
    let actions = turns.line(may_use("q", "Bash"), Now::default());
    assert_eq!(written(&actions)[0]["response"]["response"]["behavior"], "deny");
    let actions = turns.line(call("c"), Now::default());
    let answer = &written(&actions)[0]["response"]["response"]["mcp_response"]["result"];
    assert_eq!(answer["isError"], true);
    let actions = turns.line(may_use("q", "Read"), Now::default());
    assert_eq!(written(&actions)[0]["response"]["response"]["behavior"], "allow", "the easy ones");
    let actions = turns.line(may_use("q", "mcp__gangline__send"), Now::default());
    assert_eq!(written(&actions)[0]["response"]["response"]["behavior"], "allow", "our own");
}

#[test]
fn rules_are_asked_about_every_tool_before_it_runs() {
    let mut turns = fresh();
    for (tool, decision) in [
        ("Bash", "ask"),
        ("Read", "allow"),
        ("TaskList", "allow"),
        ("mcp__gangline__send", "allow"),
        ("mcp__gangline__rm", "ask"),
        ("mcp__other__send", "ask"),
    ] {
        let hook = Request::Hook {
            event: "PreToolUse".to_owned(),
            tool: tool.to_owned(),
            input: json!({}),
            cwd: "/w".to_owned(),
            inner: false,
        };
        let actions =
            turns.line(Line::Request { id: "h".to_owned(), request: hook }, Now::default());
        let answer = &written(&actions)[0]["response"]["response"]["hookSpecificOutput"];
        assert_eq!(answer["permissionDecision"], decision, "{tool}");
    }
    let other = Request::Hook {
        event: "SessionStart".to_owned(),
        tool: String::new(),
        input: Value::Null,
        cwd: String::new(),
        inner: false,
    };
    let actions = turns.line(Line::Request { id: "h".to_owned(), request: other }, Now::default());
    assert_eq!(written(&actions)[0]["response"]["response"], json!({}));
}

#[test]
fn an_approval_is_answered_once_and_not_after_it_was_withdrawn() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    let asked = play(&mut turns, [started(P1), may_use("a", "Bash"), may_use("b", "Write")]);
    assert_eq!(asked, ["1: accepted", "1: asked Bash", "1: asked Write"]);
    let deny = |request: &str| ApprovalReply {
        request: request.to_owned(),
        answer: Answer::Deny { reason: "no".to_owned() },
    };
    let answer = written(&turns.decide(&deny("b")));
    assert_eq!(answer[0]["response"]["response"], json!({"behavior": "deny", "message": "no"}));
    assert_eq!(turns.decide(&deny("b")), []);
    play(&mut turns, [Line::Cancelled { id: "a".to_owned() }]);
    assert_eq!(turns.decide(&deny("a")), []);
    play(&mut turns, [may_use("c", "Bash"), result(&[P1])]);
    assert_eq!(turns.decide(&deny("c")), [], "its turn is over");
}

fn status(status: Option<&str>, result: Option<&str>) -> Line {
    Line::Status(Status {
        status: status.map(str::to_owned),
        compact_result: result.map(str::to_owned),
        compact_error: result.filter(|it| *it != "success").map(|_| "too_few_groups".to_owned()),
    })
}

/// The name of the text that was written last.
fn uuid_of(actions: &[Action]) -> String {
    written(actions).last().unwrap()["uuid"].as_str().unwrap().to_owned()
}

/// C9: after a tool of the turn the program is told what the daemon has for the model, in the context
/// of that hook; never within an agent that the model has started.
#[test]
fn a_hook_after_a_tool_carries_what_the_model_is_told() {
    let hook = |event: &str, inner| Line::Request {
        id: "h".to_owned(),
        request: Request::Hook {
            event: event.to_owned(),
            tool: "Bash".to_owned(),
            input: json!({}),
            cwd: String::new(),
            inner,
        },
    };
    for event in ["PostToolUse", "PostToolUseFailure"] {
        let mut turns = fresh();
        turns.prompt(prompt(1, P1));
        turns.line(started(P1), Now::default());
        let actions = turns.line(hook(event, false), Now::default());
        let asked = actions.into_iter().find_map(|action| match action {
            Action::Aside { turn: of, caller } => Some((of, caller)),
            _ => None,
        });
        let (of, caller) = asked.unwrap();
        assert_eq!(of, id(1));
        let answer = |text: &str| -> Value {
            serde_json::from_str(&Turns::answer(&caller, &Ok(text.to_owned()))).unwrap()
        };
        let context = json!({"hookSpecificOutput": {
            "hookEventName": event, "additionalContext": "[SUPERVISOR/CORRECTION] stop",
        }});
        assert_eq!(answer("[SUPERVISOR/CORRECTION] stop")["response"]["response"], context);
        assert_eq!(answer("")["response"]["response"], json!({}));
        let inner = turns.line(hook(event, true), Now::default());
        assert_eq!(written(&inner)[0]["response"]["response"], json!({}));
    }
}
