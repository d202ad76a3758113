//! Changes that a manager asks for: what the hub has to do for them, and each step of it.

use gangline_core::{ApprovalNumber, approval::Decision};
use gangline_store::{ChangeState, ChangeStep, ChangeTold, DecideError, Store};

use crate::support::*;

/// Asks for a change in a turn; the numbers rise.
async fn asked(store: &Store, request: &str) -> ApprovalNumber {
    let epoch = gangline_core::Epoch(1);
    let new =
        gangline_store::NewChange { request: request.to_owned(), ..new_change(turn(epoch, 1)) };
    let told = |_: ApprovalNumber| ChangeTold::default();
    store.request_change(new, told).await.unwrap().number
}

async fn opened(fixture: &Fixture) -> Store {
    let store = fixture.open().await;
    let message = store.accept(keyed(&ada(), "the message")).await.unwrap().id;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    store.take(take(&ada(), turn(epoch, 1), &[message])).await.unwrap();
    store
}

async fn under_way(store: &Store) -> Vec<ApprovalNumber> {
    store.changes_under_way().await.unwrap().iter().map(|row| row.number).collect()
}

async fn state(store: &Store, number: ApprovalNumber) -> ChangeState {
    store.change(number).await.unwrap().unwrap().state
}

fn step(from: ChangeState, to: ChangeState) -> ChangeStep {
    let outcome = to.is_final().then(|| text("this came of it"));
    ChangeStep { from, to, commit: None, before: None, epoch: None, outcome }
}

/// R2-35, R2-37, R1-50: what nobody has decided, and what was denied, is nothing for the hub; it applies
/// the oldest of what is allowed first.
pub(crate) async fn the_hub_takes_what_is_allowed_and_nothing_else(fixture: &Fixture) {
    let store = opened(fixture).await;
    let [open, denied, late, first] = [
        asked(&store, "1").await,
        asked(&store, "2").await,
        asked(&store, "3").await,
        asked(&store, "4").await,
    ];
    assert_eq!(under_way(&store).await, [], "nobody has decided");
    store.decide_change(denied, rules(Decision::Deny)).await.unwrap();
    assert_eq!(under_way(&store).await, [], "denied");
    store.decide_change(first, rules(Decision::Allow)).await.unwrap();
    store.decide_change(late, rules(Decision::Allow)).await.unwrap();
    assert_eq!(under_way(&store).await, [late, first], "by number");
    let row = store.change(first).await.unwrap().unwrap();
    assert_eq!(row.decided_by, Some(owner()));
    for number in [denied, late, first] {
        let again = store.decide_change(number, rules(Decision::Allow)).await;
        assert!(matches!(again, Err(DecideError::Closed { .. })), "{again:?}");
    }
    assert_eq!(state(&store, denied).await, ChangeState::Denied);
    assert_eq!(state(&store, open).await, ChangeState::Requested);
    let unknown = store.decide_change(ApprovalNumber(99), rules(Decision::Allow)).await;
    assert!(matches!(unknown, Err(DecideError::Unknown(_))), "{unknown:?}");
}

/// A step that begins elsewhere, or is repeated, changes nothing; the manager hears of the end once.
pub(crate) async fn a_change_goes_only_where_its_step_begins(fixture: &Fixture) {
    use ChangeState::{Applied, Applying, Approved, Denied, Failed, Requested};
    let store = opened(fixture).await;
    let number = asked(&store, "1").await;
    let told = async || {
        let rows =
            store.pending(&ada(), gangline_os::clock::UnixMicros(i64::MAX), 9).await.unwrap();
        rows.iter().filter(|row| row.intake_key.as_deref() == Some("change/1")).count()
    };
    for (from, to) in [(Approved, Applying), (Applying, Applied), (Denied, Applying)] {
        assert!(!store.step_change(number, step(from, to)).await.unwrap(), "{from} to {to}");
    }
    assert_eq!(state(&store, number).await, Requested);
    store.decide_change(number, rules(Decision::Allow)).await.unwrap();
    assert!(store.step_change(number, step(Approved, Applying)).await.unwrap());
    assert!(!store.step_change(number, step(Approved, Failed)).await.unwrap(), "another hub's");
    assert_eq!(told().await, 0);
    assert!(store.step_change(number, step(Applying, Applied)).await.unwrap());
    assert!(!store.step_change(number, step(Applying, Applied)).await.unwrap(), "repeated");
    assert_eq!((state(&store, number).await, told().await), (Applied, 1));
    assert_eq!(under_way(&store).await, []);
}
