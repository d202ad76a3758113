//! PING.

use crate::server::outgoing::Outgoing;
use crate::server::{call::Call, state::State};

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(token) = call.word(0) else { return super::need_more(state, call) };
    let now = state.now();
    let name = state.config.name.clone();
    state.tell(call.id, Outgoing::new(&name, "PONG", &[&name], Some(token)).at(now));
}
