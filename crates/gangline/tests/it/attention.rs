//! The attention list with whole processes: it outlives them, is read without them, and each item is
//! answered by its number, from the command line and from the chat.

use gangline_testkit::{Stage, eventually};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::json;

/// Ada's turn uses the only turn of a request, so what she asks Bob is held.
const SCRIPT: &str = "rules:
  - when: {tool: send}
    reply: [text: NO_REPLY]
  - when: {user: quiet}
    reply: [text: quiet it is]
  - reply: [tool_use: {name: send, input: {to: '#general', text: '@co-bob quiet'}}]
";

#[test]
#[expect(clippy::too_many_lines, reason = "one story told in order")]
fn what_waits_outlives_its_processes_and_is_answered_by_number_from_anywhere() {
    let binary = env!("CARGO_BIN_EXE_gangline");
    let stage = Stage::new(binary, &["co-ada", "co-bob"], Some(SCRIPT), ("turns_per_cause: 1", ""));
    let run =
        |args: &[&str]| stage.world.run(&[&["--config", stage.config.as_str()], args].concat());
    let mut hub = stage.up();
    let mut owner = stage.owner("otto");
    assert_eq!(run(&["attention"]).ok(), "nothing waits for you\n");
    let mut watching = stage.world.start(&["--config", &stage.config, "attention", "--watch"]);
    owner.say("#general", "@co-ada begin");
    watching.says("+ 1 co-bob held_messages: the request m1 has used all of its 1 turns");
    // Nobody is asked to end: the list is in the store.
    let daemons = stage.query("SELECT pid FROM agents");
    hub.kill();
    for pid in daemons {
        kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGKILL).unwrap();
    }
    let list = run(&["attention", "--json"]).json();
    assert_eq!((&list[0]["number"], &list[0]["kind"]), (&json!(1), &json!("finding")));
    assert_eq!((&list[0]["state"], &list[0]["what"]), (&json!("open"), &json!("held_messages")));
    assert_eq!(list[0]["options"][0]["word"], "release");
    assert_eq!(run(&["attention", "seen", "1"]).ok(), "finding 1 of co-bob is seen\n");
    watching.says("~ 1 co-bob held_messages, seen by ");
    let shown = run(&["attention", "bob"]).ok();
    assert!(shown.contains("release gives the request as many turns again"), "{shown}");
    let wrong = run(&["answer", "1", "perhaps"]);
    assert!(wrong.stderr.contains("choose release, dismiss"), "{}", wrong.stderr);
    drop(owner);
    let _hub = stage.up();
    let mut owner = stage.owner("otto");
    let mut alice = stage.member("alice");
    alice.say("#general", "@co-bob 1 release");
    alice.hears("co-bob", "#general", "alice: ");
    owner.say("#general", "@co-bob status");
    owner.hears("co-bob", "#general", "waits for a person: 1 the request m1 has used all");
    owner.say("#general", "@co-bob 1 release");
    owner.hears("co-bob", "#general", "finding 1: release: m1 may take up to 1 more turns");
    owner.hears("co-bob", "#general", "quiet it is");
    watching.says("- 1 co-bob held_messages");
    owner.say("#general", "@co-ada begin");
    let of_bob = || {
        let items = run(&["attention", "bob", "--json"]).json();
        items[0]["number"].as_i64().map(|number| number.to_string())
    };
    let number = eventually("another one", of_bob);
    // The list is looked at from time to time: what is answered in between is never in it.
    watching.says(&format!("+ {number} co-bob held_messages"));
    let done = run(&["answer", &number, "release"]).ok();
    assert!(done.starts_with(&format!("finding {number} of co-bob: release: ")), "{done}");
    let late = run(&["answer", &number, "release"]);
    assert!(late.stderr.contains("is resolved already"), "{}", late.stderr);
    watching.says(&format!("- {number} co-bob held_messages"));
    eventually("an empty list", || {
        let items = run(&["attention", "--json"]).json();
        for item in items.as_array()? {
            // It may have ended by now.
            let _ = run(&["answer", &item["number"].to_string(), "dismiss"]);
        }
        (run(&["attention"]).ok() == "nothing waits for you\n").then_some(())
    });
    let all = run(&["attention", "--all", "--json"]).json();
    let states: Vec<&str> =
        all.as_array().unwrap().iter().filter_map(|item| item["state"].as_str()).collect();
    assert!(states.len() >= 2 && states.iter().all(|state| *state == "resolved"), "{all}");
    watching.signal(Signal::SIGINT);
    assert_eq!(watching.wait(), 0);
}
