//! `gangline up`: the hub with the agents of the configuration.

use std::{net::SocketAddr, time::Duration};

use gangline_api::{config::AgentConfig, ready::ReadyLine};
use gangline_hub::{
    hub::{self, HubOptions, Listening, Progress},
    kept::Kept,
};
use gangline_os::{clock, paths::Paths};

use crate::{
    cli::{Global, Up},
    configuration::{self, Loaded},
    failure::Failure,
    invite,
    keep::{self, Keep},
    output, place,
};

pub(super) async fn run(global: &Global, args: Up) -> Result<u8, Failure> {
    let mut paths = place::plain(global)?;
    let loaded = configuration::load(&paths.config_file)?;
    if let (None, Some(state)) = (&global.state, loaded.state()) {
        paths.state = state;
    }
    for warning in loaded.warnings() {
        output::note(&format!("warning: {warning}"));
    }
    loaded.can_run()?;
    let irc = address(&loaded, args.listen)?;
    let keep = Keep::new(&paths)?;
    loaded.enabled().try_for_each(|agent| keep.prepare(agent))?;
    let wanted: Vec<&AgentConfig> =
        if args.no_agents { Vec::new() } else { loaded.enabled().collect() };
    let options = options((&paths, &loaded), irc, &wanted, args);
    let kept = |listening: &Listening| -> Vec<Kept> {
        let daemon = |agent: &&AgentConfig| keep.daemon(agent, &loaded.config, &listening.irc);
        wanted.iter().map(daemon).collect()
    };
    let locks = wanted.iter().map(|agent| paths.agent_lock(agent.nick.folded())).collect();
    let told = |listening: &Listening, progress| {
        tell(global, (&paths, &loaded), &wanted, listening, progress);
    };
    tokio::select! {
        ended = hub::run(options, kept, told) => ended.map(|()| 0).map_err(Failure::from),
        haste = keep::in_haste(locks) => match haste? {},
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

fn options(
    (paths, loaded): (&Paths, &Loaded),
    irc: Option<SocketAddr>,
    wanted: &[&AgentConfig],
    args: Up,
) -> HubOptions {
    HubOptions {
        paths: paths.clone(),
        clock: clock::system(),
        name: loaded.config.server.name.clone(),
        irc,
        irc_elsewhere: loaded.config.server.address(),
        agents: wanted.iter().map(|agent| agent.nick.clone()).collect(),
        accounts: loaded.enabled().map(|agent| agent.nick.clone()).collect(),
        longest_delay: Duration::from_secs(args.restart_delay_max),
        ready_file: args.ready_file,
    }
}

fn tell(
    global: &Global,
    (paths, loaded): (&Paths, &Loaded),
    wanted: &[&AgentConfig],
    listening: &Listening,
    progress: Progress,
) {
    let room = loaded.enabled().find_map(|agent| agent.channels.first());
    let names: Vec<&str> = wanted.iter().map(|agent| agent.nick.as_str()).collect();
    let names = if names.is_empty() { "no agents".to_owned() } else { names.join(", ") };
    let told = match (global.json, progress) {
        (true, Progress::Ready) => output::json_line(&ready(paths, listening)),
        (true, Progress::Listening | Progress::Draining) => Ok(()),
        (false, Progress::Listening) if loaded.config.network.embedded => {
            let room = room.map(|room| room.as_str());
            output::print(&invite::lines(&listening.irc, &listening.owner, room))
        }
        (false, Progress::Listening) => {
            output::print(&format!("The agents join {}.\n", listening.irc))
        }
        (false, Progress::Ready) => output::print(&format!("ready: {names}\n")),
        (false, Progress::Draining) => {
            output::print("ending: turns may settle; Ctrl-C again is in haste\n")
        }
    };
    if let Err(failure) = told {
        failure.report();
    }
}

/// Returns the line for programs.
pub(super) fn ready(paths: &Paths, listening: &Listening) -> ReadyLine {
    ReadyLine {
        pid: std::process::id(),
        irc: listening.irc.clone(),
        http: None,
        token: listening.owner.expose().to_owned(),
        state: paths.state.clone(),
    }
}
