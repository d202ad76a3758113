//! MARKREAD: up to when somebody has read a channel or a private conversation (`draft/read-marker`).
//!
//! The clients say so themselves; nobody else learns of it.

use std::collections::BTreeSet;

use gangline_core::{ChannelName, Target, name::fold};
use gangline_os::clock::{UnixMicros, rfc3339};

use crate::server::{call::Call, state::State};
use crate::server::{
    caps::Caps,
    client::Client,
    client_id::ClientId,
    flight::{Asker, Job},
    outgoing::Outgoing,
    store::{HistoryError, Marker, Party},
    timestamp,
};

/// Markers that are kept.
const MARKERS_MAX: usize = 10_000;

pub(super) fn run(state: &mut State, call: &mut Call) {
    let id = call.id;
    let Some(word) = call.word(0).map(str::to_owned) else {
        return state.fail(id, &["MARKREAD", "NEED_MORE_PARAMS"], "Missing parameters");
    };
    let shown = match word.parse::<Target>() {
        Ok(Target::Channel(name)) => {
            let known = state.channel(name.folded()).filter(|channel| state.sees(id, channel));
            known.map_or_else(|| name.to_string(), |channel| channel.name.to_string())
        }
        Ok(Target::Nick(nick)) => nick.to_string(),
        Err(_) => return invalid(state, id, &word),
    };
    let Some(at) = call.word(1).map(str::to_owned) else { return show(state, id, &shown) };
    let at = at.strip_prefix("timestamp=").and_then(timestamp::parse);
    let Some(at) = at else {
        let given = call.word(1).unwrap_or("*").to_owned();
        return invalid(state, id, &given);
    };
    set(state, call, shown, at);
}

fn invalid(state: &mut State, id: ClientId, word: &str) {
    state.fail(id, &["MARKREAD", "INVALID_PARAMS", word], "Invalid parameters");
}

fn set(state: &mut State, call: &mut Call, target: String, at: UnixMicros) {
    let id = call.id;
    let Some(party) = state.client(id).and_then(reader) else {
        let words = ["MARKREAD", "INTERNAL_ERROR", &target];
        return state.fail(id, &words, "Log in first: read markers of guests are not stored");
    };
    // Nobody has read what is not said yet.
    let at = at.min(state.now());
    let key = (party.clone(), fold(&target));
    if state.markers.get(&key).is_some_and(|known| *known >= at) {
        return show(state, id, &target);
    }
    if !state.markers.contains_key(&key) && state.markers.len() >= MARKERS_MAX {
        let words = ["MARKREAD", "INTERNAL_ERROR", &target];
        return state.fail(id, &words, "Too many read markers are stored already");
    }
    let asker = call.asker(state);
    let marker = Marker { party, target: key.1, at };
    state.flights.push(Job::Marker { asker, target, marker });
}

/// Tells all clients of a reader of a marker that is kept now, or says that it is not.
pub(in crate::server) fn finish(
    state: &mut State,
    (asker, target): (Asker, String),
    marker: Marker,
    kept: Result<(), HistoryError>,
) {
    state.open_scope(asker.id, asker.label.as_deref());
    match kept {
        Ok(()) => {
            let known = state.markers.entry((marker.party.clone(), marker.target));
            let known = known.or_insert(marker.at);
            *known = marker.at.max(*known);
            let at = *known;
            let line = line(state, &target, Some(at));
            let mut ids: BTreeSet<ClientId> = state.receivers(&marker.party).into_iter().collect();
            ids.remove(&asker.id);
            state.send_capable(ids, Caps::READ_MARKER, &line);
            state.tell(asker.id, line);
        }
        Err(error) => {
            tracing::error!(%error, "a read marker was not stored");
            let words = ["MARKREAD", "INTERNAL_ERROR", &target];
            let text = format!("The read timestamp could not be set: {}", error.why);
            state.fail(asker.id, &words, &text);
        }
    }
    state.close_scope(asker.id);
    state.landed(asker);
}

/// Tells a client that has come into a channel what its user has read of it.
pub(super) fn on_join(state: &mut State, id: ClientId, name: &ChannelName) {
    if state.client(id).is_some_and(|client| client.caps.has(Caps::READ_MARKER)) {
        let shown = state.channel(name.folded()).map(|channel| channel.name.to_string());
        show(state, id, &shown.unwrap_or_else(|| name.to_string()));
    }
}

fn show(state: &mut State, id: ClientId, target: &str) {
    let party = state.client(id).and_then(reader);
    let at = party.and_then(|party| state.markers.get(&(party, fold(target))).copied());
    let line = line(state, target, at);
    state.tell(id, line);
}

fn line(state: &State, target: &str, at: Option<UnixMicros>) -> Outgoing {
    let at = at.map_or_else(|| "*".to_owned(), |at| format!("timestamp={}", rfc3339(at)));
    Outgoing::new(&state.config.name, "MARKREAD", &[target, &at], None)
}

/// Returns whose markers a client's are; a stranger has none, since anybody could bear its nick.
fn reader(client: &Client) -> Option<Party> {
    match client.party() {
        Party::Stranger(_) => None,
        party @ (Party::Account(_) | Party::Member(_)) => Some(party),
    }
}
