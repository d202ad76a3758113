//! The embedded server on its disk: `irc.db` and who may come in.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::{os::unix::fs::symlink, path::Path, sync::Arc, time::Duration};

use gangline_core::{Principal, Tier};
use gangline_hub::ircd::{
    Ircd, IrcdError, IrcdOptions, Keep, Tuning,
    history::{SqliteHistory, look},
    opening::{HistoryOptions, OpenError},
};
use gangline_irc::server::store::{
    Appended, Bound, Conversation, FindLine, HistoryQuery, HistoryStore, LineKind, NewLine, Party,
    Range, TargetsQuery, Topic,
};
use gangline_os::{
    CancellationToken,
    clock::{self, UnixMicros},
    task::TaskGroup,
};
use rusqlite::Connection;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

fn options(folder: &Path) -> HistoryOptions {
    HistoryOptions::new(folder.join("irc.db"), clock::system())
}

fn line(conversation: Conversation, key: Option<&str>, text: &str) -> Arc<NewLine> {
    Arc::new(NewLine {
        conversation,
        sender: Party::Account("spark-ada".to_owned()),
        key: key.map(str::to_owned),
        at: UnixMicros(1_000_000 + i64::try_from(text.len()).unwrap() * 1000),
        kind: LineKind::Privmsg,
        source: "spark-ada!~a@localhost".to_owned(),
        account: Some("spark-ada".to_owned()),
        principal: Principal { account: "spark-ada".to_owned(), tier: Tier::Agent },
        bot: true,
        target: "#room".to_owned(),
        text: text.to_owned(),
        tags: vec![("+draft/reply".to_owned(), Some("x;y".to_owned())), ("+f".to_owned(), None)],
    })
}

fn room() -> Conversation {
    Conversation::Channel("#Room".parse().unwrap())
}

async fn texts(store: &SqliteHistory, range: Range, limit: usize) -> Vec<String> {
    let query = HistoryQuery { conversation: room(), range, limit };
    let lines = store.history(query).await.unwrap();
    lines.iter().map(|line| line.line.text.clone()).collect()
}

fn msgid(appended: &Appended) -> String {
    match appended {
        Appended::Stored { msgid, .. } => msgid.clone(),
        Appended::Duplicate(line) => line.msgid.clone(),
    }
}

#[tokio::test]
async fn everything_is_there_after_a_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteHistory::open(options(folder.path())).await.unwrap();
    let batch: Vec<_> = (0..5).map(|n| line(room(), None, &"x".repeat(n + 1))).collect();
    let kept = store.append(batch.clone()).await.unwrap();
    let ada = "spark-ada".parse().unwrap();
    store.put_account(&ada, Tier::Agent, "ABCD").await.unwrap();
    let topic = Topic {
        channel: "#Room".parse().unwrap(),
        text: "work".to_owned(),
        by: "ann!~a@localhost".to_owned(),
        at: UnixMicros(7_000_000),
    };
    store.put_topic(topic.clone()).await.unwrap();
    store.close().await;

    let store = SqliteHistory::open(options(folder.path())).await.unwrap();
    let query = HistoryQuery { conversation: room(), range: Range::Latest, limit: 1 };
    let found = store.history(query).await.unwrap();
    assert_eq!(found[0].msgid, msgid(&kept[4]));
    // The channel comes back folded; everything else as it was.
    assert_eq!(*found[0].line, *batch[4]);
    let account = store.accounts().borrow().get("SPARK-ADA").cloned().unwrap();
    assert_eq!((account.tier, account.credential_sha256.as_str()), (Tier::Agent, "abcd"));
    assert_eq!(store.topics().await.unwrap(), [topic]);
    let next = store.append(vec![line(room(), None, "after")]).await.unwrap();
    assert!(kept.iter().all(|before| msgid(before) != msgid(&next[0])));
    let after = Range::After(Bound::Msgid(msgid(&kept[3])));
    assert_eq!(texts(&store, after, 10).await, ["xxxxx", "after"]);
    store.close().await;
}

