//! Going back from a change: only while what was applied is still what is checked out. A real repository, a
//! real store.

use std::fs;

use gangline_core::{Epoch, Principal, Redacted, Tier, TurnId, approval::Decision};
use gangline_os::{
    clock,
    process::{Group, Output, Spawn, Stdin, base_env, spawn},
};
use gangline_store::{ChangeTold, How, NewChange, OpenOptions, Ruling, Take, Whose};
use tempfile::TempDir;

use super::*;

struct Rig {
    paths: Paths,
    store: Store,
    folder: TempDir,
}

impl Rig {
    /// A repository with one commit.
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let (fleet, state) = (at.join("fleet"), at.join("state"));
        fs::create_dir(&fleet).unwrap();
        fs::create_dir(&state).unwrap();
        let config_file = fleet.join("agents.yaml");
        let paths = Paths { config_file, runtime: state.clone(), state };
        let options = OpenOptions { path: paths.database(), clock: clock::system() };
        let store = Store::open(options).await.unwrap();
        let rig = Self { paths, store, folder };
        rig.git(&["init", "-q", "-b", "main"]).await;
        rig
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

    /// Commits this text; returns the commit.
    async fn commits(&self, text: &str) -> String {
        fs::write(&self.paths.config_file, text).unwrap();
        self.git(&["add", "."]).await;
        self.git(&["commit", "-q", "-m", text]).await;
        self.head().await
    }

    async fn head(&self) -> String {
        let repository = Repository::around(&self.paths.config_file).unwrap();
        repository.head().await.unwrap().as_str().to_owned()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.paths.config_file).unwrap()
    }

    /// A change that is being applied.
    async fn applying(&self, before: &str, commit: &str) -> ChangeRow {
        let agent: AgentName = "oak-boss".parse().unwrap();
        let turn = TurnId { epoch: Epoch(1), number: 1 };
        let whose = Whose { runtime: "native", configured: "native" };
        self.store.begin_epoch(&agent, (1, "test"), whose).await.unwrap();
        let take = Take {
            agent: agent.clone(),
            turn,
            messages: Vec::new(),
            prompt_uuid: "u".to_owned(),
            how: How::Woke,
            turns_per_cause: 30,
        };
        self.store.take(take).await.unwrap();
        let text = |text: &str| Redacted::from_store(text.to_owned());
        let new = NewChange {
            agent,
            turn,
            request: "first".to_owned(),
            kind: ChangeKind::Config,
            subject: "oak-ada".parse().unwrap(),
            commit: Some(commit.to_owned()),
            entry: None,
            summary: text("another configuration"),
            detail: text(""),
            reason: text(""),
            message: None,
            reply_target: String::new(),
        };
        let number =
            self.store.request_change(new, |_| ChangeTold::default()).await.unwrap().number;
        let ruling = Ruling {
            decision: Decision::Allow,
            by: Principal { account: "owner".to_owned(), tier: Tier::Owner },
            known_as: "ori".to_owned(),
            note: None,
            say: None,
        };
        let row = self.store.decide_change(number, ruling).await.unwrap();
        let before = Some(before.to_owned());
        let begins = ChangeStep { before, ..bare(&row, ChangeState::Applying) };
        assert!(self.store.step_change(number, begins).await.unwrap());
        self.store.change(number).await.unwrap().unwrap()
    }
}

/// R2-37: the files are as they were before, by one commit, however often it is repeated.
#[tokio::test]
async fn a_change_is_undone_by_one_commit() {
    let rig = Rig::open().await;
    let before = rig.commits("one").await;
    let commit = rig.commits("two").await;
    let change = rig.applying(&before, &commit).await;
    let why = Refused("it is refused".to_owned());
    assert!(undo_refused(&rig.store, &rig.paths, &why).await);
    let head = rig.head().await;
    assert_eq!(rig.text(), "one");
    assert!(head != before && head != commit);
    let row = rig.store.change(change.number).await.unwrap().unwrap();
    let outcome = row.outcome.unwrap().to_string();
    assert_eq!(row.state, ChangeState::RolledBack);
    assert!(outcome.contains("it is refused"), "{outcome}");
    assert!(undo(&rig.paths, &change).await.is_ok());
    assert_eq!(rig.head().await, head, "repeated");
    assert!(!undo_refused(&rig.store, &rig.paths, &why).await, "nothing is half done");
}

/// R2-37: what somebody has committed since is left alone, and the change with it.
#[tokio::test]
async fn what_was_committed_since_is_not_undone() {
    let rig = Rig::open().await;
    let before = rig.commits("one").await;
    let commit = rig.commits("two").await;
    let change = rig.applying(&before, &commit).await;
    let head = rig.commits("three").await;
    let Err(Not(why)) = undo(&rig.paths, &change).await else { panic!("undone") };
    assert!(why.contains("somebody has committed") && why.contains("oak-ada"), "{why}");
    assert!(!undo_refused(&rig.store, &rig.paths, &Refused("no".to_owned())).await);
    assert_eq!((rig.head().await, rig.text().as_str()), (head, "three"));
    let row = rig.store.change(change.number).await.unwrap().unwrap();
    assert_eq!(row.state, ChangeState::Applying, "a person looks at it");
}
