use std::{ffi::OsString, os::unix::net::UnixDatagram, time::Duration};

use super::{Word, datagram, due, send};

#[test]
fn several_words_are_lines_of_one_datagram_and_a_status_is_one_line() {
    let words = [Word::Ready, Word::Status("3 of 4\nready"), Word::Alive];
    assert_eq!(datagram(&words), "READY=1\nSTATUS=3 of 4 ready\nWATCHDOG=1");
    assert_eq!(datagram(&[Word::Stopping]), "STOPPING=1");
}

#[test]
fn a_socket_of_a_path_hears_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    send(&path.into_os_string(), "READY=1").unwrap();
    assert_eq!(heard(&manager), "READY=1");
    let nobody = folder.path().join("nobody").into_os_string();
    assert!(send(&nobody, "READY=1").is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_socket_of_an_abstract_name_hears_it() {
    use std::os::{linux::net::SocketAddrExt, unix::net::SocketAddr};
    let name = format!("gangline-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let manager = UnixDatagram::bind_addr(&address).unwrap();
    send(&OsString::from(format!("@{name}")), "STOPPING=1").unwrap();
    assert_eq!(heard(&manager), "STOPPING=1");
}

#[test]
fn the_sign_of_life_is_due_twice_as_often_as_demanded_and_only_of_this_process() {
    let table = [
        (Some("60000000"), None, Some(30_000)),
        (Some("60000000"), Some("7"), Some(30_000)),
        (Some("60000000"), Some("8"), None),
        (Some("0"), None, None),
        (Some("soon"), None, None),
        (None, Some("7"), None),
    ];
    for (micros, pid, expect) in table {
        assert_eq!(due(micros, pid, 7), expect.map(Duration::from_millis), "{micros:?} {pid:?}");
    }
}

fn heard(manager: &UnixDatagram) -> String {
    let mut bytes = [0; 256];
    let length = manager.recv(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}
