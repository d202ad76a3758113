//! The daemon's side of a session with any program, the real one or a script in its place.
//!
//! What is particular about a backend's sessions stands in the `rig.rs` of its folder.

use std::{
    fs, net::SocketAddr, os::unix::fs::PermissionsExt, path::PathBuf, sync::Arc, time::Duration,
};

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId, effort::EffortLevel, permission};
use gangline_os::{CancellationToken, clock, run_id, task::TaskGroup};
use gangline_runtime::{
    Block, Permissions, Prompt, RuntimeEvent, SessionHandle, SessionId, StartOptions, Thinking,
    ToolCall, ToolHost, ToolSpec, TurnResult,
};
use gangline_standin::{Script, StandinOptions, serve};
use tokio::{
    io::{self, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
};
use uuid::Uuid;

use super::driven::Driven;

const PATIENCE: Duration = Duration::from_secs(90);

/// A session and what it tells. Everything lies in one folder, and every process carries its run id.
pub(crate) struct Rig {
    pub(crate) runtime: Driven,
    pub(crate) options: StartOptions,
    pub(crate) calls: mpsc::Receiver<ToolCall>,
    pub(crate) pid: Option<u32>,
    pub(crate) installation: String,
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
            output_schema: None,
        }]
    }
    async fn call(&self, call: ToolCall) -> Result<String, String> {
        let refused = call.input["text"] == "refuse";
        self.0.send(call).await.map_err(|error| error.to_string())?;
        if refused { Err("not in this room".to_owned()) } else { Ok("sent".to_owned()) }
    }
}

/// Between two looks at a fact that is awaited; the runner ends a test that waits for ever.
pub(crate) async fn look_again() {
    // sleep: no process tells anybody that it starts or ends.
    tokio::time::sleep(Duration::from_millis(10)).await;
}

pub(crate) fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

