//! What the server says about what can be said: the message of the day, HELP, a new room's topic, and
//! what the author of a line hears who called nobody.

use std::sync::Arc;

use gangline_core::{
    AgentName, Tier, approval,
    mention::{self, Unheard},
    room_words::{self, Asked, Reading, RoomWord},
    shown,
};
use gangline_irc::server::{
    remarks::{Names, Remarks},
    store::Accounts,
};
use tokio::sync::watch;

/// The maximum number of agents that are named to a person whose line reached nobody.
const NAMED_MAX: usize = 10;

/// Returns the lines of the message of the day.
#[must_use]
pub fn motd() -> Vec<String> {
    let mut lines =
        vec!["People and AI agents talk here. To give an agent something to do:".into()];
    lines.extend(how());
    lines.push("More: /quote HELP, or `@NICK help` in a room".to_owned());
    lines
}

/// Returns the lines of HELP.
#[must_use]
pub fn help() -> Vec<String> {
    let mut lines = vec!["How to talk to agents here:".to_owned()];
    lines.extend(how());
    lines.extend([
        "@NICK queue             what waits for it; `@NICK cancel m42` cancels message m42".into(),
        "@NICK show 5, then yes 5 or no 5 REASON   look at approval 5, and decide it (owner)"
            .into(),
        "@NICK pause, resume     the owner stops new turns, and lets them begin again".into(),
        "@NICK stand down        in this room agents start nothing with it until you mention it"
            .into(),
        "/list shows the rooms, /names who is in one".into(),
    ]);
    lines
}

fn how() -> [String; 4] {
    [
        "@NICK what you want     in a room where the agent is; NICK: works too, and so does /msg NICK",
        "@NICK status            what it does now",
        "@NICK stop              end what it does now",
        "@NICK help              all its words",
    ]
    .map(str::to_owned)
}

/// The topic of a room that never had one.
pub const TOPIC: &str = "Say `@NICK what you want` to an agent here. `@NICK help` lists its words, \
     `@NICK status` says what it does, `@NICK stop` ends it. /names shows who is here";

/// Tells people who called an agent by a wrong name, or called nobody.
pub struct AgentRemarks {
    accounts: watch::Receiver<Arc<Accounts>>,
}

impl AgentRemarks {
    /// Returns the rule for the agents among these accounts.
    #[must_use]
    pub fn new(accounts: watch::Receiver<Arc<Accounts>>) -> Self {
        Self { accounts }
    }
}

impl Remarks for AgentRemarks {
    fn about(&self, text: &str, names: &Names<'_>) -> Option<String> {
        // Most lines call nobody.
        let numbered = is_numbered_word(text);
        if !numbered && !text.contains(['@', ':', ',']) {
            return None;
        }
        let accounts = Arc::clone(&self.accounts.borrow());
        let agents = accounts.iter().filter(|account| account.tier == Tier::Agent);
        let mut agents: Vec<AgentName> =
            agents.filter_map(|account| account.name.as_str().parse().ok()).collect();
        agents.sort();
        let agents: Vec<&AgentName> = agents.iter().collect();
        // One that is not here just now reads the line later.
        if !mention::addressed(text, &agents).is_empty() {
            return None;
        }
        // Accounts of agents that are gone stay: only those in the room are worth naming.
        let here = agents.into_iter().filter(|agent| (names.is_inside)(agent.as_str()));
        let agents: Vec<&AgentName> = here.collect();
        if numbered {
            return nameless(text, &agents);
        }
        match mention::unheard(text, &agents, names.is_known)? {
            Unheard::Near { said, meant } => Some(format!(
                "No agent is called `{}`, so none got your line. Did you mean `@{meant}`?",
                shown::label(&said)
            )),
            Unheard::Nobody { said } => {
                let said = shown::label(&said);
                let named: Vec<String> =
                    agents.iter().take(NAMED_MAX).map(|agent| format!("@{agent}")).collect();
                let more = if agents.len() > named.len() { " and others" } else { "" };
                Some(match named.is_empty() {
                    true => format!("Nobody here is called `{said}`, and no agent is in this room"),
                    false => format!(
                        "Nobody here is called `{said}`, so no agent got your line. Agents here: \
                         {}{more}",
                        named.join(", ")
                    ),
                })
            }
        }
    }
}

/// Returns whether the line is a word for an agent with a number, such as `yes 5`: nobody else is meant
/// by that, and no agent hears it without a name.
fn is_numbered_word(text: &str) -> bool {
    match room_words::read(text, Asked::Not) {
        Reading::Word(RoomWord::Show(_) | RoomWord::Cancel(_)) => true,
        Reading::Decision(decision) => {
            approval::parse(&decision).is_some_and(|it| it.number.is_some() && it.reason.is_none())
        }
        Reading::Word(_) | Reading::Miss(_) | Reading::Prompt => false,
    }
}

/// Returns what somebody hears whose word names no agent.
fn nameless(text: &str, agents: &[&AgentName]) -> Option<String> {
    let said = shown::label(text.trim());
    let to = match agents {
        [] => return None,
        [one] => one.as_str(),
        [..] => "NICK",
    };
    Some(format!("`{said}` names no agent, so none got it. Say `@{to} {said}`"))
}

#[cfg(test)]
mod tests;
