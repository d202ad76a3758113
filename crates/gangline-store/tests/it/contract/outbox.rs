//! The outbox.

use gangline_core::{MessageId, Principal, Tier, split::Joint};
use gangline_os::clock::UnixMicros;
use gangline_store::{LineKind, NewMessage, OutboxId, OutboxState, Said, SentAs};

use crate::support::*;

pub(crate) async fn a_send_makes_one_row_per_line(fixture: &Fixture) {
    let store = fixture.open().await;
    let mut said = send(&ada(), "k", &["one", "two"]);
    said.kind = LineKind::Notice;
    let receipt = store.send(said).await.unwrap();
    let rows = store.outbox_pending(&ada(), 9).await.unwrap();
    let ids: Vec<OutboxId> = rows.iter().map(|row| row.id).collect();
    assert_eq!((receipt.outbox, receipt.repeated), (ids, false));
    let second = &rows[1];
    assert_eq!((second.part, second.parts, second.body.as_str()), (1, 2, "two"));
    assert_eq!((second.kind, second.state), (LineKind::Notice, OutboxState::Queued));
    assert_eq!(store.outbox_pending(&ada(), 1).await.unwrap().len(), 1);
    let behind = store.outbox_pending_after(&ada(), rows[0].id, 9).await.unwrap();
    assert_eq!(behind, rows[1..]);
    assert_eq!(store.outbox_pending_after(&ada(), rows[1].id, 9).await.unwrap(), []);
    assert_eq!(store.outbox_pending(&bob(), 9).await.unwrap(), []);
}

