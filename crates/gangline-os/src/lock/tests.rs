//! Tests of the lock within one process. Races of many are in `tests/it`.

use super::*;
use std::fs;

fn ours(note: &str) -> Holder {
    let pid = std::process::id();
    Holder { pid: Some(pid), start_time: proc::start_time(pid), note: note.to_owned() }
}

#[test]
fn the_file_names_the_holder_on_one_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    fs::write(&path, "pid 1\n".repeat(100)).unwrap();
    let _lock = FileLock::try_take(&path, "epoch 7\nnote forged").unwrap();
    assert_eq!(probe(&path).unwrap(), Some(ours("epoch 7 note forged")));
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
}

#[test]
fn a_second_taker_in_the_same_process_is_told_who_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let first = FileLock::try_take(&path, "first").unwrap();
    let Err(LockError::Held(holder)) = FileLock::try_take(&path, "second") else {
        panic!("it was taken twice");
    };
    assert_eq!(holder, ours("first"));
    assert_eq!(holder.to_string(), format!("process {} (first)", std::process::id()));
    first.release().unwrap();
    let again = FileLock::try_take(&path, "third").unwrap();
    assert_eq!(probe(&path).unwrap(), Some(ours("third")));
    drop(again);
    assert_eq!(probe(&path).unwrap(), None);
    assert!(path.exists());
}

/// POSIX locks would be lost here.
#[test]
fn opening_and_closing_the_file_elsewhere_does_not_lose_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let _lock = FileLock::try_take(&path, "").unwrap();
    drop(File::open(&path).unwrap());
    assert!(probe(&path).unwrap().is_some());
    assert!(matches!(FileLock::try_take(&path, ""), Err(LockError::Held(_))));
}

#[test]
fn asking_makes_nothing_and_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    assert_eq!(probe(&path).unwrap(), None);
    assert!(!path.exists());
    fs::write(&path, "pid 1\nstarted 2\nnote old\n").unwrap();
    assert_eq!(probe(&path).unwrap(), None);
    assert_eq!(fs::read_to_string(&path).unwrap(), "pid 1\nstarted 2\nnote old\n");
    FileLock::try_take(&path, "").unwrap();
}

#[test]
fn what_a_dead_holder_wrote_is_not_told_as_the_holder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let _lock = FileLock::try_take(&path, "new").unwrap();
    let started = proc::start_time(std::process::id()).unwrap() + 1;
    fs::write(&path, format!("pid {}\nstarted {started}\nnote old\n", std::process::id())).unwrap();
    assert_eq!(probe(&path).unwrap(), Some(Holder::default()));
    fs::write(&path, b"\xff\xfe").unwrap();
    assert_eq!(probe(&path).unwrap(), Some(Holder::default()));
}

/// Leaves the lock as a holder does that was killed while it was starting a child.
fn orphaned(path: &Path) -> FileLock {
    let lock = FileLock::try_take(path, "killed").unwrap();
    let started = proc::start_time(std::process::id()).unwrap() + 1;
    fs::write(path, format!("pid {}\nstarted {started}\n", std::process::id())).unwrap();
    lock
}

#[test]
fn a_lock_that_a_killed_holder_left_to_a_child_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut child = Some(orphaned(&path));
    let mut waits = 0;
    let taken = FileLock::take_waiting(&path, "new", |_| {
        waits += 1;
        if waits == 3 {
            child.take();
        }
    });
    assert!(taken.is_ok(), "{taken:?}");
    assert_eq!(waits, 3);
    assert_eq!(probe(&path).unwrap(), Some(ours("new")));
}

#[test]
fn an_orphaned_lock_is_waited_for_two_seconds_and_a_living_holders_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let child = orphaned(&path);
    let mut waited = Duration::ZERO;
    let refused = FileLock::take_waiting(&path, "new", |time| waited += time);
    assert!(matches!(refused, Err(LockError::Held(_))), "{refused:?}");
    assert_eq!(waited, Duration::from_secs(2));
    drop(child);
    let _living = FileLock::try_take(&path, "living").unwrap();
    let refused = FileLock::take_waiting(&path, "new", |_| panic!("it waits for a living holder"));
    assert!(matches!(refused, Err(LockError::Held(_))), "{refused:?}");
}

#[test]
fn a_lock_that_cannot_be_made_is_named() {
    let error = FileLock::try_take(Path::new("/no/such/lock"), "").unwrap_err();
    assert_eq!(error.to_string(), "cannot lock /no/such/lock");
}

#[test]
fn a_link_in_the_place_of_the_file_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (other, link) = (folder.path().join("other"), folder.path().join("lock"));
    fs::write(&other, "precious").unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let refused = FileLock::try_take(&link, "me");
    assert!(matches!(refused, Err(LockError::Io { .. })), "{refused:?}");
    assert_eq!(fs::read(&other).unwrap(), b"precious");
}
