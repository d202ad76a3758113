//! The lock between processes.

use gangline_os::lock::{FileLock, LockError, probe};
use gangline_os::{
    kill::Signal,
    process::{Child, ChildStdin},
};
use tokio::io::AsyncWriteExt;

use crate::support::{Lines, errors, line, output, role, sh, soon, start, text};

struct Racer {
    child: Child,
    stdin: ChildStdin,
    lines: Lines,
}

fn racer(lock: &str) -> Racer {
    let mut child = start(role("take-lock", &[("LOCK", lock)]));
    Racer { stdin: child.take_stdin().unwrap(), lines: errors(&mut child), child }
}

#[tokio::test]
async fn of_fifty_processes_exactly_one_gets_the_lock_and_its_death_frees_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut racers: Vec<Racer> = (0..50).map(|_| racer(&text(&path))).collect();
    for racer in &mut racers {
        assert_eq!(line(&mut racer.lines).await, "ready");
    }
    for racer in &mut racers {
        racer.stdin.write_all(b"go\n").await.unwrap();
    }
    let mut holders = Vec::new();
    let mut named = Vec::new();
    for racer in &mut racers {
        match line(&mut racer.lines).await.split_once(' ') {
            None => holders.push(racer),
            Some((_, "?")) => {}
            Some((_, pid)) => named.push(pid.parse::<u32>().unwrap()),
        }
    }
    let [holder] = &mut holders[..] else { panic!("{} have the lock", holders.len()) };
    assert!(named.iter().all(|pid| *pid == holder.child.pid()), "{named:?}");
    let told = probe(&path).unwrap().unwrap();
    assert_eq!((told.pid, told.note.as_str()), (Some(holder.child.pid()), "racer"));

    holder.child.signal_group(Signal::Kill).unwrap();
    soon(holder.child.wait()).await.unwrap();
    assert_eq!(probe(&path).unwrap(), None);
    let ours = FileLock::try_take(&path, "ours").unwrap();
    let told = probe(&path).unwrap().unwrap();
    assert_eq!((told.pid, told.note.as_str()), (Some(std::process::id()), "ours"));
    drop(ours);
}

#[tokio::test]
async fn a_child_does_not_keep_its_parents_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = FileLock::try_take(&path, "parent").unwrap();
    let mut child = start(sh("echo; read -r line"));
    assert_eq!(line(&mut output(&mut child)).await, "");
    assert!(matches!(FileLock::try_take(&path, ""), Err(LockError::Held(_))));
    drop(lock);
    assert_eq!(probe(&path).unwrap(), None);
}