impl Rig {
    pub(crate) fn set_program(&mut self, path: &PathBuf, script: &str) {
        fs::write(path, script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self.options.command = Some(vec![path.display().to_string()]);
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
        ];
        let (sender, calls) = mpsc::channel(8);
        let options = StartOptions {
            command: Some(command),
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
            system_prompt: "You are oak-ada.".to_owned(),
            allowed_tools: permission::BUILT_INS.iter().map(|tool| (*tool).to_owned()).collect(),
            tools: Arc::new(Posts(sender)),
            ..StartOptions::within(folder.path())
        };
        Self {
            runtime: Driven::of(backend),
            options,
            calls,
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

    /// Puts a valve before the model at an address; it is open.
    pub(crate) async fn valve(&mut self, model: SocketAddr) -> (SocketAddr, Valve) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let valve = Valve(watch::Sender::new(true));
        let open = valve.0.subscribe();
        self.tasks.spawn("valve", async move {
            let mut connections = TaskGroup::new("valve");
            while let Ok((program, _)) = listener.accept().await {
                connections.spawn("connection", pass(program, model, open.clone()));
            }
        });
        (address, valve)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts without waiting for anything.
    pub(crate) async fn begin(&mut self) -> SessionHandle {
        let handle = self.runtime.start(self.options.clone()).await.unwrap();
        self.pid = handle.pid;
        handle
    }

    /// Starts, waits until prompts are taken, and returns the session.
    pub(crate) async fn start(&mut self) -> SessionId {
        let known = self.begin().await.session;
        let session = self.until_ready().await.0;
        // Only one that is gone on with may turn out to be another.
        assert!(self.options.resume.is_some() || known.is_none_or(|known| known == session));
        session
    }

    /// Starts as [`Rig::start`], and returns what was noticed too.
    pub(crate) async fn opened(&mut self) -> (SessionId, Vec<String>) {
        self.begin().await;
        self.until_ready().await
    }

    /// Waits until prompts are taken. Returns the session and what was noticed.
    pub(crate) async fn until_ready(&mut self) -> (SessionId, Vec<String>) {
        let mut notices = Vec::new();
        loop {
            match self.next().await {
                RuntimeEvent::Ready { session } => return (session, notices),
                RuntimeEvent::Notice { text } => notices.push(text),
                RuntimeEvent::NeedsLogin { hint } => notices.push(format!("no login: {hint}")),
                other => panic!("not ready but {other:?} after {notices:?}"),
            }
        }
    }

    pub(crate) async fn next(&mut self) -> RuntimeEvent {
        self.next_or_end().await.unwrap()
    }

    pub(crate) async fn next_or_end(&mut self) -> Option<RuntimeEvent> {
        tokio::time::timeout(PATIENCE, self.runtime.next()).await.expect("no event comes")
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
        self.done().await
    }

    /// Returns how the turn that is open ends.
    pub(crate) async fn done(&mut self) -> Done {
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
        self.run_processes().into_iter().map(|(_, line)| line).collect()
    }

    /// Returns their pids and command lines.
    pub(crate) fn run_processes(&self) -> Vec<(u32, String)> {
        let line = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let shown = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', " ");
        let found = run_id::run_processes(&self.installation);
        found.into_iter().map(|it| (it.pid, shown(line(it.pid)))).collect()
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

    /// Waits until a file is there.
    pub(crate) async fn until_there(&self, name: &str) {
        while !self.path(name).exists() {
            look_again().await;
        }
    }

    /// Returns what is in the file once something is.
    pub(crate) async fn until_written(&self, path: &PathBuf) -> String {
        loop {
            match fs::read_to_string(path) {
                Ok(text) if !text.is_empty() => return text,
                _ => look_again().await,
            }
        }
    }

    fn runs(&self, words: &str) -> bool {
        self.processes().iter().any(|line| line.contains(words))
    }

    /// The model thinks as hard as this word says, and tools ask nobody.
    pub(crate) fn thinking(mut self, word: Option<&str>) -> Self {
        self.options.permissions = Permissions::Bypass;
        self.options.thinking = word.map(|word| Thinking::Said(word.to_owned()));
        self
    }

    /// Returns the effort of each request that the model got, which is at `pointer`.
    pub(crate) fn efforts(&self, pointer: &str) -> Vec<String> {
        let effort = |request: &String| {
            let json: serde_json::Value = serde_json::from_str(request).unwrap();
            json.pointer(pointer)?.as_str().map(str::to_owned)
        };
        self.requests().iter().map(|request| effort(request).unwrap_or_default()).collect()
    }

    /// Returns the bodies of the requests that the model got.
    pub(crate) fn requests(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("requests")).unwrap().map(|it| it.unwrap().path());
        // One that is being written now has another name, and will soon be gone.
        let mut files: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
        files.sort();
        files.into_iter().map(|file| fs::read_to_string(file).unwrap()).collect()
    }
}

/// Lets through what the model says, or holds it back.
pub(crate) struct Valve(watch::Sender<bool>);

impl Valve {
    pub(crate) fn close(&self) {
        self.0.send_replace(false);
    }

    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }
}

/// Carries one connection; what the model says waits while the valve is closed.
async fn pass(program: TcpStream, model: SocketAddr, mut open: watch::Receiver<bool>) {
    let Ok(model) = TcpStream::connect(model).await else { return };
    let (mut asks, mut hears) = program.into_split();
    let (mut answers, mut asked) = model.into_split();
    let upward = async {
        let _ = io::copy(&mut asks, &mut asked).await;
        let _ = asked.shutdown().await;
    };
    let downward = async {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = answers.read(&mut bytes).await {
            let gone = open.wait_for(|open| *open).await.is_err();
            if gone || hears.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
        let _ = hears.shutdown().await;
    };
    tokio::join!(upward, downward);
}

impl Drop for Rig {
    fn drop(&mut self) {
        for found in run_id::run_processes(&self.installation) {
            let kill = gangline_os::kill::Signal::Kill;
            let _ = gangline_os::proc::signal_exact(found.pid, found.start_time, kill);
        }
    }
}

/// The events of one turn, its end last.
#[derive(Debug)]
pub(crate) struct Done(pub(crate) Vec<RuntimeEvent>);

impl Done {
    /// What the backend said of the effort: to what it was raised, or that it is the usual one again.
    pub(crate) fn efforts(&self) -> Vec<Option<EffortLevel>> {
        let effort = |event: &RuntimeEvent| match event {
            RuntimeEvent::Effort { raised } => Some(*raised),
            _ => None,
        };
        self.0.iter().filter_map(effort).collect()
    }

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

    /// What the operator was told.
    pub(crate) fn notices(&self) -> Vec<&str> {
        let notices = self.0.iter().filter_map(|event| match event {
            RuntimeEvent::Notice { text } => Some(text.as_str()),
            _ => None,
        });
        notices.collect()
    }

    pub(crate) fn asked(&self) -> bool {
        self.0.iter().any(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. }))
    }
}
