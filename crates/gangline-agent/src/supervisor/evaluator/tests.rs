//! The evaluator over sessions whose other ends the tests hold.

use gangline_core::permission::Permissions;
use gangline_os::clock;
use gangline_runtime::{ApprovalAsk, AssistantMessage, FailureKind, session::SessionPort};
use serde_json::Value;

use super::*;
use crate::session::port::tests::{Far, Rig, options};

struct Fixture {
    evaluator: Evaluator,
    rig: Rig,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut rig = Rig::new();
        let place = |name: &str| folder.path().join(name);
        let options = StartOptions {
            workdir: place("work"),
            session_dir: place("sessions"),
            tmp_dir: place("tmp"),
            permissions: Permissions::Allowlist,
            ..options(None)
        };
        let port = std::mem::replace(&mut rig.port, Rig::new().port);
        let evaluator = Evaluator::new(port, options, (clock::system(), Epoch(1)));
        Self { evaluator, rig, folder }
    }

    /// Begins an evaluation and returns the far end of its session, with its prompt.
    async fn asked(&mut self, number: u64) -> (Far, Prompt) {
        self.evaluator.ask(number, format!("look {number}"));
        self.rig.starts.add_permits(1);
        let opened = &mut self.rig.opened;
        let evaluator = &mut self.evaluator;
        let far = async {
            let mut far = opened.recv().await.unwrap();
            match far.port.next().await.unwrap() {
                Command::Prompt(prompt) => (far, prompt),
                other => panic!("{other:?}"),
            }
        };
        tokio::select! {
            told = evaluator.next() => panic!("{told:?}"),
            asked = far => asked,
        }
    }
}

fn says(turn: TurnId, content: Vec<Block>) -> RuntimeEvent {
    RuntimeEvent::Message { turn, message: AssistantMessage { model: "m".to_owned(), content } }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

async fn finishes(port: &mut SessionPort, turn: TurnId, result: TurnResult) {
    port.free();
    port.tell(RuntimeEvent::Finished { turn, result }).await;
}

/// R0-33, R1-37: each evaluation has a session of its own, whatever was left in its folders is gone, and
/// a tool that its program asks for is refused.
#[tokio::test]
async fn an_evaluation_is_one_session_in_which_nothing_may_run() {
    let mut fixture = Fixture::new();
    let left = fixture.folder.path().join("sessions/left");
    std::fs::create_dir_all(left.parent().unwrap()).unwrap();
    std::fs::write(&left, "x").unwrap();
    let (mut far, prompt) = fixture.asked(7).await;
    assert_eq!(prompt.text, "look 7");
    assert!(!left.exists() && fixture.folder.path().join("work").is_dir());
    let turn = prompt.turn;
    far.port.tell(says(turn, vec![text("let me look")])).await;
    let tool = Block::ToolUse { id: "c".into(), name: "Bash".into(), input: Value::Null };
    far.port.tell(says(turn, vec![tool])).await;
    let ask = ApprovalAsk {
        request: "r".to_owned(),
        tool: "Bash".to_owned(),
        input: Value::Null,
        presumed: false,
        files: Vec::new(),
    };
    far.port.tell(RuntimeEvent::ApprovalAsked { turn, ask }).await;
    let refused = tokio::select! {
        told = fixture.evaluator.next() => panic!("{told:?}"),
        command = far.port.next() => command.unwrap(),
    };
    assert!(
        matches!(&refused, Command::Decide(reply) if matches!(reply.answer, Answer::Deny { .. })),
        "{refused:?}"
    );
    far.port.tell(says(turn, vec![text("OK")])).await;
    finishes(&mut far.port, turn, TurnResult::Completed).await;
    let told = fixture.evaluator.next().await;
    assert_eq!(told, Told::Replied { number: 7, text: "OK\n".to_owned() });
    // Its session ends, and what it still uses is counted.
    let stopped = tokio::select! {
        told = fixture.evaluator.next() => panic!("{told:?}"),
        command = far.port.next() => command.unwrap(),
    };
    assert_eq!(stopped, Command::Stop(StopReason::Shutdown));
    let usage = Usage { input_tokens: 5, ..Usage::default() };
    far.port.tell(RuntimeEvent::Usage { turn, usage: usage.clone() }).await;
    assert_eq!(fixture.evaluator.next().await, Told::Used(usage));
    drop(far);
    fixture.evaluator.end().await;
}

/// A turn that fails, a program that dies and a limit that is reached are told apart; the next
/// evaluation is begun all the same.
#[tokio::test]
async fn what_goes_wrong_is_told_once_and_the_next_one_begins() {
    let mut fixture = Fixture::new();
    let failed = TurnResult::Failed { kind: FailureKind::Auth, why: "401".to_owned() };
    let limited = TurnResult::RateLimited { retry_after: None };
    for (number, result, expected) in [(1, failed, Fault::Backend), (2, limited, Fault::Limit)] {
        let (mut far, prompt) = fixture.asked(number).await;
        finishes(&mut far.port, prompt.turn, result).await;
        match fixture.evaluator.next().await {
            Told::Failed { number: one, fault, .. } => assert_eq!((one, fault), (number, expected)),
            other => panic!("{other:?}"),
        }
        drop(far);
    }
    let (far, _) = fixture.asked(3).await;
    far.port.tell(RuntimeEvent::Notice { text: "no such model".to_owned() }).await;
    drop(far);
    let told = fixture.evaluator.next().await;
    let why = "no such model".to_owned();
    assert_eq!(told, Told::Failed { number: 3, why, fault: Fault::Backend });
}

/// R1-35: an evaluation that nobody wants any more says nothing.
#[tokio::test]
async fn a_forgotten_evaluation_gives_no_verdict() {
    let mut fixture = Fixture::new();
    let (mut far, prompt) = fixture.asked(1).await;
    fixture.evaluator.forget();
    far.port.tell(says(prompt.turn, vec![text("CORRECTION no")])).await;
    finishes(&mut far.port, prompt.turn, TurnResult::Completed).await;
    drop(far);
    let (mut far, prompt) = fixture.asked(2).await;
    far.port.tell(says(prompt.turn, vec![text("OK")])).await;
    finishes(&mut far.port, prompt.turn, TurnResult::Completed).await;
    let told = fixture.evaluator.next().await;
    assert_eq!(told, Told::Replied { number: 2, text: "OK\n".to_owned() });
}
