//! `kill -9` at any moment: what was acknowledged is there, what was not is whole or absent.

use std::collections::BTreeSet;

use gangline_core::{
    Epoch, MessageState, alert::DeliveryState, approval::ApprovalState, finding::ChoiceWord,
    pause::PauseReason, question::QuestionState,
};
use gangline_os::{clock::UnixMicros, kill::Signal};
use gangline_store::{
    Entry, FAILPOINTS, FindingFilter, LetterState, NewMessage, OutboxState, QuestionFilter,
    ReminderState, Store,
};

use crate::{
    child::{LIFE, Other},
    support::*,
};

const SIGKILL: i32 = 9;

pub(crate) fn sound(path: &std::path::Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let said: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    connection.close().unwrap();
    assert_eq!(said, "ok");
}

/// Returns whether the write's effect is in the store; none if nothing shows it.
async fn seen(store: &Store, write: &str) -> Option<bool> {
    let messages = store.messages(Default::default(), 50).await.unwrap();
    let state = |key: &str| {
        messages.iter().find(|row| row.intake_key.as_deref() == Some(key)).map(|row| row.state)
    };
    let agent = store.agent(&ada()).await.unwrap();
    let lines = store.outbox_by_idem(&ada(), "k").await.unwrap();
    let approvals = store.approvals(None, false).await.unwrap();
    let first = approvals.first();
    let line = |n: usize| lines.get(n).map(|line| line.state);
    let events = store.events(Default::default()).await.unwrap().events;
    Some(match write {
        "begin_epoch" => agent.is_some(),
        "set_agent" => agent.is_some_and(|row| row.session.is_some()),
        "pause" => agent.is_some_and(|row| row.paused),
        "order" => !store.orders().await.unwrap().is_empty(),
        "accept" => state("first").is_some(),
        "move_cursor" => !store.cursors(&ada(), "local").await.unwrap().is_empty(),
        "cancel" => state("second") == Some(MessageState::Cancelled),
        "put_account" => !store.accounts().await.unwrap().is_empty(),
        "probe" | "remove_rule" | "void_rules" => return None,
        "order_turn" => !store.open_turn_orders(&ada()).await.unwrap().is_empty(),
        "take" => events.iter().any(|event| event.kind == "turn_started"),
        "send" => lines.len() == 2,
        "mark_sent" => lines[1].attempts == 1,
        "confirm" => line(0) == Some(OutboxState::Confirmed),
        "undeliverable" => line(1) == Some(OutboxState::Undeliverable),
        "may_be_doubled" => lines[0].may_be_doubled,
        "append" => events.iter().any(|event| event.kind == "note"),
        "open_approval" => first.is_some(),
        "announced" => first.is_some_and(|row| row.announced_at.is_some()),
        "withdraw_approval" => approvals.iter().any(|row| row.state == ApprovalState::Withdrawn),
        "decide" => first.is_some_and(|row| row.state == ApprovalState::Allowed),
        "mark_delivered" => first.is_some_and(|row| row.delivered),
        "void_older" => approvals.iter().any(|row| row.state == ApprovalState::Void),
        "end_turn" => state("first") != Some(MessageState::InTurn),
        "release" => {
            matches!(state("first"), Some(MessageState::Accepted | MessageState::Cancelled))
        }
        "end_cause" => state("first") == Some(MessageState::Cancelled),
        "add_usage" => {
            store.usage(None, gangline_os::clock::UnixMicros(0)).await.unwrap().calls == 1
        }
        "relay_begins" => {
            !store.unsettled(&ada(), gangline_core::Epoch(i64::MAX), 9).await.unwrap().is_empty()
        }
        "relayed" => !store.relayed_on(DAY).await.unwrap().is_empty(),
        "raise_budget" => {
            let raised = store.raised(gangline_core::budget::BudgetScope::Day, DAY).await;
            raised.unwrap().tokens == 5000
        }
        "hold_fleet" => store.fleet_hold().await.unwrap().is_some(),
        other => waits_for_people(store, other).await,
    })
}

