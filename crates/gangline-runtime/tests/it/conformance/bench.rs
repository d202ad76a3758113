//! A place to run the suite in: a folder, a stand-in that follows the dialect's script, a run id.
#![allow(clippy::print_stdout, reason = "a failure shows what was found before it")]

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use gangline_conformance::{self as conformance, McpProbe, Model, Progress, Report, Subject};
use gangline_os::{CancellationToken, clock, run_id, secret::Secret, task::TaskGroup};
use gangline_runtime::{
    McpPlace, McpServer, Runtime, StartOptions, adapters,
    registry::dialect::{self, Dialect, Pace},
};
use gangline_standin::{Records, Script, StandinOptions, serve};
use gangline_testkit::mcp;
use tokio::net::TcpListener;
use uuid::Uuid;

/// Joins its streams to a socket, as the daemon's own bridge does.
const BRIDGE: &str = r#"const s = require("net").connect(process.argv[2]);
process.stdin.pipe(s); s.pipe(process.stdout); s.on("close", () => process.exit(0));"#;

/// Offers the tool `echo` of a server for tests.
fn probe(place: McpPlace) -> McpProbe {
    let allowed_tools = vec!["*".to_owned()];
    let server = McpServer { key: "probe".to_owned(), place, allowed_tools };
    McpProbe { server, tool: "echo".to_owned() }
}

/// The stand-in, as the suite asks it.
struct Standin {
    origin: String,
    records: Mutex<Records>,
}

impl Model for Standin {
    fn origin(&self) -> String {
        self.origin.clone()
    }

    fn newest_with(&self, words: &[&str]) -> Option<String> {
        let mut records = self.records.lock().unwrap();
        let fits = |text: &&String| words.iter().all(|words| text.contains(words));
        records.all().iter().rev().find(fits).cloned()
    }
}

/// The place. What is left of its programs ends with it.
pub(crate) struct Bench {
    pub(crate) subject: Subject,
    installation: String,
    _tasks: TaskGroup,
    _server: mcp::HttpServer,
    folder: tempfile::TempDir,
}

impl Bench {
    /// A bench for a column of the table; `command` is its program, if it has one.
    pub(crate) async fn new(column: &str, command: Option<PathBuf>) -> Self {
        let mut dialect = *dialect::find(column).unwrap();
        // A machine with other work takes minutes to start some of these programs.
        let patience = Duration::from_secs(240);
        dialect.pace = Pace { ready: patience, turn: patience, retries: patience };
        let make = adapters::named(dialect.backend).unwrap();
        Self::with(dialect, Box::new(make), command).await
    }

    /// A bench for any adapter.
    pub(crate) async fn with(
        dialect: Dialect,
        make: Box<dyn Fn() -> Box<dyn Runtime> + Send + Sync>,
        command: Option<PathBuf>,
    ) -> Self {
        // Below the target folder: some programs want no home below the temporary one.
        let parent = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let folder = tempfile::Builder::new().prefix("gl-").tempdir_in(parent).unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["home", "work"] {
            fs::create_dir(path(name)).unwrap();
        }
        let mut tasks = TaskGroup::new("bench");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let options = StandinOptions {
            listener,
            script: Some(Script::parse(&conformance::script(&dialect)).unwrap()),
            record: Some(path("requests")),
            clock: clock::system(),
        };
        tasks.spawn("standin", async move {
            let _ = serve(options, CancellationToken::new()).await;
        });
        fs::write(path("bridge.js"), BRIDGE).unwrap();
        let bridge = ["node".to_owned(), path("bridge.js").display().to_string()];
        let installation = format!("test-{}", Uuid::new_v4());
        let env = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", path("home").display().to_string()),
            ("GANGLINE_RUN", format!("{installation}/suite/1")),
        ];
        let options = StartOptions {
            command: command.map(|program| vec![program.display().to_string()]),
            env: env.map(|(name, value)| (name.to_owned(), value)).into(),
            system_prompt: "You are being tried out.".to_owned(),
            tool_bridge: bridge.into(),
            api_key: Some(Secret::new("none")),
            tools: Arc::new(Nothing),
            ..StartOptions::within(folder.path())
        };
        fs::create_dir(path("mcp")).unwrap();
        let server = mcp::http();
        let records = Mutex::new(Records::of(path("requests")));
        let subject = Subject {
            make,
            options,
            dialect,
            model: Arc::new(Standin { origin, records }),
            mcp: vec![
                probe(McpPlace::Stdio { command: mcp::stdio(&path("mcp")), env: BTreeMap::new() }),
                probe(McpPlace::Http { url: server.url.clone(), headers: BTreeMap::new() }),
            ],
            version: String::new(),
            only: Vec::new(),
        };
        Self { subject, installation, _tasks: tasks, _server: server, folder }
    }

    /// Runs the suite and shows each score as it falls.
    pub(crate) async fn run(&self) -> Report {
        let report = conformance::run(&self.subject, &|progress| {
            let Progress::Found(outcome) = progress else { return };
            println!(
                "{:6.2} s  {:11} {}{}",
                outcome.took.as_secs_f64(),
                outcome.score.word(),
                outcome.cell.id,
                outcome.score.why().map(|why| format!(": {why}")).unwrap_or_default(),
            );
        })
        .await;
        println!("all: {:.1} s in {}", report.took.as_secs_f64(), self.folder.path().display());
        report
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for found in run_id::run_processes(&self.installation) {
            let kill = gangline_os::kill::Signal::Kill;
            let _ = gangline_os::proc::signal_exact(found.pid, found.start_time, kill);
        }
        if std::thread::panicking() || std::env::var_os("GANGLINE_KEEP").is_some() {
            self.folder.disable_cleanup(true);
        }
    }
}

/// A daemon without tools; the suite brings its own.
struct Nothing;

#[async_trait::async_trait]
impl gangline_runtime::ToolHost for Nothing {
    fn tools(&self) -> Vec<gangline_runtime::ToolSpec> {
        Vec::new()
    }

    async fn call(&self, _: gangline_runtime::ToolCall) -> Result<String, String> {
        Err("no such tool".to_owned())
    }
}
