//! NAMES.

use std::ops::Bound;

use crate::server::{call::Call, state::State};
use crate::{
    server::{caps::Caps, client_id::ClientId, outgoing::Outgoing, paced::Rows},
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
    let seen = state.channel(name).filter(|channel| state.sees(id, channel));
    let shown = seen.map_or_else(|| name.to_owned(), |channel| channel.name.to_string());
    let place = if seen.is_some() { Place::Behind(ClientId(0)) } else { Place::Members };
    state.show_rows(id, Box::new(Names { shown, place }));
}

/// The members of a channel, some on each line.
struct Names {
    shown: String,
    place: Place,
}

/// How far the list has come.
enum Place {
    /// Behind this member.
    Behind(ClientId),
    /// All members are listed.
    Members,
    End,
}

impl Rows for Names {
    fn next(&mut self, state: &mut State, id: ClientId) -> Option<Outgoing> {
        let behind = match self.place {
            Place::Behind(member) => member,
            Place::Members => return Some(self.end(state, id)),
            Place::End => return None,
        };
        let (line, last, secret) = line(state, id, &self.shown, behind);
        let Some(last) = last else { return Some(self.end(state, id)) };
        self.place = Place::Behind(last);
        let words = [if secret { "@" } else { "=" }, &self.shown];
        Some(state.numeric_line(id, n::RPL_NAMREPLY, &words, Some(&line)))
    }
}

impl Names {
    fn end(&mut self, state: &mut State, id: ClientId) -> Outgoing {
        self.place = Place::End;
        state.numeric_line(id, n::RPL_ENDOFNAMES, &[&self.shown], Some("End of NAMES list"))
    }
}

/// Returns the members behind one of them that fit a line, the last of them, and whether the channel
/// is secret.
fn line(
    state: &State,
    id: ClientId,
    name: &str,
    behind: ClientId,
) -> (String, Option<ClientId>, bool) {
    let caps = state.client(id).map(|client| client.caps).unwrap_or_default();
    let (mut line, mut last) = (String::new(), None);
    let Some(channel) = state.channel(name).filter(|channel| state.sees(id, channel)) else {
        return (line, last, false);
    };
    for (member, powers) in channel.members.range((Bound::Excluded(behind), Bound::Unbounded)) {
        let Some(client) = state.client(*member) else { continue };
        let prefix = powers.prefix(caps.has(Caps::MULTI_PREFIX));
        let entry = match caps.has(Caps::USERHOST_IN_NAMES) {
            true => format!("{prefix}{}", client.source()),
            false => format!("{prefix}{}", client.name()),
        };
        if last.is_some() && line.len() + entry.len() >= LINE {
            break;
        }
        if last.is_some() {
            line.push(' ');
        }
        line.push_str(&entry);
        last = Some(*member);
    }
    (line, last, channel.modes.has('s'))
}
