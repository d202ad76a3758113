//! Where programs are tried: a folder that is thrown away, a stand-in model, an environment that
//! knows nothing of the user's.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use gangline_os::{
    CancellationToken, clock, fsio,
    mark::{self, RUN_MARK},
    process::base_env,
    secret::Secret,
    task::TaskGroup,
};
use gangline_runtime::{
    Mode, PermissionMode, StartOptions, ToolCall, ToolHost, ToolSpec,
    conformance::{Dialect, Model, Subject},
    registry,
};
use gangline_standin::{Records, Script, StandinOptions, serve};
use tempfile::TempDir;
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::failure::Failure;

/// What is left of a program gets this long between TERM and KILL.
const GRACE: Duration = Duration::from_secs(1);
/// What programs are given as the key of the model.
const KEY: &str = "not-a-key";

/// The place for all of them.
pub(super) struct Lab {
    /// Below the state folder: some programs want no home below the temporary one.
    folder: TempDir,
    /// By which its processes are found.
    installation: String,
}

/// The place for one of them.
pub(super) struct Bench {
    pub(super) subject: Subject,
    _standin: TaskGroup,
}

impl Lab {
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
        let ours = |it: &mark::Marked| it.mark.installation == self.installation;
        mark::sweep(|marked| !ours(marked), GRACE).await;
        let parent = self.folder.path().parent().map(Path::to_owned);
        if let Err(error) = self.folder.close() {
            tracing::warn!(%error, "the doctor's folder stays behind");
        }
        // Only if nobody else has a folder there.
        let _ = parent.map(std::fs::remove_dir);
    }

    /// Makes the place for one backend. `program` is its file, if it has one.
    pub(super) async fn bench(
        &self,
        dialect: &Dialect,
        program: Option<PathBuf>,
        version: String,
    ) -> Result<Bench, Failure> {
        let folder = self.folder.path().join(dialect.backend);
        let path = |name: &str| folder.join(name);
        for name in ["home", "work"] {
            fsio::private_dir(&path(name)).map_err(Failure::environment)?;
        }
        let script = Script::parse(&dialect.script()).map_err(Failure::environment)?;
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
        let records = Mutex::new(Records::of(path("requests")));
        let subject = Subject {
            make: Box::new(registry::maker(dialect.backend).map_err(Failure::environment)?),
            options: self.options(&folder, program),
            dialect: *dialect,
            model: Arc::new(Standin { origin: format!("http://{address}"), records }),
            mcp: Vec::new(),
            version,
            only: Vec::new(),
        };
        Ok(Bench { subject, _standin: tasks })
    }

    fn options(&self, folder: &Path, program: Option<PathBuf>) -> StartOptions {
        let home = folder.join("home").display().to_string();
        let kept = base_env().into_iter().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        // The user's own folders would be found by them.
        let mut env: Vec<(String, String)> = kept
            .filter(|(name, _)| name != "HOME" && name != "TMPDIR" && !name.starts_with("XDG_"))
            .collect();
        env.push(("HOME".to_owned(), home));
        env.push((RUN_MARK.to_owned(), format!("{}/doctor/1", self.installation)));
        StartOptions {
            workdir: folder.join("work"),
            session_dir: folder.join("sessions"),
            tmp_dir: folder.join("tmp"),
            command: program.map(|program| vec![program.display().to_string()]),
            account_dir: None,
            env,
            mode: Mode::Resident,
            model: None,
            thinking: None,
            system_prompt: "You are being tried out by a doctor.".to_owned(),
            mcp_servers: Vec::new(),
            permissions: PermissionMode::Ask,
            allowed_tools: Vec::new(),
            resume: None,
            initial_prompt: None,
            tool_bridge: Vec::new(),
            base_url: None,
            api_key: Some(Secret::new(KEY)),
            extra: BTreeMap::new(),
            tools: Arc::new(NoTools),
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

/// The suite brings its own.
struct NoTools;

#[async_trait]
impl ToolHost for NoTools {
    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    async fn call(&self, call: ToolCall) -> Result<String, String> {
        Err(format!("there is no tool {}", call.name))
    }
}
