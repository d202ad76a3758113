//! Who watches the loop does not depend on it.

use std::time::Duration;

use crate::rig::{ADA, ROOM, Rig, said};

const TICK: Duration = Duration::from_secs(30);

/// C7: a loop that stands still is noticed by a daemon that goes on, and the daemon ends: somebody else starts
/// it anew. The open turn is nobody's interruption: its message goes back, and no crash of the backend is told.
#[test]
fn a_loop_that_stands_still_ends_the_daemon_and_its_turn_is_done_again() {
    let script = "rules:\n  - times: 1\n    reply: [delay_ms: 600000, text: late]\n  - reply: [text: \
                  'what?']";
    let rig = Rig::native(script, "");
    let daemon = rig.start_with_root_apart();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada hello");
    rig.was_asked(1);
    rig.clock.is_waited_for(TICK);
    rig.clock.block_tasks();
    // Something to do, over which it stands still.
    ori.say(ROOM, "@lab-ada and this");
    rig.clock.has_blocked();
    // Asked once; not answered by the next tick.
    for _ in 0..2 {
        rig.clock.is_waited_for(TICK);
        rig.clock.forward(TICK);
    }
    rig.clock.is_waited_for(Duration::from_secs(3));
    rig.clock.free_tasks();
    let ended = daemon.ended();
    assert_eq!(ended.code, 1);
    assert!(ended.why.contains("the agent loop"), "{}", ended.why);
    let told = "SELECT count(*) FROM events WHERE kind = 'alert' AND payload LIKE '%crashed%'";
    assert_eq!(rig.query(told), ["0"]);
    let daemon = rig.start();
    let states = "SELECT state FROM messages WHERE origin <> 'system' ORDER BY id";
    rig.sees(states, &["answered", "answered"]);
    for _ in 0..2 {
        ori.hears(ADA, ROOM, "what?");
    }
    let said = said(&mut ori);
    assert!(!said.iter().any(|text| text.contains("no answer")), "{said:?}");
    assert_eq!(daemon.stop().code, 0);
}

/// A loop that turns is asked at each tick, for as long as it answers.
#[test]
fn a_loop_that_turns_is_left_alone() {
    let rig = Rig::native("rules:\n  - reply: [text: 'what?']", "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    for _ in 0..5 {
        rig.clock.is_waited_for(TICK);
        rig.clock.forward(TICK);
        ori.say(ROOM, "@lab-ada hello");
        ori.hears("lab-ada", ROOM, "what?");
    }
    assert_eq!(daemon.stop().code, 0);
}
