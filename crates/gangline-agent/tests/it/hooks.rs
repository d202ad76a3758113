//! A hook that does not do what it should.

use std::{fs, time::Duration};

use gangline_testkit::eventually_seeing;

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = "rules:\n  - when: {user: 'say (\\w+)'}\n    reply: [text: \"$1\"]\n";

/// R3-10: a hook that fails or hangs is told of, and no turn waits for it. One that is wanted for
/// errors only is not run for anything else.
#[test]
fn a_hook_that_fails_or_hangs_harms_no_turn() {
    let limit = Duration::from_secs(400);
    let rig = Rig::native(
        SCRIPT,
        "hooks: {command: [sh, -c, 'case $(cat) in *SessionStart*) echo broken >&2; exit 7;; *) echo $$ \
         >> hangs; exec sleep 300;; esac'], events: [SessionStart, OnMessage], timeout_seconds: 400}",
    );
    let daemon = rig.start();
    let mut eve = rig.member("eve");
    for word in ["one", "two", "three"] {
        eve.say(ROOM, &format!("@lab-ada say {word}"));
        eve.hears(ADA, ROOM, word);
    }
    let told = "SELECT json_extract(payload, '$.text') FROM events WHERE kind = 'notice' AND \
                json_extract(payload, '$.code') = 'hook_failed' ORDER BY seq";
    let late = "the hook for OnMessage failed: it did not end within 400 s and was killed";
    let first = "the hook for SessionStart failed: it ended with code 7: broken";
    for count in 1..=3 {
        eventually_seeing("one more that hangs", || {
            let pids = rig.lines("hangs").len();
            if pids == count { Ok(()) } else { Err(pids.to_string()) }
        });
        rig.clock.is_waited_for(limit);
        rig.clock.forward(limit);
        rig.sees(told, &[&[first][..], &[late; 3][..count]].concat());
    }
    for pid in rig.lines("hangs") {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
    assert_eq!(daemon.stop().code, 0);
}
