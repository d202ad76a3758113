use anstream::adapter::strip_str;
use gangline_core::MessageId;

use super::{list, whole};
use crate::view::{
    status,
    tests::{approval, at, facts},
};

#[test]
fn ps_has_one_line_an_agent() {
    let mut busy = facts();
    busy.row.as_mut().unwrap().phase = Some("working".into());
    busy.working = vec![MessageId(42)];
    busy.waiting = vec![MessageId(43)];
    let mut down = facts();
    down.nick = "oak-bartholomew".parse().unwrap();
    (down.row, down.holder) = (None, None);
    let text = list(&[status(&busy), status(&down)], at(50));
    insta::assert_snapshot!(strip_str(&text).to_string(), @r"
    AGENT            STATE    PID  TURNS  LAST  DOING
    oak-ada          working  77   4      59s   works on m42, 1 message waits
    oak-bartholomew  down     -    0      -     its daemon is not running
    ");
}

#[test]
fn one_agent_is_shown_whole_and_nothing_of_it_moves_the_cursor() {
    let mut facts = facts();
    facts.row.as_mut().unwrap().phase = Some("working".into());
    facts.approvals = vec![approval()];
    let text = whole(&status(&facts), at(62));
    insta::assert_snapshot!(strip_str(&text).to_string(), @r"
    oak-ada
      state     working
      doing     waits for approval 12
      daemon    process 77, epoch 3
      turns     4, the last 1m ago
      session   s-1
      waits for approval 12 (Bash): ls -l\u{1b}[2J; asked 1m ago
    ");
}
