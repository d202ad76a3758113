//! Measures the store under many real processes, beside a bare loop in the same layout.
//!
//! `cargo run -p gangline-broker --example storage_bench [processes] [seconds]`. Each process makes
//! cycles of two commits (accept a message, cancel it), as fast as it can. The bare loop makes the
//! same statements over one connection with the same lock and the same sync, and nothing else.
//! Both run in turn (A B A B), so that they share the machine's mood.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement prints and may panic")]

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_broker::{Broker, NewMessage, OpenOptions as StoreOptions};
use gangline_core::{AgentName, MessageState, Origin, Principal, Tier, redact::Redacted};
use gangline_os::{
    clock::{self, SharedClock},
    lines::{Line, LineReader},
    process::{self, Group, Output, Spawn, Stdin},
    task::TaskGroup,
};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match args[..] {
            ["child", how, store, seconds, tag] => {
                child(how, Path::new(store), seconds.parse().unwrap(), tag).await;
            }
            [] => measure(50, 5).await,
            [processes] => measure(processes.parse().unwrap(), 5).await,
            [processes, seconds, ..] => {
                measure(processes.parse().unwrap(), seconds.parse().unwrap()).await;
            }
        }
    });
}

/// What one process did.
struct Score {
    micros: Vec<u64>,
}

async fn measure(processes: usize, seconds: u64) {
    let folder = tempfile::Builder::new().prefix("gangline-bench").tempdir_in(".").unwrap();
    println!("| run | cycles/s | p50 ms | p99 ms | max ms | slowest / fastest process |");
    println!("|---|---|---|---|---|---|");
    let mut rates = Vec::new();
    for round in 1..=2 {
        for how in ["bare", "store"] {
            let name = format!("{processes} × {how}, {round}");
            rates.push((how, run(folder.path(), how, (processes, seconds), &name).await));
        }
    }
    let many = ratio(&rates);
    let mut rates = Vec::new();
    for round in 1..=2 {
        for (how, label) in [("bare", "1 × bare loop"), ("producers", "1 × store, 50 producers")]
        {
            let name = format!("{label}, {round}");
            rates.push((how, run(folder.path(), how, (1, seconds), &name).await));
        }
    }
    println!("\nratio of {processes} processes: {many:.2}; of one process: {:.2}", ratio(&rates));
    println!("fdatasync of one appended page, p50 / p99: {}", anchor(folder.path()));
}

fn ratio(rates: &[(&str, f64)]) -> f64 {
    let sum = |bare: bool| -> f64 {
        rates.iter().filter(|(how, _)| (*how == "bare") == bare).map(|(_, rate)| rate).sum()
    };
    sum(false) / sum(true)
}

async fn run(folder: &Path, how: &str, (count, seconds): (usize, u64), name: &str) -> f64 {
    let store = tempfile::tempdir_in(folder).unwrap();
    let path = store.path().join("gangline.db");
    let broker = Broker::open(StoreOptions { path: path.clone(), clock: clock::system() });
    let broker = broker.await.unwrap();
    let mut children = Vec::new();
    for n in 0..count {
        let mut child = process::spawn(Spawn {
            program: std::env::current_exe().unwrap(),
            args: ["child", how, path.to_str().unwrap(), &seconds.to_string(), &n.to_string()]
                .map(Into::into)
                .to_vec(),
            cwd: PathBuf::from("/"),
            env: process::base_env(),
            stdin: Stdin::Piped,
            stdout: Output::Piped,
            stderr: Output::Inherit,
            group: Group::New,
        })
        .unwrap();
        let mut lines = LineReader::new(child.take_stdout().unwrap(), 64 << 20);
        assert!(matches!(lines.next().await.unwrap(), Some(Line::Text(_))));
        children.push((child, lines));
    }
    for (child, _) in &mut children {
        // Closing the pipe is the starting shot.
        drop(child.take_stdin());
    }
    let mut scores = Vec::new();
    for (_, lines) in &mut children {
        let Some(Line::Text(text)) = lines.next().await.unwrap() else { panic!("no score") };
        let micros = text.split(' ').map(|word| word.parse().unwrap()).collect();
        scores.push(Score { micros });
    }
    broker.close().await.unwrap();
    report(name, &scores, seconds)
}

#[allow(clippy::cast_precision_loss, reason = "counts of a short run")]
fn report(name: &str, scores: &[Score], seconds: u64) -> f64 {
    let cycles = |score: &Score| score.micros.len() / 2;
    let mut all: Vec<u64> = scores.iter().flat_map(|score| score.micros.iter().copied()).collect();
    all.sort_unstable();
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize] as f64 / 1000.0;
    let rate = scores.iter().map(cycles).sum::<usize>() as f64 / seconds as f64;
    let least = scores.iter().map(cycles).min().unwrap();
    let most = scores.iter().map(cycles).max().unwrap();
    println!(
        "| {name} | {rate:.0} | {:.2} | {:.1} | {:.1} | {least} / {most} |",
        at(0.5),
        at(0.99),
        at(1.0),
    );
    rate
}

fn anchor(folder: &Path) -> String {
    let clock = clock::system();
    let mut file = File::create(folder.join("anchor")).unwrap();
    let mut micros: Vec<u128> = (0..500)
        .map(|_| {
            let from = clock.monotonic();
            file.write_all(&[7; 4096]).unwrap();
            file.sync_data().unwrap();
            (clock.monotonic() - from).as_micros()
        })
        .collect();
    micros.sort_unstable();
    format!("{} / {} µs", micros[250], micros[495])
}

