//! `gangline start`: starts stopped agents, and a hub if none runs (R1-44).

use std::{cell::RefCell, collections::BTreeMap, time::Duration};

use gangline_core::AgentName;
use gangline_hub::about::Hub;
use gangline_os::{
    clock::UnixMicros,
    process::{self, Child},
};
use gangline_store::Desired;

use super::{
    choice::{self, Choice},
    up::{self, Wait},
};
use crate::{
    caller,
    cli::{Global, whom::Whom},
    configuration::{self, Loaded},
    failure::Failure,
    fleet::{self, Fleet, Member, Report},
    folders,
    keep::Keep,
    output, place, store,
};

/// A start takes a few seconds: catching up with the rooms, and the backend's own start.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// Start stopped agents, and the hub if none runs
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) whom: Whom,
    /// Use this backend instead of the configured one; `gangline runtime list` names them. It
    /// survives restarts of agent and hub. Without it an agent starts with the configured one
    #[arg(long, value_name = "NAME")]
    pub(crate) runtime: Option<String>,
    /// Do not wait until they are ready
    #[arg(long)]
    pub(crate) no_wait: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("start agents")?;
    let fleet = Fleet::open(place::existing(&global.place())?).await?;
    let loaded = configuration::load(&fleet.paths.config_file)?;
    let chosen = fleet.chosen(&args.whom.chosen(), |fleet, it| fleet.is_enabled(&it.name)).await?;
    for member in &chosen {
        may_run(&loaded, &member.name)?;
    }
    let told = chosen.iter().filter_map(|member| loaded.agent(&member.name).ok());
    let named = args.runtime.iter();
    let ordered =
        chosen.iter().flat_map(|it| named.clone().map(|to| (it.name.clone(), to.clone())));
    folders::tell(&fleet.paths, (&loaded, &ordered.collect()), told);
    let choice = Choice::of(args.runtime.as_deref(), Choice::Configured);
    choice::refuse_running(&loaded, &chosen, choice)?;
    // One that runs keeps the backend that it has.
    let down = chosen.iter().filter(|member| !member.runs());
    choice::order(&fleet, &choice::check(&loaded, down, choice)?).await?;
    for member in &chosen {
        fleet.store.order(&member.name, Desired::Up, &caller::name()).await?;
    }
    fleet.notify_hub();
    let embedded = loaded.config.network.embedded;
    if embedded && fleet.hub()?.is_none() && chosen.iter().any(|member| !member.runs()) {
        // Nobody but a hub brings the chat server that they are to join.
        loaded.can_run(&store::ordered(&fleet.paths))?;
        loaded.embedded_address()?;
        output::note("no hub runs: starting one, with all agents that are not stopped");
        let wait = if args.no_wait { Wait::UntilBegun } else { Wait::UntilReady(PATIENCE) };
        return up::begin(global, &fleet.paths, (Vec::new(), wait)).await;
    }
    let down: Vec<Member> = chosen.iter().filter(|member| !member.runs()).cloned().collect();
    let starter = Starter::find(&fleet, &loaded, &down)?;
    let started = starter.start(&fleet, &loaded, down.iter())?;
    if args.no_wait {
        return Ok(0);
    }
    let names: Vec<AgentName> = chosen.iter().map(|member| member.name.clone()).collect();
    let look = |it: &Member| started.or_ended(it, it.start(gangline_core::Epoch(0), UnixMicros(0)));
    let failed = fleet.until(&names, Some(PATIENCE), look).await?;
    fleet::left_undone(&fleet.paths, &failed).map_or(Ok(0), Err)
}

/// Makes sure that the agent is one that the configuration lets run.
pub(super) fn may_run(loaded: &Loaded, name: &AgentName) -> Result<(), Failure> {
    if loaded.agent(name)?.enabled {
        return Ok(());
    }
    Err(Failure::user(format!("{name} is switched off in {}", loaded.file.display()))
        .hint("remove `enabled: false`, then run `gangline up -d`"))
}

/// Who starts a daemon.
pub(super) enum Starter {
    /// The hub, which sees the order.
    Hub,
    /// This command: no hub is needed, since the chat server is elsewhere.
    Ourselves(Box<Keep>),
}

impl Starter {
    /// Returns who can start these, which do not run; a failure tells what to do.
    pub(super) fn find(
        fleet: &Fleet,
        loaded: &Loaded,
        members: &[Member],
    ) -> Result<Self, Failure> {
        let Some(first) = members.first() else { return Ok(Self::Hub) };
        match fleet.hub()? {
            Some(hub) => {
                let stranger = members.iter().find(|member| member.kept.is_none());
                by_hub(&hub, stranger).map(|()| Self::Hub)
            }
            None if !loaded.config.network.embedded => {
                Keep::new(&fleet.paths).map(|keep| Self::Ourselves(Box::new(keep)))
            }
            None => Err(Failure::user(format!(
                "the order is stored, but no hub runs to start {}",
                first.name
            ))
            .hint("`gangline up -d` starts the hub and its agents")),
        }
    }

    /// Starts those that this command has to start itself.
    pub(super) fn start<'a>(
        &self,
        fleet: &Fleet,
        loaded: &Loaded,
        members: impl Iterator<Item = &'a Member>,
    ) -> Result<Started, Failure> {
        let started = Started::default();
        let Self::Ourselves(keep) = self else { return Ok(started) };
        let irc = loaded.config.server.address();
        for member in members {
            let agent = loaded.agent(&member.name)?;
            keep.prepare(agent)?;
            let daemon = keep.daemon(agent, loaded, &irc);
            let child = process::spawn(daemon.spawn).map_err(|error| {
                Failure::environment(error).doing(format!("cannot start {}", member.name))
            })?;
            output::note(&format!("{}: started as process {}", member.name, child.pid()));
            started.children.borrow_mut().insert(member.name.clone(), child);
        }
        fleet.notify_hub();
        Ok(started)
    }
}

/// A hub that leaves daemons to something else, or does not know of the agent, starts none.
fn by_hub(hub: &Hub, stranger: Option<&Member>) -> Result<(), Failure> {
    let keeps = hub.about.as_ref().is_none_or(|about| about.keeps_agents);
    match stranger {
        None => Ok(()),
        Some(member) if keeps => {
            Err(Failure::user(format!("the hub does not know {} yet", member.name))
                .hint("run `gangline up -d`, which makes it read the configuration again"))
        }
        Some(member) => Err(Failure::user(format!(
            "the hub does not start {} (--no-agents): its service manager does",
            member.name
        ))
        .hint(format!("with systemd: systemctl --user start gangline-agent@{}", member.name))),
    }
}

/// The daemons that this command has started; they run on when it ends.
#[derive(Default)]
pub(super) struct Started {
    children: RefCell<BTreeMap<AgentName, Child>>,
}

impl Started {
    /// Returns what is told, unless the daemon that we started has ended.
    pub(super) fn or_ended(&self, member: &Member, told: Report) -> Report {
        let mut children = self.children.borrow_mut();
        let exit = children.get_mut(&member.name).and_then(Child::exited);
        match (exit, told) {
            (Some(exit), Report::Waiting(_)) if !member.runs() => Report::Failed(match exit.code {
                Some(code) => format!("ended with exit code {code}"),
                None => "was killed".to_owned(),
            }),
            (_, told) => told,
        }
    }
}
