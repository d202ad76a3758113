//! What was spent, by whom and where; raises; holds of the fleet.

use std::{sync::Arc, time::Duration};

use gangline_core::{
    budget::{BudgetScope, CallOutcome, Raise, Spent, UsageSource},
    usage::{MICROS_MAX, TOKENS_MAX},
};
use gangline_os::clock::{self, Clock, SharedClock, UnixMicros};
use gangline_store::{
    NewMessage, NewRaise, NewRelayOpen, NewUsage, OpenOptions, RelayedCall, Store, StoreError,
};

use crate::support::*;

const ALL: UnixMicros = UnixMicros(0);

/// A turn's usage counts for its agent, for the rooms of its messages, and for the day; what has no known
/// cost is counted as such.
pub(crate) async fn spending_is_added_up_by_agent_room_and_day(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let said = NewMessage { target: "#General".to_owned(), ..message(&ada(), "a") };
    let id = store.accept(said).await.unwrap().id;
    let turn = turn(epoch, 1);
    store.take(take(&ada(), turn, &[id])).await.unwrap();
    store.relayed(relayed(Some(turn), 7)).await.unwrap();
    store.add_usage(NewUsage { cost_micros: Some(40), ..usage(None) }).await.unwrap();
    store.add_usage(NewUsage { agent: bob(), ..usage(None) }).await.unwrap();
    let spent = async |scope: BudgetScope| store.spent(scope, ALL).await.unwrap();
    let of = |tokens, micros, unknown| Spent { tokens, micros, unknown };
    assert_eq!(spent(BudgetScope::Agent(ada())).await, of(10, 40, 1));
    assert_eq!(spent(BudgetScope::Agent(bob())).await, of(2, 0, 1));
    assert_eq!(spent(BudgetScope::Day).await, of(12, 40, 2));
    let room = BudgetScope::Room("#general".parse().unwrap());
    assert_eq!(spent(room).await, of(8, 0, 1));
    assert_eq!(spent(BudgetScope::Room("#elsewhere".parse().unwrap())).await, Spent::default());
    assert_eq!(
        store.spent(BudgetScope::Day, UnixMicros(i64::MAX)).await.unwrap(),
        Spent::default()
    );
    let rows = store.spent_by_agent(None, ALL).await.unwrap();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row.agent.to_string(), row.source.known().unwrap(), row.spent.tokens))
        .collect();
    let expected = [
        (ada().to_string(), UsageSource::Backend, 2),
        (ada().to_string(), UsageSource::Relay, 8),
        (bob().to_string(), UsageSource::Backend, 2),
    ];
    let mut expected = expected.to_vec();
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(rows, expected);
    let bobs = store.spent_by_agent(Some(&bob()), ALL).await.unwrap();
    assert_eq!(bobs.iter().map(|row| row.spent.tokens).collect::<Vec<_>>(), [2]);
}

/// No number that an API told breaks a sum: new rows are bounded, and rows of an older version are added up
/// as if they were.
pub(crate) async fn no_number_breaks_a_sum(fixture: &Fixture) {
    let store = fixture.open().await;
    store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    let huge = NewUsage {
        input: i64::MAX,
        output: i64::MAX,
        cache_read: i64::MAX,
        cache_write: -7,
        cost_micros: Some(i64::MAX),
        ..usage(None)
    };
    store.add_usage(huge).await.unwrap();
    let spent = async || store.spent(BudgetScope::Day, ALL).await.unwrap();
    let most = Spent { tokens: 2 * TOKENS_MAX, micros: MICROS_MAX, unknown: 0 };
    assert_eq!(spent().await, most);
    rusqlite::Connection::open(fixture.path())
        .unwrap()
        .execute_batch(&format!(
            "UPDATE usage SET input = {0}, output = {0}, cache_read = {0}, cache_write = {0}, \
             cost_micros = {0}; INSERT INTO usage (installation_id, agent, model, input, output, \
             cache_read, cache_write, cost_micros, at, spender, source) SELECT installation_id, \
             agent, model, input, output, cache_read, cache_write, cost_micros, at, spender, source \
             FROM usage;",
            i64::MAX
        ))
        .unwrap();
    assert_eq!(spent().await, Spent { tokens: 6 * TOKENS_MAX, micros: 2 * MICROS_MAX, unknown: 0 });
    let rows = store.spent_by_agent(None, ALL).await.unwrap();
    assert_eq!((rows.len(), rows[0].cache_read), (1, 2 * TOKENS_MAX));
    let sum = store.usage(Some(&ada()), ALL).await.unwrap();
    assert_eq!((sum.calls, sum.input), (2, 2 * TOKENS_MAX.cast_signed()));
    for _ in 0..3 {
        let most = Raise { tokens: u64::MAX, micros: u64::MAX };
        store.raise_budget(NewRaise { raise: most, ..raise("day", "1") }).await.unwrap();
    }
    assert!(store.raised(BudgetScope::Day, DAY).await.unwrap().tokens > 0);
}

pub(crate) async fn relayed_calls_are_counted_by_day_and_end(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    for outcome in [CallOutcome::Answered, CallOutcome::Answered, CallOutcome::RateLimited] {
        store.relayed(RelayedCall { outcome, ..relayed(None, 0) }).await.unwrap();
    }
    let rows = store.relayed_on(DAY).await.unwrap();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row.outcome.as_str(), row.calls, row.first_byte_micros, row.lasted_micros))
        .collect();
    assert_eq!(rows, [("answered", 2, 40, 600), ("rate_limited", 1, 20, 300)]);
    assert!(store.relayed_on("2026-11-27").await.unwrap().is_empty());
    store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    let late = store.relayed(relayed(Some(turn(epoch, 1)), 1)).await;
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
}

