//! Private sockets and other users.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use gangline_os::dial::{DialError, dial, own_uid};
use gangline_os::lines::{Line, LineReader};
use gangline_os::listen::PrivateListener;
use gangline_os::process::Spawn;

use crate::support::{NOT_ROOT, sh, skip, soon, start};

const NOBODY: u32 = 65_534;

/// Runs a program of Perl as another user, who has no rights. Only root can.
fn as_nobody(script: &str) -> Spawn {
    let args = ["--reuid=65534", "--clear-groups", "perl", "-e", script].map(Into::into).into();
    Spawn { program: "setpriv".into(), args, ..sh("") }
}

/// Should the folder be opened to others one day, the kernel still tells who comes.
#[tokio::test]
async fn another_user_who_gets_at_the_socket_is_hung_up_on() {
    if own_uid() != 0 {
        return skip("another_user_who_gets_at_the_socket_is_hung_up_on", NOT_ROOT);
    }
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("irc.sock");
    let listener = PrivateListener::bind(&path).unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    // Says what it reads: nothing, since it is hung up on.
    let script = format!(
        "use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Peer => '{}') or die $!; \
         print STDERR defined(readline $s) ? 'heard' : 'closed', qq(\\n); sleep 600;",
        path.display()
    );
    let mut child = start(as_nobody(&script));
    let mut said = LineReader::new(child.take_stderr().unwrap(), 1000);
    tokio::select! {
        accepted = listener.accept() => panic!("let in: {accepted:?}"),
        line = soon(said.next()) => {
            let line = line.unwrap();
            assert_eq!(line, Some(Line::Text("closed".to_owned())));
        }
    }
}

/// A listener in the same place that belongs to another user is sent nothing.
#[tokio::test]
async fn a_listener_of_another_user_is_not_spoken_to() {
    if own_uid() != 0 {
        return skip("a_listener_of_another_user_is_not_spoken_to", NOT_ROOT);
    }
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let path = home.path().join("irc.sock");
    let script = format!(
        "use IO::Socket::UNIX; my $l = IO::Socket::UNIX->new(Local => '{}', Listen => 5) or die $!; \
         print STDERR qq(listens\\n); my $s = $l->accept; print STDERR readline($s) // 'nothing', \
         qq(\\n); sleep 600;",
        path.display()
    );
    let mut child = start(as_nobody(&script));
    let mut said = LineReader::new(child.take_stderr().unwrap(), 1000);
    soon(said.next()).await.unwrap();
    let refused = dial(&path, Duration::from_secs(5));
    assert!(matches!(refused, Err(DialError::Foreign { uid: NOBODY, .. })), "{refused:?}");
    let line = soon(said.next()).await.unwrap();
    assert_eq!(line, Some(Line::Text("nothing".to_owned())));
}
