//! The real program: how hard its model thinks, by what the model is asked (R1-11).

use gangline_core::effort::{Effort, EffortLevel};
use gangline_runtime::{Permissions, RuntimeEvent, StopReason, Thinking};

use super::rig::{Done, Rig};

const SCRIPT: &str = r#"
rules:
  - when: {user: 'pause'}
    reply: [tool_use: {name: exec_command, input: {cmd: "touch paused; until [ -e go ]; do sleep 0.1; done; rm go paused", yield_time_ms: 30000}}]
  - reply: [text: "yes"]
"#;

async fn rig(thinking: Option<&str>) -> Rig {
    let mut rig = Rig::codex(SCRIPT).await;
    rig.options.permissions = Permissions::Bypass;
    rig.options.thinking = thinking.map(|word| Thinking::Said(word.to_owned()));
    rig
}

/// The effort of each request to the model so far.
fn efforts(rig: &Rig) -> Vec<String> {
    let effort = |request: &String| {
        let json: serde_json::Value = serde_json::from_str(request).unwrap();
        json.pointer("/body/reasoning/effort")?.as_str().map(str::to_owned)
    };
    rig.requests().iter().map(|request| effort(request).unwrap_or_default()).collect()
}

/// What was told of the effort.
fn told(done: &Done) -> Vec<Option<EffortLevel>> {
    let told = |event: &RuntimeEvent| match event {
        RuntimeEvent::Effort { raised } => Some(*raised),
        _ => None,
    };
    done.0.iter().filter_map(told).collect()
}

/// R1-11: raised before a prompt, it is the effort of each request of that turn, and lowered it is the
/// one of the file, or else the model's own.
#[tokio::test]
async fn the_effort_is_raised_for_a_turn_and_lowered_after() {
    for (thinking, ground) in [(Some("low"), "low"), (None, "medium")] {
        let mut rig = rig(thinking).await;
        rig.start().await;
        rig.ask(1, "one").await;
        rig.runtime.set_effort(Effort::Raised).await.unwrap();
        std::fs::write(rig.path("work/go"), "").unwrap();
        let done = rig.ask(2, "pause").await;
        assert_eq!(told(&done), [Some(EffortLevel::High)], "{done:?}");
        rig.runtime.set_effort(Effort::Ground).await.unwrap();
        let done = rig.ask(3, "three").await;
        assert_eq!(told(&done), [None], "{done:?}");
        assert_eq!(efforts(&rig), [ground, "high", "high", ground]);
    }
}

/// R1-11: in a running turn it is taken for the next one; a session that is resumed has its ground
/// level.
#[tokio::test]
async fn the_effort_of_a_running_turn_stays_and_a_resumed_session_forgets_it() {
    let mut rig = rig(Some("low")).await;
    let session = rig.start().await;
    rig.say(1, "pause").await;
    rig.until_there("work/paused").await;
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    let raised = RuntimeEvent::Effort { raised: Some(EffortLevel::High) };
    rig.until(|event| *event == raised).await;
    std::fs::write(rig.path("work/go"), "").unwrap();
    rig.done().await;
    rig.ask(2, "two").await;
    rig.runtime.stop(StopReason::Shutdown).await;
    rig.options.resume = Some(session);
    rig.start().await;
    rig.ask(3, "three").await;
    assert_eq!(efforts(&rig), ["low", "low", "high", "low"]);
}

/// R1-11: a model that the program does not know has no level to go back to.
#[tokio::test]
async fn the_effort_of_an_unknown_model_stays() {
    let mut rig = rig(None).await;
    rig.options.model = Some("of-a-gateway".to_owned());
    rig.start().await;
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    let done = rig.ask(1, "one").await;
    assert_eq!((told(&done), efforts(&rig)), (vec![], vec![String::new()]));
}