/// A call that was noted and whose daemon was killed is listed to the daemon's next life, with the model that
/// the agent used last; a call that ended is not.
pub(crate) async fn a_noted_call_that_did_not_end_is_listed_to_the_next_life(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let begins = |bytes| NewRelayOpen { agent: ada(), epoch, day: DAY.to_owned(), bytes };
    let (tell, told) = std::sync::mpsc::channel();
    let note = async |bytes| {
        let tell = tell.clone();
        store.relay_begins(begins(bytes), move |number| tell.send(number).unwrap()).await.unwrap()
    };
    let numbers = [note(Some(80)).await, note(None).await, note(Some(0)).await];
    assert_eq!([told.recv().unwrap(), told.recv().unwrap(), told.recv().unwrap()], numbers);
    let ended = RelayedCall { noted: Some(numbers[2]), ..relayed(Some(turn(epoch, 1)), 7) };
    store.relayed(ended).await.unwrap();
    assert_eq!(store.unsettled(&ada(), epoch, 9).await.unwrap(), [], "they may be under way");
    let next = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let late = store.relay_begins(begins(None), |_| {}).await;
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    let rows = store.unsettled(&ada(), next, 9).await.unwrap();
    let seen: Vec<_> = rows.iter().map(|row| (row.id, row.bytes, row.day.as_str())).collect();
    assert_eq!(seen, [(numbers[0], Some(80), DAY), (numbers[1], None, DAY)]);
    assert_eq!(rows[0].model, usage(None).model);
    assert_eq!(store.unsettled(&ada(), next, 1).await.unwrap().len(), 1);
    assert_eq!(store.unsettled(&bob(), next, 9).await.unwrap(), []);
    let outcome = CallOutcome::Unsettled;
    for row in rows {
        let noted = Some(row.id);
        store.relayed(RelayedCall { noted, outcome, ..relayed(None, 0) }).await.unwrap();
    }
    assert_eq!(store.unsettled(&ada(), next, 9).await.unwrap(), []);
    let rows = store.relayed_on(DAY).await.unwrap();
    let counted: Vec<_> = rows.iter().map(|row| (row.outcome.as_str(), row.calls)).collect();
    assert_eq!(counted, [("answered", 1), ("unsettled", 2)]);
}

pub(crate) async fn a_budget_is_raised_for_one_day(fixture: &Fixture) {
    let store = fixture.open().await;
    for (scope, by) in [("day", "5k"), ("day", "$2"), ("#general", "7"), ("day", "1")] {
        store.raise_budget(raise(scope, by)).await.unwrap();
    }
    let of = async |day: &str| store.raised(BudgetScope::Day, day).await.unwrap();
    assert_eq!(of(DAY).await, Raise { tokens: 5001, micros: 2_000_000 });
    assert_eq!(of("2026-11-27").await, Raise::default());
}

pub(crate) async fn one_hold_of_the_fleet_is_open_at_a_time(fixture: &Fixture) {
    let store = fixture.open().await;
    assert_eq!(store.fleet_hold().await.unwrap(), None);
    assert!(!store.release_fleet("otto").await.unwrap());
    assert!(store.hold_fleet("too much", Some(UnixMicros(9))).await.unwrap());
    assert!(!store.hold_fleet("again", None).await.unwrap());
    let hold = store.fleet_hold().await.unwrap().unwrap();
    assert_eq!((hold.why.as_str(), hold.until), ("too much", Some(UnixMicros(9))));
    assert_eq!(store.fleet_released_at().await.unwrap(), None);
    assert!(store.release_fleet("otto").await.unwrap());
    assert_eq!(store.fleet_hold().await.unwrap(), None);
    assert!(store.fleet_released_at().await.unwrap().is_some());
    assert!(store.hold_fleet("once more", None).await.unwrap());
}

/// A clock that is this many days behind.
struct Behind(u32);

impl Clock for Behind {
    fn now(&self) -> UnixMicros {
        clock::system().now().before(Duration::from_secs(24 * 60 * 60) * self.0)
    }

    fn monotonic(&self) -> Duration {
        clock::system().monotonic()
    }
}

/// An agent's next record deletes its expired ones; the sums of later days do not change.
pub(crate) async fn what_was_used_is_kept_for_ninety_days(fixture: &Fixture) {
    for days in [91, 89] {
        let clock: SharedClock = Arc::new(Behind(days));
        let store = Store::open(OpenOptions { clock, ..options(&fixture.path()) }).await.unwrap();
        store.add_usage(usage(None)).await.unwrap();
    }
    let store = fixture.open().await;
    for day in ["2026-08-27", "2026-08-28", DAY] {
        store.relayed(RelayedCall { day: day.to_owned(), ..relayed(None, 0) }).await.unwrap();
    }
    let today = clock::system().now().before(Duration::from_secs(60));
    assert_eq!(store.spent(BudgetScope::Day, today).await.unwrap(), Spent::default());
    store.add_usage(usage(None)).await.unwrap();
    let all = store.spent(BudgetScope::Day, ALL).await.unwrap();
    assert_eq!(all, Spent { tokens: 4, micros: 0, unknown: 2 }, "the oldest is gone");
    let of_today = store.spent(BudgetScope::Day, today).await.unwrap();
    assert_eq!(of_today, Spent { tokens: 2, micros: 0, unknown: 1 });
    let mut days = Vec::new();
    for day in ["2026-08-27", "2026-08-28", DAY] {
        days.push(store.relayed_on(day).await.unwrap().len());
    }
    assert_eq!(days, [0, 1, 1]);
}
