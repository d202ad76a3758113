//! Acts: what a call does is done once over all attempts at its message.

use gangline_core::{
    Epoch, MessageId, MessageState, TurnId,
    act::{ActKey, ActKind},
    question::QuestionState,
};
use gangline_store::{
    AskedBy, ChangeTold, NewAct, NewChange, NewLetter, NewQuestion, NewReminder, Send, Store,
};

use crate::support::*;

async fn begun(fixture: &Fixture) -> (Store, Epoch) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    (store, epoch)
}

async fn accepted(store: &Store, body: &str) -> MessageId {
    store.accept(keyed(&ada(), body)).await.unwrap().id
}

/// Says what [`act`] stands for. Returns the number of its row.
async fn said(store: &Store, turn: TurnId, request: &str) -> i64 {
    let line = Send { turn: Some(turn), ..send(&ada(), request, &["tea"]) };
    let sent = store.send_once(line, Some(act(turn, request, ActKind::Send))).await.unwrap();
    sent.outbox[0].0
}

/// Makes the call in a turn, as an agent does: what was not done before is done. Returns the number of its
/// row, and whether it was there.
async fn call(store: &Store, turn: TurnId, request: &str) -> (i64, bool) {
    match store.done_before(act(turn, request, ActKind::Send)).await.unwrap() {
        Some(before) => (before.number, true),
        None => (said(store, turn, request).await, false),
    }
}

/// Of each kind there is one thing, however often an attempt is lost; a second call of the same is new.
pub(crate) async fn a_call_of_the_next_attempt_finds_what_the_lost_one_did(fixture: &Fixture) {
    use ActKind::{Change, Letter, Question, Reminder, Send as Line};
    let (store, epoch) = begun(fixture).await;
    let id = accepted(&store, "m").await;
    let lost = turn(epoch, 1);
    store.take(take(&ada(), lost, &[id])).await.unwrap();
    let made = act(lost, "r", Letter);
    let new = NewLetter { turn: Some(lost), ..letter(&ada(), "r") };
    let letter = store.send_letter_once(new, Some(made)).await.unwrap();
    let new = NewReminder { turn: Some(lost), ..reminder(&ada(), "r2", 10) };
    let reminder = store.remind_once(new, Some(act(lost, "r2", Reminder))).await.unwrap().id;
    let new = NewQuestion { turn: Some(lost), ..question(&ada(), "r3") };
    let asked =
        store.ask_once(new, Some(act(lost, "r3", Question)), |_| AskedBy::default()).await.unwrap();
    let new = NewChange { request: "r4".to_owned(), ..new_change(lost) };
    let change =
        store.request_change_once(new, Some(act(lost, "r4", Change)), |_| ChangeTold::default());
    let change = change.await.unwrap().number;
    let line = said(&store, lost, "r5").await;
    let numbers = [letter, reminder, asked.number.0, change.0, line];
    store.end_turn(lose(&ada(), lost, &[id])).await.unwrap();
    for number in 2..4 {
        let turn = turn(epoch, number);
        store.take(take(&ada(), turn, &[id])).await.unwrap();
        for (at, kind) in [Letter, Reminder, Question, Change, Line].into_iter().enumerate() {
            let again = act(turn, &format!("{number}/{at}"), kind);
            let found = store.done_before(again.clone()).await.unwrap().unwrap();
            assert_eq!((found.number, found.kind, found.turn), (numbers[at], kind, lost));
            let second = act(turn, &format!("{number}/{at}/2"), kind);
            assert_eq!(store.done_before(second).await.unwrap(), None, "{kind}");
        }
        let again = store.acts_again(&ada(), turn).await.unwrap();
        let found: Vec<i64> = again.iter().map(|again| again.act.number).collect();
        assert_eq!(found, numbers);
        assert_eq!(again[0].request, format!("{number}/0"));
        store.end_turn(lose(&ada(), turn, &[id])).await.unwrap();
    }
    // Other arguments are another call.
    let last = turn(epoch, 4);
    store.take(take(&ada(), last, &[id])).await.unwrap();
    let key = ActKey::new(Line, &["coffee"]);
    let other = NewAct { key, ..act(last, "other", Line) };
    assert_eq!(store.done_before(other).await.unwrap(), None);
}

