//! MOTD.

use crate::{
    server::{client_id::ClientId, state::State},
    wire::numeric as n,
};

/// Shows the message of the day, or 422.
pub(crate) fn run(state: &mut State, id: ClientId) {
    let lines = state.config.motd.clone();
    if lines.is_empty() {
        return state.numeric(id, n::ERR_NOMOTD, &[], "There is no message of the day");
    }
    let head = format!("- {} Message of the day -", state.config.name);
    state.numeric(id, n::RPL_MOTDSTART, &[], &head);
    for line in lines {
        state.numeric(id, n::RPL_MOTD, &[], &format!("- {line}"));
    }
    state.numeric(id, n::RPL_ENDOFMOTD, &[], "End of /MOTD command");
}
