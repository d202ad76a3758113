//! The order of system calls, which is what an acknowledgement rests on.

use std::{fs, path::Path};

use crate::{child::Other, support::*};

/// F5: no machine loses power here, so the system calls are watched: between the log's last write
/// and the word to the caller the lock is given back, and the log is synced: once for each commit, and
/// all by one thread, which hands no statement to another.
#[tokio::test]
async fn an_acknowledgement_follows_the_sync_of_the_log() {
    if !Path::new("/usr/bin/strace").exists() {
        println!("skipped: strace is not installed (Debian package `strace`)");
        return;
    }
    let store = Fixture::new();
    let trace = store.path().parent().unwrap().parent().unwrap().join("trace");
    let calls = "trace=pwrite64,fdatasync,flock,write";
    let args = ["-f", "-y", "-e", calls, "-o", trace.to_str().unwrap()];
    let other = Other::start_traced("/usr/bin/strace", &args, &store.path(), "write x 5");
    let (said, exit) = other.rest().await;
    assert_eq!((said.len(), exit.code), (5, Some(0)), "strace must be allowed to trace");
    let trace = fs::read_to_string(trace).unwrap();
    let lines: Vec<&str> = trace.lines().collect();
    let mut from = 0;
    for key in said {
        let told = lines.iter().position(|line| line.contains(&format!("@ {key}"))).unwrap();
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
        let syncs = since.iter().filter(|line| line.contains("fdatasync") && line.contains("= 0"));
        // Before the first the store is opened.
        assert!(from == 0 || syncs.count() == 1, "{key}: {since:#?}");
        from = told;
    }
}
