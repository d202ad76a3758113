//! Rooms on disk: whose they are, their modes.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;

use gangline_hub::ircd::{history::SqliteHistory, opening::HistoryOptions};
use gangline_irc::server::store::{Ban, HistoryStore, Marker, Party, RoomRow};
use gangline_os::clock::{self, UnixMicros};
use rusqlite::Connection;

async fn open(folder: &std::path::Path) -> SqliteHistory {
    let options = HistoryOptions::new(folder.join("irc.db"), clock::system());
    SqliteHistory::open(options).await.unwrap()
}

fn closed() -> RoomRow {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    let by = "ann!~a@localhost".to_owned();
    RoomRow {
        created_at: UnixMicros(3),
        founder: Some("ann".to_owned()),
        ops: names(&["ben", "spark-ada"]),
        voices: names(&["cy"]),
        agents: names(&["spark-ada", "spark-bob"]),
        flags: "im".to_owned(),
        key: Some("sesame".to_owned()),
        limit: Some(7),
        bans: vec![
            Ban { mask: "mal*!*@*".to_owned(), by: by.clone(), at: UnixMicros(4) },
            Ban { mask: "~a:eve".to_owned(), by, at: UnixMicros(5) },
        ],
        at: UnixMicros(6),
        ..RoomRow::new("#Room".parse().unwrap(), UnixMicros(0))
    }
}

#[tokio::test]
async fn a_room_is_there_after_a_reopening_and_gone_when_it_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store.put_room(closed()).await.unwrap();
    store.close().await;
    let store = open(folder.path()).await;
    assert_eq!(store.rooms().await.unwrap(), [closed()]);
    let plain = RoomRow::new("#room".parse().unwrap(), UnixMicros(9));
    store.put_room(plain.clone()).await.unwrap();
    assert_eq!(store.rooms().await.unwrap(), [plain]);
    store.forget_room("#ROOM".parse().unwrap()).await.unwrap();
    assert_eq!(store.rooms().await.unwrap(), []);
    store.close().await;
}

/// Modes that an older program has stored remain. An account that has set them keeps its room; what
/// somebody without one has set belongs to nobody now, whoever has the nick.
#[tokio::test]
async fn a_history_of_schema_5_keeps_its_modes_and_gives_no_room_to_a_nick() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).await.close().await;
    let db = Connection::open(folder.path().join("irc.db")).unwrap();
    db.execute_batch(
        "DROP TABLE rooms;
         CREATE TABLE modes (channel TEXT PRIMARY KEY, shown TEXT NOT NULL, flags TEXT NOT NULL,
             key TEXT, most INTEGER, set_by TEXT NOT NULL, agents TEXT NOT NULL,
             at_us INTEGER NOT NULL) STRICT;
         INSERT INTO modes VALUES
             ('#mine', '#Mine', 'i', NULL, 3, 'owner', 'spark-ada', 5),
             ('#theirs', '#Theirs', '', 'sesame', NULL, '~ann', '', 6),
             ('#guests', '#Guests', 'm', NULL, NULL, '!eve', '', 7);
         PRAGMA user_version = 5",
    )
    .unwrap();
    drop(db);
    let store = open(folder.path()).await;
    let mut rooms = store.rooms().await.unwrap();
    rooms.sort_by_key(|room| room.at);
    let found = rooms.iter().map(|room| (room.channel.as_str(), room.founder.as_deref()));
    let wanted = [("#Mine", Some("owner")), ("#Theirs", None), ("#Guests", None)];
    assert_eq!(found.collect::<Vec<_>>(), wanted);
    assert_eq!(
        (rooms[0].limit, &*rooms[0].flags, rooms[0].created_at),
        (Some(3), "i", rooms[0].at)
    );
    assert_eq!(rooms[0].agents, BTreeSet::from(["spark-ada".to_owned()]));
    assert_eq!(rooms[1].key.as_deref(), Some("sesame"));
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
