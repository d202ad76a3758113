//! Children: this test binary once more, as another process that uses the same store.

use std::{ffi::OsString, path::Path, sync::Arc, time::Duration};

use gangline_core::{
    Epoch, MessageId, MessageState, alert::DeliveryState, approval::Decision, finding::ChoiceWord,
    hook::WebhookEvent, whisper::WhisperRoad,
};
use gangline_os::{
    clock::{self, UnixMicros},
    exit::Exit,
    lines::{Line, LineReader},
    process::{self, Child, ChildStdout, Group, Output, Spawn, Stdin},
};
use gangline_store::{
    AgentUpdate, Applied, AskedBy, ChangeState, ChangeStep, ChangeTold, DeliveryEnd, Entry, Firing,
    MessageRow, NewAlert, NewDelivery, NewEvent, NewFinding, NewQuestion, OpenApproval,
    OpenOptions, Said, SentAs, Store, Tuning, Waited,
};
use tokio::sync::Notify;

use crate::support::*;

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

/// The writes of [`life`], in order.
pub(crate) const LIFE: &[&str] = &[
    "begin_epoch",
    "set_agent",
    "pause",
    "order",
    "accept",
    "move_cursor",
    "cancel",
    "put_account",
    "probe",
    "take",
    "send",
    "mark_sent",
    "confirm",
    "undeliverable",
    "may_be_doubled",
    "append",
    "open_approval",
    "withdraw_approval",
    "decide",
    "mark_delivered",
    "void_older",
    "end_turn",
    "release",
    "end_cause",
    "add_usage",
    "relayed",
    "raise_budget",
    "hold_fleet",
    "remove_rule",
    "ask",
    "answer",
    "cancel_question",
    "expire_questions",
    "stop_waiting",
    "remind",
    "fire_reminder",
    "remove_reminder",
    "send_letter",
    "read_letters",
    "settle_letter",
    "raise_finding",
    "see_finding",
    "resolve_finding",
    "decide_finding",
    "retry",
    "whisper",
    "whispers_delivered",
    "wake",
    "note_restart",
    "add_token",
    "use_token",
    "revoke_token",
    "applied",
    "request_change",
    "decide_change",
    "step_change",
    "alert",
    "tell_alert",
    "claim_delivery",
    "end_delivery",
];

/// Does every kind of write once, and says its name after its `ok`.
async fn life(path: &Path) {
    let store = open(path).await;
    let epoch = first_half(&store).await;
    second_half(&store, epoch).await;
    what_waits_for_people(&store).await;
    store.close().await.unwrap();
}

async fn first_half(store: &Store) -> Epoch {
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    say("begin_epoch");
    let session = Some(Some("session".to_owned()));
    let update = AgentUpdate { session, ..AgentUpdate::default() };
    alone(store, Entry::Agent(ada(), epoch, update)).await.unwrap();
    say("set_agent");
    store.pause(&ada()).await.unwrap();
    say("pause");
    store.order(&ada(), gangline_store::Desired::Down, "otto").await.unwrap();
    say("order");
    let id = store.accept(keyed(&ada(), "first")).await.unwrap().id;
    say("accept");
    store.move_cursor(&ada(), "local", "#room", "1").await.unwrap();
    say("move_cursor");
    let other = store.accept(keyed(&ada(), "second")).await.unwrap().id;
    store.cancel(other, "otto").await.unwrap();
    say("cancel");
    store.put_account(owner()).await.unwrap();
    say("put_account");
    store.probe().await.unwrap();
    say("probe");
    store.take(take(&ada(), turn(epoch, 1), &[id])).await.unwrap();
    say("take");
    let lines = store.send(send(&ada(), "k", &["one", "two"])).await.unwrap().outbox;
    say("send");
    store.mark_sent(&lines, SentAs::Lines).await.unwrap();
    say("mark_sent");
    store.confirm(&[lines[0]], Said::default()).await.unwrap();
    say("confirm");
    store.undeliverable(&[lines[1]], "403").await.unwrap();
    say("undeliverable");
    store.may_be_doubled(lines[0]).await.unwrap();
    say("may_be_doubled");
    epoch
}

