//! JOIN.

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
    let invited = channel.is_some_and(|channel| channel.invited.contains(&client.holder()));
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
    let kept = state.rooms.get(name.folded());
    let account = client.folded_account();
    let comes_back =
        || kept.is_some_and(|row| account.is_some_and(|account| row.agents.contains(&account)));
    let is_its = state.is_founder(client, name.folded()) || state.is_kept_op(client, name.folded());
    if is_its || comes_back() {
        return None;
    }
    if state.is_banned(client, name.folded()) {
        return Some((n::ERR_BANNEDFROMCHAN, "Cannot join channel (+b)"));
    }
    let modes = channel.map(|channel| channel.modes.clone()).or_else(|| kept.map(Modes::of))?;
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

/// Makes the client a member. The owner is an operator everywhere, and a stored operator where it is
/// one. In a room that the configuration has no rule for, a person is one whose room it is; it is
/// theirs who open it while it is nobody's. A room with nobody but guests in it is still to be
/// opened: they have no operator. Agents need no powers to speak and to set a topic.
fn enter(state: &mut State, id: ClientId, name: &ChannelName) {
    let now = state.now();
    let room = name.folded();
    let closed = state.closed_room(room).is_some();
    let guests_only = state
        .members(room, None)
        .into_iter()
        .all(|member| state.client(member).is_some_and(Client::is_guest));
    let Some(client) = state.client(id) else { return };
    let opens = guests_only && state.is_to_be_had(room);
    let op = match client.tier() {
        Tier::Owner => true,
        Tier::Member => !closed && (opens || state.is_founder(client, room)),
        Tier::Agent | Tier::Stranger => false,
    };
    let op = op || state.is_kept_op(client, room);
    let member = Member { op, voice: state.has_kept_voice(client, room) };
    let (holder, founds) = (client.holder(), op && opens && !state.is_configured(room));
    let kept = state.room_row(room);
    let (modes, created) = kept
        .as_ref()
        .map_or_else(|| (Modes::default(), now), |row| (Modes::of(row), row.created_at));
    if let Some(client) = state.client_mut(id) {
        client.channels.insert(room.to_owned());
    }
    let new = || Channel::new(name.clone(), created, modes);
    let channel = state.channels.entry(room.to_owned()).or_insert_with(new);
    channel.members.insert(id, member);
    channel.invited.remove(&holder);
    if founds {
        state.found(id, room);
    } else if state.is_configured(room) && !state.rooms.contains_key(room) {
        state.remember_when(room);
    }
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
