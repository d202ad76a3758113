//! The native backend meets the contract of [`gangline_runtime::Runtime`].

mod context;
mod effort;
mod places;
mod servers;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId};
use gangline_os::{CancellationToken, clock, task::TaskGroup};
use gangline_runtime::{
    Answer, ApprovalReply, Block, Command, Permissions, Prompt, Refusal, RuntimeEvent, SessionId,
    StartOptions, StopReason, ToolCall, ToolHost, ToolSpec, TurnResult,
};
use gangline_standin::{Script, StandinOptions, serve};
use tokio::{net::TcpListener, sync::mpsc};

use super::driven::Driven;

const PATIENCE: Duration = Duration::from_secs(60);

/// The daemon's side: a backend and what it tells.
struct Rig {
    runtime: Driven,
    options: StartOptions,
    _tasks: TaskGroup,
    folder: tempfile::TempDir,
}

struct Posts(mpsc::Sender<ToolCall>);

#[async_trait]
impl ToolHost for Posts {
    fn tools(&self) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "send",
            description: "says something",
            input_schema: serde_json::json!({"type": "object"}),
            output_schema: None,
        }]
    }
    async fn call(&self, call: ToolCall) -> Result<String, String> {
        self.0.send(call).await.map_err(|error| error.to_string())?;
        Ok("sent".to_owned())
    }
}

fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

impl Rig {
    async fn new(permissions: Permissions) -> (Self, mpsc::Receiver<ToolCall>) {
        Self::scripted(permissions, None).await
    }

    /// A backend whose model follows a script, or is the guide.
    async fn scripted(
        permissions: Permissions,
        script: Option<&str>,
    ) -> (Self, mpsc::Receiver<ToolCall>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes.txt"), "hello").unwrap();
        std::fs::create_dir(folder.path().join("sessions")).unwrap();
        let mut tasks = TaskGroup::new("test");
        let script = script.map(|script| Script::parse(script).unwrap());
        let address = standin(&mut tasks, script, folder.path().join("requests")).await;
        let (calls, called) = mpsc::channel(8);
        let options = StartOptions {
            workdir: folder.path().to_owned(),
            env: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
            model: Some("standin-guide".to_owned()),
            system_prompt: "test".to_owned(),
            permissions,
            allowed_tools: vec!["Glob".to_owned()],
            base_url: Some(format!("http://{address}")),
            tools: Arc::new(Posts(calls)),
            ..StartOptions::within(folder.path())
        };
        let rig = Self { runtime: Driven::of("native"), options, _tasks: tasks, folder };
        (rig, called)
    }

    async fn start(&mut self) -> SessionId {
        let handle = self.runtime.start(self.options.clone()).await.unwrap();
        match self.next().await {
            RuntimeEvent::Ready { session } => {
                assert_eq!(handle.session.as_ref(), Some(&session));
                session
            }
            other => panic!("not ready but {other:?}"),
        }
    }

    async fn next(&mut self) -> RuntimeEvent {
        tokio::time::timeout(PATIENCE, self.runtime.next()).await.unwrap().unwrap()
    }

    async fn say(&mut self, number: i64, text: &str) {
        let text = format!("[IRC @mention in #general] <alice> {text}");
        self.runtime
            .prompt(Prompt { turn: turn(number), text, uuid: format!("p{number}") })
            .await
            .unwrap();
    }

    /// Returns everything up to an event that is wanted, that event included.
    async fn until(&mut self, wanted: impl Fn(&RuntimeEvent) -> bool) -> Vec<RuntimeEvent> {
        let mut seen = Vec::new();
        loop {
            let event = self.next().await;
            let last = wanted(&event);
            seen.push(event);
            if last {
                return seen;
            }
        }
    }

    /// Returns the body of a request that the model was sent, counted from 1.
    fn request(&self, number: u64) -> serde_json::Value {
        let file = self.folder.path().join(format!("requests/{number:06}.json"));
        let record: serde_json::Value =
            serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        record["body"].clone()
    }

    /// Returns everything up to the turn's end.
    async fn until_finished(&mut self) -> Vec<RuntimeEvent> {
        self.until(|event| matches!(event, RuntimeEvent::Finished { .. })).await
    }
}

async fn standin(
    tasks: &mut TaskGroup,
    script: Option<Script>,
    record: std::path::PathBuf,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let options = StandinOptions { listener, script, record: Some(record), clock: clock::system() };
    let stop = CancellationToken::new();
    tasks.spawn("standin", async move {
        let _ = serve(options, stop).await;
    });
    address
}

fn texts(events: &[RuntimeEvent]) -> String {
    let mut all = String::new();
    for event in events {
        if let RuntimeEvent::Message { message, .. } = event {
            for block in &message.content {
                if let Block::Text { text } = block {
                    all.push_str(text);
                }
            }
        }
    }
    all
}

/// R0-03, R0-04, R0-05, R0-06, R0-15, R0-17, R0-18: ready with a session, told to whoever listened
/// before the start; a prompt's text comes as a normalised message; the turn ends once.
#[tokio::test]
async fn a_prompt_is_accepted_answered_and_finished() {
    let (mut rig, _called) = Rig::new(Permissions::Ask).await;
    rig.start().await;
    rig.say(1, "say exactly plum").await;
    let events = rig.until_finished().await;
    assert_eq!(events.first(), Some(&RuntimeEvent::Accepted { turn: turn(1) }));
    assert_eq!(texts(&events), "plum");
    let end = RuntimeEvent::Finished { turn: turn(1), result: TurnResult::Completed };
    assert_eq!(events.last(), Some(&end));
}

