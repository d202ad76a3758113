//! Who may use which of a manager's tools, whatever a backend calls, and what is refused before anybody is
//! asked. A real store, a real configuration, a real repository.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangline_api::status::WaitingFor;
use gangline_config::Role;
use gangline_core::{
    AgentName, Epoch, MessageId, MessageState, Origin, Principal, Tier, TurnId,
    agent::{Agent, AgentOptions},
    approval::Decision,
    outcome::OutcomeWord,
    redact::{Redacted, Redactor},
};
use gangline_os::{
    clock,
    lock::FileLock,
    paths::Paths,
    process::{Group, Output, Spawn, Stdin, base_env, spawn},
};
use gangline_runtime::{ToolCall, ToolHost as _};
use gangline_store::{
    ChangeRow, EndTurn, NewEvent, NewMessage, OpenOptions, Ruling, Settle, Store, Take, Whose,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    asking::Asker,
    carrying::Waiting,
    showing::Showing,
    speech::{Speaker, TurnContext},
    status::Around,
    tools::{About, AgentTools},
    whereabouts::Whereabouts,
};

pub(crate) const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };

fn name(nick: &str) -> AgentName {
    nick.parse().unwrap()
}

/// The tools of `oak-ada`, whose colleague is `oak-bob`; a hub seems to run.
struct Rig {
    tools: AgentTools,
    folder: TempDir,
    calls: u32,
    _hub: FileLock,
}

impl Rig {
    async fn open(role: Role) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().to_owned();
        let paths = Paths {
            config_file: at.join("fleet/agents.yaml"),
            state: at.join("state"),
            runtime: at.join("run"),
        };
        for made in ["fleet", "state", "run"] {
            fs::create_dir(at.join(made)).unwrap();
        }
        fs::write(&paths.config_file, configuration(&at, "")).unwrap();
        let path = paths.database();
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        for agent in [name("oak-ada"), name("oak-bob")] {
            let whose = Whose { runtime: "native", configured: "native" };
            store.begin_epoch(&agent, (1, "test"), whose).await.unwrap();
        }
        let take = Take {
            agent: name("oak-ada"),
            turn: TURN,
            messages: Vec::new(),
            prompt_uuid: "u".to_owned(),
            how: gangline_store::How::Woke,
            turns_per_cause: 30,
        };
        store.take(take).await.unwrap();
        let _hub = FileLock::try_take(&paths.hub_lock(), "gangline hub").unwrap();
        Self { tools: tools(name("oak-ada"), role, store, paths), folder, calls: 0, _hub }
    }

    /// Puts the configuration into a repository.
    async fn with_repository(self) -> Self {
        self.git(&["init", "-q", "-b", "main"]).await;
        self.git(&["add", "."]).await;
        self.git(&["commit", "-q", "-m", "first"]).await;
        self
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("fleet/agents.yaml")
    }

    async fn git(&self, args: &[&str]) {
        let mut all = vec!["-c", "user.name=ori", "-c", "user.email=ori@localhost"];
        all.extend(args);
        let child = Spawn {
            program: "git".into(),
            args: all.into_iter().map(Into::into).collect(),
            cwd: self.folder.path().join("fleet"),
            env: base_env().into_iter().collect(),
            stdin: Stdin::Null,
            stdout: Output::Null,
            stderr: Output::Null,
            group: Group::New,
        };
        let exit = spawn(child).unwrap().wait().await.unwrap();
        assert!(exit.success(), "git {args:?}");
    }

    /// Commits this configuration on a branch of its own, behind what is checked out or `from` there.
    async fn propose(&self, branch: &str, text: &str) {
        self.git(&["checkout", "-q", "-b", branch]).await;
        fs::write(self.config(), text).unwrap();
        self.git(&["commit", "-q", "-a", "-m", branch]).await;
        self.git(&["checkout", "-q", "main"]).await;
    }

    fn changed(&self, more: &str) -> String {
        configuration(self.folder.path(), more)
    }

    async fn calls(&mut self, tool: &str, input: Value) -> Result<String, String> {
        self.calls += 1;
        let (id, name) = (format!("call-{}", self.calls), tool.to_owned());
        let turn = self.tools.turn.borrow().as_ref().unwrap().turn;
        self.tools.call(ToolCall { turn, id, name, input }).await
    }

    /// Takes a message in a turn, which is the open one from then on.
    async fn takes(&mut self, number: i64, message: MessageId) {
        let turn = TurnId { number, ..TURN };
        let take = Take {
            agent: name("oak-ada"),
            turn,
            messages: vec![message],
            prompt_uuid: "u".to_owned(),
            how: gangline_store::How::Woke,
            turns_per_cause: 30,
        };
        self.tools.speaker.store.take(take).await.unwrap();
        let messages = vec![message];
        let context = TurnContext { turn, messages, cause_root: None, hops: 0 };
        self.tools.turn = watch::channel(Some(context)).1;
    }

    /// Puts a message into the agent's inbox.
    async fn is_told(&self) -> MessageId {
        let message = NewMessage {
            agent: name("oak-ada"),
            network_id: "local".to_owned(),
            intake_key: None,
            origin: Origin::Cli,
            principal: Principal { account: "owner".to_owned(), tier: Tier::Owner },
            sender: "owner".to_owned(),
            target: String::new(),
            body: Redacted::constant("see to it"),
            in_reply_to: None,
            cause_root: None,
            hops: 0,
            state: MessageState::Accepted,
            cursor: None,
            not_before: None,
            msgid: None,
        };
        self.tools.speaker.store.accept(message).await.unwrap().id
    }

    /// The open turn is lost: its message waits again.
    async fn dies(&self, message: MessageId) {
        let turn = self.tools.turn.borrow().as_ref().unwrap().turn;
        let state = MessageState::Accepted;
        let (reason, answer, not_before, uncount_attempt) = (None, None, None, false);
        let back = Settle { message, state, reason, answer, not_before, uncount_attempt };
        let lost = EndTurn {
            agent: name("oak-ada"),
            turn,
            outcome: OutcomeWord::Lost.into(),
            settle: vec![back],
            sends: Vec::new(),
            events: Vec::new(),
            withdraw_approvals: None,
        };
        self.tools.speaker.store.end_turn(lost).await.unwrap();
    }

    /// Asks for a commit; returns why not.
    async fn refused(&mut self, commit: &str) -> String {
        let input = json!({"agent": "bob", "commit_ref": commit});
        let refused = self.calls("request_apply_commit", input).await.unwrap_err();
        assert_eq!(self.asked().await, [], "{refused}");
        refused
    }

    async fn asked(&self) -> Vec<ChangeRow> {
        self.tools.speaker.store.changes(None, false).await.unwrap()
    }
}

