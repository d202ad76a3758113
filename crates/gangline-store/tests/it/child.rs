//! Children: this test binary once more, as another process that uses the same store.

use std::{ffi::OsString, path::Path, sync::Arc, time::Duration};

use gangline_core::MessageState;
use gangline_os::{
    clock::{self, UnixMicros},
    exit::Exit,
    lines::{Line, LineReader},
    process::{self, Child, ChildStdout, Group, Output, Spawn, Stdin},
};
use gangline_store::{AgentUpdate, Entry, MessageRow, OpenOptions, Store, Tuning};
use tokio::sync::Notify;

use crate::support::*;

mod life;

pub(crate) use life::LIFE;
use life::life;

const ROLE: &str = "GANGLINE_TEST_ROLE";
const STORE: &str = "GANGLINE_TEST_STORE";
/// Before a line that is meant for the parent.
const MARK: &str = "@ ";

/// The child's `main`; in the parent's own run it has nothing to do.
#[tokio::test]
async fn entry() {
    let (Ok(role), Ok(fixture)) = (std::env::var(ROLE), std::env::var(STORE)) else { return };
    let path = Path::new(&fixture);
    let words: Vec<&str> = role.split(' ').collect();
    match words[..] {
        ["write", tag, count] => write(path, tag, count.parse().unwrap()).await,
        ["follow", tag, count] => follow(path, tag, count.parse().unwrap()).await,
        ["together", count] => together(path, count.parse().unwrap()).await,
        ["life"] => life(path).await,
        ["fail"] => fail(path).await,
        ["fail_together"] => fail_together(path).await,
        ["full"] => full(path).await,
        ["hold"] => hold(path).await,
        ["exceed"] => exceed(path).await,
        ["look"] => say(Store::look(options(path)).unwrap()),
        _ => panic!("unknown role {role}"),
    }
}

fn say(text: impl std::fmt::Display) {
    println!("{MARK}{text}");
}

/// A running child and what it says.
pub(crate) struct Other {
    pub(crate) child: Child,
    lines: LineReader<ChildStdout>,
}

impl Other {
    pub(crate) fn start(fixture: &Path, role: &str, failpoints: &str) -> Self {
        let exe = std::env::current_exe().unwrap();
        Self::start_as(exe.into_os_string(), vec![], fixture, (role, failpoints))
    }

    /// Starts the child below a shell command that ends in `exec "$@"`.
    pub(crate) fn start_under(shell: &str, fixture: &Path, role: &str) -> Self {
        let exe = std::env::current_exe().unwrap().into_os_string();
        let args = vec!["-c".into(), shell.into(), "sh".into(), exe];
        Self::start_as("sh".into(), args, fixture, (role, ""))
    }

    /// Starts the child below another program.
    pub(crate) fn start_traced(tracer: &str, args: &[&str], fixture: &Path, role: &str) -> Self {
        let mut args: Vec<OsString> = args.iter().map(Into::into).collect();
        args.push(std::env::current_exe().unwrap().into());
        Self::start_as(tracer.into(), args, fixture, (role, ""))
    }

    fn start_as(
        program: OsString,
        mut args: Vec<OsString>,
        fixture: &Path,
        (role, failpoints): (&str, &str),
    ) -> Self {
        for arg in ["child::entry", "--exact", "--nocapture", "--test-threads=1"] {
            args.push(arg.into());
        }
        let mut env = process::base_env();
        env.push((ROLE.into(), role.into()));
        env.push((STORE.into(), fixture.into()));
        env.push(("GANGLINE_FAILPOINTS".into(), failpoints.into()));
        let mut child = process::spawn(Spawn {
            program: program.into(),
            args,
            cwd: std::env::temp_dir(),
            env,
            stdin: Stdin::Null,
            stdout: Output::Piped,
            stderr: Output::Inherit,
            group: Group::New,
        })
        .unwrap();
        let lines = LineReader::new(child.take_stdout().unwrap(), 4096);
        Self { child, lines }
    }

