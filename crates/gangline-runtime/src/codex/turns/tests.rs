//! A session as the program and the daemon play it, without either of them.

use std::path::Path;

use gangline_core::{Epoch, TurnId};
use serde_json::json;

use super::*;
use crate::{Answer, Block, FailureKind, codex::decode, codex::thread};

mod beats;
mod properties;
mod unread;

fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

pub(in crate::codex::turns) fn prompt(number: i64) -> Prompt {
    Prompt { turn: turn(number), text: format!("text {number}"), uuid: format!("p{number}") }
}

/// A session and the answers that the program would give.
pub(in crate::codex::turns) struct Play {
    pub(in crate::codex::turns) turns: Turns,
    now: Duration,
    /// The id and method of each request that was written, and the params.
    written: Vec<Value>,
    pub(in crate::codex::turns) told: Vec<RuntimeEvent>,
    actions: Vec<Action>,
}

impl Play {
    pub(in crate::codex::turns) fn new(resume: Option<&str>, credentials: Credentials) -> Self {
        let options = thread::tests::options(Path::new("/project"));
        let turns = Turns::new(Setup {
            thread: Thread::new(&options, &[], crate::folder::projects::Trust::None),
            resume: resume.map(|id| SessionId(id.to_owned())),
            model: None,
            gate: Gate::of(&options),
            tools: vec!["send"],
            credentials,
            login: "log in".to_owned(),
        });
        let mut play = Self {
            turns,
            now: Duration::ZERO,
            written: Vec::new(),
            told: Vec::new(),
            actions: Vec::new(),
        };
        let actions = play.turns.hello();
        play.take(actions);
        play
    }

    /// One whose conversation `t` is open.
    pub(in crate::codex::turns) fn open() -> Self {
        let mut play = Self::new(None, Credentials::OfTheOptions);
        play.answer("initialize", json!({}));
        play.answer("thread/start", json!({"thread": {"id": "t"}, "model": "m"}));
        play.told.clear();
        play
    }

