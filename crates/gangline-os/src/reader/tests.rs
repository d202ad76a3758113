use std::{fs::File, io::Write as _, os::unix::net::UnixStream};

use rustix::pipe::pipe;

use super::*;

/// A pipe, a socket and a terminal are unread once their other end is closed, not before, also when
/// they are full or have something to be read; a file never is.
#[test]
fn an_output_is_unread_once_its_reader_is_gone() {
    let (reader, writer) = pipe().unwrap();
    assert!(!is_gone(&writer).unwrap());
    drop(reader);
    assert!(is_gone(&writer).unwrap());

    let (mut here, there) = UnixStream::pair().unwrap();
    here.set_nonblocking(true).unwrap();
    while here.write(&[0; 4096]).is_ok() {}
    (&there).write_all(b"x").unwrap();
    assert!(!is_gone(&here).unwrap());
    drop(there);
    assert!(is_gone(&here).unwrap());

    assert!(!is_gone(tempfile::tempfile().unwrap()).unwrap());
    assert!(!is_gone(File::options().write(true).open("/dev/null").unwrap()).unwrap());
}

/// What comes first ends the wait, the reader's end also while there is nothing to read.
#[test]
fn a_wait_ends_with_something_to_read_or_with_the_reader() {
    let (input, mut far) = UnixStream::pair().unwrap();
    let (reader, writer) = pipe().unwrap();
    far.write_all(b"x").unwrap();
    assert_eq!(wait(&input, &writer).unwrap(), Waited::Readable);
    drop(reader);
    assert_eq!(wait(&input, &writer).unwrap(), Waited::Unread, "before what is to be read");
    let (quiet, _far) = UnixStream::pair().unwrap();
    assert_eq!(wait(&quiet, &writer).unwrap(), Waited::Unread);
    let file = tempfile::tempfile().unwrap();
    assert_eq!(wait(&input, &file).unwrap(), Waited::Readable);
    let (ended, far) = UnixStream::pair().unwrap();
    drop(far);
    assert_eq!(wait(&ended, &file).unwrap(), Waited::Readable, "the end is read");
}
