//! How the program is started: which one, with which arguments, files and environment.
//!
//! Neither a flag nor a variable takes permission rules or the root check away from it: what may
//! run is decided over the pipe. Start at [`prepare`].

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
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    NAME, effort,
    login::Login,
    permit::Gate,
    turns::{Setup, Turns},
};
use crate::{
    McpPlace, McpServer, Mode, Purpose, SessionId, StartOptions,
    folder::{
        self, Decided, Load, Without,
        project::{self, Project},
    },
    program::{
        self,
        login::Sign,
        version::{self, Wanted},
        worker::{Life, Start, Worker},
    },
    reading::{Reading, Searches},
    registry::known,
    session::SessionPort,
};

mod per_turn;

#[cfg(test)]
mod tests;

const WANTED: Wanted = Wanted {
    title: "Claude Code",
    oldest: known::CLAUDE_OLDEST,
    update: "install it with `npm install -g @anthropic-ai/claude-code@latest` (without `@latest` \
             npm may choose an old release)",
};

/// Variables by which the program knows that it runs inside of another one; not ours to pass on.
const INHERITED: [&str; 12] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "NODE_OPTIONS",
];

/// What holds unless the environment that we are given says otherwise.
const DEFAULTS: [(&str, &str); 7] = [
    // Failed calls are tried again for ten seconds instead of three minutes: then the daemon knows.
    ("CLAUDE_CODE_MAX_RETRIES", "4"),
    ("API_TIMEOUT_MS", "600000"),
    // The end of all work is told.
    ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    // The daemon's tools are in the first request, not behind a search.
    ("ENABLE_TOOL_SEARCH", "false"),
];

/// Tools that a session in a chat has no use for: a question comes as text, and nobody wakes a
/// session by a timer of the program's own.
const NEVER: &str = "AskUserQuestion";
const NEVER_BY_ITSELF: &str =
    "AskUserQuestion,CronCreate,CronDelete,CronList,Monitor,ScheduleWakeup";

/// Everything that is needed to start the program.
pub(super) struct Launch {
    pub(super) spawn: Spawn,
    pub(super) session: SessionId,
    /// By which its descendants are found again.
    pub(super) run_id: Option<RunId>,
    pub(super) login: Login,
    /// What the operator should know before anything else.
    pub(super) notices: Vec<String>,
}

/// Asks the program for its version, then as [`again`]. Not cancel-safe: files may be half made;
/// another call makes them again.
///
/// # Errors
/// One line that says what to do.
pub(super) async fn prepare(options: &StartOptions) -> Result<Launch, String> {
    let launch = again(options)?;
    let mut asked = launch.spawn.clone();
    asked.args = program::command(options, NAME)?.1;
    asked.stdin = Stdin::Null;
    version::check(asked, &WANTED).await?;
    Ok(launch)
}

/// Makes folders and files and returns how to start the program.
///
/// # Errors
/// One line that says what to do.
pub(super) fn again(options: &StartOptions) -> Result<Launch, String> {
    private_dir(&options.session_dir)?;
    private_dir(&options.tmp_dir)?;
    let mut env = environment(options);
    let (program, mut args) = program::command(options, NAME)?;
    let login = Login::new(&env);
    let (session, goes_on) = session(options, &login);
    // Other programs find the session by this name (R3-14).
    env.insert("CLAUDE_SESSION_ID".to_owned(), session.0.clone());
    let mut notices = match (&options.resume, goes_on) {
        (Some(_), GoesOn::No) => vec![format!(
            "session {session} has no transcript (it had no turn, or it was removed); it begins \
             empty, under the same id"
        )],
        (Some(_) | None, GoesOn::No | GoesOn::Yes) => Vec::new(),
    };
    let folder = Folder::of(options)?;
    args.extend(arguments((options, &folder), &session, goes_on)?);
    notices.extend(folder.notices);
    let spawn = Spawn {
        program,
        args,
        cwd: options.workdir.clone(),
        env: env.iter().map(|(key, value)| (key.into(), value.into())).collect(),
        stdin: Stdin::Piped,
        stdout: Output::Piped,
        stderr: Output::Piped,
        group: Group::New,
    };
    let run_id = env.get(RUN_ID).and_then(|run_id| run_id.parse().ok());
    Ok(Launch { spawn, session, run_id, login, notices })
}

