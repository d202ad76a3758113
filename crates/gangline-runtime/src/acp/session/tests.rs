//! Conversations line by line, in orders that no real program was seen to use, and at random.

use gangline_core::Epoch;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    Answer, Block,
    acp::{
        launch::tests::options,
        recipe::{COPILOT, OPENCODE, PLAIN, Recipe},
    },
};

mod again;
mod asking;
mod beats;
mod ends;
mod late;

fn id(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

fn prompt(number: i64) -> Prompt {
    Prompt { turn: id(number), text: "x".to_owned(), uuid: String::new() }
}

fn new(recipe: &'static Recipe, resume: Option<&str>) -> Session {
    Session::new(Setup {
        recipe,
        gate: Gate::new(&options(std::path::Path::new("/w"))),
        folder: "/w".to_owned(),
        servers: Vec::new(),
        own: Own::default(),
        introduction: "Be kind.".to_owned(),
        resume: resume.map(|id| SessionId(id.to_owned())),
        past: Vec::new(),
        names: Names::WithProvider,
        model: None,
        late: Late::NeverComes,
    })
}

/// What is written, as `method` or `answer`, and the events.
fn split(actions: Vec<Action>) -> (Vec<Value>, Vec<RuntimeEvent>) {
    let (mut lines, mut events) = (Vec::new(), Vec::new());
    for action in actions {
        match action {
            Action::Write(line) => lines.push(serde_json::from_str(&line).unwrap()),
            Action::Report(event) => events.push(event),
            _ => {}
        }
    }
    (lines, events)
}

fn methods(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["method"].as_str().unwrap_or("answer")).collect()
}

/// The answer to the newest request of ours.
fn answer(session: &mut Session, result: Value) -> (Vec<Value>, Vec<RuntimeEvent>) {
    let id = session.numbers;
    split(session.line(Line::Answer { id, outcome: Ok(result) }))
}

fn refuse(session: &mut Session, code: i64) -> (Vec<Value>, Vec<RuntimeEvent>) {
    let refusal = Refusal { code, message: "no".to_owned(), data: Value::Null };
    split(session.line(Line::Answer { id: session.numbers, outcome: Err(refusal) }))
}

fn update(session: &mut Session, update: Value) -> Vec<RuntimeEvent> {
    let params = json!({"sessionId": "s", "update": update});
    let method = "session/update".to_owned();
    split(session.line(Line::Notification { method, params })).1
}

fn says(session: &mut Session, text: &str) -> Vec<RuntimeEvent> {
    let content = json!({"type": "text", "text": text});
    update(session, json!({"sessionUpdate": "agent_message_chunk", "content": content}))
}

fn open(recipe: &'static Recipe) -> Session {
    let mut session = new(recipe, None);
    session.hello();
    answer(&mut session, json!({"protocolVersion": 1}));
    let (_, events) = answer(&mut session, json!({"sessionId": "s"}));
    assert_eq!(events, [RuntimeEvent::Ready { session: SessionId("s".to_owned()) }]);
    session
}

