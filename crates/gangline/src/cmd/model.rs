//! `gangline model`: which model an agent uses, and another one from its next turn on (R2-04).

use gangline_agent::model;
use gangline_config::Thinking;
use gangline_core::{AgentName, effort::EffortLevel, model::ModelName};
use gangline_os::{change_notice, paths::Paths};
use gangline_store::Store;
use serde::Serialize;

use crate::{
    caller,
    cli::Global,
    configuration,
    failure::Failure,
    fleet, names, output, place, store,
    view::{self, Facts},
    who::Who,
};

/// Where a model's name, or its effort, comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum From {
    /// It was chosen, by the command or in the room.
    Chosen,
    /// It is set in agents.yaml.
    Configuration,
    /// Nobody named one.
    Backend,
}

/// What is told, and printed as JSON.
#[derive(Debug, Serialize)]
struct Output {
    agent: AgentName,
    /// The one that the next turn has; absent if only the backend knows.
    model: Option<String>,
    from: From,
    /// The one of agents.yaml.
    configured: Option<String>,
    /// The one that the daemon uses now; absent while none runs.
    used: Option<String>,
}

/// Show the model of an agent, or change it from the next turn on
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    pub(crate) agent: Who,
    /// The model, as the backend calls it; used until you choose another
    #[arg(conflicts_with = "default")]
    pub(crate) name: Option<ModelName>,
    /// Go back to the model of agents.yaml
    #[arg(long)]
    pub(crate) default: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let Args { agent, name, default } = args;
    if let Some(advice) =
        name.as_ref().and_then(|name| configuration::retired::advice(&name.to_string()))
    {
        output::note(&format!("warning: {advice}"));
    }
    if name.is_some() || default {
        caller::refuse("change models")?;
    }
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, &agent)?;
    let paths = installation.paths;
    let store = store::existing(&paths).await?;
    store::known(&store, &paths, &agent).await?;
    let facts = fleet::seen(&store, &paths, &agent).await?;
    let Backend { owner, configured, fixed, .. } = backend(&store, &paths, &facts).await?;
    if name.is_some() && fixed {
        return Err(cannot(&agent));
    }
    if name.is_some() || default {
        choose(&paths, (&agent, &owner), name.as_ref())?;
    }
    if let Some(name) = &name {
        output::note(&format!(
            "note: only the backend knows whether there is a model `{name}`: if not, the next turn \
             fails, and `gangline model {agent} --default` goes back"
        ));
    }
    let runs = facts.holder.is_some();
    let chosen = model::chosen(&paths, &agent, &owner).map(|model| model.to_string());
    let from = match (&chosen, &configured) {
        (Some(_), _) => From::Chosen,
        (None, Some(_)) => From::Configuration,
        (None, None) => From::Backend,
    };
    let told = Output {
        model: chosen.or_else(|| configured.clone()),
        from,
        configured,
        used: view::status(&facts).model.filter(|_| runs),
        agent,
    };
    if global.json { output::json(&told) } else { output::print(&told.text()) }.map(|()| 0)
}

/// The backend for which a model or an effort is chosen.
pub(super) struct Backend {
    pub(super) owner: String,
    /// The model of the configuration.
    configured: Option<String>,
    /// A model that is chosen would have no effect.
    fixed: bool,
    /// The effort of the configuration.
    pub(super) thinking: Thinking,
    /// The levels of the effort that it takes; none if a choice would have no effect.
    pub(super) efforts: &'static [EffortLevel],
}

/// Nothing is kept that would have no effect.
fn cannot(agent: &AgentName) -> Failure {
    let failure = Failure::user(format!(
        "Gangline does not know how to set the model of {agent}'s \
         program"
    ));
    failure.hint("set it in the program (`gangline attach --write`) or in its own settings").hint(
        "or write its arguments for it into agents.yaml: `screen: {model: [--model, \
             \"{model}\"]}`",
    )
}

/// Returns for which backend a model or an effort is chosen: the one that the agent starts with the next time,
/// else the one that it had last.
pub(super) async fn backend(
    store: &Store,
    paths: &Paths,
    facts: &Facts,
) -> Result<Backend, Failure> {
    let loaded = configuration::quiet(&paths.config_file);
    let orders = store.orders().await?;
    let order = orders.iter().find(|order| order.agent == facts.nick);
    let driven = loaded.as_ref().and_then(|loaded| {
        let agent = loaded.agent(&facts.nick).ok()?;
        let driven = loaded.driven(agent, order.and_then(|order| order.runtime.as_deref())).ok()?;
        let configured = driven.instead_of.as_ref().map(|it| it.owner.clone());
        model::adopt(paths, &facts.nick, &configured.unwrap_or_else(|| driven.found.owner()));
        let can = configuration::can(&driven.agent, &driven.found).unwrap_or_default();
        let owner = driven.found.owner();
        let (configured, thinking) = (driven.agent.model, driven.agent.thinking);
        let (fixed, efforts) = (can.fixed_model, can.efforts);
        Some(Backend { owner, configured, fixed, thinking, efforts })
    });
    let last = || {
        let owner = facts.row.as_ref()?.runtime.clone()?;
        let (configured, thinking) = (None, Thinking::Usual);
        Some(Backend { owner, configured, fixed: false, thinking, efforts: &[] })
    };
    driven.or_else(last).ok_or_else(|| {
        Failure::user(format!("the backend of {} is unknown", facts.nick))
            .hint("it is not in the configuration, or that has faults: run `gangline config check`")
    })
}

fn choose(
    paths: &Paths,
    (agent, owner): (&AgentName, &str),
    name: Option<&ModelName>,
) -> Result<(), Failure> {
    model::choose(paths, agent, owner, name)
        .map_err(|error| Failure::environment(error).doing("cannot store the choice"))?;
    change_notice::notify(&paths.change_notice(agent.folded()));
    Ok(())
}

impl Output {
    fn text(&self) -> String {
        let Self { agent, model, from, configured, used } = self;
        let mut text = match (model, from) {
            (Some(model), From::Chosen) => format!("{agent} uses {model}: chosen"),
            (Some(model), From::Configuration | From::Backend) => {
                format!("{agent} uses {model}: from agents.yaml")
            }
            (None, _) => format!("{agent} uses its backend's default model"),
        };
        if let (Some(configured), From::Chosen) = (configured, from) {
            text.push_str(&format!(" (agents.yaml: {configured})"));
        }
        match (used, model) {
            (Some(used), Some(model)) if used != model => {
                text.push_str(&format!("; from its next turn on, it was {used}"));
            }
            (Some(used), None) => text.push_str(&format!("; last seen: {used}")),
            _ => {}
        }
        text.push('\n');
        text
    }
}
