//! Agents, epochs, accounts, usage; and the handle itself.

use gangline_core::{
    Epoch, MessageState, Principal, Redacted, Tier, agent::AgentPhase, finding::FindingKind,
    pause::PauseReason, usage::Spender,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{
    AgentUpdate, Entry, FindingFilter, Holds, LeftSession, NewEvent, NewFinding, NewPause,
    NewUsage, Said, SentAs, Store, StoreError, Whose,
};

use crate::support::*;

pub(crate) async fn each_start_raises_the_epoch_and_keeps_the_session(fixture: &Fixture) {
    let store = fixture.open().await;
    let first = store.begin_epoch(&ada(), (11, "one"), claude()).await.unwrap();
    assert_eq!((first.epoch, first.session, first.paused), (Epoch(1), None, false));
    let update = AgentUpdate {
        phase: Some(AgentPhase::Idle),
        session: Some(Some("session".to_owned())),
        ready: true,
        ..AgentUpdate::default()
    };
    alone(&store, Entry::Agent(ada(), first.epoch, update)).await.unwrap();
    let row = store.agent(&ada()).await.unwrap().unwrap();
    assert_eq!((row.known_phase(), row.pid), (Some(AgentPhase::Idle), 11));
    assert!(row.ready_at.is_some());
    alone(&store, Entry::Agent(ada(), first.epoch, AgentUpdate::default())).await.unwrap();
    let same = store.agent(&ada()).await.unwrap().unwrap();
    assert_eq!((&same.session, same.ready_at), (&row.session, row.ready_at));
    let second = store.begin_epoch(&ada(), (12, "two"), claude()).await.unwrap();
    assert_eq!((second.epoch, second.session.as_deref()), (Epoch(2), Some("session")));
    let row = store.agent(&ada()).await.unwrap().unwrap();
    assert_eq!((row.ready_at, row.note.as_str()), (None, "two"));
    let forget = AgentUpdate { session: Some(None), ..AgentUpdate::default() };
    alone(&store, Entry::Agent(ada(), second.epoch, forget)).await.unwrap();
    assert_eq!(store.agents().await.unwrap()[0].session, None);
    assert_eq!(store.begin_epoch(&bob(), (1, ""), claude()).await.unwrap().epoch, Epoch(1));
}

/// Each backend has its own session, and hears whose another one is.
pub(crate) async fn a_session_belongs_to_the_backend_that_made_it(fixture: &Fixture) {
    let store = fixture.open().await;
    let native = Whose { runtime: "native", configured: "claude" };
    let begin = async |whose| store.begin_epoch(&ada(), (1, ""), whose).await.unwrap();
    let ready = async |epoch, session: &str| {
        let session = Some(Some(session.to_owned()));
        let update = AgentUpdate { session, ..AgentUpdate::default() };
        alone(&store, Entry::Agent(ada(), epoch, update)).await.unwrap();
    };
    let left = |runtime: &str, session: &str| {
        Some(LeftSession { runtime: runtime.to_owned(), session: session.to_owned() })
    };
    let row = async || store.agent(&ada()).await.unwrap().unwrap();
    ready(begin(claude()).await.epoch, "c1").await;
    let first = begin(native).await;
    assert_eq!((first.session, first.left), (None, left("claude", "c1")));
    assert_eq!((row().await.runtime.as_deref(), row().await.session), (Some("native"), None));
    // As long as it has none of its own, it hears it again.
    let second = begin(native).await;
    assert_eq!((&second.session, second.left), (&None, left("claude", "c1")));
    ready(second.epoch, "n1").await;
    ready(second.epoch, "n2").await;
    let third = begin(native).await;
    assert_eq!((third.session.as_deref(), third.left), (Some("n2"), None));
    let back = begin(claude()).await;
    assert_eq!((back.session.as_deref(), back.left), (Some("c1"), left("native", "n2")));
    assert_eq!(row().await.session.as_deref(), Some("c1"));
    ready(back.epoch, "c1").await;
    assert_eq!(begin(claude()).await.left, None);
    let forget = AgentUpdate { session: Some(None), ..AgentUpdate::default() };
    alone(&store, Entry::Agent(ada(), row().await.epoch, forget)).await.unwrap();
    let empty = begin(claude()).await;
    assert_eq!((empty.session, empty.left), (None, left("native", "n2")), "only its own is gone");
}

/// C22: our own id of a session is kept beside the backend's, through each that the backend begins,
/// and found again by the one that is gone on with.
pub(crate) async fn a_session_is_known_by_an_id_of_ours(fixture: &Fixture) {
    let store = fixture.open().await;
    let begin = async || store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    let is = async |epoch, session: &str, known_as: &str| {
        let update = AgentUpdate {
            session: Some(Some(session.to_owned())),
            known_as: Some(known_as.to_owned()),
            ..AgentUpdate::default()
        };
        alone(&store, Entry::Agent(ada(), epoch, update)).await.unwrap();
    };
    let first = begin().await;
    assert_eq!((first.session, first.known_as), (None, None));
    is(first.epoch, "theirs-1", "ours-1").await;
    // It begins another one by itself, in the same process.
    is(first.epoch, "theirs-2", "ours-1").await;
    let second = begin().await;
    assert_eq!(second.known_as.as_deref(), Some("ours-1"));
    is(second.epoch, "theirs-3", "ours-2").await;
    // What a session is known as never changes.
    is(second.epoch, "theirs-3", "ours-9").await;
    let all = store.sessions(&ada()).await.unwrap();
    let mut seen: Vec<_> =
        all.iter().map(|it| (it.session.as_str(), it.known_as.as_str(), it.kept)).collect();
    seen.sort_unstable();
    let expected = [
        ("theirs-1", "ours-1", false),
        ("theirs-2", "ours-1", false),
        ("theirs-3", "ours-2", true),
    ];
    assert_eq!(seen, expected);
    for number in 0..210 {
        is(second.epoch, &format!("more-{number}"), "ours-3").await;
    }
    let all = store.sessions(&ada()).await.unwrap();
    assert!(all.len() <= 201 && all[0].session == "more-209", "{}", all.len());
    assert!(store.sessions(&bob()).await.unwrap().is_empty());
}

fn fenced<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Fenced { .. })), "{result:?}");
}

