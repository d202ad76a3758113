//! The order of system calls, which is what an acknowledgement rests on.

use std::fs;

use crate::{child::Other, support::*};

const STRACE: &str = "/usr/bin/strace";

/// F5: no machine loses power here, so the system calls are watched: between the log's last write
/// and the word to the caller the lock is given back, and the log is synced: once for each commit, and
/// all by one thread, which hands no statement to another.
#[tokio::test]
async fn an_acknowledgement_follows_the_sync_of_the_log() {
    let (lines, said) = traced("write x 5").await;
    let mut from = 0;
    for key in said {
        let told = told(&lines, &key);
        let last = |what: &str, also: &str| {
            let found = lines[from..told]
                .iter()
                .rposition(|line| line.contains(what) && line.contains(also));
            found.unwrap_or_else(|| panic!("no {what} before {key}:\n{:#?}", &lines[from..told]))
        };
        let (written, unlocked) = (last("pwrite64(", "-wal>"), last("flock(", "LOCK_UN"));
        let synced = last("fdatasync", "= 0");
        let since = &lines[from..told];
        assert!(written < unlocked && unlocked < synced, "{key}: {since:#?}");
        let thread = |place: usize| since[place].split_whitespace().next();
        let threads = [written, unlocked, synced].map(thread);
        assert_eq!(threads, [thread(synced); 3], "{key}: {since:#?}");
        // Before the first the store is opened.
        assert!(from == 0 || syncs(since) == 1, "{key}: {since:#?}");
        from = told;
    }
}

/// A turn that follows at once from a message is a commit of its own, and their sync is one: after
/// both, and before anybody hears of either.
#[tokio::test]
async fn a_message_and_the_turn_that_follows_at_once_share_a_sync() {
    let (lines, said) = traced("follow x 4").await;
    let mut from = told(&lines, &said[0]);
    for key in &said[1..] {
        let told = told(&lines, key);
        let since = &lines[from..told];
        let unlocks = since.iter().filter(|line| line.contains("LOCK_UN")).count();
        assert_eq!((unlocks, syncs(since)), (2, 1), "{key}: {since:#?}");
        let last = |what: &str| since.iter().rposition(|line| line.contains(what));
        assert!(last("LOCK_UN") < last("fdatasync"), "{key}: {since:#?}");
        from = told;
    }
}

/// What is written together has one commit and one sync, whatever it is.
#[tokio::test]
async fn what_is_written_together_has_one_sync() {
    let (lines, _) = traced("together 3").await;
    for n in 1..=3 {
        let since =
            &lines[told(&lines, &format!("taken {n}"))..told(&lines, &format!("ended {n}"))];
        let unlocks = since.iter().filter(|line| line.contains("LOCK_UN")).count();
        assert_eq!((unlocks, syncs(since)), (1, 1), "{n}: {since:#?}");
    }
}

/// Runs another process in that role. Returns its system calls, and what it says.
async fn traced(role: &str) -> (Vec<String>, Vec<String>) {
    let fixture = Fixture::new();
    let trace = fixture.path().parent().unwrap().parent().unwrap().join("trace");
    let calls = "trace=pwrite64,fdatasync,flock,write";
    let args = ["-f", "-y", "-e", calls, "-o", trace.to_str().unwrap()];
    let other = Other::start_traced(STRACE, &args, &fixture.path(), role);
    let (said, exit) = other.rest().await;
    assert_eq!(exit.code, Some(0), "strace must be allowed to trace");
    assert!(said.len() > 3, "{said:?}");
    let trace = fs::read_to_string(trace).unwrap();
    (trace.lines().map(str::to_owned).collect(), said)
}

/// Returns the line in which the process says that word.
fn told(lines: &[String], word: &str) -> usize {
    lines.iter().position(|line| line.contains(&format!("@ {word}"))).unwrap()
}

fn syncs(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.contains("fdatasync") && line.contains("= 0")).count()
}
