//! `gangline stop`: agents end and stay down until they are started again.

use std::time::Duration;

use gangline_core::AgentName;
use gangline_hub::kept::DRAIN_BUDGET;
use gangline_os::kill::Signal;
use gangline_store::Desired;

use crate::{
    caller,
    cli::{Global, whom::Whom},
    failure::Failure,
    fleet::{self, Fleet, Member},
    output, place,
};

/// The hub kills what does not end within its budget.
const PATIENCE: Duration = Duration::from_secs(DRAIN_BUDGET.as_secs() + 10);

/// Stop agents until `start`, even if the hub restarts
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) whom: Whom,
    /// Interrupt an open turn instead of letting it finish
    #[arg(long)]
    pub(crate) now: bool,
    /// Do not wait until they have ended
    #[arg(long)]
    pub(crate) no_wait: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("stop agents")?;
    let fleet = Fleet::open(place::existing(&global.place())?).await?;
    let all = |fleet: &Fleet, it: &Member| it.runs() || fleet.is_enabled(&it.name);
    let chosen = fleet.chosen(&args.whom.chosen(), all).await?;
    if chosen.is_empty() {
        output::note("there are no agents");
    }
    let desired = if args.now { Desired::DownNow } else { Desired::Down };
    for member in &chosen {
        fleet.store.order(&member.name, desired, &caller::name()).await?;
    }
    fleet.notify_hub();
    // Whom no hub keeps, nobody but us can ask.
    for holder in chosen.iter().filter(|it| it.kept.is_none()).filter_map(|it| it.holder.as_ref()) {
        fleet::signal(holder, Signal::Term)?;
        if args.now {
            fleet::signal(holder, Signal::Int)?;
        }
    }
    if args.no_wait {
        return Ok(0);
    }
    let names: Vec<AgentName> = chosen.into_iter().map(|member| member.name).collect();
    let failed = fleet.until(&names, Some(PATIENCE), Member::end).await?;
    let hint = "`gangline stop --now` interrupts its turn";
    fleet::left_undone(&fleet.paths, &failed).map_or(Ok(0), |failure| Err(failure.hint(hint)))
}