/// Every write of a daemon that names an epoch, each by itself.
async fn writes_are_fenced(store: &Store, old: Epoch) {
    let turn = turn(old, 1);
    let id = store.messages(Default::default(), 1).await.unwrap()[0].id;
    fenced(store.take(take(&ada(), turn, &[])).await);
    fenced(store.end_turn(end(&ada(), turn, vec![])).await);
    fenced(store.open_approval(ask(&ada(), turn, id)).await);
    fenced(store.void_older(&ada(), old).await);
    fenced(alone(store, Entry::Agent(ada(), old, AgentUpdate::default())).await);
    let mut said = send(&ada(), "k", &["x"]);
    said.turn = Some(turn);
    fenced(store.send(said).await);
    let event = NewEvent {
        agent: ada(),
        epoch: Some(old),
        turn: None,
        kind: "x".to_owned(),
        payload: text("{}"),
    };
    fenced(store.append(vec![event]).await);
    fenced(store.add_usage(usage(5, Some(turn))).await);
}

pub(crate) async fn an_older_daemon_is_fenced_from_every_write(fixture: &Fixture) {
    let (old, new, nobody) = (fixture.open().await, fixture.open().await, fixture.open().await);
    let epoch = old.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let id = old.accept(message(&ada(), "a")).await.unwrap().id;
    old.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    new.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    writes_are_fenced(&old, epoch).await;
    writes_are_fenced(&nobody, epoch).await;
    let row = new.message(id).await.unwrap().unwrap();
    assert_eq!(row.state, MessageState::InTurn, "the old daemon changed nothing");
}

pub(crate) async fn a_process_bound_to_an_epoch_is_fenced_without_naming_it(fixture: &Fixture) {
    let (old, new, hub) = (fixture.open().await, fixture.open().await, fixture.open().await);
    let epoch = old.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let turn = turn(epoch, 1);
    let asked = old.accept(message(&ada(), "a")).await.unwrap().id;
    old.take(take(&ada(), turn, &[asked])).await.unwrap();
    let number = old.open_approval(ask(&ada(), turn, asked)).await.unwrap().number;
    let line = old.send(send(&ada(), "k", &["x"])).await.unwrap().outbox[0];
    new.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    fenced(old.accept(message(&ada(), "b")).await);
    fenced(old.move_cursor(&ada(), "local", "#room", "1").await);
    fenced(old.send(send(&ada(), "l", &["x"])).await);
    fenced(old.mark_sent(&[line], SentAs::Lines).await);
    fenced(old.confirm(&[line], Said::default()).await);
    fenced(old.undeliverable(&[line], "").await);
    fenced(old.may_be_doubled(line).await);
    fenced(alone(&old, Entry::Delivered(number)).await);
    old.accept(message(&bob(), "for somebody else")).await.unwrap();
    hub.accept(message(&ada(), "from somebody else")).await.unwrap();
}

