//! A program that misbehaves in the place of Claude Code, in both ways in which it runs.

use std::fs;

use gangline_runtime::{Mode, RuntimeEvent, SessionId, StopReason, TurnResult};
use gangline_testkit::hostile::{self, Play};
use serde_json::json;

use super::rig::{Done, Rig};

/// What the operator sees of a play: how the one turn ended, if it did, and the exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// The turn was answered, and the session goes on.
    Answered,
    /// It ended as a failure, and the session goes on.
    Failed,
    /// It was cut off by us: a stop was needed.
    Stopped,
    /// The program went away, with this code.
    Exited(i32),
}

fn rig(play: Play, mode: Mode) -> Rig {
    let mut rig = Rig::of("claude", Vec::new());
    let program = hostile::claude().program(play, &rig.path(""));
    rig.options.command = Some(vec![program.display().to_string()]);
    rig.options.mode = mode;
    if play == Play::RefusesResume {
        // It has a transcript; else nobody would ask the program for it.
        let id = "0191f2c4-0000-7000-8000-000000000001";
        let workdir = rig.options.workdir.display().to_string();
        let dash = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let project =
            rig.path("home/.claude/projects").join(workdir.chars().map(dash).collect::<String>());
        fs::create_dir_all(&project).unwrap();
        fs::write(project.join(format!("{id}.jsonl")), json!({ "cwd": workdir }).to_string())
            .unwrap();
        rig.options.resume = Some(SessionId(id.to_owned()));
    }
    rig
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
    let how = match seen.last() {
        Some(RuntimeEvent::Finished { result: TurnResult::Completed, .. }) => Seen::Answered,
        Some(RuntimeEvent::Finished { result: TurnResult::Failed { .. }, .. }) => Seen::Failed,
        Some(RuntimeEvent::Exited { code }) => Seen::Exited(*code),
        _ => {
            rig.runtime.stop(StopReason::Stuck).await;
            seen.extend(rig.rest().await);
            assert_eq!(seen.last(), Some(&RuntimeEvent::Exited { code: 0 }), "{seen:?}");
            Seen::Stopped
        }
    };
    (how, Done(seen))
}

/// R0-09, R0-11, R0-20, R2-02, C7: whatever the program does wrong, its turn is settled once, its
/// exit is told, nothing of it is left, and memory stays bounded; with a process for each turn as
/// with one for all.
#[tokio::test]
async fn each_misbehaviour_is_seen_as_what_it_is_and_leaves_nothing() {
    for mode in [Mode::Resident, Mode::PerTurn] {
        for of in Play::ALL {
            check(of, mode).await;
        }
    }
}

async fn check(of: Play, mode: Mode) {
    let name = format!("{of:?}, {mode:?}");
    let mut rig = rig(of, mode);
    let before = gangline_os::proc::pss_kib(std::process::id()).unwrap_or_default();
    let (seen, done) = play(&mut rig, of).await;
    let after = gangline_os::proc::pss_kib(std::process::id()).unwrap_or_default();
    assert!(after.saturating_sub(before) < 60 * 1024, "{name}: {before} KiB, then {after} KiB");
    let (expected, words) = match of {
        Play::Good | Play::AnswersTwice | Play::Grandchild | Play::FloodsStderr => {
            (Seen::Answered, "")
        }
        Play::EndlessLine => (Seen::Answered, "a line of 100000000 bytes"),
        Play::InvalidUtf8 | Play::Garbage => (Seen::Answered, "not a message"),
        Play::UnknownEvents => (Seen::Answered, "malformed `assistant`"),
        // The program has no other word for a turn in which there was nothing to say.
        Play::SuccessWithoutAWord => (Seen::Answered, ""),
        Play::SilentFromTheStart | Play::SilentInTheTurn | Play::IgnoresTerm => (Seen::Stopped, ""),
        Play::ExitsAfterThePrompt | Play::ExitsInAText | Play::ExitsInATool | Play::AsksAndDies => {
            (Seen::Exited(7), "ended with code 7")
        }
        Play::RefusesResume => (Seen::Exited(1), "No conversation found"),
    };
    assert_eq!(seen, expected, "{name}: {done:?}");
    let told = done
        .0
        .iter()
        .any(|event| matches!(event, RuntimeEvent::Notice { text } if text.contains(words)));
    assert!(words.is_empty() || told, "{name}: {done:?}");
    let ends = |of: &Done| {
        of.0.iter().filter(|event| matches!(event, RuntimeEvent::Finished { .. })).count()
    };
    assert!(ends(&done) <= 1, "{name}: {done:?}");
    if matches!(expected, Seen::Answered | Seen::Failed) {
        let text = if of == Play::SuccessWithoutAWord { "" } else { "all well" };
        assert_eq!(done.text(), text, "{name}: {done:?}");
        // A second end of the first turn is nobody's, and the session goes on.
        let again = rig.ask(2, "y").await;
        assert_eq!((ends(&again), again.text().as_str()), (1, text), "{name}: {again:?}");
        rig.runtime.stop(StopReason::Restart).await;
        assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: 0 }), "{name}");
    }
    assert_eq!(rig.processes(), [""; 0], "{name}");
}

/// C7: of a session that is refused nothing new is begun by itself: the daemon tries again, and
/// then without it.
#[tokio::test]
async fn a_refused_session_is_the_daemon_s_to_give_up() {
    for mode in [Mode::Resident, Mode::PerTurn] {
        let mut rig = rig(Play::RefusesResume, mode);
        rig.begin().await;
        rig.say(1, "x").await;
        let rest = rig.rest().await;
        assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: 1 }), "{mode:?}: {rest:?}");
        rig.runtime.stop(StopReason::Restart).await;
        rig.options.resume = None;
        rig.start().await;
        assert_eq!(rig.ask(1, "x").await.text(), "all well", "{mode:?}");
        rig.runtime.stop(StopReason::Restart).await;
    }
}
