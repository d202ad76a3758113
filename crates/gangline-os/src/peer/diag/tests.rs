//! Tests of questions to the kernel and its answers. Real connections are in `tests/it`.

use proptest::prelude::*;

use super::*;

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// An answer as the kernel writes it.
fn told(family: u8, state: u8, (own, remote): (&str, &str), uid_and_inode: (u32, u32)) -> Vec<u8> {
    let (own, remote) = (address(own), address(remote));
    let mut bytes = vec![0; HEAD];
    bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    bytes.extend([family, state, 0, 0]);
    bytes.extend(own.port().to_be_bytes());
    bytes.extend(remote.port().to_be_bytes());
    bytes.extend(octets(own.ip()));
    bytes.extend(octets(remote.ip()));
    bytes.extend([0; 24]);
    bytes.extend(uid_and_inode.0.to_ne_bytes());
    bytes.extend(uid_and_inode.1.to_ne_bytes());
    assert_eq!(bytes.len(), HEAD + ROW);
    bytes
}

#[test]
fn a_socket_is_read_with_its_user_whatever_its_state() {
    let ends = ("127.0.0.1:49153", "127.0.0.1:6667");
    for state in 1..=12 {
        let row = answer(&told(INET, state, ends, (1000, 77))).unwrap().unwrap();
        assert_eq!((row.owner(), row.state), (Some(Whose { uid: 1000, inode: 77 }), state));
        assert_eq!((row.own, row.remote), (address(ends.0), address(ends.1)));
    }
    let mapped = ("[::ffff:127.0.0.1]:49153", "[::ffff:127.0.0.1]:6667");
    let row = answer(&told(INET6, 1, mapped, (1000, 77))).unwrap().unwrap();
    assert_eq!((row.own, row.remote), (address(ends.0), address(ends.1)));
}

#[test]
fn a_socket_without_an_inode_belongs_to_nobody() {
    let ends = ("[::1]:49153", "[::1]:6667");
    for uid in [0, 1000] {
        let row = answer(&told(INET6, 5, ends, (uid, 0))).unwrap().unwrap();
        assert_eq!(row.owner(), None);
    }
}

#[test]
fn no_such_socket_is_an_answer_and_a_refusal_is_none() {
    let refused = |error: i32| {
        let mut bytes = vec![0; HEAD];
        bytes[4..6].copy_from_slice(&ERROR.to_ne_bytes());
        bytes.extend((-error).to_ne_bytes());
        answer(&bytes)
    };
    assert_eq!(refused(Errno::ENOENT as i32), Ok(None));
    assert_eq!(refused(Errno::EPERM as i32), Err(Errno::EPERM));
    assert!(matches!(unasked(Errno::EPROTONOSUPPORT), Answer::NotAnswered));
    assert!(matches!(unasked(Errno::EMFILE), Answer::Failed(_)));
}

proptest! {
    #[test]
    fn nothing_that_is_read_brings_it_down(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = answer(&bytes);
    }
}
