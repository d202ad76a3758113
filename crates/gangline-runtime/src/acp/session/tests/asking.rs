//! Sessions that open, or are put, into a mode in which nobody is asked.

use super::*;
use crate::{
    Permissions,
    acp::{launch::tests::Only, recipe::GEMINI},
};

/// The modes of a program, as they are offered beside the choices.
fn modes(current: &str) -> Value {
    let mode = |id: &str| json!({"id": id, "name": id});
    json!({"currentModeId": current, "availableModes": [mode("auto"), mode("default"), mode("plan")]})
}

/// The same as a choice.
fn choice(current: &str) -> Value {
    let option = |value: &str| json!({"value": value, "name": value});
    json!([{"id": "m", "category": "mode", "currentValue": current,
        "options": [option("auto"), option("default")]}])
}

/// A session that the program opens with this answer.
fn opened(
    (recipe, permissions): (&'static Recipe, Permissions),
    answered: Value,
) -> (Session, Vec<Value>, Vec<RuntimeEvent>) {
    let mut options = options(std::path::Path::new("/w"));
    options.permissions = permissions;
    let mut session = new(recipe, None);
    session.setup.gate = Gate::new(&options);
    session.hello();
    answer(&mut session, json!({"protocolVersion": 1}));
    let (lines, events) = answer(&mut session, answered);
    (session, lines, events)
}

fn ready() -> RuntimeEvent {
    RuntimeEvent::Ready { session: SessionId("s".to_owned()) }
}

fn notices(events: &[RuntimeEvent]) -> String {
    let text = |event: &RuntimeEvent| match event {
        RuntimeEvent::Notice { text } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

/// C5: before anything else it is put into the mode in which it asks, in the way that it offers.
#[test]
fn a_session_is_put_into_its_asking_mode() {
    let ask = (&PLAIN, Permissions::Ask);
    let beside = json!({"sessionId": "s", "modes": modes("auto")});
    let (mut session, lines, events) = opened(ask, beside.clone());
    assert_eq!((methods(&lines), events), (vec!["session/set_mode"], vec![]));
    assert_eq!(lines[0]["params"], json!({"sessionId": "s", "modeId": "default"}));
    assert_eq!(answer(&mut session, json!({})), (vec![], vec![ready()]));

    let both = json!({"sessionId": "s", "modes": modes("auto"), "configOptions": choice("auto")});
    let (mut session, lines, _) = opened(ask, both.clone());
    assert_eq!(methods(&lines), ["session/set_config_option"]);
    assert_eq!(lines[0]["params"], json!({"sessionId": "s", "configId": "m", "value": "default"}));
    let (_, events) = answer(&mut session, json!({"configOptions": choice("default")}));
    assert_eq!(events, [ready()]);
    // One way may be refused although it is offered.
    let (mut session, ..) = opened(ask, both);
    let (lines, events) = refuse(&mut session, -32601);
    assert_eq!((methods(&lines), events), (vec!["session/set_mode"], vec![]));

    for (with, answered) in [
        (ask, json!({"sessionId": "s", "modes": modes("default")})),
        (ask, json!({"sessionId": "s", "modes": modes("plan")})),
        (ask, json!({"sessionId": "s"})),
        // Under `bypass` all may run, and this program's modes mean something else.
        ((&PLAIN, Permissions::Bypass), beside.clone()),
        ((&OPENCODE, Permissions::Ask), beside.clone()),
    ] {
        let (_, lines, events) = opened(with, answered);
        assert_eq!((lines, events), (vec![], vec![ready()]));
    }
    for with in [(&PLAIN, Permissions::Allowlist), (&GEMINI, Permissions::Ask)] {
        assert_eq!(methods(&opened(with, beside.clone()).1), ["session/set_mode"]);
    }
}

/// C5: where that is not possible people are told, and the agent works all the same.
#[test]
fn a_session_that_cannot_be_made_to_ask_is_told() {
    let ask = (&PLAIN, Permissions::Ask);
    let (mut session, ..) = opened(ask, json!({"sessionId": "s", "modes": modes("auto")}));
    let (_, events) = refuse(&mut session, -32602);
    let text = notices(&events);
    assert!(text.contains("`permissions: ask` may not hold"), "{text}");
    assert!(text.contains("not put into its mode `default`") && text.contains("(no)"), "{text}");
    assert_eq!(events.last(), Some(&ready()));

    let (mut session, ..) = opened(ask, json!({"sessionId": "s", "configOptions": choice("auto")}));
    let (_, events) = answer(&mut session, json!({"configOptions": choice("auto")}));
    assert!(notices(&events).contains("it did not change"), "{events:?}");

    let only = json!({"currentModeId": "go", "availableModes": [{"id": "go"}, {"id": "stop"}]});
    let (_, lines, events) = opened(ask, json!({"sessionId": "s", "modes": only}));
    assert_eq!(lines, Vec::<Value>::new());
    let text = notices(&events);
    assert!(text.contains("none of its modes (go, stop) is known to ask"), "{text}");
}

/// C5: whoever puts an open session into another mode, it is put back, and people hear of it once;
/// a program that never stays is left.
#[test]
fn a_session_that_leaves_its_asking_mode_is_put_back() {
    let ask = (&PLAIN, Permissions::Ask);
    let (mut session, ..) = opened(ask, json!({"sessionId": "s", "modes": modes("default")}));
    let leave = |session: &mut Session| {
        let update = json!({"sessionUpdate": "current_mode_update", "currentModeId": "auto"});
        let params = json!({"sessionId": "s", "update": update});
        let method = "session/update".to_owned();
        split(session.line(Line::Notification { method, params }))
    };
    for turn in 0..8 {
        let (lines, events) = leave(&mut session);
        assert_eq!(methods(&lines), ["session/set_mode"]);
        assert_eq!(notices(&events).contains("went into its mode `auto`"), turn == 0, "{events:?}");
        assert_eq!(leave(&mut session), (vec![], vec![]), "one try at a time");
        assert_eq!(answer(&mut session, json!({})), (vec![], vec![]));
    }
    let (lines, events) = leave(&mut session);
    assert_eq!(lines, Vec::<Value>::new());
    assert!(notices(&events).contains("it leaves it again and again"), "{events:?}");
    assert_eq!(leave(&mut session), (vec![], vec![]));
}

/// C5: what is only presumed to be asked about never runs unasked, whatever was announced.
#[test]
fn a_question_without_a_word_is_put_to_a_person() {
    for (kind, name, input) in [
        ("execute", "Bash", json!({"command": "touch a"})),
        ("read", "Read", json!({"command": "touch a"})),
        // A file of the folder: the same call runs unasked if the question names it.
        ("read", "Read", json!({"file_path": "/w/a"})),
    ] {
        let mut session = open(&PLAIN);
        session.prompt(prompt(1));
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "x",
            "kind": kind, "rawInput": input});
        update(&mut session, call);
        let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "q", "title": "Confirm it"},
            "options": []});
        let method = "session/request_permission".to_owned();
        let (_, events) = split(session.line(Line::Request { id: json!(1), method, params }));
        let [RuntimeEvent::ApprovalAsked { ask, .. }] = &events[..] else { panic!("{events:?}") };
        let told = input.as_object().unwrap().iter().all(|(key, value)| ask.input[key] == *value);
        assert!(told && ask.tool == name && ask.presumed, "{kind} {input}: {ask:?}");
    }
}

