//! `gangline effort`: how hard an agent's model thinks, and another level from its next turn on (R0-65).

use gangline_agent::effort;
use gangline_config::Thinking;
use gangline_core::{AgentName, effort::EffortLevel};
use gangline_os::change_notice;
use serde::Serialize;

use super::model::{Backend, From, backend};
use crate::{caller, cli::Global, failure::Failure, fleet, names, output, place, store, who::Who};

#[cfg(test)]
mod tests;

/// What is told, and printed as JSON.
#[derive(Debug, Serialize)]
struct Output {
    agent: AgentName,
    /// The ground level of the next turn; absent if only the backend knows.
    effort: Option<String>,
    from: From,
    /// The one of agents.yaml.
    configured: Option<String>,
    /// The levels that the backend takes; none if it has no such setting.
    levels: &'static [EffortLevel],
}

/// Show how hard an agent's model thinks, or change it from the next turn on
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    pub(crate) agent: Who,
    /// The level: off, minimal, low, medium, high, xhigh or max, as far as the backend has it; used until you
    /// choose another
    #[arg(conflicts_with = "default")]
    pub(crate) level: Option<EffortLevel>,
    /// Go back to `thinking` of agents.yaml
    #[arg(long)]
    pub(crate) default: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let Args { agent, level, default } = args;
    let changes = level.is_some() || default;
    if changes {
        caller::refuse("change efforts")?;
    }
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, &agent)?;
    let paths = installation.paths;
    let store = store::existing(&paths).await?;
    store::known(&store, &paths, &agent).await?;
    let facts = fleet::seen(&store, &paths, &agent).await?;
    let Backend { owner, thinking, efforts, .. } = backend(&store, &paths, &facts).await?;
    if let Some(level) = level.filter(|level| !efforts.contains(level)) {
        return Err(cannot(&agent, level, efforts));
    }
    if changes {
        effort::choose(&paths, &agent, &owner, level)
            .map_err(|error| Failure::environment(error).doing("cannot store the choice"))?;
        change_notice::notify(&paths.change_notice(agent.folded()));
        if facts.holder.is_some() {
            output::note(&format!(
                "note: if that is another level, {agent}'s backend is started anew between two turns; its \
                 session continues"
            ));
        }
    }
    let chosen = effort::chosen(&paths, &agent, &owner);
    let told = Output::new(agent, chosen, &thinking, efforts);
    if global.json { output::json(&told) } else { output::print(&told.text()) }.map(|()| 0)
}

/// What helps if Gangline cannot set the effort.
const IN_PROGRAM: &str = "set it in the program's own settings";

fn unknown(agent: &AgentName) -> String {
    format!("Gangline does not know how to set the effort of {agent}'s program")
}

/// Nothing is stored that would have no effect.
fn cannot(agent: &AgentName, level: EffortLevel, efforts: &[EffortLevel]) -> Failure {
    let words: Vec<&str> = efforts.iter().map(|it| it.as_str()).collect();
    match words.as_slice() {
        [] => Failure::user(unknown(agent)).hint(IN_PROGRAM),
        words => Failure::user(format!("the backend of {agent} has no effort `{level}`"))
            .hint(format!("choose one of: {}", words.join(", "))),
    }
}

impl Output {
    fn new(
        agent: AgentName,
        chosen: Option<EffortLevel>,
        thinking: &Thinking,
        levels: &'static [EffortLevel],
    ) -> Self {
        let configured = match thinking {
            Thinking::Said(word) => Some(word.clone()),
            Thinking::Usual => None,
        };
        let (effort, from) = match (chosen, &configured) {
            (Some(level), _) => (Some(level.to_string()), From::Chosen),
            (None, Some(word)) => (Some(word.clone()), From::Configuration),
            (None, None) => (None, From::Backend),
        };
        Self { agent, effort, from, configured, levels }
    }

    fn text(&self) -> String {
        let Self { agent, effort, from, configured, levels } = self;
        let text = match (effort, from, configured) {
            _ if levels.is_empty() => format!("{}: {IN_PROGRAM}", unknown(agent)),
            (Some(level), From::Chosen, Some(configured)) => {
                format!("{agent} thinks with effort {level}: chosen (agents.yaml: {configured})")
            }
            (Some(level), From::Chosen, None) => {
                format!("{agent} thinks with effort {level}: chosen")
            }
            (Some(level), From::Configuration | From::Backend, _) => {
                format!("{agent} thinks with effort {level}: from agents.yaml")
            }
            (None, _, _) => format!("{agent} thinks with its backend's default effort"),
        };
        format!("{text}\n")
    }
}
