//! `gangline up`: the hub with the agents of the configuration, in the foreground or behind it.

mod detached;
mod planner;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use gangline_api::ready::ReadyLine;
use gangline_config::Network;
use gangline_hub::{
    credentials,
    hub::{self, HubOptions, Left, Listening, OnTerm, Progress},
};
use gangline_os::{
    clock,
    paths::Paths,
    process::{self, detach_session},
    secret::Secret,
};

use super::choice;
use crate::{
    caller,
    cli::{Global, number},
    configuration::{self, Loaded, driven::Ordered},
    failure::Failure,
    fleet, folders, http, invite,
    keep::Keep,
    output, place, store,
};
pub(super) use detached::{Wait, again, begin};
use planner::Planner;

/// What is known before anything is started: the configuration can be used.
struct Checked {
    paths: Paths,
    loaded: Loaded,
    /// Where the embedded server listens; none if there is no embedded server.
    irc: Option<SocketAddr>,
}

/// Run the hub: the IRC server and the configured agents; -d in the background
///
/// In the foreground, Ctrl-C stops the agents, then the hub; a second Ctrl-C interrupts open turns,
/// a third kills the agents.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Start the hub in the background and wait until the agents are ready; a hub that runs already
    /// reads its configuration again
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Run as a service: print no password, and leave the agents running on SIGTERM
    #[arg(long, conflicts_with = "detach")]
    pub(crate) service: bool,
    /// Stop waiting after this many seconds (exit code 1; the hub keeps running)
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "detach",
          value_parser = number::within::<u64>(0, number::ANY))]
    pub(crate) timeout: u64,
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
    /// Leave the owner's token out of the ready file: an agent started this
    #[arg(long, hide = true)]
    pub(crate) no_token: bool,
    /// The address of the IRC server; loopback only [default: server.host and server.port]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Start no agents, only the IRC server with their accounts: something else starts the daemons
    #[arg(long)]
    pub(crate) no_agents: bool,
    /// The longest delay, in seconds, before a dead daemon is restarted
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = number::within::<u64>(1, 3600))]
    pub(crate) restart_delay_max: u64,
    /// Use this backend instead of the configured one; `gangline runtime list` names them. Applies
    /// to every configured agent from its next start on, until `start` or another --runtime
    #[arg(long, value_name = "NAME")]
    pub(crate) runtime: Option<String>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let checked = check(global, &args)?;
    if !args.service && !args.no_agents {
        let ordered = ordered(&checked.paths, &checked.loaded, args.runtime.as_deref());
        let loaded = &checked.loaded;
        folders::tell(&checked.paths, (loaded, &ordered), loaded.enabled());
    }
    if args.detach {
        return detached::run(global, &args, checked).await;
    }
    // One that runs already is not this one's to order about; it is told below.
    if fleet::hub(&checked.paths)?.is_none() {
        order(&checked, args.runtime.as_deref()).await?;
    }
    let service = args.service;
    if service && let Err(error) = detach_session() {
        // Started by hand from a shell: the terminal stays.
        tracing::debug!(%error, "stays in its session");
    }
    let room = checked.loaded.enabled().find_map(|it| it.channels.first().cloned());
    let embedded = checked.loaded.config.network.embedded;
    let paths = checked.paths.clone();
    let told = |listening: &Listening, progress: &Progress| {
        let room = room.as_ref().map(|room| room.as_str()).filter(|_| embedded);
        tell(global, (&paths, service, embedded), room, (listening, progress));
    };
    let options = options(&checked, args)?;
    let mut planner = Planner::new(global, checked, options.keeps_agents)?;
    adopts_orphans();
    hub::run(options, |listening| planner.plan(listening), told).await?;
    Ok(0)
}

/// Lets what a dead daemon leaves come to this process, which ends it.
pub(crate) fn adopts_orphans() {
    if let Err(error) = process::become_subreaper() {
        tracing::warn!(%error, "what a daemon that dies leaves is not adopted");
    }
}

