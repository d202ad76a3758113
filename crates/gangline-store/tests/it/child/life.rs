//! A life in which every kind of write comes once.

use std::path::Path;

use gangline_core::{
    Epoch, MessageId, MessageState, act::ActKind, alert::DeliveryState, approval::Decision,
    finding::ChoiceWord, hook::WebhookEvent, whisper::WhisperRoad,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{
    AgentUpdate, Applied, AskedBy, ChangeState, ChangeStep, ChangeTold, DeliveryEnd, Entry, Firing,
    NewAlert, NewDelivery, NewEvent, NewFinding, NewQuestion, NewRelayOpen, OpenApproval, Said,
    SentAs, Store, TrustWord, Waited,
};

use super::{open, say};
use crate::support::*;

/// The writes of [`life`], in order.
pub(crate) const LIFE: &[&str] = &[
    "begin_epoch",
    "set_agent",
    "pause",
    "order",
    "accept",
    "move_cursor",
    "cancel",
    "put_account",
    "probe",
    "take",
    "order_turn",
    "send",
    "mark_sent",
    "confirm",
    "undeliverable",
    "may_be_doubled",
    "append",
    "open_approval",
    "withdraw_approval",
    "decide",
    "mark_delivered",
    "void_older",
    "end_turn",
    "release",
    "end_cause",
    "add_usage",
    "relay_begins",
    "relayed",
    "raise_budget",
    "hold_fleet",
    "remove_rule",
    "void_rules",
    "ask",
    "answer",
    "cancel_question",
    "expire_questions",
    "stop_waiting",
    "remind",
    "fire_reminder",
    "remove_reminder",
    "send_letter",
    "read_letters",
    "settle_letter",
    "raise_finding",
    "see_finding",
    "resolve_finding",
    "decide_finding",
    "retry",
    "whisper",
    "whispers_delivered",
    "wake",
    "note_restart",
    "add_token",
    "use_token",
    "revoke_token",
    "trust_folder",
    "applied",
    "request_change",
    "decide_change",
    "step_change",
    "alert",
    "tell_alert",
    "claim_delivery",
    "end_delivery",
    "repeat_act",
];

/// Does every kind of write once, and says its name after its `ok`.
pub(super) async fn life(path: &Path) {
    let store = open(path).await;
    let epoch = first_half(&store).await;
    second_half(&store, epoch).await;
    what_waits_for_people(&store).await;
    what_is_done_again(&store).await;
    store.close().await.unwrap();
}

async fn first_half(store: &Store) -> Epoch {
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    say("begin_epoch");
    let session = Some(Some("session".to_owned()));
    let update = AgentUpdate { session, ..AgentUpdate::default() };
    alone(store, Entry::Agent(ada(), epoch, update)).await.unwrap();
    say("set_agent");
    store.pause(&ada()).await.unwrap();
    say("pause");
    store.order(&ada(), gangline_store::Desired::Down, "otto").await.unwrap();
    say("order");
    let id = store.accept(keyed(&ada(), "first")).await.unwrap().id;
    say("accept");
    store.move_cursor(&ada(), "local", "#room", "1").await.unwrap();
    say("move_cursor");
    let other = store.accept(keyed(&ada(), "second")).await.unwrap().id;
    store.cancel(other, "otto").await.unwrap();
    say("cancel");
    store.put_account(owner()).await.unwrap();
    say("put_account");
    store.probe().await.unwrap();
    say("probe");
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    say("take");
    let compact = gangline_store::TurnOrderKind::Compact;
    store.order_session(&ada(), compact, "otto").await.unwrap();
    say("order_turn");
    let lines = store.send(send(&ada(), "k", &["one", "two"])).await.unwrap().outbox;
    say("send");
    store.mark_sent(&lines, SentAs::Lines).await.unwrap();
    say("mark_sent");
    store.confirm(&[lines[0]], Said::default()).await.unwrap();
    say("confirm");
    store.undeliverable(&[lines[1]], "403").await.unwrap();
    say("undeliverable");
    store.may_be_doubled(lines[0]).await.unwrap();
    say("may_be_doubled");
    epoch
}

async fn second_half(store: &Store, epoch: Epoch) {
    let turn = turn(epoch, 1);
    let note = NewEvent {
        agent: ada(),
        epoch: None,
        turn: Some(turn),
        kind: "note".to_owned(),
        payload: text("{}"),
    };
    store.append(vec![note]).await.unwrap();
    say("append");
    let id = store.messages(Default::default(), 9).await.unwrap()[1].id;
    let announce = Some(announce(&ada(), "key", "#general"));
    let announced = OpenApproval { announce, ..ask(&ada(), turn, id) };
    let number = store.open_approval(announced).await.unwrap().number;
    say("open_approval");
    let (request, args_hash) = ("back".to_owned(), "another".to_owned());
    let back = OpenApproval { request, args_hash, ..ask(&ada(), turn, id) };
    store.open_approval(back).await.unwrap();
    store.withdraw_approval(withdraw(&ada(), turn, "back")).await.unwrap();
    say("withdraw_approval");
    store.decide(number, rules(Decision::Allow)).await.unwrap();
    say("decide");
    alone(store, Entry::Delivered(number)).await.unwrap();
    say("mark_delivered");
    let second = OpenApproval { request: "second".to_owned(), ..ask(&ada(), turn, id) };
    store.open_approval(second).await.unwrap();
    let next = store.begin_epoch(&ada(), (2, ""), claude()).await.unwrap().epoch;
    store.void_older(&ada(), next).await.unwrap();
    say("void_older");
    let held = settle(id, MessageState::Held);
    store.end_turn(end(&ada(), turn, vec![held])).await.unwrap();
    say("end_turn");
    store.release(id, 30).await.unwrap();
    say("release");
    store.end_cause(id, "otto").await.unwrap();
    say("end_cause");
    store.add_usage(usage(None)).await.unwrap();
    say("add_usage");
    budgets(store).await;
    // There is none: the write is one all the same.
    assert_eq!(store.remove_rule(1, "ori").await.unwrap(), None);
    say("remove_rule");
    assert_eq!(store.void_rules(&ada(), Vec::new()).await.unwrap(), []);
    say("void_rules");
}

async fn what_is_found(store: &Store) {
    let found = store.raise_finding(silent(&ada(), "first")).await.unwrap().number;
    say("raise_finding");
    store.see_finding(found, "otto").await.unwrap();
    say("see_finding");
    store.resolve_finding(&ada(), "silent_turn").await.unwrap();
    say("resolve_finding");
    let found = store.raise_finding(silent(&ada(), "second")).await.unwrap().number;
    store.decide_finding(found, ChoiceWord::Abort, "otto").await.unwrap();
    say("decide_finding");
    let dead = NewFinding { key: "dead_letter/m1".to_owned(), ..silent(&ada(), "third") };
    store.raise_finding(dead).await.unwrap();
    store.retry(MessageId(1), "otto").await.unwrap();
    say("retry");
}

async fn what_is_whispered(store: &Store) {
    let whisper = store.whisper(whisper("ask #help")).await.unwrap();
    say("whisper");
    alone(store, Entry::WhispersDelivered(delivered(&[whisper], WhisperRoad::Hook))).await.unwrap();
    say("whispers_delivered");
}

async fn budgets(store: &Store) {
    let epoch = store.agent(&ada()).await.unwrap().unwrap().epoch;
    let begins = NewRelayOpen { agent: ada(), epoch, day: DAY.to_owned(), bytes: Some(9) };
    store.relay_begins(begins, |_| {}).await.unwrap();
    say("relay_begins");
    store.relayed(relayed(None, 7)).await.unwrap();
    say("relayed");
    store.raise_budget(raise("day", "5k")).await.unwrap();
    say("raise_budget");
    assert!(store.hold_fleet("too much", None).await.unwrap());
    say("hold_fleet");
}

async fn what_waits_for_people(store: &Store) {
    let asked = |request: &str| store.ask(question(&ada(), request), |_| AskedBy::default());
    let first = asked("first").await.unwrap().number;
    say("ask");
    store.answer_question(first, answer("yes")).await.unwrap();
    say("answer");
    let second = asked("second").await.unwrap().number;
    store.cancel_question(second, owner()).await.unwrap();
    say("cancel_question");
    asked("third").await.unwrap();
    assert_eq!(store.expire_questions(&ada(), UnixMicros(i64::MAX)).await.unwrap().len(), 1);
    say("expire_questions");
    let waited = NewQuestion { waits: Some(Epoch(1)), ..question(&ada(), "waited") };
    let waited = store.ask(waited, |_| AskedBy::default()).await.unwrap().number;
    store.answer_question(waited, answer("yes")).await.unwrap();
    store.stop_waiting(&ada(), Waited::Before(Epoch(2))).await.unwrap();
    say("stop_waiting");
    let made = store.remind(reminder(&ada(), "first", 1)).await.unwrap();
    say("remind");
    let firing = Firing { id: made.id, due_at: made.due_at, body: text("tea"), next: None };
    store.fire_reminder(&ada(), firing).await.unwrap();
    say("fire_reminder");
    let other = store.remind(reminder(&ada(), "second", 1)).await.unwrap().id;
    store.remove_reminder(other).await.unwrap();
    say("remove_reminder");
    let letter = store.send_letter(letter(&ada(), "first")).await.unwrap();
    say("send_letter");
    store.read_letters(vec![letter]).await.unwrap();
    say("read_letters");
    store.settle_letter(letter, "otto".to_owned(), None).await.unwrap();
    say("settle_letter");
    what_is_found(store).await;
    what_is_whispered(store).await;
    store.wake(wake_of(&ada(), "matrix", Some("first"))).await.unwrap();
    say("wake");
    let epoch = store.agent(&ada()).await.unwrap().unwrap().epoch;
    store.note_restart(&ada(), epoch, Some(text("you were restarted"))).await.unwrap();
    say("note_restart");
    let token = store.add_token(token(&ada(), "hash")).await.unwrap().id;
    say("add_token");
    store.use_token(token).await.unwrap();
    say("use_token");
    store.revoke_token(token).await.unwrap();
    say("revoke_token");
    store.trust_folder(folder_word("aa", TrustWord::Allowed)).await.unwrap();
    say("trust_folder");
    what_is_changed(store, epoch).await;
    alerts(store).await;
}

async fn what_is_changed(store: &Store, epoch: Epoch) {
    let mark = "0f".to_owned();
    store.record_applied(Applied { agent: ada(), epoch, mark }).await.unwrap();
    say("applied");
    let asked = store.request_change(new_change(turn(epoch, 1)), |_| ChangeTold::default());
    let change = asked.await.unwrap().number;
    say("request_change");
    store.decide_change(change, rules(Decision::Allow)).await.unwrap();
    say("decide_change");
    let (from, to) = (ChangeState::Approved, ChangeState::Applied);
    let outcome = Some(text("it is up"));
    let step = ChangeStep { from, to, commit: None, before: None, epoch: None, outcome };
    assert!(store.step_change(change, step).await.unwrap());
    say("step_change");
}

/// An attempt is lost, and the next one makes its call again.
async fn what_is_done_again(store: &Store) {
    let epoch = store.agent(&ada()).await.unwrap().unwrap().epoch;
    let id = store.accept(keyed(&ada(), "again")).await.unwrap().id;
    let (lost, next) = (turn(epoch, 2), turn(epoch, 3));
    store.take(take(&ada(), lost, &[id])).await.unwrap();
    let said = send(&ada(), "t", &["hi"]);
    store.send_once(said, Some(act(lost, "t", ActKind::Send))).await.unwrap();
    store.end_turn(lose(&ada(), lost, &[id])).await.unwrap();
    store.take(take(&ada(), next, &[id])).await.unwrap();
    let again = store.done_before(act(next, "n", ActKind::Send)).await.unwrap();
    assert_eq!(again.map(|act| act.turn), Some(lost));
    say("repeat_act");
}

async fn alerts(store: &Store) {
    let (late, event) = (UnixMicros(i64::MAX), WebhookEvent::AgentError);
    let said = text("it crashed");
    let new = NewAlert::new(ada(), event, said.clone());
    store.alert(new).await.unwrap();
    say("alert");
    // Findings have raised others.
    let due = store.alerts_due(None, late).await.unwrap();
    let seen = due.into_iter().find(|row| row.text == said).unwrap();
    let delivery =
        NewDelivery { target: "url".to_owned(), text: said, at: UnixMicros(1), repeats: false };
    assert!(store.tell_alert(seen, vec![delivery], None).await.unwrap());
    say("tell_alert");
    let seen = store.deliveries_due(None, late).await.unwrap().remove(0);
    let claimed = store.claim_delivery(seen, "test").await.unwrap().unwrap();
    say("claim_delivery");
    let over = DeliveryEnd::Over(DeliveryState::Delivered, None);
    assert!(store.end_delivery(claimed, over).await.unwrap());
    say("end_delivery");
}
