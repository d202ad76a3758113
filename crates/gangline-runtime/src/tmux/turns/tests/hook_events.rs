//! What a program reports by its hooks, and what its screen shows meanwhile.

use super::*;

const IDLE: [&str; 3] = ["❯ hi", "", "❯"];
const BUSY: [&str; 5] = ["❯ hi", "", "✻ Thinking (1s · esc to interrupt)", "", "❯"];
const DONE: [&str; 5] = ["❯ hi", "", "● shown", "", "❯"];

impl Story {
    fn hook(&mut self, object: serde_json::Value) -> Vec<String> {
        let actions = self.turns.hook_event(&object, self.now);
        let words = words(&actions);
        self.told.extend(words.clone());
        words
    }

    /// A program whose hooks run, and that was given a message.
    fn sent() -> Self {
        let mut story = Self::ready("claude", &["❯ Try"], (2, 0));
        let started = json!({"hook_event_name": "SessionStart", "session_id": "s"});
        assert_eq!(story.hook(started), [""; 0]);
        story.says("hi").until(500);
        assert_eq!(story.shows(&["❯ hi"], (4, 0)).until(500), ["keys Enter"]);
        story
    }

    /// The same, and that has taken it.
    fn taken() -> Self {
        let mut story = Self::sent();
        assert_eq!(story.hook(took("hi")), ["accepted"]);
        story
    }
}

fn took(text: &str) -> serde_json::Value {
    json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": text})
}

fn stopped(answer: &str) -> serde_json::Value {
    json!({"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": answer})
}

fn said(words: &[String]) -> bool {
    words.len() == 1 && words[0].contains("said **so**")
}

/// R3-20: that a text was taken is known from the program, not from its screen.
#[test]
fn a_text_is_accepted_when_the_program_says_that_it_took_it() {
    let mut story = Story::sent();
    assert_eq!(story.shows(&IDLE, (2, 2)).until(2000), [""; 0], "it is not believed to be gone");
    assert_eq!(story.hook(took("something else")), [""; 0]);
    assert_eq!(story.hook(took("hi")), ["accepted"]);
    assert_eq!(story.hook(took("hi")), [""; 0], "it is accepted once");
}

/// R3-20: the screen stays the fallback: for a text of which the program reports nothing, such as
/// one of its own commands, and for one that never left.
#[test]
fn without_a_report_the_screen_tells() {
    let mut story = Story::sent();
    assert_eq!(story.shows(&IDLE, (2, 2)).until(4000), ["accepted"]);
    assert_eq!(story.shows(&DONE, (2, 4)).until(5000), ["Read(1)"], "nor is its end waited for");
    let mut story = Story::sent();
    assert_eq!(story.until(1500), ["keys Enter"], "a lost Enter is pressed again all the same");
    loop {
        let done = story.until(30_000);
        if done.iter().any(|word| word.contains("could not be seen to arrive")) {
            break;
        }
        assert_eq!(done, ["keys Enter"]);
    }
    assert!(!story.told.contains(&"accepted".to_owned()));
}

/// R3-20: a turn ends when the program has said so and shows that it takes the next one, with the
/// words that it has said, not those of its screen.
#[test]
fn a_turn_is_over_when_the_program_says_so_and_shows_it() {
    let mut story = Story::taken();
    assert_eq!(story.shows(&IDLE, (2, 2)).until(9000), [""; 0], "not by its screen alone");
    assert_eq!(story.shows(&BUSY, (2, 4)).until(3000), [""; 0]);
    assert!(said(&story.hook(stopped("said **so**"))));
    assert_eq!(story.until(5000), [""; 0], "a hook of somebody else may hold it");
    assert_eq!(story.shows(&DONE, (2, 4)).until(1000), ["Free", "Completed"]);
    assert_eq!(story.hook(stopped("late")), [""; 0]);
}

/// R3-20: a turn that was ended in another way, such as by a human, is not waited for for ever.
#[test]
fn an_end_that_is_not_reported_is_seen() {
    let mut story = Story::taken();
    assert_eq!(story.shows(&DONE, (2, 4)).until(9000), [""; 0]);
    assert_eq!(story.until(3000), ["Read(1)"]);
}

/// R3-20: an end before the message was taken is another's.
#[test]
fn an_end_of_what_came_before_is_none() {
    let mut story = Story::sent();
    assert_eq!(story.hook(stopped("before")), [""; 0]);
    assert_eq!(story.hook(took("hi")), ["accepted"]);
    assert_eq!(story.shows(&DONE, (2, 4)).until(9000), [""; 0]);
}

/// R3-20: a call after an end shows that it was none: somebody's hook made the program go on.
#[test]
fn a_turn_that_is_made_to_go_on_is_not_over() {
    let mut story = Story::taken();
    story.shows(&BUSY, (2, 4)).until(500);
    story.hook(stopped("said **so**"));
    let call = json!({"hook_event_name": "PreToolUse", "tool_use_id": "t", "tool_name": "Bash",
        "tool_input": {"command": "ls"}});
    assert!(story.hook(call)[0].contains("ToolUse"));
    assert_eq!(story.shows(&DONE, (2, 4)).until(9000), [""; 0]);
    assert!(said(&story.hook(stopped("said **so**"))));
    assert_eq!(story.until(1000), ["Free", "Completed"]);
}

