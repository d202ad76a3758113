//! TIME.

use gangline_os::clock::rfc3339;

use crate::server::{call::Call, state::State};
use crate::wire::numeric as n;

pub(super) fn run(state: &mut State, call: &Call) {
    let now = rfc3339(state.now());
    let name = state.config.name.clone();
    state.numeric(call.id, n::RPL_TIME, &[&name], &now);
}
