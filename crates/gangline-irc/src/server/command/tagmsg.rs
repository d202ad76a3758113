//! TAGMSG: tags without a text (typing and the like). Shown, not kept.

use gangline_core::{ChannelName, Target, Tier};

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        caps::Caps,
        client_id::ClientId,
        outgoing::{Mark, Outgoing, client_only},
        store::Party,
    },
    wire::{numeric as n, tags},
};

pub(super) fn run(state: &mut State, call: &Call) {
    let id = call.id;
    let Some(target) = call.word(0) else {
        return state.numeric(id, n::ERR_NORECIPIENT, &[], "No recipient given (TAGMSG)");
    };
    let carried = client_only(&call.message.tags);
    if carried.is_empty() {
        return;
    }
    let private = !target.starts_with('#');
    let ids = match target.parse::<Target>() {
        Ok(Target::Channel(name)) => {
            if refuse(state, id, &name, &carried) {
                return;
            }
            state.members(name.folded(), Some(id))
        }
        Ok(Target::Nick(nick)) => {
            let party: Option<Party> = state.party_of(&nick);
            let Some(party) = party else {
                // An agent's typing mark for somebody who has left: a refusal would look like that
                // of the answer, which goes to the same nick at the same time and is kept.
                let agent = state.client(id).is_some_and(|client| client.tier() == Tier::Agent);
                if !agent {
                    super::no_such_nick(state, id, target);
                }
                return;
            };
            state.receivers(&party)
        }
        Err(_) => return super::no_such_nick(state, id, target),
    };
    let (now, msgid) = (state.now(), state.next_tags_id());
    let Some(client) = state.client(id) else { return };
    let line = |target: &str| {
        Outgoing::new(&client.source(), "TAGMSG", &[target], None)
            .at(now)
            .account(client.account())
            .stamped(client.principal(), client.bot, carried.clone())
            .identified(&msgid)
    };
    let client_has_tags = client.caps.has(Caps::TAGS);
    let echo = client.caps.has(Caps::ECHO).then(|| line(target));
    if private {
        let named = |to: ClientId| Some((to, line(state.client(to)?.name())));
        let lines: Vec<(ClientId, Outgoing)> = ids.into_iter().filter_map(named).collect();
        for (to, line) in lines {
            if to != id {
                state.send_capable([to], Caps::TAGS, &line);
            } else if client_has_tags {
                // What comes to oneself is no answer to the request; only the echo is.
                state.send_marked(id, &line, Mark::default());
            }
        }
    } else {
        let line = line(target);
        state.send_capable(ids, Caps::TAGS, &line);
    }
    if let Some(echo) = echo {
        state.tell(id, echo);
    }
}

/// Refuses tags for a room in which the client may say nothing; returns whether it did. A typing mark
/// alone is not answered there: clients send it by themselves, and the line behind it will be.
fn refuse(
    state: &mut State,
    id: ClientId,
    name: &ChannelName,
    carried: &[(String, Option<String>)],
) -> bool {
    let room = state.channel(name.folded());
    let refused = match state.client(id).zip(room) {
        Some((client, channel)) => state.muted(client, channel),
        None => Some("Cannot send to channel: nobody is in it"),
    };
    let Some(text) = refused else { return false };
    let inside = room.is_some_and(|channel| channel.member(id).is_some());
    let typing = carried.iter().all(|(tag, _)| tag == tags::TYPING);
    if !(typing && inside) {
        state.numeric(id, n::ERR_CANNOTSENDTOCHAN, &[name.as_str()], text);
    }
    true
}