impl Launch {
    /// Starts the program of a session, or of one turn. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// One line that says why it cannot be started.
    pub(super) fn start(
        self,
        options: &StartOptions,
        port: SessionPort,
    ) -> Result<Worker<Turns>, String> {
        let tools = options.tools.tools();
        let names = tools.iter().map(|tool| tool.name).collect();
        let mut reading = Reading::of(options, Searches::ReadAll);
        reading.opens(&self.login.read_by_tools(&options.workdir, &self.session.0));
        let gate = Gate::new(reading, options.tools.server_key(), names);
        let setup = Setup {
            session: self.session.clone(),
            gate,
            tools,
            effort: effort::ground(options),
            login: self.login.shown(),
        };
        let start = Start {
            name: NAME,
            protocol: Turns::new(setup),
            spawn: self.spawn,
            run_id: self.run_id,
            session: Some(self.session),
            login: Sign::Files(self.login.files()),
            notices: self.notices,
            life: match options.mode {
                Mode::PerTurn => Life::OneThing,
                Mode::Resident | Mode::Tmux => Life::Session,
            },
            turn: watch::Sender::default(),
            port,
        };
        Worker::start(start, options)
    }
}

/// Returns where the program keeps its sessions and its login.
pub(super) fn login(options: &StartOptions) -> Login {
    Login::new(&environment(options))
}

fn private_dir(path: &Path) -> Result<(), String> {
    fsio::private_dir(path).map_err(|error| error.to_string())
}

/// Whether the session has begun before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GoesOn {
    Yes,
    No,
}

/// A session without a transcript cannot be resumed: its id is free, so it begins (anew) with it.
/// A new one takes the id that the environment names, if that is free too (R3-14).
fn session(options: &StartOptions, login: &Login) -> (SessionId, GoesOn) {
    match &options.resume {
        Some(id) if login.transcript_is_missing(&id.0) => (id.clone(), GoesOn::No),
        Some(id) => (id.clone(), GoesOn::Yes),
        None => {
            let named = options.new_session();
            // A session that is there already cannot be begun again.
            let free = login.transcript_is_missing(&named.0);
            let fresh = || SessionId(uuid::Uuid::new_v4().to_string());
            (if free { named } else { fresh() }, GoesOn::No)
        }
    }
}

fn environment(options: &StartOptions) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = options.env.iter().cloned().collect();
    env.retain(|name, _| !INHERITED.contains(&name.as_str()));
    for (name, value) in DEFAULTS {
        env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
    if !auto_compact(options) {
        // The daemon shortens the context, between turns (R2-07).
        env.insert("DISABLE_AUTO_COMPACT".to_owned(), "1".to_owned());
    }
    if options.purpose == Purpose::Judge {
        // Instructions for those who work are none for those who judge.
        env.insert("CLAUDE_CODE_DISABLE_CLAUDE_MDS".to_owned(), "1".to_owned());
    }
    if !background_tasks(options) {
        let name = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".to_owned();
        env.entry(name).or_insert_with(|| "1".to_owned());
    }
    if let Without::Switch { env: without, .. } = folder::programs::CLAUDE.without {
        env.extend(without.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    }
    let tmp = options.tmp_dir.display().to_string();
    env.insert("TMPDIR".to_owned(), tmp.clone());
    env.insert("CLAUDE_CODE_TMPDIR".to_owned(), tmp);
    let account = options.account_dir.as_ref().map(|dir| dir.display().to_string());
    let key = options.api_key.as_ref().map(|key| key.expose().to_owned());
    let given = [
        ("CLAUDE_CONFIG_DIR", account),
        ("ANTHROPIC_BASE_URL", options.base_url.clone()),
        ("ANTHROPIC_API_KEY", key),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            env.insert(name.to_owned(), value);
        }
    }
    env
}

/// Returns whether the program may shorten its context by itself, also in mid-turn.
fn auto_compact(options: &StartOptions) -> bool {
    let said = options.extra.get("auto_compact").and_then(Value::as_bool);
    // Whoever types into a terminal sees no count of tokens, and shortens nothing.
    said.unwrap_or(options.mode == Mode::Tmux)
}

fn background_tasks(options: &StartOptions) -> bool {
    // A process that ends with its turn has no background.
    options.mode != Mode::PerTurn
        && options.extra.get("background_tasks").and_then(Value::as_bool).unwrap_or(false)
}

/// What the folder adds to a start.
#[derive(Debug, Default)]
struct Folder {
    /// The system prompt, with the project's instructions: the program's switch leaves them out.
    prompt: String,
    /// What an owner has allowed.
    project: Project,
    notices: Vec<String>,
}

impl Folder {
    fn of(options: &StartOptions) -> Result<Self, String> {
        let (prompt, mut notices) = folder::with_instructions(options);
        let Decided { load, notice, .. } = folder::decide(options, &folder::programs::CLAUDE)?;
        notices.extend(notice);
        let project = match load {
            Load::Copy(copied) => Project::of(&copied, &options.workdir).unwrap_or_else(|why| {
                notices.push(format!("what the folder brings along is not loaded: {why}"));
                Project::default()
            }),
            Load::Nothing | Load::Folder => Project::default(),
        };
        notices.extend(project.notice());
        Ok(Self { prompt, project, notices })
    }
}

