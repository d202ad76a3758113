//! T1, T3 and recovery.

use gangline_core::{
    AgentName, Epoch, MessageId, MessageState, agent::AgentPhase, outcome::OutcomeWord,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{AgentUpdate, EndTurn, Entry, How, NewEvent, Settle, Store, StoreError, Take};

use crate::support::*;

async fn started(fixture: &Fixture) -> (Store, Epoch, MessageId) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let id = store.accept(message(&ada(), "a")).await.unwrap().id;
    (store, epoch, id)
}

async fn waiting(store: &Store) -> Vec<MessageId> {
    let rows = store.pending(&ada(), UnixMicros(i64::MAX), 99).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

async fn kinds(store: &Store) -> Vec<String> {
    let page = store.events(gangline_store::EventQuery::default()).await.unwrap();
    page.events.into_iter().map(|event| event.kind).collect()
}

pub(crate) async fn a_take_counts_the_attempt_and_opens_the_turn(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    let turn = turn(epoch, 1);
    let taken = store.take(take(&ada(), turn, &[id])).await.unwrap();
    assert_eq!((taken.attempts, taken.gone), (vec![(id, 1)], vec![]));
    let row = store.message(id).await.unwrap().unwrap();
    assert_eq!((row.state, row.attempt, row.turn), (MessageState::InTurn, 1, Some(turn)));
    assert_eq!(waiting(&store).await, []);
    assert_eq!(kinds(&store).await, ["turn_started"]);
    let open = store.open_turns(&ada(), Epoch(epoch.0 + 1)).await.unwrap();
    assert_eq!(open[0].turn.prompt_uuid, format!("uuid-{turn}"));
    assert_eq!((open[0].messages[0].message.id, open[0].messages[0].how), (id, How::Woke));
}

pub(crate) async fn a_message_that_is_gone_is_reported_and_not_taken(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    let kept = store.accept(message(&ada(), "b")).await.unwrap().id;
    let foreign = store.accept(message(&bob(), "c")).await.unwrap().id;
    store.cancel(id, "otto").await.unwrap();
    let none = store.take(take(&ada(), turn(epoch, 1), &[id, foreign])).await.unwrap();
    assert_eq!((none.attempts, none.gone), (vec![], vec![id, foreign]));
    assert_eq!(store.open_turns(&ada(), Epoch(99)).await.unwrap(), []);
    let some = store.take(take(&ada(), turn(epoch, 1), &[id, kept])).await.unwrap();
    assert_eq!((some.attempts, some.gone), (vec![(kept, 1)], vec![id]));
    let own = store.take(take(&ada(), turn(epoch, 2), &[])).await.unwrap();
    assert_eq!(own.attempts, []);
    assert_eq!(store.open_turns(&ada(), Epoch(99)).await.unwrap().len(), 2);
}

pub(crate) async fn a_repeated_take_counts_once(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    for _ in 0..2 {
        let taken = store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
        assert_eq!(taken.attempts, [(id, 1)]);
    }
    assert_eq!(kinds(&store).await, ["turn_started"]);
    let elsewhere = store.take(take(&ada(), turn(epoch, 2), &[id])).await.unwrap();
    assert_eq!(elsewhere.gone, [id]);
}

pub(crate) async fn a_steered_message_joins_the_open_turn(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    let more = store.accept(message(&ada(), "and")).await.unwrap().id;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let steer = Take { how: How::Steered, ..take(&ada(), turn(epoch, 1), &[more]) };
    store.take(steer).await.unwrap();
    let open = store.open_turns(&ada(), Epoch(99)).await.unwrap();
    let how: Vec<How> = open[0].messages.iter().map(|message| message.how).collect();
    assert_eq!((open.len(), how), (1, vec![How::Woke, How::Steered]));
    assert_eq!(kinds(&store).await, ["turn_started", "turn_steered"]);
}

pub(crate) async fn nothing_is_taken_into_a_turn_that_ended(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    store.take(take(&ada(), turn(epoch, 1), &[])).await.unwrap();
    store.end_turn(end(&ada(), turn(epoch, 1), vec![])).await.unwrap();
    let late = store.take(take(&ada(), turn(epoch, 1), &[id])).await;
    assert!(matches!(late, Err(StoreError::TurnNotOpen { .. })), "{late:?}");
    assert_eq!(waiting(&store).await, [id]);
}

pub(crate) async fn an_end_is_one_commit_of_everything(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    let back = store.accept(message(&ada(), "b")).await.unwrap().id;
    let turn = turn(epoch, 1);
    store.take(take(&ada(), turn, &[id, back])).await.unwrap();
    let number = store.open_approval(ask(&ada(), turn, id)).await.unwrap().number;
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
    let ended = store.end_turn(over).await.unwrap();
    assert_eq!((ended.outbox.len(), ended.notify), (2, vec![bob()]));
    assert_eq!((ended.withdrawn, ended.skipped, ended.returned), (vec![number], vec![], vec![]));
    let row = store.message(id).await.unwrap().unwrap();
    assert_eq!((row.state, row.answer), (MessageState::Answered, Some(text("done"))));
    assert!(row.settled_at.is_some());
    let row = store.message(back).await.unwrap().unwrap();
    assert_eq!((row.state, row.not_before), (MessageState::Accepted, Some(UnixMicros(7))));
    assert_eq!(kinds(&store).await, ["turn_started", "turn_ended"]);
    let turns = store.trace(id).await.unwrap().unwrap().turns;
    assert_eq!(turns[0].outcome, Some(OutcomeWord::Completed.into()));
}

pub(crate) async fn a_turn_ends_once(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    let turn = turn(epoch, 1);
    store.take(take(&ada(), turn, &[id])).await.unwrap();
    let over = end(&ada(), turn, vec![settle(id, MessageState::NoReply)]);
    store.end_turn(over.clone()).await.unwrap();
    let mut again = over;
    again.sends = vec![send(&ada(), "twice", &["twice"])];
    let again = store.end_turn(again).await;
    assert!(matches!(again, Err(StoreError::TurnNotOpen { .. })), "{again:?}");
    assert_eq!(store.outbox_pending(&ada(), 9).await.unwrap(), []);
}

pub(crate) async fn a_message_that_the_end_forgot_waits_again(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let ended = store.end_turn(end(&ada(), turn(epoch, 1), vec![])).await.unwrap();
    assert_eq!(ended.returned, [id]);
    assert_eq!(waiting(&store).await, [id]);
}

pub(crate) async fn an_attempt_that_was_not_its_fault_is_not_counted(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let back = Settle { uncount_attempt: true, ..settle(id, MessageState::Accepted) };
    store.end_turn(end(&ada(), turn(epoch, 1), vec![back])).await.unwrap();
    let taken = store.take(take(&ada(), turn(epoch, 2), &[id])).await.unwrap();
    assert_eq!(taken.attempts, [(id, 1)]);
    let back = settle(id, MessageState::Accepted);
    store.end_turn(end(&ada(), turn(epoch, 2), vec![back])).await.unwrap();
    let taken = store.take(take(&ada(), turn(epoch, 3), &[id])).await.unwrap();
    assert_eq!(taken.attempts, [(id, 2)]);
    assert_eq!(store.message(id).await.unwrap().unwrap().takes, 3);
}

pub(crate) async fn a_cancelled_message_is_not_settled_by_the_turn(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    store.take(take(&ada(), turn(epoch, 1), &[])).await.unwrap();
    store.cancel(id, "otto").await.unwrap();
    let over = end(&ada(), turn(epoch, 1), vec![settle(id, MessageState::Answered)]);
    assert_eq!(store.end_turn(over).await.unwrap().skipped, [id]);
    let row = store.message(id).await.unwrap().unwrap();
    assert_eq!(row.state, MessageState::Cancelled);
}

pub(crate) async fn a_lost_turn_is_found_and_ended_by_the_next_epoch(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    let lost = turn(epoch, 1);
    store.take(take(&ada(), lost, &[id])).await.unwrap();
    drop(store);
    let store = fixture.open().await;
    let next = store.begin_epoch(&ada(), (2, ""), claude()).await.unwrap().epoch;
    let open = store.open_turns(&ada(), next).await.unwrap();
    assert_eq!(open[0].turn.turn, lost);
    assert_eq!(store.open_turns(&ada(), epoch).await.unwrap(), []);
    let mut over = end(&ada(), lost, vec![settle(id, MessageState::Accepted)]);
    over.outcome = OutcomeWord::Lost.into();
    store.end_turn(over).await.unwrap();
    let taken = store.take(take(&ada(), turn(next, 1), &[id])).await.unwrap();
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
    fixture: &Fixture,
) {
    let (store, epoch, id) = started(fixture).await;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let results = store.together(entries(epoch, id)).await.unwrap();
    let refused = |result: &Result<Vec<AgentName>, StoreError>| match result {
        Ok(_) => false,
        Err(StoreError::TurnNotOpen { .. }) => true,
        Err(error) => panic!("{error}"),
    };
    let refused: Vec<bool> = results.iter().map(refused).collect();
    assert_eq!(refused, [false, false, false, false, true, false, false]);
    assert_eq!(kinds(&store).await, ["turn_started", "before", "and", "ended", "after"]);
    assert_eq!(store.message(id).await.unwrap().unwrap().state, MessageState::Answered);
    assert_eq!(store.outbox_by_idem(&ada(), "k").await.unwrap().len(), 2);
    assert_eq!(store.usage(None, UnixMicros(0)).await.unwrap().calls, 1);
    let row = store.agent(&ada()).await.unwrap().unwrap();
    assert_eq!(row.known_phase(), Some(AgentPhase::Idle));
    // One that is refused last does not undo the others.
    let again = Entry::End(end(&ada(), turn(epoch, 1), Vec::new()));
    let last = vec![Entry::Events(vec![note("last")]), again];
    let refused: Vec<bool> =
        store.together(last).await.unwrap().iter().map(Result::is_err).collect();
    assert_eq!(refused, [false, true]);
    assert_eq!(kinds(&store).await.last().unwrap(), "last");
    assert!(store.together(Vec::new()).await.unwrap().is_empty());
}

pub(crate) async fn what_is_written_together_is_fenced_all_of_it(fixture: &Fixture) {
    let (store, epoch, id) = started(fixture).await;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let later = fixture.open().await;
    later.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    for result in store.together(entries(epoch, id)).await.unwrap() {
        assert!(matches!(result, Err(StoreError::Fenced { .. })), "{result:?}");
    }
    assert_eq!(kinds(&store).await, ["turn_started"]);
}
