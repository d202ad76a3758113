//! The tool `send` with a real store; the chat server's answers are given here.

use std::{path::Path, sync::Arc};

use gangline_api::ipc::WhoUser;
use gangline_core::{AgentName, Epoch, MessageState, Principal, Tier, TurnId, redact::Redactor};
use gangline_os::{CancellationToken, clock, paths::Paths, task::TaskGroup};
use gangline_runtime::{ToolCall, ToolHost};
use gangline_store::{NewMessage, OpenOptions, Store, Whose};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use super::*;
use crate::{
    asking::Asker,
    bus::Incoming,
    carrying::Waiting,
    showing::Showing,
    speech::TurnContext,
    tools::{About, AgentTools},
};

const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };

struct Rig {
    _folder: TempDir,
    tools: Arc<AgentTools>,
    asked: mpsc::Receiver<Inquiry>,
    store: Store,
    turn: watch::Sender<Option<TurnContext>>,
    _showing: watch::Sender<Showing>,
    _tasks: TaskGroup,
}

fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

/// What the server says of a nick.
type Says = Result<Answer, Unanswered>;

fn users(nicks: &[&str]) -> Says {
    let user = |nick: &&str| WhoUser { nick: (*nick).to_owned(), modes: "H".into() };
    Ok(Answer::Users(nicks.iter().map(user).collect()))
}

fn speaker(state: &Path, store: &Store, agent_loop: mpsc::Sender<Incoming>) -> Speaker {
    Speaker {
        owners_only: Arc::default(),
        agent: ada(),
        store: store.clone(),
        paths: Paths { config_file: "/c".into(), state: state.into(), runtime: state.into() },
        redactor: Arc::new(Redactor::default()),
        agent_loop,
        outbox: Arc::new(Notify::new()),
        committed: watch::Sender::new(0),
        max_hops: 8,
    }
}

fn asker(speaker: &Speaker, whereabouts: &Whereabouts) -> Asker {
    Asker {
        alerts: Default::default(),
        speaker: speaker.clone(),
        whereabouts: whereabouts.clone(),
        clock: clock::system(),
        alarm: Arc::default(),
        own: true,
        rooms: HashSet::new(),
        agent_answers: None,
        epoch: Epoch(1),
    }
}

impl Rig {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        for agent in [ada(), "oak-bob".parse().unwrap()] {
            let whose = Whose { runtime: "claude", configured: "claude" };
            store.begin_epoch(&agent, (1, "test"), whose).await.unwrap();
        }
        let (agent_loop, mut loop_end) = mpsc::channel(64);
        let mut tasks = TaskGroup::new("test");
        tasks.spawn("agent loop", async move {
            while let Some(incoming) = loop_end.recv().await {
                if let Incoming::Sent { heard, .. } = incoming {
                    let _ = heard.send(());
                }
            }
        });
        let (inquiries, asked) = mpsc::channel(8);
        let channels: HashSet<_> = HashSet::from(["#general".parse().unwrap()]);
        let context = TurnContext { turn: TURN, messages: vec![], cause_root: None, hops: 0 };
        let view = gangline_core::agent::Agent::new(Default::default()).view();
        let turn = watch::Sender::new(Some(context));
        let (showing, _) = watch::channel(Showing::new(view));
        let whereabouts = Whereabouts {
            joined: watch::channel(channels.clone()).1,
            wanted: watch::channel(channels).1,
            kept_out: watch::channel(HashSet::new()).1,
            inquiries,
        };
        let speaker = speaker(folder.path(), &store, agent_loop);
        let tools = AgentTools {
            server_key: "gangline",
            asker: asker(&speaker, &whereabouts),
            speaker,
            turn: turn.subscribe(),
            whereabouts,
            clock: clock::system(),
            showing: showing.subscribe(),
            alarm: Arc::new(Notify::new()),
            about: About {
                role: gangline_config::Role::Agent,
                own_server: true,
                pronouns: "she/her".to_owned(),
                reminders: folder.path().join("reminders"),
            },
            whispers: Waiting::nothing(),
        };
        Self {
            _folder: folder,
            tools: Arc::new(tools),
            asked,
            store,
            turn,
            _showing: showing,
            _tasks: tasks,
        }
    }

    /// Calls `send`; `says` is the server's answer if it is asked. Returns whether it was, too.
    async fn send(&mut self, to: &str, says: Says) -> (Result<String, String>, bool) {
        let (tools, to) = (Arc::clone(&self.tools), to.to_owned());
        let call = async move {
            let input = json!({"to": to, "text": "done"});
            tools.call(ToolCall { turn: TURN, id: to, name: "send".into(), input }).await
        };
        let mut call = std::pin::pin!(call);
        tokio::select! {
            said = &mut call => (said, false),
            Some(inquiry) = self.asked.recv() => {
                assert!(matches!(inquiry.question, Question::Who(_)), "{:?}", inquiry.question);
                inquiry.reply.send(says).unwrap();
                (call.await, true)
            }
        }
    }

    async fn outbox(&self) -> Vec<String> {
        let rows = self.store.outbox_pending(&ada(), 50).await.unwrap();
        rows.into_iter().map(|row| row.target).collect()
    }
}

