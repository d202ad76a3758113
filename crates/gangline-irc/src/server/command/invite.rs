//! INVITE.

use gangline_core::name::fold;

use crate::server::{call::Call, state::State};
use crate::{
    server::{caps::Caps, client::Client, client_id::ClientId, holder::Holder, outgoing::Outgoing},
    wire::numeric as n,
};

pub(super) fn run(state: &mut State, call: &Call) {
    let (Some(nick), Some(name)) = (call.word(0), call.word(1)) else {
        return super::need_more(state, call);
    };
    let id = call.id;
    let Some(guest) = state.by_nick(nick) else { return super::no_such_nick(state, id, nick) };
    let (guest, shown) = (guest.id, guest.name().to_owned());
    let Some(channel) = state.channel(name) else {
        return super::no_such_channel(state, id, name);
    };
    let shown_channel = channel.name.as_str().to_owned();
    if channel.member(id).is_none() {
        return super::not_on_channel(state, id, name);
    }
    let rule = state.closed_room(name);
    let by_rule = rule.as_ref().is_some_and(|rule| rule.invite_only);
    let locked = rule.is_some() || channel.modes.key.is_some();
    let by_guest = state.client(id).is_some_and(Client::is_guest);
    if (by_rule || channel.modes.has('i') || (by_guest && locked)) && !channel.is_op(id) {
        return super::need_op(state, id, name);
    }
    if channel.member(guest).is_some() {
        let words = [&*shown, &*shown_channel];
        return state.numeric(id, n::ERR_USERONCHANNEL, &words, "is already on channel");
    }
    // It would open the room to somebody else after a guest has left and the room was closed.
    if !by_guest {
        invited(state, guest, name);
    }
    let now = state.now();
    let Some(client) = state.client(id) else { return };
    let words = [&*shown, &*shown_channel];
    let line =
        Outgoing::new(&client.source(), "INVITE", &words, None).at(now).account(client.account());
    state.send_all([guest], &line);
    let members = state.members(&shown_channel, Some(id));
    state.send_capable(members, Caps::INVITE_NOTIFY, &line);
    state.numeric_words(id, n::RPL_INVITING, &words);
}

/// Notes that somebody may come in: the account, or without one this session, whatever its nick is.
fn invited(state: &mut State, guest: ClientId, name: &str) {
    let Some(holder) = state.client(guest).map(Client::holder) else { return };
    let Some(channel) = state.channels.get_mut(&fold(name)) else { return };
    let clients = &state.clients;
    channel.invited.retain(|holder| match holder {
        Holder::Account(_) => true,
        Holder::Session(id) => clients.contains(*id),
    });
    channel.invited.insert(holder);
}
