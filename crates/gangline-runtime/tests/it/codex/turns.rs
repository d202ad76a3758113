//! The real program: prompts and what becomes of them.

use gangline_runtime::{Permissions, Prompt, RuntimeEvent, TurnResult, Usage};

use super::rig::{Done, Rig, turn};
use crate::rig::look_again;

const ECHO: &str = r#"
rules:
  - reply: [thinking: "who asks?", text: "you said ${user}"]
"#;

/// R0-03, R0-04, R0-05, R0-06, R0-13, R0-14, R0-15, R0-18: it is ready with a session; prompts are
/// accepted, answered in order and finished, each once; tokens and the size of the context are told.
#[tokio::test]
async fn prompts_are_answered_one_after_the_other() {
    let mut rig = Rig::codex(ECHO).await;
    rig.start().await;
    for (number, text, answer) in [
        (1, "one", "you said one"),
        (2, "/clear", "you said /clear"),
        (3, "three\nlines", "you said three\nlines"),
    ] {
        let done = rig.ask(number, text).await;
        assert_eq!(done.0.first(), Some(&RuntimeEvent::Accepted { turn: turn(number) }));
        assert_eq!((done.text().as_str(), done.result()), (answer, &TurnResult::Completed));
        let usage: Vec<&Usage> = done
            .0
            .iter()
            .filter_map(|event| match event {
                RuntimeEvent::Usage { usage, .. } => Some(usage),
                _ => None,
            })
            .collect();
        let [usage] = usage[..] else { panic!("{done:?}") };
        assert_eq!(usage.context_tokens, Some(usage.input_tokens + usage.output_tokens));
        assert!(usage.context_window.is_some_and(|window| window > 100_000), "{usage:?}");
        assert!(usage.input_tokens > 1_000 && usage.output_tokens > 0, "{usage:?}");
        assert_eq!(usage.model, "gpt-5.5");
    }
    let handle = rig.runtime.session().unwrap();
    assert!(handle.session.is_some() && handle.ready_at.is_some(), "{handle:?}");
    assert!(rig.requests()[0].contains("You are oak-ada."));
}

/// R0-07: the initial prompt is the first message, as if it were given right after the start; it
/// waits until the session is ready.
#[tokio::test]
async fn the_initial_prompt_is_the_first_message() {
    let mut rig = Rig::codex(ECHO).await;
    let text = "wake up".to_owned();
    rig.options.initial_prompt =
        Some(Prompt { turn: turn(1), text, uuid: "not-a-uuid".to_owned() });
    rig.begin().await;
    assert!(rig.runtime.session().unwrap().ready_at.is_none());
    let done = Done(rig.until_finished().await);
    let place = |wanted: fn(&RuntimeEvent) -> bool| done.0.iter().position(wanted).unwrap();
    let ready = place(|event| matches!(event, RuntimeEvent::Ready { .. }));
    assert!(ready < place(|event| matches!(event, RuntimeEvent::Accepted { .. })), "{done:?}");
    assert_eq!(done.text(), "you said wake up");
    assert_eq!(rig.ask(2, "and").await.text(), "you said and");
}

const MIXED: &str = r#"
rules:
  - when: {model: 'mini', user: 'who'}
    reply: [text: "a small one"]
  - when: {user: 'who'}
    reply: [text: "a large one"]
  - when: {user: 'pause'}
    reply: [tool_use: {name: exec_command, input: {cmd: "touch paused; until [ -e go ]; do sleep 0.1; done", yield_time_ms: 30000}}]
  - when: {user: 'slow'}
    reply: [text: "slow ", delay_ms: 1500, text: "done"]
  - when: {tool: exec_command}
    reply: [text: "it ran"]
  - reply: [text: "you said ${user}"]
"#;

async fn rig(script: &str) -> Rig {
    let mut rig = Rig::codex(script).await;
    rig.options.permissions = Permissions::Bypass;
    rig
}

/// R2-04: a model is changed between turns, and stays.
#[tokio::test]
async fn the_model_is_changed_between_turns() {
    let mut rig = rig(MIXED).await;
    rig.start().await;
    assert_eq!(rig.ask(1, "who").await.text(), "a large one");
    rig.runtime.set_model("gpt-5.4-mini").await.unwrap();
    for number in [2, 3] {
        let done = rig.ask(number, "who").await;
        assert_eq!(done.text(), "a small one");
        let model = done.0.iter().find_map(|event| match event {
            RuntimeEvent::Message { message, .. } => Some(message.model.clone()),
            _ => None,
        });
        assert_eq!(model.as_deref(), Some("gpt-5.4-mini"));
    }
}

fn steered(done: &Done) -> Vec<&str> {
    let mut steered = Vec::new();
    for event in &done.0 {
        if let RuntimeEvent::Steered { uuid, .. } = event {
            steered.push(uuid.as_str());
        }
    }
    steered
}

/// C3: what is added to an open turn reaches the model within it: after a tool, or after the answer
/// that was on its way, of which nothing is lost; the turn ends once.
#[tokio::test]
async fn what_is_added_to_a_turn_is_answered_in_it() {
    let mut rig = rig(MIXED).await;
    rig.start().await;
    rig.say(1, "pause").await;
    rig.until_there("work/paused").await;
    let added = |number, uuid: &str| Prompt {
        turn: turn(number),
        text: "and a plum".to_owned(),
        uuid: uuid.to_owned(),
    };
    rig.runtime.steer(added(1, "no-uuid")).await.unwrap();
    // It is written before any time goes by.
    look_again().await;
    std::fs::write(rig.path("work/go"), "").unwrap();
    let done = Done(rig.until_finished().await);
    assert_eq!(steered(&done), ["no-uuid"], "{done:?}");
    assert!(rig.requests().pop().unwrap().contains("and a plum"));

    // Added before the program has named its turn.
    rig.say(2, "slow").await;
    rig.runtime.steer(added(2, "second")).await.unwrap();
    let done = Done(rig.until_finished().await);
    assert_eq!(steered(&done), ["second"], "{done:?}");
    assert_eq!(done.text(), "slow \ndone\nyou said and a plum");
    // Too late, and of another turn: nobody gets it.
    rig.runtime.steer(added(2, "late")).await.unwrap();
    let done = rig.ask(3, "x").await;
    assert_eq!((done.text().as_str(), steered(&done).len()), ("you said x", 0));
}
