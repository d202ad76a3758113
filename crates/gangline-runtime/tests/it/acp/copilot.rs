//! The real GitHub Copilot.

use gangline_runtime::{
    Answer, FailureKind, RuntimeEvent, SessionFilter, StopReason, TurnResult, Usage,
};
use gangline_testkit::programs;

use super::rig::{self, Rig, kill, no};

const SCRIPT: &str = r#"
rules:
  - when: {user: 'run (.+)'}
    reply: [text: "on it", tool_use: {name: Bash, input: {command: "$1", description: "gangline-send"}}]
  - when: {user: 'post (.+)'}
    reply: [tool_use: {name: send, input: {text: "$1"}}]
  - when: {user: 'slow'}
    reply: [text: "begun ", delay_ms: 60000, text: "ended"]
  - when: {user: 'e401'}
    reply: [http_error: {status: 401, message: "Unauthorized key"}]
  - when: {user: 'e404'}
    reply: [http_error: {status: 404, message: "no such model"}]
  - when: {user: 'too long'}
    reply: [overflow]
  - when: {user: 'refused: (.+?)\.'}
    reply: [text: "I was told: $1"]
  - when: {tool_result: 'sent'}
    reply: [text: "posted"]
  - when: {tool_result: 'out'}
    reply: [text: "ran"]
  - reply: [text: "turn ${turn}"]
"#;

async fn copilot() -> Rig {
    rig::real("copilot", &programs::copilot(), SCRIPT).await
}

/// R0-02 … R0-21, C5, C7: one session of the real program: an answer, tools allowed and refused,
/// the daemon's own tool, tokens of one turn, an interrupt, another model, errors that come as
/// texts, an empty session, a death in mid-turn, the same session afterwards, and the list.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
async fn a_session_of_the_real_program() {
    let mut rig = copilot().await;
    let (first, notices) = rig.opened().await;
    assert_eq!(notices, [""; 0]);
    let done = rig.ask(1, "hello").await;
    assert_eq!(done.text(), "turn 1");
    assert!(done.accepted() && *done.result() == TurnResult::Completed, "{done:#?}");
    assert!(rig.requests().iter().any(|it| it.contains("You are oak-ada.")));

    // The title of the call is the model's own word for it.
    let (done, asks) = rig.decided(2, "run echo hi > made; echo out", Answer::Allow).await;
    assert_eq!((asks.len(), asks[0].tool.as_str()), (1, "Bash"), "{done:#?}");
    assert_eq!(asks[0].input["command"], "echo hi > made; echo out");
    assert!(rig.path("work").join("made").exists() && done.text() == "on it\nran", "{done:#?}");
    let all: Vec<Usage> = rig.ask(3, "count").await.usage();
    // Of this turn, not of all so far.
    assert!((1_000..20_000).contains(&all[0].input_tokens), "{all:?}");
    assert!(all[0].context_tokens.is_some_and(|it| it > 0), "{all:?}");

    let (done, _) = rig.decided(4, "run touch never", no()).await;
    assert!(!rig.path("work").join("never").exists());
    assert!(done.text().ends_with("I was told: a person refused this"), "{done:#?}");
    let (done, asks) = rig.decided(5, "post words", no()).await;
    assert!(asks.is_empty() && done.text() == "posted", "{done:#?}");
    assert_eq!(rig.calls.recv().await.unwrap().turn, rig::turn(5));

    for (number, text) in [(6, "slow"), (7, "run touch never")] {
        rig.say(number, text).await;
        rig.until(|event| match event {
            RuntimeEvent::Accepted { .. } => number == 6,
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

    rig.runtime.set_model("lab/second").await.unwrap();
    let done = rig.ask(8, "which").await;
    assert_eq!(done.notices(), [""; 0]);
    assert!(rig.models_asked().contains("second"), "{:?}", rig.models_asked());
    let done = rig.ask(9, "e401").await;
    assert!(matches!(done.result(), TurnResult::NeedsLogin { .. }), "{done:#?}");
    assert_eq!(done.text(), "");
    let failed = |done: &rig::Done, kind| matches!(done.result(), TurnResult::Failed { kind: k, .. } if *k == kind);
    let done = rig.ask(10, "e404").await;
    assert!(failed(&done, FailureKind::Request), "{done:#?}");
    let done = rig.ask(11, "too long").await;
    assert!(failed(&done, FailureKind::ContextOverflow), "{done:#?}");

    rig.say(12, "slow").await;
    rig.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    kill(rig.pid.unwrap());
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert_eq!(rig.processes(), [""; 0]);
    rig.options.resume = Some(first.clone());
    assert_eq!(rig.opened().await, (first.clone(), Vec::new()));
    let done = rig.ask(13, "again").await;
    assert!(done.text().starts_with("turn ") && done.text() != "turn 1", "{done:#?}");
    rig.runtime.compact().await.unwrap();
    let ends = |event: &RuntimeEvent| matches!(event, RuntimeEvent::Compacted { .. });
    let seen = rig.until(ends).await;
    assert_eq!(seen, [RuntimeEvent::Compacting, RuntimeEvent::Compacted { failed: None }]);
    rig.runtime.clear().await.unwrap();
    assert_eq!(rig.ask(14, "fresh").await.text(), "turn 1");
    rig.runtime.stop(StopReason::Shutdown).await;
    assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: 0 }));

    let filter = SessionFilter { workdir: Some(rig.path("work")), limit: 9 };
    let kept = rig.runtime.list_sessions(&rig.options, &filter).await.unwrap();
    assert_eq!(kept.len(), 2);
    assert!(kept.iter().any(|it| it.session == Some(first.clone())));
    assert!(kept[0].started_at >= kept[1].started_at);
    assert_eq!(rig.processes(), [""; 0]);
}
