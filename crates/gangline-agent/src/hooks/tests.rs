//! The program is a real shell; its payloads are made here.

use std::{fs, path::Path, time::Duration};

use gangline_api::event::HookData;
use gangline_config::{AgentConfig, Hooks as Configured};
use gangline_core::hook::HookEvent;
use gangline_os::{
    clock::{self, UnixMicros},
    process::base_env,
};

use super::{HOOK_QUEUE, HookError, HookSender, Program};

fn program(folder: &Path, script: &str, limit: Duration) -> Program {
    let env = base_env().into_iter();
    Program {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        folder: folder.to_owned(),
        env: env
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        limit,
        clock: clock::system(),
    }
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn it_has_the_payload_the_folder_and_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let hook = program(folder.path(), "cat > got; echo $GT_SESSION_ID >> got", LONG);
    hook.run(Some("s-1"), "{\"a\": 1}").await.unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("got")).unwrap(), "{\"a\": 1}\ns-1\n");
}

#[tokio::test]
async fn what_goes_wrong_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let said = async |script: &str| {
        let ended = program(folder.path(), script, LONG).run(None, "{}").await;
        ended.unwrap_err().to_string()
    };
    assert_eq!(said("echo a >&2; echo 'no way' >&2; exit 3").await, "it ended with code 3: no way");
    assert_eq!(said("exit 1").await, "it ended with code 1");
    assert_eq!(said("kill -9 $$").await, "it was ended by signal 9");
    let mut nowhere = program(folder.path(), "", LONG);
    nowhere.command = vec!["/nowhere/hook".to_owned()];
    let error = nowhere.run(None, "{}").await.unwrap_err().to_string();
    assert_eq!(error, "cannot start /nowhere/hook: there is no such file");
    nowhere.command = Vec::new();
    assert!(matches!(nowhere.run(None, "{}").await, Err(HookError::Nothing)));
}

/// A payload larger than a pipe holds does not block a program that does not read.
#[tokio::test]
async fn a_program_that_does_not_read_is_none_the_worse() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "exit 0", LONG).run(None, &"x".repeat(1 << 20)).await.unwrap();
    let talks = "for i in $(seq 3000); do echo $i$i$i$i$i$i$i$i$i$i >&2; done; cat >/dev/null";
    program(folder.path(), talks, LONG).run(None, &"x".repeat(1 << 20)).await.unwrap();
}

#[tokio::test]
async fn one_that_hangs_is_killed_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; sleep 300 & echo $! > pid; wait; wait";
    let hook = program(folder.path(), script, Duration::from_secs(4));
    let error = hook.run(None, "{}").await.unwrap_err();
    assert!(matches!(error, HookError::TimedOut(_)), "{error}");
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

/// What it leaves behind does not hold up the next call, and ends with it.
#[tokio::test]
async fn one_that_leaves_something_running_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let hook = program(folder.path(), "sleep 300 & exit 0", LONG);
    hook.run(None, "{}").await.unwrap();
}

#[tokio::test]
async fn the_queue_is_bounded_and_counts_what_it_dropped() {
    let agent = AgentConfig::new("oak-ada".parse().unwrap(), "/".into());
    let configured = Configured {
        command: vec!["x".to_owned()],
        events: vec![HookEvent::OnError],
        timeout_seconds: 1,
    };
    let (mut sender, calls) = HookSender::new((&agent, "native"), Some(&configured));
    let mut calls = calls.unwrap();
    sender.send(HookEvent::OnMessage, None, "not wanted".to_owned());
    for number in 0..HOOK_QUEUE + 3 {
        sender.send(HookEvent::OnError, None, number.to_string());
    }
    let first = calls.recv().await.unwrap();
    assert_eq!((first.json.as_str(), first.dropped), ("0", 0));
    sender.send(HookEvent::OnError, None, "late".to_owned());
    for _ in 1..HOOK_QUEUE {
        assert_eq!(calls.recv().await.unwrap().dropped, 0);
    }
    let late = calls.recv().await.unwrap();
    assert_eq!((late.json.as_str(), late.dropped), ("late", 3));
    let (sender, none) = HookSender::new((&agent, "native"), None);
    assert!(none.is_none() && !sender.wants(HookEvent::OnError));
}

/// R3-11: a hook's `runtime` is the backend that runs, not the configured one.
#[test]
fn the_runtime_is_the_one_that_is_there() {
    let agent = AgentConfig::new("oak-ada".parse().unwrap(), "/w".into());
    assert_eq!(agent.agent, None);
    let (sender, _) = HookSender::new((&agent, "codex"), None);
    let data = HookData { message: "m".to_owned(), ..HookData::default() };
    let payload = sender.payload(HookEvent::OnMessage, None, (UnixMicros(0), data));
    assert_eq!(payload.runtime, "codex");
}
