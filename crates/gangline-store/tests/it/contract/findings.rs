//! Findings: raised, seen, resolved.

use gangline_core::{
    AgentName, ApprovalNumber, FindingNumber, MessageState,
    alert::Waits,
    approval::ApprovalState,
    finding::{Choice, ChoiceWord, FindingKind, FindingState, Severity},
    pause::PauseReason,
    question::{AnswerRule, Asked},
};
use gangline_os::clock::UnixMicros;
use gangline_store::{
    AskedBy, ChangeState, ChangeTold, Entry, EventQuery, FindingError, FindingFilter, FindingRow,
    NewFinding, NewMessage, NewPause, NewQuestion, Store, StoreError,
};

use crate::support::*;

/// The events of findings: state, cause, choice, by whom.
async fn told(store: &Store) -> Vec<String> {
    let events = store.events(EventQuery::default()).await.unwrap().events;
    let found = events.iter().filter(|event| event.kind == "finding").map(|event| {
        let it: serde_json::Value = serde_json::from_str(event.payload.as_str()).unwrap();
        let word = |key: &str| it[key].as_str().unwrap_or("-").to_owned();
        format!(
            "{} {} {} {} {}",
            it["number"],
            word("state"),
            word("cause"),
            word("choice"),
            word("by")
        )
    });
    found.collect()
}

async fn open(store: &Store) -> Vec<FindingRow> {
    store.findings(FindingFilter::default(), 9).await.unwrap()
}

/// A finding is one row while it holds, with one number of the sequence of approvals and questions.
pub(crate) async fn a_finding_is_raised_once_seen_and_resolved(fixture: &Fixture) {
    let store = fixture.open().await;
    let asked = ask_open(&store, &ada()).await;
    let raised = store.raise_finding(silent(&ada(), "10 minutes")).await.unwrap();
    assert!(raised.new);
    assert_eq!(raised.number.0, asked + 1);
    let row = store.one_finding(raised.number).await.unwrap().unwrap();
    assert_eq!(
        (row.kind.known(), row.severity),
        (Some(FindingKind::SilentTurn), Severity::Warning)
    );
    assert_eq!((row.state, row.cause.as_str()), (FindingState::Open, "10 minutes"));
    assert_eq!(row.choices, silent(&ada(), "").choices);
    assert_eq!(row.recommended, Some(ChoiceWord::Abort));
    let seen = store.see_finding(raised.number, "otto").await.unwrap();
    assert_eq!((seen.state, seen.seen_by.as_deref()), (FindingState::Seen, Some("otto")));
    store.see_finding(raised.number, "eve").await.unwrap();
    let worse = NewFinding { severity: Severity::Error, ..silent(&ada(), "20 minutes") };
    let again = store.raise_finding(worse).await.unwrap();
    assert_eq!((again.number, again.new), (raised.number, false));
    let row = open(&store).await.remove(0);
    assert_eq!((row.state, row.cause.as_str()), (FindingState::Seen, "20 minutes"));
    assert_eq!((row.severity, row.seen_by.as_deref()), (Severity::Error, Some("otto")));
    assert_eq!(store.resolve_finding(&ada(), "silent_turn").await.unwrap(), Some(raised.number));
    assert_eq!(store.resolve_finding(&ada(), "silent_turn").await.unwrap(), None);
    assert!(open(&store).await.is_empty());
    let one = raised.number;
    assert_eq!(
        told(&store).await,
        [
            format!("{one} open 10 minutes - -"),
            format!("{one} seen 10 minutes - otto"),
            format!("{one} resolved 20 minutes - -"),
        ]
    );
    let next = ask_open(&store, &bob()).await;
    assert_eq!(next, one.0 + 1, "one sequence");
}