fn configuration(folder: &Path, more: &str) -> String {
    let at = folder.display();
    format!(
        "server: {{name: oak}}\nagents:\n  - nick: oak-ada\n    directory: {at}\n    role: manager\n  - \
         nick: oak-bob\n    directory: {at}\n{more}"
    )
}

/// The tools of an agent in its first epoch, in the open turn [`TURN`] of no message.
pub(crate) fn tools(agent: AgentName, role: Role, store: Store, paths: Paths) -> AgentTools {
    let (agent_loop, _) = mpsc::channel(64);
    let (inquiries, _) = mpsc::channel(64);
    let reminders = paths.state.join("reminders");
    let speaker = Speaker {
        owners_only: Arc::default(),
        agent,
        store,
        paths,
        redactor: Arc::new(Redactor::default()),
        agent_loop,
        outbox: Arc::new(Notify::new()),
        committed: watch::Sender::new(0),
        max_hops: 8,
    };
    let whereabouts = Whereabouts {
        joined: watch::channel(HashSet::new()).1,
        wanted: watch::channel(HashSet::new()).1,
        kept_out: watch::channel(HashSet::new()).1,
        inquiries,
    };
    let asker = Asker {
        alerts: Default::default(),
        speaker: speaker.clone(),
        whereabouts: whereabouts.clone(),
        clock: clock::system(),
        alarm: Arc::default(),
        own: true,
        rooms: HashSet::new(),
        agent_answers: None,
        epoch: Epoch(1),
    };
    let context = TurnContext { turn: TURN, messages: Vec::new(), cause_root: None, hops: 0 };
    AgentTools {
        server_key: "gangline",
        speaker,
        turn: watch::channel(Some(context)).1,
        asker,
        whereabouts,
        clock: clock::system(),
        showing: watch::channel(Showing::new(Agent::new(AgentOptions::default()).view())).1,
        alarm: Arc::new(Notify::new()),
        about: About { role, own_server: true, pronouns: "she/her".to_owned(), reminders },
        whispers: Waiting::nothing(),
    }
}

