//! What happened in rooms, on disk.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::{path::Path, sync::Arc};

use gangline_core::{Principal, Tier};
use gangline_hub::ircd::{history::SqliteHistory, opening::HistoryOptions};
use gangline_irc::server::{
    events::{Event, EventKind, NewEvent},
    memory::MemoryStore,
    store::{
        Appended, Bound, Commit, Conversation, Entry, HistoryQuery, HistoryStore, LineKind,
        NewLine, Party, Range, Topic,
    },
};
use gangline_os::clock::{self, UnixMicros};
use rusqlite::Connection;

fn options(folder: &Path) -> HistoryOptions {
    HistoryOptions::new(folder.join("irc.db"), clock::system())
}

async fn open(folder: &Path) -> SqliteHistory {
    SqliteHistory::open(options(folder)).await.unwrap()
}

fn room(name: &str) -> Conversation {
    Conversation::Channel(name.parse().unwrap())
}

fn line(room: Conversation, at: i64) -> Arc<NewLine> {
    Arc::new(NewLine {
        conversation: room,
        sender: Party::Account("spark-ada".to_owned()),
        key: None,
        at: UnixMicros(at),
        kind: LineKind::Privmsg,
        source: "spark-ada!~a@localhost".to_owned(),
        account: Some("spark-ada".to_owned()),
        principal: Principal { account: "spark-ada".to_owned(), tier: Tier::Agent },
        bot: true,
        target: "#room".to_owned(),
        text: format!("at {at}"),
        tags: Vec::new(),
    })
}

fn event(room: &str, (behind, number): (i64, i64), at: i64) -> NewEvent {
    let event = Event {
        msgid: format!("tags.{behind}.run-{number}"),
        behind,
        at: UnixMicros(at),
        kind: EventKind::Kick,
        source: "ann!~a@localhost".to_owned(),
        account: None,
        words: vec!["#Room".to_owned(), "ben".to_owned()],
        text: Some("out of here".to_owned()),
    };
    NewEvent { room: room.parse().unwrap(), event: Arc::new(event) }
}

async fn playback(store: &dyn HistoryStore, range: Range, limit: usize) -> Vec<Entry> {
    let query = HistoryQuery { conversation: room("#room"), range, limit };
    store.playback(query).await.unwrap()
}

/// What tells entries of different stores apart from each other: lines have other ids there.
fn places(entries: &[Entry]) -> Vec<String> {
    let place = |entry: &Entry| match entry {
        Entry::Line(stored) => stored.line.text.clone(),
        Entry::Event(event) => event.msgid.clone(),
    };
    entries.iter().map(place).collect()
}

#[tokio::test]
async fn events_are_there_after_a_reopening_in_rooms_that_have_lines() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let new = event("#Room", (1, 1), 5);
    store
        .put_events(vec![new.clone(), event("#other", (1, 1), 5)], Commit::WithNext)
        .await
        .unwrap();
    store.append(vec![line(room("#room"), 4)]).await.unwrap();
    store.put_events(vec![event("#room", (1, 2), 6)], Commit::WithNext).await.unwrap();
    store.close().await;
    let store = open(folder.path()).await;
    let found = playback(&store, Range::Latest, 9).await;
    assert_eq!(places(&found), ["at 4", "tags.1.run-1", "tags.1.run-2"]);
    assert_eq!(found[1], Entry::Event(new.event));
    store.append(vec![line(room("#other"), 7)]).await.unwrap();
    let query = HistoryQuery { conversation: room("#other"), range: Range::Latest, limit: 9 };
    assert_eq!(places(&store.playback(query).await.unwrap()), ["at 7"]);
    store.close().await;
}

