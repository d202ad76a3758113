//! Questions of agents that were removed from the configuration. A real store and real locks.

use gangline_core::{
    Redacted,
    finding::{Choice, ChoiceWord, FindingKind},
    question::{AnswerRule, Asked, Choose, OnTimeout},
};
use gangline_os::{clock, fsio, lock::FileLock};
use gangline_store::{AskedBy, FindingFilter, NewFinding, NewQuestion, OpenOptions, Whose};

use super::*;

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

struct Rig {
    store: Store,
    paths: Paths,
    removed: Removed,
    _folder: tempfile::TempDir,
}

impl Rig {
    /// Three agents have run here.
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let paths = Paths {
            config_file: at.join("agents.yaml"),
            state: at.to_owned(),
            runtime: at.to_owned(),
        };
        let options = OpenOptions { path: paths.database(), clock: clock::system() };
        let store = Store::open(options).await.unwrap();
        for name in ["oak-ada", "oak-bob", "oak-eve"] {
            let whose = Whose { runtime: "native", configured: "native" };
            store.begin_epoch(&agent(name), (1, "test"), whose).await.unwrap();
            fsio::private_dir(&paths.agent_dir(name)).unwrap();
        }
        Self { store, paths, removed: Removed::from(Vec::new()), _folder: folder }
    }

    async fn asks(&self, asker: &str, asked: Asked) -> i64 {
        let text = |text: &str| gangline_core::Redacted::from_store(text.to_owned());
        let new = NewQuestion {
            agent: agent(asker),
            turn: None,
            request: format!("{asker} {asked}"),
            rule: asked.usual_rule(),
            asked,
            body: text("merge?"),
            options: Vec::new(),
            choose: Choose::One,
            on_timeout: OnTimeout::None,
            expires_at: None,
            in_reply_to: None,
            reply_target: "#lab".to_owned(),
            waits: None,
        };
        self.store.ask(new, |_| AskedBy::default()).await.unwrap().number.0
    }

    async fn looks(&mut self) -> Vec<i64> {
        let rows = self.store.agents().await.unwrap();
        self.removed.on((&self.store, &self.paths), &rows).await;
        let open = self.store.questions(QuestionFilter::default(), 99).await.unwrap();
        open.iter().map(|row| row.number.0).rev().collect()
    }
}

/// The questions of a removed agent, and those that only it was asked, are withdrawn and cause no more alerts; the
/// asker is told. All other questions stay open.
#[tokio::test]
async fn the_questions_of_an_agent_that_is_removed_are_withdrawn() {
    let mut rig = Rig::open().await;
    let agents = |names: &[&str]| Asked::Agents(names.iter().map(|name| agent(name)).collect());
    let of_ada = rig.asks("oak-ada", Asked::Operator).await;
    let of_eve = rig.asks("oak-eve", Asked::Operator).await;
    let to_eve = rig.asks("oak-ada", agents(&["oak-eve"])).await;
    let to_both = rig.asks("oak-ada", agents(&["oak-bob", "oak-eve"])).await;
    let all = vec![of_ada, of_eve, to_eve, to_both];
    let everybody = || ["oak-ada", "oak-bob", "oak-eve"].map(agent).to_vec();
    rig.removed = everybody().into();
    assert_eq!(rig.looks().await, all, "nobody is removed");
    rig.removed = everybody()[..2].to_vec().into();
    let lock = FileLock::try_take(&rig.paths.agent_lock("oak-eve"), "a daemon").unwrap();
    assert_eq!(rig.looks().await, all, "it still runs");
    drop(lock);
    assert_eq!(rig.looks().await, [of_ada, to_both]);
    let closed = rig.store.question(gangline_core::QuestionNumber(to_eve)).await.unwrap().unwrap();
    let answer = closed.answer.as_ref().map(|it| it.as_str());
    assert_eq!((answer, closed.answered_by.as_deref()), (Some("[cancelled]"), Some("gangline")));
    let told = rig.store.pending(&agent("oak-ada"), clock::UnixMicros(i64::MAX), 9).await.unwrap();
    assert!(told[0].body.as_str().starts_with("[ANSWER 3] <gangline> [cancelled]"), "{told:?}");
    // Only people decide this one.
    rig.removed = everybody()[..2].to_vec().into();
    let asked = agents(&["oak-eve"]);
    let text = gangline_core::Redacted::from_store("x".to_owned());
    let new = NewQuestion {
        agent: agent("oak-bob"),
        turn: None,
        request: "never".to_owned(),
        asked,
        rule: AnswerRule::Never,
        body: text,
        options: Vec::new(),
        choose: Choose::One,
        on_timeout: OnTimeout::None,
        expires_at: None,
        in_reply_to: None,
        reply_target: String::new(),
        waits: None,
    };
    let never = rig.store.ask(new, |_| AskedBy::default()).await.unwrap().number.0;
    assert_eq!(rig.looks().await, [of_ada, to_both, never]);
}

/// The findings about a removed agent are resolved too; those about the others wait.
#[tokio::test]
async fn the_findings_about_an_agent_that_is_removed_are_resolved() {
    let mut rig = Rig::open().await;
    for name in ["oak-ada", "oak-eve"] {
        let cause = Redacted::from_store("quiet".to_owned());
        let choices = vec![Choice::new(ChoiceWord::Abort, "ends the turn")];
        let new = NewFinding::new(agent(name), FindingKind::SilentTurn, cause);
        rig.store.raise_finding(NewFinding { choices, ..new }).await.unwrap();
    }
    rig.removed = vec![agent("oak-ada"), agent("oak-bob")].into();
    rig.looks().await;
    let left = rig.store.findings(FindingFilter::default(), 9).await.unwrap();
    let left: Vec<_> = left.iter().map(|row| row.agent.to_string()).collect();
    assert_eq!(left, ["oak-ada"]);
}
