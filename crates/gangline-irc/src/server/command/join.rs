//! JOIN.

use std::collections::BTreeSet;

use gangline_core::{ChannelName, Tier};

use super::{
    super::{call::Call, state::State},
    markread, names, topic,
};
use crate::{
    server::{
        caps::Caps,
        channel::{Channel, Member, Modes},
        client::Client,
        client_id::ClientId,
        events::{Doing, EventKind},
        outgoing::Outgoing,
        store::RoomModes,
    },
    wire::numeric as n,
};

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(list) = call.word(0) else { return super::need_more(state, call) };
    if list == "0" {
        return super::part::from_all(state, call.id);
    }
    let mut keys = call.word(1).unwrap_or("").split(',');
    for word in list.split(',').filter(|word| !word.is_empty()) {
        let key = keys.next().filter(|key| !key.is_empty());
        match word.parse::<ChannelName>() {
            Ok(name) => one(state, call.id, &name, key),
            Err(_) => super::no_such_channel(state, call.id, word),
        }
    }
}

fn one(state: &mut State, id: ClientId, name: &ChannelName, key: Option<&str>) {
    let Some(client) = state.client(id) else { return };
    if client.channels.contains(name.folded()) {
        return;
    }
    if client.channels.len() >= state.config.limits.channels {
        let text = "You have joined too many channels";
        return state.numeric(id, n::ERR_TOOMANYCHANNELS, &[name.as_str()], text);
    }
    if let Some((number, text)) = refusal(state, client, name, key) {
        return state.numeric(id, number, &[name.as_str()], text);
    }
    enter(state, id, name);
    announce(state, id, name);
    if !topic::text(state, name.folded()).is_empty() {
        topic::show(state, id, name.as_str());
    }
    markread::on_join(state, id, name);
    names::show(state, id, name.as_str());
    state.catch_up(id, name.folded());
}

/// Returns whether the client would be let in, if it came without a key.
pub(super) fn may_enter(state: &State, client: &Client, name: &ChannelName) -> bool {
    refusal(state, client, name, None).is_none()
}

fn refusal(
    state: &State,
    client: &Client,
    name: &ChannelName,
    key: Option<&str>,
) -> Option<(u16, &'static str)> {
    let channel = state.channel(name.folded());
    let nick = gangline_core::name::fold(client.name());
    let invited = channel.is_some_and(|channel| channel.invited.contains(&nick));
    if invited || client.tier() == Tier::Owner || state.belongs(client, name.folded()) {
        return None;
    }
    if client.is_guest() && state.keeps_guests_out(name.folded()) {
        return Some((n::ERR_INVITEONLYCHAN, "Guests are not let into this room"));
    }
    if let Some(refusal) = state.kept_out(name.folded(), key) {
        return Some(refusal);
    }
    // A guest who may change nothing does not make rooms.
    if channel.is_none() && state.only_reads(client.id) {
        let text = "There is no such room; guests may only read existing rooms";
        return Some((n::ERR_NOSUCHCHANNEL, text));
    }
    let kept = state.modes.get(name.folded());
    let account = client.account().map(gangline_core::name::fold);
    let agent =
        |agents: &BTreeSet<String>| account.is_some_and(|account| agents.contains(&account));
    // A guest's nick proves nothing.
    let set_them = |kept: &RoomModes| !client.is_guest() && kept.by == client.party();
    if kept.is_some_and(|kept| set_them(kept) || agent(&kept.agents)) {
        return None;
    }
    let modes = channel.map(|channel| channel.modes.clone()).or_else(|| kept.map(Modes::kept))?;
    if modes.has('i') {
        return Some((n::ERR_INVITEONLYCHAN, "Cannot join channel (+i)"));
    }
    if modes.key.is_some() && modes.key.as_deref() != key {
        return Some((n::ERR_BADCHANNELKEY, "Cannot join channel (+k)"));
    }
    let members = channel.map_or(0, |channel| channel.members.len());
    let full = modes.limit.is_some_and(|limit| members >= limit);
    full.then_some((n::ERR_CHANNELISFULL, "Cannot join channel (+l)"))
}

/// Makes the client a member. The owner is an operator everywhere. A person is one in a room that the
/// configuration has no rule for: who opens it while no modes are kept of it, and who set these. A
/// room with nobody but guests in it is still to be opened: they have no operator. Agents need no
/// powers to speak and to set a topic.
fn enter(state: &mut State, id: ClientId, name: &ChannelName) {
    let now = state.now();
    let closed = state.closed_room(name.folded()).is_some();
    let guests_only = state
        .members(name.folded(), None)
        .into_iter()
        .all(|member| state.client(member).is_some_and(Client::is_guest));
    let Some(client) = state.clients.get_mut(&id) else { return };
    let nick = gangline_core::name::fold(client.name());
    client.channels.insert(name.folded().to_owned());
    let kept = state.modes.get(name.folded());
    let keeps_room = kept.is_some_and(|kept| kept.by == client.party());
    let op = match client.tier() {
        Tier::Owner => true,
        Tier::Member => !closed && (keeps_room || (guests_only && kept.is_none())),
        Tier::Agent | Tier::Stranger => false,
    };
    let modes = kept.map(Modes::kept).unwrap_or_default();
    let new = || Channel::new(name.clone(), now, modes);
    let channel = state.channels.entry(name.folded().to_owned()).or_insert_with(new);
    channel.members.insert(id, Member { op, voice: false });
    channel.invited.remove(&nick);
}

/// Shows the JOIN to everybody there, in the form each has asked for.
fn announce(state: &mut State, id: ClientId, name: &ChannelName) {
    let Some(client) = state.client(id) else { return };
    let shown = state.channel(name.folded()).map_or(name, |there| &there.name).clone();
    let (source, account) = (client.source(), client.account().map(str::to_owned));
    let (away, realname) = (client.away.clone(), client.realname.clone());
    let event = state.event(&Doing {
        kind: EventKind::Join,
        source: &source,
        account: account.as_deref(),
        words: &[shown.as_str()],
        text: Some(&realname),
    });
    let (plain, extended) = (Outgoing::happened(&event, false), Outgoing::happened(&event, true));
    let members = state.members(name.folded(), None);
    let extends = |id: &ClientId| {
        state.client(*id).is_some_and(|client| client.caps.has(Caps::EXTENDED_JOIN))
    };
    let (modern, old): (Vec<_>, Vec<_>) = members.iter().copied().partition(extends);
    state.send_all(modern, &extended);
    state.send_all(old, &plain);
    if let Some(away) = away {
        let line = Outgoing::new(&source, "AWAY", &[], Some(&away)).at(event.at);
        let others = members.into_iter().filter(|other| *other != id);
        state.send_capable(others, Caps::AWAY_NOTIFY, &line);
    }
    state.keep_event([shown], event);
}