    pub(in crate::codex::turns) fn take(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Write(line) => self.written.push(serde_json::from_str(&line).unwrap()),
                Action::Report(event) => self.told.push(event),
                other => self.actions.push(other),
            }
        }
    }

    fn line(&mut self, line: Value) {
        let line = decode::decode(&line.to_string()).unwrap();
        let actions = self.turns.line(line, self.now);
        self.take(actions);
    }

    pub(in crate::codex::turns) fn params(&self, method: &str) -> Option<&Value> {
        self.written.iter().rev().find(|it| it["method"] == method).map(|it| &it["params"])
    }

    pub(in crate::codex::turns) fn answer(&mut self, method: &str, result: Value) {
        let id = self.id_of(method);
        self.line(json!({"id": id, "result": result}));
    }

    pub(in crate::codex::turns) fn refuse(&mut self, method: &str, message: &str) {
        let id = self.id_of(method);
        self.line(json!({"id": id, "error": {"code": -32600, "message": message}}));
    }

    fn id_of(&self, method: &str) -> Value {
        let sent = self.written.iter().rev().find(|it| it["method"] == method);
        sent.unwrap_or_else(|| panic!("no {method} in {:?}", self.written))["id"].clone()
    }

    pub(in crate::codex::turns) fn say(&mut self, method: &str, mut params: Value) {
        params["threadId"] = json!("t");
        self.line(json!({"method": method, "params": params}));
    }

    /// A turn that runs as `u<number>`.
    pub(in crate::codex::turns) fn running(&mut self, number: i64) {
        let actions = self.turns.prompt(prompt(number));
        self.take(actions);
        let remote = format!("u{number}");
        self.answer("turn/start", json!({"turn": {"id": remote}}));
        self.say("turn/started", json!({"turn": {"id": remote, "status": "inProgress"}}));
    }

    fn item(&mut self, what: &str, number: i64, item: Value) {
        self.say(&format!("item/{what}"), json!({"turnId": format!("u{number}"), "item": item}));
    }

    pub(in crate::codex::turns) fn end(&mut self, number: i64, status: &str) {
        let turn = json!({"id": format!("u{number}"), "status": status});
        self.say("turn/completed", json!({"turn": turn}));
    }

    fn results(&self) -> Vec<&TurnResult> {
        self.told
            .iter()
            .filter_map(|event| match event {
                RuntimeEvent::Finished { result, .. } => Some(result),
                _ => None,
            })
            .collect()
    }

    fn ask(&mut self, id: u64) -> String {
        let params = json!({"turnId": "u1", "itemId": "c", "command": "/bin/bash -c ls"});
        let mut line = json!({"id": id, "method": "item/commandExecution/requestApproval"});
        line["params"] = params;
        self.line(line);
        match self.told.last() {
            Some(RuntimeEvent::ApprovalAsked { ask, .. }) => ask.request.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn decide(&mut self, request: &str, answer: Answer) {
        let actions = self.turns.decide(&ApprovalReply { request: request.to_owned(), answer });
        self.take(actions);
    }
}

fn text(id: &str) -> Value {
    json!({"type": "agentMessage", "id": id, "text": "hi"})
}

#[test]
fn a_prompt_before_the_session_is_open_waits_for_it() {
    let mut play = Play::new(None, Credentials::OfTheProgram);
    let actions = play.turns.prompt(prompt(1));
    play.take(actions);
    play.answer("initialize", json!({}));
    play.answer("account/read", json!({"requiresOpenaiAuth": true, "account": {"type": "apiKey"}}));
    assert_eq!(play.params("turn/start"), None);
    play.answer("thread/start", json!({"thread": {"id": "t"}}));
    assert_eq!(play.params("turn/start").unwrap()["clientUserMessageId"], "p1");
    assert_eq!(play.told, [RuntimeEvent::Ready { session: SessionId("t".to_owned()) }]);
    // Taken back before it was sent, it never is.
    let mut play = Play::new(None, Credentials::OfTheOptions);
    let mut actions = play.turns.prompt(prompt(1));
    actions.extend(play.turns.interrupt());
    play.take(actions);
    assert_eq!(play.results(), [&TurnResult::Interrupted]);
    play.answer("initialize", json!({}));
    play.answer("thread/start", json!({"thread": {"id": "t"}}));
    assert_eq!(play.params("turn/start"), None);
}

#[test]
fn only_its_own_end_ends_a_turn() {
    let mut play = Play::open();
    play.running(1);
    play.item("completed", 1, json!({"type": "userMessage", "id": "x", "clientId": "p1"}));
    play.item("completed", 1, text("m"));
    play.item("completed", 9, text("of a turn that is over"));
    play.end(9, "completed");
    let elsewhere = json!({"threadId": "other", "turn": {"id": "u1", "status": "completed"}});
    play.line(json!({"method": "turn/completed", "params": elsewhere}));
    assert_eq!(play.results(), [&TurnResult::Completed; 0]);
    play.end(1, "completed");
    play.end(1, "failed");
    assert_eq!(play.results(), [&TurnResult::Completed]);
    let said = play.told.iter().filter(|it| matches!(it, RuntimeEvent::Message { .. })).count();
    assert_eq!(said, 1);
    assert_eq!(play.told[0], RuntimeEvent::Accepted { turn: turn(1) });
    assert_eq!(play.actions, [Action::Free]);
    assert!(!play.turns.busy());
}

#[test]
fn a_refused_prompt_is_a_failure_of_the_request() {
    let mut play = Play::open();
    let actions = play.turns.prompt(prompt(1));
    play.take(actions);
    play.refuse("turn/start", "input is too large");
    let why = "input is too large".to_owned();
    assert_eq!(play.results(), [&TurnResult::Failed { kind: FailureKind::Request, why }]);
}

#[test]
fn an_interrupt_is_sent_once_and_when_the_turn_can_hear_it() {
    let mut play = Play::open();
    let mut actions = play.turns.prompt(prompt(1));
    actions.extend(play.turns.interrupt());
    play.take(actions);
    play.answer("turn/start", json!({"turn": {"id": "u1"}}));
    assert_eq!(play.params("turn/interrupt"), None);
    play.say("turn/started", json!({"turn": {"id": "u1", "status": "inProgress"}}));
    assert_eq!(play.params("turn/interrupt"), Some(&json!({"threadId": "t", "turnId": "u1"})));
    let actions = play.turns.interrupt();
    play.take(actions);
    assert_eq!(play.written.iter().filter(|it| it["method"] == "turn/interrupt").count(), 1);
    // The answer is no end.
    play.answer("turn/interrupt", json!({}));
    assert_eq!(play.results(), [&TurnResult::Completed; 0]);
    play.end(1, "interrupted");
    assert_eq!(play.results(), [&TurnResult::Interrupted]);
    assert!(play.params("thread/backgroundTerminals/clean").is_some());
}

#[test]
fn a_tool_that_did_not_end_is_closed_with_its_turn() {
    let mut play = Play::open();
    play.running(1);
    let tool =
        json!({"type": "commandExecution", "id": "c", "command": "ls", "status": "inProgress"});
    play.item("started", 1, tool.clone());
    play.item("started", 1, tool);
    play.item("started", 1, json!({"type": "contextCompaction", "id": "k"}));
    play.end(1, "interrupted");
    let uses = |it: &&RuntimeEvent| match it {
        RuntimeEvent::Message { message, .. } => {
            matches!(message.content[0], Block::ToolUse { .. })
        }
        _ => false,
    };
    assert_eq!(play.told.iter().filter(uses).count(), 1);
    let closed = play
        .told
        .iter()
        .any(|it| matches!(it, RuntimeEvent::ToolResult { id, is_error: true, .. } if id == "c"));
    assert!(closed, "{:?}", play.told);
    let failed = |it: &RuntimeEvent| matches!(it, RuntimeEvent::Compacted { failed: Some(_) });
    assert!(play.told.iter().any(failed), "{:?}", play.told);
}

#[test]
fn a_denial_is_told_with_its_reason_before_it_counts() {
    let mut play = Play::open();
    play.running(1);
    let request = play.ask(0);
    play.decide(&request, Answer::Deny { reason: "not now".to_owned() });
    let reason = play.written.last().unwrap();
    assert_eq!(
        (&reason["method"], &reason["params"]["expectedTurnId"]),
        (&json!("turn/steer"), &json!("u1"))
    );
    assert!(reason["params"]["input"][0]["text"].as_str().unwrap().ends_with("not run: not now"));
    // The program may serve what comes second first, so the denial waits for its answer.
    play.answer("turn/steer", json!({"turnId": "u1"}));
    let denial = json!({"id": 0, "result": {"decision": "decline"}});
    assert_eq!(play.written.last(), Some(&denial));
    // Its echo is nobody's addition.
    play.item("completed", 1, json!({"type": "userMessage", "id": "x", "clientId": null}));
    assert!(!play.told.iter().any(|it| matches!(it, RuntimeEvent::Steered { .. })));
    // Each is answered once, and one that is gone not at all.
    let before = play.written.len();
    play.decide(&request, Answer::Allow);
    let request = play.ask(1);
    let back = |play: &Play| {
        let gone = |it: &&RuntimeEvent| matches!(it, RuntimeEvent::ApprovalWithdrawn { .. });
        play.told.iter().filter(gone).count()
    };
    play.say("serverRequest/resolved", json!({"requestId": 0}));
    assert_eq!(back(&play), 0, "it was answered");
    play.say("serverRequest/resolved", json!({"requestId": 1}));
    let expect = RuntimeEvent::ApprovalWithdrawn { turn: turn(1), request: request.clone() };
    assert_eq!(play.told.last(), Some(&expect));
    play.decide(&request, Answer::Allow);
    play.say("serverRequest/resolved", json!({"requestId": 1}));
    assert_eq!((play.written.len(), back(&play)), (before, 1));
    // Both sides may ask at once, and the same id may come again.
    let (first, second) = (play.ask(2), play.ask(3));
    play.decide(&second, Answer::Allow);
    play.decide(&first, Answer::Allow);
    let last: Vec<_> = play.written.iter().rev().take(2).map(|it| it["id"].clone()).collect();
    assert_eq!(last, [json!(2), json!(3)]);
}

/// Whatever the program asks, it gets an answer: at once, after a decision, or after it has answered
/// for a denial's reason. Nothing hangs.
#[test]
fn every_request_is_answered() {
    let of_tool = json!({"codex_approval_kind": "mcp_tool_call", "tool_name": "t"});
    for (method, params, asks) in [
        ("item/commandExecution/requestApproval", json!({"command": "ls"}), true),
        ("item/commandExecution/requestApproval", json!({}), true),
        ("item/fileChange/requestApproval", json!({"itemId": "never shown"}), false),
        ("item/permissions/requestApproval", json!({"permissions": {"network": {}}}), true),
        ("execCommandApproval", json!({"command": ["/bin/bash", "-c", "ls"]}), true),
        ("applyPatchApproval", json!({"fileChanges": {"a": {}}}), true),
        ("mcpServer/elicitation/request", json!({"serverName": "s", "_meta": of_tool}), true),
        ("mcpServer/elicitation/request", json!({"serverName": "s", "message": "who?"}), false),
        ("item/tool/requestUserInput", json!({"questions": [{"id": "q"}]}), false),
        ("item/tool/call", json!({"callId": "c", "tool": "none"}), false),
        ("account/chatgptAuthTokens/refresh", json!({}), false),
        ("what/isThis", json!({}), false),
        ("item/commandExecution/requestApproval", json!({"command": 7}), false),
        ("item/fileChange/requestApproval", json!({}), false),
        ("item/tool/call", json!({}), false),
    ] {
        for answer in [Answer::Allow, Answer::Deny { reason: "no".to_owned() }] {
            for in_turn in [true, false] {
                let mut play = Play::open();
                if in_turn {
                    play.running(1);
                }
                play.line(json!({"id": 7, "method": method, "params": params}));
                let answered = |play: &Play| {
                    play.written.iter().filter(|it| it["id"] == 7 && it["method"].is_null()).count()
                };
                let ask = play.told.iter().find_map(|it| match it {
                    RuntimeEvent::ApprovalAsked { ask, .. } => Some(ask.request.clone()),
                    _ => None,
                });
                assert_eq!(ask.is_some(), asks && in_turn, "{method}");
                if let Some(request) = ask {
                    assert_eq!(answered(&play), 0, "{method}: not decided yet");
                    play.decide(&request, answer.clone());
                }
                if play.params("turn/steer").is_some() {
                    assert_eq!(answered(&play), 0, "{method}: before its reason");
                    play.refuse("turn/steer", "no active turn to steer");
                }
                assert_eq!(answered(&play), 1, "{method}");
            }
        }
    }
}

#[test]
fn orders_are_done_between_turns_and_a_prompt_waits_for_them() {
    let mut play = Play::open();
    play.running(1);
    let mut actions = play.turns.compact();
    actions.extend(play.turns.clear());
    play.take(actions);
    assert_eq!(play.params("thread/compact/start"), None);
    play.item("completed", 1, text("m"));
    play.end(1, "completed");
    assert!(play.params("thread/compact/start").is_some());
    let actions = play.turns.prompt(prompt(2));
    play.take(actions);
    play.answer("thread/compact/start", json!({}));
    play.say("turn/started", json!({"turn": {"id": "k", "status": "inProgress"}}));
    play.say(
        "turn/completed",
        json!({"turn": {"id": "k", "status": "failed",
        "error": {"message": "too bad"}}}),
    );
    let failed = Some("too bad".to_owned());
    assert_eq!(play.told.last(), Some(&RuntimeEvent::Compacted { failed }));
    assert_eq!(play.params("turn/start").unwrap()["clientUserMessageId"], "p1");
    play.answer("thread/start", json!({"thread": {"id": "t2"}}));
    let session = SessionId("t2".to_owned());
    assert!(play.told.contains(&RuntimeEvent::Session { session }));
    assert_eq!(play.params("thread/unsubscribe"), Some(&json!({"threadId": "t"})));
    let sent = play.params("turn/start").unwrap();
    assert_eq!((&sent["clientUserMessageId"], &sent["threadId"]), (&json!("p2"), &json!("t2")));
}

/// R2-43: without a login nothing is sent; the next prompt has the program started again, once.
#[test]
fn a_missing_login_is_told_and_looked_for() {
    let missing = json!({"requiresOpenaiAuth": true, "account": null});
    let mut play = Play::new(None, Credentials::OfTheProgram);
    play.answer("initialize", json!({}));
    play.answer("account/read", missing.clone());
    play.answer("thread/start", json!({"thread": {"id": "t"}}));
    let actions = play.turns.prompt(prompt(1));
    play.take(actions);
    assert!(matches!(play.results()[..], [TurnResult::NeedsLogin { .. }]));
    assert_eq!(play.actions, [Action::WatchLogin, Action::Free]);
    play.actions.clear();
    for login in [missing, json!({"requiresOpenaiAuth": true, "account": {"type": "apiKey"}})] {
        let actions = play.turns.prompt(prompt(2));
        play.take(actions);
        assert_eq!(play.actions, [Action::Relaunch]);
        play.actions.clear();
        assert!(!play.turns.is_ready() && play.params("turn/start").is_none());
        let actions = play.turns.hello();
        play.take(actions);
        play.answer("initialize", json!({}));
        let logged_in = !login["account"].is_null();
        play.answer("account/read", login);
        play.answer("thread/start", json!({"thread": {"id": "t"}}));
        assert_eq!(play.params("turn/start").is_some(), logged_in);
        play.actions.clear();
    }
    assert_eq!(play.results().len(), 2);
    let ready = play.told.iter().filter(|it| matches!(it, RuntimeEvent::Ready { .. })).count();
    assert_eq!(ready, 1);
}

#[test]
fn a_session_is_begun_anew_only_if_it_is_not_there() {
    let mut play = Play::new(Some("old"), Credentials::OfTheOptions);
    play.answer("initialize", json!({}));
    play.refuse("thread/resume", "no rollout found for thread id old");
    assert!(matches!(&play.told[..], [RuntimeEvent::Notice { text }] if text.contains("old")));
    play.answer("thread/start", json!({"thread": {"id": "t"}}));
    assert_eq!(play.actions, []);
    let mut play = Play::new(Some("old"), Credentials::OfTheOptions);
    play.answer("initialize", json!({}));
    play.refuse("thread/resume", "thread old already has an active writer");
    assert_eq!(play.actions, [Action::GiveUp]);
    assert_eq!(play.params("thread/start"), None);
}
