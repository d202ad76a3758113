//! PART.

use gangline_core::ChannelName;

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        client_id::ClientId,
        events::{Doing, EventKind},
    },
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
    for name in state.rooms_of(id) {
        one(state, id, &name, None);
    }
}

fn one(state: &mut State, id: ClientId, name: &ChannelName, why: Option<&str>) {
    let Some(client) = state.client(id) else { return };
    let (source, account) = (client.source(), client.account().map(str::to_owned));
    let why = why.map(text::sanitize);
    let doing = Doing {
        kind: EventKind::Part,
        source: &source,
        account: account.as_deref(),
        words: &[name.as_str()],
        text: why.as_deref().map(|why| text::cut(why, WHY_MAX)),
    };
    state.happens(name, &doing);
    state.leave(id, name);
}
