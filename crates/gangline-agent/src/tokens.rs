//! The identity of a peer on the socket: the agent itself, the owner, or another program of this
//! user (C21).
//!
//! Without a token a peer has an agent's verbs. The agent's token belongs to one generation of its
//! backend; the owner's lies in the state folder. A token that is neither is refused. Whom a peer descends
//! from takes rights away, whatever token it shows.

use std::path::PathBuf;

use gangline_api::ipc::Token;
use gangline_os::{
    descent::{self, Installation, Part},
    fsio,
    run_id::RunId,
    secret::Secret,
};
use tokio::sync::watch;
use uuid::Uuid;

/// The file of the owner's token, in the state folder.
pub(crate) const OWNER_TOKEN: &str = "owner.token";
/// The variable in which a backend's children find their token.
pub(crate) const VARIABLE: &str = "GANGLINE_TOKEN";
/// The variable in which they find the socket.
pub(crate) const SOCKET_VARIABLE: &str = "GANGLINE_SOCKET";
/// What an agent's token begins with; the redactor knows the form.
const PREFIX: &str = "glt_";
/// A token's file is one short line.
const FILE_MAX: u64 = 4096;

/// Returns a new token for a backend's generation.
pub(crate) fn fresh() -> Secret {
    Secret::new(format!("{PREFIX}{}", Uuid::new_v4().simple()))
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The agent: what it does belongs to the open turn.
    Agent,
    /// An owner.
    Owner,
    /// Somebody of this user.
    Somebody,
}

/// Why nobody is served.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// The token proves nothing.
    #[error("wrong or outdated token")]
    Wrong,
    /// Another agent started who asks.
    #[error("this program was started by {0}: an agent speaks through its own daemon only")]
    Colleague(String),
}

/// What proves who a peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Its token.
    Token,
    /// That it could connect: it is the agent (R2-33).
    Connection,
}

/// What tokens are compared with.
#[derive(Clone)]
pub(crate) struct Tokens {
    /// Whether they are looked at.
    pub(crate) proof: Proof,
    /// The token of the backend's present generation.
    pub(crate) agent: watch::Receiver<Option<Secret>>,
    /// Where the owner's token lies, in the state folder. Read when it is needed: it may be made after our start.
    pub(crate) owner_file: PathBuf,
    /// What the agent's children carry.
    pub(crate) run_id: RunId,
}

impl Tokens {
    /// Returns who shows this token, as the process with this pid. What descends from the agent's backend
    /// is the agent whatever it shows: its shell also runs clients that know no tokens, and it can read the
    /// owner's. Without a pid the token alone counts.
    pub(crate) fn who(&self, token: Option<&Token>, pid: Option<u32>) -> Result<Who, Refused> {
        if self.proof == Proof::Connection {
            return Ok(Who::Agent);
        }
        let shown = self.shown(token)?;
        let Some(owner) = pid.and_then(|pid| descent::owner(pid, &self.installation())) else {
            return Ok(shown);
        };
        if !owner.nick.eq_ignore_ascii_case(self.run_id.nick()) {
            return Err(Refused::Colleague(owner.nick));
        }
        Ok(match (owner.part, shown) {
            (Part::Backend, _) | (Part::Beside, Who::Agent) => Who::Agent,
            // A hook and the supervisor do not speak for the agent.
            (Part::Beside, Who::Owner | Who::Somebody) => Who::Somebody,
        })
    }

    fn installation(&self) -> Installation {
        let state = self.owner_file.parent().map(PathBuf::from).unwrap_or_default();
        Installation { state, id: Some(self.run_id.installation.clone()) }
    }

    fn shown(&self, token: Option<&Token>) -> Result<Who, Refused> {
        let Some(token) = token else { return Ok(Who::Somebody) };
        let is_agents =
            self.agent.borrow().as_ref().is_some_and(|agent| agent.matches(token.expose()));
        if is_agents {
            return Ok(Who::Agent);
        }
        let owner = fsio::read_text_capped(&self.owner_file, FILE_MAX).ok();
        let owner = owner.map(|text| Secret::new(text.trim())).filter(|it| !it.expose().is_empty());
        match owner {
            Some(owner) if owner.matches(token.expose()) => Ok(Who::Owner),
            Some(_) | None => Err(Refused::Wrong),
        }
    }
}

#[cfg(test)]
mod tests;
