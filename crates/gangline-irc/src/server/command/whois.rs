//! WHOIS.

use crate::server::{call::Call, state::State};
use crate::{
    server::{client::Client, client_id::ClientId},
    wire::numeric as n,
};

/// 320: a line of free text.
const RPL_WHOISSPECIAL: u16 = 320;
/// Bytes of channels on a line: with the longest names before them it is not cut.
const LINE_MAX: usize = 300;

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
    let (account, bot, oper) = (client.account().map(str::to_owned), client.bot, client.oper);
    let tier = format!("is trusted as: {}", client.tier());
    let channels = shown_channels(state, id, client);
    let idle = state.config.clock.monotonic().saturating_sub(client.spoke_at).as_secs();
    let signed_on = state.config.clock.monotonic().saturating_sub(client.connected_at).as_secs();
    let since = state.now().as_seconds() - i64::try_from(signed_on).unwrap_or(0);
    let (name, network) = (state.config.name.clone(), state.config.network.clone());
    state.numeric(id, n::RPL_WHOISUSER, &[&nick, &user, &host, "*"], &realname);
    for names in channels {
        state.numeric(id, n::RPL_WHOISCHANNELS, &[&nick], &names);
    }
    state.numeric(id, n::RPL_WHOISSERVER, &[&nick, &name], &network);
    if oper {
        state.numeric(id, n::RPL_WHOISOPERATOR, &[&nick], "is an operator of this server");
    }
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

/// Returns the channels of a client that the asker may know of, on as many lines as they need.
fn shown_channels(state: &State, id: ClientId, client: &Client) -> Vec<String> {
    let channels = client.channels.iter().filter_map(|name| state.channels.get(name));
    let seen = channels.filter(|channel| state.sees(id, channel));
    let names = seen.filter_map(|channel| {
        let member = channel.member(client.id)?;
        Some(format!("{}{}", member.prefix(false), channel.name))
    });
    let mut lines: Vec<String> = Vec::new();
    for name in names {
        match lines.last_mut().filter(|line| line.len() + name.len() < LINE_MAX) {
            Some(line) => {
                line.push(' ');
                line.push_str(&name);
            }
            None => lines.push(name),
        }
    }
    lines
}
