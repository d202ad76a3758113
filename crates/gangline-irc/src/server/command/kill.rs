//! KILL: an operator of the server ends somebody's connection.

use crate::server::{call::Call, outgoing::Outgoing, state::State};
use crate::wire::text;

const WHY_MAX: usize = 200;

pub(super) fn run(state: &mut State, call: &Call) {
    let Some(nick) = call.word(0) else { return super::need_more(state, call) };
    let id = call.id;
    if !super::is_oper(state, id) {
        return;
    }
    let Some(victim) = state.by_nick(nick) else { return super::no_such_nick(state, id, nick) };
    let (victim, shown) = (victim.id, victim.name().to_owned());
    let why = text::sanitize(call.word(1).unwrap_or("no reason given"));
    let why = text::cut(&why, WHY_MAX).to_owned();
    let Some(client) = state.client(id) else { return };
    let (source, by) = (client.source(), client.name().to_owned());
    tracing::info!(client = victim.0, by, why, "a connection was killed");
    state.tell(victim, Outgoing::new(&source, "KILL", &[&shown], Some(&why)));
    state.doom(victim, &format!("Killed by {by}: {why}"));
}
