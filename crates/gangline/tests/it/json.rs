//! `--json` of every reading command, held against the table of `docs/json.md`.

use std::collections::BTreeSet;

use gangline_testkit::{Stage, eventually};
use serde_json::Value;

const TABLE: &str = include_str!("../../../../docs/json.md");

/// One row of the table.
#[derive(Debug)]
struct Row {
    words: Vec<String>,
    is_list: bool,
    always: BTreeSet<String>,
    sometimes: BTreeSet<String>,
}

fn rows() -> Vec<Row> {
    let names = |cell: &str| -> BTreeSet<String> {
        let parts = cell.split('`').skip(1).step_by(2);
        parts.map(str::to_owned).collect()
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [command, form, always, sometimes] = cells[..] else { return None };
        let words = command.trim_matches('`').strip_prefix("gangline ")?;
        Some(Row {
            words: words.split_whitespace().map(str::to_owned).collect(),
            is_list: form == "list",
            always: names(always),
            sometimes: names(sometimes),
        })
    };
    TABLE.lines().filter(|line| line.starts_with("| `gangline ")).filter_map(row).collect()
}

/// Every command of the table prints what the table says and no secret.
#[test]
fn what_is_printed_is_what_the_table_says() {
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], None, ("", ""));
    let _up = stage.up();
    let run = |words: &[&str]| {
        let mut args = vec!["--config", stage.config.as_str(), "--json"];
        args.extend(words);
        stage.world.run(&args)
    };
    let asked = run(&["prompt", "ada", "run", "ls"]).ok();
    assert!(asked.contains("\"id\": \"m1\""), "{asked}");
    eventually("the approval", || {
        (stage.query("SELECT count(*) FROM approvals WHERE state = 'open'") == ["1"]).then_some(())
    });
    crate::inbox::ask(&stage.world.state(), "oak-ada", &["merge?"], "the disk is full");
    let made = run(&["token", "add", "--scope", "mcp:ada", "--label", "an editor"]).json();
    let of_agent = stage.world.state().join("agents/oak-ada/irc.secret");
    let of_agent = std::fs::read_to_string(of_agent).unwrap().trim().to_owned();
    let secrets = [stage.token(), of_agent, made["token"].as_str().unwrap().to_owned()];
    let rows = rows();
    assert!(rows.len() >= 12, "{rows:#?}");
    for row in rows {
        let words: Vec<&str> = row.words.iter().map(String::as_str).collect();
        let ran = run(&words);
        // `doctor` ends with 1 where something is wrong.
        assert!(ran.code == 0 || words == ["doctor"], "{words:?}: {}{}", ran.stdout, ran.stderr);
        for secret in &secrets {
            assert!(!ran.stdout.contains(secret), "{words:?} prints a secret");
        }
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        let items = match (&json, row.is_list) {
            (Value::Array(items), true) => items.clone(),
            (Value::Object(_), false) => vec![json.clone()],
            _ => panic!("{words:?} has another form: {json:#}"),
        };
        assert!(!items.is_empty(), "{words:?} shows nothing");
        for item in items {
            let keys: BTreeSet<String> = item.as_object().unwrap().keys().cloned().collect();
            let missing: Vec<_> = row.always.difference(&keys).collect();
            assert!(missing.is_empty(), "{words:?} has no {missing:?}: {item:#}");
            let known: BTreeSet<String> = row.always.union(&row.sometimes).cloned().collect();
            let more: Vec<_> = keys.difference(&known).collect();
            assert!(more.is_empty(), "docs/json.md does not name {more:?} of {words:?}");
        }
    }
}
