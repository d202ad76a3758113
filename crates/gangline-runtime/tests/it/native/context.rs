//! What is done about a running turn and about a long conversation: steering, compaction, clearing.

use gangline_core::TurnId;
use gangline_runtime::{
    FailureKind, Permissions, Prompt, RuntimeEvent, StopReason, Thinking, TurnResult, Usage,
};

use super::{Rig, texts, turn};

/// The summary of a conversation, as the script gives it.
const NOTES: &str = "
  - when: {system: '^You write down'}
    reply: [{delay_ms: 200}, {text: the notes}]";

async fn rig(rules: &str) -> Rig {
    let script = format!("rules:{rules}\n  - reply: [text: \"turn ${{turn}}: ${{user}}\"]\n");
    let (mut rig, _called) = Rig::scripted(Permissions::Bypass, Some(&script)).await;
    rig.start().await;
    rig
}

impl Rig {
    async fn ask(&mut self, number: i64, text: &str) -> Vec<RuntimeEvent> {
        self.give(number, text).await;
        self.until_finished().await
    }

    async fn give(&mut self, number: i64, text: &str) {
        self.runtime.prompt(prompt(number, text)).await.unwrap();
    }
}

fn prompt(number: i64, text: &str) -> Prompt {
    Prompt { turn: turn(number), text: text.to_owned(), uuid: format!("u-{text}") }
}

fn finished(number: i64, result: TurnResult) -> RuntimeEvent {
    RuntimeEvent::Finished { turn: turn(number), result }
}

/// Returns the names of the events that say where the loop is.
fn milestones(events: &[RuntimeEvent]) -> Vec<String> {
    let name = |event: &RuntimeEvent| {
        Some(match event {
            RuntimeEvent::Accepted { .. } => "accepted".to_owned(),
            RuntimeEvent::Steered { uuid, .. } => format!("steered {uuid}"),
            RuntimeEvent::Message { .. } => format!("said {}", texts(std::slice::from_ref(event))),
            RuntimeEvent::ToolResult { name, .. } => format!("result of {name}"),
            RuntimeEvent::Compacting => "compacting".to_owned(),
            RuntimeEvent::Compacted { failed } => format!("compacted {failed:?}"),
            RuntimeEvent::Finished { .. } => "finished".to_owned(),
            _ => return None,
        })
    };
    events.iter().filter_map(name).collect()
}

const WAITS: &str = "
  - when: {user: 'wait'}
    reply:
      - text: I wait
      - tool_use: {name: Bash, input: {command: 'until [ -e go ]; do sleep 0.02; done; echo gone'}}
  - when: {tool: Bash}
    reply: [text: 'now: ${user}']";