fn arguments(
    (options, folder): (&StartOptions, &Folder),
    session: &SessionId,
    goes_on: GoesOn,
) -> Result<Vec<OsString>, String> {
    let mut args: Vec<OsString> = [
        "--print",
        "--verbose",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--permission-prompt-tool",
        "stdio",
        "--permission-mode",
        "default",
    ]
    .map(OsString::from)
    .into();
    let mut add = |name: &str, value: OsString| args.extend([name.into(), value]);
    add(
        match goes_on {
            GoesOn::Yes => "--resume",
            GoesOn::No => "--session-id",
        },
        session.0.clone().into(),
    );
    if let Some(model) = &options.model {
        add("--model", model.into());
    }
    if let Some(effort) = effort::ground(options) {
        add("--effort", effort.as_str().into());
    }
    for (flag, file) in files(options, folder)? {
        add(flag, file.into());
    }
    for plugin in &folder.project.plugins {
        add("--plugin-dir", plugin.into());
    }
    // The project's own settings are never read from the folder, whoever has allowed them.
    if let Without::Switch { args: without, .. } = folder::programs::CLAUDE.without {
        args.extend(without.iter().map(OsString::from));
    }
    if options.purpose == Purpose::Judge {
        args.extend(["--no-session-persistence", "--tools", ""].map(OsString::from));
    } else if options.mode == Mode::PerTurn {
        args.extend(per_turn::arguments(options));
    } else {
        // It takes any number of words, so it stands last.
        let never = if background_tasks(options) { NEVER } else { NEVER_BY_ITSELF };
        args.extend(["--disallowedTools".into(), never.into()]);
    }
    Ok(args)
}

/// Writes the files that belong to the session and returns them with their flags.
fn files(options: &StartOptions, folder: &Folder) -> Result<Vec<(&'static str, PathBuf)>, String> {
    let mut files = Vec::new();
    if !folder.prompt.is_empty() {
        let text = folder.prompt.clone();
        files.push((per_turn::prompt_flag(options), "claude-system-prompt.md", text));
    }
    // The daemon's own tools come over the pipe, under this name.
    let own = (!options.tools.tools().is_empty()).then(|| options.tools.server_key());
    let others: Vec<&McpServer> =
        options.mcp_servers.iter().filter(|server| own != Some(server.key.as_str())).collect();
    // No server of the project takes the place of a configured one, or of the daemon's.
    let mut all = folder.project.servers.clone();
    all.retain(|key, _| key != options.tools.server_key());
    all.extend(servers(&others));
    if !all.is_empty() || options.mode == Mode::PerTurn {
        files.push(("--mcp-config", "claude-mcp.json", json!({"mcpServers": all}).to_string()));
    }
    let settings = project::joined(json!(folder.project.settings), settings(options));
    if settings.as_object().is_some_and(|it| !it.is_empty()) {
        files.push(("--settings", "claude-settings.json", settings.to_string()));
    }
    let write = |(flag, name, text): (&'static str, &str, String)| {
        let path = options.session_dir.join(name);
        fsio::write_private(&path, text.as_bytes()).map_err(|error| error.to_string())?;
        Ok((flag, path))
    };
    files.into_iter().map(write).collect()
}

/// Returns the program's settings: what is closed is denied here too, since its rules, other than
/// ours, also look at the files that commands name. Rules of denial win over all others, so they name
/// nothing that has something open below it.
fn settings(options: &StartOptions) -> Value {
    let mut settings = match options.mode {
        Mode::PerTurn => per_turn::settings(options),
        Mode::Resident if !auto_compact(options) => json!({ "autoCompactEnabled": false }),
        Mode::Resident | Mode::Tmux => json!({}),
    };
    let bounds = options.resolved_bounds();
    let whole = bounds
        .closed
        .iter()
        .filter(|closed| !bounds.open.iter().any(|open| open.starts_with(closed)));
    let rules: Vec<String> = whole
        .filter_map(|path| path.to_str())
        .filter(|path| !path.contains(['*', '?', '[', '!', '(', ')', '\\']))
        .flat_map(|path| [format!("Read(/{path})"), format!("Read(/{path}/**)")])
        .collect();
    if !rules.is_empty() {
        settings["permissions"] = json!({ "deny": rules });
    }
    settings
}

fn servers(servers: &[&McpServer]) -> serde_json::Map<String, Value> {
    let entry = |server: &&McpServer| {
        let entry = match &server.place {
            McpPlace::Stdio { command, env } => {
                let (program, args) = command.split_first().unzip();
                json!({
                    "type": "stdio",
                    "command": program.cloned().unwrap_or_default(),
                    "args": args.unwrap_or_default(),
                    "env": env,
                })
            }
            McpPlace::Http { url, headers } => {
                json!({"type": "http", "url": url, "headers": headers})
            }
        };
        (server.key.clone(), entry)
    };
    servers.iter().map(entry).collect()
}
