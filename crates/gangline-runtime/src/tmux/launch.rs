//! What is started: the program's words and environment, by its profile. Start at [`prepare`].

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use gangline_os::{
    fsio, process,
    run_id::{RUN_ID, RunId},
};

use super::{
    folder::Folder,
    history::History,
    hook_listener::HookListener,
    offer::{self, Ours},
    profile::Profile,
    server::Pane,
};
use crate::{Mode, SessionId, StartOptions, ToolServer};

#[cfg(test)]
pub(super) mod tests;

/// Variables that would tell the program, or a server, of a tmux that is not its own.
const OF_TMUX: [&str; 2] = ["TMUX", "TMUX_PANE"];

/// Everything that is needed to start the program.
pub(super) struct Launch {
    pub(super) pane: Pane,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) profile: Profile,
    pub(super) session: SessionId,
    pub(super) run_id: Option<RunId>,
    pub(super) folder: PathBuf,
    /// What the operator should know before anything else.
    pub(super) notices: Vec<String>,
    pub(super) history: Option<History>,
}

/// What of the daemon the program can be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Takes {
    pub(super) tools: bool,
    pub(super) hooks: bool,
}

impl Takes {
    /// Reads it off the program's profile; what is wrong with that [`prepare`] says.
    pub(super) fn of(options: &StartOptions, usual: Option<&str>) -> Self {
        let profile = command(options, usual)
            .and_then(|(program, _)| Profile::of(&program, options.extra.get("screen")));
        let told = profile.as_ref().is_ok_and(|profile| profile.tools.is_some());
        let hooks = profile.is_ok_and(|profile| profile.hooks.is_some());
        // Without the bridge no hook would reach us.
        Self { tools: told, hooks: told && hooks && !options.tool_bridge.is_empty() }
    }
}

/// Makes folders and files and returns how to start the program; `usual` is its name where the
/// configuration has no command; `tools` serves the daemon's tools, and `listener` takes its hooks.
///
/// # Errors
/// One line that says what to do.
pub(super) fn prepare(
    options: &StartOptions,
    usual: Option<&str>,
    (tools, listener): (Option<&ToolServer>, Option<&HookListener>),
) -> Result<Launch, String> {
    match options.mode {
        Mode::Resident | Mode::Tmux => {}
        Mode::PerTurn => return Err("it lives as long as its terminal, not for one turn".into()),
    }
    for folder in [&options.session_dir, &options.tmp_dir] {
        fsio::private_dir(folder).map_err(|error| error.to_string())?;
    }
    let (program, before) = command(options, usual)?;
    let profile = Profile::of(&program, options.extra.get("screen"))?;
    let mut env = environment(options, &profile);
    is_there(&program, &env, options)?;
    let all: Vec<String> =
        std::iter::once(program.display().to_string()).chain(before.iter().cloned()).collect();
    let folder = Folder::of(options, &all)?;
    env.extend(folder.env.iter().cloned());
    let history = History::of(&profile, &env);
    let goes_on = goes_on(options, &profile, history.as_ref());
    let resumes = goes_on == Ok(true);
    let session = session(options, resumes);
    let mut notices: Vec<String> = goes_on.err().into_iter().collect();
    notices.extend(folder.notices.iter().cloned());
    if let Some(name) = &profile.session_variable {
        env.insert(name.clone(), session.0.clone());
    }
    let run_id: Option<RunId> = env.get(RUN_ID).and_then(|run_id| run_id.parse().ok());
    let mut words: Vec<OsString> = vec!["env".into()];
    for name in OF_TMUX {
        words.extend(["-u".into(), name.into()]);
    }
    words.push(program.into());
    words.extend(before.into_iter().chain(folder.args.iter().cloned()).map(OsString::from));
    let of_session = if resumes { &profile.resume } else { &profile.new_session };
    let given = arguments((options, &folder.prompt), &profile, (of_session, &session))?;
    words.extend(given.into_iter().map(OsString::from));
    if let Some(told) = &profile.tools {
        let to_us = listener.map(|listener| listener.words(&options.tool_bridge));
        let ours = Ours {
            tools,
            hooks: profile.hooks.as_ref().zip(to_us.as_deref()),
            project: Some(&folder.project),
        };
        let offered = offer::offer(options, (told.form, &told.words), ours)?;
        words.extend(offered.args.into_iter().map(OsString::from));
        env.extend(offered.env);
        notices.extend(offered.notices);
    }
    let name = run_id.as_ref().map_or("agent", |run_id| &run_id.agent);
    // What separates parts of a target in tmux.
    let name = name.replace([':', '.'], "_");
    Ok(Launch {
        pane: Pane { name, workdir: options.workdir.clone(), command: words },
        env: env.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
        profile,
        session,
        run_id,
        folder: options.session_dir.clone(),
        notices,
        history,
    })
}

