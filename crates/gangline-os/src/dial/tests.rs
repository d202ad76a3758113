//! Tests of dialling.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;

use super::*;

const PATIENCE: Duration = Duration::from_millis(50);

#[test]
fn a_listener_of_ours_is_spoken_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let mut ours = dial(&path, PATIENCE).unwrap();
    let (mut theirs, _) = listener.accept().unwrap();
    ours.write_all(b"hello").unwrap();
    drop(ours);
    let mut heard = String::new();
    theirs.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "hello");
}

#[test]
fn where_nobody_listens_the_error_names_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let said = |error: DialError| match error {
        DialError::Connect { path: about, source } => (about == path, source.kind()),
        DialError::Foreign { .. } => panic!("{error}"),
    };
    assert_eq!(said(dial(&path, PATIENCE).unwrap_err()), (true, io::ErrorKind::NotFound));
    drop(UnixListener::bind(&path).unwrap());
    assert_eq!(said(dial(&path, PATIENCE).unwrap_err()), (true, io::ErrorKind::ConnectionRefused));
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    assert_eq!(said(dial(&path, PATIENCE).unwrap_err()), (true, io::ErrorKind::ConnectionRefused));
    let long = folder.path().join("x".repeat(200));
    assert!(matches!(dial(&long, PATIENCE), Err(DialError::Connect { .. })));
}

/// A listener that takes no connections: its queue fills, and then patience ends.
#[cfg(target_os = "linux")]
#[test]
fn a_listener_that_does_not_answer_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let _listener = UnixListener::bind(&path).unwrap();
    let mut kept = Vec::new();
    let error = loop {
        match dial(&path, PATIENCE) {
            Ok(stream) => kept.push(stream),
            Err(error) => break error,
        }
        assert!(kept.len() < 100_000, "the queue has no end");
    };
    let kind = match error {
        DialError::Connect { source, .. } => source.kind(),
        DialError::Foreign { .. } => panic!("{error}"),
    };
    assert_eq!(kind, io::ErrorKind::WouldBlock);
}
