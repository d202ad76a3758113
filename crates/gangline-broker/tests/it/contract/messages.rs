//! Messages and cursors.

use gangline_broker::{BrokerError, Cancel, CursorMove, MessageFilter, NewMessage, Released};
use gangline_core::{MessageId, MessageState, Origin};
use gangline_os::clock::UnixMicros;

use crate::support::*;

pub(crate) async fn a_message_is_read_back_whole(store: &Fixture) {
    let broker = store.open().await;
    let new = NewMessage {
        network_id: "net".to_owned(),
        intake_key: Some("key".to_owned()),
        origin: Origin::Mention,
        target: "#room".to_owned(),
        in_reply_to: Some(MessageId(7)),
        cause_root: Some(MessageId(3)),
        hops: 2,
        not_before: Some(UnixMicros(5)),
        msgid: Some("msgid".to_owned()),
        ..message(&ada(), "grüße 👋")
    };
    let id = broker.accept(new.clone()).await.unwrap().id;
    let row = broker.message(id).await.unwrap().unwrap();
    let back = NewMessage {
        agent: row.agent,
        network_id: row.network_id,
        intake_key: row.intake_key,
        origin: row.origin,
        principal: row.principal,
        sender: row.sender,
        target: row.target,
        body: row.body,
        in_reply_to: row.in_reply_to,
        cause_root: row.cause_root,
        hops: row.hops,
        state: row.state,
        cursor: None,
        not_before: row.not_before,
        msgid: row.msgid,
    };
    assert_eq!(back, new);
    assert_eq!((row.attempt, row.takes, row.turn), (0, 0, None));
    assert_eq!(broker.message(MessageId(99)).await.unwrap(), None);
}

pub(crate) async fn an_intake_key_is_taken_once_per_agent_and_network(store: &Fixture) {
    let broker = store.open().await;
    let first = broker.accept(keyed(&ada(), "k")).await.unwrap();
    let again = broker.accept(keyed(&ada(), "k")).await.unwrap();
    assert_eq!((again.id, again.duplicate), (first.id, true));
    let other_network = NewMessage { network_id: "net".to_owned(), ..keyed(&ada(), "k") };
    for other in [keyed(&bob(), "k"), keyed(&ada(), "l"), other_network] {
        let other = broker.accept(other).await.unwrap();
        assert!(!other.duplicate && other.id != first.id);
    }
    let keyless = broker.accept(message(&ada(), "same")).await.unwrap();
    assert_ne!(broker.accept(message(&ada(), "same")).await.unwrap().id, keyless.id);
}

pub(crate) async fn a_cursor_moves_also_with_a_duplicate(store: &Fixture) {
    let broker = store.open().await;
    let at =
        |cursor: &str| Some(CursorMove { target: "#room".to_owned(), cursor: cursor.to_owned() });
    broker.accept(NewMessage { cursor: at("1"), ..keyed(&ada(), "k") }).await.unwrap();
    broker.accept(NewMessage { cursor: at("2"), ..keyed(&ada(), "k") }).await.unwrap();
    broker.move_cursor(&ada(), "local", "otto", "9").await.unwrap();
    let cursors = broker.cursors(&ada(), "local").await.unwrap();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(cursors, [pair("#room", "2"), pair("otto", "9")]);
    assert_eq!(broker.cursors(&bob(), "local").await.unwrap(), []);
}

