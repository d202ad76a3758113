//! The real program: how hard its model thinks, by what the model is asked (R1-11).

use gangline_core::effort::{Effort, EffortLevel};
use gangline_runtime::Mode;

use super::rig::Rig;
use crate::effort;

/// Where a request has the effort.
const EFFORT: &str = "/body/output_config/effort";

async fn rig(thinking: Option<&str>) -> Rig {
    let script = effort::script("Bash", "{command: PAUSE, description: x}");
    Rig::claude(&script).await.thinking(thinking)
}

/// R1-11: raised before a prompt, it is the effort of each request of that turn, and lowered it is the
/// one of the file, or the program's own if the file's word is none of the program's.
#[tokio::test]
async fn the_effort_is_raised_for_a_turn_and_lowered_after() {
    for (thinking, ground) in [(Some("low"), "low"), (Some("as usual"), "medium")] {
        let mut rig = rig(thinking).await;
        effort::is_raised_for_a_turn(&mut rig, EFFORT, ground).await;
    }
}

/// R1-11: in a running turn it is taken for the next one; the highest level stays.
#[tokio::test]
async fn the_effort_of_a_running_turn_stays() {
    let mut rig = rig(Some("xhigh")).await;
    rig.start().await;
    effort::is_raised_in_a_turn(&mut rig, EffortLevel::Max).await;
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
