//! Files that are full, foreign, damaged, newer, taken away: an error, never an `ok`, and the file
//! is kept.

use std::{
    fs,
    io::{Seek, SeekFrom, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
    time::Duration,
};

use gangline_core::{
    approval::Decision,
    rule::{Form, Offer, Subject},
    split::Joint,
};
use gangline_store::{
    LeftSession, OpenApproval, OpenError, Ruling, SentAs, Store, StoreError, Stored, Whose, Written,
};
use rusqlite::Connection;

use crate::{child::Other, crashes::sound, support::*};

fn foreign(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

/// A store with one message, closed.
async fn made() -> Fixture {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    store.accept(keyed(&ada(), "first")).await.unwrap();
    store.close().await.unwrap();
    fixture
}

/// Opening fails and leaves the file as it is.
async fn refused(fixture: &Fixture) -> OpenError {
    let before = fs::read(fixture.path()).unwrap();
    let error = Store::open(options(&fixture.path())).await.unwrap_err();
    let looked = Store::look(options(&fixture.path())).unwrap_err();
    assert_eq!(looked.to_string(), error.to_string());
    assert_eq!(fs::read(fixture.path()).unwrap(), before, "the file is kept");
    assert!(error.to_string().contains("gangline.db"), "{error}");
    error
}

/// A look tells that all is well and changes nothing, whether somebody has the store open or not.
#[tokio::test]
async fn a_look_changes_nothing() {
    let fixture = made().await;
    let folder = fixture.path().parent().unwrap().to_owned();
    let names = || {
        let mut all: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
        all.sort();
        all
    };
    let before = (names(), fs::read(fixture.path()).unwrap());
    assert_eq!(Store::look(options(&fixture.path())).unwrap(), 13);
    assert_eq!(names(), before.0);
    assert!(fs::read(fixture.path()).unwrap() == before.1, "the file is kept");
    assert_eq!(Store::look_at_orders(options(&fixture.path())).unwrap(), []);
    assert_eq!(names(), before.0);
    let open = fixture.open().await;
    let during = (names(), fs::read(fixture.path()).unwrap());
    let (said, exit) = Other::start(&fixture.path(), "look", "").rest().await;
    assert!(exit.success() && said == ["13"], "{said:?}");
    assert_eq!(names(), during.0);
    assert!(fs::read(fixture.path()).unwrap() == during.1, "the file is kept");
    let order = open.order_runtime(&ada(), Some("other"), "alice").await.unwrap();
    assert_eq!(Store::look_at_orders(options(&fixture.path())).unwrap(), [order]);
    open.accept(keyed(&ada(), "second")).await.unwrap();
    let missing = folder.join("other.db");
    let error = Store::look(options(&missing)).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    assert!(!missing.exists());
}

#[tokio::test]
async fn a_store_of_a_newer_program_is_refused_and_kept() {
    let fixture = made().await;
    let connection = foreign(&fixture.path());
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    connection.close().unwrap();
    let error = refused(&fixture).await;
    assert!(matches!(error, OpenError::NewerSchema { found: 99, known: 13, .. }), "{error:?}");
    let this = std::env::current_exe().unwrap().display().to_string();
    let text = error.to_string();
    for part in ["has schema 99, made by ", &this, "knows schemas up to 13", "use that program"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // One that does not say who made it.
    let connection = foreign(&fixture.path());
    connection.execute_batch("DELETE FROM meta WHERE key = 'schema_made_by'").unwrap();
    connection.close().unwrap();
    let text = refused(&fixture).await.to_string();
    assert!(text.contains("made by a newer gangline; this"), "{text}");
}

/// Takes away what schema 13 has brought, part by part.
fn to_12() -> String {
    let orders = "DROP TABLE turn_orders; ";
    let lost_attempts = "DROP TABLE acts; ";
    let trust = "DROP TABLE folder_trust; ";
    let relay = "DROP TABLE relay_open; ";
    let void_rules =
        "ALTER TABLE rules DROP COLUMN void; ALTER TABLE rules DROP COLUMN void_told; ";
    let announcements = "ALTER TABLE approvals DROP COLUMN audience; ";
    [orders, lost_attempts, trust, relay, void_rules, announcements].concat()
}

/// Takes away what schemas 10 to 12 have brought.
const TO_9: &str = "ALTER TABLE usage DROP COLUMN source; DROP TABLE budget_raises; \
    DROP TABLE relay_calls; DROP TABLE fleet_holds; ALTER TABLE messages DROP COLUMN restart; DROP INDEX questions_waited; ALTER TABLE questions DROP COLUMN waits; \
    DROP TABLE pauses; DROP INDEX questions_request; DROP INDEX questions_due; \
    DROP INDEX questions_all_open; DROP INDEX reminders_request; DROP INDEX messages_wakes; \
    ALTER TABLE questions DROP COLUMN options; ALTER TABLE questions DROP COLUMN several; \
    ALTER TABLE questions DROP COLUMN rule; ALTER TABLE questions DROP COLUMN on_timeout; \
    ALTER TABLE questions DROP COLUMN request; ALTER TABLE questions DROP COLUMN reply_target; \
    DROP TABLE question_votes; DROP TABLE question_places; \
    ALTER TABLE messages DROP COLUMN question; ALTER TABLE reminders DROP COLUMN request; \
    ALTER TABLE reminders DROP COLUMN parent; ALTER TABLE reminders DROP COLUMN fired; \
    ALTER TABLE reminders DROP COLUMN fired_at; DROP TABLE firings; DROP TABLE letters; \
    DROP TABLE tokens; DROP TABLE applied; DROP TABLE changes; \
    DROP TABLE alerts; DROP TABLE alert_deliveries; \
    DROP TABLE findings; \
    ALTER TABLE usage DROP COLUMN spender; \
    DROP TABLE whispers; ";

/// A store as schema 2 has it, with a session of which nobody knows whose it is.
async fn schema_2() -> Fixture {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path().parent().unwrap()).unwrap();
    let connection = foreign(&fixture.path());
    connection.execute_batch(include_str!("../../src/sqlite/migrations/0001.sql")).unwrap();
    connection.execute_batch(include_str!("../../src/sqlite/migrations/0002.sql")).unwrap();
    connection
        .execute_batch(
            "INSERT INTO meta VALUES ('installation_id', 'i'), ('min_binary', '0.1.0'); \
         INSERT INTO agents (agent, installation_id, epoch, pid, note, session, started_at, \
         updated_at) VALUES ('spark-ada', 'i', 7, 1, '', 'old', 1, 1); \
         INSERT INTO orders (agent, installation_id, desired, desired_by, desired_at) \
         VALUES ('spark-ada', 'i', 'down', 'otto', 1); \
         PRAGMA application_id = 1195462215; PRAGMA user_version = 2;",
        )
        .unwrap();
    connection.close().unwrap();
    fixture
}

#[tokio::test]
async fn a_session_kept_before_it_had_a_name_is_the_configured_backend_s() {
    let fixture = schema_2().await;
    let store = fixture.open().await;
    let row = store.agent(&ada()).await.unwrap().unwrap();
    assert_eq!((row.session.as_deref(), row.runtime), (Some("old"), None));
    let order = &store.orders().await.unwrap()[0];
    assert_eq!((order.is_up(), &order.runtime), (false, &None));
    let whose = Whose { runtime: "native", configured: "claude" };
    let other = store.begin_epoch(&ada(), (1, ""), whose).await.unwrap();
    let left = LeftSession { runtime: "claude".to_owned(), session: "old".to_owned() };
    assert_eq!((other.epoch.0, other.session, other.left), (8, None, Some(left)));
    let back = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap();
    assert_eq!((back.session.as_deref(), back.left), (Some("old"), None));
}

#[tokio::test]
async fn a_store_of_an_older_program_is_brought_up_to_date_and_keeps_its_rows() {
    let fixture = made().await;
    let connection = foreign(&fixture.path());
    connection
        .execute_batch(
            &(to_12()
                + TO_9
                + "DROP TABLE orders; DROP TABLE sessions; ALTER TABLE agents DROP COLUMN runtime; \
         DROP INDEX messages_cause; DROP INDEX messages_line; DROP INDEX messages_held; \
         DROP TABLE causes; ALTER TABLE messages DROP COLUMN cause; \
         ALTER TABLE turns DROP COLUMN cause; ALTER TABLE outbox DROP COLUMN question; \
         DROP TABLE approval_places; ALTER TABLE approvals DROP COLUMN folder; \
         ALTER TABLE approvals DROP COLUMN said_before; \
         ALTER TABLE approvals DROP COLUMN decided_as; DROP TABLE session_ids; DROP TABLE rules; \
         DROP TABLE rule_offers; DROP TABLE rule_forms; ALTER TABLE outbox DROP COLUMN sent_as; \
         ALTER TABLE outbox DROP COLUMN goes_on; PRAGMA user_version = 1"),
        )
        .unwrap();
    connection.close().unwrap();
    let store = fixture.open().await;
    assert_eq!(store.messages(Default::default(), 9).await.unwrap().len(), 1);
    store.order(&ada(), gangline_store::Desired::Down, "otto").await.unwrap();
    assert_eq!(store.orders().await.unwrap().len(), 1);
}

/// Lines that a program before schema 9 has said go on as lines, and what it has not said is free.
#[tokio::test]
async fn lines_from_before_there_were_messages_stay_lines() {
    let fixture = made().await;
    let store = fixture.open().await;
    let ids = store.send(send(&ada(), "k", &["one", "two"])).await.unwrap().outbox;
    store.mark_sent(&ids[..1], SentAs::Lines).await.unwrap();
    store.close().await.unwrap();
    let connection = foreign(&fixture.path());
    let back = "ALTER TABLE outbox DROP COLUMN sent_as; ALTER TABLE outbox DROP COLUMN goes_on; \
                PRAGMA user_version = 8";
    connection.execute_batch(&(to_12() + TO_9 + back)).unwrap();
    connection.close().unwrap();
    let store = fixture.open().await;
    let rows = store.outbox_by_idem(&ada(), "k").await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.sent_as, row.joint)).collect();
    assert_eq!(found, [(Some(SentAs::Lines), Joint::Anew), (None, Joint::Anew)]);
}

