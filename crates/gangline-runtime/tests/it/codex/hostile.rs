//! A program that misbehaves in the place of Codex.

use std::time::Duration;

use gangline_runtime::{
    FailureKind, Mode, RuntimeError, RuntimeEvent, SessionId, StopReason, TurnResult,
};
use gangline_testkit::hostile::Play;

use super::rig::{Done, Rig};

/// What the operator sees of a play: how the one turn ended, if it did, and the exit.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// The turn was answered, and the session goes on.
    Answered,
    /// It ended as a failure of no provider's, and the session goes on.
    Failed,
    /// It was taken back or cut off by us: a stop was needed.
    Stopped,
    /// The program went away, with this code.
    Exited(i32),
}

async fn play(rig: &mut Rig, play: Play) -> (Seen, Done) {
    rig.begin().await;
    rig.say(1, "x").await;
    let over = |event: &RuntimeEvent| match event {
        RuntimeEvent::Finished { .. } | RuntimeEvent::Exited { .. } => true,
        // It says no more: the daemon's watchdog would come.
        RuntimeEvent::Accepted { .. } => {
            matches!(play, Play::SilentInTheTurn | Play::IgnoresTerm)
        }
        _ => false,
    };
    let mut seen =
        if play == Play::SilentFromTheStart { Vec::new() } else { rig.until(over).await };
    match seen.last() {
        Some(RuntimeEvent::Finished { result: TurnResult::Completed, .. }) => {
            (Seen::Answered, Done(seen))
        }
        Some(RuntimeEvent::Finished {
            result: TurnResult::Failed { kind: FailureKind::Other, .. },
            ..
        }) => (Seen::Failed, Done(seen)),
        Some(RuntimeEvent::Exited { code }) => (Seen::Exited(*code), Done(seen)),
        _ => {
            rig.runtime.stop(StopReason::Stuck).await;
            seen.extend(rig.rest().await);
            assert_eq!(seen.last(), Some(&RuntimeEvent::Exited { code: 0 }), "{seen:?}");
            (Seen::Stopped, Done(seen))
        }
    }
}

/// R0-09, R0-11, R0-20, C7: whatever the program does wrong, its turn is settled once, its exit is
/// told, nothing of it is left, and memory stays bounded.
#[tokio::test]
async fn each_misbehaviour_is_seen_as_what_it_is_and_leaves_nothing() {
    for of in Play::ALL {
        let mut rig = Rig::hostile(of);
        if of == Play::RefusesResume {
            rig.options.resume = Some(SessionId("t-0".to_owned()));
        }
        let before = gangline_os::proc::pss_kib(std::process::id()).unwrap_or_default();
        let (seen, done) = play(&mut rig, of).await;
        let after = gangline_os::proc::pss_kib(std::process::id()).unwrap_or_default();
        assert!(after.saturating_sub(before) < 60 * 1024, "{of:?}: {before} KiB, then {after} KiB");
        let (expected, words) = match of {
            Play::Good | Play::AnswersTwice | Play::Grandchild | Play::FloodsStderr => {
                (Seen::Answered, "")
            }
            Play::EndlessLine => (Seen::Answered, "a line of 100000000 bytes"),
            Play::InvalidUtf8 | Play::Garbage => (Seen::Answered, "not a message"),
            Play::UnknownEvents => (Seen::Answered, "malformed `item/completed`"),
            Play::SuccessWithoutAWord => (Seen::Failed, ""),
            Play::SilentFromTheStart | Play::SilentInTheTurn | Play::IgnoresTerm => {
                (Seen::Stopped, "")
            }
            Play::ExitsAfterThePrompt
            | Play::ExitsInAText
            | Play::ExitsInATool
            | Play::AsksAndDies => (Seen::Exited(7), "ended with code 7"),
            Play::RefusesResume => (Seen::Exited(-1), "cannot be resumed"),
        };
        assert_eq!(seen, expected, "{of:?}: {done:?}");
        if expected == Seen::Answered {
            assert_eq!(done.text(), "all well", "{of:?}: {done:?}");
        }
        let told = done.notices().iter().any(|text| text.contains(words));
        assert!(words.is_empty() || told, "{of:?}: {done:?}");
        if matches!(expected, Seen::Answered | Seen::Failed) {
            // A second end of the first turn is nobody's, and the session goes on.
            let again = rig.ask(2, "y").await;
            let ends = again.0.iter().filter(|it| matches!(it, RuntimeEvent::Finished { .. }));
            assert_eq!(ends.count(), 1, "{of:?}: {again:?}");
            rig.runtime.stop(StopReason::Restart).await;
            assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: 0 }), "{of:?}");
        }
        assert_eq!(rig.processes(), [""; 0], "{of:?}");
    }
}

/// C7: of a program that refuses a session for a reason that may pass, nothing new is begun: the
/// daemon tries again, and then without the session.
#[tokio::test]
async fn a_refused_session_is_the_daemon_s_to_give_up() {
    let mut rig = Rig::hostile(Play::RefusesResume);
    rig.options.resume = Some(SessionId("t-0".to_owned()));
    rig.begin().await;
    let rest = rig.rest().await;
    assert!(!rest.iter().any(|it| matches!(it, RuntimeEvent::Ready { .. })), "{rest:?}");
    rig.options.resume = None;
    assert_eq!(rig.start().await, SessionId("t-1".to_owned()));
}

async fn start_error(rig: &mut Rig) -> String {
    match rig.runtime.start(rig.options.clone()).await {
        Err(RuntimeError::Start { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

/// What cannot be started says what to do: no program, one that is too old, one that is something
/// else, a way of running that is not there.
#[tokio::test]
async fn a_program_that_cannot_be_used_is_told_with_the_way_out() {
    let mut rig = Rig::hostile(Play::Good);
    let path = rig.path("codex");
    for (script, words) in [
        ("#!/bin/sh\necho 'codex-cli 0.142.0'\n", "version 0.142.0, and at least 0.169.0"),
        ("#!/bin/sh\necho hello\n", "it is not Codex"),
        ("#!/bin/sh\nexit 1\n", "it is not Codex"),
    ] {
        rig.set_program(&path, script);
        let why = start_error(&mut rig).await;
        assert!(why.contains(words) && why.contains("npm install"), "{why}");
    }
    for missing in ["/nowhere/codex", "codex-that-nobody-has"] {
        rig.options.command = Some(vec![missing.to_owned()]);
        let why = start_error(&mut rig).await;
        assert!(why.contains(missing) && why.contains("npm install"), "{why}");
    }
    rig.options.command = Some(Vec::new());
    assert!(start_error(&mut rig).await.contains("`command`"));
    rig.options.mode = Mode::PerTurn;
    assert!(start_error(&mut rig).await.contains("one process"));
    assert!(!rig.runtime.runs());
}

/// R0-08: an interrupt of a turn that says nothing more is answered by its end.
#[tokio::test]
async fn a_silent_turn_is_interrupted() {
    let mut rig = Rig::hostile(Play::SilentInTheTurn);
    rig.start().await;
    rig.say(1, "x").await;
    rig.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    rig.runtime.interrupt().await.unwrap();
    let done = tokio::time::timeout(Duration::from_secs(60), rig.until_finished()).await.unwrap();
    assert_eq!(Done(done).result(), &TurnResult::Interrupted);
}
