//! AWAY.

use crate::server::{call::Call, state::State};
use crate::{
    server::{caps::Caps, outgoing::Outgoing},
    wire::{numeric as n, text},
};

const AWAY_MAX: usize = 200;

pub(super) fn run(state: &mut State, call: &Call) {
    let away = call.word(0).map(|why| text::cut(&text::sanitize(why), AWAY_MAX).to_owned());
    let now = state.now();
    let Some(client) = state.client_mut(call.id) else { return };
    client.away.clone_from(&away);
    let line = Outgoing::new(&client.source(), "AWAY", &[], away.as_deref()).at(now);
    state.send_capable(state.audience(call.id), Caps::AWAY_NOTIFY, &line);
    match away {
        Some(_) => state.numeric(call.id, n::RPL_NOWAWAY, &[], "You have been marked as away"),
        None => state.numeric(call.id, n::RPL_UNAWAY, &[], "You are no longer marked as away"),
    }
}
