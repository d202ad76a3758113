use std::time::Duration;

use anstream::adapter::strip_str;
use gangline_api::budget::Counted;
use gangline_core::{
    agent::AgentPhase,
    budget::{Spent, UsageSource},
    pause::PauseReason,
};
use gangline_os::clock;
use gangline_store::{Holds, PauseRow};

use super::whole;
use crate::view::{
    Facts, status,
    tests::{approval, at, facts},
};

#[test]
fn one_agent_is_shown_whole_and_nothing_of_it_moves_the_cursor() {
    let mut facts = facts();
    facts.row.as_mut().unwrap().phase = Some(AgentPhase::Working.into());
    facts.around.approvals = vec![approval()];
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
      waits for approval 12 (Bash): ls -l<U+001B>[2J; asked 1m ago; `gangline approvals 12` shows all of it
    ");
}

/// R0-52: an agent that was paused before its backend has started is paused, and says until when by
/// the clocks here, and what ends it.
#[test]
fn an_agent_that_is_paused_from_its_start_says_so() {
    let mut facts = facts();
    let row = facts.row.as_mut().unwrap();
    row.phase = Some(AgentPhase::Starting.into());
    row.status_json = None;
    let now = clock::system().now();
    let until = now.plus(Duration::from_secs(7200));
    row.pauses = vec![PauseRow {
        reason: PauseReason::Budget,
        until: Some(until),
        holds: Holds::Yes,
        note: None,
        at: now,
    }];
    let text = strip_str(&whole(&status(&facts), now)).to_string();
    assert!(text.contains("\n  state     paused\n"), "{text}");
    let (date, minute) = clock::local_minute(until);
    let held = |more: &str| format!("held until {date} {minute}{more}: its budget is spent");
    assert!(text.contains(&format!("\n  doing     {}\n", held(""))), "{text}");
    let helps = "; raise it with `gangline budget raise`, or wait until then";
    assert!(text.contains(&format!("\n  paused    {}{helps}\n", held(" (in 2h)"))), "{text}");
}

/// A number says who counted it, and an unknown cost is no 0.
#[test]
fn what_was_spent_says_who_counted_it() {
    let mut agent = status(&facts());
    let counted = |source: UsageSource, micros, unknown| {
        Counted::of(source.into(), &Spent { tokens: 1200, micros, unknown }, 0)
    };
    agent.spent = vec![
        counted(UsageSource::Backend, 0, 1),
        counted(UsageSource::Relay, 30_000, 0),
        counted(UsageSource::Relay, 30_000, 2),
    ];
    let text = strip_str(&whole(&agent, at(62))).to_string();
    let spent = text.lines().find_map(|line| line.trim().strip_prefix("spent ")).unwrap();
    assert_eq!(
        spent.trim(),
        "today 1200 tokens, of unknown cost (as its backend says); 1200 tokens, $0.03 (counted by \
         the relay); 1200 tokens, $0.03 and what has no known price (counted by the relay)"
    );
}

/// R0-53: what is wrong, and what to do once it is right.
#[test]
fn a_parked_agent_says_what_has_to_be_mended() {
    let mut facts = facts();
    let row = facts.row.as_mut().unwrap();
    row.phase = Some(AgentPhase::Parked.into());
    row.status_json = Some(r#"{"parked":"cannot start x: no such file"}"#.into());
    let waits = |facts: &Facts| {
        let text = strip_str(&whole(&status(facts), at(62))).to_string();
        text.lines().next_back().unwrap_or_default().to_owned()
    };
    let rest = "oak-ada`, once this is fixed: cannot start x: no such file";
    assert_eq!(waits(&facts), format!("  waits for `gangline resume {rest}"));
    facts.holder = None;
    assert_eq!(waits(&facts), format!("  waits for `gangline start {rest}"));
}

/// C5: whatever lets tools run unasked stands in the status, the daemon being there or not.
#[test]
fn tools_that_run_unasked_are_shown() {
    let mut facts = facts();
    let mut tools = |note: &str| {
        facts.row.as_mut().unwrap().status_json = Some(note.into());
        let text = strip_str(&whole(&status(&facts), at(62))).to_string();
        text.lines()
            .find_map(|line| line.trim().strip_prefix("tools"))
            .map(|it| it.trim().to_owned())
    };
    let bypass = r#"{"permissions":"bypass"}"#;
    let shown = "permissions: BYPASS: every tool runs unasked".to_owned();
    assert_eq!(tools(bypass), Some(shown));
    let unasked = r#"{"permissions":"ask","unasked":"Bash `touch a\u001b`"}"#;
    let shown = tools(unasked).unwrap();
    assert!(
        shown.starts_with("UNASKED: it ran Bash `touch a") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    assert!(shown.ends_with("`permissions: ask` has no effect on this program"), "{shown}");
    assert_eq!(tools(r#"{"permissions":"ask"}"#), None);
}
