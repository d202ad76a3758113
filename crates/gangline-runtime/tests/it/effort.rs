//! How hard the model of a real program thinks: what the tests of each program do alike (R1-11).

use gangline_core::effort::{Effort, EffortLevel};
use gangline_runtime::RuntimeEvent;

use crate::rig::Rig;

/// Returns a script whose model runs [`PAUSE`] with this tool when it is told `pause`, and else says yes.
pub(crate) fn script(tool: &str, input: &str) -> String {
    let input = input.replace("PAUSE", PAUSE);
    format!(
        "rules:
  - when: {{user: 'pause'}}
    reply: [tool_use: {{name: {tool}, input: {input}}}]
  - reply: [text: 'yes']
"
    )
}

/// Tells that it runs, and ends when it may.
const PAUSE: &str = "\"touch paused; until [ -e go ]; do sleep 0.1; done; rm go paused\"";

/// Has three turns, the second one with a raised effort and two requests; each request has its effort at
/// `pointer`.
pub(crate) async fn is_raised_for_a_turn(rig: &mut Rig, pointer: &str, ground: &str) {
    rig.start().await;
    rig.ask(1, "one").await;
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    std::fs::write(rig.path("work/go"), "").unwrap();
    let done = rig.ask(2, "pause").await;
    assert_eq!(done.efforts(), [Some(EffortLevel::High)], "{done:?}");
    rig.runtime.set_effort(Effort::Ground).await.unwrap();
    let done = rig.ask(3, "three").await;
    assert_eq!(done.efforts(), [None], "{done:?}");
    assert_eq!(rig.efforts(pointer), [ground, "high", "high", ground]);
}

/// Raises the effort, to this level, while the first turn runs, and has another turn.
pub(crate) async fn is_raised_in_a_turn(rig: &mut Rig, level: EffortLevel) {
    rig.say(1, "pause").await;
    rig.until_there("work/paused").await;
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    let raised = RuntimeEvent::Effort { raised: Some(level) };
    rig.until(|event| *event == raised).await;
    std::fs::write(rig.path("work/go"), "").unwrap();
    rig.done().await;
    rig.ask(2, "two").await;
}
