//! Wakes from outside: stored once, counted by label.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use gangline_core::{MessageState, Origin, Principal, Tier, wake::PER_PERIOD};
use gangline_os::clock::{Clock, UnixMicros};
use gangline_store::{NewMessage, NewWake, OpenOptions, Store, WakeError};

use crate::support::*;

/// R2-32: it is `{from, to, body}`; nobody caused it and it owes nothing.
pub(crate) async fn a_wake_is_a_message_and_a_cause_of_its_own(fixture: &Fixture) {
    let store = fixture.open().await;
    let woken = store.wake(wake_of(&ada(), "matrix", None)).await.unwrap();
    assert!(!woken.duplicate);
    let row = store.message(woken.id).await.unwrap().unwrap();
    assert_eq!((row.sender.as_str(), row.body.as_str()), ("matrix", "new dm from @alice"));
    assert_eq!((row.agent, row.origin, row.state), (ada(), Origin::Wake, MessageState::Accepted));
    assert_eq!((row.principal.account.as_str(), row.principal.tier), ("wake:matrix", Tier::Agent));
    assert_eq!((row.target.as_str(), row.cause_root, row.hops), ("", None, 0));
    assert_eq!(store.cause(woken.id).await.unwrap().unwrap().root, woken.id);
    assert_eq!(store.pending(&ada(), row.accepted_at, 9).await.unwrap().len(), 1);
}

/// The key is the label's own, and the agent's: a retry wakes once, another program's key is another.
pub(crate) async fn a_repeated_key_wakes_once(fixture: &Fixture) {
    let store = fixture.open().await;
    let first = store.wake(wake_of(&ada(), "matrix", Some("k"))).await.unwrap();
    let again = store.wake(wake_of(&ada(), "matrix", Some("k"))).await.unwrap();
    assert_eq!((again.id, again.duplicate), (first.id, true));
    let others = [(ada(), "mail", "k"), (bob(), "matrix", "k"), (ada(), "matrix", "l")];
    for (agent, label, key) in others {
        let other = store.wake(wake_of(&agent, label, Some(key))).await.unwrap();
        assert!(!other.duplicate && other.id != first.id);
    }
    assert_eq!(store.messages(Default::default(), 9).await.unwrap().len(), 4);
}

/// No wake looks like an agent's or an owner's words.
pub(crate) async fn no_label_looks_like_an_agents_or_an_owners_name(fixture: &Fixture) {
    let store = fixture.open().await;
    store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    let said = NewMessage { sender: "ori".to_owned(), ..message(&ada(), "go") };
    store.accept(said).await.unwrap();
    let member = Principal { account: "zoe".to_owned(), tier: Tier::Member };
    let said =
        NewMessage { sender: "zoe".to_owned(), principal: member, ..message(&ada(), "go on") };
    store.accept(said).await.unwrap();
    let (agent, like) = (ada().to_string(), ada().as_str().replace('-', "_"));
    for label in [agent.as_str(), like.as_str(), "ori", "0RI"] {
        let refused = store.wake(wake_of(&ada(), label, None)).await.unwrap_err();
        assert!(matches!(refused, WakeError::Somebody { .. }), "{label}: {refused}");
    }
    for label in ["zoe", "matrix", "origin"] {
        store.wake(wake_of(&ada(), label, None)).await.unwrap();
    }
}

/// A clock that stands still until it is set.
struct Set(AtomicI64);

impl Clock for Set {
    fn now(&self) -> UnixMicros {
        UnixMicros(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

pub(crate) async fn a_label_wakes_an_agent_ten_times_a_minute(fixture: &Fixture) {
    let clock = Arc::new(Set(AtomicI64::new(0)));
    let at = |seconds: i64| clock.0.store(seconds * 1_000_000, Ordering::SeqCst);
    let options = OpenOptions { path: fixture.path(), clock: clock.clone() };
    let store = Store::open(options).await.unwrap();
    for second in 0..i64::from(PER_PERIOD) {
        at(1000 + second);
        store.wake(wake_of(&ada(), "matrix", Some(&second.to_string()))).await.unwrap();
    }
    at(1015);
    let refused = store.wake(wake_of(&ada(), "matrix", None)).await.unwrap_err();
    assert!(matches!(&refused, WakeError::TooMany { wait, .. } if wait.as_secs() == 45));
    let said = "`matrix` has woken spark-ada 10 times within 60 s: try again in 45 s";
    assert_eq!(refused.to_string(), said);
    // A repetition is none of them; others have minutes of their own.
    assert!(store.wake(wake_of(&ada(), "matrix", Some("3"))).await.unwrap().duplicate);
    for other in [wake_of(&ada(), "mail", None), wake_of(&bob(), "matrix", None)] {
        store.wake(other).await.unwrap();
    }
    let owners = NewWake { tier: Tier::Owner, ..wake_of(&ada(), "matrix", None) };
    assert!(matches!(store.wake(owners).await, Err(WakeError::TooMany { .. })));
    at(1060);
    store.wake(wake_of(&ada(), "matrix", None)).await.unwrap();
    assert!(store.wake(wake_of(&ada(), "matrix", None)).await.is_err());
    // An hour back: what was taken then is in the future, and holds nobody up.
    at(1060 - 3600);
    store.wake(wake_of(&ada(), "matrix", None)).await.unwrap();
}