#[tokio::test]
async fn ranges_with_events_are_the_same_as_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let disk = open(folder.path()).await;
    let memory = MemoryStore::new(100);
    let mut ids: Vec<[String; 2]> = Vec::new();
    // Two lines, then two events; one at the time of the line before, as the wire shows times.
    for number in 0..8 {
        let at = number * 10_000;
        let batch = vec![line(room("#room"), at), line(room("#room"), at + 1_000)];
        let behind = number * 2 + 2;
        let events =
            vec![event("#room", (behind, 1), at + 1_500), event("#room", (behind, 2), at + 3_000)];
        let mut of_both = Vec::new();
        for store in [&disk as &dyn HistoryStore, &memory] {
            let kept = store.append(batch.clone()).await.unwrap();
            store.put_events(events.clone(), Commit::Now).await.unwrap();
            let Appended::Stored { msgid, .. } = &kept[0] else { panic!("{kept:?}") };
            of_both.push(msgid.clone());
        }
        ids.push(of_both.try_into().unwrap());
    }
    let bounds = |store: usize| {
        [
            Bound::Msgid(ids[3][store].clone()),
            Bound::Event { behind: 8, msgid: "tags.8.run-1".to_owned() },
            Bound::Event { behind: 8, msgid: "tags.8.run-2".to_owned() },
            Bound::Event { behind: 10, msgid: "tags.10.gone-9".to_owned() },
            Bound::At(UnixMicros(41_000)),
            Bound::At(UnixMicros(42_000)),
            Bound::At(UnixMicros(50_000)),
            Bound::Msgid("gone.3".to_owned()),
        ]
    };
    let ranges = |store: usize| {
        let mut ranges = vec![Range::Latest];
        for one in bounds(store) {
            ranges.extend([
                Range::LatestAfter(one.clone()),
                Range::Before(one.clone()),
                Range::After(one.clone()),
                Range::Around(one.clone()),
            ]);
            ranges.extend(bounds(store).map(|other| Range::Between(one.clone(), other)));
        }
        ranges
    };
    for (on_disk, in_memory) in ranges(0).into_iter().zip(ranges(1)) {
        for limit in [1, 3, 100] {
            let shown = format!("{in_memory:?} {limit}");
            let one = playback(&disk, on_disk.clone(), limit).await;
            let other = playback(&memory, in_memory.clone(), limit).await;
            assert!(one.len() <= limit, "{shown}");
            assert_eq!(places(&one), places(&other), "{shown}");
        }
    }
    assert_eq!(playback(&disk, Range::Latest, 100).await.len(), 32);
    disk.close().await;
}

/// As many events as lines are kept of a room, and lines do not go for them.
#[tokio::test]
async fn the_oldest_events_go() {
    let folder = tempfile::tempdir().unwrap();
    let few = HistoryOptions { keep: 10, ..options(folder.path()) };
    let store = SqliteHistory::open(few).await.unwrap();
    for name in ["#room", "#other"] {
        store.append(vec![line(room(name), 1)]).await.unwrap();
    }
    for number in 1..=30 {
        store.put_events(vec![event("#room", (2, number), number)], Commit::Now).await.unwrap();
    }
    store.put_events(vec![event("#other", (2, 31), 31)], Commit::Now).await.unwrap();
    let found = places(&playback(&store, Range::Latest, 100).await);
    assert!((11..=12).contains(&found.len()), "{found:?}");
    assert_eq!((found[0].as_str(), found.last().unwrap().as_str()), ("at 1", "tags.2.run-30"));
    let query = HistoryQuery { conversation: room("#other"), range: Range::Latest, limit: 9 };
    assert_eq!(places(&store.playback(query).await.unwrap()), ["at 1", "tags.2.run-31"]);
    store.close().await;
}