/// Reads the configuration and makes sure that it can be run, before anything starts.
fn check(global: &Global, args: &Args) -> Result<Checked, Failure> {
    let usual = place::plain(&global.place())?;
    let mut paths = usual.clone();
    let loaded = configuration::load(&paths.config_file)?;
    if let (None, Some(state)) = (&global.state, loaded.state()) {
        paths.state = state;
    }
    for warning in loaded.warnings() {
        output::note(&format!("warning: {warning}"));
    }
    if !args.no_agents && loaded.enabled().next().is_none() {
        output::note(&format!(
            "note: {} has no agents, so nobody answers: `gangline init --force` looks for programs \
             and keys",
            paths.config_file.display()
        ));
    }
    loaded.shells().iter().for_each(|text| output::note(text));
    store::sound(&paths)?;
    let unfit = loaded.can_run(&ordered(&paths, &loaded, args.runtime.as_deref()))?;
    if !args.detach {
        // In the background each is told of as its daemon ends.
        unfit.iter().for_each(|unfit| unfit.failure.report());
    }
    if let Some(name) = args.runtime.as_deref() {
        for agent in loaded.enabled() {
            let driven = loaded.driven(agent, Some(name))?;
            driven.can_run()?;
            let missing = driven.missing().map(choice::missing);
            driven.notice().into_iter().chain(missing).for_each(|text| output::note(&text));
        }
    }
    let irc = address(&loaded, args.listen)?;
    place::found::chosen(&usual);
    Ok(Checked { paths, loaded, irc })
}

/// Returns which agents run with an ordered backend: all, if one is named, else those that have kept
/// their order.
fn ordered(paths: &Paths, loaded: &Loaded, named: Option<&str>) -> Ordered {
    match named {
        Some(name) => loaded.enabled().map(|it| (it.nick.clone(), name.to_owned())).collect(),
        None => store::ordered(paths),
    }
}

/// Returns where the embedded server listens; none if there is no embedded server.
fn address(loaded: &Loaded, listen: Option<SocketAddr>) -> Result<Option<SocketAddr>, Failure> {
    match (loaded.config.network.embedded, listen) {
        (true, Some(listen)) => Ok(Some(listen)),
        (true, None) => loaded.embedded_address().map(Some),
        (false, None) => Ok(None),
        (false, Some(_)) => Err(Failure::user("--listen is for the embedded IRC server")
            .hint("the configuration has `network: {embedded: false}`")),
    }
}

/// Orders the backend that was named for every agent; without one, says which agents have another
/// than the configured one.
async fn order(checked: &Checked, named: Option<&str>) -> Result<(), Failure> {
    let (paths, loaded) = (&checked.paths, &checked.loaded);
    if named.is_none() && !paths.database().is_file() {
        return Ok(());
    }
    let store = store::configured(paths, Some(loaded)).await?;
    if named.is_none() {
        let kept = store.orders().await?.into_iter();
        report_ordered(loaded, &kept.filter_map(|it| Some((it.agent, it.runtime?))).collect());
    }
    for agent in loaded.enabled().filter(|_| named.is_some()) {
        let driven = loaded.driven(agent, named)?;
        let name = driven.instead_of.is_some().then_some(driven.found.name.as_str());
        store.order_runtime(&agent.nick, name, &caller::name()).await?;
    }
    Ok(store.close().await?)
}

/// Says which agents have another backend than the configured one, and which of them cannot run
/// with it: their daemons say so, too.
fn report_ordered(loaded: &Loaded, ordered: &Ordered) {
    for agent in loaded.enabled() {
        let Some(name) = ordered.get(&agent.nick) else { continue };
        if let Ok(Some(told)) = loaded.driven(agent, Some(name)).map(|driven| driven.notice()) {
            output::note(&format!("note: --runtime: {told}"));
        }
    }
    loaded.ordered_in_vain(ordered).iter().for_each(Failure::report);
}

fn options(checked: &Checked, args: Args) -> Result<HubOptions, Failure> {
    let config = &checked.loaded.config;
    Ok(HubOptions {
        paths: checked.paths.clone(),
        clock: clock::system(),
        name: config.server.name.clone(),
        irc: checked.irc,
        irc_elsewhere: config.server.address(),
        login_elsewhere: login_elsewhere(&config.network),
        keeps_agents: !args.no_agents,
        on_term: if args.service { OnTerm::Leave } else { OnTerm::Drain },
        longest_delay: Duration::from_secs(args.restart_delay_max),
        up_within: Duration::from_secs(config.apply_timeout_seconds.into()),
        program: Keep::new(&checked.paths)?.program().to_owned(),
        http: http::options(&checked.loaded, &checked.paths)?,
        options: words(&args),
        ready_file: args.ready_file,
        shows_token: !args.no_token && caller::may_read_password(),
    })
}