/// The database lies where the last of several links leads, also when nothing is there yet.
#[tokio::test]
async fn links_that_lead_nowhere_are_followed_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("state")).unwrap();
    std::fs::create_dir(at("disk")).unwrap();
    symlink("../first", at("state/irc.db")).unwrap();
    symlink("second/irc.db", at("first")).unwrap();
    symlink("disk", at("second")).unwrap();
    for text in ["made", "opened again"] {
        let store = SqliteHistory::open(options(&at("state"))).await.unwrap();
        store.append(vec![line(room(), None, text)]).await.unwrap();
        store.close().await;
    }
    let kept = Connection::open(at("disk/irc.db")).unwrap();
    let lines = kept.query_row("SELECT count(*) FROM lines", [], |row| row.get::<_, i64>(0));
    assert_eq!(lines.unwrap(), 2);
    for link in ["state/irc.db", "first", "second"] {
        assert!(at(link).is_symlink(), "{link}");
    }
}

/// A look finds damage in any page, changes nothing, and disturbs nobody who has the file open.
#[tokio::test]
async fn a_look_finds_damage_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("irc.db");
    let store = SqliteHistory::open(options(folder.path())).await.unwrap();
    store.append(vec![line(room(), None, "one")]).await.unwrap();
    look(&path).unwrap();
    store.append(vec![line(room(), None, "two")]).await.unwrap();
    store.close().await;
    // What a page holds that nothing uses is no damage.
    Connection::open(&path).unwrap().execute_batch("VACUUM").unwrap();
    look(&path).unwrap();
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with("lock")).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["irc.db"]);
    let whole = std::fs::read(&path).unwrap();
    for page in 1..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xA5);
        std::fs::write(&path, &bytes).unwrap();
        let error = look(&path).unwrap_err();
        assert!(matches!(error, OpenError::Damaged { .. }), "page {page}: {error:?}");
        assert!(std::fs::read(&path).unwrap() == bytes, "page {page} was touched");
    }
    assert_eq!(names(), ["irc.db"]);
    std::fs::write(&path, "").unwrap();
    assert!(matches!(look(&path), Err(OpenError::Damaged { .. })));
}

#[tokio::test]
async fn ranges_are_the_same_as_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SqliteHistory::open(options(folder.path())).await.unwrap();
    let memory = gangline_irc::server::memory::MemoryStore::new(100);
    let batch: Vec<_> = (0..20).map(|n| line(room(), None, &"x".repeat(n / 2 + 1))).collect();
    let on_disk = disk.append(batch.clone()).await.unwrap();
    let in_memory = memory.append(batch.clone()).await.unwrap();
    let bounds = |kept: &[Appended], at: usize| {
        let msgid = msgid(&kept[at]);
        [Bound::Msgid(msgid), Bound::At(batch[at].at), Bound::Msgid("gone.3".to_owned())]
    };
    let ranges = |kept: &[Appended]| {
        let mut ranges = vec![Range::Latest];
        for one in bounds(kept, 7) {
            ranges.extend([
                Range::LatestAfter(one.clone()),
                Range::Before(one.clone()),
                Range::After(one.clone()),
                Range::Around(one.clone()),
            ]);
            for other in bounds(kept, 12) {
                ranges.push(Range::Between(one.clone(), other.clone()));
                ranges.push(Range::Between(other, one.clone()));
            }
        }
        ranges
    };
    for (disk_range, memory_range) in ranges(&on_disk).into_iter().zip(ranges(&in_memory)) {
        for limit in [1, 3, 50] {
            let shown = format!("{memory_range:?} {limit}");
            let query = |range| HistoryQuery { conversation: room(), range, limit };
            let one = disk.history(query(disk_range.clone())).await.unwrap();
            let other = memory.history(query(memory_range.clone())).await.unwrap();
            let seqs = |lines: &[gangline_irc::server::store::StoredLine]| {
                lines.iter().map(|line| line.seq).collect::<Vec<_>>()
            };
            assert_eq!(seqs(&one), seqs(&other), "{shown}");
        }
    }
    disk.close().await;
}

