//! The real program: how hard its model thinks, by what the model is asked (R1-11).

use gangline_core::effort::{Effort, EffortLevel};
use gangline_runtime::{Mode, RuntimeEvent};

use super::rig::Rig;

const SCRIPT: &str = r#"
rules:
  - when: {user: 'pause'}
    reply: [tool_use: {name: Bash, input: {command: "touch paused; until [ -e go ]; do sleep 0.1; done; rm go paused", description: "x"}}]
  - reply: [text: "yes"]
"#;

/// Where a request has the effort.
const EFFORT: &str = "/body/output_config/effort";

async fn rig(thinking: Option<&str>) -> Rig {
    Rig::claude(SCRIPT).await.thinking(thinking)
}

/// R1-11: raised before a prompt, it is the effort of each request of that turn, and lowered it is the
/// one of the file, or the program's own if the file's word is none of the program's.
#[tokio::test]
async fn the_effort_is_raised_for_a_turn_and_lowered_after() {
    for (thinking, ground) in [(Some("low"), "low"), (Some("as usual"), "medium")] {
        let mut rig = rig(thinking).await;
        rig.start().await;
        rig.ask(1, "one").await;
        rig.runtime.set_effort(Effort::Raised).await.unwrap();
        std::fs::write(rig.path("work/go"), "").unwrap();
        let done = rig.ask(2, "pause").await;
        assert_eq!(done.efforts(), [Some(EffortLevel::High)], "{done:?}");
        rig.runtime.set_effort(Effort::Ground).await.unwrap();
        let done = rig.ask(3, "three").await;
        assert_eq!(done.efforts(), [None], "{done:?}");
        assert_eq!(rig.efforts(EFFORT), [ground, "high", "high", ground]);
    }
}

/// R1-11: in a running turn it is taken for the next one; the highest level stays.
#[tokio::test]
async fn the_effort_of_a_running_turn_stays() {
    let mut rig = rig(Some("xhigh")).await;
    rig.start().await;
    rig.say(1, "pause").await;
    rig.until_there("work/paused").await;
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    let raised = RuntimeEvent::Effort { raised: Some(EffortLevel::Max) };
    rig.until(|event| *event == raised).await;
    std::fs::write(rig.path("work/go"), "").unwrap();
    rig.done().await;
    rig.ask(2, "two").await;
    assert_eq!(rig.efforts(EFFORT), ["xhigh", "xhigh", "max"]);

    let mut rig = self::rig(Some("max")).await;
    rig.start().await;
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    let done = rig.ask(1, "one").await;
    assert_eq!((done.efforts(), rig.efforts(EFFORT)), (vec![], vec!["max".to_owned()]));
}

/// R1-11: of one process for each turn too.
#[tokio::test]
async fn the_process_of_a_turn_is_started_with_the_effort() {
    let mut rig = rig(Some("low")).await;
    rig.options.mode = Mode::PerTurn;
    rig.start().await;
    for (number, effort, expect) in [
        (1, Effort::Raised, [Some(EffortLevel::High)].as_slice()),
        (2, Effort::Raised, &[]),
        (3, Effort::Ground, &[None]),
        (4, Effort::Ground, &[]),
    ] {
        rig.runtime.set_effort(effort).await.unwrap();
        assert_eq!(rig.ask(number, "x").await.efforts(), expect);
    }
    assert_eq!(rig.efforts(EFFORT), ["high", "high", "low", "low"]);
}