/// C5: an approval of schema 7 is decided as before. It offers no rule, and new ones do.
#[tokio::test]
async fn an_approval_from_before_there_were_rules_is_allowed_once() {
    let fixture = made().await;
    let store = fixture.open().await;
    let message = store.accept(keyed(&ada(), "two")).await.unwrap().id;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    store.take(take(&ada(), turn(epoch, 1), &[message])).await.unwrap();
    let asks = ask(&ada(), turn(epoch, 1), message);
    let old = store.open_approval(asks.clone()).await.unwrap().number;
    store.close().await.unwrap();
    let connection = foreign(&fixture.path());
    let back = "DROP TABLE rules; DROP TABLE rule_offers; DROP TABLE rule_forms; \
                ALTER TABLE outbox DROP COLUMN sent_as; ALTER TABLE outbox DROP COLUMN goes_on; \
                PRAGMA user_version = 7";
    connection.execute_batch(&(to_12() + TO_9 + back)).unwrap();
    connection.close().unwrap();
    let store = fixture.open().await;
    assert_eq!(store.offer(old).await.unwrap(), None);
    let ruling = || Ruling {
        decision: Decision::Allow,
        by: owner(),
        known_as: "ori".to_owned(),
        note: None,
        say: None,
    };
    let done = store.decide_always(old, ruling()).await.unwrap();
    assert_eq!(done.stored, Stored::Nothing("it was asked by an older program".to_owned()));
    let subject = Subject::Forms(vec![Form::File("/w/a".to_owned())]);
    let offer = Offer { tool: "Write".to_owned(), directory: "/w".to_owned(), subject };
    let (request, offer) = ("new".to_owned(), Some(offer));
    let new = store.open_approval(OpenApproval { request, offer, ..asks }).await.unwrap().number;
    let done = store.decide_always(new, ruling()).await.unwrap();
    assert!(matches!(done.stored, Stored::Rules(rules) if rules.len() == 1));
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_kept() {
    let fixture = made().await;
    fs::write(fixture.path(), "no database at all\n".repeat(500)).unwrap();
    assert!(matches!(refused(&fixture).await, OpenError::NotADatabase { .. }));
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_and_kept() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path().parent().unwrap()).unwrap();
    let connection = foreign(&fixture.path());
    connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
    connection.close().unwrap();
    assert!(matches!(refused(&fixture).await, OpenError::NotADatabase { .. }));
}

