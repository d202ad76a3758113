use std::sync::Arc;

use gangline_core::{
    Epoch, MessageState, Origin, Principal, SendKey, Tier,
    answer::{How, Tool},
    approval::{ApprovalState, Audience},
    redact::{Redacted, Redactor},
    split::Joint,
};
use gangline_os::clock;
use gangline_store::{
    Entry, LineKind, NewEvent, NewMessage, OpenApproval, OpenOptions, OutboxId, OutboxState,
    PAGE_MAX, Take, Whose,
};
use serde_json::json;
use tempfile::TempDir;

use super::*;

const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };

fn line(at: i64, call: &str, to: &str) -> OutboxRow {
    OutboxRow {
        id: OutboxId(at),
        agent: "oak-ada".parse().unwrap(),
        idem_key: SendKey::of_call(Some(TURN), call),
        part: 0,
        parts: 1,
        target: to.into(),
        body: Redacted::constant("x"),
        joint: Joint::Anew,
        kind: LineKind::Privmsg,
        state: OutboxState::Queued,
        sent_as: None,
        turn: Some(TURN),
        in_reply_to: None,
        attempts: 0,
        tell: None,
        why: None,
        msgid: None,
        may_be_doubled: false,
        question: None,
        cause_root: None,
        hops: 0,
        created_at: UnixMicros(at),
        sent_at: None,
        settled_at: None,
    }
}

fn said(at: i64, blocks: Vec<Block>) -> (UnixMicros, event::Assistant) {
    (UnixMicros(at), event::Assistant { model: "m".into(), content: blocks })
}

