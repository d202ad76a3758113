//! The native loop over HTTP, with the stand-in as its model: raw bytes both ways.

use gangline_testkit::{Running, World};

use crate::{
    http::{Answer, Events, request},
    standin::{address, world},
};

struct Served {
    world: World,
    _standin: Running,
    harness: Running,
    authorization: String,
}

impl Served {
    fn start(more: &[&str]) -> Self {
        let world = world();
        let standin = world.start(&["standin", "serve", "--listen", "127.0.0.1:0"]);
        let model = address(&standin);
        let folder = world.path("folder");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("notes.txt"), "seven\n").unwrap();
        let folder = folder.display().to_string();
        let mut args = vec!["harness", "serve", "--listen", "127.0.0.1:0", "--base-url", &model];
        args.extend(["--directory", &folder]);
        args.extend(more);
        let harness = world.start_ready(&args);
        let token = std::fs::read_to_string(world.state().join("harness.token")).unwrap();
        let authorization = format!("Authorization: Bearer {}", token.trim());
        Self { world, _standin: standin, harness, authorization }
    }

    fn address(&self) -> String {
        self.harness.field("http")
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        let head = format!("POST {path}");
        request(&self.address(), &head, std::slice::from_ref(&self.authorization), body)
    }

    fn prompt(&self, text: &str) -> Answer {
        self.post("/prompt", &format!(r#"{{"content":"{text}"}}"#))
    }

    fn events(&self) -> Events {
        Events::open(&self.address(), &self.authorization)
    }
}

/// R4-19, R4-20: a prompt is accepted with 202, and its events come over the stream.
#[test]
fn a_prompt_is_accepted_and_its_events_are_streamed() {
    let served = Served::start(&[]);
    let mut events = served.events();
    assert_eq!(served.prompt("say exactly over the wire").status, 202);
    events.wait(r#""type":"user","content":"say exactly over the wire""#);
    events.wait(r#""type":"text","content":"over the wire""#);
    events.wait(r#""type":"status","state":"idle""#);
}

/// R4-22, C23: while one prompt runs a second is refused with 409 and changes nothing.
#[test]
fn a_second_prompt_is_refused_while_one_runs() {
    let served = Served::start(&["--allow-all"]);
    let mut events = served.events();
    assert_eq!(served.prompt("run sleep 4713").status, 202);
    events.wait(r#""state":"running tool""#);
    let second = served.prompt("say exactly too early");
    assert_eq!(second.status, 409, "{second:?}");
    assert!(second.body.contains("another prompt is running"), "{second:?}");
    assert_eq!(served.post("/cancel", "").status, 204);
    events.wait(r#""state":"idle""#);
    assert_eq!(served.prompt("say exactly in time").status, 202);
    events.wait("in time");
}

/// R4-09: a cancel in the middle of a tool ends the tool's processes and leaves the loop usable.
#[test]
fn a_cancel_in_the_middle_of_a_tool_ends_its_processes() {
    let served = Served::start(&["--allow-all"]);
    let mut events = served.events();
    assert_eq!(served.prompt("run sleep 4711; true").status, 202);
    events.wait(r#""type":"tool_call""#);
    gangline_testkit::eventually("the shell's child", || {
        (!served.world.processes_like("sleep 4711").is_empty()).then_some(())
    });
    assert_eq!(served.post("/cancel", "").status, 204);
    events.wait(r#""state":"idle""#);
    gangline_testkit::eventually("the end of the shell's child", || {
        served.world.processes_like("sleep 4711").is_empty().then_some(())
    });
    assert_eq!(served.prompt("say exactly still here").status, 202);
    events.wait("still here");
}

/// Nobody can be asked here, so without `--allow-all` only tools that look may run.
#[test]
fn only_tools_that_look_run_without_being_allowed() {
    let served = Served::start(&[]);
    let mut events = served.events();
    assert_eq!(served.prompt("list files").status, 202);
    let listed = events.wait(r#""type":"tool_result""#);
    assert!(listed.contains("notes.txt") && listed.contains(r#""isError":false"#), "{listed}");
    events.wait(r#""state":"idle""#);
    let made = served.world.path("folder/made");
    assert_eq!(served.prompt("run touch made").status, 202);
    let refused = events.wait(r#""type":"tool_result""#);
    assert!(refused.contains("not permitted here"), "{refused}");
    assert!(refused.contains(r#""isError":true"#), "{refused}");
    assert!(!made.exists());
}

/// Only who can read the token file may speak to the loop; the file is private.
#[test]
fn without_the_token_nothing_is_served() {
    use std::os::unix::fs::PermissionsExt as _;
    let served = Served::start(&[]);
    let answer = request(&served.address(), "POST /cancel", &[], "");
    assert_eq!(answer.status, 401, "{answer:?}");
    assert!(answer.head.to_ascii_lowercase().contains("www-authenticate: bearer"), "{answer:?}");
    let file = served.world.state().join("harness.token");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(served.harness.output().contains(&file.display().to_string()));
    let token = std::fs::read_to_string(&file).unwrap();
    assert!(!served.harness.output().contains(token.trim()), "the token itself is not printed");
}

#[test]
fn the_loop_is_served_on_loopback_only_and_needs_a_key_or_another_server() {
    let world = world();
    let ran = world.run(&["harness", "serve", "--listen", "0.0.0.0:0", "--base-url", "http://x"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("loopback only"), "{}", ran.stderr);
    let ran = world.run(&["harness", "serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("ANTHROPIC_API_KEY is not set"), "{}", ran.stderr);
}

#[test]
fn a_signal_ends_the_loop_in_order() {
    let mut served = Served::start(&["--allow-all"]);
    let mut events = served.events();
    assert_eq!(served.prompt("run sleep 4712; true").status, 202);
    events.wait(r#""type":"tool_call""#);
    assert_eq!(served.harness.terminate(), 0, "{}", served.harness.output());
    gangline_testkit::eventually("the end of the shell's child", || {
        served.world.processes_like("sleep 4712").is_empty().then_some(())
    });
}