/// Overwrites a part of the file with nonsense.
fn scribble(path: &Path, from: u64, length: usize) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0xA5; length]).unwrap();
}

#[tokio::test]
async fn a_damaged_first_page_is_refused_and_kept() {
    let fixture = made().await;
    scribble(&fixture.path(), 100, 3996);
    let error = refused(&fixture).await;
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn a_damaged_page_is_reported_when_it_is_read() {
    let fixture = made().await;
    let pages = fs::metadata(fixture.path()).unwrap().len() / 4096;
    scribble(&fixture.path(), 4096, usize::try_from((pages - 1) * 4096).unwrap());
    let before = fs::read(fixture.path()).unwrap();
    match Store::open(options(&fixture.path())).await {
        Err(error) => assert!(matches!(error, OpenError::Corrupt { .. }), "{error}"),
        Ok(store) => {
            let read = store.messages(Default::default(), 9).await;
            assert!(matches!(read, Err(StoreError::Corrupt { .. })), "{read:?}");
            let write = store.accept(keyed(&ada(), "second")).await;
            assert!(matches!(write, Err(StoreError::Corrupt { .. })), "{write:?}");
            assert!(store.health().degraded.is_some());
        }
    }
    assert_eq!(fs::read(fixture.path()).unwrap(), before, "the file is kept");
}

/// SQLite takes an empty file for a new database, and throws away the log beside it.
#[tokio::test]
async fn a_file_that_was_emptied_is_refused_and_kept() {
    let fixture = made().await;
    fs::write(fixture.path(), "").unwrap();
    let error = refused(&fixture).await;
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
    // A copy of a living store: a database and its log.
    for gone in [false, true] {
        let (fixture, copy) = (made().await, Fixture::new());
        let open = fixture.open().await;
        open.accept(keyed(&ada(), "second")).await.unwrap();
        fs::create_dir(copy.path().parent().unwrap()).unwrap();
        let log = |fixture: &Fixture| fixture.path().with_extension("db-wal");
        fs::copy(log(&fixture), log(&copy)).unwrap();
        let before = fs::read(log(&copy)).unwrap();
        if !gone {
            fs::write(copy.path(), "").unwrap();
        }
        let error = Store::open(options(&copy.path())).await.unwrap_err();
        assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
        assert_eq!((fs::read(log(&copy)).unwrap(), copy.path().exists()), (before, !gone));
        open.close().await.unwrap();
    }
}

/// What is cut off behind the first page was never a database of that size.
#[tokio::test]
async fn a_file_that_was_cut_off_is_refused_and_kept() {
    let fixture = made().await;
    fs::OpenOptions::new().write(true).open(fixture.path()).unwrap().set_len(4096).unwrap();
    let error = refused(&fixture).await;
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error}");
}

