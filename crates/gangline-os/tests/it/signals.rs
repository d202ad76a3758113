//! Requests to stop, and the others.

use gangline_os::kill::Signal;

use crate::support::{errors, line, role, soon, start};

#[tokio::test]
async fn each_request_to_stop_is_told_and_none_ends_the_process() {
    let mut child = start(role("hear-signals", &[]));
    let mut lines = errors(&mut child);
    assert_eq!(line(&mut lines).await, "ready");
    child.signal_group(Signal::Term).unwrap();
    assert_eq!(line(&mut lines).await, "Term");
    child.signal_group(Signal::Int).unwrap();
    assert_eq!(line(&mut lines).await, "Int");
    assert!(soon(child.wait()).await.unwrap().success());
}

#[tokio::test]
async fn each_request_to_the_lock_holder_is_told_apart() {
    let mut child = start(role("hear-requests", &[]));
    let mut lines = errors(&mut child);
    assert_eq!(line(&mut lines).await, "ready");
    let requests = [
        (Signal::Hup, "Reload"),
        (Signal::Usr1, "Leave"),
        (Signal::Term, "Stop(Term)"),
        (Signal::Int, "Stop(Int)"),
    ];
    for (signal, told) in requests {
        child.signal_group(signal).unwrap();
        assert_eq!(line(&mut lines).await, told);
    }
    assert!(soon(child.wait()).await.unwrap().success());
}
