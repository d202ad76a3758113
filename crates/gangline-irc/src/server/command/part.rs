//! PART.

use gangline_core::ChannelName;

use super::{super::state::State, Call};
use crate::{
    server::{client::ClientId, outgoing::Outgoing},
    wire::text,
};

const WHY_MAX: usize = 200;

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(list) = call.word(0) else { return super::need_more(state, call) };
    for word in list.split(',').filter(|word| !word.is_empty()) {
        let Some(channel) = state.channel(word) else {
            super::no_such_channel(state, call.id, word);
            continue;
        };
        if channel.member(call.id).is_none() {
            super::not_on_channel(state, call.id, word);
            continue;
        }
        let name = channel.name.clone();
        let why = state.last_words(call.id, call.word(1));
        one(state, call.id, &name, why);
    }
}

/// Leaves every channel (`JOIN 0`).
pub(super) fn from_all(state: &mut State, id: ClientId) {
    let Some(client) = state.client(id) else { return };
    let names = client.channels.iter().filter_map(|name| state.channels.get(name));
    let names: Vec<ChannelName> = names.map(|channel| channel.name.clone()).collect();
    for name in names {
        one(state, id, &name, None);
    }
}

fn one(state: &mut State, id: ClientId, name: &ChannelName, why: Option<&str>) {
    let now = state.now();
    let Some(client) = state.client(id) else { return };
    let why = why.map(text::sanitize);
    let why = why.as_deref().map(|why| text::cut(why, WHY_MAX));
    let line = Outgoing::new(&client.source(), "PART", &[name.as_str()], why)
        .at(now)
        .account(client.account());
    state.send_all(state.members(name.folded(), None), &line);
    state.leave(id, name);
}
