//! The end: the backend is ended, what is left is written, and nobody waits for a loop that is gone.

use serde_json::json;

use crate::rig::{ROOM, Rig};

/// While the backend takes its time to end, a request is answered, by what it asked for or by a
/// refusal: it does not wait for a loop that takes no more.
#[test]
fn a_late_request_is_answered_while_the_backend_ends() {
    let rig =
        Rig::program("ready; prompt; words plum; trap '' TERM; cat > /dev/null; gate end", "");
    let end = rig.gate("end");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada hello");
    ori.hears("lab-ada", ROOM, "plum");
    rig.sees("SELECT state FROM messages", &["answered"]);
    let token = daemon.token.clone();
    let (mut late, mut later) = (daemon.dial(), daemon.dial());
    daemon.owner("shutdown");
    rig.sees_phase("down");
    let _ = late.ask(json!({"type": "pause", "token": token}));
    let _ = later.ask(json!({"type": "irc_read", "channel": ROOM}));
    end.open();
    assert_eq!(daemon.ended().code, 0);
}