pub(crate) async fn the_same_key_gives_the_same_rows(fixture: &Fixture) {
    let store = fixture.open().await;
    let first = store.send(send(&ada(), "k", &["one", "two"])).await.unwrap();
    let again = store.send(send(&ada(), "k", &["another text"])).await.unwrap();
    assert_eq!((again.outbox, again.repeated), (first.outbox, true));
    let rows = store.outbox_by_idem(&ada(), "k").await.unwrap();
    assert_eq!(rows.iter().map(|row| row.body.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert!(!store.send(send(&bob(), "k", &["his"])).await.unwrap().repeated);
}

pub(crate) async fn a_line_goes_from_queued_to_confirmed(fixture: &Fixture) {
    let store = fixture.open().await;
    let ids = store.send(send(&ada(), "k", &["one", "two"])).await.unwrap().outbox;
    assert_eq!(store.mark_sent(&ids, SentAs::Lines).await.unwrap(), 2);
    let said = Said { msgid: Some("msgid".to_owned()), at: None };
    assert!(store.confirm(&[ids[0]], said).await.unwrap());
    assert!(!store.confirm(&[ids[0]], Said::default()).await.unwrap());
    assert_eq!(store.mark_sent(&ids, SentAs::Lines).await.unwrap(), 1);
    let waiting = store.outbox_pending(&ada(), 9).await.unwrap();
    assert_eq!((waiting.len(), waiting[0].id, waiting[0].attempts), (1, ids[1], 2));
    let row = &store.outbox_by_idem(&ada(), "k").await.unwrap()[0];
    assert_eq!((row.state, row.msgid.as_deref()), (OutboxState::Confirmed, Some("msgid")));
    assert!(row.sent_at.is_some() && row.settled_at.is_some());
}

pub(crate) async fn a_send_keeps_the_form_of_its_first_time(fixture: &Fixture) {
    let store = fixture.open().await;
    for (key, first, again) in
        [("a", SentAs::Whole, SentAs::Lines), ("b", SentAs::Lines, SentAs::Whole)]
    {
        let ids = store.send(send(&ada(), key, &["one", "two"])).await.unwrap().outbox;
        let form = async || {
            let rows = store.outbox_by_idem(&ada(), key).await.unwrap();
            rows.iter().map(|row| row.sent_as).collect::<Vec<_>>()
        };
        assert_eq!(form().await, [None, None]);
        store.mark_sent(&ids, first).await.unwrap();
        assert_eq!(form().await, [Some(first); 2]);
        store.mark_sent(&ids, again).await.unwrap();
        assert_eq!(form().await, [Some(first); 2]);
    }
}

pub(crate) async fn all_lines_of_a_message_are_settled_together(fixture: &Fixture) {
    let store = fixture.open().await;
    let ids = store.send(send(&ada(), "k", &["one", "two"])).await.unwrap().outbox;
    assert!(store.undeliverable(&ids, "404").await.unwrap());
    assert!(!store.undeliverable(&ids, "404").await.unwrap());
    let said = Said { msgid: Some("msgid".to_owned()), at: None };
    assert!(store.confirm(&ids, said.clone()).await.unwrap());
    assert!(!store.confirm(&ids, said).await.unwrap());
    for row in store.outbox_by_idem(&ada(), "k").await.unwrap() {
        let state = (row.state, row.msgid.as_deref(), row.why);
        assert_eq!(state, (OutboxState::Confirmed, Some("msgid"), None), "part {}", row.part);
    }
}

pub(crate) async fn a_line_that_was_cut_goes_on(fixture: &Fixture) {
    let store = fixture.open().await;
    let mut said = send(&ada(), "k", &["one", "two", "three"]);
    let joints = [Joint::Anew, Joint::Space, Joint::Word];
    for (line, joint) in said.lines.iter_mut().zip(joints) {
        line.joint = joint;
    }
    store.send(said).await.unwrap();
    let rows = store.outbox_by_idem(&ada(), "k").await.unwrap();
    assert_eq!(rows.iter().map(|row| row.joint).collect::<Vec<_>>(), joints);
}

pub(crate) async fn an_undeliverable_line_names_whom_to_tell(fixture: &Fixture) {
    let store = fixture.open().await;
    let asked = store.accept(message(&ada(), "a")).await.unwrap().id;
    let mut said = send(&ada(), "k", &["one"]);
    said.in_reply_to = Some(asked);
    let id = store.send(said).await.unwrap().outbox[0];
    assert!(store.undeliverable(&[id], "403").await.unwrap());
    assert!(!store.undeliverable(&[id], "404").await.unwrap());
    store.may_be_doubled(id).await.unwrap();
    let row = &store.outbox_by_idem(&ada(), "k").await.unwrap()[0];
    assert_eq!((row.tell.as_deref(), row.why.as_deref()), (Some("otto"), Some("403")));
    assert!(row.may_be_doubled);
    assert_eq!(store.outbox_pending(&ada(), 9).await.unwrap(), []);
    assert!(store.confirm(&[id], Said::default()).await.unwrap(), "seen in the room after all");
}

pub(crate) async fn lines_that_were_sent_and_not_confirmed_still_wait(fixture: &Fixture) {
    let store = fixture.open().await;
    let ids = store.send(send(&ada(), "k", &["one", "two", "three"])).await.unwrap().outbox;
    store.mark_sent(&ids[..2], SentAs::Lines).await.unwrap();
    store.confirm(&[ids[0]], Said::default()).await.unwrap();
    let rows = store.outbox_pending(&ada(), 9).await.unwrap();
    let waiting: Vec<_> = rows.iter().map(|row| (row.id, row.state)).collect();
    assert_eq!(waiting, [(ids[1], OutboxState::Sent), (ids[2], OutboxState::Queued)]);
}

pub(crate) async fn a_delivery_to_an_agent_is_made_once(fixture: &Fixture) {
    let store = fixture.open().await;
    for (key, lines) in [("with-line", &["copy"][..]), ("without", &[])] {
        let mut said = send(&ada(), key, lines);
        said.deliver = Some(keyed(&bob(), key));
        let first = store.send(said.clone()).await.unwrap();
        let again = store.send(said).await.unwrap();
        assert!(!first.repeated && again.repeated, "{key}");
        assert_eq!(first.delivered.unwrap().id, again.delivered.unwrap().id);
    }
    let mut keyless = send(&ada(), "keyless", &["copy"]);
    keyless.deliver = Some(message(&bob(), "hi"));
    assert!(store.send(keyless.clone()).await.unwrap().delivered.is_some());
    assert!(store.send(keyless).await.unwrap().delivered.is_none());
    let inbox = store.pending(&bob(), UnixMicros(i64::MAX), 9).await.unwrap();
    assert_eq!(inbox.len(), 3);
}

pub(crate) async fn a_line_knows_its_cause(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let human = store.accept(message(&ada(), "a")).await.unwrap().id;
    let passed =
        NewMessage { cause_root: Some(MessageId(77)), hops: 3, ..message(&ada(), "from an agent") };
    let passed = store.accept(passed).await.unwrap().id;
    let turn = turn(epoch, 1);
    store.take(take(&ada(), turn, &[human, passed])).await.unwrap();
    let cause = async |key: &str, to: Option<MessageId>, in_turn: bool| {
        let mut said = send(&ada(), key, &["x"]);
        (said.in_reply_to, said.turn) = (to, in_turn.then_some(turn));
        store.send(said).await.unwrap();
        let row = store.outbox_by_idem(&ada(), key).await.unwrap().remove(0);
        (row.cause_root.map(|id| id.0), row.hops)
    };
    assert_eq!(cause("answer", Some(human), true).await, (Some(human.0), 1));
    assert_eq!(cause("passed on", Some(passed), true).await, (Some(77), 4));
    assert_eq!(cause("aside in the turn", None, true).await, (Some(77), 4));
    assert_eq!(cause("out of the blue", None, false).await, (None, 0));
}

pub(crate) async fn a_private_line_knows_the_line_that_it_answers(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let said = |sender: &str, msgid: &str| NewMessage {
        sender: sender.to_owned(),
        msgid: Some(msgid.to_owned()),
        ..message(&ada(), msgid)
    };
    let otto = store.accept(said("otto", "m.1")).await.unwrap().id;
    let again = store.accept(said("Otto", "m.2")).await.unwrap().id;
    let anna = store.accept(said("anna", "m.3")).await.unwrap().id;
    let here = store.accept(message(&ada(), "not from a server")).await.unwrap().id;
    let turn = turn(epoch, 1);
    store.take(take(&ada(), turn, &[otto, again, anna, here])).await.unwrap();
    let question = async |to: &str, answers: Option<MessageId>, in_turn: bool, named: &str| {
        let key = format!("{to} {answers:?} {in_turn} {named}");
        let mut said = send(&ada(), &key, &["x"]);
        (said.target, said.in_reply_to) = (to.to_owned(), answers);
        said.turn = in_turn.then_some(turn);
        let named = (!named.is_empty()).then(|| named.to_owned());
        store.answer(said, named).await.unwrap();
        store.outbox_by_idem(&ada(), &key).await.unwrap().remove(0).question
    };
    let is = |msgid: &str| Some(msgid.to_owned());
    assert_eq!(question("otto", Some(otto), true, "").await, is("m.1"));
    assert_eq!(question("OTTO", None, true, "").await, is("m.2"), "the newest of the turn");
    assert_eq!(question("otto", Some(here), true, "").await, is("m.2"));
    assert_eq!(question("anna", Some(otto), true, "").await, is("m.3"), "what anna said");
    assert_eq!(question("bert", Some(otto), true, "").await, None, "bert said nothing");
    assert_eq!(question("#room", Some(otto), true, "").await, None, "it is not private");
    assert_eq!(question("otto", None, false, "").await, None, "nothing is answered");
    assert_eq!(question("otto", None, false, "m.9").await, is("m.9"));
}

pub(crate) async fn a_private_line_knows_who_asked_for_it(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let said = |sender: &str, account: &str, msgid: &str| NewMessage {
        sender: sender.to_owned(),
        principal: Principal { account: account.to_owned(), tier: Tier::Member },
        msgid: Some(msgid.to_owned()),
        ..message(&ada(), msgid)
    };
    let otto = store.accept(said("otto", "otto-at-home", "m.1")).await.unwrap().id;
    let again = store.accept(said("Otto", "another", "m.2")).await.unwrap().id;
    let anna = store.accept(said("anna", "~anna", "m.3")).await.unwrap().id;
    let turn = turn(epoch, 1);
    store.take(take(&ada(), turn, &[again, anna])).await.unwrap();
    let who = async |to: &str, answers: Option<MessageId>, in_turn: bool, named: &str| {
        let key = format!("{to} {answers:?} {in_turn} {named}");
        let mut said = send(&ada(), &key, &["x"]);
        (said.target, said.in_reply_to) = (to.to_owned(), answers);
        said.turn = in_turn.then_some(turn);
        let named = (!named.is_empty()).then(|| named.to_owned());
        let row = store.answer(said, named).await.unwrap().outbox[0];
        store.asked_by(row, "local").await.unwrap().map(|who| who.account)
    };
    let is = |account: &str| Some(account.to_owned());
    assert_eq!(who("otto", Some(otto), false, "").await, is("otto-at-home"));
    assert_eq!(who("OTTO", None, true, "").await, is("another"), "of the turn");
    assert_eq!(who("anna", None, true, "").await, is("~anna"));
    assert_eq!(who("otto", None, false, "m.1").await, is("otto-at-home"), "of the named line");
    assert_eq!(who("bert", Some(otto), true, "").await, None, "bert asked for nothing");
    assert_eq!(who("otto", None, false, "").await, None, "nothing is answered");
    assert_eq!(who("otto", None, false, "m.9").await, None, "a line that is not known");
}
