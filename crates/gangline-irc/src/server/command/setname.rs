//! SETNAME.

use crate::server::{call::Call, state::State};
use crate::{
    server::{caps::Caps, outgoing::Outgoing},
    wire::text,
};

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(name) = call.word(0) else { return super::need_more(state, call) };
    let name = text::cut(&text::sanitize(name), super::user::REALNAME_MAX).to_owned();
    let now = state.now();
    let Some(client) = state.client_mut(call.id) else { return };
    client.realname.clone_from(&name);
    let line = Outgoing::new(&client.source(), "SETNAME", &[], Some(&name)).at(now);
    let mut ids = state.audience(call.id);
    ids.insert(call.id);
    state.send_capable(ids, Caps::SETNAME, &line);
}
