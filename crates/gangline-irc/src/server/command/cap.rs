//! CAP: which extensions a connection uses.

use crate::server::{call::Call, state::State};
use crate::{
    server::{
        caps::{Caps, offered},
        client::Stage,
        client_id::ClientId,
        outgoing::Outgoing,
    },
    wire::numeric as n,
};

pub(super) fn run(state: &mut State, call: &Call) {
    let id = call.id;
    let verb = call.word(0).unwrap_or("").to_ascii_uppercase();
    match verb.as_str() {
        "LS" => {
            let version = call.word(1).and_then(|word| word.parse().ok()).unwrap_or(301);
            negotiate(state, id, true);
            if let Some(client) = state.client_mut(id) {
                client.cap_version = client.cap_version.max(version);
                if version >= 302 {
                    client.caps = client.caps.with(Caps::CAP_NOTIFY);
                }
            }
            let mut lines = offered(version);
            let last = lines.pop().unwrap_or_default();
            for line in lines {
                say(state, id, &["LS", "*"], &line);
            }
            say(state, id, &["LS"], &last);
        }
        "LIST" => {
            let names = state.client(id).map(|client| client.caps.names()).unwrap_or_default();
            say(state, id, &["LIST"], &names);
        }
        "REQ" => {
            negotiate(state, id, true);
            request(state, id, call.word(1).unwrap_or(""));
        }
        "END" => {
            negotiate(state, id, false);
            state.try_register(id);
        }
        _ => state.numeric(id, n::ERR_INVALIDCAPCMD, &[&verb], "Invalid CAP subcommand"),
    }
}

fn negotiate(state: &mut State, id: ClientId, open: bool) {
    let Some(client) = state.client_mut(id) else { return };
    match &mut client.stage {
        Stage::Registering(stage) => stage.negotiating = open,
        Stage::Ready => {}
    }
}

/// Takes all changes of one line, or none.
fn request(state: &mut State, id: ClientId, list: &str) {
    let Some(client) = state.client_mut(id) else { return };
    let changed = list.split_ascii_whitespace().try_fold(client.caps, |caps, name| {
        match name.strip_prefix('-') {
            Some(name) => Caps::named(name).map(|cap| caps.without(cap)),
            None => Caps::named(name).map(|cap| caps.with(cap)),
        }
    });
    match changed {
        Some(caps) => {
            client.caps = caps;
            say(state, id, &["ACK"], list);
        }
        None => say(state, id, &["NAK"], list),
    }
}

fn say(state: &mut State, id: ClientId, verb: &[&str], list: &str) {
    let Some(client) = state.client(id) else { return };
    let nick = if client.is_ready() { client.name() } else { "*" };
    let words = [&[nick], verb].concat();
    let line = Outgoing::new(&state.config.name, "CAP", &words, Some(list));
    state.tell(id, line);
}
