//! The real program: its begin, its end, and what becomes of the session.

use gangline_runtime::{
    Command, Permissions, Prompt, Refusal, RuntimeError, RuntimeEvent, SessionFilter, SessionId,
    StopReason, TurnResult, adapters,
};

use super::rig::{Done, Rig, turn};

const WORK: &str = r#"
rules:
  - when: {user: 'CONTEXT CHECKPOINT COMPACTION'}
    reply: [text: "we talked"]
  - when: {user: 'work'}
    reply: [tool_use: {name: exec_command, input: {cmd: "exec tail -f notes.txt"}}]
  - when: {user: 'approve'}
    reply: [tool_use: {name: exec_command, input: {cmd: "touch approved"}}]
  - when: {user: 'long'}
    reply: [delay_ms: 30000, text: "at last"]
  - when: {tool: exec_command}
    reply: [text: "it ran"]
  - reply: [text: "turn ${turn}: ${user}"]
"#;

const SHELL: &str = "tail -f notes.txt";

async fn rig() -> Rig {
    let mut rig = Rig::codex(WORK).await;
    rig.options.permissions = Permissions::Bypass;
    rig
}

/// R0-12, C23: a second prompt is refused as busy. R0-08: an interrupt ends the command that runs,
/// its process too, and the turn; also while the model is silent, and before the prompt was even
/// taken; the session goes on.
#[tokio::test]
async fn an_interrupt_ends_the_tool_and_the_turn() {
    let mut rig = rig().await;
    rig.start().await;
    rig.runtime.interrupt().await.unwrap();
    rig.say(1, "work").await;
    let second = Prompt { turn: turn(2), text: "too early".to_owned(), uuid: "x".to_owned() };
    let why = rig.runtime.refused(Command::Prompt(second)).await;
    assert!(matches!(why, Refusal::Busy { .. }));
    rig.until_runs(SHELL).await;
    rig.runtime.interrupt().await.unwrap();
    let done = Done(rig.until_finished().await);
    assert_eq!(done.result(), &TurnResult::Interrupted);
    rig.until_gone(SHELL).await;
    assert!(rig.ask(3, "after").await.text().ends_with(": after"));

    rig.say(4, "long").await;
    rig.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    rig.runtime.interrupt().await.unwrap();
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(Done(rig.until_finished().await).result(), &TurnResult::Interrupted);
    rig.say(5, "long").await;
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(Done(rig.until_finished().await).result(), &TurnResult::Interrupted);
    assert!(rig.ask(6, "after").await.text().ends_with(": after"));
}

/// R0-08: a turn that waits for an approval is ended as well; the approval is gone.
#[tokio::test]
async fn an_interrupt_ends_a_turn_that_waits_for_an_approval() {
    let mut rig = rig().await;
    rig.options.permissions = Permissions::Ask;
    rig.start().await;
    rig.say(1, "approve").await;
    let seen = rig.until(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })).await;
    let Some(RuntimeEvent::ApprovalAsked { ask, .. }) = seen.last() else { panic!("{seen:?}") };
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(Done(rig.until_finished().await).result(), &TurnResult::Interrupted);
    let answer = gangline_runtime::Answer::Allow;
    let reply = gangline_runtime::ApprovalReply { request: ask.request.clone(), answer };
    rig.runtime.decide(reply).await.unwrap();
    assert!(rig.ask(2, "after").await.text().ends_with(": after"));
    assert!(!rig.path("work").join("approved").exists());
}

/// R0-08 … R0-11, R0-20, R3-03: stop ends an open turn, tells the exit with code 0, and leaves no
/// process. R0-16: the session goes on under its id, with its history. R3-04: the program's
/// sessions are listed, and a handle tells whether its program runs.
#[tokio::test]
async fn a_stopped_session_leaves_nothing_and_is_resumed() {
    let mut rig = rig().await;
    let session = rig.start().await;
    let handle = rig.runtime.session().unwrap();
    let other = adapters::make("codex").unwrap();
    assert_eq!(handle.runs(), Some(true));
    rig.ask(1, "remember plum").await;
    rig.say(2, "work").await;
    rig.until_runs(SHELL).await;
    rig.runtime.stop(StopReason::Shutdown).await;
    let rest = rig.rest().await;
    assert_eq!(rig.processes(), [""; 0]);
    assert_eq!(rest.last(), Some(&RuntimeEvent::Exited { code: 0 }));
    let end = RuntimeEvent::Finished { turn: turn(2), result: TurnResult::Interrupted };
    assert_eq!(rest.iter().filter(|event| **event == end).count(), 1, "{rest:?}");
    assert_eq!((rig.runtime.runs(), handle.runs()), (false, Some(false)));

    let list = |workdir| SessionFilter { workdir, limit: 10 };
    let own = list(Some(rig.path("work")));
    let listed = other.list_sessions(&rig.options, &own).await.unwrap();
    let ids: Vec<_> = listed.iter().map(|it| it.session.clone().unwrap()).collect();
    assert_eq!(ids, std::slice::from_ref(&session));
    assert_eq!((&listed[0].workdir, listed[0].pid), (&rig.path("work"), None));
    let elsewhere = list(Some(rig.path("home")));
    assert_eq!(other.list_sessions(&rig.options, &elsewhere).await.unwrap(), []);

    rig.options.resume.clone_from(&listed[0].session);
    rig.begin().await;
    assert_eq!(rig.until_ready().await.0, session);
    rig.ask(3, "and now").await;
    let last = rig.requests().pop().unwrap();
    assert!(last.contains("remember plum") && last.contains("and now"));
    assert_eq!(rig.processes().iter().filter(|it| it.contains("app-server")).count(), 1);
}

