//! The real program: its begin, its end, and what becomes of the session.

use gangline_runtime::{
    Command, Permissions, Refusal, RuntimeEvent, SessionId, StopReason, TurnResult,
};

use super::rig::{Done, Rig, turn};

const WORK: &str = r#"
rules:
  - when: {user: 'detailed summary'}
    reply: [text: "<summary>we talked</summary>"]
  - when: {user: 'work'}
    reply: [tool_use: {name: Bash, input: {command: "exec tail -f notes.txt", description: "x"}}]
  - when: {user: 'long'}
    reply: [delay_ms: 1500, text: "at last"]
  - when: {tool: Bash}
    reply: [text: "it ran"]
  - reply: [text: "turn ${turn}: ${user}"]
"#;

const SHELL: &str = "tail -f notes.txt";

async fn rig() -> Rig {
    let mut rig = Rig::claude(WORK).await;
    rig.options.permissions = Permissions::Bypass;
    rig
}

/// R0-12, C23: a second prompt is refused as busy. R0-08: an interrupt ends the tool that runs,
/// its process too, and the turn; the session goes on.
#[tokio::test]
async fn an_interrupt_ends_the_tool_and_the_turn() {
    let mut rig = rig().await;
    rig.start().await;
    rig.runtime.interrupt().await.unwrap();
    rig.say(1, "work").await;
    let second = gangline_runtime::Prompt {
        turn: turn(2),
        text: "too early".to_owned(),
        uuid: "x".to_owned(),
    };
    let why = rig.runtime.refused(Command::Prompt(second)).await;
    assert!(matches!(why, Refusal::Busy { .. }));
    rig.until_runs(SHELL).await;
    rig.runtime.interrupt().await.unwrap();
    let done = Done(rig.until_finished().await);
    assert_eq!(done.result(), &TurnResult::Interrupted);
    rig.until_gone(SHELL).await;
    assert!(rig.ask(3, "after").await.text().ends_with(": after"));
}

/// R0-08 … R0-11, R0-20, R3-03: stop ends an open turn, tells the exit with code 0, and leaves no
/// process. R0-16: the session goes on under its id, with its history.
#[tokio::test]
async fn a_stopped_session_leaves_nothing_and_is_resumed() {
    let mut rig = rig().await;
    let session = rig.start().await;
    rig.ask(1, "remember plum").await;
    rig.say(2, "work").await;
    rig.until_runs(SHELL).await;
    rig.runtime.stop(StopReason::Shutdown).await;
    let rest = rig.rest().await;
    assert_eq!(rig.processes(), [""; 0]);
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: 0 }));
    let end = RuntimeEvent::Finished { turn: turn(2), result: TurnResult::Interrupted };
    assert_eq!(rest.iter().filter(|event| **event == end).count(), 1, "{rest:?}");
    assert!(!rig.runtime.runs());

    rig.options.resume = Some(session.clone());
    assert_eq!(rig.start().await, session);
    rig.ask(3, "and now").await;
    let last = rig.requests().pop().unwrap();
    assert!(last.contains("remember plum") && last.contains("and now"));
}

/// R0-20, R0-21, C7: a program that is killed in the middle of a tool is told as an exit, what it
/// had started is ended, and the session goes on with its history.
#[tokio::test]
async fn after_a_kill_nothing_runs_and_the_session_goes_on() {
    let mut rig = rig().await;
    let session = rig.start().await;
    rig.ask(1, "remember plum").await;
    rig.say(2, "work").await;
    rig.until_runs(SHELL).await;
    let kill = gangline_os::kill::Signal::Kill;
    let pid = rig.pid.unwrap();
    let start_time = gangline_os::proc::start_time(pid).unwrap();
    gangline_os::proc::signal_exact(pid, start_time, kill).unwrap();
    let rest = rig.rest().await;
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    assert!(!rest.iter().any(|event| matches!(event, RuntimeEvent::Finished { .. })), "{rest:?}");
    assert_eq!(rig.processes(), [""; 0]);
    rig.runtime.stop(StopReason::Restart).await;

    rig.options.resume = Some(session.clone());
    assert_eq!(rig.start().await, session);
    let done = rig.ask(3, "and now").await;
    assert!(done.text().ends_with("and now"), "{done:?}");
    assert!(rig.requests().pop().unwrap().contains("remember plum"));
    assert!(!rig.processes().iter().any(|line| line.contains(SHELL)));
}