/// The same for questions, reminders and letters.
async fn waits_for_people(store: &Store, write: &str) -> bool {
    let messages = store.messages(Default::default(), 50).await.unwrap();
    let brought = |key: &str| messages.iter().any(|row| row.intake_key.as_deref() == Some(key));
    let closed = QuestionFilter { closed: true, ..QuestionFilter::default() };
    let questions = store.questions(closed, 9).await.unwrap();
    let has = |state: QuestionState| questions.iter().any(|row| row.state == state);
    let letter = store.letter(1).await.unwrap();
    let filter = FindingFilter { resolved: true, ..FindingFilter::default() };
    let found = store.findings(filter, 9).await.unwrap();
    let token = store.token("hash".to_owned()).await.unwrap();
    match write {
        "ask" => !questions.is_empty(),
        "answer" => has(QuestionState::Answered) && brought("question/4"),
        "cancel_question" => has(QuestionState::Cancelled) && brought("question/5"),
        "expire_questions" => has(QuestionState::Expired) && brought("question/6"),
        "stop_waiting" => questions.iter().all(|row| row.waits.is_none()) && brought("question/7"),
        "remind" => store.reminder(1).await.unwrap().is_some(),
        "fire_reminder" => {
            let row = store.reminder(1).await.unwrap().unwrap();
            row.state == ReminderState::Fired && brought("reminder/1/1")
        }
        "remove_reminder" => store.reminder(2).await.unwrap().is_none(),
        "send_letter" => letter.is_some(),
        "read_letters" => letter.is_some_and(|row| row.state != LetterState::New),
        "raise_finding" => !found.is_empty(),
        "see_finding" => found.iter().any(|row| row.seen_at.is_some()),
        "resolve_finding" => found.iter().any(|row| row.resolved_at.is_some()),
        "decide_finding" => {
            let resolved = found.iter().any(|row| row.resolved_by.is_some());
            let held = store.agent(&ada()).await.unwrap().is_some_and(|row| {
                row.pauses.iter().any(|row| row.reason == PauseReason::Escalation)
            });
            assert!(!(resolved && held), "one commit");
            resolved
        }
        "whisper" => !store.whispers(None, 9).await.unwrap().is_empty(),
        "whispers_delivered" => store.undelivered_whispers(&ada()).await.unwrap().is_empty(),
        "retry" => found.iter().any(|row| row.choice == Some(ChoiceWord::Retry)),
        "wake" => brought("wake/matrix/first"),
        "note_restart" => brought("restart/2"),
        "add_token" => token.is_some(),
        "use_token" => token.is_some_and(|row| row.used_at.is_some()),
        "revoke_token" => token.is_some_and(|row| row.revoked_at.is_some()),
        "trust_folder" => store.folder_trust(&ada(), "/proj").await.unwrap().is_some(),
        "request_change" => !store.changes(None, false).await.unwrap().is_empty(),
        "decide_change" => store.changes(None, true).await.unwrap().is_empty(),
        "step_change" => {
            store.changes_under_way().await.unwrap().is_empty() && brought("change/11")
        }
        "alert" => alerts(store).await.0,
        "tell_alert" => alerts(store).await.1.is_some(),
        "claim_delivery" => alerts(store).await.1 > Some(DeliveryState::Waiting),
        "end_delivery" => alerts(store).await.1 == Some(DeliveryState::Delivered),
        "repeat_act" => !store.acts_again(&ada(), turn(Epoch(2), 3)).await.unwrap().is_empty(),
        "applied" => store.applied_of(&ada()).await.unwrap().is_some(),
        "settle_letter" => letter.is_some_and(|row| row.state == LetterState::Done),
        other => panic!("no way to see {other}"),
    }
}

/// Returns whether an alert was raised, and how its delivery stands, if it was told.
async fn alerts(store: &Store) -> (bool, Option<DeliveryState>) {
    let late = UnixMicros(i64::MAX);
    let due = store.alerts_due(None, late).await.unwrap();
    let raised = due.iter().any(|row| row.text.as_str() == "it crashed");
    let deliveries = store.alert_deliveries(None, 9).await.unwrap();
    let state = deliveries.first().map(|row| row.state);
    (raised || state.is_some(), state)
}

