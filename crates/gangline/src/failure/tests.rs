use std::io;

use super::{Exit, Failure};

#[test]
fn an_error_shows_its_causes_and_then_what_to_do() {
    let failure = Failure::environment(io::Error::other("no such device"))
        .doing("cannot write the ready file")
        .hint("choose another folder");
    assert_eq!(
        failure.text(),
        "error: cannot write the ready file\n\
         caused by: no such device\n\
         hint: choose another folder\n"
    );
    assert_eq!(failure.exit(), Exit::Environment);
}

#[test]
fn a_taken_port_always_comes_with_its_remedy() {
    let taken = io::Error::from(io::ErrorKind::AddrInUse);
    let text = Failure::environment(taken).doing("cannot listen on 127.0.0.1:1").text();
    assert!(text.starts_with("error: cannot listen on 127.0.0.1:1\ncaused by: "), "{text}");
    assert!(
        text.ends_with(
            "hint: another program already listens there: stop it, or choose another port\n"
        ),
        "{text}"
    );
}

#[test]
fn a_cause_that_repeats_the_error_is_said_once() {
    let failure = Failure::user("no agent").doing("no agent");
    assert_eq!(failure.text(), "error: no agent\n");
}
