//! Measures the store under many real processes, beside a bare loop in the same layout.
//!
//! `cargo run -p gangline-store --example storage_bench [--json] [--rounds N] [processes]
//! [seconds]`. With `--json` nothing is printed but one line with the cycles a second of every
//! round. Each process makes cycles of two commits (accept a message, cancel it), as fast as it can. The bare loop makes the
//! same statements over one connection with the same lock and the same sync, and nothing else; for
//! one process with 50 producers it puts 50 statements into each commit. Each store holds open
//! questions and waiting reminders, and one more run asks and answers questions.
//! All run in turn (A B A B), so that they share the machine's mood.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement prints and may panic")]

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_core::{
    AgentName, MessageState, Origin, Principal, Tier,
    question::{self, AnswerRule, Choose, OnTimeout, Standing},
    redact::Redacted,
};
use gangline_os::{
    clock::{self, SharedClock},
    lines::{Line, LineReader},
    process::{self, Group, Output, Spawn, Stdin},
    task::TaskGroup,
};
use gangline_store::{
    AskedBy, NewAnswer, NewMessage, NewQuestion, OpenOptions as StoreOptions, Store,
};
use rusqlite::{Connection, params};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match args[..] {
            ["child", how, store, seconds, tag] => {
                child(how, Path::new(store), seconds.parse().unwrap(), tag).await;
            }
            _ => measure(&asked(&args)).await,
        }
    });
}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Json,
}

/// What the measurement is told.
struct Asked {
    form: Form,
    rounds: usize,
    processes: usize,
    seconds: u64,
}

fn asked(args: &[&str]) -> Asked {
    let mut asked = Asked { form: Form::Table, rounds: 2, processes: 50, seconds: 5 };
    let (mut args, mut numbers) = (args.iter(), Vec::new());
    while let Some(arg) = args.next() {
        match *arg {
            "--json" => asked.form = Form::Json,
            "--rounds" => asked.rounds = args.next().unwrap().parse().unwrap(),
            number => numbers.push(number.parse::<u64>().unwrap()),
        }
    }
    asked.processes = numbers.first().map_or(50, |n| usize::try_from(*n).unwrap());
    asked.seconds = numbers.get(1).copied().unwrap_or(5);
    asked
}

/// What one process did.
struct Score {
    micros: Vec<u64>,
}

/// Cycles a second of both sides, one a round.
#[derive(Default)]
struct Rates {
    subject: Vec<f64>,
    anchor: Vec<f64>,
}

impl Rates {
    fn ratio(&self) -> f64 {
        self.subject.iter().sum::<f64>() / self.anchor.iter().sum::<f64>()
    }

    fn json(&self) -> String {
        format!("{{\"subject\":{:?},\"anchor\":{:?}}}", self.subject, self.anchor)
    }
}

async fn measure(asked: &Asked) {
    let folder = tempfile::Builder::new().prefix("gangline-bench").tempdir_in(".").unwrap();
    let &Asked { form, processes, seconds, .. } = asked;
    if form == Form::Table {
        println!("| run | cycles/s | p50 ms | p99 ms | max ms | slowest / fastest process |");
        println!("|---|---|---|---|---|---|");
    }
    let (mut many, mut one, mut alone) = (Rates::default(), Rates::default(), Vec::new());
    let mut asking = Vec::new();
    for round in 1..=asked.rounds {
        let run = async |how: &str, count: usize, label: &str| {
            let name = format!("{count} × {label}, {round}");
            run(folder.path(), how, (count, seconds), (form, &name)).await
        };
        many.anchor.push(run("bare", processes, "bare").await);
        many.subject.push(run("store", processes, "store").await);
        alone.push(run("bare", 1, "bare loop").await);
        one.anchor.push(run("grouped", 1, "bare loop, 50 in a commit").await);
        one.subject.push(run("producers", 1, "store, 50 producers").await);
        asking.push(run("asking", 1, "store, 50 agents that ask").await);
    }
    let (p50, p99) = anchor(folder.path());
    match form {
        Form::Table => {
            let (many, one) = (many.ratio(), one.ratio());
            println!("\nratio of {processes} processes: {many:.2}; of one process: {one:.2}");
            println!("fdatasync of one appended page, p50 / p99: {p50} / {p99} µs");
        }
        Form::Json => println!(
            "{{\"one\":{},\"many\":{},\"alone\":{alone:?},\"asking\":{asking:?},\"fdatasync\":[{p50},{p99}]}}",
            one.json(),
            many.json()
        ),
    }
}

