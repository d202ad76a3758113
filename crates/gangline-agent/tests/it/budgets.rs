//! Budgets of a day: who counts, what a spent one does, and what follows at midnight.

use std::time::Duration;

use serde_json::json;

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = r#"
rules:
  - when: {user: 'work'}
    reply:
      - tool_use: {name: whoami, input: {}}
      - usage: {input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 5000}
  - when: {tool: whoami}
    reply: [text: "all done", usage: {input_tokens: 100, output_tokens: 20}]
  - reply: [text: "fine", usage: {input_tokens: 10, output_tokens: 1}]
"#;
const USED: &str = "SELECT source || ' ' || (input + output) || ' ' || coalesce(cost_micros, '-') \
                    FROM usage ORDER BY id";
const FINDINGS: &str = "SELECT key || ' ' || state FROM findings ORDER BY number";
const STATES: &str = "SELECT state FROM messages WHERE origin <> 'system' ORDER BY id";
/// Longer than any day.
const A_DAY: Duration = Duration::from_secs(26 * 3600);

/// A budget that stops has the relay refuse the turn's next request; what comes meanwhile is kept, and
/// answered on the next day. The status says that the relay has counted.
#[test]
fn a_stop_refuses_the_next_request_and_keeps_what_comes() {
    let rig = Rig::native(SCRIPT, "budget: {tokens: 120, action: stop}");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada work");
    rig.sees(STATES, &["failed"]);
    assert_eq!(rig.requests().len(), 1, "the model has heard of no second request");
    rig.sees(USED, &["relay 120 -"]);
    rig.sees(FINDINGS, &["budget/lab-ada open"]);
    let refused = "SELECT outcome || ' ' || calls FROM relay_calls ORDER BY outcome";
    rig.sees(refused, &["answered 1", "refused 1"]);
    daemon.dial().sees("who counted", |status| {
        status["spent"]
            == json!([{"source": "relay", "tokens": 120, "cache_read": 5000,
            "unknown_costs": 1}])
    });
    ori.say(ROOM, "@lab-ada and this?");
    rig.sees(STATES, &["failed", "accepted"]);
    rig.clock.forward(A_DAY);
    rig.tick();
    ori.hears(ADA, ROOM, "fine");
    rig.sees(STATES, &["failed", "answered"]);
    rig.sees(FINDINGS, &["budget/lab-ada resolved"]);
    assert_eq!(daemon.stop().code, 0);
}

/// Without a relay the backend's own numbers count; the turn that passes the limit is finished.
#[test]
fn a_hold_lets_the_turn_end_and_begins_no_other() {
    let prices = "prices: {standin: {input: 1, output: 2}}";
    let rig = Rig::native_with(SCRIPT, prices, "budget: {usd: 0.0001}");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada work");
    ori.hears(ADA, ROOM, "all done");
    rig.sees(FINDINGS, &["budget/lab-ada open"]);
    ori.say(ROOM, "@lab-ada and this?");
    rig.sees(STATES, &["answered", "accepted"]);
    let used = rig.query(USED);
    assert!(used.iter().all(|row| row.starts_with("backend ") && !row.ends_with('-')), "{used:?}");
    daemon.dial().sees("who counted", |status| status["spent"][0]["source"] == "backend");
    let pauses = rig.query("SELECT reason FROM pauses");
    assert_eq!(pauses, ["budget"]);
    assert_eq!(daemon.stop().code, 0);
    // It is held by its successor too.
    let daemon = rig.start();
    rig.sees(STATES, &["answered", "accepted"]);
    assert_eq!(daemon.stop().code, 0);
}

/// A budget that warns changes nothing but that people hear of it; the whole day's holds everybody.
#[test]
fn a_warning_hinders_nobody_and_the_days_budget_holds_the_fleet() {
    let rig = Rig::native_with(
        SCRIPT,
        "budgets: {agent: {tokens: 5, action: warn}, day: {tokens: 20}}",
        "",
    );
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada one");
    ori.hears(ADA, ROOM, "fine");
    rig.sees(FINDINGS, &["budget/lab-ada open"]);
    ori.say(ROOM, "@lab-ada two");
    ori.hears(ADA, ROOM, "fine");
    rig.sees("SELECT count(*) FROM fleet_holds WHERE ended_at IS NULL", &["1"]);
    rig.sees("SELECT reason FROM pauses", &["fleet"]);
    ori.say(ROOM, "@lab-ada three");
    rig.sees(STATES, &["answered", "answered", "accepted"]);
    rig.sees(FINDINGS, &["budget/lab-ada open", "budget/day open"]);
    assert_eq!(daemon.stop().code, 0);
}
