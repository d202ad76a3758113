//! Budgets of a day: who counts, what a spent one does, and what follows at midnight.

use std::time::Duration;

use gangline_core::budget::{self, BudgetScope};
use gangline_os::clock::Clock as _;
use gangline_store::NewRaise;
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
    // The tick is due too. One more would be half a minute in which the backend takes no prompt.
    rig.clock.forward(A_DAY);
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

/// More for one of two spent budgets does not release the agent, which the other one still holds.
#[test]
fn a_raise_of_one_budget_leaves_the_hold_of_another() {
    let rig = Rig::native_with(
        SCRIPT,
        "budgets: {rooms: {'#general': {tokens: 10}}}",
        "budget: {tokens: 10}",
    );
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada one");
    ori.hears(ADA, ROOM, "fine");
    let both = "the budget of lab-ada, 11 of 10 tokens; the budget of #general, 11 of 10 tokens";
    rig.sees("SELECT note FROM pauses", &[both]);
    raise(&rig, BudgetScope::Agent(ADA.parse().unwrap()));
    rig.sees("SELECT note FROM pauses", &["the budget of #general, 11 of 10 tokens"]);
    ori.say(ROOM, "@lab-ada two");
    rig.sees(STATES, &["answered", "accepted"]);
    raise(&rig, BudgetScope::Room(ROOM.parse().unwrap()));
    ori.hears(ADA, ROOM, "fine");
    rig.sees("SELECT reason FROM pauses", &[]);
    assert_eq!(daemon.stop().code, 0);
}

/// Adds 100 tokens to a budget of today, as another process does.
fn raise(rig: &Rig, scope: BudgetScope) {
    let now = jiff::Timestamp::from_microsecond(rig.clock.now().0).unwrap();
    let day = budget::day(&jiff::Zoned::new(now, jiff::tz::TimeZone::system())).unwrap().name;
    let raise = "100".parse().unwrap();
    let new = NewRaise { scope, day, raise, by: "ori".to_owned() };
    rig.outside(async |store| store.raise_budget(new.clone()).await.unwrap());
    rig.notify();
}

/// A raise acts at once: the change notice wakes the daemon, which need not wait for a tick.
#[test]
fn a_raise_lets_the_agent_go_on_at_once() {
    let rig = Rig::native(SCRIPT, "budget: {tokens: 10}");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada one");
    ori.hears(ADA, ROOM, "fine");
    rig.sees("SELECT reason FROM pauses", &["budget"]);
    ori.say(ROOM, "@lab-ada two");
    rig.sees(STATES, &["answered", "accepted"]);
    let mut owner = rig.owner("boss");
    owner.say(ROOM, "@lab-ada resume");
    let told =
        owner.hears(ADA, ROOM, "`resume` does not end this: raise it with `gangline budget raise`");
    let held = "my budget is spent (the budget of lab-ada, 11 of 10 tokens)";
    assert!(told.contains("I am held until ") && told.contains(held), "{told}");
    raise(&rig, BudgetScope::Agent(ADA.parse().unwrap()));
    ori.hears(ADA, ROOM, "fine");
    rig.sees(FINDINGS, &["budget/lab-ada resolved"]);
    rig.sees("SELECT reason FROM pauses", &[]);
    assert_eq!(daemon.stop().code, 0);
}

/// The fleet's hold is for every agent, also for one without a budget; it is known to the next daemon, and
/// its end acts at once.
#[test]
fn the_fleets_hold_is_for_an_agent_without_a_budget_too() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    rig.outside(async |store| assert!(store.hold_fleet("the day is spent", None).await.unwrap()));
    rig.notify();
    rig.sees("SELECT reason FROM pauses", &["fleet"]);
    ori.say(ROOM, "@lab-ada one");
    rig.sees(STATES, &["accepted"]);
    rig.outside(async |store| assert!(store.release_fleet("ori").await.unwrap()));
    rig.notify();
    ori.hears(ADA, ROOM, "fine");
    rig.outside(async |store| assert!(store.hold_fleet("again", None).await.unwrap()));
    rig.notify();
    rig.sees("SELECT reason FROM pauses", &["fleet"]);
    daemon.kill();
    rig.outside(async |store| assert!(store.release_fleet("ori").await.unwrap()));
    let daemon = rig.start();
    rig.sees("SELECT reason FROM pauses", &[]);
    ori.say(ROOM, "@lab-ada two");
    rig.sees(STATES, &["answered", "answered"]);
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

/// An API whose certificate this system does not trust, with a relay and without: the turn fails at once, the room
/// is told the cause without the address, and the agent's log has the whole error.
#[test]
fn an_untrusted_certificate_of_the_api_fails_the_turn_and_is_told() {
    for relay in ["relay: true", "relay: false"] {
        let mut rig = Rig::native(SCRIPT, relay);
        rig.put_model_behind_tls();
        let daemon = rig.start();
        let mut ori = rig.member("ori");
        ori.say(ROOM, "@lab-ada work");
        let cause = "nobody whom this machine trusts has signed its certificate";
        let told = format!("the model's server is not trusted: {cause}; `gangline logs` says more");
        ori.hears(ADA, ROOM, &format!("no answer: {told}"));
        rig.sees(
            "SELECT state || ' ' || reason FROM messages",
            &["failed turn_failed:api_untrusted"],
        );
        let causes = "SELECT count(*) FROM events WHERE kind = 'notice' AND payload LIKE '%invalid peer \
                      certificate%'";
        rig.sees(causes, &["1"]);
        let retries =
            "SELECT count(*) FROM events WHERE kind = 'notice' AND payload LIKE '%did not answer%'";
        rig.sees(retries, &["0"]);
        if relay == "relay: true" {
            rig.sees("SELECT outcome || ' ' || calls FROM relay_calls", &["failed 1"]);
        }
        assert!(rig.requests().is_empty());
        assert_eq!(daemon.stop().code, 0);
    }
}
