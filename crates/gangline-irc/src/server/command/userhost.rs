//! USERHOST.

use crate::server::reply::RPL_USERHOST;
use crate::server::{call::Call, state::State};

pub(super) fn run(state: &mut State, call: &Call) {
    let found = call.message.params.iter().take(5).filter_map(|nick| state.by_nick(nick));
    let rows: Vec<String> = found
        .map(|client| {
            let mark = if client.away.is_some() { '-' } else { '+' };
            let oper = if client.oper { "*" } else { "" };
            format!("{}{oper}={mark}{}@{}", client.name(), client.shown_user(), client.host())
        })
        .collect();
    state.numeric(call.id, RPL_USERHOST, &[], &rows.join(" "));
}