/// Only what is offered can be chosen, by the first who answers; dismissing is always possible, but for an
/// escalation, which would leave the agent held with nothing in the list.
pub(crate) async fn a_choice_resolves_a_finding_once(fixture: &Fixture) {
    let store = fixture.open().await;
    let one = store.raise_finding(silent(&ada(), "quiet")).await.unwrap().number;
    let other = store.answer_finding(answered(one, ChoiceWord::Retry, "otto")).await.unwrap_err();
    let said = format!("`retry` is not a choice for finding {one}; choose abort, dismiss");
    assert_eq!(other.to_string(), said);
    let row = store.answer_finding(answered(one, ChoiceWord::Abort, "otto")).await.unwrap().finding;
    assert_eq!((row.state, row.choice), (FindingState::Resolved, Some(ChoiceWord::Abort)));
    let late = store.answer_finding(answered(one, ChoiceWord::Abort, "eve")).await.unwrap_err();
    assert_eq!(late.to_string(), format!("finding {one} is resolved already, by otto"));
    let late = store.see_finding(one, "eve").await.unwrap_err();
    assert!(matches!(late, FindingError::Resolved { .. }), "{late}");
    let two = store.raise_finding(silent(&ada(), "quiet")).await.unwrap().number;
    store.answer_finding(answered(two, ChoiceWord::Dismiss, "otto")).await.unwrap();
    let held = NewFinding {
        choices: vec![Choice::new(ChoiceWord::Resume, "it continues")],
        ..NewFinding::new(bob(), FindingKind::Escalation, text("stuck"))
    };
    let held = store.raise_finding(held).await.unwrap().number;
    let refused =
        store.answer_finding(answered(held, ChoiceWord::Dismiss, "otto")).await.unwrap_err();
    let said = format!("`dismiss` is not a choice for finding {held}; choose resume");
    assert_eq!(refused.to_string(), said);
    let unknown =
        store.answer_finding(answered(asked_never(), ChoiceWord::Abort, "otto")).await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no finding 99");
    assert_eq!(told(&store).await[1], format!("{one} resolved quiet abort otto"));
}

/// A resolved finding does not stand in the way of the next one.
pub(crate) async fn what_holds_no_more_can_be_found_again(fixture: &Fixture) {
    let store = fixture.open().await;
    let one = store.raise_finding(silent(&ada(), "quiet")).await.unwrap();
    store.resolve_finding(&ada(), "silent_turn").await.unwrap();
    let two = store.raise_finding(silent(&ada(), "quiet again")).await.unwrap();
    assert!(two.new && two.number > one.number);
    let same_key = store.raise_finding(silent(&bob(), "quiet")).await.unwrap();
    assert!(same_key.new, "of another agent");
    store.close().await.unwrap();
    let store = fixture.open().await;
    let numbers: Vec<_> = open(&store).await.iter().map(|row| row.number).collect();
    assert_eq!(numbers, [same_key.number, two.number], "they outlive the process");
}

/// Approvals, changes and findings of an agent that was removed wait for nobody, and cause no more alerts. If the
/// agent comes back, a finding opens again under its number, unless what it is about is over.
pub(crate) async fn a_removed_agent_waits_for_nobody_until_it_is_back(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let [first, gone, dead] = [
        store.accept(keyed(&ada(), "first")).await.unwrap().id,
        store.accept(keyed(&ada(), "gone")).await.unwrap().id,
        store.accept(keyed(&ada(), "dead")).await.unwrap().id,
    ];
    store.take(take(&ada(), turn(epoch, 1), &[gone, dead])).await.unwrap();
    let given_up = [gone, dead].map(|id| settle(id, MessageState::DeadLetter)).to_vec();
    store.end_turn(end(&ada(), turn(epoch, 1), given_up)).await.unwrap();
    store.take(take(&ada(), turn(epoch, 2), &[first])).await.unwrap();
    let approval = store.open_approval(ask(&ada(), turn(epoch, 2), first)).await.unwrap().number;
    let told = |_: ApprovalNumber| ChangeTold::default();
    let change = store.request_change(new_change(turn(epoch, 2)), told).await.unwrap().number;
    let raise = async |kind: FindingKind| {
        let choices = vec![Choice::new(ChoiceWord::Resume, "it continues")];
        let new = NewFinding { choices, ..NewFinding::new(ada(), kind, text("stuck")) };
        store.raise_finding(new).await.unwrap().number
    };
    let held = raise(FindingKind::Escalation).await;
    let pause = NewPause::new(ada(), PauseReason::Escalation, None);
    store.begin_pause(pause).await.unwrap();
    let silent_one = raise(FindingKind::SilentTurn).await;
    store.see_finding(silent_one, "otto").await.unwrap();
    raise(FindingKind::RateLimit).await;
    let decided = raise(FindingKind::BreakerOpen).await;
    store.answer_finding(answered(decided, ChoiceWord::Dismiss, "otto")).await.unwrap();
    let of_bob = store.raise_finding(silent(&bob(), "quiet")).await.unwrap().number.0;
    let waits = async || -> Vec<i64> {
        let list = store.attention(UnixMicros(0)).await.unwrap();
        let mut numbers: Vec<i64> = list.iter().map(|item| item.number).collect();
        numbers.sort_unstable();
        numbers
    };
    let before = waits().await;
    assert_eq!(before.len(), 8, "{before:?}");
    let closed = store.withdraw_removed(vec![ada()]).await.unwrap();
    assert_eq!(closed, before[..before.len() - 1]);
    assert_eq!(waits().await, [of_bob]);
    let alerts = store.alerts_due(Some(&ada()), UnixMicros(i64::MAX)).await.unwrap();
    assert!(!alerts.is_empty() && alerts.iter().all(|row| row.standing.waits != Waits::Open));
    let row = store.approval(approval).await.unwrap().unwrap();
    assert_eq!(row.state, ApprovalState::Withdrawn);
    assert_eq!(row.note.unwrap().as_str(), "spark-ada was removed from the configuration");
    assert_eq!(store.change(change).await.unwrap().unwrap().state, ChangeState::Denied);
    assert_eq!(store.withdraw_removed(vec![ada()]).await.unwrap(), Vec::<i64>::new(), "once");
    // Somebody tries one of its messages again while it is away.
    store.retry(gone, "otto").await.unwrap();
    store.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    let found = store.findings(FindingFilter { agent: Some(ada()), resolved: false }, 9).await;
    let found: Vec<_> = found.unwrap().into_iter().map(|row| (row.number, row.state)).collect();
    let of_dead = found[2].0;
    let expect = [
        (silent_one, FindingState::Seen),
        (held, FindingState::Open),
        (of_dead, FindingState::Open),
    ];
    assert_eq!(found, expect);
    assert_eq!(store.one_finding(of_dead).await.unwrap().unwrap().message, Some(dead));
}

