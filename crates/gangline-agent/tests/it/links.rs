//! Files that are links: what people see of them, what a rule covers, and what happens when one is put in
//! between the question and the answer.

use std::{fs, os::unix::fs::symlink};

use gangline_testkit::irc;

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = r#"
rules:
  - when: {user: 'write (\S+) (.*)'}
    reply: [tool_use: {name: Write, input: {file_path: "$1", content: "$2"}}]
  - when: {user: 'run (.*)'}
    reply: [tool_use: {name: Bash, input: {command: "$1", cwd: "/home/other"}}]
  - when: {tool: Write}
    reply: [text: "written"]
  - when: {tool: Bash}
    reply: [text: "it said: ${tool_result}"]
  - reply: [text: "what?"]
"#;
const RULES: &str = "SELECT number || ' ' || (void IS NOT NULL) FROM rules";
const ALERTS: &str = "SELECT count(*) FROM alerts WHERE text LIKE '%of lab-ada is void%'";

/// What a link leads to is named, and has no rule. A rule of a file allows nothing once the file is a link,
/// and is void from the next start on, which is said once.
#[test]
fn a_link_is_named_with_its_target_and_has_no_rule() {
    let rig = Rig::native(SCRIPT, "");
    fs::write(rig.work("../profile"), "mine").unwrap();
    symlink("../profile", rig.work("README.md")).unwrap();
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("otto"), rig.member("ori"));
    ori.say(ROOM, &format!("@lab-ada write {} hello", rig.work("README.md").display()));
    let asked = owner.hears(ADA, ROOM, "wants to write");
    assert!(asked.contains("README.md → ") && asked.contains("profile, a link"), "{asked}");
    owner.say(ROOM, "@lab-ada yes 1 always");
    let once = owner.hears(ADA, ROOM, "no rule is stored, because");
    assert!(once.contains("profile, a link"), "{once}");
    ori.hears(ADA, ROOM, "written");
    assert_eq!(rig.query(RULES), [""; 0]);

    let write = format!("@lab-ada write {} plum", rig.work("t.txt").display());
    ori.say(ROOM, &write);
    assert_eq!(irc::approval(&owner.hears(ADA, ROOM, "wants to write")), Some(2));
    owner.say(ROOM, "@lab-ada yes 2 always");
    ori.hears(ADA, ROOM, "written");
    ori.say(ROOM, &write);
    ori.hears(ADA, ROOM, "written");
    rig.sees("SELECT decided_by FROM approvals WHERE number = 3", &["rule 1"]);

    fs::write(rig.work("../profile"), "mine").unwrap();
    fs::rename(rig.work("t.txt"), rig.work("kept.txt")).unwrap();
    symlink("../profile", rig.work("t.txt")).unwrap();
    ori.say(ROOM, &write);
    let asked = owner.hears(ADA, ROOM, "t.txt → ");
    assert_eq!(irc::approval(&asked), Some(4), "{asked}");
    owner.say(ROOM, "@lab-ada no 4");
    ori.hears(ADA, ROOM, "written");
    assert_eq!(fs::read_to_string(rig.work("../profile")).unwrap(), "mine");
    assert_eq!(daemon.stop().code, 0);

    for _ in 0..2 {
        let daemon = rig.start();
        rig.sees(RULES, &["1 1"]);
        rig.sees(ALERTS, &["1"]);
        assert_eq!(daemon.stop().code, 0);
    }
}

/// The native shell has no argument for a folder: what a model says there is shown as ignored.
#[test]
fn a_folder_that_the_tool_ignores_is_not_shown_as_its_folder() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("otto"), rig.member("ori"));
    ori.say(ROOM, "@lab-ada run echo plum");
    let asked = owner.hears(ADA, ROOM, "wants to run");
    let ignored = r#"`echo plum with {"ignored":{"cwd":"/home/other"}}`"#;
    assert!(asked.contains(ignored) && !asked.contains("in /home/other"), "{asked}");
    owner.say(ROOM, "@lab-ada no 1");
    ori.hears(ADA, ROOM, "it said: ");
    assert_eq!(daemon.stop().code, 0);
}

/// Other programs open a file by its name: where that leads elsewhere by the time of the answer, the call is
/// refused, and the model and the log are told why.
#[test]
fn a_link_that_is_put_in_before_the_answer_refuses_the_call() {
    let body = r#"ready; prompt
say "{\"type\":\"control_request\",\"request_id\":\"q1\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"Write\",\"input\":{\"file_path\":\"$GT_WORKDIR/a.txt\",\"content\":\"x\"}}}"
read -r answer; printf '%s\n' "$answer" > answer
words finished; serve"#;
    let rig = Rig::program(body, "");
    fs::write(rig.work("a.txt"), "").unwrap();
    let daemon = rig.start();
    let mut owner = rig.owner("otto");
    owner.say(ROOM, "@lab-ada hello");
    let asked = owner.hears(ADA, ROOM, "wants to write");
    assert!(!asked.contains('→'), "{asked}");
    fs::remove_file(rig.work("a.txt")).unwrap();
    symlink("../profile", rig.work("a.txt")).unwrap();
    owner.say(ROOM, "@lab-ada yes 1");
    owner.hears(ADA, ROOM, "finished");
    let answer = rig.lines("answer").join("");
    assert!(answer.contains(r#""behavior":"deny""#) && answer.contains("it leads to"), "{answer}");
    let noticed = "SELECT count(*) FROM events WHERE payload LIKE '%when people were asked%'";
    rig.sees(noticed, &["1"]);
    assert_eq!(daemon.stop().code, 0);
}
