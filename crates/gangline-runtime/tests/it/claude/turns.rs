//! The real program: prompts and what becomes of them.

use gangline_runtime::{Permissions, Prompt, RuntimeEvent, TurnResult, Usage};

use super::rig::{Done, Rig, turn};
use crate::rig::look_again;

const ECHO: &str = r#"
rules:
  - reply: [text: "you said ${user}"]
"#;

/// R0-03, R0-04, R0-05, R0-06, R0-13, R0-14, R0-15, R0-18: it is ready with a session; prompts are
/// accepted, answered in order and finished, each once; a slash at the begin is text; tokens, cost
/// and the size of the context are told.
#[tokio::test]
async fn prompts_are_answered_one_after_the_other() {
    let mut rig = Rig::claude(ECHO).await;
    rig.start().await;
    for (number, text, answer) in [
        (1, "one", "you said one"),
        (2, "/clear", "you said  /clear"),
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
        assert_eq!(usage.context_tokens, Some(usage.input_tokens));
        assert_eq!(usage.context_window, Some(1_000_000));
        assert!(usage.input_tokens > 1_000 && usage.output_tokens > 0, "{usage:?}");
        assert!(usage.cost_micros.is_some_and(|cost| cost > 1_000 && cost < 500_000), "{usage:?}");
    }
}

const MIXED: &str = r#"
rules:
  # The news of a command that has ended comes as no text of the user.
  - when: {turn: 3, system: "bells"}
    reply: [text: "the bell rang"]
  - when: {turn: 7, system: "bells"}
    reply: [delay_ms: 1500, text: "the bell rang"]
  - when: {model: 'haiku', user: 'who'}
    reply: [text: "a small one"]
  - when: {user: 'who'}
    reply: [text: "a large one"]
  - when: {user: 'pause'}
    reply: [tool_use: {name: Bash, input: {command: "touch paused; until [ -e go ]; do sleep 0.1; done", description: "x"}}]
  - when: {user: 'slow'}
    reply: [delay_ms: 1500, text: "slow"]
  - when: {user: 'behind'}
    reply: [tool_use: {name: Bash, input: {command: "until [ -e ring ]; do sleep 0.1; done; rm ring; echo bell", description: "x", run_in_background: true}}]
  - when: {tool: Bash}
    reply: [text: "it ran"]
  - reply: [text: "you said ${user}"]
"#;

async fn rig(script: &str) -> Rig {
    let mut rig = Rig::claude(script).await;
    rig.options.permissions = Permissions::Bypass;
    rig
}

/// R2-04: a model is changed between turns; one that nobody knows is told.
#[tokio::test]
async fn the_model_is_changed_between_turns() {
    let mut rig = rig(MIXED).await;
    rig.start().await;
    assert_eq!(rig.ask(1, "who").await.text(), "a large one");
    rig.runtime.set_model("haiku").await.unwrap();
    let done = rig.ask(2, "who").await;
    assert_eq!(done.text(), "a small one");
    let model = done.0.iter().find_map(|event| match event {
        RuntimeEvent::Message { message, .. } => Some(message.model.clone()),
        _ => None,
    });
    assert!(model.unwrap().contains("haiku"));
}

fn steered(done: &Done) -> Vec<&str> {
    let steered = |event| match event {
        &RuntimeEvent::Steered { turn: of, ref uuid } if of == turn(1) || of == turn(2) => {
            Some(uuid.as_str())
        }
        _ => None,
    };
    done.0.iter().filter_map(steered).collect()
}

/// C3: what is added to an open turn reaches the model within it: after a tool, or after the answer
/// that was on its way; the turn ends once.
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
    assert_eq!(done.text(), "it ran");
    assert!(rig.requests().pop().unwrap().contains("and a plum"));

    rig.say(2, "slow").await;
    assert_eq!(rig.next().await, RuntimeEvent::Accepted { turn: turn(2) });
    let uuid = "0191f2c4-0000-7000-8000-000000000001";
    rig.runtime.steer(added(2, uuid)).await.unwrap();
    let done = Done(rig.until_finished().await);
    assert_eq!(steered(&done), [uuid], "{done:?}");
    assert_eq!(done.text(), "slow\nyou said and a plum");
    assert_eq!(rig.ask(3, "x").await.text(), "you said x");
}

/// A turn that the program begins by itself is told, waits to be adopted, and has its events then.
/// One that runs while a prompt waits is told in a line, and the prompt is answered after it.
#[tokio::test]
async fn a_turn_that_began_by_itself_is_adopted_or_told() {
    let mut rig = rig(MIXED).await;
    rig.options.extra.insert("background_tasks".to_owned(), true.into());
    rig.options.system_prompt = "You hear bells.".to_owned();
    rig.start().await;
    let ring = rig.path("work/ring");
    rig.ask(1, "behind").await;
    std::fs::write(&ring, "").unwrap();
    let seen = rig.until(|event| *event == RuntimeEvent::Began).await;
    assert_eq!(seen.len(), 1, "{seen:?}");
    rig.runtime.adopt(turn(2)).await.unwrap();
    let done = Done(rig.until_finished().await);
    assert_eq!((done.text().as_str(), done.result()), ("the bell rang", &TurnResult::Completed));
    assert!(done.0.iter().all(|event| !matches!(event, RuntimeEvent::Accepted { .. })));

    rig.ask(3, "behind").await;
    rig.say(4, "slow").await;
    assert_eq!(rig.next().await, RuntimeEvent::Accepted { turn: turn(4) });
    std::fs::write(&ring, "").unwrap();
    let done = Done(rig.until_finished().await);
    assert_eq!(done.text(), "slow");
    let seen =
        rig.until(|event| matches!(event, RuntimeEvent::Began | RuntimeEvent::Notice { .. })).await;
    assert_eq!(seen, [RuntimeEvent::Began]);
    rig.say(5, "hello").await;
    let done = Done(rig.until_finished().await);
    assert_eq!(done.text(), "you said hello", "{done:?}");
    let told = done.0.iter().any(
        |event| matches!(event, RuntimeEvent::Notice { text } if text.contains("the bell rang")),
    );
    assert!(told, "{done:?}");
}
