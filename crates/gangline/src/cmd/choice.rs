//! Which backend agents are started with (R3-17): checked before anything changes, then ordered.

use gangline_core::AgentName;

use crate::{
    caller,
    configuration::Loaded,
    failure::Failure,
    fleet::{Fleet, Member},
    output,
};

/// What a command says about the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    /// `--runtime NAME`.
    Named(&'a str),
    /// The one of the configuration.
    Configured,
    /// The one that was ordered last.
    AsOrdered,
}

impl<'a> Choice<'a> {
    /// Returns the one that was named, else this.
    pub(super) fn of(named: Option<&'a str>, usual: Self) -> Self {
        named.map_or(usual, Self::Named)
    }
}

/// An agent whose backend can be run.
#[derive(Debug)]
pub(super) struct Chosen {
    name: AgentName,
    /// What is ordered from now on; none = the configured one.
    runtime: Option<String>,
    changes: bool,
}

/// Finds the backends of these, which are configured, and makes sure that they can run; says which
/// is not the configured one.
pub(super) fn check<'a>(
    loaded: &Loaded,
    members: impl Iterator<Item = &'a Member>,
    choice: Choice<'_>,
) -> Result<Vec<Chosen>, Failure> {
    let mut chosen = Vec::new();
    let mut notes = Vec::new();
    for member in members {
        let ordered = member.order.as_ref().and_then(|order| order.runtime.as_deref());
        let wanted = match choice {
            Choice::Named(name) => Some(name),
            Choice::Configured => None,
            Choice::AsOrdered => ordered,
        };
        let driven = loaded.driven(loaded.agent(&member.name)?, wanted)?;
        match choice {
            Choice::Named(_) => {
                driven.can_run()?;
                notes.extend(driven.missing().map(missing));
            }
            Choice::Configured | Choice::AsOrdered => driven.available()?,
        }
        notes.extend(driven.notice());
        let runtime = driven.instead_of.is_some().then(|| driven.found.name.clone());
        let changes = runtime.as_deref() != ordered;
        if changes && runtime.is_none() {
            notes.push(format!("{} gets {} again, as configured", member.name, driven.found.name));
        }
        chosen.push(Chosen { name: member.name.clone(), runtime, changes });
    }
    notes.iter().for_each(|note| output::note(note));
    Ok(chosen)
}

/// Returns what is said of a program that is not found from here.
pub(super) fn missing(program: &str) -> String {
    format!("warning: `{program}` is not on the PATH here")
}

/// Orders what was chosen.
pub(super) async fn order(fleet: &Fleet, chosen: &[Chosen]) -> Result<(), Failure> {
    for one in chosen.iter().filter(|one| one.changes) {
        fleet.store.order_runtime(&one.name, one.runtime.as_deref(), &caller::name()).await?;
    }
    Ok(())
}

/// A daemon that runs with another backend is not ended by a command that starts.
pub(super) fn refuse_running(
    loaded: &Loaded,
    members: &[Member],
    choice: Choice<'_>,
) -> Result<(), Failure> {
    let Choice::Named(wanted) = choice else { return Ok(()) };
    for member in members.iter().filter(|member| member.runs()) {
        let configured = || loaded.agent(&member.name).map(|agent| loaded.backend_name(agent));
        let has = member.runtime().map_or_else(configured, Ok)?;
        if has != wanted {
            // One that there is not is no advice.
            loaded.driven(loaded.agent(&member.name)?, Some(wanted))?;
            return Err(Failure::user(format!("{} runs already, with {has}", member.name))
                .hint(format!("`gangline restart {} --runtime {wanted}`", member.name)));
        }
    }
    Ok(())
}
