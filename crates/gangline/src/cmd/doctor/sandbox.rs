//! Where programs are tried: a folder that is thrown away, a stand-in model, an environment that
//! knows nothing of the user's.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use gangline_conformance::{self as conformance, McpProbe, Model, Subject};
use gangline_core::{Epoch, TurnId};
use gangline_os::{
    CancellationToken, clock, fsio,
    process::base_env,
    run_id::{RUN_ID, RunId},
    secret::Secret,
    sweep::{self, Root, Sweep},
    task::TaskGroup,
};
use gangline_runtime::{
    McpServer, StartOptions, ToolCall, ToolHost, ToolSpec, adapters, toolserver::ToolServer,
};
use gangline_standin::{Records, Script, StandinOptions, serve};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::watch};
use uuid::Uuid;

use super::target::Target;
use crate::{cmd::daemon, failure::Failure};

/// What is left of a program gets this long between TERM and KILL.
const GRACE: Duration = Duration::from_secs(1);
/// What programs are given as the key of the model.
const KEY: &str = "not-a-key";

/// The place for all of them.
pub(super) struct Sandbox {
    /// Below the state folder: some programs want no home below the temporary one.
    folder: TempDir,
    /// By which its processes are found.
    installation: String,
}

/// The place for one of them.
pub(super) struct Bench {
    pub(super) subject: Subject,
    _standin: TaskGroup,
    _tools: ToolServer,
    _turn: watch::Sender<Option<TurnId>>,
}

impl Sandbox {
    pub(super) fn open(state: &Path) -> Result<Self, Failure> {
        let parent = state.join("doctor");
        fsio::private_dir(&parent).map_err(Failure::environment)?;
        let folder = tempfile::Builder::new().prefix("").tempdir_in(&parent);
        let folder = folder.map_err(|error| {
            Failure::environment(error).doing(format!("cannot use {}", parent.display()))
        })?;
        Ok(Self { folder, installation: format!("doctor-{}", Uuid::new_v4()) })
    }

    /// Ends what is left of the programs and removes the folder.
    pub(super) async fn close(self) {
        let ours = |found: &RunId| found.installation == self.installation;
        sweep::sweep(Sweep { ours: &ours, roots: &[Root::Marked] }, GRACE).await;
        let parent = self.folder.path().parent().map(Path::to_owned);
        if let Err(error) = self.folder.close() {
            tracing::warn!(%error, "the doctor's temporary folder was not removed");
        }
        // Only if nobody else has a folder there.
        let _ = parent.map(std::fs::remove_dir);
    }

    /// Makes the place for one backend; no two have the same index.
    pub(super) async fn bench(&self, index: usize, target: &Target) -> Result<Bench, Failure> {
        let dialect = target.dialect;
        let folder = self.folder.path().join(index.to_string());
        let path = |name: &str| folder.join(name);
        for name in ["home", "work"] {
            fsio::private_dir(&path(name)).map_err(Failure::environment)?;
        }
        let script = Script::parse(&conformance::script(dialect)).map_err(Failure::environment)?;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(Failure::environment)?;
        let address = listener.local_addr().map_err(Failure::environment)?;
        let standin = StandinOptions {
            listener,
            script: Some(script),
            record: Some(path("requests")),
            clock: clock::system(),
        };
        let mut tasks = TaskGroup::new("doctor");
        tasks.spawn("standin", async move {
            if let Err(error) = serve(standin, CancellationToken::new()).await {
                tracing::error!(%error, "the stand-in model ended");
            }
        });
        let bridge = daemon::tool_bridge()?;
        let (turn, watched) = watch::channel(Some(TurnId { epoch: Epoch(1), number: 1 }));
        // Not with the others: the path of a socket must be short.
        let tools = ToolServer::start(Arc::new(Echo), watched, &self.folder.path().join("s"));
        let tools = tools.map_err(Failure::environment)?;
        let records = Mutex::new(Records::of(path("requests")));
        let subject = Subject {
            make: Box::new(adapters::maker(&target.found).map_err(Failure::environment)?),
            options: self.options(&folder, target, &bridge),
            dialect: *dialect,
            model: Arc::new(Standin { origin: format!("http://{address}"), records }),
            mcp: probes(&tools, &bridge),
            version: target.version.clone(),
            only: dialect.only.to_vec(),
        };
        Ok(Bench { subject, _standin: tasks, _tools: tools, _turn: turn })
    }

    fn options(&self, folder: &Path, target: &Target, bridge: &[String]) -> StartOptions {
        let words = &target.words;
        let home = folder.join("home").display().to_string();
        let kept = base_env().into_iter().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        // The user's own folders would be found by them.
        let own = target.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut env: Vec<(String, String)> = kept
            .filter(|(name, _)| !target.env.contains_key(name))
            .chain(own)
            .filter(|(name, _)| name != "HOME" && name != "TMPDIR" && !name.starts_with("XDG_"))
            .collect();
        env.push(("HOME".to_owned(), home));
        env.push((RUN_ID.to_owned(), format!("{}/doctor/1", self.installation)));
        StartOptions {
            command: Some(words.to_vec()).filter(|words| !words.is_empty()),
            env,
            system_prompt: "You are being tried out by a doctor.".to_owned(),
            tool_bridge: bridge.to_vec(),
            api_key: Some(Secret::new(KEY)),
            extra: target.extra.clone(),
            ..StartOptions::within(folder)
        }
    }
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
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |text: &&String| words.iter().all(|words| text.contains(words));
        records.all().iter().rev().find(fits).cloned()
    }
}

/// Returns the server of [`Echo`] by both of its ways, as servers of the user's would be.
fn probes(tools: &ToolServer, bridge: &[String]) -> Vec<McpProbe> {
    let probe = |server: McpServer| McpProbe {
        server: McpServer { key: "probe".to_owned(), ..server },
        tool: ECHO.to_owned(),
    };
    [Some(tools.over_http()), tools.over_stdio(bridge)].into_iter().flatten().map(probe).collect()
}

/// The tool that gives back what it is given.
const ECHO: &str = "echo";

/// The tools of an MCP server other than the daemon's.
struct Echo;

#[async_trait]
impl ToolHost for Echo {
    fn tools(&self) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: ECHO,
            description: "Gives back a text.",
            input_schema: serde_json::json!({
                "type": "object",
                "properties": { "text": { "type": "string" } },
                "required": ["text"],
            }),
            output_schema: None,
        }]
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        Ok(format!("echo: {}", call.input["text"].as_str().unwrap_or_default()))
    }
}
