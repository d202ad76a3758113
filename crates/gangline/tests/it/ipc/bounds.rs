//! A crowd: others are served all the same.

use std::{fs, io::Write as _};

use gangline_api::ipc::CONNECTIONS_MAX;
use gangline_testkit::eventually;
use serde_json::json;

use super::Scene;

/// So many connections at once, nearly ten times as many as are served.
const CROWD: usize = 2000;

/// Lets this process open as many files as the system allows; returns how many.
fn open_files() -> u64 {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    hard
}

/// Returns a process's memory in KiB.
fn memory(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// A crowd of connections that send half a line and wait: the daemon's memory and its answers to
/// others stay what they are.
#[test]
fn a_crowd_of_slow_connections_keeps_nobody_out() {
    if open_files() < 2 * CROWD as u64 {
        gangline_testkit::stage::skip("a_crowd_of_slow_connections", "too few open files allowed");
        return;
    }
    let scene = Scene::open();
    let daemon = scene.daemon();
    let mut busy = scene.dial();
    busy.ok(json!({"type": "subscribe"}));
    let files = || fs::read_dir(format!("/proc/{daemon}/fd")).unwrap().count();
    let (before, open) = (memory(daemon), files());
    let mut crowd = Vec::with_capacity(CROWD);
    for number in 0..CROWD {
        let mut slow = scene.dial();
        // Whoever gave way already is not written to.
        let _ = slow.stream.get_mut().write_all(b"{\"type\":\"irc_send\",\"message\":\"");
        crowd.push(slow);
        if number % 100 == 0 {
            let mut newcomer = scene.dial();
            assert_eq!(newcomer.ok(json!({"type": "status"}))["activity"], "idle");
        }
    }
    eventually("the crowd to be cut to what is served", || {
        (files() <= open + CONNECTIONS_MAX).then_some(())
    });
    let grown = memory(daemon).saturating_sub(before);
    assert!(grown < 16 * 1024, "{grown} KiB more");
    // Who reads events was not in the way of anybody.
    let mut newcomer = scene.dial();
    let ask = json!({"type": "irc_ask", "channel": "#general", "message": "still there?"});
    newcomer.stream.get_mut().write_all(format!("{ask}\n").as_bytes()).unwrap();
    assert!(busy.line().contains("\"kind\":\"alert\""));
}
