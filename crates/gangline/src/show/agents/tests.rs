use anstream::adapter::strip_str;

use super::whole;
use crate::view::{
    status,
    tests::{approval, at, facts},
};

#[test]
fn one_agent_is_shown_whole_and_nothing_of_it_moves_the_cursor() {
    let mut facts = facts();
    facts.row.as_mut().unwrap().phase = Some("working".into());
    facts.approvals = vec![approval()];
    let mut agent = status(&facts);
    agent.runtime = Some("native".into());
    agent.configured_runtime = Some("claude".into());
    let text = whole(&agent, at(62));
    insta::assert_snapshot!(strip_str(&text).to_string(), @r"
    oak-ada
      state     working
      doing     waits for approval 12 (Bash)
      daemon    process 77, epoch 3
      turns     4, the last 1m ago
      runtime   native instead of claude, by --runtime
      session   s-1
      waits for approval 12 (Bash): ls -l\u{1b}[2J; asked 1m ago
    ");
}