/// Two messages were in the attempt that was lost. The first of them that is dealt with has the act.
pub(crate) async fn an_act_belongs_to_the_attempt_that_completes(fixture: &Fixture) {
    let (store, epoch) = begun(fixture).await;
    let (one, two) = (accepted(&store, "one").await, accepted(&store, "two").await);
    store.take(take(&ada(), turn(epoch, 1), &[one, two])).await.unwrap();
    let line = said(&store, turn(epoch, 1), "a").await;
    store.end_turn(lose(&ada(), turn(epoch, 1), &[one, two])).await.unwrap();
    store.take(take(&ada(), turn(epoch, 2), &[one])).await.unwrap();
    assert_eq!(call(&store, turn(epoch, 2), "b").await, (line, true));
    let answered = vec![settle(one, MessageState::Answered)];
    store.end_turn(end(&ada(), turn(epoch, 2), answered)).await.unwrap();
    store.take(take(&ada(), turn(epoch, 3), &[two])).await.unwrap();
    let (second, before) = call(&store, turn(epoch, 3), "c").await;
    assert!(!before && second > line);
}

/// What another message's attempt said is no answer to a call, and what a turn said that completed was
/// for what it dealt with.
pub(crate) async fn only_attempts_that_share_a_message_find_each_others_acts(fixture: &Fixture) {
    let (store, epoch) = begun(fixture).await;
    let (one, two) = (accepted(&store, "one").await, accepted(&store, "two").await);
    store.take(take(&ada(), turn(epoch, 1), &[one])).await.unwrap();
    said(&store, turn(epoch, 1), "a").await;
    store.end_turn(lose(&ada(), turn(epoch, 1), &[one])).await.unwrap();
    store.take(take(&ada(), turn(epoch, 2), &[two])).await.unwrap();
    assert!(!call(&store, turn(epoch, 2), "b").await.1);
    // `two` was read in it, was not dealt with, and comes again.
    let back = vec![settle(two, MessageState::Accepted)];
    store.end_turn(end(&ada(), turn(epoch, 2), back)).await.unwrap();
    store.take(take(&ada(), turn(epoch, 3), &[two])).await.unwrap();
    assert!(!call(&store, turn(epoch, 3), "c").await.1);
    // A turn that the program began has no message.
    store.end_turn(lose(&ada(), turn(epoch, 3), &[two])).await.unwrap();
    store.take(take(&ada(), turn(epoch, 4), &[])).await.unwrap();
    assert!(!call(&store, turn(epoch, 4), "d").await.1);
}

