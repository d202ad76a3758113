//! Who may be on the embedded server, as the configuration has it.

use std::collections::BTreeMap;

use gangline_config::Config;
use gangline_hub::credentials::SERVICE;
use gangline_irc::server::access::{Access, Guests, RoomRule};
use gangline_os::secret::Secret;

#[cfg(test)]
mod tests;

/// What the owner writes to let guests in, as a refused guest is told.
const TO_LET_IN: &str = "`guests: talk` (or `read`) under `server:` in agents.yaml";

/// Returns the server's rules: of guests, of rooms with a key or by invitation, and where agents
/// belong.
pub(crate) fn access(config: &Config) -> Access {
    let mut rooms: BTreeMap<String, RoomRule> = BTreeMap::new();
    for (name, room) in &config.server.rooms {
        let rule = rooms.entry(name.folded().to_owned()).or_default();
        rule.key = room.key.as_ref().map(|key| Secret::new(key.expose()));
        rule.invite_only = room.invite_only;
    }
    let alerts = config.webhooks.irc_channel.as_ref();
    for agent in config.agents.iter().filter(|agent| agent.enabled) {
        for channel in agent.channels.iter().chain(alerts) {
            let rule = rooms.entry(channel.folded().to_owned()).or_default();
            rule.agents.insert(agent.nick.folded().to_owned());
        }
    }
    if let Some(channel) = alerts {
        let rule = rooms.entry(channel.folded().to_owned()).or_default();
        rule.agents.insert(SERVICE.to_owned());
        // Alerts quote what others have asked.
        rule.no_guests = true;
    }
    Access { guests: guests(config.server.guests), to_let_in: TO_LET_IN.to_owned(), rooms }
}

/// Returns the rules of `gangline ircd`, which has no configuration.
pub(crate) fn of_a_lone_server(written: gangline_config::Guests) -> Access {
    let to_let_in = "`gangline ircd --guests talk` (or `read`)".to_owned();
    Access { guests: guests(written), to_let_in, rooms: BTreeMap::new() }
}

fn guests(written: gangline_config::Guests) -> Guests {
    match written {
        gangline_config::Guests::No => Guests::No,
        gangline_config::Guests::Read => Guests::Read,
        gangline_config::Guests::Talk => Guests::Talk,
    }
}
