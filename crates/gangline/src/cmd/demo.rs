//! `gangline demo`: a hub with one guide agent, whose model is the stand-in.

mod ports;
mod scene;

pub(super) use scene::invocation;

use std::time::Duration;

use std::path::PathBuf;

use gangline_hub::{
    hub::{self, HubOptions, Listening, OnTerm, Plan, Progress, Refused},
    restart::LONGEST_DELAY,
};
use gangline_os::{clock, fsio, lock, paths::Paths};

use super::up;
use crate::{
    caller,
    cli::Global,
    configuration::{self, Loaded, access},
    failure::Failure,
    keep::Keep,
    output, place,
};
use ports::Ports;

/// Run a hub with a guide agent and a stand-in model; needs no key, installs nothing
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let paths = paths(global)?;
    fsio::private_dir(&paths.state).map_err(Failure::environment)?;
    refuse_second(&paths)?;
    let ports = ports::choose(&paths, !global.json)?;
    let loaded = stage(&paths, ports)?;
    let keep = Keep::new(&paths)?;
    loaded.enabled().try_for_each(|agent| keep.prepare(agent))?;
    let guide = loaded.agent(&scene::GUIDE.parse().map_err(Failure::config)?)?;
    let standin = keep.standin(ports.standin, guide)?;
    let options = HubOptions {
        paths: paths.clone(),
        clock: clock::system(),
        name: loaded.config.server.name.clone(),
        irc: Some(loaded.embedded_address()?),
        irc_elsewhere: loaded.config.server.address(),
        login_elsewhere: None,
        keeps_agents: true,
        on_term: OnTerm::Drain,
        longest_delay: LONGEST_DELAY,
        up_within: Duration::from_secs(loaded.config.apply_timeout_seconds.into()),
        ready_file: args.ready_file,
        shows_token: caller::may_read_password(),
        program: keep.program().to_owned(),
        http: None,
        options: Vec::new(),
    };
    let plan = |listening: &Listening| -> Result<Plan, Refused> {
        let daemon = |agent| keep.daemon(agent, &loaded, &listening.irc);
        Ok(Plan {
            kept: std::iter::once(standin.clone()).chain(loaded.enabled().map(daemon)).collect(),
            configured: loaded.config.agents.iter().map(|agent| agent.nick.clone()).collect(),
            accounts: loaded.enabled().map(|agent| agent.nick.clone()).collect(),
            access: access::access(&loaded.config),
            alerts: crate::configuration::alerts::plan(&loaded),
            unapplied: Vec::new(),
        })
    };
    let told = |listening: &Listening, progress: &Progress| {
        tell(global, &paths, listening, progress);
    };
    super::up::adopts_orphans();
    hub::run(options, plan, told).await?;
    Ok(0)
}

fn paths(global: &Global) -> Result<Paths, Failure> {
    let plain = place::unread(&global.place())?;
    let state = match global.state {
        Some(_) => plain.state,
        None => place::demo_state(&plain.state),
    };
    Ok(Paths { config_file: state.join("agents.yaml"), state, runtime: plain.runtime })
}

/// A second demo must not write over the first one's ports and configuration.
fn refuse_second(paths: &Paths) -> Result<(), Failure> {
    match lock::probe(&paths.hub_lock()).map_err(Failure::environment)? {
        None => Ok(()),
        Some(holder) => {
            Err(Failure::user(format!("a hub already runs on {}: {holder}", paths.state.display()))
                .hint("stop it, or choose another folder with --state DIR"))
        }
    }
}

/// Writes the workspace and the configuration.
fn stage(paths: &Paths, ports: Ports) -> Result<Loaded, Failure> {
    let workspace = paths.state.join("workspace");
    scene::make_workspace(&workspace)?;
    let text = scene::configuration(&workspace, ports)?;
    fsio::write_private(&paths.config_file, text.as_bytes()).map_err(Failure::environment)?;
    configuration::load(&paths.config_file)
}

/// Returns what other commands need to find the demo's state.
fn flag(global: &Global, paths: &Paths) -> String {
    let usual = paths.state.parent().filter(|usual| place::demo_state(usual) == paths.state);
    match (&global.state, usual) {
        (None, Some(usual)) if !usual.join("gangline.db").is_file() => String::new(),
        _ => format!(" --state {}", paths.state.display()),
    }
}

fn tell(global: &Global, paths: &Paths, listening: &Listening, progress: &Progress) {
    let told = match (global.json, progress) {
        (true, Progress::Ready { .. }) => output::json_line(&up::ready(paths, listening)),
        (true, Progress::Listening | Progress::Draining(_) | Progress::Leaving(_)) => Ok(()),
        (false, Progress::Listening) => {
            output::print(&scene::introduction(&flag(global, paths), paths, listening))
        }
        (false, Progress::Ready { failed, .. }) if !failed.is_empty() => {
            output::print("demo-guide cannot answer: `gangline ps` shows why\n")
        }
        (false, Progress::Ready { .. }) => {
            output::print("ready: demo-guide is in #general. Ctrl-C ends the demo.\n")
        }
        (false, Progress::Draining(left)) => output::print(&up::ending(left)),
        (false, Progress::Leaving(left)) => {
            output::print(&format!("ended; still running: {}\n", left.join(", ")))
        }
    };
    if let Err(failure) = told {
        failure.report();
    }
}
