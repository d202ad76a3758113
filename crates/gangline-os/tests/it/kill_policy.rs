//! The kill policy against programs that end at once, late or never.

use std::time::Duration;

use gangline_os::{
    exit::Exit,
    kill::Signal,
    process::{Child, KillPolicy},
};
use tokio::time::timeout;

use crate::support::{DEADLINE, Known, known, line, output, sh, soon, start, state, until};

const SHORT: Duration = Duration::from_millis(50);

fn kill_policy(term_after: Duration, kill_after: Duration) -> KillPolicy {
    KillPolicy { term_after, kill_after }
}

fn code(code: i32) -> Exit {
    Exit { code: Some(code), signal: None }
}

fn signal(signal: i32) -> Exit {
    Exit { code: None, signal: Some(signal) }
}

/// Starts a script that first says the pids it wants watched; its own is watched too.
async fn started(script: &str) -> (Child, Vec<Known>) {
    let mut child = start(sh(script));
    let said = line(&mut output(&mut child)).await;
    let others = said.split_whitespace().map(|pid| known(pid.parse().unwrap()));
    let all = std::iter::once(known(child.pid())).chain(others).collect();
    (child, all)
}

#[track_caller]
fn all_gone(child: &Child, all: &[Known]) {
    assert_eq!(child.group_members(), Vec::<u32>::new());
    for one in all {
        assert!(!one.alive(), "{one:?} of {all:?}");
    }
}

#[tokio::test]
async fn a_child_that_ends_with_its_input_is_not_signalled() {
    let (mut child, all) = started("trap 'exit 9' TERM; echo; cat >/dev/null; exit 3").await;
    let never = 1000 * DEADLINE;
    assert_eq!(soon(child.end(&kill_policy(never, never))).await, code(3));
    all_gone(&child, &all);
}

#[tokio::test]
async fn a_child_that_does_not_read_gets_term() {
    let (mut child, all) = started("trap 'exit 9' TERM; echo; while :; do sleep 0.01; done").await;
    assert_eq!(child.end(&kill_policy(SHORT, DEADLINE)).await, code(9));
    all_gone(&child, &all);
}

/// R0-09: the wait for an end is over at last.
#[tokio::test]
async fn a_shell_that_ignores_term_is_killed_with_its_grandchild() {
    let script =
        "trap '' TERM; (while :; do sleep 1000; done) & echo $!; while :; do sleep 1000; done";
    let (mut child, all) = started(script).await;
    assert_eq!(all.len(), 2);
    assert_eq!(child.end(&kill_policy(SHORT, SHORT)).await, signal(9));
    all_gone(&child, &all);
}

#[tokio::test]
async fn members_that_outlive_the_child_are_ended_and_its_exit_is_kept() {
    let script = "sh -c \"trap '' TERM; echo \\$\\$; while :; do sleep 1000; done\" & cat >/dev/null; exit 4";
    let (mut child, all) = started(script).await;
    assert_eq!(all.len(), 2);
    assert_eq!(child.end(&kill_policy(DEADLINE, SHORT)).await, code(4));
    all_gone(&child, &all);
}

/// The script starts no program: a shell stopped while it starts one waits for it unstoppably.
#[tokio::test]
async fn a_stopped_child_is_woken_to_hear_term() {
    let (mut child, all) =
        started("trap 'exit 9' TERM; echo; while :; do read -r line; done").await;
    child.signal_group(Signal::Stop).unwrap();
    let pid = child.pid();
    until("it has stopped", || state(pid) == Some('T')).await;
    assert_eq!(child.end(&kill_policy(SHORT, DEADLINE)).await, code(9));
    all_gone(&child, &all);
}

#[tokio::test]
async fn an_end_that_is_dropped_can_be_begun_again() {
    let (mut child, all) = started("trap '' TERM; echo; while :; do sleep 1000; done").await;
    let slow = kill_policy(SHORT, DEADLINE);
    assert!(timeout(3 * SHORT, child.end(&slow)).await.is_err());
    assert!(all[0].alive());
    assert_eq!(child.end(&kill_policy(SHORT, SHORT)).await, signal(9));
    all_gone(&child, &all);
    assert_eq!(child.end(&slow).await, signal(9));
}

#[tokio::test]
async fn dropping_a_child_kills_its_whole_group() {
    let script =
        "trap '' TERM; (while :; do sleep 1000; done) & echo $!; while :; do sleep 1000; done";
    let (child, all) = started(script).await;
    drop(child);
    for one in all {
        one.gone().await;
    }
}

#[tokio::test]
async fn dropping_a_child_that_has_ended_kills_what_is_left_of_its_group() {
    let (mut child, all) = started("sleep 1000 >/dev/null & echo $!; read -r line; exit 0").await;
    drop(child.take_stdin());
    assert_eq!(soon(child.wait()).await.unwrap(), code(0));
    assert_eq!(child.group_members(), [all[1].pid]);
    drop(child);
    all[1].gone().await;
}

#[tokio::test]
async fn a_zombie_is_no_member_that_runs() {
    let mut child = start(sh("sleep 1000 & echo $!; exec sleep 1000"));
    let member = known(line(&mut output(&mut child)).await.parse().unwrap());
    let leader = child.pid();
    let name = || std::fs::read_to_string(format!("/proc/{leader}/comm")).unwrap_or_default();
    until("the shell, which would wait for its child, is replaced", || name() == "sleep\n").await;
    assert_eq!(child.group_members().len(), 2);
    member.kill();
    until("it has ended", || state(member.pid) == Some('Z')).await;
    assert_eq!(child.group_members(), [leader]);
}
