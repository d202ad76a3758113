//! How a program is started: which one, with which arguments, files and environment.
//!
//! What is particular about it comes from its recipe. Start at [`prepare`].

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use gangline_core::TurnId;
use gangline_os::{
    fsio,
    process::{Group, Output, Spawn, Stdin},
    run_id::{RUN_ID, RunId},
};
use tokio::sync::watch;

use super::{
    fields::{Fields, Tools},
    permit::Gate,
    recipe::{By, Given, Introduction, Names, Recipe, Wanted},
    session::{Late, Own, Session, Setup},
};
use crate::{
    Block, McpPlace, McpServer, StartOptions,
    folder::{self, Decided, Load, Without},
    program::{
        login::Sign,
        worker::{Life, Start, Worker},
    },
    registry::known,
    session::SessionPort,
    toolserver::ToolServer,
};

/// What agents leave to their children, and what is not ours to pass on.
const INHERITED: [&str; 3] = ["AI_AGENT", "NODE_OPTIONS", "OPENCODE_SERVER_PASSWORD"];
/// Where the socket of the tool server lies, below the folder for temporary files.
const SOCKET_FOLDER: &str = "mcp";

/// Everything that is needed to start the program.
pub(super) struct Launch {
    pub(super) spawn: Spawn,
    /// By which its descendants are found again.
    pub(super) run_id: Option<RunId>,
    /// Servers to offer in the request that opens the session, without the daemon's own.
    pub(super) servers: Vec<McpServer>,
    pub(super) own: Own,
    /// What stands before the first prompt.
    pub(super) introduction: String,
    /// Serves the daemon's tools as long as it lives.
    pub(super) tools: Option<ToolServer>,
    /// What the operator should know before anything else.
    pub(super) notices: Vec<String>,
    /// What is on record of the session to go on with.
    pub(super) past: Vec<Block>,
}

/// Makes folders and files, and returns how to start the program. Not cancel-safe: files may be
/// half made; another call makes them again.
///
/// # Errors
/// One line that says what to do.
pub(super) fn prepare(
    recipe: &Recipe,
    options: &StartOptions,
    turn: watch::Receiver<Option<TurnId>>,
) -> Result<Launch, String> {
    for folder in [&options.session_dir, &options.tmp_dir] {
        fsio::private_dir(folder).map_err(|error| error.to_string())?;
    }
    let mut notices = Vec::new();
    let fields = Fields::of(&options.extra)?;
    let tools = match fields.tools {
        Tools::None => None,
        Tools::AsItCan | Tools::Http | Tools::Stdio => tool_server(options, turn, &mut notices),
    };
    let own = tools.as_ref().map_or_else(Own::default, |server| Own {
        http: Some(server.over_http()).filter(|_| fields.tools != Tools::Stdio),
        stdio: server.over_stdio(&options.tool_bridge).filter(|_| fields.tools != Tools::Http),
    });
    let others = options
        .mcp_servers
        .iter()
        .filter(|it| tools.is_none() || it.key != options.tools.server_key());
    let mut servers: Vec<McpServer> = others.cloned().collect();
    if recipe.servers.by == By::Recipe {
        let http = recipe.servers.http;
        let chosen = if http { own.http.clone() } else { own.stdio.clone() };
        if chosen.is_none() && tools.is_some() {
            notices.push(format!("{} has no way to the daemon's tools", recipe.name));
        }
        servers.retain(|server| {
            let takes = http || !matches!(server.place, McpPlace::Http { .. });
            if !takes {
                let (name, key) = (recipe.name, &server.key);
                notices
                    .push(format!("{name} takes no tool server over HTTP; it goes without {key}"));
            }
            takes
        });
        servers.extend(chosen);
    }
    let mut given = Given { env: options.env.iter().cloned().collect(), args: Vec::new() };
    given.env.retain(|name, _| !INHERITED.contains(&name.as_str()));
    given.set("TMPDIR", options.tmp_dir.display().to_string());
    fields.model_env.give(options, &mut given);
    notices.extend(folder(recipe, options, &mut given)?);
    (recipe.prepare)(&Wanted { options, servers: &servers }, &mut given)?;
    let run_id = given.env.get(RUN_ID).and_then(|run_id| run_id.parse().ok());
    let (program, mut args) = command(recipe, options)?;
    args.extend(given.args.into_iter().map(OsString::from));
    let spawn = Spawn {
        program,
        args,
        cwd: options.workdir.clone(),
        env: given.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        stdin: Stdin::Piped,
        stdout: Output::Piped,
        stderr: Output::Piped,
        group: Group::New,
    };
    let introduction = match recipe.introduction {
        Introduction::FirstPrompt => options.system_prompt.clone(),
        Introduction::Recipe => String::new(),
    };
    let past = Vec::new();
    Ok(Launch { spawn, run_id, servers, own, introduction, tools, notices, past })
}