/// An opening that died before it had made anything leaves an empty file, which is no damage.
#[tokio::test]
async fn an_empty_file_that_never_was_a_database_becomes_one() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path().parent().unwrap()).unwrap();
    fs::write(fixture.path(), "").unwrap();
    fixture.open().await.close().await.unwrap();
}

/// A link in the place of a lock's file would have another file written.
#[tokio::test]
async fn no_link_is_followed_to_a_lock() {
    let fixture = Fixture::new();
    let folder = fixture.path().parent().unwrap().to_owned();
    fs::create_dir(&folder).unwrap();
    let other = folder.join("other");
    fs::write(&other, "precious").unwrap();
    std::os::unix::fs::symlink(&other, folder.join("gangline.db.wlock")).unwrap();
    let error = Store::open(options(&fixture.path())).await.unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    assert_eq!(fs::read(&other).unwrap(), b"precious");
}

#[tokio::test]
async fn the_files_are_private() {
    let fixture = made().await;
    let store = fixture.open().await;
    store.accept(keyed(&ada(), "second")).await.unwrap();
    for entry in fs::read_dir(fixture.path().parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
    }
}

fn unknown(result: Result<gangline_store::Accepted, StoreError>) {
    let expected = Written::Unknown;
    assert!(
        matches!(result, Err(StoreError::Degraded { written, .. }) if written == expected),
        "{result:?}"
    );
}