/// Once nothing can be written, events wait for better times, in bounds; then they are stored.
#[tokio::test]
async fn events_wait_while_nothing_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let hasty =
        HistoryOptions { busy: std::time::Duration::from_millis(50), ..options(folder.path()) };
    let store = SqliteHistory::open(hasty).await.unwrap();
    store.append(vec![line(room("#room"), 1)]).await.unwrap();
    let other = Connection::open(folder.path().join("irc.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.put_events(vec![event("#room", (1, 1), 2)], Commit::Now).await;
    assert!(refused.unwrap_err().why.contains("locked"));
    other.execute_batch("ROLLBACK").unwrap();
    store.append(vec![line(room("#room"), 3)]).await.unwrap();
    let found = places(&playback(&store, Range::Latest, 9).await);
    assert_eq!(found, ["at 1", "tags.1.run-1", "at 3"]);
    store.close().await;
}

/// A history that an older program has written is brought up to date: its lines stay, and of its
/// topics those that people have set.
#[tokio::test]
async fn a_history_of_schema_4_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let topic = |name: &str, by: &str| Topic {
        channel: name.parse().unwrap(),
        text: "work".to_owned(),
        by: by.to_owned(),
        at: UnixMicros(7),
    };
    let store = open(folder.path()).await;
    store.append(vec![line(room("#room"), 1)]).await.unwrap();
    store.put_topic(topic("#made", "spark")).await.unwrap();
    store.put_topic(topic("#set", "ann!~a@localhost")).await.unwrap();
    store.close().await;
    let db = Connection::open(folder.path().join("irc.db")).unwrap();
    db.execute_batch(
        "DROP TABLE events; ALTER TABLE conversations DROP COLUMN events; DROP TABLE rooms;
         CREATE TABLE modes (channel TEXT PRIMARY KEY, shown TEXT NOT NULL, flags TEXT NOT NULL,
             key TEXT, most INTEGER, set_by TEXT NOT NULL, agents TEXT NOT NULL,
             at_us INTEGER NOT NULL) STRICT;
         PRAGMA user_version = 4",
    )
    .unwrap();
    drop(db);
    let store = open(folder.path()).await;
    assert_eq!(store.topics().await.unwrap(), [topic("#set", "ann!~a@localhost")]);
    store.put_events(vec![event("#room", (1, 1), 2)], Commit::Now).await.unwrap();
    assert_eq!(places(&playback(&store, Range::Latest, 9).await), ["at 1", "tags.1.run-1"]);
    store.forget_topic("#SET".parse().unwrap()).await.unwrap();
    assert_eq!(store.topics().await.unwrap(), []);
    store.close().await;
    let db = Connection::open(folder.path().join("irc.db")).unwrap();
    let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 6);
}

/// A look while the server runs finds what no call has met yet, and disturbs nobody.
#[tokio::test]
async fn a_look_while_it_runs_finds_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("irc.db");
    let store = open(folder.path()).await;
    let batch: Vec<_> = (0..500).map(|at| line(room("#room"), at)).collect();
    store.append(batch).await.unwrap();
    assert_eq!(store.look().await, Ok(()));
    store.close().await;
    let mut bytes = std::fs::read(&path).unwrap();
    let page = bytes.len() / 4096 / 2;
    bytes[page * 4096..(page + 1) * 4096].fill(0xA5);
    std::fs::write(&path, &bytes).unwrap();
    let store = open(folder.path()).await;
    let found = store.look().await.unwrap_err();
    assert!(found.why.contains("irc.db is damaged"), "{found}");
    store.close().await;
    // There is none behind the end, and the end waits for none.
    assert_eq!(store.look().await, Ok(()));
}

/// A server that ends while it is looked through leaves one whole file.
#[tokio::test]
async fn a_look_that_still_runs_ends_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(folder.path()).await);
    for _ in 0..20 {
        let batch: Vec<_> = (0..500).map(|at| line(room("#room"), at)).collect();
        store.append(batch).await.unwrap();
    }
    let looked = {
        let mut look = std::pin::pin!(store.look());
        // Polled once, it has begun.
        let begun = std::future::poll_fn(|context| {
            std::task::Poll::Ready(std::future::Future::poll(look.as_mut(), context))
        });
        assert!(begun.await.is_pending());
        store.close().await;
        look.await
    };
    assert_eq!(looked, Ok(()));
    let names = std::fs::read_dir(folder.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| !name.ends_with("lock")).collect();
    assert_eq!(names, ["irc.db"]);
}
