//! NAMES.

use super::{super::state::State, Call};
use crate::{
    server::{caps::Caps, client::ClientId},
    wire::numeric as n,
};

/// Bytes of nicks on one line.
const LINE: usize = 300;

pub(super) fn run(state: &mut State, call: &Call) {
    let list = call.word(0).unwrap_or("*").to_owned();
    for name in list.split(',') {
        show(state, call.id, name);
    }
}

/// Lists who is in a channel.
pub(super) fn show(state: &mut State, id: ClientId, name: &str) {
    let all = state.client(id).is_some_and(|client| client.caps.has(Caps::MULTI_PREFIX));
    let mut lines: Vec<String> = Vec::new();
    let (mut shown, mut secret) = (name.to_owned(), false);
    if let Some(channel) = state.channel(name).filter(|channel| state.sees(id, channel)) {
        shown = channel.name.to_string();
        secret = channel.modes.has('s');
        for (member, powers) in &channel.members {
            let Some(client) = state.client(*member) else { continue };
            let entry = format!("{}{}", powers.prefix(all), client.name());
            match lines.last_mut().filter(|line| line.len() + entry.len() < LINE) {
                Some(line) => {
                    line.push(' ');
                    line.push_str(&entry);
                }
                None => lines.push(entry),
            }
        }
    }
    let kind = if secret { "@" } else { "=" };
    for line in lines {
        state.numeric(id, n::RPL_NAMREPLY, &[kind, &shown], &line);
    }
    state.numeric(id, n::RPL_ENDOFNAMES, &[&shown], "End of NAMES list");
}
