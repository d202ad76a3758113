//! How far people have read, on disk, and what they missed.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::{path::Path, sync::Arc};

use gangline_core::{Principal, Tier};
use gangline_hub::ircd::{history::SqliteHistory, opening::HistoryOptions};
use gangline_irc::server::{
    memory::MemoryStore,
    store::{
        Commit, Conversation, HistoryStore, LineKind, MARKS_MAX, Marks, Missed, MissedQuery,
        NewLine, Party, ReadMark,
    },
};
use gangline_os::clock::{self, UnixMicros};
use rusqlite::Connection;

async fn open(folder: &Path) -> SqliteHistory {
    let options = HistoryOptions::new(folder.join("irc.db"), clock::system());
    SqliteHistory::open(options).await.unwrap()
}

fn party(name: &str) -> Party {
    Party::from_key(name)
}

fn room() -> Conversation {
    Conversation::Channel("#room".parse().unwrap())
}

fn direct(one: &str, other: &str) -> Conversation {
    Conversation::Direct(party(one), party(other))
}

fn line(sender: &str, conversation: Conversation, text: &str) -> Arc<NewLine> {
    Arc::new(NewLine {
        conversation,
        sender: party(sender),
        key: None,
        at: UnixMicros(1_000_000),
        kind: LineKind::Notice,
        source: "x!y@localhost".to_owned(),
        account: None,
        principal: Principal { account: sender.to_owned(), tier: Tier::Agent },
        bot: false,
        target: "#room".to_owned(),
        text: text.to_owned(),
        tags: Vec::new(),
    })
}

fn mark(nick: &str, place: &str, seq: Option<i64>) -> ReadMark {
    ReadMark {
        party: party("owner"),
        nick: nick.to_owned(),
        place: place.to_owned(),
        seq,
        at: UnixMicros(5),
    }
}

fn shown(missed: &[Missed]) -> Vec<(Vec<&str>, usize)> {
    let texts = |missed: &Missed| missed.lines.iter().map(|line| line.line.text.clone()).collect();
    let of: Vec<(Vec<String>, usize)> =
        missed.iter().map(|missed| (texts(missed), missed.left_out)).collect();
    of.into_iter()
        .map(|(texts, left)| (texts.into_iter().map(|text| &*text.leak()).collect(), left))
        .collect()
}

/// What was missed is what others said, between two lines, the newest of each conversation; the
/// same on disk and in memory.
#[tokio::test]
async fn what_was_missed_is_what_others_said_in_between() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [&dyn HistoryStore; 2] = [&open(folder.path()).await, &MemoryStore::new(100)];
    for store in stores {
        let batch = vec![
            line("ada", room(), "1 read"),
            line("ada", direct("ada", "owner"), "2 private"),
            line("owner", room(), "3 mine"),
            line("bob", room(), "4"),
            line("bob", direct("owner", "bob"), "5 of another"),
            line("ada", direct("ada", "~ann"), "6 not for the owner"),
            line("owner", direct("owner", "ada"), "7 mine too"),
            line("ada", room(), "8"),
            line("ada", room(), "9"),
            line("ada", direct("ada", "owner"), "10"),
            line("ada", room(), "11 later"),
        ];
        store.append(batch).await.unwrap();
        let ask = |channel: Option<&str>, limit| MissedQuery {
            party: party("owner"),
            channel: channel.map(|name| name.parse().unwrap()),
            after: 1,
            upto: 10,
            limit,
        };
        let found = store.missed(ask(Some("#ROOM"), 9)).await.unwrap();
        assert_eq!(shown(&found), [(vec!["4", "8", "9"], 0)]);
        let found = store.missed(ask(Some("#room"), 2)).await.unwrap();
        assert_eq!(shown(&found), [(vec!["8", "9"], 1)]);
        let found = store.missed(ask(None, 9)).await.unwrap();
        assert_eq!(shown(&found), [(vec!["5 of another"], 0), (vec!["2 private", "10"], 0)]);
        assert!(store.missed(ask(Some("#other"), 9)).await.unwrap().is_empty());
        assert_eq!(store.marks().await.unwrap().newest, 11);
    }
}

#[tokio::test]
async fn marks_are_kept_with_the_next_lines_or_at_once_or_at_the_closing() {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = || {
        let db = Connection::open(folder.path().join("irc.db")).unwrap();
        let sql = "SELECT nick || ' ' || place || ' ' || seq FROM read_marks ORDER BY 1";
        let mut statement = db.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>()
    };
    let store = open(folder.path()).await;
    store.put_marks(vec![mark("ori", "#room", Some(3))], Commit::WithNext).await.unwrap();
    assert_eq!(on_disk(), [""; 0]);
    store.append(vec![line("ada", room(), "x")]).await.unwrap();
    assert_eq!(on_disk(), ["ori #room 3"]);
    let now = vec![mark("ori", "#room", Some(4)), mark("tel", "", Some(9))];
    store.put_marks(now, Commit::Now).await.unwrap();
    assert_eq!(on_disk(), ["ori #room 4", "tel  9"]);
    store.put_marks(vec![mark("tel", "", None)], Commit::WithNext).await.unwrap();
    store.close().await;
    assert_eq!(on_disk(), ["ori #room 4"]);
    let store = open(folder.path()).await;
    let marks = Marks { newest: 1, marks: vec![mark("ori", "#room", Some(4))] };
    assert_eq!(store.marks().await.unwrap(), marks);
    store.close().await;
}

/// The server holds no more of them.
#[tokio::test]
async fn the_oldest_marks_beyond_the_bound_are_removed_when_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let new = |n: usize| {
        let at = UnixMicros(i64::try_from(n).unwrap());
        ReadMark { at, ..mark(&format!("n{n}"), "#room", Some(1)) }
    };
    store.put_marks((0..MARKS_MAX + 2).map(new).collect(), Commit::Now).await.unwrap();
    for _ in 0..2 {
        let marks = store.marks().await.unwrap().marks;
        assert_eq!(marks.len(), MARKS_MAX);
        assert_eq!(marks.iter().map(|mark| mark.at.0).min(), Some(2));
    }
    store.close().await;
}

/// A history that an older program has written is brought up to date and keeps its lines.
#[tokio::test]
async fn a_history_of_schema_1_gets_marks_and_keeps_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store.append(vec![line("ada", room(), "from before")]).await.unwrap();
    store.close().await;
    let db = Connection::open(folder.path().join("irc.db")).unwrap();
    db.execute_batch(
        "DROP TABLE read_marks; DROP TABLE rooms; DROP TABLE read_at; DROP TABLE events;
         ALTER TABLE conversations DROP COLUMN events; PRAGMA user_version = 1",
    )
    .unwrap();
    drop(db);
    let store = open(folder.path()).await;
    let everything = MissedQuery {
        party: party("owner"),
        channel: Some("#room".parse().unwrap()),
        after: 0,
        upto: i64::MAX,
        limit: 9,
    };
    let found = store.missed(everything).await.unwrap();
    assert_eq!(shown(&found), [(vec!["from before"], 0)]);
    store.put_marks(vec![mark("ori", "", Some(1))], Commit::Now).await.unwrap();
    store.close().await;
    let db = Connection::open(folder.path().join("irc.db")).unwrap();
    let schema: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(schema, 6);
    drop(db);
    let store = open(folder.path()).await;
    assert_eq!(store.marks().await.unwrap().marks.len(), 1);
    store.close().await;
}