pub(crate) async fn findings_are_fenced_and_listed_newest_first(fixture: &Fixture) {
    let (old, new) = (fixture.open().await, fixture.open().await);
    old.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    new.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    let fenced = old.raise_finding(silent(&ada(), "quiet")).await.unwrap_err();
    assert!(matches!(fenced, StoreError::Fenced { .. }), "{fenced}");
    let entry = Entry::Finding(Box::new(silent(&ada(), "quiet")));
    alone(&new, entry).await.unwrap();
    old.raise_finding(silent(&bob(), "quiet")).await.unwrap();
    let of = async |filter: FindingFilter| -> Vec<String> {
        let rows = new.findings(filter, 9).await.unwrap();
        rows.into_iter().map(|row| row.agent.to_string()).collect()
    };
    let all = FindingFilter::default();
    assert_eq!(of(all.clone()).await, ["spark-bob", "spark-ada"]);
    alone(&new, Entry::FindingResolved(ada(), "silent_turn".to_owned())).await.unwrap();
    assert_eq!(of(all.clone()).await, ["spark-bob"]);
    let resolved = FindingFilter { resolved: true, agent: Some(ada()) };
    assert_eq!(of(resolved).await, ["spark-ada"]);
}

fn asked_never() -> FindingNumber {
    FindingNumber(99)
}

/// Asks a question, and returns its number.
async fn ask_open(store: &Store, agent: &AgentName) -> i64 {
    let asked = store.ask(question(agent, "q"), |_| AskedBy::default()).await;
    asked.unwrap().number.0
}

