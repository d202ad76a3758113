//! What is answered under a number.

use std::path::Path;

use gangline_core::{
    MessageId, MessageState, Origin, Redacted, TurnId,
    approval::Audience,
    rule::{Form, Offer, Subject},
};
use gangline_os::{clock, paths::Paths};
use gangline_store::{
    ChangeKind, ChangeState, ChangeTold, EventQuery, How, NewChange, NewMessage, OpenApproval,
    OpenOptions, Store, Take, Whose,
};

use super::*;

/// A number that names nothing is said to name nothing, whatever the answer.
#[tokio::test]
async fn nothing_waits_under_an_unknown_number() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_owned();
    let paths = Paths { config_file: at.join("agents.yaml"), state: at.clone(), runtime: at };
    let options = OpenOptions { path: paths.database(), clock: clock::system() };
    let store = Store::open(options).await.unwrap();
    let site = || Site { store: &store, paths: &paths, by: "owner", released: 30 };
    for said in ["yes", "blue", "abort"] {
        let failure = answer_any(site(), 9, said).await.unwrap_err();
        assert_eq!(failure.sentence(), "nothing waits under 9", "{said}");
    }
}

/// A store with an agent whose turn asks for something.
async fn asking(paths: &Paths) -> (Store, TurnId, MessageId) {
    let store =
        Store::open(OpenOptions { path: paths.database(), clock: clock::system() }).await.unwrap();
    let whose = Whose { runtime: "native", configured: "native" };
    let agent: AgentName = "oak-ada".parse().unwrap();
    let epoch = store.begin_epoch(&agent, (1, ""), whose).await.unwrap().epoch;
    let turn = TurnId { epoch, number: 1 };
    let message = NewMessage {
        agent: agent.clone(),
        network_id: "local".to_owned(),
        intake_key: None,
        origin: Origin::Cli,
        principal: owner::principal(),
        sender: "owner".to_owned(),
        target: String::new(),
        body: masked("run it"),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    };
    let message = store.accept(message).await.unwrap().id;
    let take = Take {
        agent,
        turn,
        messages: vec![message],
        prompt_uuid: "u".to_owned(),
        how: How::Woke,
        turns_per_cause: 30,
    };
    store.take(take).await.unwrap();
    (store, turn, message)
}

fn masked(text: &str) -> Redacted {
    Redacted::from_store(text.to_owned())
}

fn paths(folder: &Path) -> Paths {
    let at = folder.to_owned();
    Paths { config_file: at.join("agents.yaml"), state: at.clone(), runtime: at }
}

/// An answer to the attention list stores the same rule as `approve --always`: it says which, and the log
/// has it.
#[tokio::test]
async fn an_always_says_which_rule_it_made_and_is_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let paths = paths(folder.path());
    let (store, turn, message) = asking(&paths).await;
    let command = Form::Command(vec!["git".to_owned(), "status".to_owned()]);
    let asks = OpenApproval {
        agent: "oak-ada".parse().unwrap(),
        turn,
        message: Some(message),
        request: "r".to_owned(),
        tool: "Bash".to_owned(),
        args_hash: "r".to_owned(),
        summary: masked("git status"),
        detail: masked("{\"command\": \"git status\"}"),
        audience: Audience::Everybody,
        folder: masked("/w"),
        said_before: masked(""),
        offer: Some(Offer {
            tool: "Bash".to_owned(),
            directory: "/w".to_owned(),
            subject: Subject::Forms(vec![command]),
        }),
        announce: None,
    };
    let number = store.open_approval(asks).await.unwrap().number;
    let site = Site { store: &store, paths: &paths, by: "ori over HTTP", released: 30 };
    let said = answer_any(site, number.0, "yes always").await.unwrap();
    let rule = "rule 1 of oak-ada is stored: Bash `git status` in /w; to undo it: `gangline policy \
                remove 1`";
    assert_eq!(said, format!("approval {number}: allowed by ori over HTTP; {rule}"));
    let query =
        EventQuery { agent: None, turn: None, after: None, before: None, limit: 0, newest: false };
    let events = store.events(query).await.unwrap().events;
    let logged = "rule 1 is stored by ori over HTTP: Bash `git status` in /w";
    assert!(events.iter().any(|row| row.payload.to_string().contains(logged)), "{events:?}");
}

/// No rule can stand for a change of the configuration, on no surface.
#[tokio::test]
async fn a_change_is_never_allowed_always() {
    let folder = tempfile::tempdir().unwrap();
    let paths = paths(folder.path());
    let (store, turn, message) = asking(&paths).await;
    let change = NewChange {
        agent: "oak-ada".parse().unwrap(),
        turn,
        request: "r".to_owned(),
        kind: ChangeKind::Spawn,
        subject: "oak-bob".parse().unwrap(),
        commit: None,
        entry: Some("- nick: oak-bob".to_owned()),
        summary: masked("a new agent oak-bob"),
        detail: masked(""),
        reason: masked(""),
        message: Some(message),
        reply_target: String::new(),
    };
    let number = store.request_change(change, |_| ChangeTold::default()).await.unwrap().number;
    let site = || Site { store: &store, paths: &paths, by: "ori", released: 30 };
    let refused = answer_any(site(), number.0, "yes always").await.unwrap_err();
    assert!(refused.sentence().contains("cannot be allowed always"), "{}", refused.sentence());
    let state = async || store.change(number).await.unwrap().unwrap().state;
    assert_eq!(state().await, ChangeState::Requested);
    answer_any(site(), number.0, "yes").await.unwrap();
    assert_eq!(state().await, ChangeState::Approved);
}
