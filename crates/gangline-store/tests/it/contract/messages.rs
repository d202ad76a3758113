//! Messages and cursors.

use gangline_core::{MessageId, MessageState, Origin, SendKey, question::Asked};
use gangline_os::clock::UnixMicros;
use gangline_store::{
    AskedBy, Cancel, CursorMove, MessageFilter, NewMessage, NewQuestion, Released, StoreError,
};

use crate::support::*;

pub(crate) async fn a_message_is_read_back_whole(fixture: &Fixture) {
    let store = fixture.open().await;
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
    let id = store.accept(new.clone()).await.unwrap().id;
    let row = store.message(id).await.unwrap().unwrap();
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
    assert_eq!(store.message(MessageId(99)).await.unwrap(), None);
}

/// Who goes on from the commit is given no row twice, and none that no turn takes now.
pub(crate) async fn only_a_new_row_that_waits_is_told_at_its_commit(fixture: &Fixture) {
    let store = fixture.open().await;
    let refused = NewMessage { state: MessageState::Refused, ..keyed(&ada(), "refused") };
    let later = NewMessage { not_before: Some(UnixMicros(i64::MAX)), ..keyed(&ada(), "later") };
    for (new, tells) in
        [(keyed(&ada(), "k"), true), (keyed(&ada(), "k"), false), (refused, false), (later, false)]
    {
        let key = new.intake_key.clone();
        let (told, heard) = tokio::sync::oneshot::channel();
        let accepted = store.accept_and_notify(new, move |row| told.send(row).unwrap()).await;
        let row = heard.await.unwrap();
        let id = accepted.unwrap().id;
        assert_eq!(row.as_ref().map(|row| row.id), tells.then_some(id), "{key:?}");
        assert_eq!(row.is_some_and(|row| store_has(&row, &key)), tells);
    }
}

fn store_has(row: &gangline_store::MessageRow, key: &Option<String>) -> bool {
    row.intake_key == *key && row.state == MessageState::Accepted
}

pub(crate) async fn an_intake_key_is_taken_once_per_agent_and_network(fixture: &Fixture) {
    let store = fixture.open().await;
    let first = store.accept(keyed(&ada(), "k")).await.unwrap();
    let again = store.accept(keyed(&ada(), "k")).await.unwrap();
    assert_eq!((again.id, again.duplicate), (first.id, true));
    let other_network = NewMessage { network_id: "net".to_owned(), ..keyed(&ada(), "k") };
    for other in [keyed(&bob(), "k"), keyed(&ada(), "l"), other_network] {
        let other = store.accept(other).await.unwrap();
        assert!(!other.duplicate && other.id != first.id);
    }
    let keyless = store.accept(message(&ada(), "same")).await.unwrap();
    assert_ne!(store.accept(message(&ada(), "same")).await.unwrap().id, keyless.id);
}

pub(crate) async fn a_cursor_moves_also_with_a_duplicate(fixture: &Fixture) {
    let store = fixture.open().await;
    let at =
        |cursor: &str| Some(CursorMove { target: "#room".to_owned(), cursor: cursor.to_owned() });
    store.accept(NewMessage { cursor: at("1"), ..keyed(&ada(), "k") }).await.unwrap();
    store.accept(NewMessage { cursor: at("2"), ..keyed(&ada(), "k") }).await.unwrap();
    store.move_cursor(&ada(), "local", "otto", "9").await.unwrap();
    let cursors = store.cursors(&ada(), "local").await.unwrap();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(cursors, [pair("#room", "2"), pair("otto", "9")]);
    assert_eq!(store.cursors(&bob(), "local").await.unwrap(), []);
}

