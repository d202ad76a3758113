//! NICK.

use gangline_core::Nick;

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        claim::Claim,
        client_id::ClientId,
        events::{Doing, EventKind},
        flight::Asker,
        outgoing::Outgoing,
    },
    wire::numeric as n,
};

pub(super) fn run(state: &mut State, call: &mut Call) {
    let Some(word) = call.word(0) else {
        return state.numeric(call.id, n::ERR_NONICKNAMEGIVEN, &[], "No nickname given");
    };
    // A digit comes first only where servers give out nicks by themselves.
    let legal =
        word.parse::<Nick>().ok().filter(|_| !word.starts_with(|c: char| c.is_ascii_digit()));
    let Some(nick) = legal else {
        return state.numeric(call.id, n::ERR_ERRONEUSNICKNAME, &[word], "Erroneous nickname");
    };
    let Some(client) = state.client_mut(call.id) else { return };
    if client.is_ready() {
        return want(state, call, nick);
    }
    // Whether it can be had is asked when everything is there: SASL may come after NICK.
    client.nick = Some(nick);
    state.try_register(call.id);
}

/// Takes a nick, or waits for what comes of the one who has it.
fn want(state: &mut State, call: &mut Call, nick: Nick) {
    match state.claim(call.id, &nick) {
        Claim::Free => change(state, call.id, nick),
        Claim::Held(holder) => {
            let asker = call.asker(state);
            state.contest((call.id, holder), nick, Some(asker));
        }
        Claim::Refused => {}
    }
}

/// The one who had the nick is gone.
pub(in crate::server) fn again(state: &mut State, asker: Asker, nick: Nick) {
    let id = asker.id;
    state.open_scope(id, asker.label.as_deref());
    match state.claim(id, &nick) {
        Claim::Free => change(state, id, nick),
        Claim::Held(holder) => return state.contest((id, holder), nick, Some(asker)),
        Claim::Refused => {}
    }
    state.close_scope(id);
    state.landed(asker);
}

fn change(state: &mut State, id: ClientId, nick: Nick) {
    let Some(client) = state.client(id) else { return };
    let Some(old) = client.nick.clone().filter(|old| old.as_str() != nick.as_str()) else {
        return;
    };
    state.note_past(id);
    let now = state.named_now();
    let Some(client) = state.client_mut(id) else { return };
    let (before, account) = (client.source(), client.account().map(str::to_owned));
    client.nick = Some(nick.clone());
    if old != nick {
        client.named_at = now;
    }
    let source = client.source();
    state.nicks.remove(old.folded());
    state.nicks.insert(nick.folded().to_owned(), id);
    let mut ids = state.peers(id);
    ids.insert(id);
    let event = state.event(&Doing {
        kind: EventKind::Nick,
        source: &before,
        account: account.as_deref(),
        words: &[],
        text: Some(nick.as_str()),
    });
    state.send_all(ids, &Outgoing::happened(&event, false));
    state.keep_event(state.rooms_of(id), event);
    if old != nick {
        state.notify_monitors(&old, None);
        state.notify_monitors(&nick, Some(&source));
    }
    state.note_last_nick(id);
    if old != nick && state.client(id).is_some_and(|client| client.account().is_none()) {
        state.is_somebody_else(id);
    }
}
