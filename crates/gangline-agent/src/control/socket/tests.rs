use std::{fs, os::unix::fs::PermissionsExt};

use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};

use super::*;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run/gangline-oak-ada.sock")
    }

    fn link(&self) -> PathBuf {
        self.folder.path().join("culture/culture-oak-ada.sock")
    }

    fn bind(&self) -> Socket {
        Socket::bind(&self.path(), Some(&self.link())).unwrap()
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// R0-46, R0-47, R1-12, C2.
#[tokio::test]
async fn the_socket_is_private_and_culture_finds_it() {
    let place = Place::new();
    let socket = place.bind();
    assert_eq!(mode(&place.path()), 0o600);
    assert_eq!(mode(place.path().parent().unwrap()), 0o700);
    assert_eq!(mode(place.link().parent().unwrap()), 0o700);
    UnixStream::connect(place.link()).await.unwrap();
    drop(socket);
    assert!(!place.path().exists() && fs::symlink_metadata(place.link()).is_err());
}

#[tokio::test]
async fn what_a_dead_daemon_left_is_replaced() {
    let place = Place::new();
    fs::create_dir_all(place.path().parent().unwrap()).unwrap();
    fs::create_dir_all(place.link().parent().unwrap()).unwrap();
    drop(UnixListener::bind(place.path()).unwrap());
    drop(UnixListener::bind(place.link()).unwrap());
    let socket = place.bind();
    UnixStream::connect(place.link()).await.unwrap();
    drop(socket);

    symlink("/elsewhere/gangline-oak-ada.sock", place.link()).unwrap();
    let socket = place.bind();
    UnixStream::connect(place.link()).await.unwrap();
    assert!(socket.link.is_some());
}

/// Two installations of one user may have agents of one name: the second does without a socket.
#[tokio::test]
async fn a_socket_that_is_served_is_neither_taken_nor_removed() {
    let place = Place::new();
    let first = place.bind();
    let error = Socket::bind(&place.path(), Some(&place.link())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    UnixStream::connect(place.path()).await.unwrap();

    // Somebody has put another one in its place.
    fs::remove_file(place.path()).unwrap();
    let theirs = UnixListener::bind(place.path()).unwrap();
    drop(first);
    UnixStream::connect(place.path()).await.unwrap();
    assert!(place.link().exists());
    drop(theirs);
}

/// R0-46: a name that is somebody else's is left alone.
#[tokio::test]
async fn what_belongs_to_somebody_else_is_left_alone() {
    let place = Place::new();
    fs::create_dir_all(place.link().parent().unwrap()).unwrap();
    let theirs = UnixListener::bind(place.link()).unwrap();
    drop(place.bind());
    assert!(place.link().exists(), "a live socket");
    drop(theirs);
    fs::remove_file(place.link()).unwrap();

    fs::write(place.link(), "mine").unwrap();
    drop(place.bind());
    assert_eq!(fs::read_to_string(place.link()).unwrap(), "mine");
    fs::remove_file(place.link()).unwrap();

    symlink("/elsewhere/other.sock", place.link()).unwrap();
    drop(place.bind());
    assert_eq!(fs::read_link(place.link()).unwrap(), Path::new("/elsewhere/other.sock"));

    fs::create_dir_all(place.path().parent().unwrap()).unwrap();
    fs::write(place.path(), "mine too").unwrap();
    let error = Socket::bind(&place.path(), Some(&place.link())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(place.path()).unwrap(), "mine too");
}

#[tokio::test]
async fn a_socket_whose_folder_was_removed_is_there_again() {
    let place = Place::new();
    let mut socket = place.bind();
    assert!(!socket.renew().unwrap());
    fs::remove_dir_all(place.path().parent().unwrap()).unwrap();
    fs::remove_dir_all(place.link().parent().unwrap()).unwrap();
    assert!(UnixStream::connect(place.path()).await.is_err());
    assert!(socket.renew().unwrap());
    UnixStream::connect(place.link()).await.unwrap();
    drop(socket);
    assert!(!place.path().exists() && !place.link().exists());
}
