//! The modes of rooms on disk.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;

use gangline_hub::ircd::{history::SqliteHistory, opening::HistoryOptions};
use gangline_irc::server::store::{HistoryStore, Marker, Party, RoomModes};
use gangline_os::clock::{self, UnixMicros};
use rusqlite::Connection;

async fn open(folder: &std::path::Path) -> SqliteHistory {
    let options = HistoryOptions::new(folder.join("irc.db"), clock::system());
    SqliteHistory::open(options).await.unwrap()
}

fn closed() -> RoomModes {
    RoomModes {
        channel: "#Room".parse().unwrap(),
        flags: "im".to_owned(),
        key: Some("sesame".to_owned()),
        limit: Some(7),
        by: Party::Member("ann".to_owned()),
        agents: BTreeSet::from(["spark-ada".to_owned(), "spark-bob".to_owned()]),
        at: UnixMicros(5),
    }
}

#[tokio::test]
async fn modes_are_there_after_a_reopening_and_gone_when_none_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store.put_modes(closed()).await.unwrap();
    store.close().await;
    let store = open(folder.path()).await;
    assert_eq!(store.modes().await.unwrap(), [closed()]);
    let plain = RoomModes { flags: String::new(), key: None, limit: None, ..closed() };
    store.put_modes(plain).await.unwrap();
    assert_eq!(store.modes().await.unwrap(), []);
    store.close().await;
}

/// A history that an older program has written is brought up to date.
#[tokio::test]
async fn a_history_of_schema_2_gets_modes() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).await.close().await;
    let db = Connection::open(folder.path().join("irc.db")).unwrap();
    db.execute_batch(
        "DROP TABLE modes; DROP TABLE read_at; DROP TABLE events;
         ALTER TABLE conversations DROP COLUMN events; PRAGMA user_version = 2",
    )
    .unwrap();
    drop(db);
    let store = open(folder.path()).await;
    store.put_modes(closed()).await.unwrap();
    assert_eq!(store.modes().await.unwrap(), [closed()]);
    store.close().await;
}

#[tokio::test]
async fn markers_are_there_after_a_reopening_the_newest_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let marker = |target: &str, at: i64| Marker {
        party: Party::Account("owner".to_owned()),
        target: target.to_owned(),
        at: UnixMicros(at),
    };
    for (target, at) in [("#room", 5), ("#room", 7), ("ada", 6)] {
        store.put_marker(marker(target, at)).await.unwrap();
    }
    store.close().await;
    let store = open(folder.path()).await;
    let mut markers = store.markers().await.unwrap();
    markers.sort_by_key(|marker| marker.at.0);
    assert_eq!(markers, [marker("ada", 6), marker("#room", 7)]);
    store.close().await;
}
