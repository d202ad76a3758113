//! What the hub's client replies to a person who writes to it: it only posts alerts, and says whom to
//! write to. Start at [`addressed`].

use gangline_core::{
    AgentName, FindingNumber, Target, Tier,
    attention::{parse_answer, say_to},
    finding::ChoiceWord,
    mention,
};
use gangline_irc::client::{Line, LineKind};
use gangline_store::Store;
use tracing::warn;

/// The reply to whatever is no answer to a finding.
const ONLY_ALERTS: &str = "I only post alerts: write to the agent that the alert names. `gangline attention` lists \
                           what waits, and `gangline answer` answers it";

/// A line that a person said to the hub's client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// Where the reply goes.
    pub(super) to: Target,
    /// Who said it, in a room.
    nick: Option<String>,
    /// The answer to a finding that it is.
    answer: Option<(FindingNumber, ChoiceWord)>,
}

/// Returns what a person said to us; `None` for all other lines. A program is never answered, so that two do not
/// answer each other for ever.
pub(super) fn addressed(line: &Line, me: &AgentName) -> Option<Asked> {
    let program = line.bot || line.principal.as_ref().is_some_and(|who| who.tier == Tier::Agent);
    if line.from_history || program || line.kind != LineKind::Privmsg {
        return None;
    }
    let answer = parse_answer(&mention::strip(&line.text, &[me]));
    match &line.target {
        Target::Channel(_) if mention::addressed(&line.text, &[me]).is_empty() => None,
        Target::Channel(_) => {
            Some(Asked { to: line.target.clone(), nick: Some(line.nick.clone()), answer })
        }
        Target::Nick(_) => Some(Asked { to: line.nick.parse().ok()?, nick: None, answer }),
    }
}

/// Returns the reply: to the answer to an open finding the exact line to send.
pub(super) async fn reply(asked: &Asked, store: &Store) -> String {
    let text = match asked.answer {
        Some((number, choice)) => match store.one_finding(number).await {
            Ok(Some(row)) if row.resolved_at.is_none() => say_to(&row.agent, number, choice),
            Ok(_) => ONLY_ALERTS.to_owned(),
            Err(error) => {
                warn!(%error, "cannot read a finding");
                ONLY_ALERTS.to_owned()
            }
        },
        None => ONLY_ALERTS.to_owned(),
    };
    match &asked.nick {
        Some(nick) => format!("{nick}: {text}"),
        None => text,
    }
}

#[cfg(test)]
mod tests;