pub(crate) async fn waiting_messages_come_oldest_first_and_only_when_due(fixture: &Fixture) {
    let store = fixture.open().await;
    let one = store.accept(message(&ada(), "one")).await.unwrap().id;
    let later = NewMessage { not_before: Some(UnixMicros(100)), ..message(&ada(), "later") };
    let later = store.accept(later).await.unwrap().id;
    let two = store.accept(message(&ada(), "two")).await.unwrap().id;
    store.accept(message(&bob(), "not hers")).await.unwrap();
    let waiting = async |now: i64, limit: u32| -> Vec<MessageId> {
        let rows = store.pending(&ada(), UnixMicros(now), limit).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    assert_eq!(waiting(99, 10).await, [one, two]);
    assert_eq!(waiting(100, 10).await, [one, later, two]);
    assert_eq!(waiting(100, 2).await, [one, later]);
    assert_eq!(store.place(&ada(), two).await.unwrap(), (3, 3));
    assert_eq!(store.place(&ada(), one).await.unwrap(), (1, 3));
    assert_eq!(store.next_due(&ada(), UnixMicros(0)).await.unwrap(), Some(UnixMicros(100)));
    assert_eq!(store.next_due(&ada(), UnixMicros(100)).await.unwrap(), None);
}

pub(crate) async fn a_refused_message_never_waits(fixture: &Fixture) {
    let store = fixture.open().await;
    let refused = NewMessage { state: MessageState::Refused, ..message(&ada(), "no") };
    let id = store.accept(refused).await.unwrap().id;
    assert_eq!(store.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap(), []);
    assert!(store.message(id).await.unwrap().unwrap().settled_at.is_some());
}

pub(crate) async fn a_new_message_has_no_other_state(fixture: &Fixture) {
    let store = fixture.open().await;
    for state in MessageState::ALL {
        let result = store.accept(NewMessage { state: *state, ..message(&ada(), "x") }).await;
        let begins = [MessageState::Accepted, MessageState::Refused, MessageState::Held];
        let fine = begins.contains(state);
        assert_eq!(result.is_ok(), fine, "{state}");
        assert!(fine || matches!(result, Err(StoreError::Invalid(_))));
    }
}

pub(crate) async fn only_what_waits_can_be_cancelled(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let waiting = store.accept(message(&ada(), "a")).await.unwrap().id;
    let taken = store.accept(message(&ada(), "b")).await.unwrap().id;
    let turn = turn(epoch, 1);
    store.take(take(&ada(), turn, &[taken])).await.unwrap();
    assert_eq!(store.cancel(waiting, "otto").await.unwrap(), Cancel::Done);
    let again = store.cancel(waiting, "otto").await.unwrap();
    assert_eq!(again, Cancel::Settled(MessageState::Cancelled));
    assert_eq!(store.cancel(taken, "otto").await.unwrap(), Cancel::InTurn(turn));
    assert_eq!(store.cancel(MessageId(99), "otto").await.unwrap(), Cancel::Unknown);
    let row = store.message(waiting).await.unwrap().unwrap();
    assert_eq!(row.reason.as_deref(), Some("by otto"));
}

pub(crate) async fn a_held_message_waits_again_when_released(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let id = store.accept(message(&ada(), "a")).await.unwrap().id;
    let not_held = Released::NotHeld { root: id };
    assert_eq!(store.release(id, 30).await.unwrap(), not_held);
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let held = settle(id, MessageState::Held);
    store.end_turn(end(&ada(), turn(epoch, 1), vec![held])).await.unwrap();
    assert_eq!(store.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap(), []);
    let released = Released::Done { root: id, messages: 1, agents: vec![ada()] };
    assert_eq!(store.release(id, 30).await.unwrap(), released);
    assert_eq!(store.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap().len(), 1);
}

pub(crate) async fn lists_are_newest_first_and_narrowed(fixture: &Fixture) {
    let store = fixture.open().await;
    let a = store.accept(message(&ada(), "a")).await.unwrap().id;
    let b = store.accept(message(&bob(), "b")).await.unwrap().id;
    let c = store.accept(message(&ada(), "c")).await.unwrap().id;
    store.cancel(a, "otto").await.unwrap();
    let ids = async |filter: MessageFilter, limit: u32| -> Vec<MessageId> {
        let rows = store.messages(filter, limit).await.unwrap();
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

pub(crate) async fn a_trace_shows_the_whole_life(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let turn = turn(epoch, 1);
    let id = store.accept(message(&ada(), "a")).await.unwrap().id;
    let other = store.accept(message(&bob(), "b")).await.unwrap().id;
    store.take(take(&ada(), turn, &[id])).await.unwrap();
    store.open_approval(ask(&ada(), turn, id)).await.unwrap();
    let mut said = send(&ada(), "k", &["hi"]);
    (said.turn, said.in_reply_to) = (Some(turn), Some(id));
    store.send(said).await.unwrap();
    store.send(send(&ada(), "elsewhere", &["aside"])).await.unwrap();
    let call = SendKey::of_call(Some(turn), "call").to_string();
    store.send_letter(letter(&ada(), &call)).await.unwrap();
    let request = format!("{turn}/call");
    let asked = Asked::Agents(vec![bob()]);
    let question = NewQuestion { asked, turn: Some(turn), ..question(&ada(), &request) };
    store.ask(question, |_| AskedBy::default()).await.unwrap();
    store.remind(reminder(&ada(), &request, 10)).await.unwrap();
    // Those of another turn, whose name begins the same, and of another agent.
    let later = format!("{turn}1/call");
    store.remind(reminder(&ada(), &later, 10)).await.unwrap();
    store.remind(reminder(&bob(), &request, 10)).await.unwrap();
    let trace = store.trace(id).await.unwrap().unwrap();
    assert_eq!(trace.message.id, id);
    assert_eq!((trace.turns.len(), trace.outbox.len(), trace.approvals.len()), (1, 1, 1));
    let mut made: Vec<String> =
        trace.made.iter().map(|it| format!("{} {}", it.what, it.to)).collect();
    made.sort();
    assert_eq!(made, ["letter 1 the owners", "question 2 spark-bob", "reminder 1 "]);
    assert_eq!(trace.events[0].kind, "turn_started");
    let quiet = store.trace(other).await.unwrap().unwrap();
    assert!(quiet.turns.is_empty() && quiet.outbox.is_empty() && quiet.events.is_empty());
    assert_eq!(store.trace(MessageId(99)).await.unwrap(), None);
}
