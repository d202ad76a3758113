//! Crowds, endless lines and clients that do not read: others are served all the same.

use std::{fs, io::Write as _};

use gangline_api::ipc::{CONNECTIONS_MAX, LINE_MAX};
use gangline_testkit::eventually;
use serde_json::json;

use super::{Ipc, Scene};

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

/// R0-38: one object and a line end; what is none is answered or ends its connection only.
#[test]
fn bad_lines_cost_their_sender_and_nobody_else() {
    let scene = Scene::open();
    let mut good = scene.dial();
    let mut broken = scene.dial();
    let mut long = scene.dial();
    let mut slow = scene.dial();
    slow.stream.get_mut().write_all(b"{\"type\":").unwrap();
    let error =
        r#"{"type":"response","id":null,"ok":false,"error":"the request is not a JSON object"}"#;
    for line in ["{", "null", "\"x\"", "{\"type\":\"status\"", "\u{0}\u{1}"] {
        assert_eq!(broken.exchange(line), error, "{line:?}");
    }
    let mut strange = b"{\"type\":\"status\",\"x\":\"\xff\xfe\"}\n".to_vec();
    strange.extend("[".repeat(60_000).bytes().chain(*b"\n"));
    strange.extend("{\"a\":".repeat(10_000).bytes().chain(*b"\n"));
    broken.stream.get_mut().write_all(&strange).unwrap();
    for _ in 0..3 {
        assert_eq!(broken.line().trim_end(), error);
    }
    broken.send(r#"{"type":"hello","id":"same"}"#);
    broken.send(r#"{"type":"hello","id":"same"}"#);
    for _ in 0..2 {
        assert!(broken.line().starts_with(r#"{"type":"response","id":"same","ok":true"#));
    }
    assert_eq!(broken.ok(json!({"type": "status"}))["phase"], "idle");
    let endless = "x".repeat(LINE_MAX + 1);
    long.stream.get_mut().write_all(endless.as_bytes()).unwrap();
    let error = r#"{"type":"response","id":null,"ok":false,"error":"the request is longer than 65536 bytes"}"#;
    assert_eq!((long.line().trim_end(), long.line().as_str()), (error, ""));
    assert_eq!(good.ok(json!({"type": "status"}))["phase"], "idle");
    let error = r#"{"type":"response","id":null,"ok":false,"error":"the line was not complete within 10 s"}"#;
    assert_eq!((slow.line().trim_end(), slow.line().as_str()), (error, ""));
    assert_eq!(good.ok(json!({"type": "status"}))["phase"], "idle");
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
    newcomer.ok(json!({"type": "irc_ask", "channel": "#general", "message": "still there?"}));
    assert!(busy.line().contains("\"kind\":\"alert\""));
}

/// The connections that are served are bounded; those at work keep their place.
#[test]
fn connections_at_work_keep_their_place_and_a_newcomer_is_told() {
    open_files();
    let scene = Scene::open();
    let mut readers: Vec<Ipc> = (0..CONNECTIONS_MAX).map(|_| scene.dial()).collect();
    for reader in &mut readers {
        reader.ok(json!({"type": "subscribe"}));
    }
    let full = r#"{"type":"response","id":null,"ok":false,"error":"256 connections are busy already; try again"}"#;
    let mut newcomer = scene.dial();
    assert_eq!((newcomer.line().trim_end(), newcomer.line().as_str()), (full, ""));
    let first = readers.remove(0);
    drop(first);
    let mut next = eventually("a place", || {
        let mut next = Ipc::try_dial(&scene.socket())?;
        next.stream.get_mut().write_all(b"{\"type\":\"hello\"}\n").ok()?;
        next.line().contains("\"ok\":true").then_some(next)
    });
    // An idle one gives way to the next.
    let mut another = scene.dial();
    assert_eq!(another.ok(json!({"type": "status"}))["activity"], "idle");
    assert_eq!(next.line(), "");
    another.ok(json!({"type": "irc_ask", "channel": "#general", "message": "still there?"}));
    for reader in &mut readers {
        assert!(reader.line().contains("agent_question"));
    }
}

/// A chat server that says nothing more holds up those who asked it, and those only as long as is
/// told; requests that need no server are answered.
#[test]
fn a_silent_chat_server_is_told_in_time() {
    let scene = Scene::open();
    let mut ipc = scene.dial();
    let mut other = scene.dial();
    scene.hub.signal(nix::sys::signal::Signal::SIGSTOP);
    scene.hub.stands_still();
    ipc.send(r#"{"type":"irc_who","id":"1","target":"alice"}"#);
    ipc.send(r##"{"type":"irc_join","id":"2","channel":"#lab"}"##);
    assert_eq!(other.ok(json!({"type": "status"}))["activity"], "idle");
    // Asked last and answered first: its response is the next line.
    ipc.ok(json!({"type": "status"}));
    let mut late: Vec<String> = (0..2).map(|_| ipc.line()).collect();
    late.sort();
    for (number, line) in late.iter().enumerate() {
        let expect = format!(
            "{{\"type\":\"response\",\"id\":\"{}\",\"ok\":false,\"error\":\"the chat server did not answer \
             within 10 s\"}}\n",
            number + 1
        );
        assert_eq!(*line, expect);
    }
    scene.hub.signal(nix::sys::signal::Signal::SIGCONT);
    // The wish was withdrawn with its answer.
    eventually("the chat server", || {
        let channels = other.try_ask(json!({"type": "irc_channels"}))?;
        (channels["data"]["channels"] == json!(["#general"])).then_some(())
    });
}
