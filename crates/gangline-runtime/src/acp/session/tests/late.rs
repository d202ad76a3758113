//! Words outside of the turn that they belong to, half characters, and lines that cannot be read.

use super::*;

fn waits_long() -> Session {
    let mut session = open(&PLAIN);
    session.setup.late = Late::MayCome;
    session
}

fn turn(session: &mut Session, number: i64) {
    session.prompt(prompt(number));
}

fn ends(session: &mut Session) -> Vec<RuntimeEvent> {
    answer(session, json!({"stopReason": "end_turn"})).1
}

fn finished(events: &[RuntimeEvent]) -> usize {
    events.iter().filter(|event| matches!(event, RuntimeEvent::Finished { .. })).count()
}

pub(super) fn notices(events: &[RuntimeEvent]) -> Vec<String> {
    let text = |event: &RuntimeEvent| match event {
        RuntimeEvent::Notice { text } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[test]
fn a_piece_that_comes_after_the_end_belongs_to_the_answer() {
    let mut session = waits_long();
    turn(&mut session, 1);
    says(&mut session, "begin ");
    assert_eq!(finished(&ends(&mut session)), 0);
    assert!(session.holds_back().is_some());
    says(&mut session, "end");
    let (_, events) = split(session.let_go());
    assert_eq!(texts(&events), ["begin end"]);
    assert_eq!(finished(&events), 1);
    assert!(session.holds_back().is_none());
}

#[test]
fn a_program_that_is_never_late_is_not_waited_for() {
    let mut session = waits_long();
    for number in 1..=8 {
        turn(&mut session, number);
        says(&mut session, "yes");
        assert_eq!(finished(&ends(&mut session)), 0, "{number}");
        assert_eq!(finished(&split(session.let_go()).1), 1);
    }
    turn(&mut session, 9);
    says(&mut session, "yes");
    assert_eq!(finished(&ends(&mut session)), 1);
    // What comes now is in no answer, is told without its words, and the next end is waited for.
    let told = notices(&says(&mut session, "a secret"));
    assert!(told.len() == 1 && !told[0].contains("secret"), "{told:?}");
    turn(&mut session, 10);
    says(&mut session, "yes");
    assert_eq!(finished(&ends(&mut session)), 0);
}

fn loaded() -> Session {
    with_past(&[])
}

/// One that goes on with a session in which this was said.
pub(super) fn with_past(past: &[&str]) -> Session {
    let mut session = new(&PLAIN, Some("s"));
    session.setup.late = Late::MayCome;
    session.setup.past = past.iter().map(|text| Block::Text { text: (*text).to_owned() }).collect();
    session.hello();
    answer(&mut session, json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}));
    let (_, events) = answer(&mut session, json!({}));
    assert_eq!(events, [RuntimeEvent::Ready { session: SessionId("s".to_owned()) }]);
    session
}

#[test]
fn what_a_loaded_session_tells_again_is_in_no_answer() {
    let mut session = loaded();
    let (lines, _) = split(session.prompt(prompt(1)));
    assert!(lines.is_empty(), "a prompt before the pipe is quiet: {lines:?}");
    let told: Vec<String> =
        (0..12).flat_map(|_| notices(&says(&mut session, "a secret"))).collect();
    assert!(told.len() == 2 && told[1].ends_with("(10 pieces so far)"), "{told:?}");
    let (lines, _) = split(session.let_go());
    assert_eq!(methods(&lines), ["session/prompt"]);
    // The past goes on: a user's words that are not our prompt.
    let user = |text: &str| json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}});
    update(&mut session, user("an old question"));
    says(&mut session, "an old secret");
    update(&mut session, user("x"));
    says(&mut session, "new");
    let events = ends(&mut session);
    let events = [events, split(session.let_go()).1].concat();
    assert_eq!(texts(&events), ["new"]);
}

#[test]
fn a_user_s_words_long_after_the_load_hide_nothing() {
    let mut session = loaded();
    session.prompt(prompt(1));
    session.let_go();
    session.outside.now = Duration::from_secs(3);
    update(
        &mut session,
        json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "another"}}),
    );
    says(&mut session, "new");
    ends(&mut session);
    assert_eq!(texts(&split(session.let_go()).1), ["new"]);
}

fn piece(session: &mut Session, text: &str) -> Vec<RuntimeEvent> {
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
    );
    split(session.read(&line, Now::default()).unwrap()).1
}

#[test]
fn the_halves_of_a_character_in_two_pieces_are_one() {
    for (pieces, expect) in [
        (&[r"a \ud83d", r"\ude80 b"] as &[_], "a \u{1f680} b"),
        (&[r"cut \ud83d"], "cut \u{fffd}"),
        (&[r"cut \ud83d", "on"], "cut \u{fffd}on"),
    ] {
        let mut session = open(&PLAIN);
        turn(&mut session, 1);
        for text in pieces {
            piece(&mut session, text);
        }
        assert_eq!(texts(&ends(&mut session)), [expect], "{pieces:?}");
    }
}

#[test]
fn a_request_that_cannot_be_read_is_refused_and_a_broken_answer_ends_its_turn() {
    let mut session = open(&PLAIN);
    turn(&mut session, 1);
    let line =
        r#"{"jsonrpc":"2.0","id":"q1","method":"session/request_permission","params":{"x": broken"#;
    let unread = session.unread(line, "no good").unwrap();
    let (lines, _) = split(unread.actions);
    assert_eq!((&lines[0]["id"], &lines[0]["error"]["code"]), (&json!("q1"), &json!(-32602)));
    assert!(lines[0]["error"]["message"].as_str().unwrap().contains("no good"), "{lines:?}");
    assert!(unread.what.contains("session/request_permission"), "{}", unread.what);
    let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result": broken"#, session.numbers);
    let (_, events) = split(session.unread(&line, "no good").unwrap().actions);
    assert_eq!(finished(&events), 1, "{events:?}");
    for nothing in ["a banner", r#"{"id":99,"result":"#, r#"{"method":"x/y","params":"#] {
        assert!(session.unread(nothing, "no good").is_none(), "{nothing}");
    }
}
