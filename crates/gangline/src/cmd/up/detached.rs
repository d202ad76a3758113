//! `gangline up -d`: a hub in the background, waited for; or another look at the configuration by
//! the one that runs.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_core::{AgentName, Epoch, shown};
use gangline_hub::{
    about::{About, Hub, StandingWord},
    credentials,
};
use gangline_os::{
    clock::{self, UnixMicros, parse_rfc3339},
    exit::Exit,
    fsio,
    kill::Signal,
    paths::{self, Paths},
    process::{self, Child, Group, Output, Spawn, Stdin, is_identity},
    secret::Secret,
};
use serde::Serialize;

use super::{Args, Checked, words};
use crate::{
    caller,
    cli::Global,
    cmd::doctor::login,
    configuration,
    failure::Failure,
    fleet::{self, Fleet, LOOK_EVERY, Member, Report},
    invite,
    keep::make_room,
    output, program, show, store,
};

/// A hub takes a second at most to read its configuration again.
const RELOAD: Duration = Duration::from_secs(15);
/// A hub that nobody gave another time begins within this, and its agents are ready.
const BEGUN: Duration = Duration::from_secs(120);
/// The hint if agents are not ready in time.
const KEEPS_TRYING: &str = "its start continues: `gangline ps` shows when it is ready, `--timeout SECONDS` waits \
                            longer, `gangline stop NICK` ends it";
/// How much of the log is shown of a hub that could not start, in bytes.
const SHOWN_MAX: u64 = 16 * 1024;
/// What `up -d --json` prints as one line; the owner's token itself is in its file only.
#[derive(Serialize)]
struct Background<'a> {
    pid: u32,
    irc: &'a str,
    http: Option<&'a str>,
    state: &'a Path,
    token_file: PathBuf,
}

/// What a hub that ended without a code is taken for.
const LOST: u8 = 2;

pub(super) async fn run(global: &Global, args: &Args, checked: Checked) -> Result<u8, Failure> {
    let patience = Duration::from_secs(args.timeout);
    fsio::private_dir(&checked.paths.state).map_err(Failure::environment)?;
    match fleet::settled(&checked.paths).await? {
        Some(hub) => reload(global, &checked, (&hub, patience), args.runtime.as_deref()).await,
        None => {
            super::order(&checked, args.runtime.as_deref()).await?;
            let mut options = words(args);
            if let Some(file) = &args.ready_file {
                let file = paths::absolute(file);
                options.extend(["--ready-file".to_owned(), file.display().to_string()]);
                // The hub does not know who started it.
                if !caller::may_read_password() {
                    options.push("--no-token".to_owned());
                }
            }
            match start(global, &checked.paths, (options, Wait::UntilReady(patience))).await? {
                Started::Done(code) => Ok(code),
                // Another `up` was quicker by a moment: its hub is the one that both wanted.
                Started::Late(hub, _) => {
                    reload(global, &checked, (&hub, patience), args.runtime.as_deref()).await
                }
            }
        }
    }
}

/// Starts a hub in the place of one that has ended, with its options.
pub(in crate::cmd) async fn again(
    global: &Global,
    paths: &Paths,
    about: &About,
) -> Result<u8, Failure> {
    let paths = Paths { config_file: about.config.clone(), ..paths.clone() };
    begin(global, &paths, (about.options.clone(), Wait::UntilReady(BEGUN))).await
}

/// Starts a hub where none runs.
pub(in crate::cmd) async fn begin(
    global: &Global,
    paths: &Paths,
    what: (Vec<String>, Wait),
) -> Result<u8, Failure> {
    match start(global, paths, what).await? {
        Started::Done(code) => Ok(code),
        Started::Late(hub, code) => {
            output::note(&format!("another hub has started: {}", hub.holder));
            Ok(code)
        }
    }
}

/// How long a command that starts a hub stays.
#[derive(Debug, Clone, Copy)]
pub(in crate::cmd) enum Wait {
    /// Until the agents are ready, and no longer than this.
    UntilReady(Duration),
    /// Until the hub has begun.
    UntilBegun,
}

/// What came of starting a hub.
enum Started {
    /// It was waited for, with this exit code.
    Done(u8),
    /// Another one had the state folder first; the exit code of ours.
    Late(Box<Hub>, u8),
}

