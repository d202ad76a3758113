//! `gangline status`: one agent whole, or all.

use gangline_api::status::AgentStatus;
use gangline_os::clock::{self, UnixMicros};
use gangline_store::Store;

use crate::{
    cli::Global,
    control,
    failure::Failure,
    fleet, names, output,
    place::{self, Installation},
    show::{self, wire::OfAgent},
    store,
    view::{self, Facts},
    who::Who,
};

/// The maximum number of waiting messages that are named.
const QUEUE_MAX: u32 = 5;

/// Show one agent, or all
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    agent: Option<Who>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    let paths = &installation.paths;
    let Some(agent) = args.agent else {
        let store = store::existing(paths).await?;
        let agents = all(&store, &installation).await?;
        let named = || agents.iter().map(|it| OfAgent::new(it, it)).collect::<Vec<_>>();
        if global.json {
            return output::json(&named()).map(|()| 0);
        }
        return print(&store, &agents).await.map(|()| 0);
    };
    let store = store::existing(paths).await?;
    let agent = names::agent(&installation, &agent)?;
    store::known(&store, paths, &agent).await?;
    let seen = fleet::seen(&store, paths, &agent).await?;
    let seen = Facts { trouble: installation.trouble(), ..seen };
    let status = live(&store::facts(&store, seen).await?);
    let named = OfAgent::new(&status, &status);
    match global.json {
        true => output::json(&named)?,
        false => print(&store, std::slice::from_ref(&status)).await?,
    }
    Ok(0)
}

/// Returns the status of every agent that is known.
async fn all(store: &Store, installation: &Installation) -> Result<Vec<AgentStatus>, Failure> {
    let rows = store.agents().await?;
    let trouble = installation.trouble();
    let mut all = Vec::new();
    for name in store::names(&rows, installation.configuration().as_ref()) {
        let row = rows.iter().find(|row| row.agent == name).cloned();
        let holder = fleet::holder(&installation.paths, &name)?;
        let seen = Facts { trouble: trouble.clone(), ..Facts::new(name, row, holder) };
        all.push(live(&store::facts(store, seen).await?));
    }
    Ok(all)
}

/// Returns the status of one agent, as its daemon tells it if it runs.
pub(super) fn live(facts: &Facts) -> AgentStatus {
    let daemon = facts.holder.as_ref().and_then(|_| control::status(&facts.nick));
    view::asked(view::status(facts), daemon)
}

async fn print(store: &Store, agents: &[AgentStatus]) -> Result<(), Failure> {
    if agents.is_empty() {
        return output::print(show::agents::NONE);
    }
    let now = clock::system().now();
    let mut texts = Vec::new();
    for agent in agents {
        let waiting = match agent.pending {
            0 => Vec::new(),
            _ => store.pending(&agent.nick, UnixMicros(i64::MAX), QUEUE_MAX).await?,
        };
        // Nobody waits for the news of a start, and it is not counted.
        let waiting: Vec<_> = waiting.into_iter().filter(|row| !row.is_restart_note()).collect();
        texts.push(show::agents::whole(agent, now) + &show::agents::waiting(&waiting));
    }
    output::print(&texts.join("\n"))
}
