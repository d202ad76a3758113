//! Ends of turns that are not what they look like.

use super::*;
use crate::acp::recipe::GEMINI;

fn ended(events: &[RuntimeEvent]) -> Vec<&TurnResult> {
    let mut results = Vec::new();
    for event in events {
        if let RuntimeEvent::Finished { result, .. } = event {
            results.push(result);
        }
    }
    results
}

fn cancelled() -> Value {
    json!({"stopReason": "cancelled"})
}

/// A process that is killed may say "cancelled" with its last breath: the turn was lost then, and
/// not ended.
#[test]
fn an_end_that_nobody_asked_for_waits_for_the_programs_own() {
    let mut session = open(&PLAIN);
    session.prompt(prompt(1));
    says(&mut session, "half");
    let (_, events) = answer(&mut session, cancelled());
    assert_eq!(
        (ended(&events), session.holds_back(), session.busy()),
        (vec![], Some(crate::acp::session::late::CANCELLED), true)
    );
    // It lives on: then it was an end.
    let (_, events) = split(session.let_go());
    let [TurnResult::Failed { why, .. }] = ended(&events)[..] else { panic!("{events:?}") };
    assert_eq!(why, "the program ended the turn unasked");
    assert!(session.holds_back().is_none() && !session.busy());
    assert_eq!(session.let_go(), []);
    // An interrupt in that moment ends it as one.
    session.prompt(prompt(2));
    answer(&mut session, cancelled());
    let (lines, events) = split(session.interrupt());
    assert_eq!((methods(&lines), ended(&events)), (vec![], vec![&TurnResult::Interrupted]));
    // One that was asked for is told at once.
    session.prompt(prompt(3));
    session.interrupt();
    let (_, events) = answer(&mut session, cancelled());
    assert_eq!(ended(&events), [&TurnResult::Interrupted]);
}

/// Found by changes of a seed: the sum of two such numbers is none.
#[test]
fn tokens_that_nobody_can_have_used_are_cut_off() {
    let mut session = open(&PLAIN);
    session.prompt(prompt(1));
    let most = u64::MAX;
    let usage = json!({"inputTokens": most, "outputTokens": 130, "totalTokens": most,
        "cachedReadTokens": most, "cachedWriteTokens": most});
    let (_, events) = answer(&mut session, json!({"stopReason": "end_turn", "usage": usage}));
    let told = events.iter().find_map(|event| match event {
        RuntimeEvent::Usage { usage, .. } => Some((usage.input_tokens, usage.output_tokens)),
        _ => None,
    });
    assert_eq!(told, Some((gangline_core::usage::TOKENS_MAX, 130)));
}

fn refused(session: &mut Session) {
    let (_, events) = asks(session, 1, "execute");
    let answer = Answer::Deny { reason: "not here".to_owned() };
    session.decide(&ApprovalReply { request: request_of(&events), answer });
}

/// Of a program that nobody knows it shows by its silence that its model was not told of a refusal.
#[test]
fn silence_after_a_refusal_is_no_end() {
    let mut session = open(&PLAIN);
    session.prompt(prompt(1));
    refused(&mut session);
    let (lines, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    let text = lines[0]["params"]["prompt"][0]["text"].as_str().unwrap();
    assert!(text.contains("was refused: not here."), "{text}");
    assert_eq!(ended(&events), [&TurnResult::Completed; 0]);
    // Once: whatever it does then is its answer.
    let (lines, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    assert_eq!((methods(&lines), ended(&events)), (vec![], vec![&TurnResult::Completed]));
    // One that spoke was told.
    session.prompt(prompt(2));
    refused(&mut session);
    says(&mut session, "I may not.");
    let (lines, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    assert_eq!((methods(&lines), ended(&events)), (vec![], vec![&TurnResult::Completed]));
}

/// Gemini keeps a call without a result when its question is taken back: the provider would refuse
/// every later prompt of that session.
#[test]
fn a_session_that_an_interrupt_has_spoilt_is_replaced() {
    let mut session = open(&GEMINI);
    session.prompt(prompt(1));
    asks(&mut session, 1, "execute");
    session.interrupt();
    let (lines, events) = answer(&mut session, cancelled());
    assert_eq!(methods(&lines), ["session/new"]);
    assert_eq!(ended(&events), [&TurnResult::Interrupted]);
    assert!(format!("{events:?}").contains("A new one begins"), "{events:?}");
    assert_eq!(split(session.prompt(prompt(2))).0, [Value::Null; 0]);
    let (lines, events) = answer(&mut session, json!({"sessionId": "t"}));
    assert_eq!(events, [RuntimeEvent::Session { session: SessionId("t".to_owned()) }]);
    // It remembers nothing, so it is told again who it is.
    assert_eq!(lines[0]["params"]["prompt"][0]["text"], "Be kind.\n\nx");
    let (lines, _) = answer(&mut session, json!({"stopReason": "end_turn"}));
    assert_eq!(lines, [Value::Null; 0]);
    // An interrupt at another time harms nothing.
    session.prompt(prompt(3));
    session.interrupt();
    let (lines, _) = answer(&mut session, cancelled());
    assert_eq!(lines, [Value::Null; 0]);
    // Where it had happened before, as in a session that is gone on with, the refusal shows it.
    session.prompt(prompt(4));
    let why = "please ensure that the number of function response parts is equal";
    let outcome = Err(Refusal { code: 400, message: why.to_owned(), data: Value::Null });
    let id = session.numbers;
    let (lines, events) = split(session.line(Line::Answer { id, outcome }));
    assert_eq!((methods(&lines), ended(&events).len()), (vec!["session/new"], 1));
}