async fn start(
    global: &Global,
    paths: &Paths,
    (options, wait): (Vec<String>, Wait),
) -> Result<Started, Failure> {
    let patience = match wait {
        Wait::UntilReady(patience) => patience,
        Wait::UntilBegun => BEGUN,
    };
    let log = paths.state.join("hub.log");
    make_room(&log)?;
    let before = fs::metadata(&log).map_or(0, |about| about.len());
    let mut child = process::spawn(hub(paths, &log, options)?)
        .map_err(|error| Failure::environment(error).doing("cannot start the hub"))?;
    let about = match begun(paths, (&mut child, &log), patience).await? {
        Begun::Runs(about) => about,
        Begun::Ended(exit) => {
            let other = fleet::settled(paths).await?;
            return Ok(match other {
                Some(hub) => Started::Late(Box::new(hub), code_of(exit)),
                None => Started::Done(failed(exit, paths, (&log, before))),
            });
        }
    };
    output::note(&format!("the hub is process {}; its log is {}", about.pid, log.display()));
    match wait {
        Wait::UntilReady(_) => {
            finish(global, paths, (&about, &mut child), patience).await.map(Started::Done)
        }
        Wait::UntilBegun => Ok(Started::Done(0)),
    }
}

fn hub(paths: &Paths, log: &Path, options: Vec<String>) -> Result<Spawn, Failure> {
    let mut args = vec!["--config".into(), paths.config_file.clone().into_os_string()];
    args.extend(["--state".into(), paths.state.clone().into_os_string()]);
    args.extend(["up".into(), "--service".into()]);
    args.extend(options.into_iter().map(Into::into));
    // All of it: the configuration may name any variable. A manager's words are not for the hub,
    // nor is who the caller is, which may be an agent.
    let manager = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];
    let env = std::env::vars_os()
        .filter(|(name, _)| !is_identity(name) && manager.iter().all(|theirs| name != theirs));
    Ok(Spawn {
        program: program::path()?,
        args,
        cwd: paths.state.clone(),
        env: env.collect(),
        stdin: Stdin::Null,
        stdout: Output::File(log.to_owned()),
        stderr: Output::File(log.to_owned()),
        group: Group::Session,
    })
}

enum Begun {
    Runs(Box<About>),
    Ended(Exit),
}