    /// Returns the next thing it says; none when it has ended.
    pub(crate) async fn said(&mut self) -> Option<String> {
        while let Some(line) = self.lines.next().await.unwrap() {
            let text = match line {
                Line::Text(text) => text.to_string(),
                Line::Oversize { kept, .. } => kept,
            };
            // libtest prints the test's name without a line's end.
            if let Some((_, said)) = text.split_once(MARK) {
                return Some(said.to_owned());
            }
        }
        None
    }

    /// Returns all it still says, and how it ends.
    pub(crate) async fn rest(mut self) -> (Vec<String>, Exit) {
        let mut all = Vec::new();
        while let Some(said) = self.said().await {
            all.push(said);
        }
        (all, self.child.wait().await.unwrap())
    }
}

/// Accepts messages `<tag>-0` … and says each key after its `ok`.
async fn write(path: &Path, tag: &str, count: usize) {
    let store = open(path).await;
    for n in 0..count {
        let key = format!("{tag}-{n}");
        assert!(!store.accept(keyed(&ada(), &key)).await.unwrap().duplicate);
        say(key);
    }
    store.close().await.unwrap();
}

/// Wakes the caller, for a row that was there before too.
fn wake(woken: &Arc<Notify>) -> impl FnOnce(Option<MessageRow>) + Send + 'static {
    let woken = Arc::clone(woken);
    move |_| woken.notify_one()
}

/// Accepts messages, and takes each as soon as it is committed.
async fn follow(path: &Path, tag: &str, count: i64) {
    let options = OpenOptions { path: path.to_owned(), clock: clock::system() };
    let tuning = Tuning { followed_within: Duration::from_secs(20), ..Tuning::default() };
    let store = Store::open_tuned(options, tuning).await.unwrap();
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let woken = Arc::new(Notify::new());
    for n in 1..=count {
        let key = format!("{tag}-{n}");
        let accepted = store.accept_and_notify(keyed(&ada(), &key), wake(&woken));
        let taken = async {
            woken.notified().await;
            let waiting = store.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap();
            let ids: Vec<_> = waiting.iter().map(|row| row.id).collect();
            store.take(take(&ada(), turn(epoch, n), &ids)).await.unwrap()
        };
        let (accepted, taken) = tokio::join!(accepted, taken);
        assert_eq!(taken.attempts, [(accepted.unwrap().id, 1)]);
        say(key);
    }
    store.close().await.unwrap();
}

/// Takes messages into turns, and ends each together with what was used and is to be known of it.
async fn together(path: &Path, count: i64) {
    let store = open(path).await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    for n in 1..=count {
        let id = store.accept(keyed(&ada(), "first")).await.unwrap().id;
        store.take(take(&ada(), turn(epoch, n), &[id])).await.unwrap();
        say(format!("taken {n}"));
        let session = Some(Some("session".to_owned()));
        let written = store.together(vec![
            Entry::Usage(usage(Some(turn(epoch, n)))),
            Entry::End(end(&ada(), turn(epoch, n), vec![settle(id, MessageState::Accepted)])),
            Entry::Send(Box::new(send(&ada(), "k", &["one", "two"]))),
            Entry::Agent(ada(), epoch, AgentUpdate { session, ..AgentUpdate::default() }),
        ]);
        assert!(written.await.unwrap().iter().all(Result::is_ok));
        say(format!("ended {n}"));
    }
    store.close().await.unwrap();
}

/// Takes what waits into a second turn, though its cause may have one only.
async fn exceed(path: &Path) {
    let store = open(path).await;
    let epoch = store.agent(&ada()).await.unwrap().unwrap().epoch;
    let waiting = store.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap();
    let ids: Vec<_> = waiting.iter().map(|row| row.id).collect();
    store.take(limited(take(&ada(), turn(epoch, 2), &ids), 1)).await.unwrap();
}

