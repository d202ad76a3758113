//! Crowds, endless lines and clients that do not read: others are served all the same.

use std::time::Duration;

use gangline_api::ipc::{CONNECTIONS_MAX, LINE_MAX, LINE_SECONDS};
use gangline_testkit::eventually;
use serde_json::{Value, json};

use super::{Ipc, Scene};

/// A line that has begun must be whole within this.
const LINE_WITHIN: Duration = Duration::from_secs(LINE_SECONDS);
/// The chat server has so long to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Lets this process open as many files as the system allows.
fn open_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
}

/// R0-38: one object and a line end; what is none is answered or ends its connection only.
#[test]
fn bad_lines_cost_their_sender_and_nobody_else() {
    let scene = Scene::open();
    let mut good = scene.dial();
    let mut broken = scene.dial();
    let mut long = scene.dial();
    let mut slow = scene.dial();
    slow.write(b"{\"type\":").unwrap();
    let error =
        r#"{"type":"response","id":null,"ok":false,"error":"the request is not a JSON object"}"#;
    for line in ["{", "null", "\"x\"", "{\"type\":\"status\"", "\u{0}\u{1}"] {
        assert_eq!(broken.exchange(line), error, "{line:?}");
    }
    let mut strange = b"{\"type\":\"status\",\"x\":\"\xff\xfe\"}\n".to_vec();
    strange.extend("[".repeat(60_000).bytes().chain(*b"\n"));
    strange.extend("{\"a\":".repeat(10_000).bytes().chain(*b"\n"));
    broken.write(&strange).unwrap();
    for _ in 0..3 {
        assert_eq!(broken.line(), error);
    }
    broken.write(concat!(r#"{"type":"hello","id":"same"}"#, "\n").as_bytes()).unwrap();
    broken.write(concat!(r#"{"type":"hello","id":"same"}"#, "\n").as_bytes()).unwrap();
    for _ in 0..2 {
        assert!(broken.line().starts_with(r#"{"type":"response","id":"same","ok":true"#));
    }
    assert_eq!(broken.ok(json!({"type": "status"}))["phase"], "idle");
    let endless = "x".repeat(LINE_MAX + 1);
    long.write(endless.as_bytes()).unwrap();
    let error = r#"{"type":"response","id":null,"ok":false,"error":"the request is longer than 65536 bytes"}"#;
    assert_eq!((long.line().as_str(), long.line().as_str()), (error, ""));
    assert_eq!(good.ok(json!({"type": "status"}))["phase"], "idle");
    scene.rig.clock.is_waited_for(LINE_WITHIN);
    scene.rig.clock.forward(LINE_WITHIN);
    let error =
        r#"{"type":"response","id":null,"ok":false,"error":"the line was incomplete after 10 s"}"#;
    assert_eq!((slow.line().as_str(), slow.line().as_str()), (error, ""));
    assert_eq!(good.ok(json!({"type": "status"}))["phase"], "idle");
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
    assert_eq!((newcomer.line().as_str(), newcomer.line().as_str()), (full, ""));
    let first = readers.remove(0);
    drop(first);
    let mut next = eventually("a place", || {
        let mut next = scene.daemon.try_dial()?;
        next.write(b"{\"type\":\"hello\"}\n").ok()?;
        next.line().contains("\"ok\":true").then_some(next)
    });
    // An idle one gives way to the next.
    let mut another = scene.dial();
    assert_eq!(another.ok(json!({"type": "status"}))["activity"], "idle");
    assert_eq!(next.line(), "");
    another.send(json!({"type": "irc_ask", "channel": "#general", "message": "still there?"}));
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
    let server = scene.rig.hold_server();
    let asked = [
        ipc.send(json!({"type": "irc_who", "target": "alice"})),
        ipc.send(json!({"type": "irc_join", "channel": "#lab"})),
    ];
    assert_eq!(other.ok(json!({"type": "status"}))["activity"], "idle");
    // Asked last and answered first: its response is the next line.
    ipc.ok(json!({"type": "status"}));
    for _ in 0..2 {
        scene.rig.clock.is_waited_for(ANSWER_WITHIN);
    }
    scene.rig.clock.forward(ANSWER_WITHIN);
    let late: Vec<Value> = (0..2).map(|_| ipc.frame().unwrap()).collect();
    for id in asked {
        let expect = json!({"type": "response", "id": id, "ok": false,
                            "error": "the chat server did not answer within 10 s"});
        assert!(late.contains(&expect), "{late:?}");
    }
    drop(server);
    // The request was withdrawn with its answer.
    eventually("the chat server", || {
        let channels = other.ok(json!({"type": "irc_channels"}));
        (channels["channels"] == json!(["#general"])).then_some(())
    });
}