#[tokio::test]
async fn a_repeated_key_is_kept_once_also_within_a_batch_and_after_a_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteHistory::open(options(folder.path())).await.unwrap();
    let kept = store
        .append(vec![line(room(), Some("k.1"), "one"), line(room(), Some("k.1"), "again")])
        .await
        .unwrap();
    assert!(matches!(&kept[1], Appended::Duplicate(line) if line.line.text == "one"));
    store.close().await;
    let store = SqliteHistory::open(options(folder.path())).await.unwrap();
    let again = store.append(vec![line(room(), Some("k.1"), "later")]).await.unwrap();
    assert_eq!(msgid(&again[0]), msgid(&kept[0]));
    assert_eq!(texts(&store, Range::Latest, 10).await, ["one"]);
    let sender = Party::Account("spark-ada".to_owned());
    let find = |key: &str| FindLine {
        sender: sender.clone(),
        key: key.to_owned(),
        target: "#room".to_owned(),
    };
    assert_eq!(store.find(find("k.1")).await.unwrap().unwrap().msgid, msgid(&kept[0]));
    assert_eq!(store.find(find("k.2")).await.unwrap(), None);
    store.close().await;
}

#[tokio::test]
async fn the_oldest_lines_go_and_cursors_that_name_them_still_work() {
    let folder = tempfile::tempdir().unwrap();
    let few = HistoryOptions { keep: 10, ..options(folder.path()) };
    let store = SqliteHistory::open(few).await.unwrap();
    let mut first = None;
    for n in 0..30 {
        let kept = store.append(vec![line(room(), None, &n.to_string())]).await.unwrap();
        first.get_or_insert(msgid(&kept[0]));
    }
    let all = texts(&store, Range::Latest, 100).await;
    assert!((10..=11).contains(&all.len()), "{all:?}");
    assert_eq!(all.last().unwrap(), "29");
    let after = Range::After(Bound::Msgid(first.unwrap()));
    assert_eq!(texts(&store, after, 100).await, all);
    store.close().await;
}

#[tokio::test]
async fn private_conversations_are_found_by_either_side() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteHistory::open(options(folder.path())).await.unwrap();
    let (ada, ann) = (Party::Account("spark-ada".to_owned()), Party::Member("ann".to_owned()));
    let direct = Conversation::Direct(ann.clone(), ada.clone());
    store.append(vec![line(direct, None, "hello"), line(room(), None, "x")]).await.unwrap();
    for (party, other) in [(&ada, "ann"), (&ann, "spark-ada")] {
        let query = TargetsQuery {
            party: Some(party.clone()),
            channels: vec!["#room".parse().unwrap()],
            after: UnixMicros(0),
            before: UnixMicros(i64::MAX / 2),
            limit: 10,
        };
        let rows = store.targets(query).await.unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["#room", other]);
    }
    store.close().await;
}

#[tokio::test]
async fn a_line_that_was_taken_back_is_in_no_history_and_keeps_its_place_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteHistory::open(options(folder.path())).await.unwrap();
    let batch = ["a", "bb", "ccc"].map(|text| line(room(), Some(text), text));
    let kept = store.append(batch.to_vec()).await.unwrap();
    let Appended::Stored { seq, .. } = kept[1] else { panic!("{kept:?}") };
    store.redact(seq).await.unwrap();
    assert_eq!(texts(&store, Range::Latest, 2).await, ["a", "ccc"]);
    let after = Range::After(Bound::Msgid(msgid(&kept[1])));
    assert_eq!(texts(&store, after, 10).await, ["ccc"]);
    let found = store.line(msgid(&kept[1])).await.unwrap().unwrap();
    assert!(found.line.is_redacted() && found.line.tags.is_empty(), "{found:?}");
    // Said again by a sender that has lost its confirmation, it stays taken back.
    let again = store.append(vec![line(room(), Some("bb"), "bb")]).await.unwrap();
    assert!(matches!(&again[0], Appended::Duplicate(kept) if kept.line.is_redacted()), "{again:?}");
    store.close().await;
}

#[tokio::test]
async fn a_second_server_and_a_newer_schema_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteHistory::open(options(folder.path())).await.unwrap();
    let second = SqliteHistory::open(options(folder.path())).await.map(drop);
    assert!(matches!(second, Err(OpenError::Lock(_))), "{second:?}");
    store.close().await;
    let db = Connection::open(folder.path().join("irc.db")).unwrap();
    db.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(db);
    let newer = SqliteHistory::open(options(folder.path())).await.map(drop);
    assert!(matches!(newer, Err(OpenError::NewerSchema { found: 99, known: 6, .. })), "{newer:?}");
}

