//! The daemon's side of a session with Claude Code, the real one or a script in its place.

use std::{
    collections::BTreeMap, fs, net::SocketAddr, os::unix::fs::PermissionsExt, path::PathBuf,
    sync::Arc, time::Duration,
};

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId, permission};
use gangline_os::{CancellationToken, clock, mark, secret::Secret, task::TaskGroup};
use gangline_runtime::{
    Block, Mode, PermissionMode, Prompt, Runtime, RuntimeEvent, SessionHandle, SessionId,
    StartOptions, ToolCall, ToolHost, ToolSpec, TurnResult, registry,
};
use gangline_standin::{Script, StandinOptions, serve};
use gangline_testkit::programs;
use tokio::{net::TcpListener, sync::mpsc};
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(60);

/// A session and what it tells. Everything lies in one folder, and every process carries its mark.
pub(crate) struct Rig {
    pub(crate) runtime: Box<dyn Runtime>,
    pub(crate) options: StartOptions,
    pub(crate) calls: mpsc::Receiver<ToolCall>,
    events: mpsc::Receiver<RuntimeEvent>,
    pub(crate) pid: Option<u32>,
    installation: String,
    tasks: TaskGroup,
    folder: tempfile::TempDir,
}

/// A daemon with one tool, `send`, that keeps what it was given.
struct Posts(mpsc::Sender<ToolCall>);

#[async_trait]
impl ToolHost for Posts {
    fn tools(&self) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "send",
            description: "says something",
            input_schema: serde_json::json!({"type": "object"}),
        }]
    }
    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let refused = call.input["text"] == "refuse";
        self.0.send(call).await.map_err(|error| error.to_string())?;
        if refused { Err("not in this room".to_owned()) } else { Ok("sent".to_owned()) }
    }
}

/// Between two looks at a fact that is awaited; the runner ends a test that waits for ever.
async fn look_again() {
    // sleep: no process tells anybody that it starts or ends.
    tokio::time::sleep(Duration::from_millis(10)).await;
}

pub(crate) fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

impl Rig {
    /// A rig for the real program, whose model follows the script.
    pub(crate) async fn real(script: &str) -> Self {
        let mut rig = Self::with(programs::claude().display().to_string());
        let address = rig.model(script).await;
        rig.options.base_url = Some(format!("http://{address}"));
        rig.options.api_key = Some(Secret::new("none"));
        rig
    }