/// What must hold in every store at every time.
async fn invariants(store: &Store) {
    let open = store.open_turns(&ada(), Epoch(i64::MAX)).await.unwrap();
    let held: BTreeSet<_> =
        open.iter().flat_map(|turn| &turn.messages).map(|row| row.message.id).collect();
    for row in store.messages(Default::default(), 500).await.unwrap() {
        assert_eq!(row.state == MessageState::InTurn, held.contains(&row.id), "{row:?}");
        assert_eq!(row.state.is_terminal(), row.settled_at.is_some(), "{row:?}");
    }
    let lines = store.outbox_by_idem(&ada(), "k").await.unwrap();
    assert!(lines.is_empty() || lines.len() == 2, "a send is whole or absent");
}

#[test]
fn every_write_has_its_failpoints() {
    let listed: BTreeSet<&str> =
        FAILPOINTS.iter().map(|point| point.split('.').next().unwrap()).collect();
    assert_eq!(listed, LIFE.iter().copied().collect());
    assert_eq!(FAILPOINTS.len(), 3 * LIFE.len());
}

/// Dies at one failpoint and looks at what is left.
async fn die_at(point: &str) {
    let (write, when) = point.split_once('.').unwrap();
    let fixture = Fixture::new();
    let other = Other::start(&fixture.path(), "life", &format!("{point}=kill"));
    let (acked, exit) = other.rest().await;
    assert_eq!(exit.signal, Some(SIGKILL), "{point} was not passed: {acked:?}");
    let at = LIFE.iter().position(|name| *name == write).unwrap();
    // A kind of write that comes twice dies the first time: before its own name is said.
    assert_eq!(acked, LIFE[..at], "{point}");
    let store = fixture.open().await;
    invariants(&store).await;
    for name in &LIFE[..at] {
        assert_ne!(seen(&store, name).await, Some(false), "{point}: lost {name}");
    }
    if let Some(there) = seen(&store, write).await {
        assert_eq!(there, when != "before_commit", "{point}");
    }
    store.close().await.unwrap();
    sound(&fixture.path());
}

/// What was acknowledged outlives `kill -9` at every failpoint of every write.
#[tokio::test]
async fn a_killed_process_loses_nothing_that_was_acknowledged() {
    for point in FAILPOINTS {
        die_at(point).await;
    }
}

/// A limit that is reached is told: the line stands in the commit that raises the flag.
#[tokio::test]
async fn a_cause_is_never_held_without_the_line_that_tells_of_it() {
    for when in ["before_commit", "after_commit", "after_sync"] {
        let fixture = Fixture::new();
        let store = fixture.open().await;
        let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
        let root = store.accept(message(&ada(), "root")).await.unwrap().id;
        let from_it = NewMessage { cause_root: Some(root), hops: 1, ..keyed(&ada(), "next") };
        let next = store.accept(from_it).await.unwrap().id;
        store.take(limited(take(&ada(), turn(epoch, 1), &[root]), 1)).await.unwrap();
        store.close().await.unwrap();
        let point = format!("take.{when}=kill");
        let (_, exit) = Other::start(&fixture.path(), "exceed", &point).rest().await;
        assert_eq!(exit.signal, Some(SIGKILL), "{point}");
        let store = fixture.open().await;
        let told = store.outbox_pending(&ada(), 9).await.unwrap().len();
        let row = store.message(next).await.unwrap().unwrap();
        let held = row.state == MessageState::Held;
        assert_eq!((held, told), (when != "before_commit", usize::from(held)), "{point}");
        store.take(limited(take(&ada(), turn(epoch, 2), &[next]), 1)).await.unwrap();
        assert_eq!(store.outbox_pending(&ada(), 9).await.unwrap().len(), 1, "{point}");
        store.close().await.unwrap();
    }
}

