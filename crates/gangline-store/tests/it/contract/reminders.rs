//! Reminders: made once, fired once for each time, removed.

use gangline_core::{AgentName, MessageId, MessageState, Origin, reminder::CHAIN_MAX};
use gangline_os::clock::UnixMicros;
use gangline_store::{Firing, NewReminder, ReminderState, StoreError};

use crate::support::*;

/// R2-28: it comes to the agent's own inbox, from `reminder`, once; it is a new root cause whose
/// parent is known.
pub(crate) async fn a_reminder_fires_once_into_the_inbox(fixture: &Fixture) {
    let store = fixture.open().await;
    let asked = store.accept(keyed(&ada(), "m")).await.unwrap().id;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    store.take(take(&ada(), turn(epoch, 1), &[asked])).await.unwrap();
    let new = NewReminder { turn: Some(turn(epoch, 1)), ..reminder(&ada(), "r", 10) };
    let made = store.remind(new.clone()).await.unwrap();
    assert_eq!(store.remind(new).await.unwrap(), made);
    assert_eq!((made.parent, made.state), (Some(asked), ReminderState::Waiting));
    let firing = Firing { id: made.id, due_at: made.due_at, body: text("tea, late"), next: None };
    let stale = Firing { due_at: UnixMicros(9), ..firing.clone() };
    assert_eq!(store.fire_reminder(&ada(), stale).await.unwrap(), None);
    assert_eq!(store.fire_reminder(&bob(), firing.clone()).await.unwrap(), None);
    let message = store.fire_reminder(&ada(), firing.clone()).await.unwrap().unwrap();
    assert_eq!(store.fire_reminder(&ada(), firing).await.unwrap(), None);
    let row = store.message(message).await.unwrap().unwrap();
    assert_eq!((row.origin, row.sender.as_str()), (Origin::Reminder, "reminder"));
    assert_eq!((row.body.as_str(), row.target.as_str()), ("tea, late", "#room"));
    assert_eq!((row.cause_root, row.state), (None, MessageState::Accepted));
    let cause = store.cause(message).await.unwrap().unwrap();
    assert_eq!((cause.root, cause.parent), (message, Some(asked)));
    let row = store.reminder(made.id).await.unwrap().unwrap();
    assert_eq!((row.state, row.fired), (ReminderState::Fired, 1));
    assert_eq!(store.reminders(None, 9).await.unwrap(), []);
    assert_eq!(store.all_reminders(Some(&ada()), 9).await.unwrap(), [row]);
    assert_eq!(store.all_reminders(Some(&bob()), 9).await.unwrap(), []);
    assert_eq!(store.fired_since(&ada(), UnixMicros(0)).await.unwrap().len(), 1);
    assert_eq!(store.fired_since(&bob(), UnixMicros(0)).await.unwrap(), []);
}

pub(crate) async fn a_reminder_that_repeats_waits_for_its_next_time(fixture: &Fixture) {
    let store = fixture.open().await;
    let repeats = Some("every PT1H".to_owned());
    let made = store.remind(NewReminder { repeats, ..reminder(&ada(), "r", 10) }).await.unwrap();
    let mut due_at = made.due_at;
    let mut messages: Vec<MessageId> = Vec::new();
    for next in [20, 30] {
        let next = UnixMicros(next);
        let firing = Firing { id: made.id, due_at, body: text("tea"), next: Some(next) };
        messages.extend(store.fire_reminder(&ada(), firing).await.unwrap());
        due_at = next;
    }
    assert_eq!(messages.len(), 2);
    let waits = store.reminders(Some(&ada()), 9).await.unwrap();
    assert_eq!((waits.len(), waits[0].fired, waits[0].due_at), (1, 2, UnixMicros(30)));
}

/// Agents that wake themselves and one another by reminders, hour after hour, come to an end; a person's
/// message begins anew, and so does a reminder that a person makes.
pub(crate) async fn reminders_that_follow_from_reminders_have_an_end(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let asked = store.accept(keyed(&ada(), "m")).await.unwrap().id;
    store.take(take(&ada(), turn(epoch, 1), &[asked])).await.unwrap();
    let made = async |number: i64| {
        let request = format!("r{number}");
        let new = NewReminder { turn: Some(turn(epoch, number)), ..reminder(&ada(), &request, 10) };
        store.remind(new).await
    };
    for number in 1..=i64::from(CHAIN_MAX) {
        let made = made(number).await.unwrap();
        let firing = Firing { id: made.id, due_at: made.due_at, body: text("on"), next: None };
        let fired = store.fire_reminder(&ada(), firing).await.unwrap().unwrap();
        store.end_turn(end(&ada(), turn(epoch, number), vec![])).await.unwrap();
        store.take(take(&ada(), turn(epoch, number + 1), &[fired])).await.unwrap();
    }
    let last = i64::from(CHAIN_MAX) + 1;
    let over = made(last).await;
    assert!(
        matches!(&over, Err(StoreError::Invalid(why)) if why.contains("ask a person")),
        "{over:?}"
    );
    store.remind(reminder(&ada(), "a person's", 10)).await.unwrap();
    let anew = store.accept(keyed(&ada(), "n")).await.unwrap().id;
    store.end_turn(end(&ada(), turn(epoch, last), vec![])).await.unwrap();
    store.take(take(&ada(), turn(epoch, last + 1), &[anew])).await.unwrap();
    made(last + 1).await.unwrap();
}

/// R2-27: a reminder is deleted for good; what has fired is not taken back.
pub(crate) async fn reminders_are_bounded_listed_and_removed(fixture: &Fixture) {
    let store = fixture.open().await;
    let first = store.remind(reminder(&ada(), "a", 30)).await.unwrap().id;
    let second = store.remind(reminder(&ada(), "b", 10)).await.unwrap().id;
    let third = store.remind(reminder(&ada(), "c", 20)).await.unwrap().id;
    let more = store.remind(reminder(&ada(), "d", 5)).await;
    assert!(matches!(more, Err(StoreError::Invalid(why)) if why.contains("too many reminders")));
    let other = store.remind(reminder(&bob(), "a", 15)).await.unwrap().id;
    let all_of = Some(ada());
    let list = async |agent: Option<&AgentName>| -> Vec<i64> {
        store.reminders(agent, 9).await.unwrap().iter().map(|row| row.id).collect()
    };
    assert_eq!(list(None).await, [second, other, third, first]);
    assert_eq!(list(all_of.as_ref()).await, [second, third, first]);
    let removed = store.remove_reminder(second).await.unwrap().unwrap();
    assert_eq!((removed.id, removed.agent), (second, ada()));
    assert_eq!(store.remove_reminder(second).await.unwrap(), None);
    assert_eq!(store.reminder(second).await.unwrap(), None);
    assert_eq!(list(all_of.as_ref()).await, [third, first]);
}
