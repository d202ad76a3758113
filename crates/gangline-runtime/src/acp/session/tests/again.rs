//! A past that is told again behind the first prompt.

use super::{late::*, *};

/// A turn of a session in which this was said before.
fn asked(past: &[&str]) -> Session {
    let mut session = with_past(past);
    session.prompt(prompt(1));
    let (lines, _) = split(session.let_go());
    assert_eq!(methods(&lines), ["session/prompt"]);
    session
}

fn at(session: &mut Session, millis: u64) {
    session.is_now(Now { mono: Duration::from_millis(millis), unix: 0 });
}

/// What the turn's answer is in the end, and what is written then.
fn answered(session: &mut Session) -> (Vec<String>, Vec<Value>) {
    let (mut lines, mut events) = answer(session, json!({"stopReason": "end_turn"}));
    let (more, late) = split(session.let_go());
    lines.extend(more);
    events.extend(late);
    (texts(&events), lines)
}

const PAST: [&str; 2] = ["a secret", "another answer"];

fn user(session: &mut Session, text: &str) {
    let content = json!({"type": "text", "text": text});
    update(session, json!({"sessionUpdate": "user_message_chunk", "content": content}));
}

#[test]
fn an_old_answer_is_in_no_new_one() {
    let mut session = asked(&PAST);
    for (millis, piece) in [(100, "a se"), (200, "cret"), (1900, "another"), (3800, " answer")] {
        at(&mut session, millis);
        says(&mut session, piece);
    }
    at(&mut session, 4000);
    says(&mut session, "new");
    says(&mut session, " and whole");
    assert_eq!(answered(&mut session), (vec!["new and whole".to_owned()], vec![]));
}

#[test]
fn an_answer_that_only_begins_like_an_old_one_is_whole() {
    for end in ["", "n agent"] {
        let mut session = asked(&PAST);
        says(&mut session, "a sec");
        says(&mut session, "o");
        says(&mut session, end);
        assert_eq!(answered(&mut session).0, [format!("a seco{end}")]);
    }
    let mut session = asked(&PAST);
    says(&mut session, "a sec");
    assert_eq!(answered(&mut session).0, ["a sec"]);
    // Whatever is no word of the model comes behind the words that were before it.
    let mut session = asked(&PAST);
    says(&mut session, "a sec");
    let (_, events) = asks(&mut session, 1, "execute");
    assert_eq!(texts(&events)[0], "a sec");
}

#[test]
fn a_turn_that_was_cut_off_says_nothing_that_may_be_old() {
    let mut session = asked(&PAST);
    says(&mut session, "a sec");
    session.interrupt();
    let (_, events) = answer(&mut session, json!({"stopReason": "cancelled"}));
    assert_eq!(texts(&events), [""; 0]);
}

/// Nobody knows whether words that were said before are the answer. The model is asked again, once.
#[test]
fn an_answer_that_was_given_before_is_asked_for_once_more() {
    let mut session = asked(&PAST);
    says(&mut session, "a secret");
    let (texts_, lines) = answered(&mut session);
    assert_eq!(texts_, [""; 0]);
    let again = lines[0]["params"]["prompt"][0]["text"].as_str().unwrap();
    assert!(again.contains("Give your answer once more"), "{again}");
    says(&mut session, "a secret");
    assert_eq!(answered(&mut session), (vec!["a secret".to_owned()], vec![]));
    // Where it says nothing then, its turn has failed.
    let mut session = asked(&PAST);
    says(&mut session, "a secret");
    answered(&mut session);
    let (_, events) = answer(&mut session, json!({"stopReason": "end_turn"}));
    let events = [events, split(session.let_go()).1].concat();
    assert!(format!("{events:?}").contains("said and did nothing"), "{events:?}");
}

#[test]
fn long_after_the_prompt_the_same_words_are_an_answer() {
    let mut session = asked(&PAST);
    at(&mut session, 2000);
    says(&mut session, "a secret");
    assert_eq!(answered(&mut session).0, ["a secret"]);
    // It counts from the prompt, however long after the load that comes.
    let mut session = with_past(&PAST);
    session.let_go();
    at(&mut session, 60_000);
    session.prompt(prompt(1));
    at(&mut session, 61_999);
    says(&mut session, "a secret");
    says(&mut session, "new");
    assert_eq!(answered(&mut session).0, ["new"]);
}

#[test]
fn the_whole_prompt_is_a_sign_that_the_answer_follows() {
    let mut session = asked(&PAST);
    says(&mut session, "a sec");
    user(&mut session, "an old question");
    says(&mut session, "what is on no record");
    user(&mut session, "x");
    says(&mut session, "a secret");
    assert_eq!(answered(&mut session).0, ["a secret"]);
}

/// Words of a user that are not our prompt hide no answer for ever.
#[test]
fn what_follows_another_s_words_is_new_after_two_seconds() {
    let mut session = asked(&PAST);
    user(&mut session, "another");
    for millis in [500, 1000, 1999] {
        at(&mut session, millis);
        says(&mut session, "on no record");
    }
    at(&mut session, 2000);
    says(&mut session, "new");
    assert_eq!(answered(&mut session).0, ["new"]);
}

/// A call of the past is no sign that the turn goes on, and nothing that ran unasked.
#[test]
fn an_old_call_is_not_told() {
    let mut session = with_past(&[]);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "kind": "execute",
        "status": "completed", "rawInput": {"command": "x"}});
    let input = json!({});
    let old = Block::ToolUse { id: "c1".to_owned(), name: "Bash".to_owned(), input };
    session.outside.set_replay(vec![old]);
    session.prompt(prompt(1));
    session.let_go();
    assert_eq!(notices(&update(&mut session, call.clone())).len(), 1);
    says(&mut session, "new");
    let told = update(&mut session, call);
    assert_eq!(texts(&told), ["new", "[Bash]"]);
}

#[test]
fn nothing_is_told_again_in_a_session_that_is_new() {
    let mut session = open(&PLAIN);
    session.setup.late = Late::MayCome;
    session.setup.past = vec![Block::Text { text: "a secret".to_owned() }];
    session.prompt(prompt(1));
    says(&mut session, "a secret");
    assert_eq!(answered(&mut session).0, ["a secret"]);
}

proptest! {
    /// However the past is cut and wherever it stops before the prompt, none of it is in the answer,
    /// and all of the answer is.
    #[test]
    fn no_old_word_is_in_an_answer(
        past in prop::collection::vec("[a-c]{1,6}", 1..5),
        before in 0_usize..12,
        size in 1_usize..4,
        new in "[x-z]{1,8}",
    ) {
        let past: Vec<&str> = past.iter().map(String::as_str).collect();
        let mut session = with_past(&past);
        session.prompt(prompt(1));
        let pieces = past.iter().flat_map(|text| text.as_bytes().chunks(size));
        let pieces: Vec<&str> = pieces.map(|it| std::str::from_utf8(it).unwrap()).collect();
        let before = before.min(pieces.len());
        for piece in &pieces[..before] {
            says(&mut session, piece);
        }
        session.let_go();
        for piece in &pieces[before..] {
            says(&mut session, piece);
        }
        says(&mut session, &new);
        prop_assert_eq!(answered(&mut session).0, [new]);
    }
}
