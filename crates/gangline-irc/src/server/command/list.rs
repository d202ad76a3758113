//! LIST.

use super::{super::state::State, Call};
use crate::wire::numeric as n;

pub(super) fn run(state: &mut State, call: &Call) {
    let id = call.id;
    let wanted: Vec<String> =
        call.word(0).map_or_else(Vec::new, |list| list.split(',').map(str::to_owned).collect());
    let named = |name: &str| {
        let folded = |want: &String| gangline_core::name::fold(want) == name;
        let names = wanted.iter().any(|want| want.starts_with('#'));
        !names || wanted.iter().any(folded)
    };
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for (key, channel) in &state.channels {
        if state.sees(id, channel) && named(key) {
            let topic = state.topics.get(key).map(|topic| topic.text.clone()).unwrap_or_default();
            rows.push((channel.name.to_string(), channel.members.len().to_string(), topic));
        }
    }
    rows.sort();
    state.numeric(id, n::RPL_LISTSTART, &["Channel"], "Users  Name");
    for (name, members, topic) in rows {
        state.numeric(id, n::RPL_LIST, &[&name, &members], &topic);
    }
    state.numeric(id, n::RPL_LISTEND, &[], "End of LIST");
}