/// Returns the login that all agents share on another network. The hub does not use an agent's own account:
/// without a shared one it does not log in.
fn login_elsewhere(network: &Network) -> Option<(String, Secret)> {
    let sasl = network.sasl.as_ref().filter(|_| !network.embedded)?;
    let password = std::env::var(&sasl.password_env).ok()?;
    let password = Some(password.trim()).filter(|it| !it.is_empty()).map(Secret::new)?;
    Some((sasl.account.clone()?, password))
}

/// Returns the options that a hub in this one's place needs.
fn words(args: &Args) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(listen) = args.listen {
        words.extend(["--listen".to_owned(), listen.to_string()]);
    }
    if args.no_agents {
        words.push("--no-agents".to_owned());
    }
    words.extend(["--restart-delay-max".to_owned(), args.restart_delay_max.to_string()]);
    words
}

fn tell(
    global: &Global,
    (paths, service, embedded): (&Paths, bool, bool),
    room: Option<&str>,
    (listening, progress): (&Listening, &Progress),
) {
    if service {
        // Its output may be a log, which is no place for the owner's password.
        return log(progress);
    }
    let text = match (global.json, progress) {
        (true, Progress::Ready { .. }) => match serde_json::to_string(&ready(paths, listening)) {
            Ok(line) => format!("{line}\n"),
            Err(error) => return Failure::environment(error).report(),
        },
        (true, Progress::Listening | Progress::Draining(_) | Progress::Leaving(_)) => return,
        (false, Progress::Listening) if embedded => {
            invite::for_caller(&listening.irc, &listening.owner, room)
        }
        (false, Progress::Listening) => format!("The agents join {}.\n", listening.irc),
        (false, Progress::Ready { agents, stopped, failed }) => {
            format!("ready: {}\n{}{}", names(agents), not_ready(failed), still_stopped(stopped))
        }
        (false, Progress::Draining(left)) => ending(left),
        (false, Progress::Leaving(left)) => format!("ended; still running: {}\n", left.join(", ")),
    };
    if let Err(failure) = output::print(&text) {
        failure.report();
    }
}

fn log(progress: &Progress) {
    match progress {
        Progress::Listening => {}
        Progress::Ready { agents, stopped, failed } => {
            let (agents, failed) = (names(agents), failed.join(", "));
            tracing::info!(agents, failed, stopped = stopped.join(", "), "ready");
        }
        Progress::Draining(left) => tracing::info!(left = waiting(left), "ending"),
        Progress::Leaving(left) => tracing::info!(left = left.join(", "), "left running"),
    }
}

fn names(names: &[String]) -> String {
    if names.is_empty() { "no agents".to_owned() } else { names.join(", ") }
}

/// Returns the text about agents that cannot answer; nothing without such agents.
fn not_ready(failed: &[String]) -> String {
    match failed {
        [] => String::new(),
        all => format!("not ready: {} (`gangline ps` shows why)\n", all.join(", ")),
    }
}

/// Returns the text about agents that an operator has stopped; nothing without such agents.
fn still_stopped(stopped: &[String]) -> String {
    match stopped {
        [] => String::new(),
        all => format!("stopped: {} (`gangline start --all` starts them)\n", all.join(", ")),
    }
}

/// Returns what is said while the daemons end.
pub(super) fn ending(left: &[Left]) -> String {
    if left.is_empty() {
        return "ended\n".to_owned();
    }
    format!("ending: {}; press Ctrl-C again to interrupt open turns\n", waiting(left))
}

fn waiting(left: &[Left]) -> String {
    let one = |left: &Left| match left.in_turn {
        true => format!("{} (in a turn, which has 20 s to finish)", left.name),
        false => left.name.clone(),
    };
    left.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns the line for programs.
pub(super) fn ready(paths: &Paths, listening: &Listening) -> ReadyLine {
    ReadyLine {
        pid: std::process::id(),
        irc: listening.irc.clone(),
        http: listening.http.clone(),
        token: caller::readable(&listening.owner),
        token_file: Some(credentials::owner_token_file(paths)),
        state: paths.state.clone(),
    }
}
