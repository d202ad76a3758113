//! VERSION.

use crate::server::{call::Call, state::State};
use crate::wire::numeric as n;

pub(super) fn run(state: &mut State, call: &Call) {
    let (version, name) = (state.config.version.clone(), state.config.name.clone());
    state.numeric(call.id, n::RPL_VERSION, &[&version, &name], "Gangline's embedded server");
    state.isupport(call.id);
}