#[tokio::test]
async fn a_write_that_fails_keeps_nothing_and_the_next_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let hasty = HistoryOptions { busy: Duration::from_millis(50), ..options(folder.path()) };
    let store = SqliteHistory::open(hasty).await.unwrap();
    let other = Connection::open(folder.path().join("irc.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let failed = store.append(vec![line(room(), Some("k"), "one")]).await.unwrap_err();
    assert!(failed.why.contains("locked"), "{failed}");
    other.execute_batch("ROLLBACK").unwrap();
    let kept = store.append(vec![line(room(), Some("k"), "one")]).await.unwrap();
    assert!(matches!(kept[0], Appended::Stored { seq: 1, .. }));
    let mode: String = other.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    store.close().await;
}

/// Sends lines and reads until one holds `wanted`.
pub(crate) async fn talk(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    lines: &str,
    wanted: &str,
) -> String {
    stream.write_all(lines.as_bytes()).await.unwrap();
    let mut seen = String::new();
    let reading = async {
        while !seen.lines().any(|line| line.contains(wanted)) {
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).await.unwrap();
            assert!(read > 0, "closed before {wanted:?}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    };
    let done = tokio::time::timeout(DEADLINE, reading).await;
    assert!(done.is_ok(), "no {wanted:?} in {seen}");
    seen
}

#[tokio::test]
async fn who_comes_from_our_own_uid_is_a_member_and_the_token_makes_an_owner() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let options = || IrcdOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        name: "spark".to_owned(),
        state: state.clone(),
        accounts: Vec::new(),
        clock: clock::system(),
    };
    let ircd = Ircd::open(options(), Tuning::default()).await.unwrap();
    let address = ircd.address();
    let stop = CancellationToken::new();
    let mut tasks = TaskGroup::new("ircd");
    let run = ircd.run(stop.clone());
    tasks.spawn("ircd", async move { _ = run.await });
    let token = std::fs::read_to_string(state.join("owner.token")).unwrap();

    let mut ann = TcpStream::connect(address).await.unwrap();
    talk(&mut ann, "NICK ann\r\nUSER a 0 * :A\r\n", " 376 ").await;
    let seen = talk(&mut ann, "WHOIS ann\r\n", " 318 ").await;
    assert!(seen.contains("is trusted as: member"), "{seen}");
    let mut boss = TcpStream::connect(address).await.unwrap();
    let hello = format!("PASS owner:{}\r\nNICK boss\r\nUSER b 0 * :B\r\n", token.trim());
    talk(&mut boss, &hello, " 376 ").await;
    let seen = talk(&mut boss, "WHOIS boss\r\n", " 318 ").await;
    assert!(seen.contains("is trusted as: owner"), "{seen}");
    let mut eve = TcpStream::connect(address).await.unwrap();
    talk(&mut eve, "PASS owner:wrong\r\n", " 464 ").await;
    talk(&mut ann, "PRIVMSG owner :report\r\nPRIVMSG nobody :x\r\n", " 401 ").await;
    stop.cancel();
    tasks.stop(DEADLINE).await;

    // What was said to the owner is there after a restart, under the same token.
    let ircd = Ircd::open(options(), Tuning::default()).await.unwrap();
    let address = ircd.address();
    let stop = CancellationToken::new();
    let mut tasks = TaskGroup::new("ircd");
    let run = ircd.run(stop.clone());
    tasks.spawn("ircd", async move { _ = run.await });
    let mut boss = TcpStream::connect(address).await.unwrap();
    talk(&mut boss, &hello, " 376 ").await;
    let seen = talk(&mut boss, "CHATHISTORY LATEST ann * 5\r\nPING x\r\n", "PONG").await;
    assert!(seen.contains(":ann!~a@localhost PRIVMSG owner :report"), "{seen}");
    stop.cancel();
    tasks.stop(DEADLINE).await;
}

#[tokio::test]
async fn another_address_than_loopback_is_refused_before_anything_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let options = IrcdOptions {
        listen: "0.0.0.0:0".parse().unwrap(),
        name: "spark".to_owned(),
        state: state.clone(),
        accounts: Vec::new(),
        clock: clock::system(),
    };
    let tuning = Tuning { keep: Keep::InMemory(10), ..Tuning::default() };
    let refused = Ircd::open(options, tuning).await.map(drop);
    assert!(matches!(refused, Err(IrcdError::Bind(_))), "{refused:?}");
    assert!(!state.exists());
}
