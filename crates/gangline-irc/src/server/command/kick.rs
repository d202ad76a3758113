//! KICK.

use crate::server::{call::Call, state::State};
use crate::{
    server::events::{Doing, EventKind},
    wire::{numeric as n, text},
};

const WHY_MAX: usize = 200;

pub(super) fn run(state: &mut State, call: &Call) {
    let (Some(name), Some(nick)) = (call.word(0), call.word(1)) else {
        return super::need_more(state, call);
    };
    let id = call.id;
    let Some(channel) = state.channel(name) else {
        return super::no_such_channel(state, id, name);
    };
    if channel.member(id).is_none() {
        return super::not_on_channel(state, id, name);
    }
    if !channel.is_op(id) {
        return super::need_op(state, id, name);
    }
    let name = channel.name.clone();
    let kicked = state.by_nick(nick).filter(|client| channel.member(client.id).is_some());
    let Some(kicked) = kicked else {
        let words = [nick, name.as_str()];
        return state.numeric(id, n::ERR_USERNOTINCHANNEL, &words, "They aren't on that channel");
    };
    let account = kicked.account().map(str::to_owned);
    let (kicked, shown) = (kicked.id, kicked.name().to_owned());
    let Some(client) = state.client(id) else { return };
    let why = text::sanitize(call.word(2).unwrap_or(client.name()));
    let (source, by) = (client.source(), client.account().map(str::to_owned));
    let doing = Doing {
        kind: EventKind::Kick,
        source: &source,
        account: by.as_deref(),
        words: &[name.as_str(), &shown],
        text: Some(text::cut(&why, WHY_MAX)),
    };
    state.happens(&name, &doing);
    state.leave(kicked, &name);
    state.disown(name.folded(), account.as_deref());
}