/// C3: what is added to a turn reaches the model with the running tool's result, and is told before
/// the model's next word.
#[tokio::test]
async fn a_steered_text_reaches_the_model_in_the_same_turn() {
    let mut rig = rig(WAITS).await;
    rig.give(1, "wait for it").await;
    let before = rig.until(|event| matches!(event, RuntimeEvent::Message { .. })).await;
    assert_eq!(milestones(&before), ["accepted", "said I wait"]);
    rig.runtime.steer(prompt(2, "of another turn")).await.unwrap();
    rig.runtime.steer(prompt(1, " ")).await.unwrap();
    rig.runtime.steer(prompt(1, "hurry")).await.unwrap();
    rig.runtime.steer(prompt(1, "please")).await.unwrap();
    // The commands are obeyed in order, and so is this one: then the steering was obeyed too.
    rig.runtime.set_model("standin-guide").await.unwrap();
    std::fs::write(rig.folder.path().join("go"), "").unwrap();
    let after = rig.until_finished().await;
    assert_eq!(
        milestones(&after),
        [
            "result of Bash",
            "steered u-hurry",
            "steered u-please",
            "said turn 2: please",
            "finished",
        ]
    );
    let last = rig.request(2)["messages"][2]["content"].clone();
    assert_eq!((&last[1]["text"], &last[2]["text"]), (&"hurry".into(), &"please".into()));
    assert_eq!(last.as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn what_comes_after_the_last_word_is_never_told_as_steered() {
    let mut rig = rig("").await;
    rig.runtime.steer(prompt(1, "early")).await.unwrap();
    rig.give(1, "hello").await;
    let events = rig.until_finished().await;
    rig.runtime.steer(prompt(1, "late")).await.unwrap();
    assert_eq!(milestones(&events), ["accepted", "said turn 1: hello", "finished"]);
    let events = rig.ask(2, "again").await;
    assert_eq!(milestones(&events), ["accepted", "said turn 2: again", "finished"]);
}

/// C13, R2-11: shortened between turns, with what it cost; a prompt that comes meanwhile
/// waits and then sees the notes.
#[tokio::test]
async fn a_compaction_is_told_and_a_prompt_waits_for_it() {
    let mut rig = rig(NOTES).await;
    rig.ask(1, "remember the plum").await;
    rig.runtime.compact().await.unwrap();
    rig.give(2, "what was it?").await;
    let events = rig.until_finished().await;
    assert_eq!(
        milestones(&events),
        ["compacting", "compacted None", "accepted", "said turn 1: what was it?", "finished",]
    );
    let spent: Vec<(&TurnId, Option<u64>)> = events
        .iter()
        .filter_map(|event| match event {
            RuntimeEvent::Usage { turn, usage } => Some((turn, usage.context_tokens)),
            _ => None,
        })
        .collect();
    assert_eq!(spent.len(), 2);
    assert_eq!(spent[0], (&turn(1), None), "what the notes cost says nothing about the context");
    assert!(spent[1].1.is_some());
    let begin = rig.request(3)["messages"][0]["content"][0]["text"].clone();
    assert!(begin.as_str().unwrap().contains("the notes"), "{begin}");
}

/// R2-10: a compaction that fails is told and changes nothing.
#[tokio::test]
async fn a_compaction_that_fails_is_told() {
    let mut rig = rig("
  - when: {system: '^You write down'}
    reply: [http_error: {status: 400, message: no notes today}]")
    .await;
    rig.runtime.compact().await.unwrap();
    let compacted = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Compacted { .. });
    let nothing = "compacted Some(\"there is nothing to shorten\")";
    assert_eq!(milestones(&rig.until(compacted).await), ["compacting", nothing]);
    rig.ask(1, "hello").await;
    rig.runtime.compact().await.unwrap();
    let events = rig.until(compacted).await;
    let Some(RuntimeEvent::Compacted { failed: Some(why) }) = events.last() else { panic!() };
    assert!(why.contains("no notes today"), "{why}");
    let events = rig.ask(2, "still there?").await;
    assert_eq!(texts(&events), "turn 2: still there?");
}

/// R2-08: a turn that no longer fits is shortened and goes on by itself.
#[tokio::test]
async fn an_overflow_in_mid_turn_is_compacted_and_the_turn_completes() {
    let rules = format!(
        "
  - when: {{user: 'too much'}}
    times: 1
    reply: [overflow]{NOTES}"
    );
    let mut rig = rig(&rules).await;
    rig.ask(1, "hello").await;
    let events = rig.ask(2, "too much").await;
    assert_eq!(
        milestones(&events),
        ["accepted", "compacting", "compacted None", "said turn 1: too much", "finished",]
    );
    assert_eq!(events.last(), Some(&finished(2, TurnResult::Completed)));
}

#[tokio::test]
async fn an_overflow_that_stays_fails_the_turn() {
    let rules = format!(
        "
  - when: {{user: 'too much'}}
    reply: [overflow]{NOTES}"
    );
    let mut rig = rig(&rules).await;
    rig.ask(1, "hello").await;
    let events = rig.ask(2, "too much").await;
    let Some(RuntimeEvent::Finished { result: TurnResult::Failed { kind, .. }, .. }) =
        events.last()
    else {
        panic!("{events:?}")
    };
    assert_eq!(*kind, FailureKind::ContextOverflow);
}

/// C13: after a clearing the model begins anew; the session's id stays, and so it is after a
/// restart. What is asked for in mid-turn is done after it.
#[tokio::test]
async fn a_cleared_session_begins_anew_under_its_id() {
    let mut rig = rig(WAITS).await;
    rig.give(1, "wait for it").await;
    rig.until(|event| matches!(event, RuntimeEvent::Message { .. })).await;
    rig.runtime.clear().await.unwrap();
    std::fs::write(rig.folder.path().join("go"), "").unwrap();
    let events = rig.until_finished().await;
    assert_eq!(texts(&events), "now: wait for it", "the turn keeps its context");
    assert_eq!(texts(&rig.ask(2, "hello").await), "turn 1: hello");
    rig.runtime.stop(StopReason::Restart).await;
    while rig.runtime.next().await.is_some() {}
    let sessions = std::fs::read_dir(rig.folder.path().join("sessions")).unwrap();
    let file = sessions.map(|entry| entry.unwrap().path()).next().unwrap();
    let id = file.file_stem().unwrap().to_str().unwrap().to_owned();
    rig.options.resume = Some(gangline_runtime::SessionId(id.clone()));
    assert_eq!(rig.start().await.0, id);
    assert_eq!(texts(&rig.ask(3, "again").await), "turn 2: again");
}

#[tokio::test]
async fn a_prompt_that_waits_is_interrupted_and_a_stop_ends_the_compaction() {
    let slow = NOTES.replace("200", "60000");
    let mut rig = rig(&slow).await;
    rig.ask(1, "hello").await;
    rig.runtime.compact().await.unwrap();
    assert_eq!(rig.next().await, RuntimeEvent::Compacting);
    rig.give(2, "and this").await;
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(rig.next().await, finished(2, TurnResult::Interrupted));
    rig.give(3, "and that").await;
    rig.runtime.stop(StopReason::Shutdown).await;
    let mut rest = Vec::new();
    while let Some(event) = rig.runtime.next().await {
        rest.push(event);
    }
    let cancelled = Some("the shortening was cancelled".to_owned());
    assert_eq!(
        rest,
        [
            finished(3, TurnResult::Interrupted),
            RuntimeEvent::Compacted { failed: cancelled },
            RuntimeEvent::Exited { code: 0 },
        ]
    );
}

/// R0-65: the level of thinking becomes what the model takes; tokens come with the model's window.
#[tokio::test]
async fn thinking_and_the_context_window_follow_the_model() {
    let script = "
rules:
  - reply:
      - text: hello
      - usage: {input_tokens: 10, output_tokens: 3, cache_read_input_tokens: 5}
";
    let (mut rig, _called) = Rig::scripted(Permissions::Ask, Some(script)).await;
    rig.options.model = Some("haiku".to_owned());
    rig.options.thinking = Some(Thinking::Said("low".to_owned()));
    rig.start().await;
    let events = rig.ask(1, "hi").await;
    let usage = events.iter().find_map(|event| match event {
        RuntimeEvent::Usage { usage, .. } => Some(usage.clone()),
        _ => None,
    });
    assert_eq!(
        usage,
        Some(Usage {
            model: "claude-haiku-5-5".to_owned(),
            input_tokens: 10,
            output_tokens: 3,
            cache_read_tokens: 5,
            cache_write_tokens: 0,
            cost_micros: None,
            context_tokens: Some(18),
            context_window: Some(1_000_000),
        })
    );
    let request = rig.request(1);
    assert_eq!(request["output_config"]["effort"], "low");
    assert_eq!(request["thinking"]["type"], "adaptive");
    rig.runtime.set_model("of-a-gateway").await.unwrap();
    let events = rig.ask(2, "hi").await;
    let window = events.iter().find_map(|event| match event {
        RuntimeEvent::Usage { usage, .. } => Some(usage.context_window),
        _ => None,
    });
    assert_eq!(window, Some(None));
    assert!(rig.request(2).get("thinking").is_none());
}

/// R0-65, C44: a level that the configuration does not name is left to the model.
#[tokio::test]
async fn thinking_that_nobody_asked_for_is_left_to_the_model() {
    let script = "rules:\n  - reply: [text: hello]\n";
    let (mut rig, _called) = Rig::scripted(Permissions::Ask, Some(script)).await;
    rig.options.model = Some("haiku".to_owned());
    rig.options.thinking = Some(Thinking::Usual("medium".to_owned()));
    rig.start().await;
    rig.ask(1, "hi").await;
    let request = rig.request(1);
    assert_eq!((request.get("thinking"), request["output_config"].get("effort")), (None, None));
}

#[tokio::test]
async fn a_refusal_of_the_model_is_a_failure_that_says_so() {
    let mut rig = rig("
  - when: {user: 'bad'}
    reply: [{stop_reason: refusal}]")
    .await;
    let events = rig.ask(1, "bad things").await;
    let why = "the model declined to continue with this".to_owned();
    let failed = TurnResult::Failed { kind: FailureKind::Other, why };
    assert_eq!(events.last(), Some(&finished(1, failed)));
    assert_eq!(texts(&rig.ask(2, "hello").await), "turn 1: hello", "it is not sent again");
}