async fn child(how: &str, path: &Path, seconds: u64, tag: &str) {
    let clock = clock::system();
    let length = Duration::from_secs(seconds);
    let micros = match how {
        "bare" => bare(path, tag, (&clock, length)).await,
        "store" => store(&opened(path).await, tag, (&clock, length), true).await,
        _ => producers(path, (&clock, length)).await,
    };
    let words: Vec<String> = micros.iter().map(ToString::to_string).collect();
    println!("{}", words.join(" "));
}

/// Says that all is open, and waits for the start.
fn ready() {
    println!("ready");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

async fn opened(path: &Path) -> Broker {
    let options = StoreOptions { path: path.to_owned(), clock: clock::system() };
    Broker::open(options).await.unwrap()
}

fn message(agent: &AgentName, key: String) -> NewMessage {
    NewMessage {
        agent: agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(key),
        origin: Origin::Direct,
        principal: Principal { account: "owner".to_owned(), tier: Tier::Owner },
        sender: "owner".to_owned(),
        target: "owner".to_owned(),
        body: Redacted::from_store("x".repeat(200)),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

async fn store(
    broker: &Broker,
    tag: &str,
    (clock, length): (&SharedClock, Duration),
    wait: bool,
) -> Vec<u64> {
    let agent: AgentName = format!("bench-a{tag}").parse().unwrap();
    if wait {
        ready();
    }
    let begin = clock.monotonic();
    let mut micros = Vec::new();
    let mut from = begin;
    let mut lap = |micros: &mut Vec<u64>| {
        let now = clock.monotonic();
        micros.push(u64::try_from((now - from).as_micros()).unwrap());
        from = now;
    };
    while clock.monotonic() - begin < length {
        let key = format!("{tag}-{}", micros.len());
        let id = broker.accept(message(&agent, key)).await.unwrap().id;
        lap(&mut micros);
        broker.cancel(id, "bench").await.unwrap();
        lap(&mut micros);
    }
    micros
}

async fn producers(path: &Path, (clock, length): (&SharedClock, Duration)) -> Vec<u64> {
    let broker = opened(path).await;
    ready();
    let (done, mut all) = tokio::sync::mpsc::channel(50);
    let mut tasks = TaskGroup::new("producers");
    for n in 0..50 {
        let (broker, clock, done) = (broker.clone(), clock.clone(), done.clone());
        tasks.spawn(format!("producer {n}"), async move {
            let micros = store(&broker, &n.to_string(), (&clock, length), false).await;
            done.send(micros).await.unwrap();
        });
    }
    drop(done);
    let mut micros = Vec::new();
    while let Some(more) = all.recv().await {
        micros.extend(more);
    }
    micros
}

const INSERT: &str = "INSERT INTO messages (installation_id, agent, network_id, intake_key, \
                      origin, principal, tier, sender, target, body, hops, state, accepted_at) \
                      VALUES ('bench', ?, 'local', ?, 'direct', 'owner', 'owner', 'owner', \
                      'owner', ?, 0, 'accepted', 1)";
const UPDATE: &str = "UPDATE messages SET state = 'cancelled', reason = 'bench', settled_at = 1 \
                      WHERE id = ? AND state IN ('accepted', 'held')";

/// The files of the layout: the write lock and the log.
struct Layout {
    lock: File,
    log: File,
}

async fn bare(path: &Path, tag: &str, (clock, length): (&SharedClock, Duration)) -> Vec<u64> {
    use rustix::fs::{FlockOperation, flock};
    let mut connection = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(5))
        .synchronous(sqlx::sqlite::SqliteSynchronous::Normal)
        .pragma("wal_autocheckpoint", "0")
        .connect()
        .await
        .unwrap();
    let with = |end: &str| PathBuf::from(format!("{}{end}", path.display()));
    let lock = OpenOptions::new().write(true).open(with(".wlock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE; COMMIT").execute(&mut connection).await.unwrap();
    flock(&lock, FlockOperation::Unlock).unwrap();
    let files = Layout { lock, log: File::open(with("-wal")).unwrap() };
    ready();
    let begin = clock.monotonic();
    let mut micros = Vec::new();
    let mut from = begin;
    while clock.monotonic() - begin < length {
        let key = format!("{tag}-{}", micros.len());
        let mut id = None;
        for _ in 0..2 {
            id = Some(commit(&mut connection, &files, (tag, &key), id).await);
            let now = clock.monotonic();
            micros.push(u64::try_from((now - from).as_micros()).unwrap());
            from = now;
        }
    }
    connection.close().await.unwrap();
    micros
}

async fn commit(
    connection: &mut SqliteConnection,
    files: &Layout,
    (tag, key): (&str, &str),
    id: Option<i64>,
) -> i64 {
    use rustix::fs::{FlockOperation, flock};
    flock(&files.lock, FlockOperation::LockExclusive).unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await.unwrap();
    let statement = match id {
        Some(id) => sqlx::query(UPDATE).bind(id),
        None => sqlx::query(INSERT).bind(tag).bind(key).bind("x".repeat(200)),
    };
    let done = statement.execute(&mut *connection).await.unwrap();
    sqlx::query("COMMIT").execute(&mut *connection).await.unwrap();
    flock(&files.lock, FlockOperation::Unlock).unwrap();
    files.log.sync_data().unwrap();
    done.last_insert_rowid()
}
