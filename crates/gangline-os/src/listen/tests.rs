//! Tests of private sockets. Another user is played in `tests/it`.

use std::io::ErrorKind;

use super::*;
use crate::dial::dial_tokio;

#[tokio::test]
async fn a_process_of_this_user_is_let_in_and_the_file_is_private() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("state");
    let path = folder.join("irc.sock");
    let listener = PrivateListener::bind(&path).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
    let _ours = dial_tokio(&path).unwrap();
    let (_stream, uid) = listener.accept().await.unwrap();
    assert_eq!(uid, own_uid());
    drop(listener);
    assert!(!path.exists(), "the file goes with its listener");
}

#[tokio::test]
async fn what_a_dead_process_left_is_replaced_and_a_live_socket_is_not() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("irc.sock");
    drop(net::UnixListener::bind(&path).unwrap());
    let first = PrivateListener::bind(&path).unwrap();
    assert_eq!(PrivateListener::bind(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
    assert!(first.is_in_place());
    drop(first);
    fs::write(&path, "precious").unwrap();
    assert_eq!(PrivateListener::bind(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[tokio::test]
async fn one_whose_file_was_replaced_leaves_the_new_file_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("irc.sock");
    let first = PrivateListener::bind(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(!first.is_in_place());
    let second = PrivateListener::bind(&path).unwrap();
    drop(first);
    assert!(second.is_in_place());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_folder_of_any_length_can_be_listened_in() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("d".repeat(150)).join("irc.sock");
    let listener = PrivateListener::bind(&path).unwrap();
    let _ours = dial_tokio(&path).unwrap();
    listener.accept().await.unwrap();
    assert_eq!(PrivateListener::bind(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
}
