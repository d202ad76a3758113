//! TAGMSG: tags without a text (typing and the like). Shown, not kept.

use gangline_core::Target;

use super::{super::state::State, Call};
use crate::{
    server::{
        caps::Caps,
        outgoing::{Outgoing, client_only},
        store::Party,
    },
    wire::numeric as n,
};

pub(super) fn run(state: &mut State, call: &Call) {
    let id = call.id;
    let Some(target) = call.word(0) else {
        return state.numeric(id, n::ERR_NORECIPIENT, &[], "No recipient given");
    };
    let tags = client_only(&call.message.tags);
    if tags.is_empty() {
        return;
    }
    let ids = match target.parse::<Target>() {
        Ok(Target::Channel(name)) => {
            let inside = state.channel(name.folded()).is_some_and(|c| c.member(id).is_some());
            if !inside {
                let text = "Cannot send to channel";
                return state.numeric(id, n::ERR_CANNOTSENDTOCHAN, &[target], text);
            }
            state.members(name.folded(), Some(id))
        }
        Ok(Target::Nick(nick)) => {
            let party: Option<Party> = state.party_of(&nick);
            let Some(party) = party else { return super::no_such_nick(state, id, target) };
            state.receivers(&party, nick.as_str())
        }
        Err(_) => return super::no_such_nick(state, id, target),
    };
    let now = state.now();
    let Some(client) = state.client(id) else { return };
    let line = Outgoing::new(&client.source(), "TAGMSG", &[target], None)
        .at(now)
        .account(client.account())
        .stamped(client.principal(), client.bot, tags);
    let echo = client.caps.has(Caps::ECHO);
    state.send_capable(ids, Caps::TAGS, &line);
    if echo {
        state.tell(id, line);
    }
}
