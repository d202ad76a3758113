//! ISON.

use crate::server::{call::Call, state::State};
use crate::wire::numeric as n;

pub(super) fn run(state: &mut State, call: &Call) {
    let asked = call.message.params.iter().flat_map(|param| param.split_ascii_whitespace());
    let here: Vec<&str> =
        asked.filter_map(|nick| state.by_nick(nick)).map(|client| client.name()).collect();
    let here = here.join(" ");
    state.numeric(call.id, n::RPL_ISON, &[], &here);
}