fn session(options: &StartOptions, resumes: bool) -> SessionId {
    match &options.resume {
        Some(session) if resumes => session.clone(),
        // What the environment names is the lost one.
        Some(_) => SessionId(uuid::Uuid::new_v4().to_string()),
        None => options.new_session(),
    }
}

/// Returns whether the program goes on with the session that it should go on with; an error says why
/// it cannot.
fn goes_on(
    options: &StartOptions,
    profile: &Profile,
    history: Option<&History>,
) -> Result<bool, String> {
    match &options.resume {
        None => Ok(false),
        Some(_) if profile.resume.is_empty() => Err("the program cannot continue a session, as \
            far as is known (`screen.resume`); it begins anew"
            .to_owned()),
        // The newest one could be another agent's, in another folder.
        Some(session) if history.is_some_and(|history| !history.holds(session)) => {
            Err(format!("the program has recorded no session {}; it begins anew", session.0))
        }
        Some(_) => Ok(true),
    }
}

fn command(options: &StartOptions, usual: Option<&str>) -> Result<(PathBuf, Vec<String>), String> {
    let usual: Vec<String> = usual.into_iter().map(ToOwned::to_owned).collect();
    match options.command.as_deref().unwrap_or(&usual).split_first() {
        Some((program, rest)) if !program.is_empty() => Ok((PathBuf::from(program), rest.to_vec())),
        _ => Err("`command` names no program: write a list of words, such as `[aider]`".to_owned()),
    }
}

/// In the pane a missing program would only be an exit code.
fn is_there(
    program: &std::path::Path,
    env: &BTreeMap<String, String>,
    options: &StartOptions,
) -> Result<(), String> {
    let shown = program.display();
    if !options.workdir.is_dir() {
        return Err(format!("its folder {} is not there", options.workdir.display()));
    }
    if program.components().count() > 1 || program.is_absolute() {
        let path = options.workdir.join(program);
        return if path.is_file() { Ok(()) } else { Err(format!("there is no file {shown}")) };
    }
    let path = env.get("PATH").map_or("", String::as_str);
    match process::find_on_path(program, path.as_ref()) {
        Some(_) => Ok(()),
        None => Err(format!("{shown} is not on PATH ({path}); install it, or name its whole path")),
    }
}

fn environment(options: &StartOptions, profile: &Profile) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = options.env.iter().cloned().collect();
    let taken = |name: &String| {
        OF_TMUX.contains(&name.as_str()) || profile.unset.iter().any(|unset| unset == name)
    };
    env.retain(|name, _| !taken(name));
    for (name, value) in &profile.env {
        env.entry(name.clone()).or_insert_with(|| value.clone());
    }
    env.insert("TMPDIR".to_owned(), options.tmp_dir.display().to_string());
    let account = options.account_dir.as_ref().map(|dir| dir.display().to_string());
    let key = options.api_key.as_ref().map(|key| key.expose().to_owned());
    let given = [
        (&profile.account_variable, account),
        (&profile.url_variable, options.base_url.clone()),
        (&profile.key_variable, key),
    ];
    for (name, value) in given {
        if let (Some(name), Some(value)) = (name, value) {
            env.insert(name.clone(), value);
        }
    }
    env
}

fn arguments(
    (options, prompt): (&StartOptions, &str),
    profile: &Profile,
    (of_session, session): (&[String], &SessionId),
) -> Result<Vec<String>, String> {
    let mut args = profile.args.clone();
    let mut add = |words: &[String], hole: &str, value: &str| {
        args.extend(words.iter().map(|word| word.replace(hole, value)));
    };
    if let Some(model) = &options.model {
        add(&profile.model, "{model}", model);
    }
    if !prompt.is_empty() && !profile.system_prompt.is_empty() {
        let file = options.session_dir.join("tmux-system-prompt.md");
        fsio::write_private(&file, prompt.as_bytes()).map_err(|error| error.to_string())?;
        add(&profile.system_prompt, "{file}", &file.display().to_string());
    }
    add(of_session, "{session}", &session.0);
    Ok(args)
}
