//! Orders about a turn or a session, and answers to escalations: one commit each, and one outcome.

use gangline_core::{
    ApprovalNumber, Epoch, MessageId, MessageState,
    approval::Decision,
    finding::{Choice, ChoiceWord, FindingKind},
    outcome::{By, Outcome, OutcomeWord},
    pause::PauseReason,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{
    AgentUpdate, ChoiceDone, Desired, EndOrder, EndTurn, Entry, FindingError, Guides, NewFinding,
    NewPause, OpenApproval, OrderedEnd, Released, Store, TurnOrderKind,
};

use crate::support::*;

async fn working(fixture: &Fixture) -> (Store, Epoch, MessageId) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let id = store.accept(message(&ada(), "a")).await.unwrap().id;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    (store, epoch, id)
}

fn end_order(turn: Option<gangline_core::TurnId>, guides: Guides) -> EndOrder {
    EndOrder { agent: ada(), turn, by: "otto".to_owned(), guides }
}

/// Returns kind and outcome of every order, oldest first.
fn outcomes(fixture: &Fixture) -> Vec<String> {
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    let sql = "SELECT kind || ' ' || coalesce(outcome, '-') FROM turn_orders ORDER BY id";
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

async fn escalated(store: &Store) -> gangline_core::FindingNumber {
    let pause = NewPause::new(ada(), PauseReason::Escalation, None);
    store.begin_pause(pause).await.unwrap();
    let choices =
        vec![Choice::new(ChoiceWord::Resume, "goes on"), Choice::new(ChoiceWord::Abort, "ends")];
    let new = NewFinding::new(ada(), FindingKind::Escalation, text("stuck"));
    store.raise_finding(NewFinding { choices, ..new }).await.unwrap().number
}

async fn reasons(store: &Store) -> Vec<PauseReason> {
    let row = store.agent(&ada()).await.unwrap().unwrap();
    row.pauses.into_iter().map(|row| row.reason).collect()
}

pub(crate) async fn an_order_names_an_open_turn_and_ends_no_other(fixture: &Fixture) {
    let (store, epoch, id) = working(fixture).await;
    let open = turn(epoch, 1);
    let later = end_order(Some(turn(epoch, 2)), Guides::Yes);
    assert_eq!(store.order_end(later).await.unwrap(), OrderedEnd::NotYet, "nothing is stored");
    assert_eq!(store.order_end(end_order(None, Guides::Yes)).await.unwrap(), OrderedEnd::NoTurn);
    assert_eq!(outcomes(fixture), [] as [&str; 0]);
    assert_eq!(store.turns_to_end(&ada()).await.unwrap(), []);
    for _ in 0..2 {
        let order = end_order(Some(open), Guides::No);
        assert_eq!(store.order_end(order).await.unwrap(), OrderedEnd::Ends);
    }
    assert_eq!(outcomes(fixture), ["end_turn -"], "one order for a turn");
    assert_eq!(store.turns_to_end(&ada()).await.unwrap(), [open]);
    assert_eq!(store.turns_to_end(&bob()).await.unwrap(), []);
    let outcome = (&Outcome::Interrupted(By::Operator)).into();
    let settle = vec![settle(id, MessageState::Failed)];
    store.end_turn(EndTurn { outcome, ..end(&ada(), open, settle) }).await.unwrap();
    assert_eq!(outcomes(fixture), ["end_turn done"]);
    assert_eq!(store.turns_to_end(&ada()).await.unwrap(), []);
    let late = end_order(Some(open), Guides::No);
    assert_eq!(store.order_end(late).await.unwrap(), OrderedEnd::NoTurn);
    assert_eq!(outcomes(fixture), ["end_turn done"]);
}

pub(crate) async fn an_order_whose_turn_ended_otherwise_is_void(fixture: &Fixture) {
    let (store, epoch, id) = working(fixture).await;
    let open = turn(epoch, 1);
    store.order_end(end_order(Some(open), Guides::No)).await.unwrap();
    let answered = vec![settle(id, MessageState::Answered)];
    store.end_turn(end(&ada(), open, answered)).await.unwrap();
    assert_eq!(outcomes(fixture), ["end_turn void"]);
}

pub(crate) async fn a_successor_finds_who_ended_a_lost_turn(fixture: &Fixture) {
    let (store, epoch, id) = working(fixture).await;
    let open = turn(epoch, 1);
    let next = Epoch(epoch.0 + 1);
    let ended_by =
        async |store: &Store| store.open_turns(&ada(), next).await.unwrap().remove(0).ended_by;
    assert_eq!(ended_by(&store).await, None);
    store.order_end(end_order(Some(open), Guides::No)).await.unwrap();
    let successor = fixture.open().await;
    successor.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    // Of an open turn it is not void: recovery comes after this.
    successor.void_older(&ada(), next).await.unwrap();
    assert_eq!(outcomes(fixture), ["end_turn -"]);
    assert_eq!(ended_by(&successor).await.as_deref(), Some("otto"));
    let old = store.order_end(end_order(Some(open), Guides::No)).await.unwrap_err();
    assert!(old.to_string().contains("epoch"), "an older daemon orders nothing: {old}");
    let failed = vec![settle(id, MessageState::Failed)];
    let lost = EndTurn { outcome: OutcomeWord::Lost.into(), ..end(&ada(), open, failed) };
    successor.end_turn(lost).await.unwrap();
    assert_eq!(outcomes(fixture), ["end_turn void"]);
}

pub(crate) async fn abort_ends_turn_and_escalation_in_one_commit(fixture: &Fixture) {
    let (store, epoch, _) = working(fixture).await;
    let number = escalated(&store).await;
    let not_yet = end_order(Some(turn(epoch, 9)), Guides::Yes);
    assert_eq!(store.order_end(not_yet).await.unwrap(), OrderedEnd::NotYet);
    assert_eq!(reasons(&store).await, [PauseReason::Escalation], "all or nothing");
    store.order_end(end_order(Some(turn(epoch, 1)), Guides::No)).await.unwrap();
    assert_eq!(reasons(&store).await, [PauseReason::Escalation], "an author decides nothing");
    store.order_end(end_order(Some(turn(epoch, 1)), Guides::Yes)).await.unwrap();
    assert_eq!(reasons(&store).await, []);
    let row = store.one_finding(number).await.unwrap().unwrap();
    assert!(row.resolved_at.is_some());
}

pub(crate) async fn an_escalation_is_answered_in_one_commit(fixture: &Fixture) {
    let (store, epoch, _) = working(fixture).await;
    let number = escalated(&store).await;
    let retry = answered(number, ChoiceWord::Retry, "ori");
    let no_choice = store.answer_finding(retry).await.unwrap_err();
    assert!(matches!(no_choice, FindingError::NoSuchChoice { .. }), "{no_choice}");
    assert_eq!(reasons(&store).await, [PauseReason::Escalation]);
    let abort = answered(number, ChoiceWord::Abort, "ori");
    let done = store.answer_finding(abort).await.unwrap();
    assert_eq!(done.done, ChoiceDone::Aborted(Some(turn(epoch, 1))));
    let row = &done.finding;
    let by = (row.choice, row.resolved_by.as_deref());
    assert_eq!(by, (Some(ChoiceWord::Abort), Some("ori")));
    assert_eq!(reasons(&store).await, []);
    assert_eq!(store.turns_to_end(&ada()).await.unwrap(), [turn(epoch, 1)]);
    let twice = store.answer_finding(answered(number, ChoiceWord::Resume, "ori")).await;
    let twice = twice.unwrap_err();
    assert!(matches!(twice, FindingError::Resolved { .. }), "{twice}");
    // `resume` ends no turn, and lifts what `resume` lifts.
    let number = escalated(&store).await;
    store.pause(&ada()).await.unwrap();
    let resume = answered(number, ChoiceWord::Resume, "ori");
    assert_eq!(store.answer_finding(resume).await.unwrap().done, ChoiceDone::Resumed);
    assert_eq!(reasons(&store).await, []);
}

/// Raises a finding of this kind that offers every choice.
async fn found(
    store: &Store,
    (kind, message): (FindingKind, Option<MessageId>),
) -> gangline_core::FindingNumber {
    let choices = ChoiceWord::ALL.iter().map(|word| Choice::new(*word, "does it")).collect();
    let new = NewFinding::new(ada(), kind, text("found"));
    store.raise_finding(NewFinding { choices, message, ..new }).await.unwrap().number
}

/// Of every choice: what it does and the end of its finding are one write, by the one who chose.
pub(crate) async fn a_choice_and_what_it_does_are_one_commit(fixture: &Fixture) {
    let (store, epoch, id) = working(fixture).await;
    let open = turn(epoch, 1);
    let answer = async |(kind, message), choice| {
        let number = found(&store, (kind, message)).await;
        let writes = store.syncs().count();
        let done = store.answer_finding(answered(number, choice, "ori")).await.unwrap();
        assert_eq!(store.syncs().count(), writes + 1, "{choice}");
        let row = &done.finding;
        assert_eq!((row.choice, row.resolved_by.as_deref()), (Some(choice), Some("ori")));
        done.done
    };
    let silent = (FindingKind::SilentTurn, None);
    assert_eq!(answer(silent, ChoiceWord::Dismiss).await, ChoiceDone::Dismissed);
    assert_eq!(answer(silent, ChoiceWord::Retry).await, ChoiceDone::NoMessage);
    assert_eq!(answer(silent, ChoiceWord::Abort).await, ChoiceDone::Aborted(Some(open)));
    assert_eq!(store.turns_to_end(&ada()).await.unwrap(), [open]);
    store.end_turn(end(&ada(), open, vec![settle(id, MessageState::DeadLetter)])).await.unwrap();
    assert_eq!(answer(silent, ChoiceWord::Abort).await, ChoiceDone::Aborted(None));
    let dead = (FindingKind::BreakerOpen, Some(id));
    assert_eq!(answer(dead, ChoiceWord::Retry).await, ChoiceDone::Retried(id));
    let row = store.message(id).await.unwrap().unwrap();
    assert_eq!(row.state, MessageState::Accepted);
    assert_eq!(answer(dead, ChoiceWord::Retry).await, ChoiceDone::NotGivenUp(id));
    let released = ChoiceDone::Released(Released::NotHeld { root: id });
    assert_eq!(answer(dead, ChoiceWord::Release).await, released);
    assert_eq!(answer(silent, ChoiceWord::Start).await, ChoiceDone::Started);
    assert_eq!(answer(silent, ChoiceWord::Restart).await, ChoiceDone::Restarted);
    let order = store.orders().await.unwrap().remove(0);
    assert_eq!((order.desired, order.by.as_str()), (Desired::Up, "ori"));
    assert_eq!(order.restart.unwrap().by, "ori");
    store.pause(&ada()).await.unwrap();
    assert_eq!(answer(silent, ChoiceWord::Resume).await, ChoiceDone::Resumed);
    assert_eq!(reasons(&store).await, []);
}

/// A backend that waits for a login, or whose breaker is open, has no row that an answer could end: the order to
/// try it again is one.
pub(crate) async fn a_backend_is_tried_again_once(fixture: &Fixture) {
    let (store, _, _) = working(fixture).await;
    let ordered =
        async |store: &Store| store.standing_orders(&ada()).await.unwrap().unwrap().resume;
    assert_eq!(ordered(&store).await, None);
    assert_eq!(store.standing_orders(&bob()).await.unwrap(), None);
    for last in [false, true] {
        let number = found(&store, (FindingKind::BreakerOpen, None)).await;
        store.answer_finding(answered(number, ChoiceWord::Resume, "ori")).await.unwrap();
        let order = ordered(&store).await.unwrap();
        if !last {
            let done = Entry::Resumed(ada(), order);
            store.together(vec![done]).await.unwrap().remove(0).unwrap();
            assert_eq!(ordered(&store).await, None);
        }
    }
    assert_eq!(outcomes(fixture), ["resume done", "resume -"]);
    // Whoever begins tries its backend anyway.
    let next = fixture.open().await;
    next.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    assert_eq!(outcomes(fixture), ["resume done", "resume done"]);
}

pub(crate) async fn an_order_about_the_session_waits_until_it_was_done(fixture: &Fixture) {
    let (store, epoch, _) = working(fixture).await;
    let session = |session: &str| AgentUpdate {
        session: Some(Some(session.to_owned())),
        ..AgentUpdate::default()
    };
    let tell = async |store: &Store, epoch, told: &str| {
        let entry = Entry::Agent(ada(), epoch, session(told));
        store.together(vec![entry]).await.unwrap().remove(0).unwrap();
    };
    tell(&store, epoch, "old").await;
    let compact = store.order_session(&ada(), TurnOrderKind::Compact, "otto").await.unwrap();
    let open = store.open_turn_orders(&ada()).await.unwrap();
    assert_eq!((open[0].id, open[0].kind, open[0].turn), (compact, TurnOrderKind::Compact, None));
    let clear = store.order_session(&ada(), TurnOrderKind::Clear, "otto").await.unwrap();
    assert_eq!(outcomes(fixture), ["compact void", "clear -"], "nothing is left to be shortened");
    // The backend tells its session once more, and the daemon dies.
    tell(&store, epoch, "old").await;
    let successor = fixture.open().await;
    let start = successor.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    assert_eq!(start.session, None, "a new session begins");
    assert_eq!(outcomes(fixture), ["compact void", "clear done"]);
    tell(&successor, start.epoch, "new").await;
    let next = fixture.open().await;
    let start = next.begin_epoch(&ada(), (3, ""), claude()).await.unwrap();
    assert_eq!(start.session.as_deref(), Some("new"), "once");
    let later = next.order_session(&ada(), TurnOrderKind::Compact, "otto").await.unwrap();
    assert!(later > clear);
    for (upto, expect) in [(clear, "compact -"), (later, "compact done")] {
        let done = Entry::SessionDone(ada(), upto);
        next.together(vec![done]).await.unwrap().remove(0).unwrap();
        assert_eq!(outcomes(fixture)[2], expect);
    }
}

pub(crate) async fn what_was_allowed_and_heard_is_known_to_the_next_attempt(fixture: &Fixture) {
    let (store, epoch, id) = working(fixture).await;
    let opened = store.open_approval(ask(&ada(), turn(epoch, 1), id)).await.unwrap();
    let before = async || store.allowed_before(&ada(), id).await.unwrap();
    assert_eq!(before().await, []);
    store.decide(opened.number, rules(Decision::Allow)).await.unwrap();
    assert_eq!(before().await, [], "the backend has not heard it");
    let heard = Entry::Delivered(opened.number);
    store.together(vec![heard]).await.unwrap().remove(0).unwrap();
    let [one] = &before().await[..] else { panic!("one") };
    let found = (one.turn, one.tool.as_str(), one.args_hash.as_str(), one.by.as_str());
    assert_eq!(found, (turn(epoch, 1), "Bash", "hash-of-rm", "ori"));
    assert_eq!(store.allowed_before(&bob(), id).await.unwrap(), []);
    // Whoever shows the approval of the next attempt shows that too.
    store.end_turn(lose(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    store.take(take(&ada(), turn(epoch, 2), &[id])).await.unwrap();
    let asked = |hash: &str| OpenApproval {
        args_hash: hash.to_owned(),
        request: hash.to_owned(),
        ..ask(&ada(), turn(epoch, 2), id)
    };
    let again = store.open_approval(asked("hash-of-rm")).await.unwrap().number;
    let other = store.open_approval(asked("another")).await.unwrap().number;
    assert_ne!(again, opened.number);
    let one = store.approval(again).await.unwrap().unwrap();
    assert_eq!(one.before.as_ref().map(|it| it.by.as_str()), Some("ori"));
    assert_eq!(store.approval(other).await.unwrap().unwrap().before, None);
    assert_eq!(store.approval(opened.number).await.unwrap().unwrap().before, None, "itself");
    let listed = store.approvals(Some(&ada()), true).await.unwrap();
    let told: Vec<bool> = listed.iter().map(|row| row.before.is_some()).collect();
    assert_eq!(told, [true, false]);
    let traced = store.trace(id).await.unwrap().unwrap().approvals;
    let told: Vec<bool> = traced.iter().map(|row| row.before.is_some()).collect();
    assert_eq!(told, [false, true, false]);
    let items = store.attention(UnixMicros(0)).await.unwrap();
    let evidence = |number: ApprovalNumber| {
        let item = items.iter().find(|item| item.number == number.0).unwrap();
        item.evidence.as_str().to_owned()
    };
    let note = evidence(again);
    assert!(note.starts_with("ori allowed this at "), "{note}");
    assert!(note.ends_with("; it may have run"), "{note}");
    assert_eq!(evidence(other), "");
    // The same command twice in one attempt is two commands.
    store.decide(other, rules(Decision::Allow)).await.unwrap();
    store.together(vec![Entry::Delivered(other)]).await.unwrap().remove(0).unwrap();
    let twice = OpenApproval { request: "twice".to_owned(), ..asked("another") };
    let twice = store.open_approval(twice).await.unwrap().number;
    assert_eq!(store.approval(twice).await.unwrap().unwrap().before, None);
    // What is decided is over.
    store.decide(again, rules(Decision::Deny)).await.unwrap();
    assert_eq!(store.approval(again).await.unwrap().unwrap().before, None);
}
