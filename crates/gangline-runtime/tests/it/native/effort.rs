//! How hard the loop's model thinks, by what it is asked (R1-11).

use gangline_core::effort::{Effort, EffortLevel};
use gangline_runtime::Thinking;

use super::*;

const SCRIPT: &str = "rules:
  - when: {user: wait}
    reply: [tool_use: {name: Bash, input: {command: 'touch waits; until [ -e go ]; do sleep 0.02; done; rm go'}}]
  - reply: [text: hello]";

async fn rig(model: &str, thinking: Option<&str>) -> Rig {
    let (mut rig, _called) = Rig::scripted(Permissions::Bypass, Some(SCRIPT)).await;
    rig.options.model = Some(model.to_owned());
    rig.options.thinking = thinking.map(|word| Thinking::Said(word.to_owned()));
    rig.start().await;
    rig
}

/// Whether that is expected to change anything.
#[derive(PartialEq)]
enum Raises {
    Yes,
    No,
}

/// Has the effort raised while a tool of the turn runs; returns what was told of it in the turn.
async fn raised_in_turn(rig: &mut Rig, raises: Raises) -> Vec<Option<EffortLevel>> {
    let mut seen = Vec::new();
    rig.say(1, "wait").await;
    while !rig.folder.path().join("waits").exists() {
        crate::rig::look_again().await;
    }
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    // The commands are obeyed in order, and what this one tells comes after what that one tells.
    rig.runtime
        .steer(Prompt { turn: turn(1), text: "and".to_owned(), uuid: "s".to_owned() })
        .await
        .unwrap();
    if raises == Raises::Yes {
        seen = rig.until(|event| matches!(event, RuntimeEvent::Effort { .. })).await;
    }
    std::fs::write(rig.folder.path().join("go"), "").unwrap();
    seen.extend(rig.until_finished().await);
    seen.into_iter()
        .filter_map(|event| match event {
            RuntimeEvent::Effort { raised } => Some(raised),
            _ => None,
        })
        .collect()
}

fn effort(rig: &Rig, number: u64) -> Option<String> {
    rig.request(number)["output_config"]["effort"].as_str().map(str::to_owned)
}

/// R1-11: the next request of the running turn thinks harder, and once it is lowered none does; where
/// the file says nothing, nothing is asked for again.
#[tokio::test]
async fn the_effort_is_raised_in_the_running_turn_and_lowered_after() {
    for (thinking, ground) in [(Some("low"), Some("low".to_owned())), (None, None)] {
        let mut rig = rig("haiku", thinking).await;
        let told = raised_in_turn(&mut rig, Raises::Yes).await;
        assert_eq!(told, [Some(EffortLevel::High)]);
        rig.runtime.set_effort(Effort::Ground).await.unwrap();
        rig.say(2, "hi").await;
        rig.until_finished().await;
        let efforts = [1, 2, 3].map(|number| effort(&rig, number));
        assert_eq!(efforts, [ground.clone(), Some("high".to_owned()), ground]);
    }
}

/// R1-11: the highest level stays, and so does that of a model that cannot be told; one that takes a
/// number of tokens is not told in the middle of a turn.
#[tokio::test]
async fn a_model_that_cannot_think_harder_is_not_told() {
    for (model, thinking) in
        [("haiku", Some("high")), ("of-a-gateway", None), ("claude-haiku-4-5", None)]
    {
        let mut rig = rig(model, thinking).await;
        assert_eq!(raised_in_turn(&mut rig, Raises::No).await, [], "{model}");
        let asked = |number: u64| {
            let request = rig.request(number);
            (request.get("thinking").cloned(), request.get("output_config").cloned())
        };
        assert_eq!(asked(1), asked(2), "{model}");
    }
    let mut rig = rig("claude-haiku-4-5", None).await;
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    rig.say(1, "hi").await;
    rig.until_finished().await;
    assert_eq!(rig.request(1)["thinking"]["budget_tokens"], 24_576);
}
