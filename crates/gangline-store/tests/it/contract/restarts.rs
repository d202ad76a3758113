//! The message that tells an agent of its daemon's start.

use gangline_core::{MessageState, Origin};
use gangline_os::clock::UnixMicros;
use gangline_store::NewMessage;

use crate::support::*;

/// R2-14: one row of the inbox for each start; what nobody has read by the next start is told no more,
/// and nobody waits for it.
pub(crate) async fn a_start_is_told_once_and_takes_back_what_earlier_ones_left(fixture: &Fixture) {
    let store = fixture.open().await;
    let begin = async || store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let note = async |epoch, said: Option<&str>| {
        store.note_restart(&ada(), epoch, said.map(text)).await.unwrap()
    };
    let first = begin().await;
    let one = note(first, Some("one")).await.unwrap();
    assert_eq!(note(first, Some("one")).await, Some(one), "the same epoch");
    let row = store.message(one).await.unwrap().unwrap();
    assert_eq!(
        (row.origin, row.sender.as_str(), row.body.as_str()),
        (Origin::System, "system", "one")
    );
    assert_eq!((row.restart, row.is_restart_note()), (Some(first), true));
    store.accept(keyed(&ada(), "restart/no")).await.unwrap();
    let other = NewMessage { origin: Origin::System, ..keyed(&ada(), "another") };
    let other = store.accept(other).await.unwrap().id;
    assert_eq!(store.waiting(&ada()).await.unwrap(), 2, "what is no such message");
    assert_eq!(store.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap().len(), 3);
    let second = begin().await;
    let two = note(second, Some("two")).await.unwrap();
    let old = store.message(one).await.unwrap().unwrap();
    assert_eq!(
        (old.state, old.reason.as_deref()),
        (MessageState::Cancelled, Some("a later start"))
    );
    let other = store.message(other).await.unwrap().unwrap();
    assert_eq!(other.state, MessageState::Accepted, "the harness's other messages stay");
    store.take(take(&ada(), turn(second, 1), &[two])).await.unwrap();
    let third = begin().await;
    assert_eq!(note(third, None).await, None);
    let taken = store.message(two).await.unwrap().unwrap();
    assert_eq!(taken.state, MessageState::InTurn);
    let stale = store.note_restart(&ada(), second, Some(text("late"))).await;
    assert!(matches!(stale, Err(gangline_store::StoreError::Fenced { .. })), "{stale:?}");
}
