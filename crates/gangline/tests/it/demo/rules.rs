//! `always`: rules made in the room and on the command line, and what they allow.

use gangline_testkit::{IrcPeer, irc};

use super::{Demo, GUIDE};

/// Says it and waits until the agent asks; returns the approval's number.
fn asks(boss: &mut IrcPeer, command: &str) -> i64 {
    boss.say("#general", &format!("@demo-guide run {command}"));
    let asked = boss.wait("the agent to ask", |line| {
        (line.contains("wants to run") && line.contains(&format!("`{command}`")))
            .then(|| line.to_owned())
    });
    irc::approval(&asked).unwrap()
}

/// The newest approval.
const NEWEST: &str = "SELECT number || ' ' || state || ' by ' || decided_by FROM approvals ORDER BY number DESC LIMIT 1";

/// C5, R2-42: what was allowed for good runs without a question, also after the daemon's death. Other
/// words are asked about, and the same ones once the rule is removed.
#[test]
fn what_was_allowed_for_good_is_not_asked_again() {
    let demo = Demo::start();
    let mut boss = demo.owner("boss");
    assert_eq!(asks(&mut boss, "echo kept-words"), 1);
    let whole = demo.run(&["approvals", "1"]).ok();
    assert!(whole.contains("always: Bash `echo kept-words` in "), "{whole}");
    boss.say("#general", "@demo-guide yes 1 always");
    let stored = boss.hears(GUIDE, "#general", "from now on I do not ask for");
    assert!(stored.contains("rule 1: Bash `echo kept-words` in "), "{stored}");
    assert!(stored.contains("`gangline policy remove 1`"), "{stored}");
    boss.hears(GUIDE, "#general", "kept-words");

    // A list needs a rule for each of its commands.
    assert_eq!(asks(&mut boss, "echo kept-words && echo other-words"), 2);
    let always = demo.run(&["approve", "2", "--always"]).ok();
    assert!(always.contains("rule 2 of demo-guide is stored: Bash `echo other-words`"), "{always}");
    assert!(always.contains("to undo it: `gangline policy remove 1 2`"), "{always}");
    boss.say("#general", "@demo-guide run sh -c 'echo other-words; echo kept-words'");
    demo.sees(NEWEST, &["3 allowed by rule 1, 2"]);
    // What a killed turn had asked is asked again: this one has ended.
    demo.sees("SELECT state FROM messages WHERE id = 3", &["answered"]);
    let logs = demo.run(&["logs", GUIDE]).ok();
    assert!(logs.contains("allowed by rule 1, 2"), "{logs}");

    demo.kill_guide();
    boss.say("#general", "@demo-guide run echo kept-words");
    demo.sees(NEWEST, &["4 allowed by rule 1"]);

    let rules = demo.run(&["policy", "list", "--json"]).json();
    let numbers: Vec<_> = rules.as_array().unwrap().iter().map(|it| it["number"].clone()).collect();
    assert_eq!(numbers, [1, 2]);
    let removed = demo.run(&["policy", "remove", "1"]).ok();
    assert!(
        removed.contains("rule 1 of demo-guide is removed; the agent asks again for"),
        "{removed}"
    );
    let missing = demo.run(&["policy", "remove", "1", "9"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("there is no rule 1, 9"), "{}", missing.stderr);
    assert_eq!(asks(&mut boss, "echo kept-words"), 5);
    boss.say("#general", "@demo-guide no 5");
    boss.hears(GUIDE, "#general", "approval 5: denied");

    // What expands is allowed once.
    assert_eq!(asks(&mut boss, "echo $HOME"), 6);
    boss.say("#general", "@demo-guide yes 6 always");
    let once = "approval 6 is allowed this once, and I will ask again: no rule is stored, because it expands something";
    boss.hears(GUIDE, "#general", once);
    assert_eq!(demo.run(&["policy", "list", "--json"]).json().as_array().unwrap().len(), 1);
}

/// Rules are tried on recorded calls before anybody makes them, and suggested from what was often allowed
/// and never refused. Rules that would run what a person refused are told, with exit code 1.
#[test]
fn rules_are_tested_on_recorded_calls_and_suggested_from_them() {
    let demo = Demo::start();
    let mut boss = demo.owner("boss");
    let answered = "SELECT count(*) FROM messages WHERE state = 'answered'";
    let calls =
        [("echo plum", "yes"), ("echo plum", "yes"), ("echo fig", "no"), ("echo plum", "yes")];
    for (number, (command, word)) in (1..).zip(calls) {
        assert_eq!(asks(&mut boss, command), number);
        boss.say("#general", &format!("@demo-guide {word} {number}"));
        demo.sees(answered, &[&number.to_string()]);
    }
    let suggested = demo.run(&["policy", "suggest", "--json"]).json();
    let rules = suggested.as_array().unwrap();
    assert_eq!(rules.len(), 1, "{suggested:#}");
    assert_eq!(rules[0]["command"], serde_json::json!(["echo", "plum"]));
    assert_eq!(rules[0]["allowed"], 3);
    let none = demo.run(&["policy", "suggest", "guide", "--at-least", "4"]).ok();
    assert!(none.contains("no rule to suggest"), "{none}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.json");
    let path = file.to_str().unwrap();
    std::fs::write(&file, suggested.to_string()).unwrap();
    let tested = demo.run(&["policy", "test", path]).ok();
    assert!(tested.contains("runs unasked, by rule 1"), "{tested}");
    let counts = "4 recorded calls: 3 would run unasked, 0 would be asked about again, 1 stay";
    assert!(tested.contains(counts), "{tested}");
    let directory = rules[0]["directory"].as_str().unwrap();
    let fig = serde_json::json!([{"tool": "Bash", "directory": directory, "command": "echo fig"}]);
    std::fs::write(&file, fig.to_string()).unwrap();
    let tested = demo.run(&["policy", "test", path, "--since", "1h"]);
    assert_eq!(tested.code, 1, "{}", tested.stdout);
    assert!(tested.stdout.contains("REFUSED"), "{}", tested.stdout);
    let json = demo.run(&["policy", "test", path, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let change = &json["changes"][0];
    assert_eq!((&change["was"], &change["would"]), (&"denied".into(), &"run".into()), "{json:#}");
    assert_eq!(change["approval"], 3);
    assert_eq!(
        demo.run(&["policy", "list", "--json"]).json(),
        serde_json::json!([]),
        "none was made"
    );
}