impl Launch {
    /// Starts the program of a session; `turn` is where its open turn is seen. What serves the
    /// daemon's tools lasts as long as what is returned beside. Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// One line that says why it cannot be started.
    pub(super) fn start(
        self,
        (name, recipe): (&'static str, &'static Recipe),
        options: &StartOptions,
        turn: watch::Sender<Option<TurnId>>,
        port: SessionPort,
    ) -> Result<(Worker<Session>, Option<ToolServer>), String> {
        let given = options.base_url.is_some();
        let session = Session::new(Setup {
            recipe,
            gate: Gate::new(options),
            folder: options.workdir.display().to_string(),
            servers: self.servers,
            own: self.own,
            introduction: self.introduction,
            names: if given { recipe.names } else { Names::WithProvider },
            resume: options.resume.clone(),
            past: self.past,
            model: options.model.clone(),
            late: Late::MayCome,
        });
        let start = Start {
            name,
            protocol: session,
            spawn: self.spawn,
            run_id: self.run_id,
            session: options.resume.clone(),
            login: Sign::Asking,
            notices: self.notices,
            life: Life::Session,
            turn,
            port,
        };
        Ok((Worker::start(start, options)?, self.tools))
    }
}

/// Has the program leave out what its folder brings along, unless an owner has allowed it. Returns what
/// the operator should know of that.
fn folder(
    recipe: &Recipe,
    options: &StartOptions,
    given: &mut Given,
) -> Result<Option<String>, String> {
    let brings = recipe.brings(options.command.as_deref());
    let Decided { load, notice, .. } = folder::decide(options, brings)?;
    if load != Load::Folder {
        match brings.without {
            Without::Switch { args, env } => {
                given.args.extend(args.iter().map(|it| (*it).to_owned()));
                env.iter().for_each(|(name, value)| given.set(name, *value));
            }
            Without::Adapter(_) | Without::NoSwitch => {}
        }
    }
    Ok(notice)
}

/// Returns the program and its arguments: those of the configuration, or the usual ones. One word
/// is the program alone: what is known to make it speak the protocol is put behind it.
fn command(recipe: &Recipe, options: &StartOptions) -> Result<(PathBuf, Vec<OsString>), String> {
    let usual = recipe.command.iter().map(|word| (*word).to_owned());
    let words: Vec<String> = match options.command.as_deref() {
        None => usual.collect(),
        Some([program]) if !program.is_empty() => {
            let behind = behind(recipe, program).iter().map(|word| (*word).to_owned());
            std::iter::once(program.clone()).chain(behind).collect()
        }
        Some(words) => words.to_vec(),
    };
    match words.split_first() {
        Some((program, rest)) if !program.is_empty() => {
            Ok((PathBuf::from(program), rest.iter().map(Into::into).collect()))
        }
        _ => Err("`command` names no program: write a list of words".to_owned()),
    }
}

/// Returns the arguments by which this program speaks the protocol; none where nobody knows it.
fn behind(recipe: &Recipe, program: &str) -> &'static [&'static str] {
    let command = match recipe.any {
        true => known::owner(program).map_or(&[][..], |entry| entry.command),
        false => recipe.command,
    };
    command.get(1..).unwrap_or_default()
}

/// Serves the daemon's tools, if it has any. Without them the agent still answers.
fn tool_server(
    options: &StartOptions,
    turn: watch::Receiver<Option<TurnId>>,
    notices: &mut Vec<String>,
) -> Option<ToolServer> {
    if options.tools.tools().is_empty() {
        return None;
    }
    let folder = options.tmp_dir.join(SOCKET_FOLDER);
    match ToolServer::start(Arc::clone(&options.tools), turn, &folder) {
        Ok(server) => Some(server),
        Err(error) => {
            notices.push(format!("the daemon's tools cannot be served: {error}"));
            None
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