/// R2-36, R2-38, R2-39: each verb, of a manager and of another agent, whatever its backend was offered.
#[tokio::test]
async fn every_verb_of_a_manager_is_refused_to_everybody_else() {
    let verbs = [
        ("kill", json!({"name": "bob"}), r#""changed":true,"state":"stopped""#),
        ("start", json!({"name": "bob"}), r#""state":"starting""#),
        ("restart", json!({"name": "bob"}), r#""state":"starting""#),
        ("update", json!({"name": "bob"}), r#""changed":false,"state":"starting""#),
        ("get_logs", json!({"agent": "bob"}), r#""lines":[]"#),
        ("request_spawn", json!({"name": "cleo"}), r#""agent":"oak-cleo""#),
        (
            "request_apply_commit",
            json!({"agent": "bob", "commit_ref": "good"}),
            r#""state":"requested""#,
        ),
    ];
    for (verb, input, expect) in verbs {
        for role in [Role::Agent, Role::Manager] {
            let mut rig = Rig::open(role).await.with_repository().await;
            rig.propose("good", &rig.changed("    tags: [quick]\n")).await;
            let told = rig.calls(verb, input.clone()).await;
            let store = &rig.tools.speaker.store;
            let traces = store.orders().await.unwrap().len() + rig.asked().await.len();
            match role {
                Role::Manager => {
                    assert!(told.as_ref().is_ok_and(|it| it.contains(expect)), "{verb}: {told:?}");
                }
                Role::Agent => {
                    let refused = format!("only a manager may use `{verb}`");
                    let is = told.as_ref().is_err_and(|it| it.starts_with(&refused));
                    assert!(is, "{verb}: {told:?}");
                    assert_eq!(traces, 0, "{verb} left something");
                }
            }
        }
    }
}

/// R2-36: what stops the manager itself must be meant so, by whichever of its names.
#[tokio::test]
async fn a_manager_stops_itself_only_if_it_says_so() {
    for me in ["hm1nd", "ada", "oak-ada", "@OAK-ADA"] {
        let mut rig = Rig::open(Role::Manager).await;
        let told = rig.calls("kill", json!({"name": me})).await;
        assert!(told.as_ref().is_err_and(|it| it.starts_with("that is yourself")), "{told:?}");
        let told = rig.calls("kill", json!({"name": me, "myself": false})).await;
        assert!(told.is_err(), "{told:?}");
        assert_eq!(rig.tools.speaker.store.orders().await.unwrap(), []);
        let told = rig.calls("kill", json!({"name": me, "myself": true})).await.unwrap();
        assert!(told.contains(r#""agent":"oak-ada","changed":true"#), "{told}");
    }
}

/// R2-37: nothing is asked for that could not be applied as it is.
#[tokio::test]
async fn what_cannot_be_applied_is_refused_before_anybody_is_asked() {
    let mut rig = Rig::open(Role::Manager).await;
    assert!(rig.refused("main").await.contains("is in no git repository"));
    let mut rig = rig.with_repository().await;
    assert!(rig.refused("main").await.contains("is checked out already"));
    assert!(rig.refused("nowhere").await.contains("is not a commit"));
    rig.propose("broken", &rig.changed("    directory_: /\n")).await;
    assert!(rig.refused("broken").await.contains("the configuration cannot be used"));
    rig.propose("stale", &rig.changed("    tags: [slow]\n")).await;
    rig.git(&["commit", "-q", "--allow-empty", "-m", "goes on"]).await;
    assert!(rig.refused("stale").await.contains("rebase it"));
    rig.propose("good", &rig.changed("    tags: [quick]\n")).await;
    fs::write(rig.config(), rig.changed("# mine\n")).unwrap();
    assert!(rig.refused("good").await.contains("agents.yaml has uncommitted changes"));
}

/// R2-37: what is asked for is the commit, not the name; what gives power stands first.
#[tokio::test]
async fn a_request_names_its_commit_and_tells_what_gives_power_first() {
    let mut rig = Rig::open(Role::Manager).await.with_repository().await;
    let text = rig.changed("    tags: [quick]\n    permissions: bypass\n");
    rig.propose("good", &text).await;
    let input = json!({"agent": "bob", "commit_ref": "good", "reason": "faster"});
    let told = rig.calls("request_apply_commit", input).await.unwrap();
    let told: Value = told.parse().unwrap();
    let row = rig.asked().await.remove(0);
    assert_eq!(row.commit.as_deref(), told["commit"].as_str());
    assert!(row.commit.is_some_and(|commit| commit.len() >= 40));
    let (detail, summary) = (row.detail.as_str(), row.summary.as_str());
    assert!(summary.contains("oak-bob: permissions: "), "{summary}");
    let at = |part: &str| detail.find(part).unwrap_or_else(|| panic!("{part}: {detail}"));
    assert!(at("  oak-bob: permissions: ") < at("  oak-bob: tags: "), "{detail}");
    assert!(at("  oak-bob: tags: ") < at("+    permissions: bypass"), "{detail}");
}

/// R2-39: what waits for an owner's word stands in the status, seen by the daemon and from outside, until it
/// is decided.
#[tokio::test]
async fn a_change_that_nobody_has_decided_stands_in_the_status() {
    let mut rig = Rig::open(Role::Manager).await.with_repository().await;
    rig.calls("request_spawn", json!({"name": "cleo"})).await.unwrap();
    let store = rig.tools.speaker.store.clone();
    let waits = async || {
        let me = name("oak-ada");
        let showing = rig.tools.showing.borrow().clone();
        let now = gangline_os::clock::UnixMicros(0);
        let inside = showing.around(&store, &me, now).await;
        let outside = Around::read(&store, &me, now).await.unwrap();
        let [inside, outside] =
            [inside, outside].map(|it| showing.clone().status((&me, Epoch(1)), it).waiting_for);
        assert_eq!(inside, outside);
        inside
    };
    let first = waits().await;
    let [WaitingFor::Approval { number, tool, summary, .. }] = &first[..] else {
        panic!("{first:?}")
    };
    assert_eq!((number.0, tool.as_str()), (1, "request_spawn"));
    assert_eq!(summary, "a new agent oak-cleo, like oak-ada");
    let ruling = Ruling {
        decision: Decision::Deny,
        by: Principal { account: "owner".to_owned(), tier: Tier::Owner },
        known_as: "ori".to_owned(),
        note: None,
        say: None,
    };
    store.decide_change(*number, ruling).await.unwrap();
    assert_eq!(waits().await, []);
}

/// R2-38: as many lines as were asked for, 50 of themselves, and never more than 500.
#[tokio::test]
async fn logs_have_at_most_five_hundred_lines() {
    let mut rig = Rig::open(Role::Manager).await;
    let event = |number: u32| NewEvent {
        agent: name("oak-bob"),
        epoch: Some(Epoch(1)),
        turn: None,
        kind: "notice".into(),
        payload: Redactor::default()
            .redact(&json!({"code": "needs_login", "text": format!("n{number}")}).to_string()),
    };
    let store = rig.tools.speaker.store.clone();
    store.append((0..600).map(event).collect()).await.unwrap();
    for (asked, given) in [(None, 50), (Some(7), 7), (Some(500), 500), (Some(9999), 500)] {
        let input = match asked {
            Some(lines) => json!({"agent": "bob", "lines": lines}),
            None => json!({"agent": "bob"}),
        };
        let told: Value = rig.calls("get_logs", input).await.unwrap().parse().unwrap();
        let lines = told["lines"].as_array().unwrap();
        assert_eq!(lines.len(), given, "{asked:?}");
        assert!(lines[given - 1].as_str().unwrap().ends_with("n599"), "{lines:?}");
    }
}

/// R2-37: what an attempt that died has asked for is not asked for again: the n-th equal request of the next
/// attempt is answered with the n-th of the lost ones; one that differs in anything is a new one.
#[tokio::test]
async fn a_request_of_an_attempt_that_died_is_made_once() {
    let mut rig = Rig::open(Role::Manager).await.with_repository().await;
    rig.propose("good", &rig.changed("    tags: [quick]\n")).await;
    rig.propose("other", &rig.changed("    tags: [slow]\n")).await;
    let good = json!({"agent": "bob", "commit_ref": "good", "reason": "faster"});
    let cleo = json!({"name": "cleo"});
    let message = rig.is_told().await;
    rig.takes(2, message).await;
    for (tool, input) in
        [("request_spawn", &cleo), ("request_apply_commit", &good), ("request_spawn", &cleo)]
    {
        let told = rig.calls(tool, input.clone()).await.unwrap();
        assert!(!told.contains("already"), "{told}");
    }
    for turn in [3, 4] {
        rig.dies(message).await;
        rig.takes(turn, message).await;
        let mut numbers = Vec::new();
        for (tool, input) in
            [("request_apply_commit", &good), ("request_spawn", &cleo), ("request_spawn", &cleo)]
        {
            let told: Value = rig.calls(tool, input.clone()).await.unwrap().parse().unwrap();
            let note = told["note"].as_str().unwrap_or_default();
            assert!(note.starts_with("already asked for as change "), "{turn}: {told}");
            numbers.push(told["id"].as_i64().unwrap());
        }
        let [good, first, second] = numbers[..] else { panic!("{numbers:?}") };
        assert!(first < good && good < second, "each in its order: {numbers:?}");
        assert_eq!(rig.asked().await.len(), 3);
    }
    for (tool, input) in [
        ("request_apply_commit", json!({"agent": "bob", "commit_ref": "good", "reason": "quick"})),
        (
            "request_apply_commit",
            json!({"agent": "bob", "commit_ref": "other", "reason": "faster"}),
        ),
        ("request_spawn", json!({"name": "dan"})),
        ("request_spawn", cleo),
    ] {
        let told = rig.calls(tool, input.clone()).await.unwrap();
        assert!(!told.contains("already"), "{input}: {told}");
    }
    assert_eq!(rig.asked().await.len(), 7);
}