async fn second_half(store: &Store, epoch: Epoch) {
    let turn = turn(epoch, 1);
    let note = NewEvent {
        agent: ada(),
        epoch: None,
        turn: Some(turn),
        kind: "note".to_owned(),
        payload: text("{}"),
    };
    store.append(vec![note]).await.unwrap();
    say("append");
    let id = store.messages(Default::default(), 9).await.unwrap()[1].id;
    let announce = Some(announce(&ada(), "key", "#general"));
    let announced = OpenApproval { announce, ..ask(&ada(), turn, id) };
    let number = store.open_approval(announced).await.unwrap().number;
    say("open_approval");
    let (request, args_hash) = ("back".to_owned(), "another".to_owned());
    let back = OpenApproval { request, args_hash, ..ask(&ada(), turn, id) };
    store.open_approval(back).await.unwrap();
    store.withdraw_approval(withdraw(&ada(), turn, "back")).await.unwrap();
    say("withdraw_approval");
    store.decide(number, rules(Decision::Allow)).await.unwrap();
    say("decide");
    alone(store, Entry::Delivered(number)).await.unwrap();
    say("mark_delivered");
    let second = OpenApproval { request: "second".to_owned(), ..ask(&ada(), turn, id) };
    store.open_approval(second).await.unwrap();
    let next = store.begin_epoch(&ada(), (2, ""), claude()).await.unwrap().epoch;
    store.void_older(&ada(), next).await.unwrap();
    say("void_older");
    let held = settle(id, MessageState::Held);
    store.end_turn(end(&ada(), turn, vec![held])).await.unwrap();
    say("end_turn");
    store.release(id, 30).await.unwrap();
    say("release");
    store.end_cause(id, "otto").await.unwrap();
    say("end_cause");
    store.add_usage(usage(None)).await.unwrap();
    say("add_usage");
    budgets(store).await;
    // There is none: the write is one all the same.
    assert_eq!(store.remove_rule(1).await.unwrap(), None);
    say("remove_rule");
}

async fn what_is_found(store: &Store) {
    let found = store.raise_finding(silent(&ada(), "first")).await.unwrap().number;
    say("raise_finding");
    store.see_finding(found, "otto").await.unwrap();
    say("see_finding");
    store.resolve_finding(&ada(), "silent_turn").await.unwrap();
    say("resolve_finding");
    let found = store.raise_finding(silent(&ada(), "second")).await.unwrap().number;
    store.decide_finding(found, ChoiceWord::Abort, "otto").await.unwrap();
    say("decide_finding");
    let dead = NewFinding { key: "dead_letter/m1".to_owned(), ..silent(&ada(), "third") };
    store.raise_finding(dead).await.unwrap();
    store.retry(MessageId(1), "otto").await.unwrap();
    say("retry");
}

async fn what_is_whispered(store: &Store) {
    let whisper = store.whisper(whisper("ask #help")).await.unwrap();
    say("whisper");
    alone(store, Entry::WhispersDelivered(delivered(&[whisper], WhisperRoad::Hook))).await.unwrap();
    say("whispers_delivered");
}

async fn budgets(store: &Store) {
    store.relayed(relayed(None, 7)).await.unwrap();
    say("relayed");
    store.raise_budget(raise("day", "5k")).await.unwrap();
    say("raise_budget");
    assert!(store.hold_fleet("too much", None).await.unwrap());
    say("hold_fleet");
}

