//! How the program is started: which one, with which arguments and environment.
//!
//! Settings of ours are arguments and fields of the conversation; no file of the user's is written.
//! Start at [`prepare`].

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use gangline_os::{
    fsio,
    process::{Group, Output, Spawn, Stdin},
    run_id::{RUN_ID, RunId},
};

use tokio::sync::watch;

use super::{
    NAME,
    login::Login,
    permit,
    permit::Gate,
    thread::{self, Thread},
    turns::{Credentials, Setup, Turns},
};
use crate::{
    Permissions, StartOptions,
    folder::{
        self,
        projects::{self, Trust},
    },
    program::{
        self,
        login::Sign,
        version::{self, Wanted},
        worker::{Life, Start, Worker},
    },
    registry::known,
    session::SessionPort,
};

#[cfg(test)]
mod tests;

const WANTED: Wanted = Wanted {
    title: "Codex",
    oldest: known::CODEX_OLDEST,
    update: "install it with `npm install -g @openai/codex@latest`",
};

/// Variables by which the program knows that it runs inside of another one; not ours to pass on.
const INHERITED: [&str; 7] = [
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "NODE_OPTIONS",
];

/// What holds for every session of ours.
const SETTINGS: [&str; 9] = [
    // A refused connection is told after some tries; by itself the program tries for ever.
    "features.unbounded_connection_retries=false",
    // A text that is added waits for the end of what the model is saying; nothing of that is lost.
    "features.instant_interrupt=false",
    // A goal makes the program begin turns by itself.
    "features.goals=false",
    // These look for hosts of the vendor at the start, whoever serves the model.
    "features.plugins=false",
    "features.apps=false",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    "feedback.enabled=false",
    // It decides at the start what it warns of; each conversation says its own.
    "sandbox_mode=\"danger-full-access\"",
];

/// What holds for a session that only judges, too.
const JUDGES: [&str; 2] = ["features.shell_tool=false", "features.unified_exec=false"];

/// Everything that is needed to start the program.
pub(super) struct Launch {
    pub(super) spawn: Spawn,
    /// By which its descendants are found again.
    pub(super) run_id: Option<RunId>,
    pub(super) login: Login,
    /// What the operator should know before anything else.
    pub(super) notices: Vec<String>,
    /// Whether the program may load what its folder brings along.
    pub(super) trust: Trust,
    /// The system prompt; with the project's instructions, where the program does not read them.
    prompt: String,
}

/// Makes folders, asks the program for its version, and returns how to start it. Not cancel-safe:
/// folders may be made; another call goes on with them.
///
/// # Errors
/// One line that says what to do.
pub(super) async fn prepare(options: &StartOptions) -> Result<Launch, String> {
    private_dir(&options.session_dir)?;
    private_dir(&options.tmp_dir)?;
    let env = environment(options);
    let login = Login::new(&env);
    check_home(options, &login)?;
    let (program, before) = program::command(options, NAME)?;
    let mut spawn = Spawn {
        program,
        args: before,
        cwd: options.workdir.clone(),
        env: env.iter().map(|(key, value)| (key.into(), value.into())).collect(),
        stdin: Stdin::Null,
        stdout: Output::Piped,
        stderr: Output::Piped,
        group: Group::New,
    };
    version::check(spawn.clone(), &WANTED).await?;
    let decided = folder::decide(options, &folder::programs::CODEX)?;
    let trust = Trust::of(&decided);
    let (prompt, of_files) = match trust {
        Trust::None => folder::with_instructions(options),
        Trust::Allowed => (options.system_prompt.clone(), Vec::new()),
    };
    let of_folder = decided.notice.into_iter().chain(of_files);
    spawn.args.extend(arguments(options, trust));
    spawn.stdin = Stdin::Piped;
    let run_id = env.get(RUN_ID).and_then(|run_id| run_id.parse().ok());
    let notice = (options.permissions != Permissions::Bypass && login.has_rules()).then(|| {
        format!("what the files in {}/rules allow runs without being asked about", login.shown())
    });
    let notices = notice.into_iter().chain(of_folder).collect();
    Ok(Launch { spawn, run_id, login, notices, trust, prompt })
}

