//! The environment of child processes: the agent's identity in the variables of Gangline, culture
//! and Gas Town (R3-09, C22). Pure.
//!
//! Begins with [`Settings::child_env`], which names no agent: the identity of the process that
//! started the daemon is removed there.

use gangline_os::run_id::{RUN_ID, RunId};
use gangline_runtime::SESSION_VARIABLE;

use crate::{settings::Settings, tokens};

/// Names the variable that holds the session's id, for those who ask by it.
const SESSION_NAMED_BY: &str = "GT_SESSION_ID_ENV";
/// The agent's folder for temporary files, in its state folder.
pub(crate) const TMP: &str = "tmp";

/// Returns the environment without what differs between the backend's generations: its token and
/// its session ([`with_session`]).
pub(crate) fn whole(settings: &Settings, run_id: &RunId) -> Vec<(String, String)> {
    let agent = &settings.agent;
    let nick = agent.nick.to_string();
    let folder = settings.paths.agent_dir(agent.nick.as_str());
    let mut env = settings.child_env.clone();
    let names = &agent.gastown;
    let actor = names.actor.clone().unwrap_or_else(|| nick.clone());
    // What is configured under `env` holds.
    for (name, value) in [
        ("GT_ROLE", names.role.clone()),
        ("GT_RIG", names.rig.clone()),
        ("GT_POLECAT", names.polecat.clone()),
        ("GT_AGENT", Some(settings.backend.name.clone())),
        ("GT_WORKDIR", Some(agent.directory.display().to_string())),
        ("BD_ACTOR", Some(actor)),
        (SESSION_NAMED_BY, Some(SESSION_VARIABLE.to_owned())),
    ] {
        if let Some(value) = value {
            env.entry(name.to_owned()).or_insert(value);
        }
    }
    env.extend([
        (RUN_ID.to_owned(), run_id.to_string()),
        ("CULTURE_NICK".to_owned(), nick.clone()),
        ("GANGLINE_NICK".to_owned(), nick.clone()),
        ("GT_SESSION".to_owned(), nick),
        ("GANGLINE_STATE_DIR".to_owned(), settings.kept().display().to_string()),
        (
            tokens::SOCKET_VARIABLE.to_owned(),
            settings.paths.control_socket(agent.nick.as_str()).display().to_string(),
        ),
        ("TMPDIR".to_owned(), folder.join(TMP).display().to_string()),
    ]);
    env.into_iter().collect()
}

/// Adds the session's id, under its usual name and under the one that the environment gives it.
pub(crate) fn with_session(mut env: Vec<(String, String)>, session: &str) -> Vec<(String, String)> {
    let named = env.iter().find(|(name, _)| name == SESSION_NAMED_BY).map(|it| it.1.clone());
    for name in named.into_iter().chain([SESSION_VARIABLE.to_owned()]) {
        env.retain(|(known, _)| *known != name);
        env.push((name, session.to_owned()));
    }
    env
}

#[cfg(test)]
mod tests;
