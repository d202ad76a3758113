//! Texts that come in mid-turn: when the model sees them, and when nobody does.

use std::sync::{Arc, Mutex, OnceLock};

use gangline_harness::{EventHandler, Harness, PromptError, SteerError, Steered};
use serde_json::json;

use crate::fake::*;

/// C3: what is said while a tool runs goes to the model with the tool's result, after it; it is in
/// the session log before anybody is told.
#[tokio::test]
async fn a_text_in_mid_turn_is_seen_after_the_results_of_the_running_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let fake = Fake::start(vec![calls("a", "gate", &json!({})), says("I hurry.")]).await;
    let gate = Arc::new(Gate::default());
    let (harness, told) = fake.harness(vec![Arc::clone(&gate) as _]);
    let harness = harness.resume(&path).unwrap();
    let steer = async {
        told.until("status running tool: gate").await;
        let first = harness.steer("hurry").unwrap();
        let second = harness.steer("and be kind").unwrap();
        gate.open();
        (first.taken().await, second.taken().await)
    };
    let (finished, taken) = within(async { futures::join!(harness.prompt("go in"), steer) }).await;
    assert_eq!(finished.unwrap().final_text, "I hurry.");
    assert_eq!(taken, (true, true));
    assert_eq!(texts(&fake.requests()[1], 2), ["open", "hurry", "and be kind"]);
    assert_eq!(
        told.only(&["user", "result", "text"]),
        ["user go in", "result a open", "user hurry", "user and be kind", "text I hurry."]
    );
    let messages = harness.messages();
    let again = harness.resume(&path).unwrap();
    assert_eq!(again.messages(), messages, "the log has them");
}

#[tokio::test]
async fn a_text_before_the_first_request_goes_with_it() {
    let fake = Fake::start(vec![says("both")]).await;
    let (harness, _) = fake.harness(vec![]);
    let reserved = harness.reserve().unwrap();
    let steered = harness.steer("and this").unwrap();
    within(reserved.run("do that")).await.unwrap();
    assert!(within(steered.taken()).await);
    assert_eq!(texts(&fake.requests()[0], 0), ["do that", "and this"]);
}

/// Steers as soon as the model speaks.
#[derive(Default)]
struct TooLate(OnceLock<Harness>, Mutex<Option<Steered>>);

impl EventHandler for TooLate {
    fn on_text(&self, _: &str) {
        let steered = self.0.get().unwrap().steer("wait!").unwrap();
        *self.1.lock().unwrap() = Some(steered);
    }
}

#[tokio::test]
async fn a_text_that_the_turn_ends_without_is_told_as_not_taken() {
    let fake = Fake::start(vec![says("bye"), says("again")]).await;
    let late = Arc::new(TooLate::default());
    let harness = Harness::new(fake.config(), vec![], Some(Arc::clone(&late) as _)).unwrap();
    assert!(late.0.set(harness.clone()).is_ok());
    within(harness.prompt("go")).await.unwrap();
    let steered = late.1.lock().unwrap().take().unwrap();
    assert!(!within(steered.taken()).await);
    within(harness.prompt("more")).await.unwrap();
    assert_eq!(texts(&fake.requests()[1], 2), ["more"], "it does not come later either");
}

/// However a prompt ends early, what waits is told as not taken, and the next prompt is without it.
#[tokio::test]
async fn a_cancelled_or_dropped_prompt_takes_nothing() {
    let script = || vec![Reply::Silent(vec![start()]), says("ok")];
    let fake = Fake::start(script()).await;
    let (harness, _) = fake.harness(vec![]);
    let cancel = async {
        fake.seen(1).await;
        let steered = harness.steer("x").unwrap();
        harness.cancel();
        steered.taken().await
    };
    let (outcome, taken) = within(async { futures::join!(harness.prompt("go"), cancel) }).await;
    assert!(matches!(outcome, Err(PromptError::Cancelled)));
    assert!(!taken);
    within(harness.prompt("again")).await.unwrap();
    assert_eq!(texts(&fake.requests()[1], 0), ["go", "again"]);

    let fake = Fake::start(script()).await;
    let (harness, _) = fake.harness(vec![]);
    let steered = tokio::select! {
        outcome = harness.prompt("go") => panic!("{outcome:?}"),
        steered = async { fake.seen(1).await; harness.steer("x").unwrap() } => steered,
    };
    assert!(!within(steered.taken()).await);
}

#[tokio::test]
async fn what_cannot_be_taken_is_refused_at_once() {
    let fake = Fake::start(vec![]).await;
    let (harness, _) = fake.harness(vec![]);
    assert_eq!(harness.steer("x").unwrap_err(), SteerError::Idle);
    let reserved = harness.reserve().unwrap();
    assert_eq!(harness.steer(" \n").unwrap_err(), SteerError::Empty);
    let kept: Vec<Steered> = (0..16).map(|_| harness.steer("x").unwrap()).collect();
    assert_eq!(harness.steer("x").unwrap_err(), SteerError::Full);
    drop(reserved);
    assert_eq!(harness.steer("x").unwrap_err(), SteerError::Idle);
    for steered in kept {
        assert!(!within(steered.taken()).await);
    }
}
