//! The chat server's history is damaged while the hub runs.

use std::{fs, path::Path};

use gangline_testkit::{database, eventually, irc};

use super::{ADA, stage_with};

/// Overwrites all pages but the first. What the server remembers of them is out of date by then.
fn damage(path: &Path) {
    let _ = database::query(path, "UPDATE openings SET at_us = at_us");
    eventually("all of the log to be in the file", || {
        (database::query(path, "PRAGMA wal_checkpoint(TRUNCATE)") == ["0"]).then_some(())
    });
    let mut bytes = fs::read(path).unwrap();
    for page in bytes.chunks_mut(4096).skip(1) {
        page.fill(0xA5);
    }
    fs::write(path, &bytes).unwrap();
}

/// Lines are refused, in words that name the file; the owner is told; `doctor` names it. The next
/// start ends with 78, and works once the file is moved away.
#[test]
fn a_history_that_is_damaged_while_the_hub_runs_is_told() {
    let stage = stage_with(None);
    let mut hub = stage.up();
    let mut boss = stage.owner("boss");
    let mut alice = stage.member("alice");
    alice.say("#general", "@bi-ada say exactly before");
    alice.hears(ADA, "#general", "before");
    let path = stage.world.state().join("irc.db");
    damage(&path);
    alice.say("#general", "@bi-ada say exactly after");
    let damaged = |line: &str| line.contains("irc.db is damaged").then(|| line.to_owned());
    let refused = alice.wait("a refusal", damaged);
    for part in ["was not stored and not delivered", "`gangline down`", "restore a backup"] {
        assert!(refused.contains(part), "no {part} in {refused}");
    }
    let told = boss.wait("the owner to be told", damaged);
    assert_eq!(irc::command(&told), "NOTICE", "{told}");
    assert!(told.contains("refuses all messages"), "{told}");
    alice.send("PING :still-there");
    alice.wait("an answer", |line| line.contains("still-there").then_some(()));
    let found = stage.world.run(&["--config", &stage.config, "doctor", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    let checks = found["checks"].as_array().unwrap();
    let history = checks.iter().find(|it| it["check"] == "history").unwrap();
    assert_eq!(history["result"], "fail", "{history}");
    assert!(history["found"].as_str().unwrap().contains("irc.db is damaged"), "{history}");
    let prompts = "SELECT count(*) FROM messages WHERE body LIKE '%after'";
    assert_eq!(stage.query(prompts), ["0"], "nobody saw the line");
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    let up = stage.up_ends();
    assert_eq!(up.code, 78, "{}{}", up.stdout, up.stderr);
    assert!(up.stderr.contains("irc.db is damaged and was not changed"), "{}", up.stderr);
    for ending in ["", "-wal", "-shm"] {
        let file = stage.world.state().join(format!("irc.db{ending}"));
        let _ = fs::rename(&file, stage.world.path(&format!("moved{ending}")));
    }
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    alice.say("#general", "@bi-ada say exactly again");
    alice.hears(ADA, "#general", "again");
}