/// Of what is written together all is there or nothing, wherever the process was killed.
#[tokio::test]
async fn what_is_written_together_is_there_as_a_whole_or_not_at_all() {
    let writes = ["add_usage", "end_turn", "send", "set_agent"];
    for (write, when) in writes.iter().flat_map(|write| {
        ["before_commit", "after_commit", "after_sync"].map(|when| (*write, when))
    }) {
        let fixture = Fixture::new();
        let point = format!("{write}.{when}=kill");
        let (acked, exit) = Other::start(&fixture.path(), "together 1", &point).rest().await;
        assert_eq!((exit.signal, acked), (Some(SIGKILL), vec!["taken 1".to_owned()]), "{point}");
        let store = fixture.open().await;
        invariants(&store).await;
        for other in writes {
            let there = seen(&store, other).await;
            assert_eq!(there, Some(when != "before_commit"), "{point}: {other}");
        }
        store.close().await.unwrap();
        sound(&fixture.path());
    }
}

/// F4: killed after any number of acknowledgements, twenty times on the same store.
#[tokio::test]
async fn a_store_outlives_twenty_kills_in_the_middle_of_its_writes() {
    let fixture = Fixture::new();
    let mut acked = BTreeSet::new();
    for round in 0..20 {
        // So many that it is never done.
        let mut other = Other::start(&fixture.path(), &format!("write round{round} 1000000"), "");
        for _ in 0..(1 + round * 3 % 17) {
            acked.insert(other.said().await.unwrap());
        }
        other.child.signal_group(Signal::Kill).unwrap();
        let (more, exit) = other.rest().await;
        assert_eq!(exit.signal, Some(SIGKILL));
        acked.extend(more);
    }
    let store = fixture.open().await;
    for key in &acked {
        let again = store.accept(keyed(&ada(), key)).await.unwrap();
        assert!(again.duplicate, "{key} was acknowledged and is lost");
    }
    store.close().await.unwrap();
    sound(&fixture.path());
}

/// A process that keeps the write lock makes others busy, not stuck; killed,
/// it makes way.
#[tokio::test]
async fn a_process_killed_with_the_write_lock_does_not_block_others() {
    let fixture = Fixture::new();
    // What takes long on a loaded machine is done without haste.
    let first = fixture.open().await;
    first.accept(keyed(&ada(), "before")).await.unwrap();
    first.close().await.unwrap();
    let short = std::time::Duration::from_millis(300);
    let store = loop {
        match Store::open_tuned(options(&fixture.path()), hasty(short)).await {
            Err(gangline_store::OpenError::Busy { .. }) => {}
            other => break other.unwrap(),
        }
    };
    let mut other = Other::start(&fixture.path(), "hold", "");
    assert_eq!(other.said().await.as_deref(), Some("held"));
    let busy = store.accept(keyed(&ada(), "busy")).await;
    assert!(matches!(busy, Err(gangline_store::StoreError::Busy { .. })), "{busy:?}");
    let lines =
        [1, 2].map(|n| Entry::Send(Box::new(send(&ada(), &format!("busy {n}"), &["line"]))));
    let busy = store.together(lines.to_vec()).await;
    assert!(matches!(busy, Err(gangline_store::StoreError::Busy { .. })), "{busy:?}");
    let cause = store.health().degraded.unwrap();
    assert!(cause.contains(&other.child.pid().to_string()), "{cause}");
    let rows = store.messages(Default::default(), 9).await.unwrap();
    assert_eq!(rows.len(), 1, "reads go on");
    other.child.signal_group(Signal::Kill).unwrap();
    other.rest().await;
    // The thread that waits for the lock gets it now, sooner or later; what was given up is not
    // written.
    let after = async {
        loop {
            match store.accept(keyed(&ada(), "after")).await {
                Err(gangline_store::StoreError::Busy { .. }) => {}
                other => return other.unwrap(),
            }
        }
    };
    let after = tokio::time::timeout(std::time::Duration::from_secs(60), after).await.unwrap();
    assert!(!after.duplicate);
    assert_eq!(store.health().degraded, None);
    let rows = store.messages(Default::default(), 9).await.unwrap();
    let keys: Vec<_> = rows.iter().filter_map(|row| row.intake_key.as_deref()).collect();
    assert_eq!(keys, ["after", "before"]);
    assert_eq!(store.outbox_pending(&ada(), 9).await.unwrap(), []);
}
