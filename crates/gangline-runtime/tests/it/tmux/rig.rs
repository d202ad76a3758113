//! The daemon's side of a session with a program in a terminal.

use std::{
    collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::PathBuf, sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId};
use gangline_os::{CancellationToken, clock, mark, secret::Secret, task::TaskGroup};
use gangline_runtime::{
    Block, Mode, PermissionMode, Prompt, Runtime, RuntimeEvent, SessionHandle, StartOptions,
    ToolCall, ToolHost, ToolSpec, TurnResult, registry,
};
use gangline_standin::{Script, StandinOptions, serve};
use tokio::{net::TcpListener, sync::mpsc};
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(90);

/// A session and what it tells. Everything lies in one folder, and every process carries its mark.
pub(crate) struct Rig {
    pub(crate) runtime: Box<dyn Runtime>,
    pub(crate) options: StartOptions,
    events: mpsc::Receiver<RuntimeEvent>,
    installation: String,
    tasks: TaskGroup,
    folder: tempfile::TempDir,
}

/// A daemon without tools.
struct Nothing;

#[async_trait]
impl ToolHost for Nothing {
    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }
    async fn call(&self, _call: ToolCall) -> Result<String, String> {
        Err("there are none".to_owned())
    }
}

pub(crate) fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

/// Between two looks at a fact that is awaited; the runner ends a test that waits for ever.
async fn look_again() {
    // sleep: no process tells anybody that it starts or ends.
    tokio::time::sleep(Duration::from_millis(10)).await;
}

impl Rig {
    /// A rig for a program; `screen` is what the configuration says about its screen.
    pub(crate) fn new(command: &[&str], screen: serde_json::Value) -> Self {
        let folder = tempfile::Builder::new().prefix("gl-").tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["home", "work"] {
            fs::create_dir(path(name)).unwrap();
        }
        let installation = format!("test-{}", Uuid::new_v4());
        let env = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", path("home").display().to_string()),
            ("LANG", "C.UTF-8".to_owned()),
            ("PS1", "$ ".to_owned()),
            ("GANGLINE_RUN", format!("{installation}/oak-ada/1")),
            // What a daemon in somebody's tmux has.
            ("TMUX", "/tmp/somebody,1,0".to_owned()),
        ];
        let options = StartOptions {
            workdir: path("work"),
            session_dir: path("sessions"),
            tmp_dir: path("tmp"),
            command: Some(command.iter().map(|word| (*word).to_owned()).collect()),
            account_dir: None,
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
            mode: Mode::Resident,
            model: None,
            thinking: None,
            system_prompt: String::new(),
            mcp_servers: Vec::new(),
            permissions: PermissionMode::Ask,
            allowed_tools: Vec::new(),
            resume: None,
            initial_prompt: None,
            tool_bridge: Vec::new(),
            base_url: None,
            api_key: None,
            extra: BTreeMap::from([("screen".to_owned(), screen)]),
            tools: Arc::new(Nothing),
        };
        Self {
            runtime: registry::make("tmux").unwrap(),
            options,
            events: mpsc::channel(1).1,
            installation,
            tasks: TaskGroup::new("test"),
            folder,
        }
    }

    /// A rig for a program that is written here, in Python.
    pub(crate) fn python(program: &str, screen: serde_json::Value) -> Self {
        let rig = Self::new(&[], screen);
        let path = rig.path("program");
        fs::write(&path, format!("#!/usr/bin/env python3\n{program}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let mut rig = rig;
        rig.options.command = Some(vec![path.display().to_string()]);
        rig
    }

    /// Serves a model that follows the script.
    pub(crate) async fn model(&mut self, script: &str) -> String {
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
        self.options.api_key = Some(Secret::new("sk-ant-standin-0123456789ab"));
        format!("http://{address}")
    }

    pub(crate) fn installation(&self) -> String {
        self.installation.clone()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts without waiting for anything.
    pub(crate) async fn begin(&mut self) -> SessionHandle {
        let (sender, events) = mpsc::channel(64);
        self.events = events;
        self.runtime.start(self.options.clone(), sender).await.unwrap()
    }

    /// Starts and waits until prompts are taken.
    pub(crate) async fn start(&mut self) -> SessionHandle {
        let handle = self.begin().await;
        let seen = self.until(|event| matches!(event, RuntimeEvent::Ready { .. })).await;
        let Some(RuntimeEvent::Ready { session }) = seen.last() else { unreachable!() };
        assert_eq!(Some(session), handle.session.as_ref());
        handle
    }

    async fn next(&mut self) -> Option<RuntimeEvent> {
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
            let Some(event) = self.next().await else {
                panic!("it ended after {seen:#?}\n{}", self.screen())
            };
            let last = fits(&event);
            seen.push(event);
            if last {
                return seen;
            }
        }
    }

    pub(crate) async fn until_accepted(&mut self) {
        self.until(|event| matches!(event, RuntimeEvent::Accepted { .. })).await;
    }

    /// Returns everything up to the turn's end.
    pub(crate) async fn until_finished(&mut self) -> Done {
        Done(self.until(|event| matches!(event, RuntimeEvent::Finished { .. })).await)
    }

    /// Says it and returns how its turn ended.
    pub(crate) async fn ask(&mut self, number: i64, text: &str) -> Done {
        self.say(number, text).await;
        self.until_finished().await
    }

    /// Returns everything up to the end of the events.
    pub(crate) async fn rest(&mut self) -> Vec<RuntimeEvent> {
        let mut seen = Vec::new();
        while let Some(event) = self.next().await {
            seen.push(event);
        }
        seen
    }

    /// Runs a command of tmux on the agent's server, as a human would.
    #[allow(clippy::disallowed_methods, reason = "the human's own program, which ends at once")]
    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("tmux")
            .args(["-u", "-N", "-S", "tmux.sock"])
            .args(args)
            .current_dir(self.path("sessions"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Returns the pids and command lines of the processes that the session has started.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let line = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let shown = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', " ");
        let marked = mark::marked_processes(&self.installation);
        marked.into_iter().map(|it| (it.pid, shown(line(it.pid)))).collect()
    }

    /// Waits until a file is there.
    pub(crate) async fn until_there(&self, name: &str) {
        while !self.path(name).exists() {
            look_again().await;
        }
    }

    /// Waits until the screen shows a text.
    pub(crate) async fn until_shown(&self, text: &str) {
        while !self.screen().contains(text) {
            look_again().await;
        }
    }

    /// Stops it; its exit is told last, and no process is left.
    pub(crate) async fn put_away(mut self) {
        self.runtime.stop(gangline_runtime::StopReason::Shutdown).await;
        assert_eq!(self.rest().await.last(), Some(&RuntimeEvent::Exited { code: 0 }));
        assert_eq!(self.processes(), []);
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
    /// All that was said.
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

    /// Why it failed.
    pub(crate) fn why(&self) -> &str {
        match self.result() {
            TurnResult::Failed { why, .. } => why,
            other => panic!("not failed but {other:?}"),
        }
    }
}
