//! Alerts: raised once for a storm, told by one process, delivered by one process.

use gangline_core::{
    alert::{DeliveryState, GROUP_WINDOW, Waits},
    finding::{Choice, ChoiceWord, FindingKind, Severity},
    hook::WebhookEvent,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{
    AlertRow, AskedBy, DeliveryEnd, DeliveryRow, Entry, EventQuery, NewAlert, NewDelivery,
    NewFinding, Store, StoreError,
};

use crate::support::*;

const LATER: UnixMicros = UnixMicros(i64::MAX / 2);

fn alert(event: WebhookEvent, said: &str) -> NewAlert {
    NewAlert::new(ada(), event, text(said))
}

fn to(target: &str, said: &str) -> NewDelivery {
    NewDelivery { target: target.to_owned(), text: text(said), at: UnixMicros(1), repeats: false }
}

async fn due(store: &Store) -> Vec<AlertRow> {
    store.alerts_due(None, LATER).await.unwrap()
}

async fn sent(store: &Store) -> Vec<DeliveryRow> {
    store.deliveries_due(None, LATER).await.unwrap()
}

/// A storm is one alert (R1-39): its first words are told, and then its newest with a count.
pub(crate) async fn alerts_of_one_group_are_one_row_with_a_count(fixture: &Fixture) {
    let store = fixture.open().await;
    let crash = WebhookEvent::AgentError;
    let first = store.alert(alert(crash, "one")).await.unwrap();
    for said in ["two", "three"] {
        assert_eq!(store.alert(alert(crash, said)).await.unwrap(), first);
    }
    // Another group, another event, another agent, another number: each is an alert of its own.
    let parked = NewAlert { group: "parked", ..alert(crash, "parked") };
    let of_bob = NewAlert { agent: bob(), ..alert(crash, "bob") };
    let about = NewAlert { about: Some(9), ..alert(crash, "about") };
    for other in [parked, of_bob, about, alert(WebhookEvent::AgentComplete, "done")] {
        assert_ne!(store.alert(other).await.unwrap(), first);
    }
    let rows = due(&store).await;
    assert_eq!(rows.len(), 5);
    let row = rows[0].clone();
    assert_eq!((row.id, row.text.as_str(), row.standing.more), (first, "one", 2));
    let window = row.standing.until.0 - row.standing.raised_at.0;
    assert_eq!(window, i64::try_from(GROUP_WINDOW.as_micros()).unwrap());
    assert!(store.tell_alert(row, vec![to("irc", "one")], Some(LATER)).await.unwrap());
    let row = due(&store).await.into_iter().find(|row| row.id == first).unwrap();
    assert_eq!((row.text.as_str(), row.standing.more, row.standing.told), ("three", 2, 1));
    assert!(store.tell_alert(row, vec![to("irc", "three")], None).await.unwrap());
    assert!(due(&store).await.iter().all(|row| row.id != first), "nothing has gathered");
    // The summary begins a window of its own.
    assert_eq!(store.alert(alert(crash, "four")).await.unwrap(), first);
    let row = due(&store).await.into_iter().find(|row| row.id == first).unwrap();
    assert_eq!((row.text.as_str(), row.standing.more), ("four", 1));
    assert_eq!(store.alerts_due(Some(&bob()), LATER).await.unwrap().len(), 1);
    assert!(store.alerts_due(None, UnixMicros(1)).await.unwrap().is_empty());
    // One that nobody wanted to hear of takes no other with it: it would never be told.
    let late = |said| alert(WebhookEvent::AgentBudget, said);
    store.alert(late("unwanted")).await.unwrap();
    let unwanted =
        due(&store).await.into_iter().find(|row| row.text.as_str() == "unwanted").unwrap();
    assert!(store.tell_alert(unwanted.clone(), Vec::new(), None).await.unwrap());
    assert_ne!(store.alert(late("wanted")).await.unwrap(), unwanted.id);
    // Each finished task and each question is told by itself.
    let done = |said| alert(WebhookEvent::AgentComplete, said);
    let one = store.alert(done("one")).await.unwrap();
    assert_ne!(store.alert(done("two")).await.unwrap(), one);
}

pub(crate) async fn an_alert_is_told_by_one_process_and_looked_at_again(fixture: &Fixture) {
    let store = fixture.open().await;
    store.alert(alert(WebhookEvent::AgentError, "x")).await.unwrap();
    let row = due(&store).await.remove(0);
    let other = fixture.open().await;
    let both = vec![to("irc", "x"), to("url", "x")];
    assert!(store.tell_alert(row.clone(), both.clone(), None).await.unwrap());
    assert!(!other.tell_alert(row.clone(), both, None).await.unwrap(), "somebody was quicker");
    let names = |rows: Vec<DeliveryRow>| rows.into_iter().map(|it| it.target).collect::<Vec<_>>();
    assert_eq!(names(sent(&store).await), ["irc", "url"]);
    // While it waits for a target, a telling that says nothing new is left out there.
    let row = store.alert(alert(WebhookEvent::AgentError, "x")).await;
    row.unwrap();
    let row = due(&store).await.remove(0);
    let again = |target| NewDelivery { repeats: true, ..to(target, "again") };
    assert!(store.tell_alert(row, vec![again("irc"), again("new")], None).await.unwrap());
    assert_eq!(names(sent(&store).await), ["irc", "url", "new"]);
    // One for which many wait holds up no other.
    store.alert(alert(WebhookEvent::AgentBudget, "x")).await.unwrap();
    let row = due(&store).await.remove(0);
    let many = (0..60).map(|_| to("url", "x")).chain([to("last", "x")]).collect();
    assert!(store.tell_alert(row, many, None).await.unwrap());
    let waiting = names(sent(&store).await);
    assert_eq!(waiting.iter().filter(|name| *name == "url").count(), 50);
    assert!(waiting.contains(&"last".to_owned()));
    assert_eq!(store.next_alert_due(None).await.unwrap(), Some(UnixMicros(1)));
    assert_eq!(store.next_alert_due(Some(&bob())).await.unwrap(), None);
    // What came between the look and the telling is told later, and not lost.
    store.alert(alert(WebhookEvent::AgentStuck, "x")).await.unwrap();
    let row = due(&store).await.remove(0);
    store.alert(alert(WebhookEvent::AgentStuck, "y")).await.unwrap();
    assert!(store.tell_alert(row.clone(), vec![to("irc", "x")], None).await.unwrap());
    let again = due(&store).await.remove(0);
    assert_eq!((again.id, again.text.as_str(), again.standing.more), (row.id, "y", 1));
}

pub(crate) async fn an_alert_waits_while_what_it_is_about_is_open(fixture: &Fixture) {
    let store = fixture.open().await;
    let asked = store.ask(question(&ada(), "q"), |_| AskedBy::default()).await.unwrap();
    let about = |number: i64| NewAlert {
        about: Some(number),
        ..alert(WebhookEvent::AgentQuestion, "merge?")
    };
    store.alert(about(asked.number.0)).await.unwrap();
    store.alert(about(99)).await.unwrap();
    store.alert(alert(WebhookEvent::AgentError, "x")).await.unwrap();
    let waits = async || -> Vec<Waits> {
        due(&store).await.into_iter().map(|row| row.standing.waits).collect()
    };
    assert_eq!(waits().await, [Waits::Open, Waits::Closed, Waits::Nobody]);
    for row in due(&store).await {
        assert!(store.tell_alert(row, vec![to("url", "x")], None).await.unwrap());
    }
    let closed = async || sent(&store).await.into_iter().map(|it| it.about).collect::<Vec<_>>();
    let number = asked.number.0;
    assert_eq!(closed().await, [Some((number, false)), Some((99, true)), None]);
    store.answer_question(asked.number, answer("yes")).await.unwrap();
    assert_eq!(closed().await[0], Some((number, true)));
}

pub(crate) async fn a_delivery_is_sent_by_one_process_and_tried_again(fixture: &Fixture) {
    let (store, other) = (fixture.open().await, fixture.open().await);
    store.alert(alert(WebhookEvent::AgentError, "x")).await.unwrap();
    let row = due(&store).await.remove(0);
    store.tell_alert(row, vec![to("url", "x"), to("url", "y")], None).await.unwrap();
    let waiting = sent(&store).await.remove(0);
    let claimed = store.claim_delivery(waiting.clone(), "a").await.unwrap().unwrap();
    assert_eq!((claimed.state, claimed.attempts), (DeliveryState::Claimed, 1));
    assert_eq!(other.claim_delivery(waiting.clone(), "b").await.unwrap(), None);
    assert!(claimed.next_at > Some(UnixMicros(1)), "a claim lapses");
    let again = DeliveryEnd::Again { at: UnixMicros(5), trouble: text("down") };
    assert!(store.end_delivery(claimed.clone(), again.clone()).await.unwrap());
    assert!(!other.end_delivery(claimed, again).await.unwrap(), "its claim is over");
    let waiting = sent(&store).await.remove(0);
    assert_eq!((waiting.state, waiting.attempts), (DeliveryState::Waiting, 1));
    assert_eq!(waiting.trouble.as_ref().unwrap().as_str(), "down");
    // A target that asks for patience gets nothing meanwhile.
    store.hold_deliveries("url", UnixMicros(70)).await.unwrap();
    assert_eq!(store.next_alert_due(None).await.unwrap(), Some(UnixMicros(70)));
    let claimed = store.claim_delivery(waiting, "b").await.unwrap().unwrap();
    let over = DeliveryEnd::Over(DeliveryState::Failed, Some(text("404")));
    assert!(store.end_delivery(claimed, over).await.unwrap());
    let rows = store.alert_deliveries(None, 9).await.unwrap();
    let found: Vec<_> = rows.iter().map(|it| (it.text.as_str(), it.state)).collect();
    assert_eq!(found, [("y", DeliveryState::Waiting), ("x", DeliveryState::Failed)]);
    assert_eq!((rows[1].attempts, rows[1].claimed_by.as_deref()), (2, Some("b")));
    assert!(rows[1].ended_at.is_some() && rows[1].next_at.is_none());
    assert_eq!(rows[1].event.as_str(), WebhookEvent::AgentError.as_str());
}

/// The alert and its record are one commit: neither is there without the other.
pub(crate) async fn an_older_daemon_raises_no_alert(fixture: &Fixture) {
    let old = fixture.open().await;
    old.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    let new = fixture.open().await;
    new.begin_epoch(&ada(), (2, ""), claude()).await.unwrap();
    let raised = old.alert(alert(WebhookEvent::AgentError, "x")).await;
    assert!(matches!(raised, Err(StoreError::Fenced { .. })), "{raised:?}");
    let entry = Entry::Alert(Box::new(alert(WebhookEvent::AgentError, "x")));
    assert!(alone(&old, entry.clone()).await.is_err());
    assert!(due(&new).await.is_empty());
    alone(&new, entry).await.unwrap();
    assert_eq!(due(&new).await.len(), 1);
}

/// R1-39: in the commit of the finding; about its number while somebody has to decide, and anew when it
/// gets graver.
pub(crate) async fn a_finding_that_people_must_know_of_raises_an_alert_once(fixture: &Fixture) {
    let store = fixture.open().await;
    let silent = || NewFinding {
        choices: vec![
            Choice::new(ChoiceWord::Abort, "ends the turn"),
            Choice::new(ChoiceWord::Dismiss, "leaves it"),
        ],
        ..NewFinding::new(ada(), FindingKind::SilentTurn, text("no output for 5 minutes"))
    };
    let number = store.raise_finding(silent()).await.unwrap().number.0;
    store.raise_finding(silent()).await.unwrap();
    let whispered = NewFinding::new(ada(), FindingKind::RepeatedCall, text("again and again"));
    store.raise_finding(whispered).await.unwrap();
    let told = async |seen: &[i64]| -> Vec<(i64, String, String)> {
        let rows = store.alerts_due(Some(&ada()), LATER).await.unwrap().into_iter();
        let rows = rows.filter(|row| !seen.contains(&row.id));
        rows.map(|row| {
            let about = row.about.map_or(String::new(), |number| number.to_string());
            (row.id, format!("{} {about}", row.event.as_str()), row.text.to_string())
        })
        .collect()
    };
    let first = told(&[]).await;
    let expect = format!(
        "[STUCK] spark-ada: no output for 5 minutes. Reply `@spark-ada answer {number} abort|dismiss`."
    );
    let [(id, about, said)] = first.as_slice() else { panic!("{first:?}") };
    assert_eq!(
        (about.as_str(), said.as_str()),
        (format!("agent_stuck {number}").as_str(), &*expect)
    );
    // A warning about a budget asks for nothing; a spent one that stops the agent does.
    let budget = |severity, said| NewFinding {
        severity,
        choices: vec![Choice::new(ChoiceWord::Dismiss, "leaves it")],
        ..NewFinding::new(ada(), FindingKind::Budget, text(said))
    };
    store.raise_finding(budget(Severity::Warning, "80 % are spent")).await.unwrap();
    store.raise_finding(budget(Severity::Warning, "81 % are spent")).await.unwrap();
    let spent = store.raise_finding(budget(Severity::Error, "all is spent")).await.unwrap();
    let abouts: Vec<_> =
        told(&[*id]).await.into_iter().map(|(_, about, said)| (about, said)).collect();
    let said = |text: &str, number| {
        format!("[BUDGET] spark-ada: {text}. Reply `@spark-ada answer {number} dismiss`.")
    };
    let number = spent.number.0;
    let expect = [
        ("agent_budget ".to_owned(), said("80 % are spent", number)),
        (format!("agent_budget {number}"), said("all is spent", number)),
    ];
    assert_eq!(abouts, expect);
    let events = store.events(EventQuery::default()).await.unwrap().events;
    let recorded = events.iter().filter(|event| event.kind == "alert").count();
    assert_eq!(recorded, 3, "each is recorded");
}

/// Whoever has seen a finding is not called again; a hundred dead letters are not a hundred calls.
pub(crate) async fn seen_findings_and_many_of_a_kind_call_once(fixture: &Fixture) {
    let store = fixture.open().await;
    let waits = async || -> Vec<Waits> {
        due(&store).await.into_iter().map(|row| row.standing.waits).collect()
    };
    let choices = vec![Choice::new(ChoiceWord::Dismiss, "leaves it")];
    let silent = NewFinding::new(ada(), FindingKind::SilentTurn, text("silent"));
    let silent = NewFinding { choices: choices.clone(), ..silent };
    let number = store.raise_finding(silent).await.unwrap().number;
    assert_eq!(waits().await, [Waits::Open]);
    store.see_finding(number, "otto").await.unwrap();
    assert_eq!(waits().await, [Waits::Closed]);
    let dead = |key: &str| NewFinding {
        key: key.to_owned(),
        choices: choices.clone(),
        ..NewFinding::new(bob(), FindingKind::DeadLetter, text("given up"))
    };
    let mut newest = None;
    for key in ["dead/1", "dead/2", "dead/3"] {
        newest = Some(store.raise_finding(dead(key)).await.unwrap().number.0);
    }
    let of_bob = store.alerts_due(Some(&bob()), LATER).await.unwrap();
    let [row] = of_bob.as_slice() else { panic!("{of_bob:?}") };
    let found = (row.standing.more, row.severity, row.about);
    assert_eq!(found, (2, Severity::Error, newest), "told again while the newest is open");
}
