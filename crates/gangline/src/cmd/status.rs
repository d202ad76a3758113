//! `gangline status`: one agent whole, or all.

use gangline_api::status::AgentStatus;
use gangline_os::{clock, paths::Paths};

use crate::{
    cli::{Global, who::Who},
    configuration, control,
    failure::Failure,
    names, output, place,
    show::{self, wire::OfAgent},
    store,
    view::{self, Facts},
};

pub(super) async fn run(global: &Global, agent: Option<Who>) -> Result<u8, Failure> {
    let paths = place::of_existing(global)?;
    let Some(agent) = agent else {
        let agents = all(&paths).await?;
        let named = || agents.iter().map(|it| OfAgent::new(it, it)).collect::<Vec<_>>();
        return if global.json { output::json(&named()) } else { print(&agents) }.map(|()| 0);
    };
    let broker = store::existing(&paths).await?;
    let agent = names::agent(global, &agent)?;
    store::known(&broker, &paths, &agent).await?;
    let status = live(&store::facts(&broker, &paths, &agent).await?);
    let named = OfAgent::new(&status, &status);
    if global.json { output::json(&named) } else { print(std::slice::from_ref(&status)) }
        .map(|()| 0)
}

/// Returns the status of every agent that is known.
pub(super) async fn all(paths: &Paths) -> Result<Vec<AgentStatus>, Failure> {
    let broker = store::existing(paths).await?;
    let rows = broker.agents().await?;
    let mut all = Vec::new();
    for name in store::names(&rows, configuration::quiet(&paths.config_file).as_ref()) {
        all.push(live(&store::facts(&broker, paths, &name).await?));
    }
    Ok(all)
}

/// Returns the status of one agent, as its daemon tells it if it runs.
pub(super) fn live(facts: &Facts) -> AgentStatus {
    let daemon = facts.holder.as_ref().and_then(|_| control::status(&facts.nick));
    view::asked(view::status(facts), daemon)
}

fn print(agents: &[AgentStatus]) -> Result<(), Failure> {
    let now = clock::system().now();
    let texts: Vec<String> = agents.iter().map(|agent| show::agents::whole(agent, now)).collect();
    output::print(&texts.join("\n"))
}