pub(crate) async fn a_line_that_could_not_be_delivered_is_said_again(fixture: &Fixture) {
    let (store, epoch) = begun(fixture).await;
    let id = accepted(&store, "m").await;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let first = said(&store, turn(epoch, 1), "a").await;
    let second = said(&store, turn(epoch, 1), "b").await;
    store.undeliverable(&[gangline_store::OutboxId(first)], "403").await.unwrap();
    store.end_turn(lose(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    store.take(take(&ada(), turn(epoch, 2), &[id])).await.unwrap();
    assert_eq!(call(&store, turn(epoch, 2), "c").await, (second, true));
    assert!(!call(&store, turn(epoch, 2), "d").await.1);
}

/// A client that asks again for a lost result gets what it got before.
pub(crate) async fn a_call_that_is_repeated_in_its_turn_finds_the_same(fixture: &Fixture) {
    let (store, epoch) = begun(fixture).await;
    let id = accepted(&store, "m").await;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let first = said(&store, turn(epoch, 1), "a").await;
    let second = said(&store, turn(epoch, 1), "b").await;
    store.end_turn(lose(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    store.take(take(&ada(), turn(epoch, 2), &[id])).await.unwrap();
    for (request, number, before) in
        [("c", first, true), ("c", first, true), ("d", second, true), ("c", first, true)]
    {
        assert_eq!(call(&store, turn(epoch, 2), request).await, (number, before), "{request}");
    }
    let (third, before) = call(&store, turn(epoch, 2), "e").await;
    assert!(!before);
    assert_eq!(call(&store, turn(epoch, 2), "e").await, (third, false));
}

/// The answer goes to the call that is held open now, not to the one that died.
pub(crate) async fn a_call_that_waits_takes_over_the_question(fixture: &Fixture) {
    let (store, epoch) = begun(fixture).await;
    let id = accepted(&store, "m").await;
    let lost = turn(epoch, 1);
    store.take(take(&ada(), lost, &[id])).await.unwrap();
    let waits =
        |turn, request| NewAct { waits: Some(epoch), ..act(turn, request, ActKind::Question) };
    let new = NewQuestion { turn: Some(lost), waits: Some(epoch), ..question(&ada(), "a") };
    let asked = store.ask_once(new, Some(waits(lost, "a")), |_| AskedBy::default()).await.unwrap();
    let died = gangline_store::Waited::Before(Epoch(epoch.0 + 1));
    store.stop_waiting(&ada(), died).await.unwrap();
    store.end_turn(lose(&ada(), lost, &[id])).await.unwrap();
    let next = turn(epoch, 2);
    store.take(take(&ada(), next, &[id])).await.unwrap();
    let found = store.done_before(waits(next, "b")).await.unwrap().unwrap();
    assert_eq!(found.number, asked.number.0);
    let closed = store.answer_question(asked.number, answer("yes")).await.unwrap();
    assert_eq!((closed.row.state, closed.message), (QuestionState::Answered, None));
    let got = gangline_store::Got::Nothing;
    let gone = gangline_store::Waited::Request { request: "b".to_owned(), got };
    assert_eq!(store.stop_waiting(&ada(), gone).await.unwrap().len(), 1);
}

/// Whatever is said, and wherever it is cut off.
pub(crate) async fn attempts_that_are_cut_off_say_each_line_once_and_in_order(fixture: &Fixture) {
    let (store, epoch) = begun(fixture).await;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut roll = |sides: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % sides).unwrap()
    };
    let mut number = 0;
    for round in 0..12 {
        let id = accepted(&store, &format!("m{round}")).await;
        let calls: Vec<usize> = (0..roll(7)).map(|_| roll(3)).collect();
        let cuts: Vec<usize> = (0..roll(4)).map(|_| roll(8)).chain([calls.len()]).collect();
        let (mut done, last) = (Vec::new(), cuts.len() - 1);
        for (attempt, cut) in cuts.into_iter().enumerate() {
            number += 1;
            let turn = turn(epoch, number);
            store.take(take(&ada(), turn, &[id])).await.unwrap();
            for (at, what) in calls.iter().take(cut).enumerate() {
                let request = format!("{number}/{at}");
                let key = ActKey::new(ActKind::Send, &[&what.to_string()]);
                let act = NewAct { key, ..act(turn, &request, ActKind::Send) };
                if store.done_before(act.clone()).await.unwrap().is_none() {
                    let line = Send { turn: Some(turn), ..send(&ada(), &request, &["tea"]) };
                    store.send_once(line, Some(act)).await.unwrap();
                    done.push(*what);
                }
            }
            let over = match attempt == last {
                true => end(&ada(), turn, vec![settle(id, MessageState::Answered)]),
                false => lose(&ada(), turn, &[id]),
            };
            store.end_turn(over).await.unwrap();
        }
        assert_eq!(done, calls, "round {round}");
    }
}