async fn run(
    folder: &Path,
    how: &str,
    (count, seconds): (usize, u64),
    (form, name): (Form, &str),
) -> f64 {
    let store = tempfile::tempdir_in(folder).unwrap();
    let path = store.path().join("gangline.db");
    let store = Store::open(StoreOptions { path: path.clone(), clock: clock::system() });
    let store = store.await.unwrap();
    fill(&path, count);
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
    store.close().await.unwrap();
    report((form, name), &scores, seconds)
}

/// As many questions and reminders as each agent may have open.
const OPEN: i64 = 100;

/// Puts open questions and waiting reminders into a store, those of 50 agents at least.
fn fill(path: &Path, agents: usize) {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    let numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ?2) ";
    let questions = "INSERT INTO questions (installation_id, agent, epoch, target, body, state, \
                     asked_at, expires_at, hops) SELECT 'bench', ?1, 1, 'operator', 'merge?', 'open', \
                     1, 4102444800000000, 0 FROM n";
    let reminders = "INSERT INTO reminders (installation_id, agent, principal, tier, target, body, \
                     due_at, state, created_at) SELECT 'bench', ?1, 'bench', 'agent', '', 'tea', \
                     4102444800000000, 'waiting', 1 FROM n";
    for agent in 0..agents.max(50) {
        // Others than those that ask here, who have their own limit.
        let agent = format!("bench-f{agent}");
        for insert in [questions, reminders] {
            connection.execute(&format!("{numbers}{insert}"), params![agent, OPEN]).unwrap();
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of a short run")]
fn report((form, name): (Form, &str), scores: &[Score], seconds: u64) -> f64 {
    let cycles = |score: &Score| score.micros.len() / 2;
    let mut all: Vec<u64> = scores.iter().flat_map(|score| score.micros.iter().copied()).collect();
    all.sort_unstable();
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize] as f64 / 1000.0;
    let rate = scores.iter().map(cycles).sum::<usize>() as f64 / seconds as f64;
    let least = scores.iter().map(cycles).min().unwrap();
    let most = scores.iter().map(cycles).max().unwrap();
    if form == Form::Json {
        return rate;
    }
    println!(
        "| {name} | {rate:.0} | {:.2} | {:.1} | {:.1} | {least} / {most} |",
        at(0.5),
        at(0.99),
        at(1.0),
    );
    rate
}

/// Microseconds of an appended and synced page, p50 and p99.
fn anchor(folder: &Path) -> (u128, u128) {
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
    (micros[250], micros[495])
}

async fn child(how: &str, path: &Path, seconds: u64, tag: &str) {
    let clock = clock::system();
    let length = Duration::from_secs(seconds);
    let micros = match how {
        "bare" => bare(path, tag, (&clock, length), Batch::One),
        "grouped" => bare(path, tag, (&clock, length), Batch::Fifty),
        "store" => {
            let store = opened(path).await;
            ready();
            through_the_store(&store, tag, (&clock, length), Cycle::Message).await
        }
        "asking" => producers(path, (&clock, length), Cycle::Question).await,
        _ => producers(path, (&clock, length), Cycle::Message).await,
    };
    let words: Vec<String> = micros.iter().map(ToString::to_string).collect();
    println!("{}", words.join(" "));
}

/// Says that all is open, and waits for the start.
fn ready() {
    println!("ready");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

async fn opened(path: &Path) -> Store {
    let options = StoreOptions { path: path.to_owned(), clock: clock::system() };
    Store::open(options).await.unwrap()
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

fn new_question(agent: &AgentName, request: String) -> NewQuestion {
    NewQuestion {
        agent: agent.clone(),
        turn: None,
        request,
        asked: question::Asked::Operator,
        rule: AnswerRule::Humans,
        body: Redacted::from_store("x".repeat(200)),
        options: Vec::new(),
        choose: Choose::One,
        on_timeout: OnTimeout::None,
        expires_at: None,
        in_reply_to: None,
        reply_target: "#bench".to_owned(),
        waits: None,
    }
}

fn answer() -> NewAnswer {
    NewAnswer {
        by: Principal { account: "owner".to_owned(), tier: Tier::Owner },
        known_as: "owner".to_owned(),
        standing: Standing::Decides,
        text: Redacted::from_store("yes".to_owned()),
    }
}

async fn through_the_store(
    store: &Store,
    tag: &str,
    (clock, length): (&SharedClock, Duration),
    cycle: Cycle,
) -> Vec<u64> {
    let agent: AgentName = format!("bench-a{tag}").parse().unwrap();
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
        match cycle {
            Cycle::Message => {
                let id = store.accept(message(&agent, key)).await.unwrap().id;
                lap(&mut micros);
                store.cancel(id, "bench").await.unwrap();
            }
            Cycle::Question => {
                let asked =
                    store.ask(new_question(&agent, key), |_| AskedBy::default()).await.unwrap();
                lap(&mut micros);
                store.answer_question(asked.number, answer()).await.unwrap();
            }
        }
        lap(&mut micros);
    }
    micros
}

/// What two commits make one cycle.
#[derive(Clone, Copy)]
enum Cycle {
    /// Accept a message, cancel it.
    Message,
    /// Ask a question, answer it: a row each for the question and for the message that tells its asker.
    Question,
}

async fn producers(
    path: &Path,
    (clock, length): (&SharedClock, Duration),
    cycle: Cycle,
) -> Vec<u64> {
    let store = opened(path).await;
    ready();
    let (done, mut all) = tokio::sync::mpsc::channel(50);
    let mut tasks = TaskGroup::new("producers");
    for n in 0..50 {
        let (store, clock, done) = (store.clone(), clock.clone(), done.clone());
        tasks.spawn(format!("producer {n}"), async move {
            let micros = through_the_store(&store, &n.to_string(), (&clock, length), cycle).await;
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

/// How many statements the bare loop puts into one commit.
#[derive(Clone, Copy)]
enum Batch {
    One,
    /// As if 50 producers always had one ready: the most that grouping can give.
    Fifty,
}

fn bare(
    path: &Path,
    tag: &str,
    (clock, length): (&SharedClock, Duration),
    batch: Batch,
) -> Vec<u64> {
    use rustix::fs::{FlockOperation, flock};
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    let with = |end: &str| PathBuf::from(format!("{}{end}", path.display()));
    let lock = OpenOptions::new().write(true).open(with(".wlock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
    flock(&lock, FlockOperation::Unlock).unwrap();
    let files = Layout { lock, log: File::open(with("-wal")).unwrap() };
    let size = match batch {
        Batch::One => 1,
        Batch::Fifty => 50,
    };
    ready();
    let begin = clock.monotonic();
    let mut micros = Vec::new();
    let mut from = begin;
    while clock.monotonic() - begin < length {
        let keys = (0..size).map(|n| format!("{tag}-{}-{n}", micros.len()));
        let mut changes: Vec<Change> = keys.map(Change::Insert).collect();
        for _ in 0..2 {
            let ids = commit(&connection, &files, tag, changes);
            changes = ids.into_iter().map(Change::Update).collect();
            let now = clock.monotonic();
            let took = u64::try_from((now - from).as_micros()).unwrap();
            micros.extend(std::iter::repeat_n(took, size));
            from = now;
        }
    }
    connection.close().unwrap();
    micros
}

/// One statement of a cycle.
enum Change {
    Insert(String),
    Update(i64),
}

fn commit(connection: &Connection, files: &Layout, tag: &str, changes: Vec<Change>) -> Vec<i64> {
    use rustix::fs::{FlockOperation, flock};
    let mut ids = Vec::new();
    flock(&files.lock, FlockOperation::LockExclusive).unwrap();
    connection.prepare_cached("BEGIN IMMEDIATE").unwrap().execute([]).unwrap();
    for change in changes {
        match change {
            Change::Update(id) => {
                connection.prepare_cached(UPDATE).unwrap().execute([id]).unwrap();
            }
            Change::Insert(key) => {
                let with = params![tag, key, "x".repeat(200)];
                connection.prepare_cached(INSERT).unwrap().execute(with).unwrap();
            }
        }
        ids.push(connection.last_insert_rowid());
    }
    connection.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
    flock(&files.lock, FlockOperation::Unlock).unwrap();
    files.log.sync_data().unwrap();
    ids
}