impl Launch {
    /// Starts the program of a session. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// One line that says why it cannot be started.
    pub(super) fn start(
        self,
        options: &StartOptions,
        port: SessionPort,
    ) -> Result<Worker<Turns>, String> {
        let with_prompt = StartOptions { system_prompt: self.prompt, ..options.clone() };
        let start = Start {
            name: NAME,
            protocol: Turns::new(setup(&with_prompt, &self.login, self.trust)),
            spawn: self.spawn,
            run_id: self.run_id,
            session: options.resume.clone(),
            login: Sign::Files(self.login.files()),
            notices: self.notices,
            life: Life::Session,
            turn: watch::Sender::default(),
            port,
        };
        Worker::start(start, options)
    }
}

fn setup(options: &StartOptions, login: &Login, trust: Trust) -> Setup {
    let tools = options.tools.tools();
    let credentials = if thread::has_provider(options) {
        Credentials::OfTheOptions
    } else {
        Credentials::OfTheProgram
    };
    let hint = match credentials {
        Credentials::OfTheProgram => format!(
            "Run `codex login` as the agent's user (its login is kept in {}), or give the agent a \
             key by `api_key_env`",
            login.shown()
        ),
        Credentials::OfTheOptions => {
            "Give the agent a valid key by `api_key_env` and start it again".to_owned()
        }
    };
    Setup {
        thread: Thread::new(options, &tools, trust),
        resume: options.resume.clone(),
        model: options.model.clone(),
        gate: Gate::of(options),
        tools: tools.iter().map(|tool| tool.name).collect(),
        credentials,
        login: hint,
    }
}

fn private_dir(path: &Path) -> Result<(), String> {
    fsio::private_dir(path).map_err(|error| error.to_string())
}

/// The program puts helpers into its folder and does without them below the temporary one.
fn check_home(options: &StartOptions, login: &Login) -> Result<(), String> {
    let Some(home) = login.folder() else { return Ok(()) };
    if real(home).starts_with(real(&options.tmp_dir)) {
        return Err(format!(
            "its folder {} lies below the temporary folder {}, where codex does not work fully: \
             set `account_dir` to a folder that stays",
            home.display(),
            options.tmp_dir.display()
        ));
    }
    match &options.account_dir {
        // It refuses a folder that it is told of and that is not there.
        Some(dir) => private_dir(dir),
        None => Ok(()),
    }
}

/// Returns the path with its links followed as far as it is there.
fn real(path: &Path) -> PathBuf {
    let exists = path.ancestors().find_map(|it| Some((it, it.canonicalize().ok()?)));
    match exists {
        Some((there, real)) => match path.strip_prefix(there) {
            Ok(rest) => real.join(rest),
            Err(_) => path.to_owned(),
        },
        None => path.to_owned(),
    }
}

fn environment(options: &StartOptions) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = options.env.iter().cloned().collect();
    env.retain(|name, _| !INHERITED.contains(&name.as_str()));
    env.insert("TMPDIR".to_owned(), options.tmp_dir.display().to_string());
    if let Some(dir) = &options.account_dir {
        env.insert("CODEX_HOME".to_owned(), dir.display().to_string());
    }
    env
}

fn arguments(options: &StartOptions, trust: Trust) -> Vec<OsString> {
    let gate = Gate::of(options);
    let mut settings: Vec<&str> = SETTINGS.into();
    // What cannot be asked about is there only where it may run unasked.
    if !gate.allows(permit::AGENTS) {
        settings.push("features.multi_agent=false");
    }
    if !gate.allows(permit::SEARCH) {
        settings.push("web_search=\"disabled\"");
    }
    // It looks at any image unasked.
    if !gate.allows_all() {
        settings.push("features.view_image=false");
    }
    // What is typed into a terminal is not asked about, only the command that opened it.
    if !gate.allows_all() {
        settings.push("features.unified_exec_tty=false");
    }
    // One that judges has nothing to run: the model is not even offered a shell.
    if options.purpose == crate::Purpose::Judge {
        settings.extend(JUDGES);
    }
    // It reads the settings of its working folder when it starts.
    let projects = format!("projects={}", projects::toml(options, trust));
    settings.push(&projects);
    let set = settings.into_iter().flat_map(|setting| ["-c", setting]);
    ["app-server"].into_iter().chain(set).map(OsString::from).collect()
}
