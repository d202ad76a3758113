//! MONITOR: be told when a nick comes and goes.

use crate::server::{call::Call, state::State};
use crate::server::{
    client_id::ClientId,
    reply::{RPL_ENDOFMONLIST, RPL_MONLIST, RPL_MONOFFLINE, RPL_MONONLINE},
};

/// The most nicks one client may watch (005 `MONITOR`).
const LIMIT: usize = 100;
const ERR_MONLISTFULL: u16 = 734;

pub(super) fn run(state: &mut State, call: &Call) {
    let id = call.id;
    let targets: Vec<String> = call.word(1).unwrap_or("").split(',').map(str::to_owned).collect();
    let targets: Vec<String> = targets.into_iter().filter(|nick| !nick.is_empty()).collect();
    match call.word(0) {
        Some("+") => add(state, id, &targets),
        Some("-") => {
            targets.iter().for_each(|nick| state.unwatch(id, &gangline_core::name::fold(nick)));
        }
        Some("C" | "c") => {
            watched(state, id).iter().for_each(|nick| state.unwatch(id, nick));
        }
        Some("L" | "l") => list(state, id),
        Some("S" | "s") => {
            let watched = watched(state, id);
            report(state, id, &watched);
        }
        Some(_) | None => super::need_more(state, call),
    }
}

fn watched(state: &State, id: ClientId) -> Vec<String> {
    state.client(id).map(|client| client.monitors.iter().cloned().collect()).unwrap_or_default()
}

fn add(state: &mut State, id: ClientId, targets: &[String]) {
    let mut added = Vec::new();
    for nick in targets {
        let Some(client) = state.client_mut(id) else { return };
        if client.monitors.len() >= LIMIT {
            let limit = LIMIT.to_string();
            return state.numeric(id, ERR_MONLISTFULL, &[&limit, nick], "Monitor list is full.");
        }
        state.watch(id, gangline_core::name::fold(nick));
        added.push(nick.clone());
    }
    report(state, id, &added);
}

fn list(state: &mut State, id: ClientId) {
    for nick in watched(state, id) {
        state.numeric(id, RPL_MONLIST, &[], &nick);
    }
    state.numeric(id, RPL_ENDOFMONLIST, &[], "End of MONITOR list");
}

fn report(state: &mut State, id: ClientId, nicks: &[String]) {
    for nick in nicks {
        match state.by_nick(nick).map(crate::server::client::Client::source) {
            Some(source) => state.numeric(id, RPL_MONONLINE, &[], &source),
            None => state.numeric(id, RPL_MONOFFLINE, &[], nick),
        }
    }
}