/// R2-42, C5: a list cannot allow a call that the program does not name, even where the announced
/// call is on it; it allows the same call when it is named.
#[test]
fn a_list_allows_nothing_that_is_only_presumed() {
    let chosen = |kind: &str, title: &str, id: &str| {
        let answered = json!({"sessionId": "s"});
        let (mut session, ..) = opened((&PLAIN, Permissions::Allowlist), answered);
        let mut options = options(std::path::Path::new("/w"));
        options.tools = std::sync::Arc::new(Only("send"));
        options.permissions = Permissions::Allowlist;
        options.allowed_tools =
            ["Bash", "Read", "Edit", "mcp__docs__find"].map(str::to_owned).into();
        options.mcp_servers = vec![crate::McpServer {
            key: "docs".to_owned(),
            place: crate::McpPlace::Stdio { command: Vec::new(), env: Default::default() },
            allowed_tools: Vec::new(),
        }];
        session.setup.gate = Gate::new(&options);
        session.prompt(prompt(1));
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": title,
            "kind": kind, "rawInput": {"command": "ls", "file_path": "/w/a"}});
        update(&mut session, call);
        let options = json!([{"optionId": "y", "kind": "allow_once"},
            {"optionId": "n", "kind": "reject_once"}]);
        let params = json!({"sessionId": "s", "toolCall": {"toolCallId": id}, "options": options});
        let method = "session/request_permission".to_owned();
        let (lines, events) = split(session.line(Line::Request { id: json!(1), method, params }));
        assert!(!events.iter().any(|it| matches!(it, RuntimeEvent::ApprovalAsked { .. })));
        lines[0]["result"]["outcome"]["optionId"].as_str().unwrap().to_owned()
    };
    for (kind, title) in [
        ("execute", "x"),
        ("read", "x"),
        ("edit", "x"),
        ("other", "docs_find"),
        ("other", "gangline_send"),
    ] {
        assert_eq!(chosen(kind, title, "c"), "y", "{kind} {title}");
        assert_eq!(chosen(kind, title, "of-its-own"), "n", "{kind} {title}");
    }
}

/// C5: the first tool that ran without a question is told, and only where it is against the rules.
#[test]
fn the_first_tool_that_runs_unasked_is_told_once() {
    let run = |session: &mut Session, kind: &str| {
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": uuid::Uuid::new_v4().to_string(),
            "title": "x", "kind": kind, "status": "completed", "rawInput": {"command": "touch a"}});
        let events = update(session, call);
        events.into_iter().find(|it| matches!(it, RuntimeEvent::Unasked { .. }))
    };
    let (mut session, ..) = opened((&PLAIN, Permissions::Ask), json!({"sessionId": "s"}));
    session.prompt(prompt(1));
    assert_eq!(run(&mut session, "read"), None);
    assert_eq!(run(&mut session, "other"), None);
    let told = RuntimeEvent::Unasked {
        turn: id(1),
        tool: "Bash".to_owned(),
        input: json!({"command": "touch a"}),
    };
    assert_eq!(run(&mut session, "execute"), Some(told));
    assert_eq!(run(&mut session, "delete"), None);
    let (mut session, ..) = opened((&PLAIN, Permissions::Bypass), json!({"sessionId": "s"}));
    session.prompt(prompt(1));
    assert_eq!(run(&mut session, "execute"), None);
}