/// F15: an `ok` would be a lie, since the commit went into a file without a name.
#[tokio::test]
async fn a_log_deleted_under_us_is_an_error_and_the_store_recovers() {
    let fixture = made().await;
    let store = fixture.open().await;
    store.accept(keyed(&ada(), "second")).await.unwrap();
    fs::remove_file(fixture.path().with_extension("db-wal")).unwrap();
    unknown(store.accept(keyed(&ada(), "third")).await);
    assert!(store.health().degraded.unwrap().contains("deleted"));
    store.probe().await.unwrap();
    assert_eq!(store.health().degraded, None);
    for known in ["first", "second"] {
        assert!(store.accept(keyed(&ada(), known)).await.unwrap().duplicate, "{known}");
    }
    store.accept(keyed(&ada(), "fourth")).await.unwrap();
    store.close().await.unwrap();
    sound(&fixture.path());
}

#[tokio::test]
async fn a_log_replaced_under_us_is_an_error_and_the_store_recovers() {
    let fixture = made().await;
    let store = fixture.open().await;
    store.accept(keyed(&ada(), "second")).await.unwrap();
    let log = fixture.path().with_extension("db-wal");
    fs::rename(&log, fixture.path().with_extension("moved")).unwrap();
    fs::write(&log, "").unwrap();
    unknown(store.accept(keyed(&ada(), "third")).await);
    assert!(store.health().degraded.unwrap().contains("replaced"));
    store.probe().await.unwrap();
    assert!(store.accept(keyed(&ada(), "second")).await.unwrap().duplicate);
    store.close().await.unwrap();
    sound(&fixture.path());
}

#[tokio::test]
async fn a_lost_log_is_made_anew_only_when_every_process_has_noticed() {
    let fixture = made().await;
    let (one, two) = (fixture.open().await, fixture.open().await);
    one.accept(keyed(&ada(), "one")).await.unwrap();
    two.accept(keyed(&ada(), "two")).await.unwrap();
    fs::remove_file(fixture.path().with_extension("db-wal")).unwrap();
    unknown(one.accept(keyed(&ada(), "x")).await);
    let early = one.probe().await.unwrap_err();
    assert!(early.to_string().contains("other processes"), "{early}");
    let third = Store::open(options(&fixture.path())).await;
    assert!(third.is_err(), "nobody new comes in either");
    unknown(two.accept(keyed(&ada(), "y")).await);
    well_again(&one).await;
    well_again(&two).await;
    for known in ["first", "one", "two"] {
        assert!(two.accept(keyed(&ada(), known)).await.unwrap().duplicate, "{known}");
    }
    one.close().await.unwrap();
    two.close().await.unwrap();
    sound(&fixture.path());
}