#[test]
fn a_choice_is_written_by_its_word() {
    let choice = Choice::new(ChoiceWord::Abort, "ends the turn");
    let text = serde_json::to_string(&choice).unwrap();
    assert_eq!(text, r#"{"word":"abort","what":"ends the turn"}"#);
}

/// A dead letter is found in the commit that gives the message up.
pub(crate) async fn a_message_that_is_given_up_is_found_and_can_be_tried_again(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let id = store.accept(keyed(&ada(), "build it")).await.unwrap().id;
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    let dead = settle(id, MessageState::DeadLetter);
    store.end_turn(end(&ada(), turn(epoch, 1), vec![dead])).await.unwrap();
    let row = open(&store).await.remove(0);
    assert_eq!((row.kind.known(), row.message), (Some(FindingKind::DeadLetter), Some(id)));
    assert_eq!(row.cause.as_str(), format!("{id} from otto was given up after 1 attempts"));
    assert_eq!((row.evidence.as_str(), row.recommended), ("build it", Some(ChoiceWord::Retry)));
    assert!(store.retry(id, "otto").await.unwrap());
    assert!(!store.retry(id, "otto").await.unwrap(), "it waits already");
    let message = store.message(id).await.unwrap().unwrap();
    assert_eq!((message.state, message.attempt), (MessageState::Accepted, 0));
    assert_eq!(message.settled_at, None);
    let row = store.one_finding(row.number).await.unwrap().unwrap();
    assert_eq!((row.choice, row.resolved_by.as_deref()), (Some(ChoiceWord::Retry), Some("otto")));
}

/// What a limit holds waits for a person under one number, until it is released, ended or cancelled.
pub(crate) async fn held_messages_are_found_until_they_are_released(fixture: &Fixture) {
    let store = fixture.open().await;
    let held = |key: &str| NewMessage { state: MessageState::Held, hops: 9, ..keyed(&ada(), key) };
    let first = store.accept(held("a")).await.unwrap().id;
    let row = open(&store).await.remove(0);
    assert_eq!((row.kind.known(), row.message), (Some(FindingKind::HeldMessages), Some(first)));
    store.release(first, 30).await.unwrap();
    assert!(open(&store).await.is_empty(), "released");
    let second = store.accept(held("b")).await.unwrap().id;
    let more = NewMessage { cause_root: Some(second), ..held("c") };
    let third = store.accept(more).await.unwrap().id;
    assert_eq!(open(&store).await.len(), 1, "one for the request");
    store.cancel(third, "otto").await.unwrap();
    assert_eq!(open(&store).await.len(), 1, "one is still held");
    store.cancel(second, "otto").await.unwrap();
    assert!(open(&store).await.is_empty(), "none is held");
    let fourth = store.accept(held("d")).await.unwrap().id;
    assert_eq!(open(&store).await.len(), 1);
    store.end_cause(fourth, "otto").await.unwrap();
    assert!(open(&store).await.is_empty(), "ended");
}

/// The list has what waits for people, and nothing that agents owe each other or that needs nobody.
pub(crate) async fn all_that_waits_for_a_human_is_one_ranked_list(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let message = store.accept(keyed(&ada(), "do it")).await.unwrap().id;
    store.accept(keyed(&ada(), "and that")).await.unwrap();
    store.take(take(&ada(), turn(epoch, 1), &[message])).await.unwrap();
    let peers = Asked::Agents(vec![bob()]);
    let asks = |new| store.ask(new, |_| AskedBy::default());
    let asked = asks(question(&bob(), "q")).await.unwrap().number.0;
    // A question between agents needs no person, unless only people decide it.
    let peers =
        |rule, request| NewQuestion { asked: peers.clone(), rule, ..question(&bob(), request) };
    asks(peers(AnswerRule::First, "p")).await.unwrap();
    let never = asks(peers(AnswerRule::Never, "n")).await.unwrap().number.0;
    let approval = store.open_approval(ask(&ada(), turn(epoch, 1), message)).await.unwrap();
    let quiet = store.raise_finding(silent(&bob(), "quiet")).await.unwrap().number;
    let dead = NewFinding { key: "x".to_owned(), severity: Severity::Error, ..silent(&bob(), "x") };
    let dead = store.raise_finding(dead).await.unwrap().number;
    let nobody = NewFinding { choices: Vec::new(), key: "y".to_owned(), ..silent(&bob(), "y") };
    store.raise_finding(nobody).await.unwrap();
    let list = store.attention(UnixMicros(0)).await.unwrap();
    let numbers: Vec<i64> = list.iter().map(|item| item.number).collect();
    assert_eq!(numbers, [dead.0, approval.number.0, quiet.0, asked, never]);
    let of_ada = &list[1];
    assert_eq!((of_ada.affects.waiting, of_ada.affects.people), (1, 1));
    let options: Vec<&str> = of_ada.options.iter().map(|it| it.word.as_str()).collect();
    assert_eq!(options, ["yes", "no"]);
    assert_eq!(
        (list[2].recommended.as_deref(), list[2].what.as_str()),
        (Some("abort"), "silent_turn")
    );
    assert_eq!(list[3].options[1].what, "no");
    store.see_finding(dead, "otto").await.unwrap();
    assert_eq!(store.attention(UnixMicros(0)).await.unwrap()[0].seen_by.as_deref(), Some("otto"));
}
