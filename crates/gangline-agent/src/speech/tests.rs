//! A speaker over a real store, whose agent loop may be gone.

use gangline_core::Epoch;
use gangline_os::clock;
use gangline_store::{OpenOptions, Whose};

use super::*;

/// What is said in a turn after the drain is not stored: no rule would see it. Whoever speaks hears at
/// once that the daemon ends. Outside of a turn no loop is needed.
#[tokio::test]
async fn a_line_of_a_turn_is_not_stored_once_the_loop_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions { path: folder.path().join("gangline.db"), clock: clock::system() };
    let store = Store::open(options).await.unwrap();
    let agent: AgentName = "oak-ada".parse().unwrap();
    let whose = Whose { runtime: "native", configured: "native" };
    store.begin_epoch(&agent, (1, "test"), whose).await.unwrap();
    let (agent_loop, gone) = mpsc::channel(1);
    drop(gone);
    let speaker = Speaker {
        agent: agent.clone(),
        store: store.clone(),
        paths: Paths {
            config_file: "/c".into(),
            state: folder.path().into(),
            runtime: folder.path().into(),
        },
        redactor: Arc::default(),
        agent_loop,
        outbox: Arc::default(),
        committed: watch::Sender::new(0),
        max_hops: 8,
        owners_only: Arc::default(),
    };
    let to: Target = "#lab".parse().unwrap();
    let saying = Saying { to: &to, text: "plum", in_reply_to: None, call: "c1" };
    let turn = TurnId { epoch: Epoch(1), number: 1 };
    let context = TurnContext { turn, messages: Vec::new(), cause_root: None, hops: 0 };
    let late = speaker.say(Some(&context), saying).await.unwrap_err();
    assert_eq!(late.to_string(), "the daemon ends");
    assert_eq!(store.outbox_pending(&agent, 9).await.unwrap().len(), 0);
    assert_eq!(speaker.say(None, saying).await.unwrap(), Said::Sent);
    assert_eq!(store.outbox_pending(&agent, 9).await.unwrap().len(), 1);
}
