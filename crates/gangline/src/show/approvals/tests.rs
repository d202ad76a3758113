use anstream::adapter::strip_str;
use gangline_core::approval::ApprovalState;
use gangline_store::ApprovalRow;

use super::{list, title};
use crate::view::{
    self,
    tests::{approval, at, owner},
};

#[test]
fn approvals_are_a_table() {
    let denied = ApprovalRow {
        number: gangline_core::ApprovalNumber(3),
        state: ApprovalState::Denied,
        decided_by: Some(owner()),
        decided_as: Some("ori (owner)".to_owned()),
        ..approval()
    };
    let rows = [view::approval(&denied), view::approval(&approval())];
    insta::assert_snapshot!(strip_str(&list(&rows, at(122))).to_string(), @r"
    NO  AGENT    STATE   AGE  TOOL  WHAT
    3   oak-ada  denied  2m   Bash  ls -l<U+001B>[2J  (by ori (owner))
    12  oak-ada  open    2m   Bash  ls -l<U+001B>[2J

    `gangline approvals NO` shows all of one
    ");
    assert_eq!(list(&[], at(0)), "no approval waits\n");
}

#[test]
fn the_title_of_one_says_where_it_stands_and_who_decided() {
    let denied = ApprovalRow {
        state: ApprovalState::Denied,
        decided_by: Some(owner()),
        decided_as: Some("root at the command line".to_owned()),
        note: Some(gangline_core::Redacted::constant("use make")),
        ..approval()
    };
    assert_eq!(
        title(&view::approval(&denied), at(122)),
        "approval 12 of oak-ada: denied by root at the command line (owner): use make, asked 2m ago"
    );
}
