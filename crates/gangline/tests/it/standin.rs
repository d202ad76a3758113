//! The stand-in model as a program.

use std::net::TcpListener;

use gangline_testkit::{Running, World, eventually};

use crate::http::request;

pub(crate) fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_gangline"))
}

/// Returns the address that a serving command printed.
pub(crate) fn address(running: &Running) -> String {
    eventually("the address to be printed", || {
        let output = running.output();
        let start = output.find("http://127.0.0.1:")?;
        let text = &output[start..];
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || ":/.".contains(c)))?;
        Some(text[..end].trim_end_matches(':').to_owned())
    })
}

fn ask(address: &str, text: &str) -> crate::http::Answer {
    let headers = ["anthropic-version: 2023-06-01".to_owned()];
    let body = format!(
        r#"{{"model":"m","max_tokens":100,"messages":[{{"role":"user","content":"{text}"}}]}}"#
    );
    request(address, "POST /v1/messages", &headers, &body)
}

#[test]
fn without_a_script_the_guide_answers_and_says_what_it_is() {
    let world = world();
    let standin = world.start(&["standin", "serve", "--listen", "127.0.0.1:0"]);
    let address = address(&standin);
    assert!(standin.output().contains("no model is behind it"), "{}", standin.output());
    let answer = ask(&address, "say exactly kumquat");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.contains("kumquat"), "{answer:?}");
}

#[test]
fn a_script_decides_and_every_request_is_recorded() {
    let world = world();
    let script = world.file("s.yaml", "rules:\n  - when: {}\n    reply:\n      - text: by rule\n");
    let record = world.path("record").display().to_string();
    let standin = world.start(&[
        "standin",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--script",
        &script,
        "--record",
        &record,
    ]);
    assert!(ask(&address(&standin), "anything").body.contains("by rule"));
    let kept: Vec<_> = std::fs::read_dir(&record).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[test]
fn a_broken_script_is_a_configuration_error_that_quotes_it() {
    let world = world();
    let script = world.file("s.yaml", "rules:\n  - when: {}\n    replies: []\n");
    let ran = world.run(&["standin", "serve", "--listen", "127.0.0.1:0", "--script", &script]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("cannot use the script") && ran.stderr.contains("replies"),
        "{}",
        ran.stderr
    );
}

/// F8: a taken port is named, with what to do.
#[test]
fn a_taken_port_is_named_with_its_remedy() {
    let world = world();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    let commands: [&[&str]; 3] = [
        &["standin", "serve"],
        &["harness", "serve", "--base-url", "http://127.0.0.1:1"],
        &["ircd"],
    ];
    for command in commands {
        let ran = world.run(&[command, &["--listen", &taken]].concat());
        assert_eq!(ran.code, 2, "{command:?}: {}", ran.stderr);
        let expect = format!("cannot listen on {taken}");
        assert!(ran.stderr.contains(&expect), "{command:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("hint: another program already listens there"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_second_stand_in_of_the_same_lock_is_refused() {
    let world = world();
    let lock = world.path("standin.lock").display().to_string();
    let args = ["standin", "serve", "--listen", "127.0.0.1:0", "--lock", &lock];
    let first = world.start(&args);
    let _ = address(&first);
    let second = world.run(&args);
    assert_ne!(second.code, 0);
    assert!(second.stderr.contains(&first.pid().to_string()), "{}", second.stderr);
}
