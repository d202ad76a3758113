//! WALLOPS: a line of an operator of the server to those who want such lines (`MODE +w`).

use crate::server::{call::Call, client_id::ClientId, outgoing::Outgoing, state::State};

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(text) = call.word(0) else { return super::need_more(state, call) };
    if !super::is_oper(state, call.id) {
        return;
    }
    let now = state.now();
    let Some(client) = state.client(call.id) else { return };
    let line = Outgoing::new(&client.source(), "WALLOPS", &[], Some(text)).at(now);
    let wants = state.clients.values().filter(|client| client.is_ready() && client.wallops);
    let ids: Vec<ClientId> = wants.map(|client| client.id).collect();
    state.send_all(ids, &line);
}