fn texts(events: &[RuntimeEvent]) -> Vec<String> {
    let text = |event: &RuntimeEvent| match event {
        RuntimeEvent::Message { message, .. } => match &message.content[0] {
            Block::Text { text } => Some(text.clone()),
            Block::Thinking { thinking } => Some(format!("({thinking})")),
            Block::ToolUse { name, .. } => Some(format!("[{name}]")),
        },
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[test]
fn another_version_of_the_protocol_is_not_spoken() {
    let mut session = new(&PLAIN, None);
    session.hello();
    let line = Line::Answer { id: 1, outcome: Ok(json!({"protocolVersion": 2})) };
    let actions = session.line(line);
    assert_eq!(actions.last(), Some(&Action::GiveUp));
    assert!(format!("{actions:?}").contains("version 2"), "{actions:?}");
}

/// C7: what the program can do decides how a kept session is gone on with, and each way that is
/// refused is followed by the next.
#[test]
fn a_kept_session_is_resumed_or_loaded_or_replaced() {
    let greet = |can: Value| {
        let mut session = new(&PLAIN, Some("old"));
        session.hello();
        let (lines, _) =
            answer(&mut session, json!({"protocolVersion": 1, "agentCapabilities": can}));
        (session, lines)
    };
    let both = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let (mut session, lines) = greet(both);
    assert_eq!(methods(&lines), ["session/resume"]);
    assert_eq!(lines[0]["params"]["sessionId"], "old");
    let (lines, events) = refuse(&mut session, -32601);
    assert_eq!((methods(&lines), events), (vec!["session/load"], vec![]));
    let (lines, events) = refuse(&mut session, -32002);
    assert_eq!(methods(&lines), ["session/new"]);
    assert!(format!("{events:?}").contains("a new one begins"), "{events:?}");
    let (_, lines) = greet(json!({"loadSession": true}));
    assert_eq!(methods(&lines), ["session/load"]);
    let (_, lines) = greet(json!({}));
    assert_eq!(methods(&lines), ["session/new"]);
    // The placeholder of a session that never was.
    let mut session = new(&PLAIN, Some("none"));
    session.hello();
    let can = json!({"loadSession": true});
    let (lines, events) =
        answer(&mut session, json!({"protocolVersion": 1, "agentCapabilities": can}));
    assert_eq!((methods(&lines), events), (vec!["session/new"], vec![]));
}

#[test]
fn words_are_joined_until_something_else_comes() {
    let mut session = open(&PLAIN);
    let (lines, _) = split(session.prompt(prompt(1)));
    assert_eq!(lines[0]["params"]["prompt"][0]["text"], "Be kind.\n\nx");
    assert_eq!(says(&mut session, "a"), [RuntimeEvent::Accepted { turn: id(1) }]);
    assert_eq!(says(&mut session, "b"), []);
    let thought = json!({"sessionUpdate": "agent_thought_chunk", "content": {"text": "t"}});
    assert_eq!(texts(&update(&mut session, thought.clone())), ["ab"]);
    assert_eq!(texts(&update(&mut session, thought)), [""; 0]);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "read",
        "rawInput": {"path": "p"}});
    assert_eq!(texts(&update(&mut session, call)), ["(tt)", "[Read]"]);
    says(&mut session, "c");
    let (_, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    assert_eq!(texts(&events), ["c"]);
    let end = RuntimeEvent::Finished { turn: id(1), result: TurnResult::Completed };
    assert_eq!(events.last(), Some(&end));
    // Late words are nobody's; the second prompt is not introduced.
    assert_eq!(texts(&says(&mut session, "late")), Vec::<String>::new());
    let (lines, _) = split(session.prompt(prompt(2)));
    assert_eq!(lines[0]["params"]["prompt"][0]["text"], "x");
}

#[test]
fn a_flood_of_words_is_told_in_pieces() {
    let mut session = open(&PLAIN);
    session.prompt(prompt(1));
    let piece = "x".repeat(300_000);
    let told: usize = (0..9).map(|_| texts(&says(&mut session, &piece)).len()).sum();
    assert_eq!(told, 2);
}

#[test]
fn texts_of_the_program_are_not_the_models() {
    let mut session = open(&COPILOT);
    session.prompt(prompt(1));
    let events = says(&mut session, "Info: retrying");
    assert_eq!(events, [RuntimeEvent::Notice { text: "copilot: Info: retrying".to_owned() }]);
    says(&mut session, "Error: broke (HTTP 401)");
    let (_, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    assert!(format!("{events:?}").contains("NeedsLogin"), "{events:?}");
    // One that was overcome.
    session.prompt(prompt(2));
    says(&mut session, "Error: once");
    says(&mut session, "fine");
    let (_, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    assert_eq!(texts(&events), ["fine"]);
    assert!(format!("{events:?}").contains("Completed"), "{events:?}");
}

fn asks(session: &mut Session, number: i64, kind: &str) -> (Vec<Value>, Vec<RuntimeEvent>) {
    let call = json!({"toolCallId": format!("c{number}"), "title": "t", "kind": kind, "rawInput": {"command": "x"}});
    let params = json!({"sessionId": "s", "toolCall": call, "options": [
        {"optionId": "A", "kind": "allow_always"}, {"optionId": "a", "kind": "allow_once"},
        {"optionId": "r", "kind": "reject_once"},
    ]});
    let method = "session/request_permission".to_owned();
    split(session.line(Line::Request { id: json!(number), method, params }))
}

fn request_of(events: &[RuntimeEvent]) -> String {
    let asked = events.iter().find_map(|event| match event {
        RuntimeEvent::ApprovalAsked { ask, .. } => Some(ask.request.clone()),
        _ => None,
    });
    asked.unwrap()
}

/// Where a refusal ends the prompt the model is told by another one, in the same turn, and not
/// for ever.
#[test]
fn a_refusal_is_told_to_the_model() {
    let mut session = open(&OPENCODE);
    session.prompt(prompt(1));
    for round in 0..9 {
        let (_, events) = asks(&mut session, round, "execute");
        let answer_ = Answer::Deny { reason: "not\nnow".to_owned() };
        let reply = ApprovalReply { request: request_of(&events), answer: answer_ };
        let (lines, _) = split(session.decide(&reply));
        assert_eq!(lines[0]["result"]["outcome"]["optionId"], "r");
        let (lines, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
        if round < 8 {
            let text = lines[0]["params"]["prompt"][0]["text"].as_str().unwrap();
            assert!(text.contains("was refused: not now."), "{text}");
            assert_eq!(events, []);
        } else {
            assert!(matches!(events.last(), Some(RuntimeEvent::Finished { .. })), "{events:?}");
        }
    }
}

#[test]
fn nobody_is_asked_outside_of_a_turn_or_after_its_interrupt() {
    let mut session = open(&PLAIN);
    let cancelled = |lines: &[Value]| lines[0]["result"]["outcome"]["outcome"] == "cancelled";
    let (lines, events) = asks(&mut session, 0, "execute");
    assert!(cancelled(&lines) && events.is_empty());
    session.prompt(prompt(1));
    let (_, events) = asks(&mut session, 1, "execute");
    let late = ApprovalReply { request: request_of(&events), answer: Answer::Allow };
    let (lines, _) = split(session.interrupt());
    assert_eq!(methods(&lines), ["session/cancel", "answer"]);
    assert!(cancelled(&lines[1..]));
    assert!(cancelled(&asks(&mut session, 2, "read").0));
    assert_eq!(session.decide(&late), []);
}

/// OpenCode answers a withdrawn question with `end_turn`: that is the end that was asked for, and
/// no turn without a word. What the model says after its tools, it has said.
#[test]
fn an_interrupt_while_a_human_is_asked_is_one() {
    let ends = |said: Option<&str>| {
        let mut session = open(&OPENCODE);
        session.prompt(prompt(1));
        says(&mut session, "I will run it.");
        asks(&mut session, 1, "execute");
        session.interrupt();
        let over = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1",
            "status": "failed"});
        update(&mut session, over);
        if let Some(text) = said {
            says(&mut session, text);
        }
        let (_, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
        events.last().cloned()
    };
    let end = |result| Some(RuntimeEvent::Finished { turn: id(1), result });
    assert_eq!(ends(None), end(TurnResult::Interrupted));
    assert_eq!(ends(Some("Done.")), end(TurnResult::Completed));
}

/// What cannot be allowed once is refused: nothing is allowed for ever by one word.
#[test]
fn always_is_never_chosen() {
    let mut session = open(&PLAIN);
    session.prompt(prompt(1));
    let call = json!({"toolCallId": "c", "kind": "read", "locations": [{"path": "/w/x"}]});
    let params = json!({"toolCall": call, "options": [
        {"optionId": "A", "kind": "allow_always"}, {"optionId": "R", "kind": "reject_always"},
    ]});
    let method = "session/request_permission".to_owned();
    let (lines, events) = split(session.line(Line::Request { id: json!(0), method, params }));
    assert_eq!(lines[0]["result"]["outcome"]["optionId"], "R");
    assert!(format!("{events:?}").contains("no way to allow this once"), "{events:?}");
}

#[test]
fn orders_wait_for_the_turn_and_prompts_for_orders() {
    let mut session = open(&OPENCODE);
    session.prompt(prompt(1));
    assert_eq!(session.compact(), []);
    assert_eq!(session.set_model("b/c"), []);
    says(&mut session, "hi");
    let (lines, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    assert_eq!(lines[0]["params"]["prompt"][0]["text"], "/compact");
    assert_eq!(events.last(), Some(&RuntimeEvent::Compacting));
    assert_eq!(split(session.prompt(prompt(2))).0, [Value::Null; 0]);
    // What it says meanwhile is nobody's answer.
    assert_eq!(says(&mut session, "summary"), []);
    let (lines, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    assert_eq!(events, [RuntimeEvent::Compacted { failed: None }]);
    assert_eq!(methods(&lines), ["session/set_model"]);
    let (lines, _) = refuse(&mut session, -32601);
    assert_eq!(methods(&lines), ["session/prompt"]);
    session.interrupt();
    session.clear();
    let (lines, _) = answer(&mut session, json!({"stopReason": "cancelled"}));
    assert_eq!(methods(&lines), ["session/new"]);
    let (_, events) = answer(&mut session, json!({"sessionId": "t"}));
    assert_eq!(events, [RuntimeEvent::Session { session: SessionId("t".to_owned()) }]);
}

proptest! {
    /// Whatever comes in whatever order, every prompt that was given has one end at most, never
    /// are two under way, and after the answer to it the turn is over.
    #[test]
    fn each_prompt_ends_once(steps in proptest::collection::vec(0_u8..9, 0..60)) {
        let mut session = open(&OPENCODE);
        let (mut given, mut ended, mut open_prompts) = (0_i64, 0_i64, 0_i32);
        let mut ask = None;
        for step in steps {
            let actions = match step {
                0 if !session.busy() => {
                    given += 1;
                    session.prompt(prompt(given))
                }
                1 => session.interrupt(),
                2 => session.clear(),
                3 => {
                    let (_, events) = asks(&mut session, given, "execute");
                    ask = events.iter().any(|it| matches!(it, RuntimeEvent::ApprovalAsked { .. })).then(|| request_of(&events));
                    Vec::new()
                }
                4 => {
                    let answer = Answer::Deny { reason: "no".to_owned() };
                    let request = ask.take().unwrap_or_default();
                    session.decide(&ApprovalReply { request, answer })
                }
                5 => { says(&mut session, "w"); Vec::new() }
                6 | 7 => {
                    let pending: Vec<u64> = session.sent.keys().copied().collect();
                    let Some(id) = pending.first().copied() else { continue };
                    if session.sent[&id] == Sent::Prompt { open_prompts -= 1; }
                    let result = json!({"stopReason": "end_turn", "sessionId": "s"});
                    session.line(Line::Answer { id, outcome: Ok(result) })
                }
                _ => session.set_model("a/b"),
            };
            for action in actions {
                match action {
                    Action::Report(RuntimeEvent::Finished { .. }) => ended += 1,
                    Action::Write(line) if line.contains("session/prompt") => open_prompts += 1,
                    _ => {}
                }
            }
            prop_assert!((0..=1).contains(&open_prompts));
            prop_assert!(given - ended == i64::from(session.busy()));
        }
    }
}

/// C5: a session in which somebody turned the questions off is told to ask again, or is ended.
#[test]
fn a_choice_that_lets_tools_through_is_set_back() {
    let turned = |value: &str| json!([{"id": "allow_all", "currentValue": value}]);
    let turn_on = |session: &mut Session| {
        let update =
            json!({"sessionUpdate": "config_option_update", "configOptions": turned("on")});
        let params = json!({"sessionId": "s", "update": update});
        split(session.line(Line::Notification { method: "session/update".to_owned(), params }))
    };
    for (answer, given_up) in [
        (Ok(json!({"configOptions": turned("off")})), false),
        (Ok(json!({})), false),
        (Ok(json!({"configOptions": turned("on")})), true),
        (Err(Refusal::default()), true),
    ] {
        let mut session = open(&COPILOT);
        session.prompt(prompt(1));
        let (lines, events) = turn_on(&mut session);
        assert_eq!(methods(&lines), ["session/set_config_option"]);
        assert_eq!(lines[0]["params"]["value"], "off");
        assert!(matches!(&events[..], [RuntimeEvent::Notice { .. }]), "{events:?}");
        let id = session.numbers;
        assert_eq!(methods(&turn_on(&mut session).0), [""; 0], "asked once");
        let actions = session.line(Line::Answer { id, outcome: answer });
        assert_eq!(actions.contains(&Action::GiveUp), given_up, "{actions:?}");
        assert!(session.turn.is_some());
    }
}

/// Every piece of a text shows that the turn goes on; one a second is told.
#[test]
fn a_turn_is_told_to_be_alive_once_a_second() {
    let mut session = open(&PLAIN);
    let word = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":
        {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word"}}}}"#;
    let at = |seconds| Now { mono: Duration::from_secs(seconds), unix: 0 };
    session.prompt(prompt(1));
    let accepted = vec![Action::Report(RuntimeEvent::Accepted { turn: id(1) })];
    assert_eq!(session.read(word, at(9)), Ok(accepted));
    let alive = vec![Action::Report(RuntimeEvent::Alive { turn: id(1) })];
    assert_eq!(session.read(word, at(10)), Ok(alive.clone()));
    assert_eq!(session.read(word, at(10)), Ok(Vec::new()));
    assert_eq!(session.read(word, at(11)), Ok(alive));
    assert_eq!(session.read("garbage", at(12)), Err(Odd::NoMessage));
    assert_eq!(session.sign_of_life(at(12)), [], "no call runs");
}