pub(crate) async fn waiting_messages_come_oldest_first_and_only_when_due(store: &Fixture) {
    let broker = store.open().await;
    let one = broker.accept(message(&ada(), "one")).await.unwrap().id;
    let later = NewMessage { not_before: Some(UnixMicros(100)), ..message(&ada(), "later") };
    let later = broker.accept(later).await.unwrap().id;
    let two = broker.accept(message(&ada(), "two")).await.unwrap().id;
    broker.accept(message(&bob(), "not hers")).await.unwrap();
    let waiting = async |now: i64, limit: u32| -> Vec<MessageId> {
        let rows = broker.pending(&ada(), UnixMicros(now), limit).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    assert_eq!(waiting(99, 10).await, [one, two]);
    assert_eq!(waiting(100, 10).await, [one, later, two]);
    assert_eq!(waiting(100, 2).await, [one, later]);
    assert_eq!(broker.place(&ada(), two).await.unwrap(), (3, 3));
    assert_eq!(broker.place(&ada(), one).await.unwrap(), (1, 3));
    assert_eq!(broker.next_due(&ada(), UnixMicros(0)).await.unwrap(), Some(UnixMicros(100)));
    assert_eq!(broker.next_due(&ada(), UnixMicros(100)).await.unwrap(), None);
}

pub(crate) async fn a_refused_message_never_waits(store: &Fixture) {
    let broker = store.open().await;
    let refused = NewMessage { state: MessageState::Refused, ..message(&ada(), "no") };
    let id = broker.accept(refused).await.unwrap().id;
    assert_eq!(broker.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap(), []);
    assert!(broker.message(id).await.unwrap().unwrap().settled_at.is_some());
}

pub(crate) async fn a_new_message_has_no_other_state(store: &Fixture) {
    let broker = store.open().await;
    for state in MessageState::ALL {
        let result = broker.accept(NewMessage { state: *state, ..message(&ada(), "x") }).await;
        let begins = [MessageState::Accepted, MessageState::Refused, MessageState::Held];
        let fine = begins.contains(state);
        assert_eq!(result.is_ok(), fine, "{state}");
        assert!(fine || matches!(result, Err(BrokerError::Invalid(_))));
    }
}

pub(crate) async fn only_what_waits_can_be_cancelled(store: &Fixture) {
    let broker = store.open().await;
    let epoch = broker.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let waiting = broker.accept(message(&ada(), "a")).await.unwrap().id;
    let taken = broker.accept(message(&ada(), "b")).await.unwrap().id;
    let turn = turn(epoch, 1);
    broker.take(take(&ada(), turn, &[taken])).await.unwrap();
    assert_eq!(broker.cancel(waiting, "otto").await.unwrap(), Cancel::Done);
    let again = broker.cancel(waiting, "otto").await.unwrap();
    assert_eq!(again, Cancel::Settled(MessageState::Cancelled));
    assert_eq!(broker.cancel(taken, "otto").await.unwrap(), Cancel::InTurn(turn));
    assert_eq!(broker.cancel(MessageId(99), "otto").await.unwrap(), Cancel::Unknown);
    let row = broker.message(waiting).await.unwrap().unwrap();
    assert_eq!(row.reason.as_deref(), Some("by otto"));
}

pub(crate) async fn a_held_message_waits_again_when_released(store: &Fixture) {
    let broker = store.open().await;
    let epoch = broker.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let id = broker.accept(message(&ada(), "a")).await.unwrap().id;
    let not_held = Released::NotHeld { root: id };
    assert_eq!(broker.release(id, 30).await.unwrap(), not_held);
    broker.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let held = settle(id, MessageState::Held);
    broker.end_turn(end(&ada(), turn(epoch, 1), vec![held])).await.unwrap();
    assert_eq!(broker.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap(), []);
    let released = Released::Done { root: id, messages: 1, agents: vec![ada()] };
    assert_eq!(broker.release(id, 30).await.unwrap(), released);
    assert_eq!(broker.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap().len(), 1);
}

pub(crate) async fn lists_are_newest_first_and_narrowed(store: &Fixture) {
    let broker = store.open().await;
    let a = broker.accept(message(&ada(), "a")).await.unwrap().id;
    let b = broker.accept(message(&bob(), "b")).await.unwrap().id;
    let c = broker.accept(message(&ada(), "c")).await.unwrap().id;
    broker.cancel(a, "otto").await.unwrap();
    let ids = async |filter: MessageFilter, limit: u32| -> Vec<MessageId> {
        let rows = broker.messages(filter, limit).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    let all = MessageFilter::default;
    assert_eq!(ids(all(), 0).await, [c, b, a]);
    assert_eq!(ids(all(), 2).await, [c, b]);
    assert_eq!(ids(MessageFilter { before: Some(c), ..all() }, 0).await, [b, a]);
    assert_eq!(ids(MessageFilter { agent: Some(ada()), ..all() }, 0).await, [c, a]);
    let states = vec![MessageState::Cancelled, MessageState::Held];
    assert_eq!(ids(MessageFilter { states, ..all() }, 0).await, [a]);
}

pub(crate) async fn a_trace_shows_the_whole_life(store: &Fixture) {
    let broker = store.open().await;
    let epoch = broker.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let turn = turn(epoch, 1);
    let id = broker.accept(message(&ada(), "a")).await.unwrap().id;
    let other = broker.accept(message(&bob(), "b")).await.unwrap().id;
    broker.take(take(&ada(), turn, &[id])).await.unwrap();
    broker.open_approval(ask(&ada(), turn, id)).await.unwrap();
    let mut said = send(&ada(), "k", &["hi"]);
    (said.turn, said.in_reply_to) = (Some(turn), Some(id));
    broker.send(said).await.unwrap();
    broker.send(send(&ada(), "elsewhere", &["aside"])).await.unwrap();
    let trace = broker.trace(id).await.unwrap().unwrap();
    assert_eq!(trace.message.id, id);
    assert_eq!((trace.turns.len(), trace.outbox.len(), trace.approvals.len()), (1, 1, 1));
    assert_eq!(trace.events[0].kind, "turn_started");
    let quiet = broker.trace(other).await.unwrap().unwrap();
    assert!(quiet.turns.is_empty() && quiet.outbox.is_empty() && quiet.events.is_empty());
    assert_eq!(broker.trace(MessageId(99)).await.unwrap(), None);
}
