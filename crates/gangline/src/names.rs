//! Which agent is meant by what was typed.

use gangline_core::AgentName;
use gangline_os::paths::Paths;

use crate::{
    configuration::{self, Loaded},
    failure::Failure,
    place::Installation,
    store,
    who::Who,
};

#[cfg(test)]
mod tests;

/// Returns the agent that is meant; a nick that nobody knows is returned as it is.
pub(crate) fn agent(installation: &Installation, who: &Who) -> Result<AgentName, Failure> {
    let known = known(&installation.paths, installation.configuration());
    if known.is_empty() && who.word().parse::<AgentName>().is_err() {
        return Err(store::nothing_here(&installation.paths));
    }
    meant(who, &known)
}

/// Returns the agent that is meant, for a list of what belongs to it.
///
/// # Errors
/// When nobody knows it: a list of nothing would not tell.
pub(crate) fn known_agent(installation: &Installation, who: &Who) -> Result<AgentName, Failure> {
    let agent = agent(installation, who)?;
    let known = known(&installation.paths, installation.configuration());
    match known.contains(&agent) {
        true => Ok(agent),
        false => Err(configuration::unknown(&agent, known.iter())),
    }
}

/// Makes sure that an agent is known where any agent is; the failure names those that are.
pub(crate) fn check_known(paths: &Paths, agent: &AgentName) -> Result<(), Failure> {
    let known = known(paths, configuration::quiet(&paths.config_file));
    match known.is_empty() || known.contains(agent) {
        true => Ok(()),
        false => Err(configuration::unknown(agent, known.iter())),
    }
}

/// Returns the agent that is meant, as far as the configuration tells; says nothing about where it
/// was looked for.
pub(crate) fn configured(paths: &Paths, who: &Who) -> Option<AgentName> {
    meant(who, &known(paths, configuration::quiet(&paths.config_file))).ok()
}

/// Returns the agent that is meant among these.
///
/// # Errors
/// When the word is no nick, and the short name of none or of several agents.
pub(crate) fn meant(who: &Who, known: &[AgentName]) -> Result<AgentName, Failure> {
    let full = who.word().parse::<AgentName>().ok();
    if let Some(full) = full.as_ref().filter(|full| known.contains(full)) {
        return Ok(full.clone());
    }
    let short: Vec<&AgentName> = known.iter().filter(|name| name.short() == who.word()).collect();
    match (short.as_slice(), full) {
        ([one], _) => Ok((*one).clone()),
        ([], Some(full)) => Ok(full),
        ([], None) => Err(configuration::unknown_word(who.word(), known.iter())),
        (several, _) => {
            let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
            Err(Failure::user(format!("`{who}` matches several agents: {}", names.join(", ")))
                .hint("give the whole nick"))
        }
    }
}

/// Returns the agents of the configuration, and those that have run.
fn known(paths: &Paths, loaded: Option<Loaded>) -> Vec<AgentName> {
    let configured = loaded.iter().flat_map(|loaded| &loaded.config.agents);
    let mut known: Vec<AgentName> = configured.map(|agent| agent.nick.clone()).collect();
    let folders = std::fs::read_dir(paths.state.join("agents")).into_iter().flatten().flatten();
    known.extend(folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok()));
    known.sort();
    known.dedup();
    known
}
