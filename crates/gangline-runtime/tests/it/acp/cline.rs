//! The real Cline.

use gangline_runtime::{Answer, FailureKind, RuntimeEvent, StopReason, TurnResult};
use gangline_testkit::programs;

use super::rig::{self, Rig, kill, no};

const SCRIPT: &str = r#"
rules:
  - when: {user: 'run (.+)'}
    reply: [text: "on it", tool_use: {name: run_commands, input: {commands: ["$1"]}}]
  - when: {user: 'post (.+)'}
    reply: [tool_use: {name: send, input: {text: "$1"}}]
  - when: {user: 'slow'}
    reply: [text: "begun ", delay_ms: 60000, text: "ended"]
  - when: {user: 'e401'}
    reply: [http_error: {status: 401, message: "Unauthorized key"}]
  - when: {user: 'e429'}
    reply: [http_error: {status: 429, message: "Rate limit exceeded", headers: {retry-after: "1"}}]
  - when: {user: 'e400'}
    reply: [http_error: {status: 400, message: "bad thing"}]
  - when: {user: 'too long'}
    reply: [overflow]
  - when: {user: 'mute'}
    reply: [text: " "]
  - when: {tool_result: 'sent'}
    reply: [text: "posted"]
  - when: {tool_result: 'rejected'}
    reply: [text: "refused"]
  - when: {tool_result: '(?s)out'}
    reply: [text: "ran"]
  - reply: [text: "turn ${turn}"]
"#;

async fn cline() -> Rig {
    let mut rig = rig::real("cline", &programs::cline(), SCRIPT).await;
    // Takes servers over stdio only: a bridge in the place of the daemon's own.
    rig.bridge();
    rig
}

/// R0-02 … R0-21, C5, C7: one session of the real program: an answer, tools allowed and refused,
/// the daemon's own tool by a file, an interrupt, another model, errors, an empty session, a death
/// in mid-turn, and the same session afterwards. No process of it is left.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
async fn a_session_of_the_real_program() {
    let mut rig = cline().await;
    let (_, notices) = rig.opened().await;
    assert_eq!(notices, [""; 0]);
    let done = rig.ask(1, "hello").await;
    assert_eq!(done.text(), "turn 1");
    assert!(done.accepted() && *done.result() == TurnResult::Completed, "{done:#?}");
    assert!(rig.requests().iter().any(|it| it.contains("You are oak-ada.")));
    assert!(rig.models_asked().contains("first"), "{:?}", rig.models_asked());

    let (done, asks) = rig.decided(2, "run echo hi > made; echo out", Answer::Allow).await;
    assert_eq!((asks.len(), asks[0].tool.as_str()), (1, "Bash"), "{done:#?}");
    assert_eq!(asks[0].input["command"], "echo hi > made; echo out");
    assert!(rig.path("work").join("made").exists() && done.text() == "on it\nran", "{done:#?}");
    let (done, _) = rig.decided(3, "run touch never", no()).await;
    assert!(!rig.path("work").join("never").exists());
    assert!(done.text().ends_with("refused"), "{done:#?}");
    let (done, asks) = rig.decided(4, "post words", no()).await;
    assert!(asks.is_empty() && done.text() == "posted", "{done:#?}");
    assert_eq!(rig.calls.recv().await.unwrap().turn, rig::turn(4));

    for (number, text) in [(5, "slow"), (6, "run touch never")] {
        rig.say(number, text).await;
        rig.until(|event| match event {
            RuntimeEvent::Accepted { .. } => number == 5,
            RuntimeEvent::ApprovalAsked { .. } => true,
            _ => false,
        })
        .await;
        rig.runtime.interrupt().await.unwrap();
        let rest = rig.until_finished().await;
        let turn = rig::turn(number);
        let end = RuntimeEvent::Finished { turn, result: TurnResult::Interrupted };
        assert_eq!(rest.last(), Some(&end), "{rest:#?}");
    }

    rig.runtime.set_model("second").await.unwrap();
    let done = rig.ask(7, "which").await;
    assert_eq!(done.notices(), [""; 0]);
    assert!(rig.models_asked().contains("second"), "{:?}", rig.models_asked());
    let done = rig.ask(8, "e401").await;
    assert!(matches!(done.result(), TurnResult::NeedsLogin { .. }), "{done:#?}");
    let done = rig.ask(9, "e400").await;
    let failed = |done: &rig::Done, kind, words: &str| matches!(done.result(), TurnResult::Failed { kind: k, why } if *k == kind && why.contains(words));
    assert!(failed(&done, FailureKind::Provider, "bad thing"), "{done:#?}");
    let done = rig.ask(10, "mute").await;
    assert!(failed(&done, FailureKind::Other, "it hides why"), "{done:#?}");

    let done = rig.ask(15, "e429").await;
    assert!(matches!(done.result(), TurnResult::RateLimited { .. }), "{done:#?}");

    let session = rig.runtime.session().unwrap().session.unwrap();
    rig.say(11, "slow").await;
    rig.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    kill(rig.pid.unwrap());
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert_eq!(rig.processes(), [""; 0]);
    rig.options.resume = Some(session.clone());
    assert_eq!(rig.opened().await, (session.clone(), Vec::new()));
    let done = rig.ask(12, "again").await;
    assert!(done.text().starts_with("turn ") && done.text() != "turn 1", "{done:#?}");
    let done = rig.ask(13, "too long").await;
    assert!(!matches!(done.result(), TurnResult::Completed), "{done:#?}");
    rig.runtime.clear().await.unwrap();
    assert_eq!(rig.ask(14, "fresh").await.text(), "turn 1");
    rig.runtime.stop(StopReason::Shutdown).await;
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: 0 }));
    assert_eq!(rig.processes(), [""; 0]);
}