pub(crate) async fn a_pause_outlives_the_daemon(fixture: &Fixture) {
    let store = fixture.open().await;
    store.pause(&ada()).await.unwrap();
    let start = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    assert_eq!((start.paused, start.epoch), (true, Epoch(1)));
    let update = AgentUpdate { paused: Some(false), ..AgentUpdate::default() };
    alone(&store, Entry::Agent(ada(), start.epoch, update)).await.unwrap();
    assert!(!store.agent(&ada()).await.unwrap().unwrap().paused);
    store.pause(&ada()).await.unwrap();
    store.resume(&ada()).await.unwrap();
    assert!(!store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().paused);
}

/// R0-52, C1: each reason of a pause is kept with its end; `resume` ends those that a person may end,
/// and hours of sleep go on without holding.
pub(crate) async fn pauses_are_kept_by_reason(fixture: &Fixture) {
    let store = fixture.open().await;
    let at = |micros| Some(UnixMicros(micros));
    let kept = async || store.agent(&ada()).await.unwrap().unwrap().pauses;
    let reasons = async || kept().await.iter().map(|row| row.reason).collect::<Vec<_>>();
    for (reason, until) in [
        (PauseReason::Operator, at(50)),
        (PauseReason::Schedule, at(90)),
        (PauseReason::Budget, None),
        (PauseReason::Escalation, None),
    ] {
        store.begin_pause(NewPause::new(ada(), reason, until)).await.unwrap();
    }
    let start = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    assert_eq!((start.paused, start.pauses.len()), (true, 4));
    let row = store.agent(&ada()).await.unwrap().unwrap();
    let holding: Vec<_> = row.holding(UnixMicros(50)).map(|row| row.reason).collect();
    use PauseReason::{Budget, Escalation, Operator, RateLimit, Schedule};
    assert_eq!(holding, [Budget, Escalation, Schedule], "the operator's is over");
    // One that got another end meanwhile is not over.
    store.begin_pause(NewPause::new(ada(), Operator, at(70))).await.unwrap();
    store.end_pause(&ada(), Operator, at(50)).await.unwrap();
    assert!(store.agent(&ada()).await.unwrap().unwrap().paused);
    store.end_pause(&ada(), Operator, at(70)).await.unwrap();
    assert!(!store.agent(&ada()).await.unwrap().unwrap().paused);
    // The findings of a limit and of an escalation end with them, whoever ends them.
    store.begin_pause(NewPause::new(ada(), RateLimit, at(99))).await.unwrap();
    let found = async || {
        let rows = store.findings(FindingFilter::default(), 9).await.unwrap();
        rows.into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    for kind in [FindingKind::RateLimit, FindingKind::Escalation, FindingKind::Budget] {
        store.raise_finding(NewFinding::new(ada(), kind, Redacted::default())).await.unwrap();
    }
    store.end_pause(&ada(), RateLimit, at(98)).await.unwrap();
    assert_eq!(found().await, ["budget", "escalation", "rate_limit"], "it has another end");
    store.end_pause(&ada(), Escalation, None).await.unwrap();
    assert_eq!(found().await, ["budget", "rate_limit"]);
    store.resume(&ada()).await.unwrap();
    assert_eq!(found().await, ["budget"]);
    assert_eq!(reasons().await, [Budget, Schedule]);
    assert_eq!(kept().await[1].holds, Holds::No);
    let listed = store.agents().await.unwrap().remove(0);
    assert_eq!(listed.pauses, kept().await);
    // A word in the agent's row alone counts, whoever wrote it.
    store.pause(&ada()).await.unwrap();
    let update = AgentUpdate { paused: Some(false), ..AgentUpdate::default() };
    alone(&store, Entry::Agent(ada(), start.epoch, update)).await.unwrap();
    assert_eq!(reasons().await, [Budget, Schedule]);
    let update = AgentUpdate { paused: Some(true), ..AgentUpdate::default() };
    store.resume(&ada()).await.unwrap();
    alone(&store, Entry::Agent(ada(), start.epoch, update)).await.unwrap();
    assert_eq!(reasons().await, [Budget, Schedule, Operator]);
}

fn usage(input: i64, turn: Option<gangline_core::TurnId>) -> NewUsage {
    NewUsage {
        agent: ada(),
        turn,
        by: Spender::Agent,
        model: "m".to_owned(),
        input,
        output: 2,
        cache_read: 3,
        cache_write: 4,
        cost_micros: Some(10),
        source: gangline_core::budget::UsageSource::Backend,
    }
}

pub(crate) async fn usage_adds_up(fixture: &Fixture) {
    let store = fixture.open().await;
    store.add_usage(usage(5, None)).await.unwrap();
    store.add_usage(NewUsage { cost_micros: None, ..usage(7, None) }).await.unwrap();
    let sum = store.usage(Some(&ada()), UnixMicros(0)).await.unwrap();
    assert_eq!((sum.calls, sum.input, sum.output, sum.cost_micros), (2, 12, 4, 10));
    assert_eq!(store.usage(None, UnixMicros(0)).await.unwrap(), sum);
    assert_eq!(store.usage(Some(&bob()), UnixMicros(0)).await.unwrap(), Default::default());
    assert_eq!(store.usage(None, UnixMicros(i64::MAX)).await.unwrap(), Default::default());
    // The supervisor's own is a part of it, and is known.
    let me = ada();
    let by = |by| store.usage_by(&me, by, UnixMicros(0));
    assert_eq!(by(Spender::Supervisor).await.unwrap(), Default::default());
    store.add_usage(NewUsage { by: Spender::Supervisor, ..usage(30, None) }).await.unwrap();
    let (own, watching) =
        (by(Spender::Agent).await.unwrap(), by(Spender::Supervisor).await.unwrap());
    assert_eq!((own.calls, own.input, watching.calls, watching.input), (2, 12, 1, 30));
    assert_eq!(store.usage(None, UnixMicros(0)).await.unwrap().input, 42);
}

pub(crate) async fn accounts_have_names_and_tiers(fixture: &Fixture) {
    let store = fixture.open().await;
    let agent = Principal { account: "spark-ada".to_owned(), tier: Tier::Member };
    store.put_account(agent.clone()).await.unwrap();
    store.put_account(Principal { tier: Tier::Agent, ..agent }).await.unwrap();
    store.put_account(owner()).await.unwrap();
    let accounts = store.accounts().await.unwrap();
    let known: Vec<_> =
        accounts.iter().map(|row| (row.principal.account.as_str(), row.tier())).collect();
    assert_eq!(known, [("owner", Tier::Owner), ("spark-ada", Tier::Agent)]);
}

pub(crate) async fn the_installation_keeps_its_id(fixture: &Fixture) {
    let first = fixture.open().await;
    let id = first.installation_id().to_owned();
    assert_eq!(id.len(), 32);
    assert_eq!(fixture.open().await.installation_id(), id);
    first.close().await.unwrap();
    assert_eq!(fixture.open().await.installation_id(), id);
    assert_ne!(Fixture::new().open().await.installation_id(), id);
}

pub(crate) async fn a_closed_store_says_so(fixture: &Fixture) {
    let store = fixture.open().await;
    let other = store.clone();
    store.close().await.unwrap();
    let write = other.accept(message(&ada(), "a")).await;
    assert!(matches!(write, Err(StoreError::Closed)), "{write:?}");
    let read = other.agents().await;
    assert!(matches!(read, Err(StoreError::Closed)), "{read:?}");
    assert!(other.close().await.is_err());
}

/// Writes that wait share a commit; each is undone by itself, also what it had written already.
pub(crate) async fn one_failing_write_does_not_spoil_its_group(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let turn = turn(epoch, 1);
    let id = store.accept(keyed(&ada(), "in a turn")).await.unwrap().id;
    store.take(take(&ada(), turn, &[id])).await.unwrap();
    let good = |n: i32| store.accept(keyed(&ada(), &format!("good{n}")));
    // Fails at its second statement.
    let bad = || store.end_turn(end(&ada(), turn, vec![settle(id, MessageState::InTurn)]));
    let results = tokio::join!(good(1), bad(), good(2), bad(), good(3), good(4));
    assert!(results.0.is_ok() && results.2.is_ok() && results.4.is_ok() && results.5.is_ok());
    for failed in [results.1, results.3] {
        assert!(matches!(failed, Err(StoreError::Invalid(_))), "{failed:?}");
    }
    assert_eq!(store.messages(Default::default(), 9).await.unwrap().len(), 5);
    let open = store.open_turns(&ada(), Epoch(9)).await.unwrap();
    assert_eq!(open.len(), 1, "the failed end has ended nothing");
}
