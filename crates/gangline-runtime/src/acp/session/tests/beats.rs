//! What keeps a turn open: see `program/running.rs`.

use super::*;

/// Whether this keeps the turn open after so many minutes.
fn lives(session: &mut Session, minutes: u64, update: Value) -> bool {
    let params = json!({"sessionId": "s", "update": update});
    reads(session, minutes, json!({"method": "session/update", "params": params}))
}

fn reads(session: &mut Session, minutes: u64, mut line: Value) -> bool {
    line["jsonrpc"] = json!("2.0");
    let now = Now { mono: Duration::from_secs(minutes * 60), unix: 0 };
    let (_, events) = split(session.read(&line.to_string(), now).unwrap());
    // Each event of a turn is a sign of life.
    events.iter().any(|event| !matches!(event, RuntimeEvent::Notice { .. }))
}

fn call(id: &str, fields: Value) -> Value {
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
    update.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    update
}

fn turn() -> Session {
    let mut session = open(&PLAIN);
    session.prompt(prompt(1));
    // The first sign of a turn is told for itself.
    says(&mut session, "");
    session
}

#[test]
fn a_running_call_keeps_the_turn_until_its_limit() {
    let mut session = turn();
    let running = || call("c", json!({"status": "in_progress"}));
    assert!(!lives(&mut session, 1, running()), "nobody knows this call");
    assert!(lives(&mut session, 1, call("c", json!({"title": "make", "status": "in_progress"}))));
    assert!(lives(&mut session, 10, running()));
    assert!(lives(&mut session, 30, call("c", json!({}))));
    assert!(!lives(&mut session, 31, running()), "its limit is over");
    // What it prints is no more than that.
    let output = json!([{"type": "content", "content": {"type": "text", "text": "more"}}]);
    assert!(!lives(&mut session, 32, call("c", json!({"content": output}))));
}

#[test]
fn a_call_that_is_over_or_unknown_keeps_no_turn() {
    let mut session = turn();
    lives(&mut session, 1, call("c", json!({"title": "make", "rawInput": {"x": 1}})));
    assert!(lives(&mut session, 2, call("c", json!({"status": "completed"}))));
    for minutes in 3..6 {
        assert!(!lives(&mut session, minutes, call("c", json!({"status": "completed"}))));
        assert!(!lives(&mut session, minutes, call("c", json!({"title": "make"}))));
        assert!(!lives(&mut session, minutes, call("heartbeat", json!({}))));
    }
    assert_eq!(texts(&answer(&mut session, json!({"stopReason": "end_turn"})).1), [""; 0]);
}

#[test]
fn what_only_shows_that_the_program_lives_counts_while_a_call_runs() {
    let title = json!({"sessionUpdate": "session_info_update", "title": "x"});
    let words = |text: &str| {
        let content = json!({"type": "text", "text": text});
        json!({"sessionUpdate": "agent_message_chunk", "content": content})
    };
    let ping = json!({"method": "_program/ping"});
    let helper = json!({"method": "session/update",
        "params": {"sessionId": "helper", "update": words("works")}});
    let mut session = turn();
    let idle = |session: &mut Session, minutes| {
        [
            lives(session, minutes, title.clone()),
            lives(session, minutes, words("")),
            reads(session, minutes + 1, ping.clone()),
            reads(session, minutes + 2, helper.clone()),
            session
                .sign_of_life(Now { mono: Duration::from_secs(60 * (minutes + 3)), unix: 0 })
                .iter()
                .any(|it| matches!(it, Action::Report(RuntimeEvent::Alive { .. }))),
        ]
    };
    assert_eq!(idle(&mut session, 1), [false; 5]);
    lives(&mut session, 10, call("c", json!({"title": "make"})));
    assert_eq!(
        idle(&mut session, 11),
        [true, false, true, true, true],
        "the second is in one minute"
    );
    assert_eq!(idle(&mut session, 40), [false; 5]);
    // The model itself.
    assert!(lives(&mut session, 50, words("word")));
    assert!(lives(&mut session, 51, json!({"sessionUpdate": "plan", "entries": []})));
    let used = json!({"sessionUpdate": "usage_update", "used": 1, "size": 9});
    assert!(lives(&mut session, 52, used.clone()));
    assert!(!lives(&mut session, 53, used), "nothing was used since");
}

/// The wait for a person is no time of the call.
#[test]
fn a_decision_begins_the_limit_anew() {
    let mut session = turn();
    session.is_now(Now { mono: Duration::from_secs(60), unix: 0 });
    let (_, events) = asks(&mut session, 1, "execute");
    session.is_now(Now { mono: Duration::from_secs(3600), unix: 0 });
    let reply = ApprovalReply { request: request_of(&events), answer: Answer::Allow };
    session.decide(&reply);
    assert!(lives(&mut session, 89, call("c1", json!({"status": "in_progress"}))));
    assert!(!lives(&mut session, 90, call("c1", json!({"status": "in_progress"}))));
}