/// Waits until the hub says what it keeps, or ends.
async fn begun(
    paths: &Paths,
    (child, log): (&mut Child, &Path),
    patience: Duration,
) -> Result<Begun, Failure> {
    let clock = clock::system();
    let until = clock.monotonic().saturating_add(patience);
    loop {
        let about = fleet::hub(paths)?.and_then(|hub| hub.about);
        if let Some(about) = about.filter(|about| about.pid == child.pid()) {
            return Ok(Begun::Runs(Box::new(about)));
        }
        if let Some(exit) = child.exited() {
            return Ok(Begun::Ended(exit));
        }
        if clock.monotonic() >= until {
            let (pid, within) = (child.pid(), patience.as_secs());
            let text = format!("the hub, process {pid}, did not begin within {within} s");
            return Err(Failure::environment(anyhow::anyhow!(text))
                .hint(format!("it may still start; its log is {}", log.display())));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Shows what a hub that ended has logged, and returns its exit code.
fn failed(exit: Exit, paths: &Paths, (log, before): (&Path, u64)) -> u8 {
    let text = fs::read(log).unwrap_or_default();
    let from = usize::try_from(before).unwrap_or(usize::MAX).min(text.len());
    let most = usize::try_from(SHOWN_MAX).unwrap_or(usize::MAX);
    let from = from.max(text.len().saturating_sub(most));
    let text = String::from_utf8_lossy(text.get(from..).unwrap_or_default()).into_owned();
    if !text.trim().is_empty() {
        output::note(show::text::lines(text.trim_end()).as_str());
    }
    // Then it may have had no room to say so.
    if let Some(full) = store::full(paths) {
        full.report();
    }
    output::note(&format!("the hub has ended; its log is {}", log.display()));
    code_of(exit)
}

/// The exit code of a hub that has ended before it was ready.
fn code_of(exit: Exit) -> u8 {
    exit.code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0).unwrap_or(LOST)
}

/// Lets the hub that runs read the configuration again.
async fn reload(
    global: &Global,
    checked: &Checked,
    (hub, patience): (&Hub, Duration),
    runtime: Option<&str>,
) -> Result<u8, Failure> {
    let fleet = Fleet::open(crate::place::existing(&global.place())?).await?;
    let before = fleet.hub()?.and_then(|hub| hub.about);
    let Some(before) = before else {
        return Err(fleet::mute(hub));
    };
    if before.config != checked.paths.config_file {
        return Err(Failure::user(format!(
            "the hub, process {}, runs with another configuration: {}",
            before.pid,
            before.config.display()
        ))
        .hint("choose that one with --config, or stop the hub with `gangline down`"));
    }
    super::order(checked, runtime).await?;
    fleet.notify_hub();
    fleet::signal(&hub.holder, Signal::Hup)?;
    let about = reloaded(&checked.paths, &before).await?;
    if let Some(why) = &about.refused {
        return Err(Failure::config(anyhow::anyhow!(
            "the hub rejects the configuration: {}",
            show::text::lines(why.trim_end())
        )));
    }
    output::note(&format!("the hub, process {}, has read its configuration again", about.pid));
    if let Some(note) = unapplied(&about.unapplied) {
        output::note(&note);
    }
    let ready = until_ready(&fleet, patience, |_| Ok(None)).await?;
    for (name, kept) in &fleet.hub()?.and_then(|hub| hub.about).unwrap_or(about.clone()).kept {
        if kept.outdated {
            output::note(&format!(
                "note: {name} runs with earlier settings: `gangline restart {name}` applies the \
                 new ones"
            ));
        }
    }
    print_outcome(global, &checked.paths, &about)?;
    Ok(ready)
}

/// Returns which changes the hub has read and does not use, and what to do.
fn unapplied(sections: &[String]) -> Option<String> {
    let named: Vec<String> = sections.iter().map(|section| format!("`{section}`")).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let named = shown::listed(&named);
    (!sections.is_empty()).then(|| {
        format!(
            "note: the changes of {named} take effect when the hub starts anew: `gangline restart \
             --hub`"
        )
    })
}

async fn reloaded(paths: &Paths, before: &About) -> Result<About, Failure> {
    let clock = clock::system();
    let until = clock.monotonic() + RELOAD;
    while clock.monotonic() < until {
        let about = fleet::hub(paths)?.and_then(|hub| hub.about);
        match about {
            Some(about) if about.pid == before.pid && about.loads > before.loads => {
                return Ok(about);
            }
            Some(_) | None => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
    Err(Failure::environment(anyhow::anyhow!(
        "the hub, process {}, did not read its configuration within {} s",
        before.pid,
        RELOAD.as_secs()
    )))
}

/// Waits for the agents of a hub that has begun, and says how to join.
async fn finish(
    global: &Global,
    paths: &Paths,
    (about, child): (&About, &mut Child),
    patience: Duration,
) -> Result<u8, Failure> {
    let global = Global { state: Some(paths.state.clone()), ..global.clone() };
    let fleet = Fleet {
        paths: paths.clone(),
        store: store::existing(paths).await?,
        loaded: configuration::quiet(&paths.config_file),
    };
    let ready = until_ready(&fleet, patience, |fleet| {
        let ended = child.exited().is_some() && fleet.hub()?.is_none();
        Ok(ended.then(|| {
            let log = paths.state.join("hub.log");
            let ended = anyhow::anyhow!("the hub has ended");
            let failure = match store::full(paths) {
                Some(full) => full.because(ended),
                None => Failure::environment(ended),
            };
            failure.hint(format!("its log is {}", log.display()))
        }))
    })
    .await?;
    print_outcome(&global, paths, about)?;
    Ok(ready)
}

/// Waits until every agent that should run is ready, shows the progress of each, and returns the
/// exit code. `gone` says why waiting is useless.
async fn until_ready(
    fleet: &Fleet,
    patience: Duration,
    mut gone: impl FnMut(&Fleet) -> Result<Option<Failure>, Failure>,
) -> Result<u8, Failure> {
    let about = fleet.hub()?.and_then(|hub| hub.about);
    let begun = about.as_ref().and_then(|about| parse_rfc3339(&about.since));
    // On a server of the hub's own an adopted daemon has to come back before it is ready.
    let own = fleet.loaded.as_ref().is_none_or(|loaded| loaded.config.network.embedded);
    let since = begun.filter(|_| own).unwrap_or(UnixMicros(0));
    // One that the configuration has no longer is on its way out.
    let wanted = |name: &AgentName| {
        let loaded = fleet.loaded.as_ref();
        loaded.is_none_or(|it| it.enabled().any(|agent| agent.nick == *name))
    };
    let names: Vec<AgentName> = about
        .into_iter()
        .flat_map(|about| about.kept)
        .filter(|(_, kept)| kept.standing != StandingWord::Stopped)
        .filter_map(|(name, _)| name.parse().ok())
        .filter(wanted)
        .collect();
    let logins = logins(fleet, &names);
    let mut lost = None;
    let failed = fleet
        .until(&names, Some(patience), |member: &Member| {
            if lost.is_none() {
                lost = gone(fleet).unwrap_or_else(Some);
            }
            match &lost {
                Some(_) => Report::Failed("its hub has ended".to_owned()),
                None => start_of(member, since, &logins),
            }
        })
        .await?;
    if let Some(lost) = lost {
        return Err(lost);
    }
    let late = failed.values().any(|why| why.starts_with(fleet::LATE));
    match fleet::left_undone(&fleet.paths, &failed) {
        Some(failure) => {
            let failure = match late {
                true => in_terminal(fleet, &failed).into_iter().fold(failure, |failure, name| {
                    failure.hint(format!("`gangline attach {name}` shows its screen"))
                }),
                false => failure,
            };
            let failure = if late { failure.hint(KEEPS_TRYING) } else { failure };
            failure.report();
            Ok(failure.exit().code())
        }
        None => Ok(0),
    }
}

/// Returns those of the agents that work in a terminal: their screens show what they wait for.
fn in_terminal<'a>(fleet: &Fleet, failed: &'a BTreeMap<AgentName, String>) -> Vec<&'a AgentName> {
    let Some(loaded) = &fleet.loaded else { return Vec::new() };
    let ordered = store::ordered(&fleet.paths);
    let is_on_screen = |name: &AgentName| {
        let driven = loaded
            .agent(name)
            .ok()
            .map(|agent| loaded.driven(agent, ordered.get(name).map(String::as_str)));
        driven.is_some_and(|it| it.is_ok_and(|it| it.found.is_in_terminal()))
    };
    failed.keys().filter(|name| is_on_screen(name)).collect()
}

/// Returns what is missing so that the backends of these can answer, by agent.
fn logins(fleet: &Fleet, names: &[AgentName]) -> BTreeMap<AgentName, String> {
    let Some(loaded) = &fleet.loaded else { return BTreeMap::new() };
    let ordered = store::ordered(&fleet.paths);
    let missing = |name: &AgentName| {
        let driven = loaded.driven(loaded.agent(name).ok()?, ordered.get(name).map(String::as_str));
        Some((name.clone(), login::missing(driven.ok()?)?))
    };
    names.iter().filter_map(missing).collect()
}

/// As [`Member::start`], and an agent that somebody stops meanwhile is not waited for. One without a
/// login is ready for nothing, whatever its daemon says: most programs find that out by a prompt.
fn start_of(member: &Member, since: UnixMicros, logins: &BTreeMap<AgentName, String>) -> Report {
    if member.is_stopped() {
        return Report::Done("stopped".to_owned());
    }
    match (member.start(Epoch(0), since), logins.get(&member.name)) {
        (Report::Done(_), Some(missing)) if !member.has_worked() => {
            Report::Failed(format!("runs, but cannot answer without a login: {missing}"))
        }
        (told, _) => told,
    }
}

/// Prints how to join, and who is there.
fn print_outcome(global: &Global, paths: &Paths, about: &About) -> Result<(), Failure> {
    if global.json {
        return output::json_line(&Background {
            pid: about.pid,
            irc: &about.irc,
            http: about.http.as_deref(),
            state: &paths.state,
            token_file: credentials::owner_token_file(paths),
        });
    }
    let loaded = configuration::quiet(&paths.config_file);
    let embedded = loaded.as_ref().is_none_or(|loaded| loaded.config.network.embedded);
    let room = loaded.as_ref().and_then(|it| it.enabled().find_map(|it| it.channels.first()));
    let stopped: Vec<String> = about
        .kept
        .iter()
        .filter(|(_, kept)| kept.standing == StandingWord::Stopped)
        .map(|(name, _)| name.clone())
        .collect();
    let room = room.map(|room| room.as_str());
    let join = match embedded {
        true if caller::may_read_password() => invite::brief(&about.irc, &owner(paths)?, room),
        true => invite::without_password(&about.irc, room),
        false => format!("The agents are on {}.\n", about.irc),
    };
    output::print(&format!(
        "{join}{}It runs in the background: `gangline ps` shows it, `gangline down` stops it.\n",
        super::still_stopped(&stopped)
    ))
}

fn owner(paths: &Paths) -> Result<Secret, Failure> {
    let file = credentials::owner_token_file(paths);
    credentials::load_or_make_owner(&file).map_err(Failure::environment)
}
