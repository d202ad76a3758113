//! Watches the daemons from outside: one that shows no life, and one that is to run and does not, are
//! findings. Start at [`Vigil::on`].

use std::{collections::BTreeMap, time::Duration};

use gangline_core::{
    AgentName, Redacted,
    finding::{Choice, ChoiceWord, FindingKind},
    time::Now,
    watchdog::{
        Found,
        presence::{Presence, Watched},
    },
};
use gangline_os::{lock, paths::Paths};
use gangline_store::{NewFinding, Store};
use tracing::warn;

use crate::kept::{Known, Standing};

/// What is known of each daemon over time.
#[derive(Debug, Default)]
pub(super) struct Vigil {
    watched: BTreeMap<AgentName, Watched>,
}

impl Vigil {
    /// Looks at the daemons, and records what begins to hold and what holds no more.
    pub(super) async fn on<'a>(
        &mut self,
        now: Duration,
        (store, paths): (&Store, &Paths),
        known: impl Iterator<Item = Known<'a>>,
    ) {
        let mut news = Vec::new();
        for known in known {
            let Some(agent) = known.agent else { continue };
            let sign = || lock::sign_of_life(&paths.agent_lock(agent.folded()));
            let presence = presence(&known, sign);
            let watched = self.watched.entry(agent.clone()).or_default();
            news.push((agent.clone(), watched.look(Now(now), presence), known.code));
        }
        for (agent, changes, code) in news {
            for kind in changes.over {
                if let Err(error) = store.resolve_finding(&agent, kind.as_str()).await {
                    warn!(%error, %agent, "cannot resolve a finding");
                }
            }
            for found in changes.found {
                if let Err(error) = store.raise_finding(finding(&agent, found, code)).await {
                    warn!(%error, %agent, "cannot record a finding");
                }
            }
        }
    }
}

fn presence(known: &Known<'_>, sign: impl FnOnce() -> Option<i64>) -> Presence {
    match known.standing {
        _ if !known.wanted => Presence::Unwanted,
        Standing::Up { .. } => Presence::Up(sign()),
        Standing::GivenUp { .. } => Presence::GivenUp,
        Standing::Starting | Standing::Waiting | Standing::Stopping | Standing::Stopped => {
            Presence::Away
        }
    }
}

fn finding(agent: &AgentName, found: Found, code: Option<i32>) -> NewFinding {
    let seconds = found.after.as_secs();
    let dismiss = Choice::new(ChoiceWord::Dismiss, "leaves it as it is");
    let (cause, choice) = match found.kind {
        FindingKind::NoHeartbeat => (
            format!("the daemon has shown no sign of life for {seconds} s"),
            Choice::new(ChoiceWord::Restart, "ends the daemon and starts it again"),
        ),
        _ => (
            "the agent is to run, and its daemon does not".to_owned(),
            Choice::new(ChoiceWord::Start, "starts the daemon at once"),
        ),
    };
    let evidence = match code {
        Some(code) if found.kind == FindingKind::NotRunning => {
            format!("it last ended with exit code {code}; its daemon.log says why")
        }
        _ => String::new(),
    };
    // Words and figures of the program only.
    let text = Redacted::from_store;
    NewFinding {
        recommended: Some(choice.word),
        choices: vec![choice, dismiss],
        evidence: text(evidence),
        ..NewFinding::new(agent.clone(), found.kind, text(cause))
    }
}