/// Writes four messages one after the other, saying how each ended and how the store is.
async fn fail(path: &Path) {
    let store = open(path).await;
    let mut sizes = Vec::new();
    for n in 0..4 {
        let outcome = outcome(&store, &format!("message-{n}")).await;
        sizes.push(std::fs::metadata(path.with_extension("db-wal")).unwrap().len());
        say(outcome);
    }
    say(if sizes[2] < sizes[1] { "log moved" } else { "log kept" });
    store.close().await.unwrap();
}

/// Takes a message as soon as it is committed, then writes one more.
async fn fail_together(path: &Path) {
    let options = OpenOptions { path: path.to_owned(), clock: clock::system() };
    let tuning = Tuning { followed_within: Duration::from_secs(20), ..Tuning::default() };
    let store = Store::open_tuned(options, tuning).await.unwrap();
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let woken = Arc::new(Notify::new());
    let accepted = store.accept_and_notify(keyed(&ada(), "first"), wake(&woken));
    let taken = async {
        woken.notified().await;
        let waiting = store.pending(&ada(), UnixMicros(i64::MAX), 9).await.unwrap();
        let ids: Vec<_> = waiting.iter().map(|row| row.id).collect();
        store.take(take(&ada(), turn(epoch, 1), &ids)).await
    };
    let (accepted, taken) = tokio::join!(accepted, taken);
    say(word(&accepted));
    say(word(&taken));
    say(outcome(&store, "second").await);
    store.close().await.unwrap();
}

async fn outcome(store: &Store, key: &str) -> String {
    let result = word(&store.accept(keyed(&ada(), key)).await);
    let well = if store.health().degraded.is_some() { "degraded" } else { "well" };
    format!("{result}, {well}")
}

fn word<T>(result: &Result<T, gangline_store::StoreError>) -> &'static str {
    use gangline_store::{StoreError, Written};
    match result {
        Ok(_) => "ok",
        Err(StoreError::Degraded { written: Written::No, .. }) => "not written",
        Err(StoreError::Degraded { written: Written::Unknown, .. }) => "unknown",
        Err(_) => "another error",
    }
}

/// Writes until the disk is full, then gets more room and goes on. The disk is the file size
/// limit that a shell above has set.
async fn full(path: &Path) {
    use nix::sys::resource::{RLIM_INFINITY, Resource, setrlimit};
    let store = open(path).await;
    let mut acked = 0;
    let mut fat = keyed(&ada(), "x");
    fat.body = text(&"x".repeat(20_000));
    let error = loop {
        fat.intake_key = Some(format!("fat-{acked}"));
        match store.accept(fat.clone()).await {
            Ok(_) => acked += 1,
            Err(error) => break error,
        }
    };
    say(format!("acked {acked}"));
    say(format!("{error}"));
    say(if store.health().degraded.is_some() { "degraded" } else { "well" });
    say(format!("read {}", store.messages(Default::default(), 500).await.unwrap().len()));
    say(if store.accept(fat.clone()).await.is_err() { "still full" } else { "room" });
    setrlimit(Resource::RLIMIT_FSIZE, RLIM_INFINITY, RLIM_INFINITY).unwrap();
    store.probe().await.unwrap();
    say(if store.health().degraded.is_some() { "degraded" } else { "well" });
    store.accept(fat).await.unwrap();
    say(format!("read {}", store.messages(Default::default(), 500).await.unwrap().len()));
    store.close().await.unwrap();
}

/// Takes the write lock as a writer does, and keeps it.
async fn hold(path: &Path) {
    let name = path.with_extension("db.wlock");
    let file = std::fs::OpenOptions::new().write(true).open(name).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let note = format!("{:32}", format!("process {}", std::process::id()));
    std::os::unix::fs::FileExt::write_all_at(&file, note.as_bytes(), 0).unwrap();
    say("held");
    std::future::pending().await
}
