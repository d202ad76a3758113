//! T1, T3 and recovery.

use gangline_broker::{
    AgentUpdate, Broker, BrokerError, EndTurn, Entry, How, NewEvent, Settle, Take,
};
use gangline_core::{Epoch, MessageId, MessageState, agent::AgentPhase};
use gangline_os::clock::UnixMicros;

use crate::support::*;

async fn started(store: &Fixture) -> (Broker, Epoch, MessageId) {
    let broker = store.open().await;
    let epoch = broker.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let id = broker.accept(message(&ada(), "a")).await.unwrap().id;
    (broker, epoch, id)
}

async fn waiting(broker: &Broker) -> Vec<MessageId> {
    let rows = broker.pending(&ada(), UnixMicros(i64::MAX), 99).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

async fn kinds(broker: &Broker) -> Vec<String> {
    let page = broker.events(gangline_broker::EventQuery::default()).await.unwrap();
    page.events.into_iter().map(|event| event.kind).collect()
}

pub(crate) async fn a_take_counts_the_attempt_and_opens_the_turn(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    let turn = turn(epoch, 1);
    let taken = broker.take(take(&ada(), turn, &[id])).await.unwrap();
    assert_eq!((taken.attempts, taken.gone), (vec![(id, 1)], vec![]));
    let row = broker.message(id).await.unwrap().unwrap();
    assert_eq!((row.state, row.attempt, row.turn), (MessageState::InTurn, 1, Some(turn)));
    assert_eq!(waiting(&broker).await, []);
    assert_eq!(kinds(&broker).await, ["turn_started"]);
    let open = broker.open_turns(&ada(), Epoch(epoch.0 + 1)).await.unwrap();
    assert_eq!(open[0].turn.prompt_uuid, format!("uuid-{turn}"));
    assert_eq!((open[0].messages[0].message.id, open[0].messages[0].how), (id, How::Woke));
}

pub(crate) async fn a_message_that_is_gone_is_reported_and_not_taken(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    let kept = broker.accept(message(&ada(), "b")).await.unwrap().id;
    let foreign = broker.accept(message(&bob(), "c")).await.unwrap().id;
    broker.cancel(id, "otto").await.unwrap();
    let none = broker.take(take(&ada(), turn(epoch, 1), &[id, foreign])).await.unwrap();
    assert_eq!((none.attempts, none.gone), (vec![], vec![id, foreign]));
    assert_eq!(broker.open_turns(&ada(), Epoch(99)).await.unwrap(), []);
    let some = broker.take(take(&ada(), turn(epoch, 1), &[id, kept])).await.unwrap();
    assert_eq!((some.attempts, some.gone), (vec![(kept, 1)], vec![id]));
    let own = broker.take(take(&ada(), turn(epoch, 2), &[])).await.unwrap();
    assert_eq!(own.attempts, []);
    assert_eq!(broker.open_turns(&ada(), Epoch(99)).await.unwrap().len(), 2);
}

pub(crate) async fn a_repeated_take_counts_once(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    for _ in 0..2 {
        let taken = broker.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
        assert_eq!(taken.attempts, [(id, 1)]);
    }
    assert_eq!(kinds(&broker).await, ["turn_started"]);
    let elsewhere = broker.take(take(&ada(), turn(epoch, 2), &[id])).await.unwrap();
    assert_eq!(elsewhere.gone, [id]);
}

pub(crate) async fn a_steered_message_joins_the_open_turn(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    let more = broker.accept(message(&ada(), "and")).await.unwrap().id;
    broker.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let steer = Take { how: How::Steered, ..take(&ada(), turn(epoch, 1), &[more]) };
    broker.take(steer).await.unwrap();
    let open = broker.open_turns(&ada(), Epoch(99)).await.unwrap();
    let how: Vec<How> = open[0].messages.iter().map(|message| message.how).collect();
    assert_eq!((open.len(), how), (1, vec![How::Woke, How::Steered]));
    assert_eq!(kinds(&broker).await, ["turn_started", "turn_steered"]);
}

pub(crate) async fn nothing_is_taken_into_a_turn_that_ended(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    broker.take(take(&ada(), turn(epoch, 1), &[])).await.unwrap();
    broker.end_turn(end(&ada(), turn(epoch, 1), vec![])).await.unwrap();
    let late = broker.take(take(&ada(), turn(epoch, 1), &[id])).await;
    assert!(matches!(late, Err(BrokerError::TurnNotOpen { .. })), "{late:?}");
    assert_eq!(waiting(&broker).await, [id]);
}

pub(crate) async fn an_end_is_one_commit_of_everything(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    let back = broker.accept(message(&ada(), "b")).await.unwrap().id;
    let turn = turn(epoch, 1);
    broker.take(take(&ada(), turn, &[id, back])).await.unwrap();
    let number = broker.open_approval(ask(&ada(), turn, id)).await.unwrap().number;
    let mut over = end(
        &ada(),
        turn,
        vec![
            Settle {
                answer: Some(text("done")),
                reason: Some("relayed".to_owned()),
                ..settle(id, MessageState::Answered)
            },
            Settle { not_before: Some(UnixMicros(7)), ..settle(back, MessageState::Accepted) },
        ],
    );
    let mut answer = send(&ada(), "relay", &["done", "really"]);
    (answer.turn, answer.in_reply_to) = (Some(turn), Some(id));
    answer.deliver = Some(keyed(&bob(), "for-bob"));
    over.sends = vec![answer];
    over.events = vec![NewEvent {
        agent: ada(),
        epoch: None,
        turn: Some(turn),
        kind: "turn_ended".to_owned(),
        payload: text("{}"),
    }];
    let ended = broker.end_turn(over).await.unwrap();
    assert_eq!((ended.outbox.len(), ended.delivered.len()), (2, 1));
    assert_eq!((ended.withdrawn, ended.skipped, ended.returned), (vec![number], vec![], vec![]));
    let row = broker.message(id).await.unwrap().unwrap();
    assert_eq!((row.state, row.answer), (MessageState::Answered, Some(text("done"))));
    assert!(row.settled_at.is_some());
    let row = broker.message(back).await.unwrap().unwrap();
    assert_eq!((row.state, row.not_before), (MessageState::Accepted, Some(UnixMicros(7))));
    assert_eq!(kinds(&broker).await, ["turn_started", "turn_ended"]);
    let turns = broker.trace(id).await.unwrap().unwrap().turns;
    assert_eq!(turns[0].outcome.as_deref(), Some("completed"));
}

pub(crate) async fn a_turn_ends_once(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    let turn = turn(epoch, 1);
    broker.take(take(&ada(), turn, &[id])).await.unwrap();
    let over = end(&ada(), turn, vec![settle(id, MessageState::NoReply)]);
    broker.end_turn(over.clone()).await.unwrap();
    let mut again = over;
    again.sends = vec![send(&ada(), "twice", &["twice"])];
    let again = broker.end_turn(again).await;
    assert!(matches!(again, Err(BrokerError::TurnNotOpen { .. })), "{again:?}");
    assert_eq!(broker.outbox_pending(&ada(), 9).await.unwrap(), []);
}

pub(crate) async fn a_message_that_the_end_forgot_waits_again(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    broker.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let ended = broker.end_turn(end(&ada(), turn(epoch, 1), vec![])).await.unwrap();
    assert_eq!(ended.returned, [id]);
    assert_eq!(waiting(&broker).await, [id]);
}

pub(crate) async fn an_attempt_that_was_not_its_fault_is_not_counted(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    broker.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let back = Settle { uncount_attempt: true, ..settle(id, MessageState::Accepted) };
    broker.end_turn(end(&ada(), turn(epoch, 1), vec![back])).await.unwrap();
    let taken = broker.take(take(&ada(), turn(epoch, 2), &[id])).await.unwrap();
    assert_eq!(taken.attempts, [(id, 1)]);
    let back = settle(id, MessageState::Accepted);
    broker.end_turn(end(&ada(), turn(epoch, 2), vec![back])).await.unwrap();
    let taken = broker.take(take(&ada(), turn(epoch, 3), &[id])).await.unwrap();
    assert_eq!(taken.attempts, [(id, 2)]);
    assert_eq!(broker.message(id).await.unwrap().unwrap().takes, 3);
}

pub(crate) async fn a_cancelled_message_is_not_settled_by_the_turn(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    broker.take(take(&ada(), turn(epoch, 1), &[])).await.unwrap();
    broker.cancel(id, "otto").await.unwrap();
    let over = end(&ada(), turn(epoch, 1), vec![settle(id, MessageState::Answered)]);
    assert_eq!(broker.end_turn(over).await.unwrap().skipped, [id]);
    let row = broker.message(id).await.unwrap().unwrap();
    assert_eq!(row.state, MessageState::Cancelled);
}

pub(crate) async fn a_lost_turn_is_found_and_ended_by_the_next_epoch(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    let lost = turn(epoch, 1);
    broker.take(take(&ada(), lost, &[id])).await.unwrap();
    drop(broker);
    let broker = store.open().await;
    let next = broker.begin_epoch(&ada(), (2, ""), claude()).await.unwrap().epoch;
    let open = broker.open_turns(&ada(), next).await.unwrap();
    assert_eq!(open[0].turn.turn, lost);
    assert_eq!(broker.open_turns(&ada(), epoch).await.unwrap(), []);
    let mut over = end(&ada(), lost, vec![settle(id, MessageState::Accepted)]);
    over.outcome = "lost".to_owned();
    broker.end_turn(over).await.unwrap();
    let taken = broker.take(take(&ada(), turn(next, 1), &[id])).await.unwrap();
    assert_eq!(taken.attempts, [(id, 2)]);
}

fn note(kind: &str) -> NewEvent {
    let (turn, kind) = (None, kind.to_owned());
    NewEvent { agent: ada(), epoch: None, turn, kind, payload: text("{}") }
}

/// The end of turn 1 twice, between facts.
fn entries(epoch: Epoch, id: MessageId) -> Vec<Entry> {
    let answered = end(&ada(), turn(epoch, 1), vec![settle(id, MessageState::Answered)]);
    let answered = EndTurn { events: vec![note("ended")], ..answered };
    let update = AgentUpdate { phase: Some(AgentPhase::Idle), ..AgentUpdate::default() };
    vec![
        Entry::Events(vec![note("before"), note("and")]),
        Entry::Usage(usage(Some(turn(epoch, 1)))),
        Entry::End(answered.clone()),
        Entry::Events(vec![note("after")]),
        Entry::End(answered),
        Entry::Send(Box::new(send(&ada(), "k", &["one", "two"]))),
        Entry::Agent(ada(), epoch, update),
    ]
}

pub(crate) async fn what_is_written_together_keeps_its_order_and_a_refusal_is_its_own(
    store: &Fixture,
) {
    let (broker, epoch, id) = started(store).await;
    broker.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let results = broker.together(entries(epoch, id)).await.unwrap();
    let refused = |result: &Result<(), BrokerError>| match result {
        Ok(()) => false,
        Err(BrokerError::TurnNotOpen { .. }) => true,
        Err(error) => panic!("{error}"),
    };
    let refused: Vec<bool> = results.iter().map(refused).collect();
    assert_eq!(refused, [false, false, false, false, true, false, false]);
    assert_eq!(kinds(&broker).await, ["turn_started", "before", "and", "ended", "after"]);
    assert_eq!(broker.message(id).await.unwrap().unwrap().state, MessageState::Answered);
    assert_eq!(broker.outbox_by_idem(&ada(), "k").await.unwrap().len(), 2);
    assert_eq!(broker.usage(None, UnixMicros(0)).await.unwrap().calls, 1);
    let row = broker.agent(&ada()).await.unwrap().unwrap();
    assert_eq!(row.known_phase(), Some(AgentPhase::Idle));
    assert!(broker.together(Vec::new()).await.unwrap().is_empty());
}

pub(crate) async fn what_is_written_together_is_fenced_all_of_it(store: &Fixture) {
    let (broker, epoch, id) = started(store).await;
    broker.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let later = store.open().await;
    later.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    for result in broker.together(entries(epoch, id)).await.unwrap() {
        assert!(matches!(result, Err(BrokerError::Fenced { .. })), "{result:?}");
    }
    assert_eq!(kinds(&broker).await, ["turn_started"]);
}
