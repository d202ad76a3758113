//! The list of rules.

use anstream::adapter::strip_str;
use gangline_core::ApprovalNumber;
use gangline_os::clock::rfc3339;

use super::*;
use crate::view::tests::at;

#[test]
fn each_rule_is_shown_whole() {
    let long = format!("Bash `{}` in /w", "x".repeat(300));
    let rule = |number, allows: &str| PolicyRule {
        command: None,
        file: None,
        arguments: None,
        number,
        agent: "oak-ada".parse().unwrap(),
        tool: "Bash".to_owned(),
        directory: "/w".to_owned(),
        allows: allows.to_owned(),
        approval: Some(ApprovalNumber(5)),
        made_by: "owner".to_owned(),
        made_as: "ori".to_owned(),
        made_at: rfc3339(at(0)),
        void: None,
    };
    let text = list(&[rule(3, "Bash `npm test` in /w"), rule(14, &long)], at(120));
    let text = strip_str(&text).to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(lines[0], "NO  AGENT    AGE  BY   RUNS WITHOUT ASKING");
    assert_eq!(lines[1], "3   oak-ada  2m   ori  Bash `npm test` in /w");
    assert!(lines[2].ends_with(&long), "{text}");
    assert!(list(&[], at(0)).starts_with("no rules;"));
}