    /// A rig for a shell script that plays the program: `body` is run after the version was told.
    pub(crate) fn fake(body: &str) -> Self {
        let rig = Self::with(String::new());
        let path = rig.path("claude");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '2.1.330 (Claude Code)'; exit 0; }}\n\
             {FAKE}\n{body}\n"
        );
        let mut rig = rig;
        rig.set_program(&path, &script);
        rig
    }

    pub(crate) fn set_program(&mut self, path: &PathBuf, script: &str) {
        fs::write(path, script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self.options.command = Some(vec![path.display().to_string()]);
    }

    fn with(command: String) -> Self {
        Self::of("claude", vec![command])
    }

    /// A rig for a backend of that name, started by the command, with no model yet.
    pub(crate) fn of(backend: &str, command: Vec<String>) -> Self {
        let folder = tempfile::Builder::new().prefix("gl-").tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["home", "work"] {
            fs::create_dir(path(name)).unwrap();
        }
        fs::write(path("work").join("notes.txt"), "hello").unwrap();
        let installation = format!("test-{}", Uuid::new_v4());
        let env = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", path("home").display().to_string()),
            ("GANGLINE_RUN", format!("{installation}/oak-ada/1")),
            ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
            // What a parent of this program's kind would leave behind.
            ("CLAUDECODE", "1".to_owned()),
            ("CLAUDE_CODE_SESSION_ID", "somebody-else".to_owned()),
        ];
        let (sender, calls) = mpsc::channel(8);
        let options = StartOptions {
            workdir: path("work"),
            session_dir: path("sessions"),
            tmp_dir: path("tmp"),
            command: Some(command),
            account_dir: None,
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
            mode: Mode::Resident,
            model: None,
            thinking: None,
            system_prompt: "You are oak-ada.".to_owned(),
            mcp_servers: Vec::new(),
            permissions: PermissionMode::Ask,
            allowed_tools: permission::BUILT_INS.iter().map(|tool| (*tool).to_owned()).collect(),
            resume: None,
            initial_prompt: None,
            tool_bridge: Vec::new(),
            base_url: None,
            api_key: None,
            extra: BTreeMap::new(),
            tools: Arc::new(Posts(sender)),
        };
        Self {
            runtime: registry::make(backend).unwrap(),
            options,
            calls,
            events: mpsc::channel(1).1,
            pid: None,
            installation,
            tasks: TaskGroup::new("test"),
            folder,
        }
    }

    /// Serves a model that follows the script.
    pub(crate) async fn model(&mut self, script: &str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let options = StandinOptions {
            listener,
            script: Some(Script::parse(script).unwrap()),
            record: Some(self.path("requests")),
            clock: clock::system(),
        };
        self.tasks.spawn("standin", async move {
            let _ = serve(options, CancellationToken::new()).await;
        });
        address
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts without waiting for anything.
    pub(crate) async fn begin(&mut self) -> SessionId {
        self.launch().await.session.unwrap()
    }

    /// Starts without waiting for anything; the session's id may come later.
    pub(crate) async fn launch(&mut self) -> SessionHandle {
        let (sender, events) = mpsc::channel(64);
        self.events = events;
        let handle = self.runtime.start(self.options.clone(), sender).await.unwrap();
        self.pid = handle.pid;
        handle
    }

    /// Starts, waits until prompts are taken, and returns the session.
    pub(crate) async fn start(&mut self) -> SessionId {
        let session = self.begin().await;
        loop {
            match self.next().await {
                RuntimeEvent::Ready { session: ready } => {
                    assert_eq!(session, ready);
                    return session;
                }
                RuntimeEvent::Notice { .. } => {}
                other => panic!("not ready but {other:?}"),
            }
        }
    }

    pub(crate) async fn next(&mut self) -> RuntimeEvent {
        self.next_or_end().await.unwrap()
    }

    pub(crate) async fn next_or_end(&mut self) -> Option<RuntimeEvent> {
        tokio::time::timeout(PATIENCE, self.events.recv()).await.expect("no event comes")
    }

    pub(crate) async fn say(&mut self, number: i64, text: &str) -> String {
        let uuid = Uuid::new_v4().to_string();
        let prompt = Prompt { turn: turn(number), text: text.to_owned(), uuid: uuid.clone() };
        self.runtime.prompt(prompt).await.unwrap();
        uuid
    }

    /// Returns everything up to and with the first event that fits.
    pub(crate) async fn until(
        &mut self,
        fits: impl Fn(&RuntimeEvent) -> bool,
    ) -> Vec<RuntimeEvent> {
        let mut seen = Vec::new();
        loop {
            let Some(event) = self.next_or_end().await else { panic!("it ended after {seen:#?}") };
            let last = fits(&event);
            seen.push(event);
            if last {
                return seen;
            }
        }
    }

    /// Returns everything up to the turn's end.
    pub(crate) async fn until_finished(&mut self) -> Vec<RuntimeEvent> {
        self.until(|event| matches!(event, RuntimeEvent::Finished { .. })).await
    }

    /// Says it and returns how its turn ended.
    pub(crate) async fn ask(&mut self, number: i64, text: &str) -> Done {
        self.say(number, text).await;
        Done(self.until_finished().await)
    }

    /// Returns everything up to the end of the events.
    pub(crate) async fn rest(&mut self) -> Vec<RuntimeEvent> {
        let mut seen = Vec::new();
        while let Some(event) = self.next_or_end().await {
            seen.push(event);
        }
        seen
    }

    /// Returns the command lines of the processes that this rig's program has started.
    pub(crate) fn processes(&self) -> Vec<String> {
        let marked = mark::marked_processes(&self.installation);
        let line = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let shown = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', " ");
        marked.into_iter().map(|it| shown(line(it.pid))).collect()
    }

    /// Waits until a process with these words runs.
    pub(crate) async fn until_runs(&self, words: &str) {
        while !self.runs(words) {
            look_again().await;
        }
    }

    /// Waits until no process with these words runs.
    pub(crate) async fn until_gone(&self, words: &str) {
        while self.runs(words) {
            look_again().await;
        }
    }

    fn runs(&self, words: &str) -> bool {
        self.processes().iter().any(|line| line.contains(words))
    }

    /// Returns the bodies of the requests that the model got.
    pub(crate) fn requests(&self) -> Vec<String> {
        let mut files: Vec<_> =
            fs::read_dir(self.path("requests")).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|file| fs::read_to_string(file).unwrap()).collect()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        for marked in mark::marked_processes(&self.installation) {
            let kill = gangline_os::process::Signal::Kill;
            let _ = gangline_os::proc::signal_exact(marked.pid, marked.start_time, kill);
        }
    }
}

/// The events of one turn, its end last.
#[derive(Debug)]
pub(crate) struct Done(pub(crate) Vec<RuntimeEvent>);

impl Done {
    /// All that the model said, a line for each text.
    pub(crate) fn text(&self) -> String {
        let mut all: Vec<&str> = Vec::new();
        for event in &self.0 {
            if let RuntimeEvent::Message { message, .. } = event {
                all.extend(message.content.iter().filter_map(|block| match block {
                    Block::Text { text } => Some(text.as_str()),
                    Block::ToolUse { .. } | Block::Thinking { .. } => None,
                }));
            }
        }
        all.join("\n")
    }

    pub(crate) fn result(&self) -> &TurnResult {
        match self.0.last() {
            Some(RuntimeEvent::Finished { result, .. }) => result,
            other => panic!("no end but {other:?}"),
        }
    }

    pub(crate) fn asked(&self) -> bool {
        self.0.iter().any(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. }))
    }
}

/// What a script needs that plays the program: an answer to the first request, and the id of a
/// prompt.
const FAKE: &str = r#"
say() { printf '%s\n' "$1"; }
ready() {
  read -r init
  say '{"type":"control_response","response":{"subtype":"success","request_id":"gangline-1","response":{}}}'
}
prompt() {
  read -r line
  uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
  say "{\"type\":\"command_lifecycle\",\"command_uuid\":\"$uuid\",\"state\":\"started\"}"
}
words() {
  say "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}],\"usage\":{\"input_tokens\":5}},\"parent_tool_use_id\":null}"
}
done_turn() {
  say "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\",\"user_message_uuids\":[\"$uuid\"]}"
}
"#;
