//! Looks into a real store.

use futures::future::join_all;
use gangline_core::{MessageState, Origin, Principal, Tier, redact::Redactor};
use gangline_os::clock::{self, UnixMicros};
use gangline_store::{NewMessage, OpenOptions};
use tempfile::TempDir;

use super::*;

struct Fixture {
    _folder: TempDir,
    store: Store,
    looks: Looks,
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

impl Fixture {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (path, clock) = (folder.path().join("gangline.db"), clock::system());
        let store = Store::open(OpenOptions { path, clock: clock.clone() }).await.unwrap();
        let deps = LookDeps { agent: ada(), epoch: Epoch(1), store: store.clone(), clock };
        Self { _folder: folder, store, looks: Looks::new(deps) }
    }

    async fn accept(&self, many: u32) {
        self.accept_for(many, None).await;
    }

    async fn accept_for(&self, many: u32, not_before: Option<UnixMicros>) {
        let new = |_| NewMessage {
            agent: ada(),
            network_id: "local".to_owned(),
            intake_key: None,
            origin: Origin::Direct,
            principal: Principal { account: "owner".to_owned(), tier: Tier::Owner },
            sender: "otto".to_owned(),
            target: "otto".to_owned(),
            body: Redactor::default().redact("hello"),
            in_reply_to: None,
            cause_root: None,
            hops: 0,
            state: MessageState::Accepted,
            cursor: None,
            not_before,
            msgid: None,
        };
        for accepted in join_all((0..many).map(new).map(|it| self.store.accept(it))).await {
            accepted.unwrap();
        }
    }

    async fn found(&mut self) -> usize {
        let next = tokio::time::timeout(Duration::from_secs(60), self.looks.next()).await;
        next.expect("a look").messages.len()
    }
}

/// A look that returns as much as one may returns perhaps not all: a row that comes then must not
/// overtake what is left.
#[tokio::test]
async fn after_a_full_look_the_loop_does_not_know_all_that_waits() {
    let mut fixture = Fixture::open().await;
    fixture.accept(LOOK_LIMIT - 1).await;
    assert_eq!(fixture.found().await, 255);
    assert!(fixture.looks.is_settled());
    fixture.accept(1).await;
    fixture.looks.want();
    assert_eq!(fixture.found().await, 256);
    assert!(!fixture.looks.is_settled());
}

/// What another look is asked for may have come after the one that runs has read.
#[tokio::test]
async fn a_look_that_is_asked_for_while_one_runs_follows_it() {
    let mut fixture = Fixture::open().await;
    assert!(!fixture.looks.is_settled(), "the first is due at once");
    tokio::select! {
        biased;
        found = fixture.looks.next() => panic!("{found:?}"),
        () = std::future::ready(()) => {}
    }
    assert!(!fixture.looks.is_settled(), "it runs");
    fixture.looks.want();
    assert_eq!(fixture.found().await, 0);
    fixture.accept(1).await;
    assert_eq!(fixture.found().await, 1);
    assert!(fixture.looks.is_settled());
}

/// Nobody gives notice of a message that only waits for its time.
#[tokio::test]
async fn a_message_that_falls_due_is_looked_for_then() {
    let mut fixture = Fixture::open().await;
    let due = clock::system().now().plus(Duration::from_secs(1));
    fixture.accept_for(1, Some(due)).await;
    assert_eq!(fixture.found().await, 0);
    assert!(fixture.looks.is_settled());
    assert_eq!(fixture.found().await, 1);
    assert!(clock::system().now() >= due);
}
