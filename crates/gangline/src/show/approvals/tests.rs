use anstream::adapter::strip_str;
use gangline_broker::{ApprovalRow, ApprovalState};

use super::list;
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
        ..approval()
    };
    let rows = [view::approval(&denied), view::approval(&approval())];
    insta::assert_snapshot!(strip_str(&list(&rows, at(122))).to_string(), @r"
    NO  AGENT    STATE   AGE  TOOL  WHAT
    3   oak-ada  denied  2m   Bash  ls -l\u{1b}[2J  (by owner)
    12  oak-ada  open    2m   Bash  ls -l\u{1b}[2J
    ");
    assert_eq!(list(&[], at(0)), "no approval waits\n");
}
