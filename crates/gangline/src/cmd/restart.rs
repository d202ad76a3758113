//! `gangline restart`: daemons end and start anew, one after the other; or the hub does.

use std::time::Duration;

use gangline_core::{AgentName, Epoch};
use gangline_hub::hub::is_idle;
use gangline_os::{
    clock::{self, UnixMicros},
    kill::Signal,
};
use gangline_store::{Desired, RestartWhen};

use super::{
    choice::{self, Choice},
    down,
    start::{PATIENCE, Started, Starter, may_run},
    up,
};
use crate::{
    caller,
    cli::Global,
    configuration::{self, Loaded},
    failure::Failure,
    fleet::{self, Chosen, Fleet, Member, Report},
    output, place, store,
    who::Who,
};

/// How long one daemon may take to settle its turn and its successor to get ready.
const EACH: Duration = Duration::from_secs(200);

/// Restart agents, one after the other
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agents' nicks
    #[arg(value_name = "NICK", required_unless_present_any = ["all", "hub"],
          conflicts_with_all = ["all", "hub"])]
    pub(crate) agents: Vec<Who>,
    /// All agents that are not stopped
    #[arg(long)]
    pub(crate) all: bool,
    /// Restart only the hub; the new one adopts the agents
    #[arg(long, conflicts_with_all = ["all", "when_idle", "no_wait"])]
    pub(crate) hub: bool,
    /// Restart each one when it is idle
    #[arg(long)]
    pub(crate) when_idle: bool,
    /// Use this backend instead of the configured one; `gangline runtime list` names them. It
    /// survives restarts of agent and hub; name the configured one to go back. Without it an agent
    /// keeps its backend
    #[arg(long, value_name = "NAME", conflicts_with = "hub")]
    pub(crate) runtime: Option<String>,
    /// Do not wait until they are ready
    #[arg(long)]
    pub(crate) no_wait: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("restart agents")?;
    if args.hub {
        return hub(global).await;
    }
    let fleet = Fleet::open(place::existing(&global.place())?).await?;
    let loaded = configuration::load(&fleet.paths.config_file)?;
    let whom = if args.all { Chosen::All } else { Chosen::Named(args.agents.clone()) };
    let all = |fleet: &Fleet, it: &Member| fleet.is_enabled(&it.name) && !it.is_stopped();
    let chosen = fleet.chosen(&whom, all).await?;
    if chosen.is_empty() {
        output::note("there is no agent to restart");
    }
    for member in &chosen {
        may_run(&loaded, &member.name)?;
    }
    let choice = Choice::of(args.runtime.as_deref(), Choice::AsOrdered);
    choice::order(&fleet, &choice::check(&loaded, chosen.iter(), choice)?).await?;
    let when = if args.when_idle { RestartWhen::WhenIdle } else { RestartWhen::Immediately };
    match Starter::find(&fleet, &loaded, &chosen) {
        Ok(Starter::Hub) => by_hub(&fleet, &chosen, (when, !args.no_wait)).await,
        Ok(starter @ Starter::Ourselves(_)) => {
            for member in &chosen {
                ourselves(&fleet, &loaded, member, (when, &starter)).await?;
            }
            Ok(0)
        }
        Err(failure) => {
            // For the next hub; what runs is not ended by somebody who cannot start it again.
            order(&fleet, &chosen, when).await?;
            Err(failure)
        }
    }
}

async fn order(fleet: &Fleet, chosen: &[Member], when: RestartWhen) -> Result<(), Failure> {
    for member in chosen {
        fleet.store.order_restart(&member.name, when, &caller::name()).await?;
    }
    fleet.notify_hub();
    Ok(())
}

async fn by_hub(
    fleet: &Fleet,
    chosen: &[Member],
    (when, wait): (RestartWhen, bool),
) -> Result<u8, Failure> {
    order(fleet, chosen, when).await?;
    if !wait {
        return Ok(0);
    }
    let names: Vec<AgentName> = chosen.iter().map(|member| member.name.clone()).collect();
    let before = |name: &AgentName| {
        chosen.iter().find(|it| it.name == *name).map_or(Epoch(0), Member::epoch)
    };
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX).max(1);
    let patience = match when {
        RestartWhen::Immediately => Some(EACH.saturating_mul(count)),
        RestartWhen::WhenIdle => None,
    };
    let look = |member: &Member| restarted(member, before(&member.name), when);
    let failed = fleet.until(&names, patience, look).await?;
    fleet::left_undone(&fleet.paths, &failed).map_or(Ok(0), Err)
}

fn restarted(member: &Member, before: Epoch, when: RestartWhen) -> Report {
    let told = member.start(before, UnixMicros(0));
    match (told, when) {
        (Report::Waiting(text), RestartWhen::WhenIdle) if member.is_in_turn() => {
            Report::Waiting(format!("{text}: restarted once it is idle"))
        }
        (told, _) => told,
    }
}

/// Without a hub: ends one daemon and starts it again from here.
async fn ourselves(
    fleet: &Fleet,
    loaded: &Loaded,
    member: &Member,
    (when, starter): (RestartWhen, &Starter),
) -> Result<(), Failure> {
    let names = [member.name.clone()];
    fleet.store.order(&member.name, Desired::Up, &caller::name()).await?;
    if when == RestartWhen::WhenIdle {
        wait_for_idle(fleet, member).await?;
    }
    if let Some(holder) = &member.holder {
        fleet::signal(holder, Signal::Term)?;
        let failed = fleet.until(&names, Some(EACH), Member::end).await?;
        if let Some(failure) = fleet::left_undone(&fleet.paths, &failed) {
            return Err(failure);
        }
    }
    let started: Started = starter.start(fleet, loaded, std::iter::once(member))?;
    let before = member.epoch();
    let look = |it: &Member| started.or_ended(it, it.start(before, UnixMicros(0)));
    let failed = fleet.until(&names, Some(PATIENCE), look).await?;
    fleet::left_undone(&fleet.paths, &failed).map_or(Ok(()), Err)
}

async fn wait_for_idle(fleet: &Fleet, member: &Member) -> Result<(), Failure> {
    loop {
        let row = fleet.store.agent(&member.name).await?;
        let now = clock::system().now();
        let idle = match &row {
            Some(row) => is_idle(now, &fleet.store, row).await,
            None => true,
        };
        if idle || fleet::holder(&fleet.paths, &member.name)?.is_none() {
            return Ok(());
        }
        tokio::time::sleep(fleet::LOOK_EVERY).await;
    }
}

/// Ends the hub alone and starts one in its place, with the same options.
async fn hub(global: &Global) -> Result<u8, Failure> {
    let fleet = Fleet::open(place::existing(&global.place())?).await?;
    let Some(running) = fleet.hub()? else {
        return Err(Failure::user("no hub runs").hint("`gangline up -d` starts one"));
    };
    let Some(about) = &running.about else { return Err(fleet::mute(&running)) };
    if about.supervised {
        return Err(Failure::user("the service manager runs the hub: restart it there")
            .hint("with systemd: systemctl --user restart gangline"));
    }
    // A hub that works is not ended for one that cannot begin.
    let loaded = configuration::load(&about.config)?;
    let _ = loaded.can_run(&store::ordered(&fleet.paths))?;
    if loaded.config.network.embedded {
        loaded.embedded_address()?;
    }
    down::hub_only(&fleet).await?;
    up::again(global, &fleet.paths, about).await
}
