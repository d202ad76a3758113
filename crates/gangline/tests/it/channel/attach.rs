//! `gangline attach` in front of a daemon that says what it is told to.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    os::unix::net::UnixListener,
    process::Stdio,
};

use gangline_testkit::{World, eventually};

use super::{BINARY, NICK, daemon, serve, socket};

const STATUS: &str = r#"{"type":"response","id":"ID","ok":true,"data":{"nick":"oak-ada","running":true,"paused":false,"circuit_open":false,"turn_count":1,"last_activation":null,"activity":"working","description":"works on m1","phase":"working","pending":0,"waiting_for":[]}}"#;

fn event(seq: u32, text: &str) -> String {
    format!(
        "{{\"type\":\"event\",\"event\":{{\"v\":1,\"seq\":\"{seq}\",\"agent\":\"oak-ada\",\"kind\":\"assistant\",\
         \"at\":\"2026-11-21T12:00:01.000Z\",\"payload\":{{\"type\":\"assistant\",\"model\":\"m\",\"content\":\
         [{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}}}\n"
    )
}

/// `attach` shows what happens, goes on behind the last event when the daemon comes back, and says
/// so.
#[test]
fn attach_shows_events_and_outlives_the_daemon() {
    let world = World::new(BINARY);
    let subscribed =
        r#"{"type":"response","id":"ID","ok":true,"data":{"cursor":"40"}}"#.to_owned() + "\n";
    let first = subscribed.clone() + &event(41, "first\\nof two") + &event(42, "second");
    let again = subscribed.replace("40", "42") + &event(43, "third");
    let status = format!("{STATUS}\n");
    let path = socket(&world);
    let gone = daemon(&path, &[&status, &first]);
    let mut running = world.start(&["attach", NICK]);
    let mut shows = |part: &str| running.says(part);
    shows("oak-ada working: works on m1\n");
    shows("text        first\n                         of two\n");
    shows("text        second\n");
    assert_eq!(gone.join().unwrap()[1], "{\"type\":\"subscribe\",\"id\":\"ID\"}\n");
    shows("-- oak-ada: the daemon closed the connection; waiting for its daemon\n");
    let back = daemon(&path, &[&status, &again]);
    shows("-- oak-ada is back\n");
    let output = shows("text        third\n");
    let resumed = "{\"type\":\"subscribe\",\"id\":\"ID\",\"cursor\":\"42\"}\n";
    assert_eq!(back.join().unwrap()[1], resumed);
    assert_eq!(output.matches("second").count(), 1, "{output}");
}

#[test]
fn attach_prints_frames_for_programs() {
    let world = World::new(BINARY);
    let subscribed = r#"{"type":"response","id":"ID","ok":true,"data":{"cursor":"40"}}"#;
    let event = event(41, "hi");
    let daemon =
        daemon(&socket(&world), &[&format!("{STATUS}\n"), &format!("{subscribed}\n{event}")]);
    let running = world.start(&["attach", NICK, "--json"]);
    let frame: serde_json::Value = serde_json::from_str(&event).unwrap();
    eventually("the event", || {
        let output = running.output();
        let frames: Vec<serde_json::Value> =
            output.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        (frames.len() == 3 && frames[2] == frame).then_some(())
    });
    daemon.join().unwrap();
}

/// `attach NICK --json | head -1`: it ends with its reader, though nothing more happens, and also
/// while the daemon is away.
#[test]
fn attach_ends_with_its_reader() {
    for stays in [true, false] {
        let world = World::new(BINARY);
        let subscribed = r#"{"type":"response","id":"ID","ok":true,"data":{"cursor":"40"}}"#;
        let path = socket(&world);
        let (let_go, held) = std::sync::mpsc::channel::<()>();
        let daemon = {
            let listener = UnixListener::bind(&path).unwrap();
            std::thread::spawn(move || {
                let stream = listener.accept().unwrap().0;
                serve(&stream, &[format!("{STATUS}\n"), format!("{subscribed}\n")]);
                if stays {
                    let _ = held.recv();
                }
            })
        };
        let mut command = world.command(&["attach", NICK, "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut attach = command.spawn().unwrap();
        let mut output = BufReader::new(attach.stdout.take().unwrap());
        let mut lines = [String::new(), String::new()];
        for line in &mut lines {
            let _ = output.read_line(line).unwrap();
        }
        assert!(lines[1].contains("cursor"), "{lines:?}");
        let mut told = BufReader::new(attach.stderr.take().unwrap());
        if !stays {
            let mut line = String::new();
            told.read_line(&mut line).unwrap();
            assert!(line.contains("waiting for its daemon"), "{line}");
        }
        assert_eq!(attach.try_wait().unwrap(), None, "somebody reads");
        drop(output);
        let status = eventually("the end of attach", || attach.try_wait().unwrap());
        assert_eq!(status.code(), Some(0), "stays: {stays}");
        let mut rest = String::new();
        told.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "it ends quietly");
        drop(let_go);
        daemon.join().unwrap();
    }
}

#[test]
fn attach_without_a_daemon_says_what_to_do() {
    let world = World::new(BINARY);
    let ran = world.run(&["attach", NICK]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("error: the daemon of oak-ada is not running\n"), "{ran:?}");
    assert!(ran.stderr.contains("hint: start it: `gangline up`"), "{}", ran.stderr);
}
