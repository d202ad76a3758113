//! Tests of the queue pair.

use std::path::Path;

use gangline_core::{Epoch, TurnId, effort::Effort};
use tokio::sync::oneshot;

use super::*;
use crate::{ApprovalReply, Prompt, StopReason, TurnResult};

fn options() -> StartOptions {
    StartOptions::within(Path::new("/folder"))
}

fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

fn prompt(number: i64) -> Prompt {
    Prompt { turn: turn(number), text: "hi".to_owned(), uuid: "u".to_owned() }
}

fn decision() -> Command {
    Command::Decide(ApprovalReply { request: "r".to_owned(), answer: crate::Answer::Allow })
}

fn refused(command: Command, why: Refusal) -> RuntimeEvent {
    RuntimeEvent::Refused { command, why }
}

/// C23: a prompt in an open turn is refused, until the task says that none is open.
#[tokio::test]
async fn a_second_prompt_is_refused_until_the_turn_is_over() {
    let (mut session, mut port) = pair("x", &options(), Capabilities::NONE);
    let [one, two, three] = [1, 2, 3].map(|number| Command::Prompt(prompt(number)));
    for command in [&one, &two, &Command::Interrupt] {
        session.commands.try_send(command.clone()).unwrap();
    }
    assert_eq!(port.next().await, Some(one));
    assert_eq!(port.next().await, Some(Command::Interrupt));
    assert_eq!(session.next().await, Some(refused(two, Refusal::Busy { runtime: "x" })));
    port.free();
    session.commands.try_send(three.clone()).unwrap();
    assert_eq!(port.next().await, Some(three));
}

/// What a backend cannot do never reaches its task; interrupts, decisions and stops always do.
#[tokio::test]
async fn what_a_backend_cannot_do_is_refused_and_what_must_arrive_is_not() {
    let (mut session, mut port) = pair("x", &options(), Capabilities::NONE);
    let optional = [
        Command::Steer(prompt(1)),
        Command::Adopt(turn(1)),
        Command::SetModel("m".to_owned()),
        Command::SetEffort(Effort::Raised),
        Command::Compact,
        Command::Clear,
    ];
    let always = [Command::Interrupt, decision(), Command::Stop(StopReason::Stuck)];
    for command in optional.iter().chain(&always) {
        session.commands.try_send(command.clone()).unwrap();
    }
    for command in always {
        assert_eq!(port.next().await, Some(command));
    }
    for asked in optional {
        match session.next().await {
            Some(RuntimeEvent::Refused { command, why: Refusal::Unsupported { .. } }) => {
                assert_eq!(command, asked);
            }
            other => panic!("{asked:?}: {other:?}"),
        }
    }
    let all = Capabilities {
        steer: true,
        begins_turns: true,
        set_model: true,
        effort: EffortChange::NextTurn,
        compact: true,
        clear: true,
        ..Capabilities::NONE
    };
    let (session, mut port) = pair("x", &options(), all);
    for command in [
        Command::Steer(prompt(1)),
        Command::SetEffort(Effort::Ground),
        Command::Adopt(turn(1)),
        Command::Compact,
    ] {
        session.commands.try_send(command.clone()).unwrap();
        assert_eq!(port.next().await, Some(command));
    }
}

/// A refusal that there is no room for is not lost, whatever is polled meanwhile.
#[tokio::test]
async fn a_refusal_waits_for_room() {
    let (mut session, mut port) = pair("x", &options(), Capabilities::NONE);
    for _ in 0..EVENT_QUEUE {
        port.tell(RuntimeEvent::LoggedIn).await;
    }
    session.commands.try_send(Command::Clear).unwrap();
    for _ in 0..3 {
        tokio::select! {
            biased;
            command = port.next() => panic!("{command:?}"),
            () = std::future::ready(()) => {}
        }
    }
    for _ in 0..EVENT_QUEUE {
        assert_eq!(session.next().await, Some(RuntimeEvent::LoggedIn));
    }
    drop(session.commands);
    session.commands = mpsc::channel(1).0;
    assert_eq!(port.next().await, None);
    assert!(matches!(session.next().await, Some(RuntimeEvent::Refused { .. })));
}

/// R0-07: the first prompt is the first command.
#[tokio::test]
async fn the_first_prompt_comes_first() {
    let given = StartOptions { initial_prompt: Some(prompt(7)), ..options() };
    let (session, mut port) = pair("x", &given, Capabilities::NONE);
    session.commands.try_send(Command::Interrupt).unwrap();
    assert_eq!(port.next().await, Some(Command::Prompt(prompt(7))));
    assert_eq!(port.next().await, Some(Command::Interrupt));
}

/// R3-06: the handle follows from what is told.
#[tokio::test]
async fn the_handle_knows_what_was_told() {
    let (session, port) = pair("x", &options(), Capabilities::NONE);
    assert_eq!(session.handle.borrow().ready_at, None);
    let id = |text: &str| SessionId(text.to_owned());
    port.tell(RuntimeEvent::Ready { session: id("one") }).await;
    let ready = session.handle.borrow().clone();
    assert_eq!(ready.session, Some(id("one")));
    assert!(ready.ready_at >= Some(ready.started_at));
    port.tell(RuntimeEvent::Session { session: id("two") }).await;
    assert_eq!(session.handle.borrow().session, Some(id("two")));
    assert!(session.runs());
    drop(port);
    assert!(!session.runs());
}

/// The owner is gone: the task is told to end, and waits for nobody who reads.
#[tokio::test]
async fn a_dropped_session_ends_and_holds_nobody_up() {
    let (session, mut port) = pair("x", &options(), Capabilities::NONE);
    drop(session);
    assert_eq!(port.next().await, None);
    for _ in 0..=EVENT_QUEUE {
        port.tell(RuntimeEvent::LoggedIn).await;
    }
}

/// A task that does not end in time is dropped, and its owner does not wait for what it left behind.
#[tokio::test]
async fn a_task_that_does_not_end_in_time_is_given_up() {
    let (mut session, mut port) = pair("x", &options(), Capabilities::NONE);
    let mut tasks = TaskGroup::new("test");
    let (left_behind, stopped) = oneshot::channel();
    session.run_in(&mut tasks, Duration::from_millis(1), async move {
        let result = TurnResult::Completed;
        port.tell(RuntimeEvent::Finished { turn: turn(1), result }).await;
        assert_eq!(port.next().await, Some(Command::Stop(StopReason::Restart)));
        // As a thread would that hangs.
        let _ = left_behind.send(port);
        std::future::pending::<()>().await;
    });
    assert!(matches!(session.next().await, Some(RuntimeEvent::Finished { .. })));
    session.commands.send(Command::Stop(StopReason::Restart)).await.unwrap();
    let port = stopped.await.unwrap();
    assert_eq!(session.next().await, None);
    assert!(port.is_abandoned());
    tasks.next_end().await.unwrap();
}
