//! Several processes, and several writes at once, on one store.

use std::collections::BTreeSet;

use gangline_core::MessageId;
use gangline_store::{Health, MessageFilter, Store, Tuning};

use crate::{child::Other, crashes::sound, support::*};

/// F15: eight processes make the store together and lose no commit of each other.
#[tokio::test]
async fn eight_processes_commit_side_by_side() {
    let fixture = Fixture::new();
    let others: Vec<_> =
        (0..8).map(|n| Other::start(&fixture.path(), &format!("write p{n} 200"), "")).collect();
    let mut acked = BTreeSet::new();
    for other in others {
        let (said, exit) = other.rest().await;
        assert_eq!(exit.code, Some(0));
        acked.extend(said);
    }
    assert_eq!(acked.len(), 8 * 200);
    let store = fixture.open().await;
    let mut there = BTreeSet::new();
    let mut before = None;
    loop {
        let filter = MessageFilter { before, ..MessageFilter::default() };
        let page = store.messages(filter, 500).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        there.extend(page.into_iter().filter_map(|row| row.intake_key));
    }
    assert_eq!(there, acked);
    store.close().await.unwrap();
    sound(&fixture.path());
}

#[tokio::test]
async fn many_writes_of_one_process_share_commits_and_keep_their_order() {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    let writes = (0..600).map(|n| {
        let store = store.clone();
        async move { store.accept(keyed(&ada(), &format!("{n}"))).await.unwrap().id }
    });
    let mut ids = Vec::new();
    let mut tasks = gangline_os::task::TaskGroup::new("writers");
    let (done, mut results) = tokio::sync::mpsc::channel(600);
    for write in writes {
        let done = done.clone();
        tasks.spawn("write", async move {
            done.send(write.await).await.unwrap();
        });
    }
    drop(done);
    while let Some(id) = results.recv().await {
        ids.push(id);
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=600).map(MessageId).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_write_whose_caller_has_gone_is_made_all_the_same() {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    {
        let mut write = std::pin::pin!(store.accept(keyed(&ada(), "left alone")));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(write.as_mut().poll(&mut context).is_pending());
    }
    let after = store.accept(keyed(&ada(), "after")).await.unwrap().id;
    assert_eq!(after, MessageId(2));
}

/// A store that nobody reads from for long keeps its log small: it is begun anew, so that its file
/// does not grow with what is written. How soon depends on when another thread gets its turn.
#[tokio::test]
async fn the_log_is_moved_into_the_database_when_it_has_grown() {
    let fixture = Fixture::new();
    let tuning = Tuning { checkpoint_bytes: 1 << 20, ..Tuning::default() };
    let store = Store::open_tuned(options(&fixture.path()), tuning).await.unwrap();
    let mut fat = message(&ada(), "");
    fat.body = text(&"x".repeat(20_000));
    let mut sizes = vec![0];
    while sizes.len() < 60 {
        for _ in 0..100 {
            store.accept(fat.clone()).await.unwrap();
        }
        let size = std::fs::metadata(fixture.path().with_extension("db-wal")).unwrap().len();
        if sizes.last() == Some(&size) {
            return assert_eq!(store.health(), Health::default());
        }
        sizes.push(size);
    }
    panic!("2 MB were written between two looks, and the log only grew: {sizes:?}");
}

#[tokio::test]
async fn a_reader_sees_what_another_process_has_committed() {
    let fixture = Fixture::new();
    let reader = fixture.open().await;
    let other = Other::start(&fixture.path(), "write x 3", "");
    other.rest().await;
    assert_eq!(reader.messages(MessageFilter::default(), 9).await.unwrap().len(), 3);
}

/// The daemon keeps these futures in tasks that may move between threads.
#[test]
fn the_handle_and_its_futures_can_be_sent() {
    fn sendable<T: Send>(_: &T) {}
    fn check(store: &Store) {
        sendable(store);
        sendable(&store.accept(message(&ada(), "")));
        sendable(&store.pending(&ada(), gangline_os::clock::UnixMicros(0), 1));
        sendable(&store.end_turn(end(&ada(), turn(gangline_core::Epoch(1), 1), vec![])));
        sendable(&store.trace(MessageId(1)));
    }
    let _: fn(&Store) = check;
}