/// R0-16: a session that has had no turn has nothing to be resumed, and begins under the same id;
/// so does one that was lost, which is told.
#[tokio::test]
async fn a_session_without_a_turn_begins_again_under_its_id() {
    let mut rig = rig().await;
    let session = rig.start().await;
    rig.runtime.stop(StopReason::Restart).await;
    rig.options.resume = Some(session.clone());
    let begun = rig.begin().await;
    assert_eq!(begun.session.as_ref(), Some(&session));
    let seen = rig.until(|event| matches!(event, RuntimeEvent::Ready { .. })).await;
    let [RuntimeEvent::Notice { text }, RuntimeEvent::Ready { session: ready }] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert!(text.contains("no transcript"), "{text}");
    assert_eq!(ready, &session);
    assert_eq!(rig.ask(1, "hello").await.text(), "turn 1: hello");
}

fn session_of(events: &[RuntimeEvent]) -> Option<SessionId> {
    events.iter().find_map(|event| match event {
        RuntimeEvent::Session { session } => Some(session.clone()),
        _ => None,
    })
}

/// R1-06: a compaction is told from begin to end, keeps the session, and a prompt that comes
/// meanwhile waits; what cannot be shortened is told. R0-16: clearing changes the session's id, by
/// which it is resumed.
#[tokio::test]
async fn the_context_is_shortened_and_cleared_between_turns() {
    let mut rig = rig().await;
    let first = rig.start().await;
    rig.runtime.compact().await.unwrap();
    let seen = rig.until(|event| matches!(event, RuntimeEvent::Compacted { .. })).await;
    assert!(
        matches!(&seen[..], [RuntimeEvent::Compacting, RuntimeEvent::Compacted { failed: Some(why) }] if why.contains("No messages")),
        "{seen:?}"
    );

    rig.ask(1, "one").await;
    rig.ask(2, "two").await;
    rig.runtime.compact().await.unwrap();
    let done = rig.ask(3, "meanwhile").await;
    let place = |wanted: &RuntimeEvent| done.0.iter().position(|event| event == wanted).unwrap();
    let compacted = place(&RuntimeEvent::Compacted { failed: None });
    assert!(place(&RuntimeEvent::Compacting) < compacted, "{done:?}");
    assert!(compacted < place(&RuntimeEvent::Accepted { turn: turn(3) }), "{done:?}");
    assert!(done.text().ends_with("meanwhile"), "{done:?}");
    assert_eq!(session_of(&done.0), None);
    assert!(rig.requests().pop().unwrap().contains("we talked"));

    rig.runtime.clear().await.unwrap();
    let done = rig.ask(4, "fresh").await;
    let second = session_of(&done.0).expect("a new session");
    assert_ne!(first, second);
    assert_eq!(done.text(), "turn 1: fresh");
    rig.runtime.stop(StopReason::Restart).await;
    rig.options.resume = Some(second.clone());
    assert_eq!(rig.start().await, second);
    assert_eq!(rig.ask(5, "again").await.text(), "turn 2: again");
}

/// Folders of a session are nobody else's, and the program's own files lie in the agent's folder.
#[tokio::test]
async fn its_files_lie_in_folders_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let mut rig = rig().await;
    rig.start().await;
    rig.ask(1, "hello").await;
    let mode =
        |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(rig.path("tmp")), 0o700);
    assert_eq!(mode(rig.path("sessions")), 0o700);
    assert_eq!(mode(rig.path("sessions").join("claude-system-prompt.md")), 0o600);
    assert!(rig.path("tmp").join("cc-socks").exists());
    assert!(rig.requests()[0].contains("You are oak-ada."));
    let environ = std::fs::read(format!("/proc/{}/environ", rig.pid.unwrap())).unwrap();
    let environ = String::from_utf8_lossy(&environ);
    assert!(!environ.contains("CLAUDECODE=") && !environ.contains("somebody-else"), "{environ}");
}
