//! Programs that misbehave in a terminal.

use gangline_os::proc;
use gangline_runtime::{RuntimeEvent, StopReason};
use gangline_testkit::hostile::{Hostile, Play};
use serde_json::json;

use super::rig::{Done, Rig};

/// How a play ends: with an answer, or with this in the words of its end.
enum End {
    Answer,
    Failed(&'static str),
    Exit(i32),
    /// Only by the daemon's own time-out.
    Never,
    NotReady,
}

/// What a play does to a terminal; `None` where it has nothing to do with one.
fn end_of(play: Play) -> Option<End> {
    match play {
        Play::Good | Play::Grandchild | Play::EndlessLine | Play::InvalidUtf8 | Play::Garbage => {
            Some(End::Answer)
        }
        Play::SilentFromTheStart => Some(End::NotReady),
        Play::SilentInTheTurn | Play::IgnoresTerm => Some(End::Never),
        Play::ExitsAfterThePrompt | Play::ExitsInAText => Some(End::Exit(7)),
        Play::SuccessWithoutAWord => Some(End::Failed("has shown nothing")),
        // A flood of lines is played by `yes` elsewhere: these would take a minute.
        Play::FloodsStderr
        | Play::ExitsInATool
        | Play::UnknownEvents
        | Play::AsksAndDies
        | Play::AnswersTwice
        | Play::RefusesResume => None,
    }
}

/// Whatever a program does, its turn is settled or waits for the daemon's time-out, and nothing of
/// it is left.
#[tokio::test]
async fn no_play_leaves_a_turn_open_or_a_process_behind() {
    let few = |play: &Play| *play != Play::EndlessLine;
    check(Play::ALL.into_iter().filter(few)).await;
}

/// The same of one that writes a line without end; tmux's memory stays small.
#[tokio::test]
async fn no_flood_leaves_a_turn_open_or_a_process_behind() {
    check([Play::EndlessLine]).await;
}

async fn check(plays: impl IntoIterator<Item = Play>) {
    for play in plays {
        let Some(end) = end_of(play) else { continue };
        // Only one of them never begins; the others may begin on a busy machine.
        let start = if let End::NotReady = end { 3_000 } else { 60_000 };
        let screen = json!({"like": "lines", "start_within_ms": start});
        let mut rig = Rig::new(&[], screen);
        let program = Hostile::terminal().program(play, &rig.path("work"));
        rig.options.command = Some(vec![program.display().to_string()]);
        if let End::NotReady = end {
            rig.begin().await;
            assert_eq!(rig.rest().await.last(), Some(&RuntimeEvent::Exited { code: -1 }));
            assert_eq!(rig.run_processes(), [], "{play:?}");
            continue;
        }
        rig.start().await;
        rig.say(1, "hello").await;
        match end {
            End::Answer => {
                let done = rig.done().await;
                assert!(done.text().ends_with("you said hello"), "{play:?}: {:?}", done.result());
                let server =
                    rig.run_processes().into_iter().find(|(_, line)| line.contains(" -D "));
                let memory = proc::pss_kib(server.unwrap().0).unwrap();
                assert!(memory < 128 * 1024, "{play:?}: {memory} KiB");
            }
            End::Failed(why) => {
                let done = rig.done().await;
                assert!(done.why().contains(why), "{play:?}: {done:?}");
            }
            End::Exit(code) => {
                let seen = Done(rig.rest().await);
                assert_eq!(
                    seen.0.last(),
                    Some(&RuntimeEvent::Exited { code }),
                    "{play:?}: {seen:?}"
                );
            }
            End::Never | End::NotReady => {
                rig.until_accepted().await;
                rig.runtime.interrupt().await.unwrap();
            }
        }
        rig.runtime.stop(StopReason::Stuck).await;
        assert_eq!(rig.run_processes(), [], "{play:?}");
    }
}
