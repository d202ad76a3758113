//! Orders: what an operator wants of an agent's daemon.

use gangline_core::Epoch;
use gangline_store::{Desired, Order, Restart, RestartWhen};

use crate::support::*;

pub(crate) async fn an_order_is_kept_until_another_is_given(fixture: &Fixture) {
    let store = fixture.open().await;
    assert_eq!(store.orders().await.unwrap(), []);
    let down = store.order(&ada(), Desired::Down, "otto").await.unwrap();
    assert!(!down.is_up());
    let kept = Order {
        agent: ada(),
        desired: Desired::Down,
        by: "otto".to_owned(),
        at: down.at,
        runtime: None,
        restart: None,
    };
    assert_eq!(down, kept);
    // The hub may be down: whoever opens the store next finds the order.
    store.close().await.unwrap();
    let store = fixture.open().await;
    assert_eq!(store.orders().await.unwrap(), [kept]);
    let now = store.order(&ada(), Desired::DownNow, "emma").await.unwrap();
    assert_eq!((now.desired, now.is_up(), now.by.as_str()), (Desired::DownNow, false, "emma"));
    let up = store.order(&ada(), Desired::Up, "otto").await.unwrap();
    assert!(up.is_up() && up.at >= now.at);
    assert_eq!(store.orders().await.unwrap(), [up]);
    assert_eq!(store.agents().await.unwrap(), [], "an order makes no agent");
}

pub(crate) async fn a_restart_names_the_epoch_that_ends_and_numbers_rise(fixture: &Fixture) {
    let store = fixture.open().await;
    store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    let first = store.order_restart(&ada(), RestartWhen::WhenIdle, "otto").await.unwrap();
    let asked = first.restart.clone().unwrap();
    let whole = Restart {
        number: 1,
        when: RestartWhen::WhenIdle,
        ends: Epoch(2),
        by: "otto".to_owned(),
        at: asked.at,
    };
    assert_eq!(asked, whole);
    let bob_s = store.order_restart(&bob(), RestartWhen::Immediately, "otto").await.unwrap();
    let of_bob = bob_s.restart.unwrap();
    assert_eq!((of_bob.number, of_bob.ends), (2, Epoch(0)), "it never ran");
    store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    let again = store.order_restart(&ada(), RestartWhen::Immediately, "emma").await.unwrap();
    let again = again.restart.unwrap();
    assert_eq!((again.number, again.ends, again.by.as_str()), (3, Epoch(3), "emma"));
    assert_eq!(again.when, RestartWhen::Immediately);
}

/// R3-17.
pub(crate) async fn another_backend_is_kept_until_it_is_taken_back(fixture: &Fixture) {
    let store = fixture.open().await;
    let first = store.order_runtime(&ada(), Some("native"), "otto").await.unwrap();
    assert_eq!((first.is_up(), first.runtime.as_deref()), (true, Some("native")));
    let down = store.order(&ada(), Desired::Down, "emma").await.unwrap();
    let other = store.order_runtime(&ada(), Some("codex"), "otto").await.unwrap();
    assert_eq!((other.is_up(), other.by.as_str(), other.at), (false, "emma", down.at));
    store.close().await.unwrap();
    let store = fixture.open().await;
    assert_eq!(store.orders().await.unwrap(), [other]);
    let again = store.order_restart(&ada(), RestartWhen::Immediately, "otto").await.unwrap();
    assert_eq!((again.is_up(), again.runtime.as_deref()), (true, Some("codex")));
    let back = store.order_runtime(&ada(), None, "otto").await.unwrap();
    assert_eq!((back.runtime, back.restart), (None, again.restart));
}

pub(crate) async fn a_restart_of_what_is_down_orders_it_up(fixture: &Fixture) {
    let store = fixture.open().await;
    store.order(&ada(), Desired::Up, "otto").await.unwrap();
    let kept = store.order_restart(&ada(), RestartWhen::Immediately, "emma").await.unwrap();
    assert_eq!((kept.is_up(), kept.by.as_str()), (true, "otto"), "it was to run already");
    let down = store.order(&ada(), Desired::Down, "otto").await.unwrap();
    assert_eq!(down.restart, kept.restart, "what was asked for stays on record");
    let up = store.order_restart(&ada(), RestartWhen::WhenIdle, "emma").await.unwrap();
    assert_eq!((up.is_up(), up.by.as_str()), (true, "emma"));
    assert_eq!(up.restart.unwrap().number, 2);
}