/// Tries until a write succeeds: letting go of the old log follows the answer.
async fn well_again(store: &Store) {
    let tries = async { while store.probe().await.is_err() {} };
    tokio::time::timeout(Duration::from_secs(60), tries).await.unwrap();
}

#[tokio::test]
async fn a_foreign_program_that_keeps_the_database_locked_makes_us_busy() {
    let fixture = made().await;
    let tuning = hasty(Duration::from_secs(10));
    let store = Store::open_tuned(options(&fixture.path()), tuning).await.unwrap();
    let rude = foreign(&fixture.path());
    rude.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = store.accept(keyed(&ada(), "second")).await;
    assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
    assert!(store.health().degraded.is_some());
    assert_eq!(store.messages(Default::default(), 9).await.unwrap().len(), 1, "reads go on");
    rude.execute_batch("COMMIT").unwrap();
    assert!(!store.accept(keyed(&ada(), "second")).await.unwrap().duplicate);
    assert_eq!(store.health().degraded, None);
}

/// F14: a full disk (here: the limit on a file's size) is an error; reads go on; the next write
/// after space has come back is fine, in the same process.
#[tokio::test]
async fn a_full_disk_is_an_error_and_the_store_recovers() {
    let fixture = made().await;
    // 512-byte units in some shells, 1024 in others: 1 or 2 MiB.
    let shell = "trap '' XFSZ; ulimit -S -f 2048; exec \"$@\"";
    let (said, exit) = Other::start_under(shell, &fixture.path(), "full").rest().await;
    assert_eq!(exit.code, Some(0), "{said:?}");
    let acked: usize = said[0].strip_prefix("acked ").unwrap().parse().unwrap();
    assert!(acked > 10 && said[1].starts_with("cannot accept"), "{said:?}");
    let read = |more: usize| format!("read {}", acked + 1 + more);
    assert_eq!(said[2..4], ["degraded".to_owned(), read(0)]);
    assert_eq!(said[4..], ["still full".to_owned(), "well".to_owned(), read(1)]);
    sound(&fixture.path());
}

#[tokio::test]
async fn an_input_output_error_before_the_commit_writes_nothing() {
    let fixture = made().await;
    let other = Other::start(&fixture.path(), "fail", "accept.before_commit=error@2");
    let (said, _) = other.rest().await;
    let outcomes = ["ok, well", "not written, degraded", "ok, well", "ok, well", "log kept"];
    assert_eq!(said, outcomes);
    let store = fixture.open().await;
    assert!(!store.accept(keyed(&ada(), "message-1")).await.unwrap().duplicate);
}

/// After a failed sync nobody knows what is on the disk: no `ok`, and the log goes into the
/// database before the next one.
#[tokio::test]
async fn a_failed_sync_is_never_acknowledged() {
    let fixture = made().await;
    let other = Other::start(&fixture.path(), "fail", "accept.after_commit=error@2");
    let (said, _) = other.rest().await;
    let outcomes = ["ok, well", "unknown, degraded", "ok, well", "ok, well", "log moved"];
    assert_eq!(said, outcomes);
    sound(&fixture.path());
}

/// A sync that a message and its turn share, and that fails, acknowledges neither, whichever of the
/// two it is that breaks it.
#[tokio::test]
async fn a_shared_sync_that_fails_acknowledges_neither() {
    for broken in ["accept.after_commit=error@1", "take.after_commit=error@1"] {
        let fixture = made().await;
        let (said, _) = Other::start(&fixture.path(), "fail_together", broken).rest().await;
        assert_eq!(said, ["unknown", "unknown", "ok, well"], "{broken}");
        sound(&fixture.path());
    }
}