/// R0-20, R0-21, C7: a program that is killed in the middle of a tool is told as an exit, what it
/// had started is ended, and the session goes on with its history and its tools.
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
    let asked = rig.requests().pop().unwrap();
    assert!(asked.contains("remember plum") && asked.contains(r#""name": "send""#));
    assert!(!rig.processes().iter().any(|line| line.contains(SHELL)));
}

/// R0-16, C7: a session that has had no turn, or that is not there, begins anew, which is told.
#[tokio::test]
async fn a_session_that_is_not_there_begins_anew() {
    let mut rig = rig().await;
    for lost in [rig.start().await, SessionId("no-such-session".to_owned())] {
        rig.runtime.stop(StopReason::Restart).await;
        rig.options.resume = Some(lost.clone());
        rig.begin().await;
        let seen = rig.until(|event| matches!(event, RuntimeEvent::Ready { .. })).await;
        let [RuntimeEvent::Notice { text }, RuntimeEvent::Ready { session }] = &seen[..] else {
            panic!("{seen:?}")
        };
        assert!(text.contains("is not there") && text.contains(&lost.0), "{text}");
        assert_ne!(session, &lost);
        assert_eq!(rig.ask(1, "hello").await.text(), "turn 1: hello");
    }
}

fn session_of(events: &[RuntimeEvent]) -> Option<SessionId> {
    events.iter().find_map(|event| match event {
        RuntimeEvent::Session { session } => Some(session.clone()),
        _ => None,
    })
}

/// R1-06, R0-43, C13: a compaction is told from begin to end, keeps the session, and a prompt that
/// comes meanwhile waits. R0-16: clearing changes the session's id, by which it is resumed.
#[tokio::test]
async fn the_context_is_shortened_and_cleared_between_turns() {
    let mut rig = rig().await;
    let first = rig.start().await;
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
    assert_eq!(rig.runtime.session().unwrap().session, Some(second.clone()));
    rig.runtime.stop(StopReason::Restart).await;
    rig.options.resume = Some(second.clone());
    assert_eq!(rig.start().await, second);
    assert_eq!(rig.ask(5, "again").await.text(), "turn 2: again");
}

/// A compaction that the model's server refuses is told as what it is, and hinders no prompt.
#[tokio::test]
async fn a_compaction_that_fails_is_told() {
    let script = WORK.replace(r#"[text: "we talked"]"#, "[http_error: {status: 400}]");
    let mut rig = Rig::codex(&script).await;
    rig.start().await;
    rig.ask(1, "one").await;
    rig.runtime.compact().await.unwrap();
    let seen = rig.until(|event| matches!(event, RuntimeEvent::Compacted { .. })).await;
    let Some(RuntimeEvent::Compacted { failed: Some(why) }) = seen.last() else {
        panic!("{seen:?}")
    };
    assert!(!why.is_empty());
    assert!(rig.ask(2, "after").await.text().ends_with(": after"));
}

/// R3-05: a home of its own is made, private; one that the program cannot use is refused with the
/// way out.
#[tokio::test]
async fn an_account_of_its_own_has_its_folder() {
    use std::os::unix::fs::PermissionsExt;
    let mut rig = rig().await;
    let account = rig.path("account");
    rig.options.account_dir = Some(account.clone());
    rig.start().await;
    rig.ask(1, "hello").await;
    let mode = std::fs::metadata(&account).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    assert!(account.join("sessions").exists() && !rig.path("home").join(".codex").exists());
    assert!(!account.join("config.toml").exists(), "nothing of the user's is written");
    rig.runtime.stop(StopReason::Restart).await;

    rig.options.account_dir = Some(rig.path("tmp").join("account"));
    let Err(RuntimeError::Start { why, .. }) = rig.runtime.start(rig.options.clone()).await else {
        panic!("it started")
    };
    assert!(why.contains("below the temporary folder") && why.contains("account_dir"), "{why}");
}