fn call(id: &str, name: &str) -> Block {
    Block::ToolUse { id: id.into(), name: name.into(), input: json!({}) }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

fn to(target: &str) -> TurnAction {
    TurnAction::Sent { to: target.into(), in_reply_to: None }
}

/// What the shell sent stands between the calls that it was sent between: `on it` before more work
/// is no answer.
#[test]
fn what_a_shell_sent_stands_where_its_time_is() {
    let recorded = vec![
        said(10, vec![call("1", "Bash")]),
        said(30, vec![text("now the tests"), call("2", "Bash")]),
    ];
    let actions =
        in_order(TURN, recorded, &[line(20, "ipc/a", "#general"), line(40, "ipc/b", "bob")]);
    let expect = vec![
        TurnAction::ToolResult(Tool::Shell),
        to("#general"),
        TurnAction::ToolResult(Tool::Send),
        TurnAction::Text("now the tests".into()),
        TurnAction::ToolResult(Tool::Shell),
        to("bob"),
        TurnAction::ToolResult(Tool::Send),
    ];
    assert_eq!(actions, expect);
}

/// A send by the tool stands at its call, be its words recorded late or never.
#[test]
fn what_the_tool_sent_stands_at_its_call() {
    let recorded = vec![said(10, vec![call("1", "send"), call("2", "Read")])];
    let actions = in_order(TURN, recorded, &[line(20, "1", "#general"), line(30, "3", "bob")]);
    let expect = vec![
        to("#general"),
        TurnAction::ToolResult(Tool::Send),
        TurnAction::ToolResult(Tool::Other),
        to("bob"),
        TurnAction::ToolResult(Tool::Send),
    ];
    assert_eq!(actions, expect);
    let late = vec![said(50, vec![call("1", "send")])];
    let actions = in_order(TURN, late, &[line(20, "1", "#general")]);
    let expect = vec![
        to("#general"),
        TurnAction::ToolResult(Tool::Send),
        TurnAction::ToolResult(Tool::Send),
    ];
    assert_eq!(actions, expect);
}

/// What the agent decided not to answer stays so: of all of its turn, or of the message that it named.
#[test]
fn a_recorded_no_reply_counts() {
    let called = |input| Block::ToolUse { id: "1".into(), name: "no_reply".into(), input };
    let of = |message| TurnAction::NoReply { message };
    for (input, expect) in [
        (json!({}), Some(of(None))),
        (json!({"message": "", "reason": "thanks"}), Some(of(None))),
        (json!({"message": "m3"}), Some(of(Some(MessageId(3))))),
        (json!({"message": "the last one"}), None),
    ] {
        let mut expect: Vec<TurnAction> = expect.into_iter().collect();
        expect.push(TurnAction::ToolResult(Tool::Send));
        assert_eq!(in_order(TURN, vec![said(10, vec![called(input)])], &[]), expect);
    }
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

/// A store in which Ada's daemon has begun.
async fn begun() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gangline.db");
    let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
    begins(&store).await;
    (folder, store)
}

async fn begins(store: &Store) {
    let whose = Whose { runtime: "claude", configured: "claude" };
    store.begin_epoch(&ada(), (1, "test"), whose).await.unwrap();
}

async fn takes(store: &Store, messages: Vec<MessageId>) {
    take(store, messages, How::Woke).await;
}

async fn take(store: &Store, messages: Vec<MessageId>, how: How) {
    let (agent, prompt_uuid) = (ada(), "u".to_owned());
    let take = Take { agent, turn: TURN, messages, prompt_uuid, how, turns_per_cause: 30 };
    store.take(take).await.unwrap();
}

fn asked(body: &'static str) -> NewMessage {
    NewMessage {
        agent: ada(),
        network_id: "local".to_owned(),
        intake_key: None,
        origin: Origin::Direct,
        principal: Principal { account: "owner".to_owned(), tier: Tier::Owner },
        sender: "otto".to_owned(),
        target: "otto".to_owned(),
        body: Redacted::constant(body),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

fn ada_again() -> Identity {
    let (clock, redactor) = (clock::system(), Arc::new(Redactor::default()));
    Identity { agent: ada(), epoch: Epoch(2), clock, redactor, everybody: Arc::default() }
}

/// What joined the turn later was perhaps not there when the agent decided that: it is given again.
#[tokio::test]
async fn a_recorded_no_reply_is_not_one_to_what_joined_the_turn() {
    let (_folder, store) = begun().await;
    let thanks = store.accept(asked("thanks")).await.unwrap().id;
    take(&store, vec![thanks], How::Woke).await;
    let words =
        Event::from(event::Assistant { model: "m".into(), content: vec![call("1", "no_reply")] });
    let new = NewEvent {
        agent: ada(),
        epoch: Some(Epoch(1)),
        turn: Some(TURN),
        kind: words.kind().to_owned(),
        payload: Redacted::from_store(String::from_utf8(words.encode().unwrap()).unwrap()),
    };
    let results = store.together(vec![Entry::Events(vec![new])]).await.unwrap();
    assert!(results.iter().all(Result::is_ok));
    let more = store.accept(asked("and the tests?")).await.unwrap().id;
    take(&store, vec![more], How::Steered).await;
    begins(&store).await;
    recover(&ada_again(), &store, Rules::default()).await.unwrap();
    let state = async |id| store.message(id).await.unwrap().unwrap().state;
    assert_eq!(state(thanks).await, MessageState::NoReply);
    assert_eq!(state(more).await, MessageState::Accepted);
}

/// It is more than one page.
#[tokio::test]
async fn all_that_is_recorded_of_a_turn_is_read() {
    let (_folder, store) = begun().await;
    takes(&store, Vec::new()).await;
    let words = Event::from(event::Assistant { model: "m".into(), content: vec![text("x")] });
    let new = NewEvent {
        agent: ada(),
        epoch: Some(Epoch(1)),
        turn: Some(TURN),
        kind: words.kind().to_owned(),
        payload: Redacted::from_store(String::from_utf8(words.encode().unwrap()).unwrap()),
    };
    let all = 2 * usize::try_from(PAGE_MAX).unwrap() + 1;
    let results = store.together(vec![Entry::Events(vec![new; all])]).await.unwrap();
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(actions(&store, &ada(), TURN, &[]).await.unwrap().len(), all);
}

/// A decision that is made now counts for the message's next attempt.
#[tokio::test]
async fn what_a_dead_daemon_had_asked_is_void_and_not_withdrawn() {
    let (_folder, store) = begun().await;
    let message = store.accept(asked("hello")).await.unwrap().id;
    takes(&store, vec![message]).await;
    let ask = OpenApproval {
        agent: ada(),
        turn: TURN,
        message: Some(message),
        request: "r1".to_owned(),
        tool: "Bash".to_owned(),
        args_hash: "h".to_owned(),
        summary: Redacted::constant("ls"),
        detail: Redacted::constant("{}"),
        audience: Audience::Everybody,
        folder: Redacted::constant("/w"),
        said_before: Redacted::default(),
        offer: None,
        announce: None,
    };
    let number = store.open_approval(ask).await.unwrap().number;
    begins(&store).await;
    let recovered = recover(&ada_again(), &store, Rules::default()).await.unwrap();
    assert_eq!(recovered, Recovered { turns: 1, notify: Vec::new() });
    let approval = store.approval(number).await.unwrap().unwrap();
    assert_eq!(approval.state, ApprovalState::Void);
    let row = store.message(message).await.unwrap().unwrap();
    assert_eq!((row.state, row.attempt), (MessageState::Accepted, 1));
}
