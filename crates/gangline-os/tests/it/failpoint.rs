//! Fail points in a process of their own.

use gangline_os::failpoint::{EXIT_CODE, VARIABLE};
use gangline_os::{exit::Exit, kill::Signal};

use crate::support::{errors, rest, role, soon, start, state, until};

async fn check(armed: &str, passed: &[&str], exit: Exit) {
    let mut child = start(role("pass-failpoint", &[(VARIABLE, armed)]));
    let lines = rest(&mut errors(&mut child)).await;
    assert_eq!(lines, passed, "{armed}");
    assert_eq!(soon(child.wait()).await.unwrap(), exit, "{armed}");
}

#[tokio::test]
async fn a_fail_point_kills_exits_or_fails_at_the_passing_that_is_named() {
    let killed = Exit { code: None, signal: Some(9) };
    let exited = Exit { code: Some(EXIT_CODE), signal: None };
    let fine = Exit { code: Some(0), signal: None };
    check("test.point=kill", &[], killed).await;
    check("test.point=kill@3", &["passed 1 false", "passed 2 false"], killed).await;
    check("other=kill;test.point=exit@2", &["passed 1 false"], exited).await;
    let second = ["passed 1 false", "passed 2 true", "passed 3 false"];
    check("test.point=error@2", &second, fine).await;
}

#[tokio::test]
async fn a_stopped_process_goes_on_when_it_is_told() {
    let mut child = start(role("pass-failpoint", &[(VARIABLE, "test.point=stop@2")]));
    let pid = child.pid();
    until("it has stopped itself", || state(pid) == Some('T')).await;
    child.signal_group(Signal::Cont).unwrap();
    assert_eq!(rest(&mut errors(&mut child)).await.len(), 3);
    assert!(soon(child.wait()).await.unwrap().success());
}
