//! LIST.

use std::ops::Bound;

use gangline_core::name::fold;

use super::{
    super::{call::Call, state::State},
    topic,
};
use crate::{
    server::{client_id::ClientId, outgoing::Outgoing, paced::Rows},
    wire::numeric as n,
};

pub(super) fn run(state: &mut State, call: &Call) {
    let wanted = call.word(0).unwrap_or("").split(',').filter(|word| word.starts_with('#'));
    let wanted: Vec<String> = wanted.map(fold).collect();
    state.numeric(call.id, n::RPL_LISTSTART, &["Channel"], "Users  Name");
    state.show_rows(call.id, Box::new(List { wanted, place: Place::Start }));
}

/// The channels that are there, in the order of their names.
struct List {
    /// Only these (folded), if there are any.
    wanted: Vec<String>,
    place: Place,
}

/// How far the list has come.
enum Place {
    Start,
    /// Behind this channel (folded).
    Behind(String),
    End,
}

impl Rows for List {
    fn next(&mut self, state: &mut State, id: ClientId) -> Option<Outgoing> {
        let from = match &self.place {
            Place::Start => Bound::Unbounded,
            Place::Behind(name) => Bound::Excluded(name.as_str()),
            Place::End => return None,
        };
        let is_listed = |key: &str| self.wanted.is_empty() || self.wanted.iter().any(|w| w == key);
        let mut channels = state.channels.range::<str, _>((from, Bound::Unbounded));
        let next =
            channels.find(|(key, channel)| is_listed(key.as_str()) && state.sees(id, channel));
        let Some((key, channel)) = next else {
            self.place = Place::End;
            return Some(state.numeric_line(id, n::RPL_LISTEND, &[], Some("End of LIST")));
        };
        let (key, name) = (key.clone(), channel.name.to_string());
        let members = channel.members.len().to_string();
        let topic = topic::text(state, &key).to_owned();
        self.place = Place::Behind(key);
        Some(state.numeric_line(id, n::RPL_LIST, &[&name, &members], Some(&topic)))
    }
}