/// R0-12, R0-13, C23: sending a prompt does not wait for its answer; the backend refuses a second
/// one; queueing is the daemon's part.
#[tokio::test]
async fn a_prompt_in_mid_turn_is_refused_as_busy() {
    let (mut rig, _called) = Rig::new(Permissions::Ask).await;
    rig.start().await;
    rig.say(1, "sleep 60").await;
    let second = Prompt { turn: turn(2), text: "say exactly x".to_owned(), uuid: "p2".to_owned() };
    let why = rig.runtime.refused(Command::Prompt(second)).await;
    assert!(matches!(why, Refusal::Busy { .. }));
    rig.runtime.interrupt().await.unwrap();
    let events = rig.until_finished().await;
    let end = RuntimeEvent::Finished { turn: turn(1), result: TurnResult::Interrupted };
    assert_eq!(events.last(), Some(&end));
    rig.say(3, "say exactly after").await;
    assert_eq!(texts(&rig.until_finished().await), "after");
}

/// C5: under `ask` a shell command waits for a reply, what only looks does not.
#[tokio::test]
async fn a_shell_command_waits_for_its_approval() {
    let (mut rig, _called) = Rig::new(Permissions::Ask).await;
    rig.start().await;
    for (number, answer, expected) in [
        (1, Answer::Allow, "42"),
        (2, Answer::Deny { reason: "not on a Sunday".to_owned() }, "not on a Sunday"),
    ] {
        rig.say(number, "run echo $((6*7))").await;
        let ask = loop {
            match rig.next().await {
                RuntimeEvent::ApprovalAsked { turn: asked, ask } => {
                    assert_eq!(asked, turn(number));
                    break ask;
                }
                RuntimeEvent::Finished { result, .. } => panic!("not asked: {result:?}"),
                _ => {}
            }
        };
        assert_eq!(
            (ask.tool.as_str(), ask.input["command"].as_str()),
            ("Bash", Some("echo $((6*7))"))
        );
        rig.runtime.decide(ApprovalReply { request: ask.request, answer }).await.unwrap();
        let events = rig.until_finished().await;
        assert!(texts(&events).contains(expected), "{events:?}");
    }
    rig.say(3, "list files").await;
    let events = rig.until_finished().await;
    assert!(texts(&events).contains("notes.txt"), "{events:?}");
    assert!(!events.iter().any(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })));
}

/// R2-42: under `allowlist` what is not listed is denied without asking.
#[tokio::test]
async fn what_is_not_on_the_list_is_denied() {
    let (mut rig, _called) = Rig::new(Permissions::Allowlist).await;
    rig.start().await;
    rig.say(1, "run echo no").await;
    let events = rig.until_finished().await;
    assert!(texts(&events).contains("not on this agent's list"), "{events:?}");
}

/// R2-41: the daemon's tools are called with the turn and the backend's own call id.
#[tokio::test]
async fn a_tool_of_the_daemon_is_called_with_its_turn() {
    let (mut rig, mut called) = Rig::new(Permissions::Ask).await;
    rig.start().await;
    rig.say(7, "post plum").await;
    rig.until_finished().await;
    let call = called.recv().await.unwrap();
    assert_eq!((call.turn, call.name.as_str()), (turn(7), "send"));
    assert!(!call.id.is_empty());
    assert_eq!(call.input["text"], "plum");
}

/// R0-03, R0-08, R0-10, R0-11, R0-16, R0-20, R3-03: stop ends an open turn and says so with exit
/// code 0; the session can be gone on with.
#[tokio::test]
async fn a_stopped_session_is_resumed_under_its_id() {
    let (mut rig, _called) = Rig::new(Permissions::Ask).await;
    let session = rig.start().await;
    rig.say(1, "sleep 60").await;
    assert_eq!(rig.next().await, RuntimeEvent::Accepted { turn: turn(1) });
    rig.runtime.stop(StopReason::Shutdown).await;
    let mut last = None;
    let mut finished = 0;
    while let Some(event) = rig.runtime.next().await {
        finished += usize::from(matches!(event, RuntimeEvent::Finished { .. }));
        last = Some(event);
    }
    assert_eq!(finished, 1);
    assert_eq!(last, Some(RuntimeEvent::Exited { code: 0 }));
    assert!(!rig.runtime.runs());
    rig.options.resume = Some(session.clone());
    assert_eq!(rig.start().await, session);
    rig.say(2, "say exactly again").await;
    assert_eq!(texts(&rig.until_finished().await), "again");
}

/// A model that cannot be reached is a failure that says so, not a silence.
#[tokio::test]
async fn a_missing_key_for_a_foreign_server_is_told_at_the_start() {
    let (mut rig, _called) = Rig::new(Permissions::Ask).await;
    rig.options.base_url = None;
    let error = rig.runtime.start(rig.options.clone()).await.unwrap_err().to_string();
    assert!(error.contains("api_key_env"), "{error}");
}
