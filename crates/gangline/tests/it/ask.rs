//! `gangline ask`, `remind` and `reminders` as people have them.

use std::{io::Write as _, process::Stdio};

use gangline_testkit::{Stage, World, eventually};
use serde_json::json;

const SCRIPT: &str = r##"
rules:
  - when: {user: 'which colour\noptions: 1\) red  2\) blue \(several: such as 1,3\), or a text'}
    reply: [text: "1,2"]
  - when: {user: '\[REMINDER 1\] look at the build'}
    reply: [text: "the build is green"]
  - reply: [text: "done"]
"##;

fn stage() -> Stage {
    Stage::new(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], Some(SCRIPT), ("", ""))
}

/// A person asks with options and waits for the answer; what cannot be asked is told.
#[test]
fn a_person_asks_an_agent_and_waits_for_its_answer() {
    let stage = stage();
    let run = |args: &[&str]| {
        let mut all = vec!["--config", stage.config.as_str()];
        all.extend(args);
        stage.world.run(&all)
    };
    let asked = run(&["ask", "ada", "which", "way?"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "m1\n"), "{}", asked.stderr);
    let ask = ["ask", "ada", "which colour", "--option", "red", "--option", "blue"];
    let mut late = ask.to_vec();
    late.extend(["--wait", "0"]);
    let late = run(&late);
    assert_eq!(late.code, 1);
    assert!(late.stderr.contains("m2 has no answer after 0 s; it stays queued"), "{}", late.stderr);
    let _up = stage.up();
    let mut waits = ask.to_vec();
    waits.extend(["--multi", "--wait", "60"]);
    let answered = run(&waits);
    assert_eq!((answered.code, answered.stdout.as_str()), (0, "1,2\n"), "{}", answered.stderr);
    let many: Vec<String> = (0..21).flat_map(|at| ["--option".into(), format!("o{at}")]).collect();
    let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
    many.extend(["ask", "ada", "which?"]);
    many.rotate_right(3);
    for (args, why) in [
        (&many[..], "not asked: too many options: at most 20"),
        (&["ask", "ada", "which?", "--multi"], "not asked: `multi` needs `options`"),
        (&["ask", "ada", " "], "not asked: the question is empty"),
        (&["ask", "oak-zoe", "which?"], "there is no agent oak-zoe"),
    ] {
        let refused = run(args);
        assert_eq!(refused.code, 1, "{args:?}");
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
}

/// R2-28: a person's reminder comes from `reminder`, is listed and deleted, and is refused with the
/// reason.
#[test]
fn a_person_reminds_an_agent_lists_and_deletes() {
    let stage = stage();
    let run = |args: &[&str]| {
        let mut all = vec!["--config", stage.config.as_str()];
        all.extend(args);
        stage.world.run(&all)
    };
    let soon = run(&["remind", "ada", "in 1 s", "look", "at the build"]);
    assert!(soon.stdout.starts_with("reminder 1 is due "), "{}{}", soon.stdout, soon.stderr);
    assert!(soon.stderr.contains("the reminder waits until it is"), "{}", soon.stderr);
    let daily = run(&["remind", "ada", "every", "day", "9:00", "UTC", "stand", "up"]).ok();
    assert!(daily.starts_with("reminder 2 is due ") && daily.contains(", then "), "{daily}");
    let list = run(&["reminders", "ada"]).ok();
    assert!(list.contains("stand up (cron 0 9 * * * @UTC)"), "{list}");
    for (args, why) in [
        (&["remind", "ada", "2020-01-01 09:00", "pay"][..], "has passed"),
        (
            &["remind", "ada", "some day", "pay"],
            "`some day` is not a time that Gangline understands",
        ),
        (&["remind", "ada", "in 20 min", " "], "its text is empty"),
        (&["remind", "oak-zoe", "in 20 min", "pay"], "there is no agent oak-zoe"),
        (&["reminders", "oak-zoe"], "there is no agent oak-zoe"),
        (&["reminders", "cancel", "9"], "there is no reminder 9"),
    ] {
        let refused = run(args);
        assert_eq!(refused.code, 1, "{args:?}");
        assert!(refused.stderr.contains(why), "{args:?}: {}", refused.stderr);
    }
    let _up = stage.up();
    eventually("the reminder", || {
        (stage.query("SELECT state FROM reminders WHERE id = 1") == ["fired"]).then_some(())
    });
    let all = run(&["reminders", "--all", "--json"]).json();
    assert_eq!(all[0]["state"], "fired");
    let answer = "SELECT sender || ': ' || coalesce(answer, '') FROM messages \
                  WHERE origin = 'reminder'";
    eventually("its answer", || {
        (stage.query(answer) == ["reminder: the build is green"]).then_some(())
    });
    let deleted = run(&["reminders", "cancel", "2"]).ok();
    assert_eq!(deleted, "reminder 2 of oak-ada is deleted: stand up\n");
    let fired = run(&["reminders", "cancel", "1"]).stderr;
    assert!(fired.contains("reminder 1 has fired already"), "{fired}");
    assert!(run(&["reminders"]).ok().starts_with("no reminders; set one: "));
    let all = run(&["reminders", "--all", "--json"]).json();
    assert_eq!(
        (&all[0]["reminder"], &all[0]["by"], &all[1]),
        (&json!(1), &json!("owner"), &json!(null))
    );
}

/// R2-28: a text that is too long for a command line is read from standard input, and becomes a file.
#[test]
fn a_long_reminder_comes_by_standard_input() {
    let stage = stage();
    let piped = |text: String| {
        let words = ["--config", &stage.config, "--json", "remind", "ada", "tomorrow 9:00", "-"];
        let mut command = stage.world.command(&words);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let long = piped("look\n".repeat(40_000));
    let made: serde_json::Value = serde_json::from_slice(&long.stdout).unwrap();
    let body = made["body"].as_str().unwrap();
    assert!(
        body.starts_with("The reminder is in the file ") && body.contains("(199999 bytes)"),
        "{body}"
    );
    let refused = piped("x".repeat((1 << 20) + 1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("longer than 1048576 bytes"));
}

/// In an agent's shell they are the owner's, and say what the agent has instead.
#[test]
fn an_agents_shell_neither_asks_nor_reminds_in_the_owners_name() {
    let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
    world.set("GANGLINE_RUN", "x/oak-ada/1");
    for (args, why) in [
        (&["ask", "oak-bob", "which?"][..], "gangline channel ask"),
        (&["remind", "oak-ada", "in 20 min", "look"], "an agent cannot set reminders"),
    ] {
        let refused = world.run(args);
        assert_eq!(refused.code, 1, "{args:?}");
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
}