/// R3-20: a failed turn is one, and is told as what it is.
#[test]
fn a_failure_is_told_as_one() {
    let mut story = Story::taken();
    let failed = json!({"hook_event_name": "StopFailure", "error": "server_error",
        "last_assistant_message": "API Error: 500"});
    assert_eq!(story.hook(failed), [""; 0]);
    assert_eq!(story.shows(&DONE, (2, 4)).until(1500), ["Free", "failed API Error: 500"]);
}

/// R3-20: an interrupt ends the turn as one, whatever was reported.
#[test]
fn an_interrupt_stays_one() {
    let mut story = Story::taken();
    story.shows(&BUSY, (2, 4)).until(500);
    assert_eq!(words(&story.turns.interrupt(story.now)), ["keys Escape"]);
    story.hook(stopped("said **so**"));
    assert_eq!(story.shows(&DONE, (2, 4)).until(3000), ["Read(1)"]);
    let actions = story.turns.read(&Captured::default(), story.now);
    assert_eq!(words(&actions), ["Free", "Interrupted"]);
}

/// R3-20: that it waits for a human is told once, by whoever tells it first.
#[test]
fn a_question_is_told_once() {
    let mut story = Story::taken();
    let asks = json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash"});
    assert!(story.hook(asks.clone())[0].contains("gangline attach"));
    assert_eq!(story.hook(asks), [""; 0]);
    assert_eq!(story.shows(&BUSY, (2, 4)).until(300), [""; 0]);
    let dialog = ["Do you want to proceed?", "❯ 1. Yes", "  2. No"];
    assert_eq!(story.shows(&dialog, (0, 1)).until(30_000), [""; 0]);
}

/// R3-20: the session has the id that the program has given it.
#[test]
fn another_session_is_told() {
    let mut story = Story::taken();
    let cleared = |id: &str| json!({"hook_event_name": "SessionStart", "session_id": id});
    assert_eq!(story.hook(cleared("s")), [""; 0]);
    assert_eq!(story.hook(cleared("other")), [r#"Session { session: SessionId("other") }"#]);
    let mut story = Story::of("claude");
    assert_eq!(story.hook(cleared("other")), [""; 0]);
    let actions = story.shows(&["❯ Try"], (2, 0)).turns.hook_event(&json!({}), Duration::ZERO);
    assert_eq!(actions, []);
    story.until(3000);
    assert_eq!(story.turns.session.0, "other", "it is ready by this one");
}

/// R3-20: what was added is taken when the program says so.
#[test]
fn an_addition_is_taken_when_the_program_says_so() {
    let mut story = Story::taken();
    story.shows(&BUSY, (2, 4)).until(500);
    let more = Prompt { turn: TURN, text: "more".to_owned(), uuid: "m".to_owned() };
    assert_eq!(words(&story.turns.steer(more, story.now)), [""; 0]);
    assert_eq!(story.until(1000), ["paste more"]);
    let typed = ["❯ hi", "", "✻ Thinking (1s · esc to interrupt)", "", "❯ more"];
    assert_eq!(story.shows(&typed, (6, 4)).until(500), ["keys Enter"]);
    assert!(story.hook(took("more"))[0].starts_with("Steered"));
    // The first end is not the last one.
    story.hook(stopped("first"));
    assert_eq!(story.shows(&BUSY, (2, 4)).until(5000), [""; 0]);
    assert!(said(&story.hook(stopped("said **so**"))));
    assert_eq!(story.shows(&DONE, (2, 4)).until(1000), ["Free", "Completed"]);
}

/// R3-20: a program that reports ends only names what it has answered.
#[test]
fn an_end_that_names_its_message_needs_no_receipt() {
    let end = |text: &str| {
        json!({"type": "agent-turn-complete", "input-messages": ["x", text],
            "last-assistant-message": "said **so**"})
    };
    let mut story = Story::ready("codex", &["› Ask Codex"], (2, 0));
    story.says("hi").until(500);
    story.shows(&["› hi"], (4, 0)).until(500);
    assert_eq!(story.shows(&["› hi", "", "› Ask"], (2, 2)).until(500), ["accepted"]);
    assert_eq!(story.hook(end("other")), [""; 0]);
    assert!(said(&story.hook(end("hi"))));
    assert_eq!(story.until(1000), ["Free", "Completed"]);
}

#[test]
fn what_comes_outside_of_a_turn_is_nothing() {
    let mut story = Story::ready("claude", &["❯ Try"], (2, 0));
    for object in [took("hi"), stopped("x"), json!([]), json!({"hook_event_name": 7})] {
        assert_eq!(story.hook(object), [""; 0]);
    }
    assert_eq!(story.turns.next_look(), None, "an idle terminal is not looked at");
    let mut story = Story::ready("shell", &["$"], (2, 0));
    assert_eq!(story.hook(took("hi")), [""; 0], "it has no hooks");
}
