//! Tests of what is told about the installation's own server.

use std::fs;

use gangline_os::lock::FileLock;

use super::SOCKETLESS;
use crate::chat::tests::Rig;

/// The own server goes and comes with its hub, and nothing is told of that. A hub that runs without
/// a socket is an older one: that is told once, and what to do.
#[tokio::test]
async fn a_hub_that_runs_without_a_socket_is_called_an_older_one() {
    let mut rig = Rig::open(true).await;
    let chat = &mut rig.chat;
    let paths = chat.deps.paths.clone();
    for _ in 0..2 * SOCKETLESS {
        chat.off_irc("no such file").await;
    }
    assert_eq!(chat.troubles.shown, None, "no hub runs");
    let lock = FileLock::try_take(&paths.hub_lock(), "gangline hub").unwrap();
    for _ in 1..SOCKETLESS {
        chat.off_irc("no such file").await;
    }
    assert_eq!(chat.troubles.shown, None, "a hub that begins has no socket yet");
    for _ in 0..3 {
        chat.off_irc("no such file").await;
    }
    let shown = chat.troubles.shown.clone().unwrap();
    assert!(shown.contains("irc.sock") && shown.contains("gangline restart --hub"), "{shown}");
    fs::write(paths.irc_socket(), "").unwrap();
    chat.off_irc("refused").await;
    assert_eq!(chat.troubles.shown, None, "there is a socket now");
    drop(lock);
}