/// The model hears that nobody is there, and nothing is said; where that cannot be known the line
/// goes out.
#[tokio::test]
async fn a_line_to_nobody_is_an_error_to_the_model() {
    let mut rig = Rig::open().await;
    let (said, asked) = rig.send("ghost", users(&[])).await;
    assert_eq!(said, Err("not sent: nobody is called ghost here".to_owned()));
    assert!(asked);
    let (said, asked) = rig.send("#nowhere", users(&[])).await;
    let expected =
        "not sent: you are not in #nowhere; run `gangline channel join #nowhere` first".to_owned();
    assert_eq!((said, asked), (Err(expected), false));
    assert_eq!(rig.outbox().await, Vec::<String>::new());

    let sent = |to: &str| Ok(format!("sent to {to}"));
    assert_eq!(rig.send("alice", users(&["alice"])).await, (sent("alice"), true));
    assert_eq!(rig.send("carol", Err(Unanswered::Down)).await, (sent("carol"), true));
    assert_eq!(rig.send("#general", users(&[])).await, (sent("#general"), false));
    assert_eq!(rig.send("oak-bob", users(&[])).await, (sent("oak-bob"), false), "a colleague");
    let (itself, asked) = rig.send("oak-ada", users(&[])).await;
    assert_eq!((itself.unwrap_err().as_str(), asked), ("that is you: nothing was sent", false));
    assert_eq!(rig.outbox().await, ["alice", "carol", "#general", "oak-bob"]);
}

/// Our own server keeps a private line for somebody who has written to the agent and is away.
#[tokio::test]
async fn who_has_written_and_is_away_is_not_nobody() {
    let mut rig = Rig::open().await;
    for (sender, origin) in [("Dave", Origin::Direct), ("eve", Origin::Mention)] {
        let message = NewMessage {
            agent: ada(),
            network_id: "local".into(),
            intake_key: None,
            origin,
            principal: Principal { account: sender.into(), tier: Tier::Member },
            sender: sender.into(),
            target: sender.into(),
            body: Redactor::default().redact("tell me when it is done"),
            in_reply_to: None,
            cause_root: None,
            hops: 0,
            state: MessageState::Accepted,
            cursor: None,
            not_before: None,
            msgid: None,
        };
        rig.store.accept(message).await.unwrap();
    }
    assert_eq!(rig.send("dave", users(&[])).await.0, Ok("sent to dave".to_owned()));
    let (said, _) = rig.send("eve", users(&[])).await;
    assert_eq!(said, Err("not sent: nobody is called eve here".to_owned()));
}

/// What is given must be a text; it is told from what is missing.
#[tokio::test]
async fn a_number_is_not_told_as_missing() {
    let rig = Rig::open().await;
    for (input, why) in [
        (json!({"to": 5, "text": "x"}), "`to` must be a string"),
        (json!({"text": "x"}), "`to` is missing"),
        (json!({"to": "#general", "text": null}), "`body` is missing"),
    ] {
        let call = ToolCall { turn: TURN, id: "1".into(), name: "send".into(), input };
        assert_eq!(rig.tools.call(call).await, Err(why.to_owned()));
    }
}

fn call(turn: TurnId, input: serde_json::Value) -> ToolCall {
    ToolCall { turn, id: "1".to_owned(), name: "send".to_owned(), input }
}

/// A backend may be late with a call, and a model may name what it has read somewhere.
#[tokio::test]
async fn a_call_speaks_for_its_own_turn_and_of_its_messages() {
    let rig = Rig::open().await;
    let input = json!({"to": "#general", "text": "done", "in_reply_to": "m9"});
    let over = TurnId { number: TURN.number - 1, ..TURN };
    let said = rig.tools.call(call(over, input.clone())).await;
    assert_eq!(said, Err("this turn is over: nothing was sent".to_owned()));
    let said = rig.tools.call(call(TURN, input)).await.unwrap_err();
    assert!(said.contains("m9 does not belong to this turn"), "{said}");
    assert_eq!(rig.outbox().await, [""; 0]);
}

#[tokio::test]
async fn a_call_that_is_taken_back_while_it_is_checked_sends_nothing() {
    let mut rig = Rig::open().await;
    let (tools, taken_back) = (Arc::clone(&rig.tools), CancellationToken::new());
    let input = json!({"to": "alice", "text": "done"});
    let mut call = std::pin::pin!(tools.call_unless(call(TURN, input), taken_back.clone()));
    tokio::select! {
        said = &mut call => panic!("{said:?}"),
        Some(inquiry) = rig.asked.recv() => {
            taken_back.cancel();
            inquiry.reply.send(users(&["alice"])).unwrap();
        }
    }
    assert_eq!(call.await, None);
    assert_eq!(rig.outbox().await, [""; 0]);
}

/// R2-20: a call that waits ends with its turn, and takes nothing that comes later.
#[tokio::test]
async fn a_receive_that_waits_ends_with_its_turn() {
    let rig = Rig::open().await;
    let input = json!({"wait_seconds": 180});
    let call = ToolCall { turn: TURN, id: "r".into(), name: "recv".into(), input };
    let mut waits = std::pin::pin!(rig.tools.call(call.clone()));
    assert!(futures::poll!(&mut waits).is_pending());
    let next = TurnId { number: TURN.number + 1, ..TURN };
    let context = TurnContext { turn: next, messages: vec![], cause_root: None, hops: 0 };
    rig.turn.send_replace(Some(context));
    let over = Err("this turn is over: nothing was taken".to_owned());
    assert_eq!(waits.await, over);
    // The bounds are held, not refused, and what is no number is told.
    for (input, why) in [
        (json!({"wait_seconds": "soon"}), "`wait_seconds` must be a whole number"),
        (json!({"max": 0}), "`max` must be a whole number above 0"),
    ] {
        let call = ToolCall { turn: next, input, ..call.clone() };
        assert_eq!(rig.tools.call(call).await, Err(why.to_owned()));
    }
}
