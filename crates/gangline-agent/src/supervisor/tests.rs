//! The supervisor's state between ticks.

use std::sync::Arc;

use gangline_core::{
    Epoch,
    agent::{Agent, AgentOptions},
    redact::Redactor,
    watch::Limits,
};
use gangline_os::clock;
use gangline_store::OpenOptions;

use super::*;

/// R1-35: somebody resumed the agent before the escalation was seen in what is shown. The supervisor waits a few
/// ticks for it, and then watches again.
#[tokio::test]
async fn an_escalation_that_is_never_shown_is_over_after_some_ticks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gangline.db");
    let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
    let (clock, redactor) = (clock::system(), Arc::new(Redactor::default()));
    let agent = "oak-ada".parse().unwrap();
    let me = Identity { agent, epoch: Epoch(1), clock, redactor, everybody: Arc::default() };
    let (agent_loop, mut told) = mpsc::channel(8);
    let (_unread, unread) = watch::channel(Unread::default());
    let (_shown, showing) =
        watch::channel(Showing::new(Agent::new(AgentOptions::default()).view()));
    let mut state = State::new("rules", None, None);
    state.escalation = Escalated::Told(0);
    state.status.paused = true;
    let mut supervisor = Supervisor {
        me,
        store,
        agent_loop,
        unread,
        watch: Watch::new(Limits::default()),
        detectors: Detectors::default(),
        model: None,
        state,
    };
    for seen in 1..=UNSEEN_TICKS {
        supervisor.tick(&showing).await;
        assert_eq!(supervisor.state.escalation, Escalated::Told(seen));
    }
    assert!(told.try_recv().is_err());
    supervisor.tick(&showing).await;
    assert_eq!(supervisor.state.escalation, Escalated::No);
    let Ok(Incoming::Watched(status)) = told.try_recv() else { panic!("it is not shown") };
    assert!(!status.paused);
}