async fn what_waits_for_people(store: &Store) {
    let asked = |request: &str| store.ask(question(&ada(), request), |_| AskedBy::default());
    let first = asked("first").await.unwrap().number;
    say("ask");
    store.answer_question(first, answer("yes")).await.unwrap();
    say("answer");
    let second = asked("second").await.unwrap().number;
    store.cancel_question(second, owner()).await.unwrap();
    say("cancel_question");
    asked("third").await.unwrap();
    assert_eq!(store.expire_questions(&ada(), UnixMicros(i64::MAX)).await.unwrap().len(), 1);
    say("expire_questions");
    let waited = NewQuestion { waits: Some(Epoch(1)), ..question(&ada(), "waited") };
    let waited = store.ask(waited, |_| AskedBy::default()).await.unwrap().number;
    store.answer_question(waited, answer("yes")).await.unwrap();
    store.stop_waiting(&ada(), Waited::Before(Epoch(2))).await.unwrap();
    say("stop_waiting");
    let made = store.remind(reminder(&ada(), "first", 1)).await.unwrap();
    say("remind");
    let firing = Firing { id: made.id, due_at: made.due_at, body: text("tea"), next: None };
    store.fire_reminder(&ada(), firing).await.unwrap();
    say("fire_reminder");
    let other = store.remind(reminder(&ada(), "second", 1)).await.unwrap().id;
    store.remove_reminder(other).await.unwrap();
    say("remove_reminder");
    let letter = store.send_letter(letter(&ada(), "first")).await.unwrap();
    say("send_letter");
    store.read_letters(vec![letter]).await.unwrap();
    say("read_letters");
    store.settle_letter(letter, "otto".to_owned(), None).await.unwrap();
    say("settle_letter");
    what_is_found(store).await;
    what_is_whispered(store).await;
    store.wake(wake_of(&ada(), "matrix", Some("first"))).await.unwrap();
    say("wake");
    let epoch = store.agent(&ada()).await.unwrap().unwrap().epoch;
    store.note_restart(&ada(), epoch, Some(text("you were restarted"))).await.unwrap();
    say("note_restart");
    let token = store.add_token(token(&ada(), "hash")).await.unwrap().id;
    say("add_token");
    store.use_token(token).await.unwrap();
    say("use_token");
    store.revoke_token(token).await.unwrap();
    say("revoke_token");
    let mark = "0f".to_owned();
    store.record_applied(Applied { agent: ada(), epoch, mark }).await.unwrap();
    say("applied");
    let asked = store.request_change(new_change(turn(epoch, 1)), |_| ChangeTold::default());
    let change = asked.await.unwrap().number;
    say("request_change");
    store.decide_change(change, rules(Decision::Allow)).await.unwrap();
    say("decide_change");
    let (from, to) = (ChangeState::Approved, ChangeState::Applied);
    let outcome = Some(text("it is up"));
    let step = ChangeStep { from, to, commit: None, before: None, epoch: None, outcome };
    assert!(store.step_change(change, step).await.unwrap());
    say("step_change");
    alerts(store).await;
}

async fn alerts(store: &Store) {
    let (late, event) = (UnixMicros(i64::MAX), WebhookEvent::AgentError);
    let said = text("it crashed");
    let new = NewAlert::new(ada(), event, said.clone());
    store.alert(new).await.unwrap();
    say("alert");
    // Findings have raised others.
    let due = store.alerts_due(None, late).await.unwrap();
    let seen = due.into_iter().find(|row| row.text == said).unwrap();
    let delivery = NewDelivery { target: "url".to_owned(), text: said, at: UnixMicros(1) };
    assert!(store.tell_alert(seen, vec![delivery], None).await.unwrap());
    say("tell_alert");
    let seen = store.deliveries_due(None, late).await.unwrap().remove(0);
    let claimed = store.claim_delivery(seen, "test").await.unwrap().unwrap();
    say("claim_delivery");
    let over = DeliveryEnd::Over(DeliveryState::Delivered, None);
    assert!(store.end_delivery(claimed, over).await.unwrap());
    say("end_delivery");
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
