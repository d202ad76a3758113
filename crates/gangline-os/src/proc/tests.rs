//! Tests of what is read from `/proc`.

use super::*;

#[test]
fn a_programs_name_may_hold_spaces_brackets_and_lines() {
    let text = "42 (a) b (\n) R 1 42 40 0 -1 4194560 10 0 0 0 7 5 0 0 20 0 1 0 98765 1 2";
    let expect = Stat {
        state: 'R',
        parent: 1,
        group: 42,
        session: 40,
        foreground: None,
        ticks: 12,
        start_time: 98765,
    };
    assert_eq!(parse_stat(text), Some(expect));
    for broken in ["", "42 (a", "42 (a)", "42 (a) R 1 2 3"] {
        assert_eq!(parse_stat(broken), None, "{broken}");
    }
}

#[test]
fn we_ourselves_are_alive_under_our_own_start_time_only() {
    let us = std::process::id();
    let started = start_time(us).unwrap();
    assert!(alive(us, started));
    assert!(!alive(us, started + 1));
    assert!(pss_kib(us).unwrap() > 100);
    assert!(cpu_ticks(us).is_some());
    assert!(own_users_pids().contains(&us));
    assert_eq!(ourselves_and_ancestors().first(), Some(&us));
    assert!(ourselves_and_ancestors().contains(&std::os::unix::process::parent_id()));
}

#[test]
fn of_a_pid_that_nobody_has_nothing_is_known() {
    let nobody = 0x7fff_fff0;
    assert_eq!((start_time(nobody), pss_kib(nobody), cpu_ticks(nobody)), (None, None, None));
    assert!(!alive(nobody, 1));
    assert!(!signal_exact(nobody, 1, Signal::Kill).unwrap());
    assert!(!signal_exact(0, 1, Signal::Kill).unwrap());
}

#[test]
fn no_signal_goes_to_a_process_with_another_start_time() {
    let us = std::process::id();
    assert!(!signal_exact(us, start_time(us).unwrap() + 1, Signal::Kill).unwrap());
}

#[test]
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "a child that nobody waits for")]
fn how_a_process_ended_is_read_until_its_parent_asks() {
    use crate::exit::Exit;
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let ended = |script: &str| {
        let mut child = std::process::Command::new("sh").args(["-c", script]).spawn().unwrap();
        let pid = child.id();
        let only_look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), only_look).unwrap();
        let how = how_ended(pid);
        child.wait().unwrap();
        assert_eq!(how_ended(pid), None, "nobody is there any more");
        how
    };
    assert_eq!(ended("exit 0"), Some(Exit { code: Some(0), signal: None }));
    assert_eq!(ended("exit 7"), Some(Exit { code: Some(7), signal: None }));
    assert_eq!(ended("kill -9 $$"), Some(Exit { code: None, signal: Some(9) }));
    assert_eq!(how_ended(std::process::id()), None);
}

/// A child of ours that nobody waits for, as one is that its parent overlooks.
#[tokio::test]
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "a child that nobody waits for")]
async fn the_end_of_a_process_is_told_though_nobody_reaps_it() {
    let mut child = std::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let ending = Ending::of(child.id()).unwrap();
    let mut again = Box::pin(ending.ended());
    assert!(futures_now(again.as_mut()).is_none(), "it runs");
    drop(again);
    drop(child.stdin.take());
    ending.ended().await;
    // It stays told, also after it was reaped.
    ending.ended().await;
    let late = Ending::of(child.id()).unwrap();
    late.ended().await;
    assert!(child.wait().unwrap().success());
    ending.ended().await;
    Ending::of(0x7fff_fff0).unwrap().ended().await;
    Ending::of(0).unwrap().ended().await;
}

#[test]
fn this_process_runs_the_program_that_lies_there() {
    assert_eq!(was_replaced(std::process::id()), Some(false));
}

/// What a future has already.
fn futures_now<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}
