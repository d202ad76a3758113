//! WHOIS.

use crate::server::{call::Call, state::State};
use crate::{
    server::{client::Client, client_id::ClientId},
    wire::numeric as n,
};

/// 320: a line of free text.
const RPL_WHOISSPECIAL: u16 = 320;

pub(super) fn run(state: &mut State, call: &Call) {
    // `WHOIS server nick` is allowed; the server is always this one.
    let Some(nick) = call.word(1).or_else(|| call.word(0)).map(str::to_owned) else {
        return state.numeric(call.id, n::ERR_NONICKNAMEGIVEN, &[], "No nickname given");
    };
    match state.by_nick(&nick).map(|client| client.id) {
        Some(about) => describe(state, call.id, about),
        None => super::no_such_nick(state, call.id, &nick),
    }
    state.numeric(call.id, n::RPL_ENDOFWHOIS, &[&nick], "End of WHOIS list");
}

fn describe(state: &mut State, id: ClientId, about: ClientId) {
    let Some(client) = state.client(about) else { return };
    let (nick, user, host) =
        (client.name().to_owned(), client.shown_user().to_owned(), client.host());
    let (realname, away) = (client.realname.clone(), client.away.clone());
    let (account, bot) = (client.account().map(str::to_owned), client.bot);
    let tier = format!("is trusted as: {}", client.tier());
    let channels = shown_channels(state, id, client);
    let idle = state.config.clock.monotonic().saturating_sub(client.spoke_at).as_secs();
    let signed_on = state.config.clock.monotonic().saturating_sub(client.connected_at).as_secs();
    let since = state.now().as_seconds() - i64::try_from(signed_on).unwrap_or(0);
    let (name, network) = (state.config.name.clone(), state.config.network.clone());
    state.numeric(id, n::RPL_WHOISUSER, &[&nick, &user, &host, "*"], &realname);
    if !channels.is_empty() {
        state.numeric(id, n::RPL_WHOISCHANNELS, &[&nick], &channels);
    }
    state.numeric(id, n::RPL_WHOISSERVER, &[&nick, &name], &network);
    if let Some(away) = away {
        state.numeric(id, n::RPL_AWAY, &[&nick], &away);
    }
    if let Some(account) = account {
        state.numeric(id, n::RPL_WHOISACCOUNT, &[&nick, &account], "is logged in as");
    }
    state.numeric(id, RPL_WHOISSPECIAL, &[&nick], &tier);
    if bot {
        state.numeric(id, n::RPL_WHOISBOT, &[&nick], "is a bot");
    }
    let (idle, since) = (idle.to_string(), since.to_string());
    let words = [&*nick, &*idle, &*since];
    state.numeric(id, n::RPL_WHOISIDLE, &words, "seconds idle, signon time");
}

fn shown_channels(state: &State, id: ClientId, client: &Client) -> String {
    let channels = client.channels.iter().filter_map(|name| state.channels.get(name));
    let seen = channels.filter(|channel| state.sees(id, channel));
    let names = seen.filter_map(|channel| {
        let member = channel.member(client.id)?;
        Some(format!("{}{}", member.prefix(false), channel.name))
    });
    names.take(10).collect::<Vec<_>>().join(" ")
}
