//! The real program: how hard its model thinks, by what the model is asked (R1-11).

use gangline_core::effort::{Effort, EffortLevel};
use gangline_runtime::StopReason;

use super::rig::Rig;
use crate::effort;

/// Where a request has the effort.
const EFFORT: &str = "/body/reasoning/effort";

async fn rig(thinking: Option<&str>) -> Rig {
    let script = effort::script("exec_command", "{cmd: PAUSE, yield_time_ms: 30000}");
    Rig::codex(&script).await.thinking(thinking)
}

/// R1-11: raised before a prompt, it is the effort of each request of that turn, and lowered it is the
/// one of the file, or else the model's own.
#[tokio::test]
async fn the_effort_is_raised_for_a_turn_and_lowered_after() {
    for (thinking, ground) in [(Some("low"), "low"), (None, "medium")] {
        let mut rig = rig(thinking).await;
        effort::is_raised_for_a_turn(&mut rig, EFFORT, ground).await;
    }
}

/// R1-11: in a running turn it is taken for the next one; a session that is resumed has its ground
/// level.
#[tokio::test]
async fn the_effort_of_a_running_turn_stays_and_a_resumed_session_forgets_it() {
    let mut rig = rig(Some("low")).await;
    let session = rig.start().await;
    effort::is_raised_in_a_turn(&mut rig, EffortLevel::High).await;
    rig.runtime.stop(StopReason::Shutdown).await;
    rig.options.resume = Some(session);
    rig.start().await;
    rig.ask(3, "three").await;
    assert_eq!(rig.efforts(EFFORT), ["low", "low", "high", "low"]);
}

/// R1-11: a model that the program does not know has no level to go back to.
#[tokio::test]
async fn the_effort_of_an_unknown_model_stays() {
    let mut rig = rig(None).await;
    rig.options.model = Some("of-a-gateway".to_owned());
    rig.start().await;
    rig.runtime.set_effort(Effort::Raised).await.unwrap();
    let done = rig.ask(1, "one").await;
    assert_eq!((done.efforts(), rig.efforts(EFFORT)), (vec![], vec![String::new()]));
}
